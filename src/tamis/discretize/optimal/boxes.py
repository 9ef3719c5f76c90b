"""Bins of any number of columns: boxes of their space, found greedily."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.types import FloatArray
from tamis.bins.value_tables import cuts_below
from tamis.discretize.optimal.limits import MIN_ROWS
from tamis.discretize.optimal.numeric_target import read_rows


@dataclass(frozen=True)
class Boxes:
    """Boxes that divide a space, and the mean of the target in each.

    Attributes
    ----------
    bounds : float array of shape (n_boxes, n_columns, 2)
        Box b holds the points with ``bounds[b, j, 0] <= X[:, j] < bounds[b, j, 1]`` for all columns j.
    means : float array of shape (n_boxes,) or (n_boxes, n_targets)
    cost : float
        Squared error plus the cost of all boxes.
    """

    bounds: FloatArray
    means: FloatArray
    cost: float

    def places(self, X: Any) -> np.ndarray:
        """The box of each point; -1 where a value is missing."""
        X = np.asarray(X, dtype=np.float64)
        found = np.full(X.shape[0], -1)
        for b, box in enumerate(self.bounds):
            found[((box[:, 0] <= X) & (box[:, 1] > X)).all(axis=1)] = b
        return found

    def values(self, X: Any) -> FloatArray:
        """The mean of the box of each point; NaN where a value is missing."""
        return np.concatenate((self.means, np.full_like(self.means[:1], np.nan)))[self.places(X)]


def boxes(
    X: Any, target: Any, *, min_gain: float | None = None, min_rows: float = MIN_ROWS, sample_weight: Any = None
) -> Boxes:
    """Divide the space of several columns greedily into boxes of low squared error, plus a cost for each box.

    The space is cut in two where that lowers the squared error most, each part again, and so on down to `min_rows`; of
    the tree of these cuts the best part is kept, exactly. The cuts themselves are greedy: no other cuts are tried where
    an earlier one turns out bad, so that the result may cost more than the best boxes, most of all where columns matter
    only together. One column has exact bins by :func:`mean_bins`, two columns have exact rectangles of up to 40 values
    each by :func:`rectangles`.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Rows with a missing value are left out.
    target : array of shape (n_rows,) or (n_rows, n_targets)
        Numbers; for classes their indicators. The squared errors of several targets add up.
    min_gain : float, optional
        Cost of a box. By default the error of a single one divided by n - 1.
    min_rows : float, default=10
        Least number of rows, or their weight, in each box.
    sample_weight : array of shape (n_rows,), optional
        Weights count as repeated rows.

    Returns
    -------
    Boxes

    See Also
    --------
    rectangles : Bins of two columns, exactly.

    References
    ----------
    Katz (2005), "An optimal binning transformation for use in predictive modeling"; Breiman, Friedman, Olshen and Stone
    (1984), "Classification and regression trees".

    Examples
    --------
    >>> X = np.stack(np.meshgrid(*[np.arange(6)] * 3), axis=-1).reshape(-1, 3)
    >>> found = boxes(X, (X > 2).all(axis=1))
    >>> len(found.bounds), found.values([[5, 5, 5], [5, 5, 1]])
    (4, array([1., 0.]))
    """
    X = np.asarray(X)
    if X.ndim != 2 or X.shape[1] == 0:
        raise TamisError(f"X takes a table of at least one column; got shape {X.shape}")
    if not (min_rows >= 0 and (min_gain is None or min_gain >= 0)):
        raise TamisError(f"min_rows and min_gain take numbers of at least 0; got {min_rows!r} and {min_gain!r}")
    columns, numbers, weight = read_rows(target, sample_weight, **{f"X[:, {j}]": one for j, one in enumerate(X.T)})
    total = float(weight.sum())
    centre = np.average(numbers, axis=0, weights=weight)
    moved = numbers - centre
    whole = float(weight @ (moved**2).sum(axis=1))
    each = whole / (total - 1 if total >= 2 else total) if min_gain is None else float(min_gain)
    values, ranks = zip(*(np.unique(one, return_inverse=True) for one in columns), strict=True)
    tree = _grown(np.column_stack(ranks).astype(np.float32), moved, weight, each, min_rows)
    bounds = _bounds(tree, values)
    leaf = tree.apply(np.column_stack(ranks).astype(np.float32))
    place = np.searchsorted(np.flatnonzero(tree.tree_.children_left < 0), leaf)
    inside = np.bincount(place, weights=weight)
    means = np.column_stack([np.bincount(place, weights=weight * one) / inside for one in moved.T])
    cost = float(weight @ ((moved - means[place]) ** 2).sum(axis=1)) + each * len(bounds)
    means += centre
    return Boxes(bounds, means[:, 0] if np.ndim(target) == 1 else means, cost)


def _grown(
    ranks: FloatArray, target: FloatArray, weight: FloatArray, each: float, min_rows: float
) -> DecisionTreeRegressor:
    """A tree of ranks, which single precision holds, pruned for the cost of a leaf."""
    total = float(weight.sum())
    # scikit-learn's error is a mean over rows and targets.
    options = {"ccp_alpha": each / (total * target.shape[1]), "random_state": int(generator(0).integers(2**31))}
    if 2 * min_rows > total * (1 + 1e-12):
        options["min_samples_leaf"] = weight.size
    elif (weight == 1).all():
        options["min_samples_leaf"] = max(1, math.ceil(min_rows - 1e-9))
    else:
        options["min_weight_fraction_leaf"] = max(0.0, min_rows / total * (1 - 1e-12))
    return DecisionTreeRegressor(**options).fit(ranks, target, sample_weight=weight)


def _bounds(tree: DecisionTreeRegressor, values: tuple[FloatArray, ...]) -> FloatArray:
    """The bounds of the leaves, in the order of their numbers; `values` are those of each column."""
    nodes = tree.tree_
    of_nodes = np.empty((nodes.node_count, len(values), 2))
    of_nodes[0] = -np.inf, np.inf
    # Children have higher numbers than their parents.
    for node in np.flatnonzero(nodes.children_left >= 0):
        left, right, j = nodes.children_left[node], nodes.children_right[node], nodes.feature[node]
        cut = cuts_below(values[j], np.array([math.floor(nodes.threshold[node]) + 1]))
        of_nodes[left] = of_nodes[right] = of_nodes[node]
        of_nodes[left, j, 1] = of_nodes[right, j, 0] = cut[0]
    return of_nodes[nodes.children_left < 0]
