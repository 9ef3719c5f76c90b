"""Enhanced selective naive Bayes: columns are added while the area under the lift curve grows."""

from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import expit, gammaln, log_softmax, logit, softmax

from tamis.base._sklearn import StrOptions, real
from tamis.base.part import Limits, Part
from tamis.base.search_range import choice
from tamis.base.types import FloatArray
from tamis.classify.esnb.lift import lift_curve
from tamis.kernels.selective_bayes import areas_with, rest_areas_with
from tamis.naive_bayes.selective import Selective, TrainingRows

#: Rounding of sums of probabilities, in units of the logarithms.
_CLOSE = 32.0


class ESNB(Selective):
    """Naive Bayes on columns found by forward selection of the area under the lift curve.

    Boulle's enhancement of the selective naive Bayes classifier (``snb``) in three points. Columns are cut by MODL, and
    those that MODL does not cut are no candidates; the levels of nominal columns are grouped by the same criterion. The
    measure is the area under the lift curve of the training rows, TP / n against (TP + FP) / n for all thresholds.
    Finally the threshold is set where that curve is farthest above that of a random choice.

    Parameters
    ----------
    k : int, optional
        Most columns; by default as many as help.
    bins : str, default="modl"
        How columns become states: the methods of :func:`tamis.contingency.states.states`.
    n_bins : int, optional
        Number of states, for the methods that take it.
    threshold : {"lift"} or float, default="lift"
        With two classes, the probability above which the second is predicted. "lift" finds it on the lift curve of the
        training rows; 0.5 predicts the more probable class. With more classes the most probable is predicted.
    average : bool, default=False
        Weigh each column by the sets of the search that it is in instead of equally; see Notes.
    alpha : float, default=1.0
        Rows added to each state of a column, in every class.
    tol : float, default=0.0
        By how much the area must grow for a column to be added; any growth for 0.

    Attributes
    ----------
    classes_ : array
    chosen_ : int array
        The columns in the order in which they were added.
    used_ : bool array of shape (n_features,)
    path_ : float array, one longer than `chosen_`
        The area under the lift curve without columns and after each step.
    weights_ : float array, as long as `chosen_`
        Factor of the terms of each column: 1 unless averaged.
    threshold_ : float or None
        With two classes, the probability of the second, by naive Bayes, above which it is predicted;
        ``predict_proba`` is shifted so that this is 0.5.
    cut_ : float or None
        The same as log-odds, log(t / (1 - t)), since `threshold_` may round to 0 or 1.
    prior_ : array of shape (n_classes,)
    nominal_, levels_, level_states_
        As in :class:`~tamis.classify.nb.NaiveBayes`.

    See Also
    --------
    SNB : Forward selection of the accuracy.
    NaiveBayes : Naive Bayes on all columns.

    Notes
    -----
    For the second of two classes, with the share p of the rows, the area is p^2 / 2 + p (1 - p) AUC. With several
    classes each has a lift curve against the rest, and the measure is the sum of the areas weighted by the classes'
    shares.

    The method's slides set the threshold where TP / n is largest, which is where every row is taken. Here it maximises
    the distance from a random choice, which minimises the balanced error. The probabilities are those of naive Bayes
    with the prior shifted so that the threshold is 0.5.

    The rows are sorted once in each step. In a state of a candidate their order stays: with two classes and up to
    eleven states its area takes a merge and no sort. Ties go to the column with the largest likelihood of the training
    classes, then to the first.

    Rows are tied where the products of their shares are equal, also by different factors, as 1/2 times 1/3 and 1/6: the
    logarithms of primes are rounded to multiples of a power of two (2^-44 on small tables), and those of counts are
    their sums. For that rows must weigh, and `alpha` be, multiples of some 1/q with q up to 1000. Products that differ
    by less than the rounding, about one in 10^12, may be tied as well.

    With `average`, each set of s of all p columns on the path of the search is weighted by what it saves,
    max(0, 1 - L_s / L_0), where L_s is minus the log-likelihood of the training rows plus
    log(p + 1) + log C(p + s - 1, s), and L_0 that without columns; a column's weight is the share of the sets that it
    is in. If no set saves anything, all columns count equally.

    References
    ----------
    Boulle (2006), "An enhanced selective naive Bayes method with optimal discretization", in Feature Extraction;
    Boulle (2007), "Compression-based averaging of selective naive Bayes classifiers".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import ESNB
    >>> X = np.array([[1, 7], [2, 3], [3, 8], [4, 2], [5, 9], [6, 1], [7, 4], [8, 6], [9, 5], [10, 10]])
    >>> model = ESNB(bins="equal_frequency", n_bins=2).fit(X, ["a"] * 6 + ["b"] * 4)
    >>> model.chosen_, model.path_.round(3), round(model.threshold_, 2)
    (array([0]), array([0.2, 0.3]), 0.36)
    >>> model.predict([[2, 5], [9, 5]])
    array(['a', 'b'], dtype='<U1')
    """

    part: ClassVar[Part] = Part(
        "esnb",
        positional=("k",),
        search={"average": choice(True, False), "tol": choice(0.0, 1e-4, 1e-3)},
        paper="Boulle 2006; Boulle 2007 (averaging)",
        phrase="naive Bayes on columns chosen by the area under the lift curve",
        limits=Limits(values=3_000_000, class_rows=3),
        scale_invariant=True,
        counterpart="lasso",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Selective._parameter_constraints,
        "threshold": [StrOptions({"lift"}), real(0, 1)],
        "average": ["boolean"],
    }

    def __init__(
        self,
        k: int | None = None,
        *,
        bins: str = "modl",
        n_bins: int | None = None,
        threshold: float | Literal["lift"] = "lift",
        average: bool = False,
        alpha: float = 1.0,
        tol: float = 0.0,
    ) -> None:
        self.k = k
        self.bins = bins
        self.n_bins = n_bins
        self.threshold = threshold
        self.average = average
        self.alpha = alpha
        self.tol = tol

    def _measure(self, rows: TrainingRows, evidence: FloatArray, candidates: np.ndarray | None) -> FloatArray:
        size = np.bincount(rows.classes, weights=rows.weight)
        share = size / size.sum()
        if candidates is None:
            # All rows are tied: half of the pairs are in order.
            areas = share**2 / 2 + share * (1 - share) / 2
            return np.atleast_1d(areas[1] if share.size == 2 else areas @ share)
        arguments = rows.kernel_arguments(evidence, candidates)
        if share.size == 2:
            order = np.argsort(evidence[:, 1] - evidence[:, 0], kind="stable")
            areas_with(*rows.listed, rows.table, order, rows.counted.first, *arguments)
            return np.asarray(share[1] ** 2 / 2 + arguments[-1] / size.sum() ** 2)
        rest_areas_with(*rows.listed, rows.table, share, _CLOSE / rows.logs.grid, *arguments)
        return np.asarray((share**3).sum() / 2 + arguments[-1] / size.sum() ** 2)

    def _end(self, rows: TrainingRows, start: FloatArray, chosen: np.ndarray) -> None:
        self.weights_ = self._averaged(rows, start, chosen) if self.average else np.ones(chosen.size)
        count, values, table = self._terms
        self._terms = count, values, table * np.repeat(self.weights_, count + 2)[:, None]
        self.cut_ = self.threshold_ = None
        if self.classes_.size == 2:
            evidence = start
            for one, weight in zip(chosen, self.weights_, strict=True):
                evidence = evidence + weight * (rows.joined(start, one) - start)
            if self.threshold == "lift":
                self.cut_ = lift_curve(evidence[:, 1] - evidence[:, 0], rows.classes == 1, rows.weight).best or 0.0
            else:
                self.cut_ = float(logit(self.threshold))
            self.threshold_ = float(expit(self.cut_))

    def _averaged(self, rows: TrainingRows, start: FloatArray, chosen: np.ndarray) -> FloatArray:
        """The weight of each column: what the sets with it save, as a share of what all sets of the search save."""
        cost, evidence, p = [], start, float(self.n_features_in_)
        for size in range(chosen.size + 1):
            own = log_softmax(evidence, axis=1)[np.arange(rows.classes.size), rows.classes]
            subset = np.log(p + 1) + gammaln(p + size) - gammaln(size + 1) - gammaln(p)
            cost.append(subset - rows.weight @ own)
            if size < chosen.size:
                evidence = rows.joined(evidence, chosen[size])
        saved = np.maximum(0.0, 1 - np.array(cost[1:]) / cost[0])
        return np.cumsum(saved[::-1])[::-1] / saved.sum() if saved.any() else np.ones(chosen.size)

    def _decision(self, X: Any) -> FloatArray:
        evidence = self._evidence(X)
        if self.cut_ is not None:
            evidence[:, 1] -= self.cut_
        return np.asarray(softmax(evidence, axis=1))
