"""Estimators from what users pass: estimators and recipes, one or many."""

from typing import Any

from sklearn.base import is_classifier, is_regressor

from tamis.base.errors import TamisError
from tamis.base.task import HOLDS
from tamis.compose.chain import Chain
from tamis.compose.recipe import completed_for, parse, to_text
from tamis.data.dataset import Dataset


def as_estimator(model: Any, data: Dataset | None = None) -> Any:
    """An estimator that predicts, from an estimator or a recipe.

    A recipe gets imputation and encoding in front where the data needs them, and serves the task of the data; an
    estimator stays as it is, and must be of that task.
    """
    if isinstance(model, str):
        model = parse(model)
    if isinstance(model, Chain):
        model = model.build() if data is None else completed_for(data, model).build(data.task)
    if isinstance(model, type) or not hasattr(model, "fit") or not hasattr(model, "get_params"):
        raise TamisError(f"model must be a scikit-learn estimator or a recipe; got {model!r}")
    if not hasattr(model, "predict"):
        last = "classifier" if data is None or data.task == "classify" else "regressor"
        raise TamisError(f"the model does not predict: end it with a {last}; got {to_text(model)}")
    if data is not None:
        if data.prefilter is not None and not to_text(model).startswith(f"{data.prefilter.recipe} | "):
            raise TamisError(
                f"the columns were selected by {data.prefilter.recipe}: begin the model with it, as a recipe"
            )
        wrong = is_regressor(model) if data.task == "classify" else is_classifier(model)
        if wrong:
            kind, right = ("regressor", "classifier") if data.task == "classify" else ("classifier", "regressor")
            raise TamisError(
                f"{to_text(model)} is a {kind}, and the target holds {HOLDS[data.task]}: "
                f"end it with a {right}, or set the task"
            )
    return model


def as_estimators(models: Any, data: Dataset | None = None) -> list[Any]:
    """Estimators from an estimator, a recipe (which may stand for many) or a list of them; equal ones once.

    Recipes are completed for the data (:func:`as_estimator`).

    Examples
    --------
    >>> [to_text(model) for model in as_estimators(["cc({5, 9}) | svm", "cc(5) | svm", "knn"])]
    ['cc(5) | svm', 'cc(9) | svm', 'knn']
    """
    found: dict[str, Any] = {}
    for model in models if isinstance(models, list | tuple) else [models]:
        for one in parse(model).variants() if isinstance(model, str) else [model]:
            estimator = as_estimator(one, data)
            found.setdefault(to_text(estimator), estimator)
    if not found:
        raise TamisError("models is empty; give an estimator, a recipe or a list of them")
    return list(found.values())
