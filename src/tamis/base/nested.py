"""What an estimator inside another one takes: the outer one must ask its user for no less and no more."""

from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from tamis.base.selector import Selector


def steps_of(model: Any) -> list[Any]:
    """The steps of a pipeline in order, those of pipelines within it in their place; a lone estimator is one step.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> len(steps_of(make_pipeline(make_pipeline(StandardScaler(), "passthrough"), StandardScaler())))
    2
    """
    if isinstance(model, Pipeline):
        return [inner for _, step in model.steps for inner in steps_of(step)]
    return [] if model is None or model == "passthrough" else [model]


def needs_classes(model: Any) -> bool:
    """Whether any step must be given the classes; of a selector that is not ours it is assumed.

    scikit-learn's own do not tell: ``SelectKBest`` says no, whatever its score.
    """
    return any(
        get_tags(step).target_tags.required or (hasattr(step, "get_support") and not isinstance(step, Selector))
        for step in steps_of(model)
    )


def takes_missing(model: Any) -> bool:
    """Whether missing values (NaN) may be handed to the first step."""
    return any(get_tags(step).input_tags.allow_nan for step in steps_of(model)[:1])


def takes_no_negative(model: Any) -> bool:
    """Whether the first step is defined for values of zero and above alone."""
    return any(get_tags(step).input_tags.positive_only for step in steps_of(model)[:1])
