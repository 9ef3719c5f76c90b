"""Prototypes that vote in place of the training rows, and the widths tried with them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import gen_batches

from tamis.base.errors import TamisError
from tamis.base.inner_cv import Fold
from tamis.base.meta_estimators import in_words
from tamis.base.seeds import seeded, spawn
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.classify.nrbf.widths import BLOCK, differences, right, widths_of


class Voters(NamedTuple):
    """Dense points with their classes and weights."""

    points: FloatArray
    y: Codes
    weight: FloatArray


def voters(model: Any, X: Matrix, y: Codes, n_classes: int, seed: int) -> Voters:
    """The prototypes of a model fitted to rows; each weighs as the rows of its class nearest to it, one at least."""
    if np.ptp(y) == 0:
        # Whatever votes, it votes for this class.
        return Voters(X[:1].toarray() if sp.issparse(X) else X[:1], y[:1], np.ones(1))
    fitted = seeded(clone(model), seed).fit(X, y)
    points, classes = getattr(fitted, "prototypes_", None), getattr(fitted, "prototype_classes_", None)
    if points is None or classes is None:
        raise TamisError(f"nrbf: prototypes takes a model that finds some, such as lvq(3); got {in_words(model)}")
    classes = np.searchsorted(np.arange(n_classes), fitted.classes_)[classes]
    weight = np.zeros(classes.size)
    for c in np.unique(classes):
        own, rows = np.flatnonzero(classes == c), X[np.flatnonzero(y == c)]
        nearest = np.concatenate([d.argmin(axis=1) for d in _blocks(rows, points[own])])
        weight[own] += np.bincount(nearest, minlength=own.size)
    # One that is nearest to no row of its class is not left without a vote: it would then not be there.
    return Voters(np.asarray(points, dtype=np.float64), classes, np.maximum(weight, 1.0))


def try_widths_of_voters(
    model: Any, X: Matrix, y: Codes, every: Voters, folds: Sequence[Fold], count: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """As ``try_widths``, with prototypes found anew in each fold; `every` are those of all rows."""
    n_classes = int(y.max()) + 1
    sigmas = widths_of(every.points, every.weight, count)
    accuracy = np.zeros((len(folds), sigmas.size))
    for number, fold in enumerate(folds):
        train, test = np.flatnonzero(fold.train), np.flatnonzero(fold.test)
        found = voters(model, X[train], y[train], n_classes, spawn(seed, number))
        votes = np.zeros((found.y.size, n_classes))
        votes[np.arange(found.y.size), found.y] = found.weight / found.weight.max()
        correct = [right(d, votes, y[some], sigmas) for some, d in _tested(X, test, found.points)]
        accuracy[number] = np.concatenate(correct, axis=1).mean(axis=1)
    return sigmas, accuracy


def _tested(X: Matrix, test: np.ndarray, points: FloatArray) -> Any:
    """Blocks of test rows with their squared distances to the prototypes."""
    for some in gen_batches(test.size, _height(points)):
        yield test[some], next(_blocks(X[test[some]], points))


def _blocks(X: Matrix, points: FloatArray) -> Any:
    """Squared distances of rows to points, some rows at a time."""
    for some in gen_batches(X.shape[0], _height(points)):
        rows = X[some]
        yield differences(rows.toarray() if sp.issparse(rows) else rows, points)


def _height(points: FloatArray) -> int:
    return max(1, BLOCK // max(points.shape))
