"""The contract of a shared fit: one fit that serves many values of some parameters.

A ranking serves every number of features, a kernel matrix every cost, one search for neighbours every k. Such a part
has :class:`SharedFit` as its first base, names those parameters in `shared_parameters`, and computes in two halves:
``_prepare`` what all values share, ``_finish`` the rest for one of them. Fitting it alone takes the same path, so there
is no second way to compute anything. :func:`grouped` finds the estimators of a list that can be fitted together; the
plan (:mod:`tamis.validation.plan`) and ``vote`` are built on it.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectFdr, SelectFpr, SelectFwe, SelectKBest, SelectPercentile


class SharedFit:
    """First base of a selector, transform or classifier of which one fit serves many values of some parameters.

    A subclass names the parameters in `shared_parameters` and writes

    ``_prepare(estimators, X, y)``
        What the estimators share, on validated input (`y` is None for a method that ignores the classes). They are
        equal but for the shared parameters, and not fitted; `self` has read the input and has its classes and columns.
    ``_finish(prepared)``
        The rest, for the parameters of `self`: a selector returns its ``Selection``, others set fitted attributes.

    The hook of a selector or classifier (``_select`` or ``_fit``) calls both. A part that takes sample weights
    writes ``_prepare(estimators, X, y, sample_weight=None)``. The result for one estimator must not depend on the
    others by more than rounding. A classifier may also share work between predictions: see ``_decide_all`` of
    :class:`~tamis.base.classifier.Classifier`.
    """

    #: Parameters of which one fit serves many values.
    shared_parameters: ClassVar[tuple[str, ...]] = ()

    _prepare: Callable[..., Any]

    def _finish(self, prepared: Any) -> Any:
        raise NotImplementedError

    def _select(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        weights = () if sample_weight is None else (sample_weight,)
        return self._finish(self._prepare([self], X, y, *weights))

    def _fit(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        self._select(X, y, sample_weight)

    @property
    def _reusable(self) -> bool:
        """Whether ``_prepare`` returns a small tuple of arrays, the same bit for bit whatever the other estimators."""
        return False

    def _input_key(self) -> Hashable:
        """What else must be equal for estimators to be fitted together: what reading the input depends on."""
        return ()


class Together:
    """Estimators that are equal but for their shared parameters, fitted on the same rows with one preparation.

    `prepared` is what such estimators prepared before on the same rows. The estimators stay unfitted: :meth:`fitted`
    returns copies.

    Examples
    --------
    >>> from tamis.select import Ranking
    >>> X = np.array([[1.0, 0.0, 5.0], [2.0, 0.0, 5.0], [1.0, 1.0, 6.0], [2.0, 1.5, 6.0]])
    >>> [one.get_support(indices=True).tolist() for one in Together([Ranking(k=1), Ranking(k=2)], X, [0, 0, 1, 1])]
    [[2], [1, 2]]
    """

    def __init__(self, estimators: Sequence[Any], X: Any, y: Any, prepared: Any = None) -> None:
        first = estimators[0]
        for one in estimators:
            one._validate_params()
        before = set(vars(first))
        rows, codes = first._begin(X, y)
        self._read = {name: value for name, value in vars(first).items() if name not in before}
        self.prepared = first._prepare(estimators, rows, codes) if prepared is None else prepared
        self._estimators = estimators

    def __len__(self) -> int:
        return len(self._estimators)

    def fitted(self, place: int) -> Any:
        """A fitted copy of the estimator at a place."""
        own = copy(self._estimators[place])
        vars(own).update(self._read)
        own._take(own._finish(self.prepared))
        return own

    def __iter__(self) -> Iterator[Any]:
        return (self.fitted(place) for place in range(len(self)))


class FittedOnce:
    """As :class:`Together`, for estimators of scikit-learn that differ in a parameter which is read after the fit."""

    def __init__(self, estimators: Sequence[Any], X: Any, y: Any) -> None:
        self._given = X, y
        self._estimators = estimators
        self._fitted = clone(estimators[0]).set_params(**_READ_LATER[type(estimators[0])]).fit(X, y)

    def fitted(self, place: int) -> Any:
        """A fitted copy of the estimator at a place."""
        own = copy(self._estimators[place])
        own._validate_params()
        own._check_params(*self._given)
        vars(own).update({name: value for name, value in vars(self._fitted).items() if name.endswith("_")})
        return own


#: Filters of scikit-learn, the parameter they read after the scores are computed, and a value that all accept.
_READ_LATER: dict[type, dict[str, Any]] = {
    SelectKBest: {"k": "all"},
    SelectPercentile: {"percentile": 10},
    SelectFpr: {"alpha": 0.05},
    SelectFdr: {"alpha": 0.05},
    SelectFwe: {"alpha": 0.05},
}


def fit_together(estimators: Sequence[Any], X: Any, y: Any, prepared: Any = None) -> Together | FittedOnce:
    """Compute what the estimators of a group share, unless it is given; each is then finished on demand."""
    if type(estimators[0]) in _READ_LATER:
        return FittedOnce(estimators, X, y)
    return Together(estimators, X, y, prepared)


@dataclass(frozen=True, eq=False)
class Group:
    """Different estimators that one fit serves, and for each the places of its equals in the list they came from."""

    estimators: tuple[Any, ...]
    members: tuple[tuple[int, ...], ...]

    @property
    def shares_fit(self) -> bool:
        """Whether they can be fitted together (:func:`fit_together`); if not, there is only one."""
        return _shared_parameters(self.estimators[0]) is not None


def grouped(estimators: Sequence[Any]) -> list[Group]:
    """Groups of estimators that one fit serves, in order of their first members; equal estimators appear once.

    Examples
    --------
    >>> from tamis.select import Ranking
    >>> groups = grouped([Ranking("cc", k=5), Ranking("f", k=5), Ranking("cc", k=9), Ranking("cc", k=5)])
    >>> [group.members for group in groups]
    [((0, 3), (2,)), ((1,),)]
    """
    found: dict[Hashable, dict[Hashable, list[int]]] = {}
    for place, estimator in enumerate(estimators):
        found.setdefault(shared_signature(estimator), {}).setdefault(signature(estimator), []).append(place)
    return [
        Group(tuple(estimators[places[0]] for places in equals.values()), tuple(map(tuple, equals.values())))
        for equals in found.values()
    ]


def _shared_parameters(estimator: Any) -> tuple[str, ...] | None:
    """Parameters of which one fit serves many values; None for a class without any, or with a ``fit`` of its own."""
    if type(estimator) in _READ_LATER:
        return tuple(_READ_LATER[type(estimator)])
    plain = isinstance(estimator, SharedFit) and type(estimator).fit.__module__.startswith("tamis.base.")  # type: ignore[attr-defined]
    return estimator.shared_parameters if plain else None


def shared_signature(estimator: Any) -> Hashable:
    """A key that is equal for estimators that one fit serves."""
    shared = _shared_parameters(estimator)
    if shared is None:
        return signature(estimator)
    return signature(estimator, without=shared), estimator._input_key() if isinstance(estimator, SharedFit) else ()


def signature(estimator: Any, *, without: Sequence[str] = ()) -> Hashable:
    """A key of an unfitted estimator: its class and parameters, nested ones too, `without` some."""
    parameters = sorted(estimator.get_params(deep=False).items())
    values = tuple((name, _value(value)) for name, value in parameters if name not in without)
    return (type(estimator), values, _value(getattr(estimator, "_sklearn_output_config", None)))


def _value(value: Any) -> Hashable:
    """A hashable form of a value, in which 1, 1.0 and True differ."""
    if isinstance(value, BaseEstimator) or (hasattr(value, "get_params") and not isinstance(value, type)):
        return signature(value)
    if isinstance(value, dict):
        return (dict, tuple((name, _value(one)) for name, one in value.items()))
    if isinstance(value, list | tuple):
        return (type(value), tuple(map(_value, value)))
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes() if value.dtype != object else _value(value.tolist()))
    if isinstance(value, str | bool | int | float | np.generic | None):
        # By repr, NaN equals NaN.
        return (type(value), repr(value))
    # Anything else equals only itself: what it does cannot be seen.
    try:
        hash(value)
    except TypeError:
        return (type(value), id(value))
    return (type(value), value)
