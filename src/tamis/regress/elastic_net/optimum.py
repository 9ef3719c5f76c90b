"""Optima of the elastic net to rounding, from solutions near them."""

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
import scipy.linalg

from tamis.base.types import Codes, FloatArray, Mask
from tamis.regress.elastic_net.problem import Problem, Solution

#: Most columns in use for which the optimum is computed.
_COLUMNS = 2_000

#: Most times that columns enter, and that one leaves before others enter.
_ROUNDS, _STEPS = 25, 100

#: Difference of squared lengths, in units of them, below which columns are equal.
_EQUAL = 1e-12

#: Share of the columns in use of which as many may enter at a time.
_ENTER = 0.25

#: The largest violation of the optimality conditions and the distance within which one is tied, in penalties.
_VIOLATION, _TIED = 1e-8, 1e-6


def optima(
    problem: Problem, penalties: Sequence[float], l1_ratio: float, near: Sequence[FloatArray], *, unique: bool
) -> list[Solution | None]:
    """The optimum for each penalty, from weights near it; None where it is not found.

    The columns in use and the signs s of their weights w are those near the optimum. With ``G`` and ``g`` the products
    of these columns with each other and with the target, over n::

        (G + a (1 - r) I) w = g - a r s

    On the way to this w the first column whose weight reaches 0 leaves. A column whose gradient exceeds a r enters.
    Where none does the weights are optimal (feature-sign search, Lee et al. 2006). With `unique`, None also where
    other weights could be optimal too, as with equal columns.
    """
    found: list[Solution | None] = [None] * len(near)
    rank = problem.means.size
    if l1_ratio == 1:
        # The lasso has an optimum with independent columns, and centred ones are fewer than the rows.
        rank = max(problem.y.size - 1, 1)
        near = [_largest(weights, rank) for weights in _merged(problem, near)]
    states = [(weights, np.sign(weights)) for weights in near]
    open_places = list(range(len(near)))
    for _ in range(_ROUNDS):
        again = []
        for batch in _batches([states[place][1] for place in open_places], open_places):
            some = [penalties[place] for place in batch]
            solved, pulls = _solved(problem, some, l1_ratio, [states[place] for place in batch], rank)
            for place, penalty, weights, pull in zip(batch, some, solved, pulls, strict=True):
                if weights is None:
                    continue
                size = np.where(weights == 0, np.abs(pull) / (penalty * l1_ratio), 0.0)
                if size.max() > 1 + _VIOLATION:
                    used = int(np.count_nonzero(weights))
                    enter = _entering(size, max(1, min(int(_ENTER * used), rank - used)), l1_ratio)
                    signs = np.sign(weights)
                    signs[enter] = np.sign(pull[enter])
                    states[place] = weights, signs
                    again.append(place)
                elif not unique or l1_ratio < 1 or _independent(problem, weights, size > 1 - _TIED):
                    found[place] = problem.solution(weights, settled=True)
        open_places = again
    return found


def _entering(size: FloatArray, room: int, l1_ratio: float) -> Codes:
    """The columns whose gradients, in penalties, exceed 1 by most."""
    enter = np.argsort(-size, kind="stable")[: 2 * room]
    enter = enter[size[enter] > 1 + _VIOLATION]
    if l1_ratio == 1:
        # Equal columns have equal gradients: one of them enters.
        enter = enter[-np.diff(size[enter], prepend=np.inf) > _EQUAL * size[enter]]
    return enter[:room]


def _merged(problem: Problem, near: Sequence[FloatArray]) -> Sequence[FloatArray]:
    """The weights of equal columns, and of those with the opposite sign, all given to the first of them."""
    used = np.flatnonzero(np.any([weights != 0 for weights in near], axis=0))
    if not 1 < used.size <= _COLUMNS:
        return near
    columns = problem.columns(used)
    gram = columns.T @ columns
    size = np.diag(gram)
    equal = np.abs(gram) > (1 - _EQUAL) * np.maximum.outer(size, size)
    np.fill_diagonal(equal, True)
    first = equal.argmax(axis=1)
    later = np.flatnonzero(first < np.arange(used.size))
    if not later.size:
        return near
    merged = [weights.copy() for weights in near]
    for weights in merged:
        np.add.at(weights, used[first[later]], weights[used[later]] * np.sign(gram[later, first[later]]))
        weights[used[later]] = 0.0
    return merged


def _largest(weights: FloatArray, most: int) -> FloatArray:
    """At most so many of the weights, those of the largest size; the others are 0."""
    if np.count_nonzero(weights) <= most:
        return weights
    kept = np.argsort(-np.abs(weights), kind="stable")[:most]
    return np.where(np.isin(np.arange(weights.size), kept), weights, 0.0)


def _batches(signs: Sequence[FloatArray], places: Sequence[int]) -> Iterator[list[int]]:
    """Neighbouring places that use few columns together; those with too many are left out."""
    batch: list[int] = []
    used = np.zeros(0, dtype=bool)
    for place, sign in zip(places, signs, strict=True):
        own = sign != 0
        if np.count_nonzero(own) > _COLUMNS:
            continue
        if batch and np.count_nonzero(used | own) > _COLUMNS:
            yield batch
            batch = []
        used = used | own if batch else own
        batch.append(place)
    if batch:
        yield batch


def _solved(
    problem: Problem,
    penalties: Sequence[float],
    l1_ratio: float,
    states: Sequence[tuple[FloatArray, FloatArray]],
    rank: int,
) -> tuple[list[FloatArray | None], FloatArray]:
    """Optimal weights of the columns with a sign, and the gradients they leave; one matrix product for all."""
    used = np.flatnonzero(np.any([signs != 0 for _, signs in states], axis=0))
    columns = problem.columns(used)
    gram, products = columns.T @ columns / problem.y.size, columns.T @ problem.target / problem.y.size
    values = [
        _among(gram, products, penalty, l1_ratio, weights[used], signs[used], rank)
        for penalty, (weights, signs) in zip(penalties, states, strict=True)
    ]
    fitted = np.column_stack([np.zeros(used.size) if one is None else one for one in values])
    solved: list[FloatArray | None] = [None] * len(values)
    for place, one in enumerate(values):
        if one is not None:
            solved[place] = full = np.zeros(states[place][0].size)
            full[used] = one
    return solved, problem.pulls(problem.target[:, None] - columns @ fitted).T


def _among(
    gram: FloatArray,
    products: FloatArray,
    penalty: float,
    l1_ratio: float,
    weights: FloatArray,
    signs: FloatArray,
    rank: int,
) -> FloatArray | None:
    """Weights that solve the equations of their signs, from weights with these signs; None where they are singular."""
    weights, signs = weights.copy(), signs.copy()
    for _ in range(_STEPS):
        places = np.flatnonzero(signs)
        if not places.size:
            return weights
        system = gram[np.ix_(places, places)]
        system.flat[:: places.size + 1] += penalty * (1 - l1_ratio)
        right = products[places] - penalty * l1_ratio * signs[places]
        start = weights[places]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                if places.size > rank:
                    # The column that enters is a sum of the others: it takes their place until one has no weight.
                    new = start == 0
                    ahead = np.where(new, signs[places], 0.0)
                    others = np.ix_(~new, ~new)
                    ahead[~new] = scipy.linalg.solve(system[others], -(system @ ahead)[~new], assume_a="pos")
                    least = np.inf
                else:
                    ahead, least = scipy.linalg.solve(system, right, assume_a="pos") - start, 1.0
        except (scipy.linalg.LinAlgError, scipy.linalg.LinAlgWarning):
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(ahead * signs[places] < 0, -start / ahead, np.inf)
        step = min(float(reach.min()), least)
        if not np.isfinite(step):
            return None
        weights[places] = start + step * ahead
        leave = places[(reach <= step) | (weights[places] * signs[places] < 0)]
        if step == 1.0 and not leave.size and least == 1.0:
            return weights
        weights[leave] = signs[leave] = 0.0
    return None


def _independent(problem: Problem, weights: FloatArray, tied: Mask) -> bool:
    """Whether the columns in use and those tied with them are independent, so that no other weights are optimal."""
    if not tied.any():
        return True
    columns = problem.columns(np.flatnonzero((weights != 0) | tied))
    return bool(np.linalg.matrix_rank(columns) == columns.shape[1])
