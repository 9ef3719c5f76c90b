"""The private names of scikit-learn that tamis uses: imported here and nowhere else.

A new release of scikit-learn may move or change any of them; what breaks is then mended in this file.
What each is needed for, and what would replace it:

`HasMethods`, `Interval`, `Options`, `StrOptions`, `integer`, `real`
    The notation of ``_parameter_constraints``, intervals of numbers written as ``integer(1)`` and ``real(0, 1)``.
    ``BaseEstimator._validate_params`` reads it, and so do the recipe language and ``tamis list``.
    Would be replaced by constraint classes of our own, with a validator.
`make_constraint`, `validate_parameter_constraints`, `InvalidParameterError`
    The same validation for what is not an estimator (the options of a score), and of one value in a recipe.
    Would go with those classes.
`_check_sample_weight`
    Sample weights as one float64 array of zero and above, with the messages that ``check_estimator`` asks for.
    Replacement: ``check_array`` and a check of length and sign.
`_check_y`, `_num_samples`
    The labels and the number of rows where the rows themselves must not be touched, because models inside take them
    as they are. Replacement: ``column_or_1d``, and ``len`` or ``shape[0]``.
`_check_feature_names_in`
    The names of the input columns for ``get_feature_names_out``, checked against those of ``fit``.
    Replacement: ``feature_names_in_`` or x0, x1, ..., compared by hand.
`_get_output_config`
    Which kind of container ``set_output`` asks for, where that decides how to compute. Replacement: the attribute
    ``_sklearn_output_config`` (private too) and ``sklearn.get_config()["transform_output"]``.
`_safe_indexing`
    Rows of an array, a sparse matrix or a data frame of any library. Replacement: one branch for each of them.
`openml_client`
    scikit-learn's client of OpenML, whose ``urlopen`` is exchanged for one with a time limit, and its error.
    Replacement: a client of our own.
`loss_types`
    The compiled losses inside fitted boosters, under whatever name a release gives them. No public name.
`tree_types`
    The compiled trees inside fitted ensembles, to be looked through when a model is loaded. No public name.
"""

from numbers import Integral, Real
from typing import Any, Literal

from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    Options,
    StrOptions,
    make_constraint,
    validate_parameter_constraints,
)
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, _check_sample_weight, _check_y, _num_samples

__all__ = [
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "Options",
    "StrOptions",
    "_check_feature_names_in",
    "_check_sample_weight",
    "_check_y",
    "_get_output_config",
    "_num_samples",
    "_safe_indexing",
    "integer",
    "loss_types",
    "make_constraint",
    "openml_client",
    "real",
    "tree_types",
    "validate_parameter_constraints",
]


def integer(least: int | None = None, most: int | None = None) -> Interval:
    """A parameter that takes whole numbers, from `least` to `most`."""
    return Interval(
        Integral, least, most, closed="both" if most is not None else "neither" if least is None else "left"
    )


def real(
    low: float | None = None,
    high: float | None = None,
    closed: Literal["left", "right", "both", "neither"] = "neither",
) -> Interval:
    """A parameter that takes numbers between `low` and `high`, and those of the bounds that are `closed`."""
    return Interval(Real, low, high, closed=closed)


def openml_client() -> Any:
    """The module of scikit-learn that talks to OpenML."""
    # Late, like the trees: only few commands need these slow imports.
    from sklearn.datasets import _openml

    return _openml


def loss_types() -> tuple[Any, Any, Any]:
    """The compiled losses of boosting, for two classes, for more, and for numbers."""
    from sklearn._loss._loss import CyHalfBinomialLoss, CyHalfMultinomialLoss, CyHalfSquaredError

    return CyHalfBinomialLoss, CyHalfMultinomialLoss, CyHalfSquaredError


def tree_types() -> tuple[Any, Any]:
    """The compiled trees of forests and boosting, and those of histogram boosting."""
    from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
    from sklearn.tree._tree import Tree

    return Tree, TreePredictor
