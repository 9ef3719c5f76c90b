"""The leak: the estimate that selection on all rows, test rows included, would give."""

from typing import Any

from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from tamis.base.seeds import seeded, spawn


def leaky_twin(model: Any, X: Any, y: Any, *, seed: int = 0) -> Any | None:
    """The same model with every step before the classifier already fitted on all rows of `X`, and frozen.

    Cross-validating the twin fits only the classifier in each fold: the mistake of selecting features before the split.
    It is shown beside the honest estimate, never reported by itself; ``validate(..., leak_check=True)`` does that.

    Parameters
    ----------
    model : estimator
    X, y : rows and classes
        Training and test rows together.
    seed : int, default=0
        Seed of the run; the frozen steps get the seeds of its first fold.

    Returns
    -------
    estimator or None
        None when no step comes before the classifier: the twin would be the model itself. A meta-estimator around a
        whole recipe counts as the classifier.
    """
    if not isinstance(model, Pipeline) or not _has_front(model):
        return None
    return _frozen(seeded(clone(model), spawn(seed, 0, 0)), X, y, clone(model))


def _has_front(model: Pipeline) -> bool:
    *front, (_, last) = model.steps
    if any(step is not None and step != "passthrough" for _, step in front):
        return True
    return isinstance(last, Pipeline) and _has_front(last)


def _frozen(seeded_model: Pipeline, X: Any, y: Any, plain: Pipeline) -> Pipeline:
    """`plain` with the front steps of `seeded_model` fitted in their place; pipelines within pipelines too."""
    steps = []
    for name, step in seeded_model.steps[:-1]:
        if step is not None and step != "passthrough":
            X = step.fit_transform(X, y)
            step = FrozenEstimator(step)
        steps.append((name, step))
    name, last = plain.steps[-1]
    if isinstance(last, Pipeline):
        last = _frozen(seeded_model.steps[-1][1], X, y, last)
    return Pipeline([*steps, (name, last)])
