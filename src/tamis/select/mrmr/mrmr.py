"""mRMR: select one column after another, relevant to the target and little redundant with those before."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import StrOptions, integer
from tamis.base.cut import rank
from tamis.base.errors import DataError
from tamis.base.nominal import TakesNominal
from tamis.base.part import Arguments, Part
from tamis.base.search_range import choice, geom
from tamis.base.selector import Selection, Selector
from tamis.base.shared_fit import SharedFit
from tamis.base.task import BOTH, WantedTask, is_numeric
from tamis.base.types import FloatArray, Mask, Matrix, Target
from tamis.base.validation import column_names, named_columns
from tamis.contingency.states import METHODS, states
from tamis.contingency.target_states import target_states
from tamis.scores.f import f
from tamis.select.mrmr.figure import figure
from tamis.select.mrmr.redundancy import DenseCorrelation, Information, Redundancy, SparseCorrelation
from tamis.select.mrmr.search import Search, Units

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Binary digits to which F statistics are rounded.
_BITS = 30


def _phrase(a: Arguments) -> str:
    measure = "mutual information" if a.pop("criterion").startswith("m") else "F statistic and correlation"
    return f"selects {a.pop('k')} features that are relevant and do not repeat each other (mRMR by {measure})"


class MRMR(SharedFit, TakesNominal, Selector):
    """Select columns that are relevant to the target and not redundant with each other.

    Peng and Ding's minimum redundancy, maximum relevance. The first column is the most relevant one. Each next column
    has the largest

        V_i - W_i  ("mid", "fcd")  or  V_i / W_i  ("miq", "fcq"),

    where V_i is its relevance and W_i its mean redundancy with those already selected. By mutual information ("mid",
    "miq") V_i = I(target, i) and W_i is the mean of I(i, j), in nats, of columns as states. By F and correlation
    ("fcd", "fcq") V_i is the F statistic of ``f`` and W_i the mean of the absolute correlations. Of equals the first
    column is selected.

    Parameters
    ----------
    k : int, default=50
        Columns to select; all of them when there are fewer.
    criterion : {"mid", "miq", "fcd", "fcq"}, default="mid"
        Mutual information difference or quotient; F and correlation difference or quotient.
    bins : str, default="auto"
        How columns become states: "auto" takes nominal columns and those of a few whole numbers as they are and cuts
        the others like "sigma"; "values", "sigma", "equal_width", "equal_frequency", "modl" and "ssv" are as in
        :func:`tamis.contingency.states.states`. "fcd" and "fcq" ignore it.
    n_bins : int, optional
        Number of states, for the ways to cut that take it.
    candidates : int, optional
        Only this many of the most relevant columns are candidates; by default all.
    groups : sequence of shape (n_features,), optional
        A label for each column. Columns of one label are selected together: V and W are means over them, and the fewest
        whole groups are selected that make `k` columns or more.
    include : column, list of columns, optional
        Numbers (from 0) or names of columns that are always selected. They come first, in this order, and count among
        `k`.
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers; by default numbers with fractions are numbers.

    Attributes
    ----------
    chosen_ : int array
        The selected columns, in the order of selection.
    relevance_ : float array of shape (n_features,)
        V_i of every column.
    redundancy_ : float array, as long as `chosen_`
        Mean redundancy of each selected column with those before it; 0 for the first.
    relevance_curve_, redundancy_curve_ : float arrays, as long as `chosen_`
        Fig. 1 of the paper: relevance V (eq. 2) and redundancy W (eq. 1) of the set after each selection. Eq. 1
        includes the redundancy of a column with itself: its entropy, or a correlation of 1.
    order_ : int array of shape (n_features,)
        The selected columns in order, then the others by their relevance.
    scores_ : float array of shape (n_features,)
        Number of columns ranked below.

    Notes
    -----
    In quotients a mean redundancy below 0.001 counts as 0.001. Constant columns are no candidates: a difference would
    put them before every column that is more redundant than relevant. When the candidates are used up, the most
    relevant of the other columns follow. F is infinite for a column that is constant within each class, or of which a
    target of numbers is a linear function; it counts as twice the largest finite one.

    A target of numbers is cut into states of equal frequency for "mid" and "miq", as for the score ``mi``: as many as
    the cube root of twice the number of rows, between 2 and 10. "fcd" and "fcq" take it as it is.

    A redundancy is computed once, and only when it can matter: the known redundancies of a candidate bound its value
    from above, and a candidate whose bound is below the best value found is not computed further in that round. The
    selection is that of a full search. Differences of 1e-9 count as rounding.

    "mid" and "miq" take nominal columns, and missing values, which are left out of each pair; "fcd" and "fcq" take
    neither. Sparse columns are processed from their stored values alone.

    ``mrmr(50) | sfs(knn(5)) | knn(5)`` adds the paper's wrapper stage: the classifier selects among the 50; ``sbs``
    removes from them instead. ``mrmr({5, 10, 20}) | knn(5)`` stands for three models that share one search.

    References
    ----------
    Peng and Ding (2005), "Minimum redundancy and maximum relevance feature selection and recent advances in cancer
    classification"; Ding and Peng (2005), "Minimum redundancy feature selection from microarray gene expression data".

    Examples
    --------
    The second column copies the first, and comes last though it is as relevant:

    >>> import numpy as np
    >>> from tamis.select import MRMR
    >>> X = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 0], [1, 1, 1], [1, 1, 1], [0, 0, 1], [1, 1, 1]])
    >>> found = MRMR(3).fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
    >>> found.chosen_, found.relevance_.round(2), found.redundancy_.round(2)
    (array([2, 0, 1]), array([0.13, 0.13, 0.38]), array([0.  , 0.03, 0.36]))
    """

    part: ClassVar[Part] = Part(
        "mrmr",
        positional=("k",),
        search={"k": geom(1, 200), "criterion": choice("mid", "miq", "fcq")},
        paper="Peng and Ding 2005",
        numbers_only={"criterion": ("fcd", "fcq")},
        phrase=_phrase,
    )
    #: The columns for a smaller k are the first of those for a larger one.
    shared_parameters = ("k",)
    accepts_missing = True
    tasks = BOTH
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [integer(1)],
        "criterion": [StrOptions({"mid", "miq", "fcd", "fcq"})],
        "bins": [StrOptions(set(METHODS))],
        "n_bins": [integer(2), None],
        "candidates": [integer(1), None],
        "groups": ["array-like", None],
        "include": [integer(0), str, "array-like", None],
        "task": [StrOptions({"auto", "classify", "regress"})],
    }

    def __init__(
        self,
        k: int = 50,
        *,
        criterion: str = "mid",
        bins: str = "auto",
        n_bins: int | None = None,
        candidates: int | None = None,
        groups: Sequence[Any] | None = None,
        include: Any = None,
        task: WantedTask = "auto",
    ) -> None:
        self.k = k
        self.criterion = criterion
        self.bins = bins
        self.n_bins = n_bins
        self.candidates = candidates
        self.groups = groups
        self.include = include
        self.task = task

    def plot(self) -> "Figure":
        """A plotly figure: relevance V and redundancy W after each selection."""
        check_is_fitted(self)
        names = column_names(self)
        return figure([names[j] for j in self.chosen_], self.relevance_curve_, self.redundancy_curve_)

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any) -> "_Searched":
        units = Units.of(self.groups, X.shape[1])
        forced = self._forced(units)
        relevance, pairs = self._measured(X, y)
        candidates = self._candidates(units, relevance, pairs.flat, forced)
        search = Search(pairs, units, units.mean(relevance), candidates, quotient=self.criterion.endswith("q"))
        search.add(forced)
        most = max(one.k for one in estimators)
        while search.ends[-1] < most and search.step():
            pass
        return _Searched(units, relevance, *map(np.array, (search.ends, search.order, search.totals, search.own)))

    def _finish(self, prepared: "_Searched") -> Selection:
        units, relevance = prepared.units, prepared.relevance
        size = _reaching(prepared.ends, self.k)
        order, total, own = prepared.order[:size].astype(np.intp), prepared.totals[:size], prepared.own[:size]
        count = np.arange(1, size + 1)
        self.chosen_, self.relevance_ = order, relevance
        self.redundancy_ = total / np.maximum(count - 1, 1)
        self.relevance_curve_ = np.cumsum(relevance[order]) / count
        self.redundancy_curve_ = np.cumsum(2 * total + own) / count**2
        left = rank(np.delete(units.mean(relevance), units.of_column[order]))
        left = np.delete(np.arange(units.sizes.size), units.of_column[order])[left]
        every = np.concatenate((order, units.within(left)))
        return Selection.first(every, _reaching(np.append(size, size + np.cumsum(units.sizes[left])), self.k))

    def _measured(self, X: Matrix, y: Target) -> tuple[FloatArray, Redundancy]:
        """Relevance of every column, and the redundancy of pairs."""
        if self._informed():
            y = target_states(y) if is_numeric(y) else y
            found = states(X, y, self.bins, self.n_bins, self.nominal_ if self.nominal_.any() else None)
            pairs = Information(found)
            return pairs.with_classes(y), pairs
        values = f.evaluate(X, y).values
        finite = np.isfinite(values)
        values = np.where(finite, values, 2 * values.max(where=finite, initial=0.5))
        return _rounded(values), (SparseCorrelation if sp.issparse(X) else DenseCorrelation)(X)

    def _candidates(self, units: Units, relevance: FloatArray, flat: Mask, forced: np.ndarray) -> Mask:
        """The units that may be selected."""
        found = units.mean(np.where(flat, 0.0, 1.0)) > 0
        found[units.of_column[forced]] = False
        if self.candidates is not None:
            best = np.flatnonzero(found)[rank(units.mean(relevance)[found])]
            # A unit is a candidate while the units before it have too few columns.
            before = np.cumsum(units.sizes[best]) - units.sizes[best]
            found[best[before >= self.candidates]] = False
        return found

    def _forced(self, units: Units) -> np.ndarray:
        """The columns of `include`, in whole units."""
        names = list(getattr(self, "feature_names_in_", []))
        found = named_columns(self.include, units.columns.size, names, "mrmr: include")
        distinct = dict.fromkeys(units.of_column[np.array(found, dtype=np.intp)])
        return units.within(np.array(list(distinct), dtype=np.intp))

    def _informed(self) -> bool:
        """Whether the criterion is mutual information."""
        return self.criterion in ("mid", "miq")

    def _read(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        found = super()._read(X, y, reset=reset)
        if self.nominal_.any() and not self._informed():
            name = column_names(self)[int(np.flatnonzero(self.nominal_)[0])]
            raise DataError(
                f"mrmr: criterion {self.criterion!r} takes numbers and column {str(name)!r} is nominal; "
                "put encode in front of mrmr, or take 'mid' or 'miq'"
            )
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._informed()
        return tags


class _Searched(NamedTuple):
    """The units and the relevance of every column, and the results of :class:`Search`."""

    units: Units
    relevance: FloatArray
    ends: np.ndarray
    order: np.ndarray
    totals: FloatArray
    own: FloatArray


def _reaching(ends: np.ndarray, k: int) -> int:
    """The first of some rising sizes that is `k` or more; the last when none is."""
    return int(ends[min(int(np.searchsorted(ends, k)), ends.size - 1)])


def _rounded(values: FloatArray) -> FloatArray:
    """Numbers to `_BITS` binary digits: equivalent columns get equal values."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.rint(np.ldexp(mantissa, _BITS)), exponent - _BITS)
