"""The contract of a sweep: one fit that answers many values of some parameters.

A ranking serves every number of features, a kernel matrix every cost, one search for neighbours every k. A part for
which this holds adds :class:`Sweep` as its first base, names those parameters in `sweeps`, and writes its work in two
halves: ``_prepare`` for what all values share, ``_answer`` for what is left to do for one of them. Fitting it alone is
the sweep of one, so there is no second way to compute anything. :func:`grouped` finds the estimators of a list that can
be fitted together; the plan (:mod:`tamis.validation.plan`) and ``vote`` are built on it.
"""

from collections.abc import Hashable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectFdr, SelectFpr, SelectFwe, SelectKBest, SelectPercentile


class Sweep:
    """First base of a selector, transform or classifier of which one fit answers many values of some parameters.

    A subclass names the parameters in `sweeps` and writes

    ``_prepare(asked, X, y)``
        What the estimators `asked` share, on validated input (`y` is None for a method that does not look at the
        classes). They are equal but for the swept parameters, and not fitted; `self` has read the input and has its
        classes and columns.
    ``_answer(prepared)``
        The rest, for the parameters of `self`: a selector returns its ``Selection``, others keep what they learnt.

    The hook of a selector or classifier (``_select`` or ``_fit``) is the sweep of one. A method that takes sample
    weights writes ``_prepare(asked, X, y, sample_weight=None)`` and passes them on in its own hook. The answer for one
    setting must not depend on the others by more than rounding. A classifier may also share work between the answers
    for new rows: see ``_decide_all`` of :class:`~tamis.base.classifier.Classifier`.

    Where ``_prepare`` returns a tuple of arrays that are the same to the last bit whatever else is asked, ``_lasts``
    says so, and walks over the same rows use it again.
    """

    #: Parameters of which one fit answers many values.
    sweeps: ClassVar[tuple[str, ...]] = ()

    def _prepare(self, asked: Sequence[Self], X: Any, y: Any) -> Any:
        raise NotImplementedError

    def _answer(self, prepared: Any) -> Any:
        raise NotImplementedError

    def _select(self, X: Any, y: Any) -> Any:
        return self._answer(self._prepare([self], X, y))

    def _fit(self, X: Any, y: Any) -> None:
        self._answer(self._prepare([self], X, y))

    def _lasts(self) -> bool:
        """Whether what is prepared does not depend on which other estimators are asked, and takes little memory."""
        return False

    def _alike(self) -> Hashable:
        """What else must be equal for estimators to be fitted together: what reading the input depends on."""
        return ()


class Together:
    """Estimators that are equal but for what they sweep over, fitted on the same rows with one preparation.

    Parameters
    ----------
    estimators : sequence of estimators
        Not fitted; each gives a fitted copy when it is asked for.
    X, y : rows and classes
    prepared : object, optional
        What such estimators prepared before on the same rows.

    Attributes
    ----------
    prepared : object

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

    def answer(self, place: int) -> Any:
        """A fitted copy of the estimator at a place."""
        own = copy(self._estimators[place])
        vars(own).update(self._read)
        own._take(own._answer(self.prepared))
        return own

    def __iter__(self) -> Iterator[Any]:
        return (self.answer(place) for place in range(len(self)))


class Later:
    """Estimators of scikit-learn that are equal but for a parameter that is read after the fit: fitted once.

    The same to its user as :class:`Together`.
    """

    def __init__(self, estimators: Sequence[Any], X: Any, y: Any) -> None:
        self._given = X, y
        self._estimators = estimators
        first = clone(estimators[0]).set_params(**_READ_LATER[type(estimators[0])])
        self._fitted = first.fit(X, y)

    def answer(self, place: int) -> Any:
        """A fitted copy of the estimator at a place."""
        own = copy(self._estimators[place])
        own._validate_params()
        own._check_params(*self._given)
        learnt = {name: value for name, value in vars(self._fitted).items() if name.endswith("_")}
        vars(own).update(learnt)
        return own


#: Filters of scikit-learn, what they only look at once the scores are there, and a value that none of them refuses.
_READ_LATER: dict[type, dict[str, Any]] = {
    SelectKBest: {"k": "all"},
    SelectPercentile: {"percentile": 10},
    SelectFpr: {"alpha": 0.05},
    SelectFdr: {"alpha": 0.05},
    SelectFwe: {"alpha": 0.05},
}


def fit_together(estimators: Sequence[Any], X: Any, y: Any, prepared: Any = None) -> Together | Later:
    """Do what the estimators of a swept group share, unless it is known; each is then fitted when it is asked for."""
    if type(estimators[0]) in _READ_LATER:
        return Later(estimators, X, y)
    return Together(estimators, X, y, prepared)


@dataclass(frozen=True, eq=False)
class Group:
    """Estimators that one fit answers.

    Attributes
    ----------
    estimators : tuple of estimators
        Different ones, in the order in which they were first met.
    members : tuple of tuples of int
        For each of them the places in the list where an equal one stands.
    """

    estimators: tuple[Any, ...]
    members: tuple[tuple[int, ...], ...]

    @property
    def swept(self) -> bool:
        """Whether they can be fitted together (:func:`fit_together`); if not there is one, to be fitted as it is."""
        return _swept(self.estimators[0]) is not None


def grouped(estimators: Sequence[Any]) -> list[Group]:
    """Groups of estimators that one fit answers, in the order in which they are met; equal ones are found once.

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
        Group(tuple(estimators[places[0]] for places in answers.values()), tuple(map(tuple, answers.values())))
        for answers in found.values()
    ]


def _swept(estimator: Any) -> tuple[str, ...] | None:
    """Parameters of which one fit answers many values; None for a kind that has to be fitted for each.

    A class of one's own whose ``fit`` does more than that of the base is left to it.
    """
    if type(estimator) in _READ_LATER:
        return tuple(_READ_LATER[type(estimator)])
    plain = isinstance(estimator, Sweep) and type(estimator).fit.__module__.startswith("tamis.base.")  # type: ignore[attr-defined]
    return estimator.sweeps if plain else None


def shared_signature(estimator: Any) -> Hashable:
    """What is equal for estimators that one fit answers."""
    swept = _swept(estimator)
    if swept is None:
        return signature(estimator)
    return signature(estimator, without=swept), estimator._alike() if isinstance(estimator, Sweep) else ()


def signature(estimator: Any, *, without: Sequence[str] = ()) -> Hashable:
    """What an unfitted estimator is: its class and its parameters, nested ones too. Equal ones are fitted alike.

    Parameters
    ----------
    estimator : estimator
    without : sequence of str
        Parameters to leave out.
    """
    parameters = estimator.get_params(deep=False)
    kept = tuple((name, _value(value)) for name, value in sorted(parameters.items()) if name not in without)
    output = getattr(estimator, "_sklearn_output_config", None)
    return (type(estimator), kept, _value(output))


def _value(value: Any) -> Hashable:
    """A value as something to compare; whole numbers, fractions and truth values are different things."""
    if isinstance(value, BaseEstimator) or (hasattr(value, "get_params") and not isinstance(value, type)):
        return signature(value)
    if isinstance(value, dict):
        return (dict, tuple((name, _value(one)) for name, one in value.items()))
    if isinstance(value, list | tuple):
        return (type(value), tuple(map(_value, value)))
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes() if value.dtype != object else _value(value.tolist()))
    if isinstance(value, str | bool | int | float | np.generic | None):
        # repr tells 1 from 1.0 and from True, and one NaN from no other.
        return (type(value), repr(value))
    # Anything else is itself alone: what it does cannot be seen.
    return (type(value), _identity(value))


def _identity(value: Any) -> Hashable:
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value
