"""From the results of folds to one estimate."""

from collections.abc import Sequence

import numpy as np

from tamis.base.seeds import spawn
from tamis.base.types import FloatArray
from tamis.validation.cases import Cases
from tamis.validation.fold_result import FoldResult
from tamis.validation.metrics import Answers, Metric, all_metrics, standard_error
from tamis.validation.result import Estimate, Predictions, Validation
from tamis.validation.stability import stability


def gather(
    results: Sequence[FoldResult],
    given: Cases,
    metrics: Sequence[Metric] | None,
    *,
    recipe: str,
    split: str,
    seed: int,
    together: bool,
) -> Validation:
    """Bring the folds together into one estimate.

    Parameters
    ----------
    results : sequence of FoldResult
        All folds, in order of repeat and fold.
    given : Cases
        The data they come from.
    metrics : sequence of Metric, optional
        By default all that every fold's answers allow.
    recipe, split : str
        What to call the model and the way of splitting.
    seed : int
        Seed of the run.
    together : bool
        Judge all answers as one test set, in place of each fold by itself.
    """
    answers, predictions = _pool(results, given.classes)
    measures = tuple(m for m in all_metrics.values() if m.possible(answers)) if metrics is None else tuple(metrics)
    n_train = np.array([r.n_train for r in results])
    n_test = np.array([r.rows.size for r in results])
    if together:
        values = {m.name: np.array([m(answers)]) for m in measures}
        errors = {m.name: standard_error(m, answers, seed=spawn(seed)) for m in measures}
        estimates = {name: Estimate(float(v[0]), float("nan"), errors[name]) for name, v in values.items()}
    else:
        values = {m.name: np.array([r.metrics[m.name] for r in results]) for m in measures}
        estimates = {name: over_folds(v, n_test.mean() / n_train.mean()) for name, v in values.items()}
    kept = tuple(r.kept for r in results if r.kept is not None)
    told = len(kept) == len(results)
    n_features = results[0].n_features
    return Validation(
        recipe=recipe,
        data=given.name,
        split=split,
        seed=seed,
        classes=given.classes,
        metrics=measures,
        values=values,
        estimates=estimates,
        predictions=predictions,
        n_train=n_train,
        n_test=n_test,
        n_features=n_features,
        kept=kept if told else None,
        stability=stability(kept, n_features) if told else None,
        probe_share=_probe_share(kept, given) if told else None,
        fit_seconds=np.array([r.fit_seconds for r in results]),
        predict_seconds=np.array([r.predict_seconds for r in results]),
    )


def _pool(results: Sequence[FoldResult], classes: np.ndarray) -> tuple[Answers, Predictions]:
    """All answers, in order of repeat and row."""
    repeat = np.concatenate([np.full(r.rows.size, r.repeat) for r in results])
    fold = np.concatenate([np.full(r.rows.size, r.fold) for r in results])
    row = np.concatenate([r.rows for r in results])
    order = np.lexsort((row, repeat))
    every = [r.answers for r in results]
    scores = [a.scores for a in every if a.scores is not None]
    probabilities = [a.probabilities for a in every if a.probabilities is not None]
    pooled = Answers(
        np.concatenate([a.truth for a in every]),
        np.concatenate([a.labels for a in every]),
        classes.size,
        np.concatenate(scores) if len(scores) == len(every) else None,
        np.concatenate(probabilities) if len(probabilities) == len(every) else None,
    ).rows(order)
    said = Predictions(
        repeat[order],
        fold[order],
        row[order],
        classes[pooled.truth],
        classes[pooled.labels],
        pooled.scores,
        pooled.probabilities,
    )
    return pooled, said


def over_folds(values: FloatArray, test_to_train: float) -> Estimate:
    """Mean, deviation and corrected standard error of a metric over folds; folds without a value are left out."""
    known = values[~np.isnan(values)]
    mean = float(known.mean()) if known.size else float("nan")
    sd = float(known.std(ddof=1)) if known.size > 1 else float("nan")
    return Estimate(mean, sd, sd * float(np.sqrt(1 / max(known.size, 1) + test_to_train)))


def _probe_share(kept: Sequence[np.ndarray], given: Cases) -> float | None:
    if given.probes is None:
        return None
    return float(np.mean([given.probes[k].mean() if k.size else 0.0 for k in kept]))
