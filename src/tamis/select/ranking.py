"""Ranking: score every feature by itself and select the best."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from tamis import scores
from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.cut import Cut, rank
from tamis.base.nominal import TakesNominal
from tamis.base.part import Part
from tamis.base.score import Score, Scored
from tamis.base.search_range import geom
from tamis.base.selector import Selection, Selector, WeightedSelector
from tamis.base.shared_fit import SharedFit
from tamis.base.task import BOTH, Task, WantedTask, task_of
from tamis.base.types import FloatArray


class _Ranked(NamedTuple):
    """Scores, column numbers from best to worst, and p-values where a cut needs them."""

    values: FloatArray
    order: np.ndarray
    pvalues: FloatArray | None


class Ranking(SharedFit, TakesNominal, WeightedSelector):
    """Select the features with the highest scores.

    In a recipe the name of the score stands for the ranking: ``cc(700)``, ``chi2(0.05)``, ``t(fdr=0.05, welch=true)``.
    Nominal columns are accepted when the score takes them (``ssv``, ``stump``, ``mi``, ``ig``, ``relieff``,
    ``rrelieff``).

    Parameters
    ----------
    by : str or callable, default="cc"
        The name of a score (``tamis list scores``), or a function ``(X, y) -> values``, larger is better, of dense or
        sparse `X` and class codes or numbers `y`.
    k : int, optional
        Select the `k` best.
    fraction : float, optional
        Select this share of the features, rounded up.
    threshold : float, optional
        Select the features that score strictly above it.
    fdr : float, optional
        Select the features that pass Benjamini and Hochberg's procedure at this rate; needs a score with p-values. With
        none of the four given, the features that score above zero are selected.
    at_least : int, default=1
        When fewer features pass, this many of the best are selected with a warning.
    options : dict, optional
        Options of the score, such as ``{"welch": True}``.
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers: by the score, or else numbers with fractions are numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import Ranking
    >>> X = np.array([[1.0, 0.0, 5.0], [2.0, 0.0, 5.0], [1.0, 1.0, 5.0], [2.0, 1.0, 5.0]])
    >>> Ranking("fisher", k=1).fit(X, [0, 0, 1, 1]).get_support(indices=True)
    array([1])
    """

    part: ClassVar[Part] = Part(
        "ranking", positional=("by",), search={"k": geom(1, 10_000)}, paper="Grabczewski and Jankowski 2006"
    )
    accepts_missing = True
    #: As far as the score does.
    tasks = BOTH
    #: One set of scores serves every cut.
    shared_parameters = ("k", "fraction", "threshold", "fdr", "at_least")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "by": [str, callable],
        "k": [integer(1), None],
        "fraction": [real(0, 1, "right"), None],
        "threshold": [real(), None],
        "fdr": [real(0, 1), None],
        "at_least": [integer(0)],
        "options": [dict, None],
        "task": [StrOptions({"auto", "classify", "regress"})],
    }

    def __init__(
        self,
        by: str | Score | Callable[[Any, Any], Any] = "cc",
        *,
        k: int | None = None,
        fraction: float | None = None,
        threshold: float | None = None,
        fdr: float | None = None,
        at_least: int = 1,
        options: Mapping[str, Any] | None = None,
        task: WantedTask = "auto",
    ) -> None:
        self.by = by
        self.k = k
        self.fraction = fraction
        self.threshold = threshold
        self.fdr = fdr
        self.at_least = at_least
        self.options = options
        self.task = task

    def fit_by_columns(self, blocks: Iterable[Any], y: Any) -> Self:
        """Find the features to keep where the columns come in blocks, each of which is forgotten before the next.

        The result is that of :meth:`fit` on all columns side by side. For a score of the library whose value of a
        column depends on that column alone (:attr:`~tamis.base.score.Score.columnwise`).

        Parameters
        ----------
        blocks : iterable of arrays or sparse matrices of shape (n_rows, n_columns)
            Numbers; nominal columns are not taken.
        y : array of shape (n_rows,)
            Class labels or numbers.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.array([[1.0, 0.0, 5.0], [2.0, 0.0, 5.0], [1.0, 1.0, 5.0], [2.0, 1.0, 5.0]])
        >>> Ranking("fisher", k=1).fit_by_columns([X[:, :1], X[:, 1:]], [0, 0, 1, 1]).get_support(indices=True)
        array([1])
        """
        self._validate_params()
        found = [self._prepare([self], *self._begin(block, y)) for block in blocks]
        values = np.concatenate([one.values for one in found])
        pvalues = (
            None if self.fdr is None else np.concatenate([one.pvalues for one in found if one.pvalues is not None])
        )
        self.n_features_in_ = values.size
        self._take(self._finish(_Ranked(values, rank(values), pvalues)))
        return self

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any, sample_weight: FloatArray | None = None) -> _Ranked:
        scored = self._score(X, y, sample_weight)
        values = np.asarray(scored.values)
        wanted = any(one.fdr is not None for one in estimators)
        return _Ranked(values, rank(values), scored.pvalues if wanted else None)

    @property
    def _reusable(self) -> bool:
        # With fdr p-values are prepared too.
        return self.fdr is None

    def _finish(self, prepared: _Ranked) -> Selection:
        cut = Cut(self.k, self.fraction, self.threshold, self.fdr, self.at_least)
        return Selection(cut.apply(*prepared), prepared.values, prepared.order)

    def _score(self, X: Any, y: Any, sample_weight: FloatArray | None) -> Scored:
        score = self._known_score()
        if score is None:
            return Scored(self.by(X, y, **(self.options or {})))  # type: ignore[operator]
        nominal = self.nominal_ if score.takes_nominal and self.nominal_.any() else None
        return score.evaluate(X, y, sample_weight, nominal, **(self.options or {}))

    def _read(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        score = self._known_score()
        reader = TakesNominal if score is not None and score.takes_nominal else Selector
        return reader._read(self, X, y, reset=reset)

    def _known_score(self) -> Score | None:
        """The library's score, or None for a function of the user's own."""
        if isinstance(self.by, str):
            return scores.get(self.by)
        return self.by if isinstance(self.by, Score) else None

    def _task(self, y: Any) -> Task:
        task = super()._task(y)
        score = self._known_score()
        if score is not None:
            # Whole numbers may be either.
            score.check_task("regress" if task_of(y) == "regress" else task)
        return task

    def _settled_task(self) -> WantedTask:
        score = self._known_score()
        if score is None or not score.supervised or score.tasks == BOTH:
            return self.task
        if self.task != "auto":
            score.check_task(self.task)
        return score.tasks[0]

    def _supervised(self) -> bool:
        score = self._known_score()
        return score is None or score.supervised

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        score = self._known_score()
        tags.input_tags.positive_only = score is not None and score.nonnegative
        return tags
