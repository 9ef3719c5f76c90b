"""Discretize: numbers become the bins they lie in."""

from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.base import OneToOneFeatureMixin

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.errors import TamisError
from tamis.base.inner_cv import CAUTION
from tamis.base.part import Part, members
from tamis.base.search_range import choice
from tamis.base.task import BOTH, Task, WantedTask, task_of
from tamis.base.transformer import SupervisedTransformer
from tamis.base.types import Matrix, Target
from tamis.base.validation import canonical
from tamis.bins.method import Binning
from tamis.discretize.optimal.limits import BinLimits
from tamis.discretize.optimal.losses import Centre, Loss

#: The methods by name, found in the other files of this folder.
METHODS: dict[str, Binning] = {one.name: one for _, one in members("tamis.discretize") if isinstance(one, Binning)}

#: Those that the search tries.
_SEARCHED = tuple(name for name, one in METHODS.items() if one.searched)

#: Each method in words.
_BINS = {
    "sigma": "by mean and standard deviation",
    "equal_width": "of equal width",
    "equal_frequency": "of equally many rows",
    "ssv": "by SSV splits",
    "modl": "the most probable ones, MODL",
    "optimal": "of least squared error",
    "chimerge": "by merging neighbours alike, ChiMerge",
}


class Discretize(OneToOneFeatureMixin, SupervisedTransformer):
    """Cut each column into bins and replace each value by the number of its bin.

    A value x gets the number of cuts c with c <= x: bins are closed on the left, like the right sides of tree splits.
    Values beyond those of the training rows fall into the outer bins. Missing values stay missing. A column without a
    cut becomes a constant.

    Parameters
    ----------
    by : {"ssv", "modl", "optimal", "chimerge", "sigma", "equal_width", "equal_frequency"}, default="ssv"
        "ssv" splits a column where most pairs of rows of different classes are separated, again on either side until
        the parts are pure, and prunes the last splits. "modl" takes the most probable intervals given the classes, one
        if they are independent. "optimal" takes the bins whose class shares fit the classes, or whose means fit the
        numbers, with the least squared error, at a cost for each bin; it alone cuts by a target of numbers. "chimerge"
        merges neighbouring values whose classes do not differ by the chi-square test. The others ignore the target:
        "sigma" cuts half a standard deviation below and above the mean, "equal_width" makes bins of
        the same width, "equal_frequency" bins of nearly the same number of rows.
    n_bins : int, optional
        Number of bins for the methods that ignore the target: 2 (one cut at the mean) or 3, the default, for "sigma";
        10 by default for the others.
    min_gain : float or "auto", default="auto"
        For "ssv": training rows that a last split must correct to stay, when each bin predicts its most frequent class;
        0 keeps all. "auto" takes for each column the number with the best mean - `caution` * sd of the accuracy over
        the folds of an internal stratified cross-validation; of equals the largest. For "optimal": the cost of a bin,
        which one more bin must take off the squared error; "auto" is the error of a single bin divided by n - 1.
    loss : {"squared", "absolute"}, default="squared"
        For "optimal": squares or absolute values of the distances from the mean, or the median, of the bin.
    centre : {"mean", "median"}, default="mean"
        For "optimal": what the distances are measured from. For classes it is that of the indicators of the classes.
    alpha : float, default=0.05
        For "chimerge": neighbours are merged as long as the p-value of some pair is not below this level.
    min_bins : int, default=1
        The fewest bins of "optimal" and "chimerge".
    max_bins : int, optional
        The most bins of "ssv", "modl", "optimal" and "chimerge". The splits of "ssv" that correct fewest rows are
        removed first, equal ones together.
    min_rows : int, default=10
        Least number of rows in a bin of "optimal".
    max_rows : int, optional
        Largest number of rows in a bin of "optimal".
    min_width, max_width : float, default=0.0 and none
        Least and largest difference of the highest and the lowest training value of a bin of "optimal". Limits that no
        bins of a column keep to are an error, but a column of one value has one bin.
    class_weight : {"balanced"}, optional
        For "ssv": weigh the classes alike in the rows corrected and in the accuracy. Otherwise no split may correct any
        row when a class is rare.
    cv : int, default=10
        For "ssv": folds of the internal cross-validation; fewer when the largest class has fewer rows.
    caution : float, default=1.0
        For "ssv": standard deviations over the folds subtracted from the mean (Grabczewski and Jankowski, eq. 25).
        About one in ten columns of noise or fewer gets a cut; with 0 half of them or more.
    random_state : int, Generator, RandomState or None, default=None
        Splits the rows into the internal folds.
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers; by default numbers with fractions are numbers.

    Attributes
    ----------
    cuts_ : list of float arrays, one a column
        The cuts, ascending; empty for a column that is not cut.
    zero_ : int array of shape (n_features,)
        The bin that gets the number 0: the lowest when fitted on an array; the one that holds the value 0 when fitted
        on a sparse matrix, so that zeros stay zeros and bins of negative values have negative numbers.

    See Also
    --------
    BinMeans : Replaces values by the class shares, or the mean target, of their bins.

    References
    ----------
    Grabczewski (2004), "SSV criterion based discretization for naive Bayes classifiers"; Peng and Ding (2005), "Minimum
    redundancy and maximum relevance feature selection" (sigma); Boulle (2006), "MODL: a Bayes optimal discretization
    method for continuous attributes"; Katz (2005), "An optimal binning transformation for use in predictive modeling";
    Kerber (1992), "ChiMerge: discretization of numeric attributes".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.discretize import Discretize
    >>> X = np.array([[1.0, 0.5], [2.0, 0.5], [3.0, 0.5], [4.0, 0.5]])
    >>> model = Discretize(min_gain=1).fit(X, ["a", "a", "b", "b"])
    >>> model.transform([[0.0, 3.0], [2.5, 3.0]])
    array([[0., 0.],
           [1., 0.]])
    """

    part: ClassVar[Part] = Part(
        "discretize",
        positional=("by",),
        search={
            "by": choice(*(name for name, one in METHODS.items() if one.searched)),
            "min_gain": choice("auto", 0, 1, 3, 10),
        },
        only={"min_gain": ("by", "ssv")},
        paper="Grabczewski 2004; Grabczewski and Jankowski 2006; Peng and Ding 2005; Boulle 2006; Katz 2005; "
        "Kerber 1992",
        phrase=lambda a: f"cuts every feature into bins ({_BINS.get(by := a.pop('by'), by)})",
    )
    accepts_missing = True
    tasks = BOTH
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "by": [StrOptions(set(METHODS))],
        "n_bins": [integer(2), None],
        "min_gain": [real(0, None, "left"), StrOptions({"auto"})],
        "loss": [StrOptions({"squared", "absolute"})],
        "centre": [StrOptions({"mean", "median"})],
        "alpha": [real(0, 1, "both")],
        **BinLimits.CONSTRAINTS,
        "class_weight": [StrOptions({"balanced"}), None],
        "cv": [integer(2)],
        "caution": CAUTION,
        "random_state": ["random_state", np.random.Generator],
        "task": [StrOptions({"auto", "classify", "regress"})],
    }

    def __init__(
        self,
        by: str = "ssv",
        *,
        n_bins: int | None = None,
        min_gain: float | Literal["auto"] = "auto",
        loss: Loss = "squared",
        centre: Centre = "mean",
        alpha: float = 0.05,
        min_bins: int = 1,
        max_bins: int | None = None,
        min_rows: int = 10,
        max_rows: int | None = None,
        min_width: float = 0.0,
        max_width: float | None = None,
        class_weight: str | None = None,
        cv: int = 10,
        caution: float = 1.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        task: WantedTask = "auto",
    ) -> None:
        self.by = by
        self.n_bins = n_bins
        self.min_gain = min_gain
        self.loss = loss
        self.centre = centre
        self.alpha = alpha
        self.min_bins = min_bins
        self.max_bins = max_bins
        self.min_rows = min_rows
        self.max_rows = max_rows
        self.min_width = min_width
        self.max_width = max_width
        self.class_weight = class_weight
        self.cv = cv
        self.caution = caution
        self.random_state = random_state
        self.task = task

    def _supervised(self) -> bool:
        # Tags are read before the parameters are validated.
        return self.by not in METHODS or METHODS[self.by].supervised

    def _settled_task(self) -> WantedTask:
        return super()._settled_task() if METHODS[self.by].tasks == BOTH else "classify"

    def _task(self, y: Any) -> Task:
        if METHODS[self.by].tasks != BOTH and "regress" in (self.task, task_of(y)):
            others = [one.name for one in METHODS.values() if not one.supervised or "regress" in one.tasks]
            raise TamisError(
                f"discretize({self.by}) is for classes, and the target holds numbers: "
                f"take {', '.join(others[:-1])} or {others[-1]}"
            )
        return super()._task(y)

    def _learn(self, X: Matrix, y: Target = None) -> None:
        method = METHODS[self.by]
        self.cuts_ = method(X, y, **{name: getattr(self, name) for name in method.options})
        below = np.array([np.searchsorted(cuts, 0.0, side="right") for cuts in self.cuts_])
        self.zero_ = below if sp.issparse(X) else np.zeros_like(below)

    def _apply(self, X: Matrix) -> Matrix:
        if sp.issparse(X):
            return self._of_sparse(X)
        out = np.where(np.isnan(X), X, (-self.zero_).astype(X.dtype))
        for j, cuts in enumerate(self.cuts_):
            if cuts.size:
                out[:, j] += np.searchsorted(cuts, X[:, j], side="right")
        return out

    def _of_sparse(self, X: Matrix) -> Matrix:
        columns = canonical(X).tocsc()
        columns = columns.copy() if columns is X else columns
        missing = np.isnan(columns.data)
        codes = np.zeros_like(columns.data)
        for j, cuts in enumerate(self.cuts_):
            if not cuts.size:
                continue
            if np.searchsorted(cuts, 0.0, side="right") != self.zero_[j]:
                raise TamisError(
                    "discretize was fitted on an array in which zero is not in the lowest bin of every column; "
                    "a sparse matrix cannot hold such numbers: fit it on a sparse matrix"
                )
            stored = slice(columns.indptr[j], columns.indptr[j + 1])
            codes[stored] = np.searchsorted(cuts, columns.data[stored], side="right") - self.zero_[j]
        codes[missing] = np.nan
        columns.data = codes
        columns.eliminate_zeros()
        return columns.tocsr()
