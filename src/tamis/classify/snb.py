"""Selective naive Bayes: columns are added one after another while that classifies more rows correctly."""

from typing import Any, ClassVar

import numpy as np

from tamis.base._sklearn import StrOptions
from tamis.base.part import Part
from tamis.base.search_range import choice
from tamis.base.types import Codes, FloatArray, Mask
from tamis.kernels.selective_bayes import right_with, two_right_with
from tamis.naive_bayes.additive import Counted
from tamis.naive_bayes.ratio_logs import RatioLogs
from tamis.naive_bayes.selective import Selective, TrainingRows

#: Evidence against a class without another row: it outweighs any other.
_NEVER = -(2.0**20)


class SNB(Selective):
    """Naive Bayes on columns found by forward selection of the accuracy on the training rows.

    The search begins without columns, where every row is predicted as the most frequent class. In each step the column
    is added with which most training rows are classified correctly, until none improves on that. Columns are states, as
    in ``nb(states)``, and add their own terms to the evidence: a candidate costs one addition per row and class.

    Parameters
    ----------
    k : int, optional
        Most columns; by default as many as help.
    bins : str, default="auto"
        How columns become states: "auto" takes nominal columns and those of a few whole numbers as they are and cuts
        the others half a standard deviation below and above the mean; the other methods are those of
        :func:`tamis.contingency.states.states`.
    n_bins : int, optional
        Number of states, for the methods that take it.
    loo : bool, default=False
        Classify each training row without counting it (leave-one-out), at no extra cost; the paper counts it. With
        many columns this finds better ones. The cuts are not computed anew; of a row of weight 2 one is left.
    alpha : float, default=1.0
        Rows added to each state of a column, in every class.
    tol : float, default=0.0
        By how much the accuracy must rise for a column to be added; any rise for 0.
    class_weight : {"balanced"}, optional
        Weigh a row of a class with n_c of the n rows by n / (k n_c), of k classes, in the accuracy, and take the same
        prior for all classes.

    Attributes
    ----------
    classes_ : array
    chosen_ : int array
        The columns in the order in which they were added.
    used_ : bool array of shape (n_features,)
    path_ : float array, one longer than `chosen_`
        Accuracy on the training rows, without columns and after each step.
    prior_ : array of shape (n_classes,)
    nominal_, levels_, level_states_
        As in :class:`~tamis.classify.nb.NaiveBayes`.

    See Also
    --------
    ESNB : Forward selection of the area under the lift curve.
    NaiveBayes : Naive Bayes on all columns.

    Notes
    -----
    Langley and Sage go on as long as no column makes it worse. With thousands of columns some column always changes
    nothing, so here a column must help. Ties go to the column with the largest likelihood of the training classes, then
    to the first.

    Missing values add nothing. Sample weights count as repeated rows, except in the cuts of "ssv". Log-probabilities
    are rounded so that sums are exact and equal products of different shares are equal, as in ``esnb``.

    References
    ----------
    Langley and Sage (1994), "Induction of selective Bayesian classifiers".

    Examples
    --------
    The second column repeats the first, and is not added:

    >>> import numpy as np
    >>> from tamis.classify import SNB
    >>> X = np.array([[0, 0, 1], [0, 0, 1], [0, 0, 1], [1, 1, 1], [1, 1, 0], [1, 1, 0], [1, 1, 0], [0, 0, 0]])
    >>> model = SNB().fit(X, ["a", "a", "a", "a", "b", "b", "b", "b"])
    >>> model.chosen_, model.path_
    (array([2]), array([0.5, 1. ]))
    """

    part: ClassVar[Part] = Part(
        "snb",
        positional=("k",),
        search={
            "bins": choice("auto", "equal_frequency", "modl", "ssv"),
            "loo": choice(True, False),
            "class_weight": choice("balanced", None),
        },
        paper="Langley and Sage 1994",
        phrase="naive Bayes on columns chosen one after another",
        # esnb improves on it.
        searched=False,
        scale_invariant=True,
        counterpart="lasso",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selective._parameter_constraints,
        "loo": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        k: int | None = None,
        *,
        bins: str = "auto",
        n_bins: int | None = None,
        loo: bool = False,
        alpha: float = 1.0,
        tol: float = 0.0,
        class_weight: str | None = None,
    ) -> None:
        self.k = k
        self.bins = bins
        self.n_bins = n_bins
        self.loo = loo
        self.alpha = alpha
        self.tol = tol
        self.class_weight = class_weight

    def _measure(self, rows: TrainingRows, evidence: FloatArray, candidates: np.ndarray | None) -> FloatArray:
        weight = rows.weight
        if self.class_weight:
            weight = weight / np.bincount(rows.classes, weights=weight)[rows.classes]
        if candidates is None:
            right = weight[evidence.argmax(axis=1) == rows.classes].sum(keepdims=True)
        else:
            right = np.empty(candidates.size)
            if self.classes_.size == 2:
                odds = evidence[:, 1] - evidence[:, 0]
                lists = [one for c in (0, 1) for one in _ascending(odds, weight, rows.classes == c)]
                two_right_with(*rows.listed, rows.table, odds, *lists, rows.classes, weight, candidates, right)
            else:
                right_with(*rows.listed, rows.table, evidence, rows.classes, weight, candidates, right)
        return np.asarray(right / weight.sum())

    def _amounts(self, y: Codes, weight: FloatArray) -> FloatArray:
        return np.append(weight, _own(y, weight)) if self.loo else weight

    def _layers(self, counted: Counted, logs: RatioLogs, y: Codes, weight: FloatArray) -> FloatArray:
        table = super()._layers(counted, logs, y, weight)
        if not self.loo:
            return table
        n_classes = counted.counts.shape[0]
        first, own = counted.first, _own(y, weight)
        layers = np.repeat(table, n_classes, axis=0)
        for c in range(n_classes):
            less = np.maximum(counted.counts[c] - own[c], 0.0)
            known = np.maximum(np.add.reduceat(counted.counts[c], first[:-1]) - own[c], 0.0)
            known += self.alpha * (counted.cuts.count + 1)
            layers[c, :, c] = logs.ratio(less + self.alpha, np.repeat(known, np.diff(first)))
            layers[c, first[:-1], c] = 0.0
        return layers

    def _begin_evidence(self, logs: RatioLogs, y: Codes, weight: FloatArray) -> FloatArray:
        evidence = super()._begin_evidence(logs, y, weight)
        if self.loo and not self.class_weight:
            size = np.bincount(y, weights=weight).astype(np.float64, copy=False)
            less = size - _own(y, weight)
            alone = less <= 0
            fewer = np.where(alone, _NEVER, logs.ratio(np.where(alone, size, less), size))
            evidence[np.arange(y.size), y] += fewer[y]
        return evidence


def _own(y: Codes, weight: FloatArray) -> FloatArray:
    """Weight of a row that is left out: one row, or the mean weight in its class if that is less."""
    return np.asarray(np.minimum(1.0, np.bincount(y, weights=weight) / np.bincount(y)))


def _ascending(odds: FloatArray, weight: FloatArray, mask: Mask) -> tuple[FloatArray, FloatArray]:
    """The odds of some rows, ascending, and the cumulated weight of the rows before each."""
    order = np.argsort(odds[mask], kind="stable")
    return odds[mask][order], np.append(0.0, np.cumsum(weight[mask][order]))
