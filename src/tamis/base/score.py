"""The contract of a score: a function of data and classes, and a frozen description of it."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from tamis.base._sklearn import validate_parameter_constraints
from tamis.base.errors import TamisError
from tamis.base.nominal import coded
from tamis.base.part import Part
from tamis.base.task import BOTH, Task, WantedTask, numeric_target, task_of, wrong_task
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.base.validation import canonical, check_weights, encode_labels

#: Integer types that kernels count without conversion.
_CODES = tuple(map(np.dtype, (np.int8, np.uint8, np.int16, np.int32, np.int64)))


class Summary(Protocol):
    """What is kept of some rows; those of all rows are the sum of those of the pieces."""

    def __add__(self, other: Self) -> Self:
        """The summary of the rows of both."""

    def arrays(self) -> dict[str, np.ndarray]:
        """The same as arrays by name, to be stored or sent."""

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        """The summary whose arrays these are."""


class ArrayFields:
    """First base of a summary that is a dataclass of arrays."""

    def arrays(self) -> dict[str, np.ndarray]:
        """The fields by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray]) -> Self:
        """The summary with these fields."""
        return cls(**arrays)


@dataclass(frozen=True)
class Formula:
    """A score as a formula of a summary.

    Attributes
    ----------
    summary : callable
        ``summary(X, y, sample_weight, n_classes=None)``, the summary of some rows, with `y` as in
        :class:`tamis.base.score.Score`. `n_classes` is for rows that may lack the last classes.
    function : callable
        ``function(summary, *, options)``: values, or :class:`~tamis.base.score.Scored`.
    when : mapping
        The values of options for which the score is this formula.
    """

    summary: Callable[..., Any]
    function: Callable[..., Any]
    when: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scored:
    """The values of a score, larger is better, and functions for their p-values and for the values of each class."""

    values: FloatArray
    tail: Callable[[], FloatArray] | None = None
    by_class: Callable[[], FloatArray] | None = None

    @property
    def pvalues(self) -> FloatArray | None:
        return None if self.tail is None else self.tail()


@dataclass(frozen=True, eq=False)
class Score:
    """One number per feature; a call validates the input and returns the numbers.

    Created by the decorator :func:`score`; CONTRIBUTING.md shows a complete example.

    Attributes
    ----------
    part : Part
        The card: recipe word, paper, search ranges.
    function : callable
        ``function(X, y, sample_weight, *, options) -> values`` or :class:`Scored`, on validated input:
        `X` a float array or CSR/CSC matrix (NaN means missing), `y` class codes 0, 1, ... or None; float64 where the
        target holds numbers.
    supervised : bool
        Whether it uses the classes.
    has_pvalues : bool
        Whether `fdr` can cut it.
    nonnegative : bool
        Whether it is defined for non-negative values only.
    constraints : mapping
        Constraints of the options, in scikit-learn's notation.
    takes_nominal : bool
        Whether nominal columns are accepted; `function` then gets a fourth argument, the mask of the columns that
        hold level codes, or None.
    takes_codes : bool
        Whether an array of small integers is passed on without conversion to floats.
    columnwise : bool
        Whether the score of a column depends on that column alone.
    tasks : tuple of str
        The tasks it serves: "classify", "regress" or both.
    summary : callable, optional
        ``summary(X, y, sample_weight, n_classes=None)``, for a score that is a formula of a summary of the data
        (:class:`Summary`); `function` then gets the summary in place of the data. Scores with the
        same one can share it (:func:`tamis.scores.many`), and summaries of pieces of the data add up.
    formula : Formula, optional
        For a score that is a formula of a summary with some options only, and of numeric columns.
    single_split : bool
        Whether it is the value of the best split of a column into two, and convex in the rows of each class on a side.
        Among rows of unknown order the best split is then one that divides no class, which bounds the score.
    """

    part: Part
    function: Callable[..., FloatArray | Scored]
    supervised: bool = True
    has_pvalues: bool = False
    nonnegative: bool = False
    constraints: Mapping[str, list[Any]] = field(default_factory=dict)
    takes_nominal: bool = False
    takes_codes: bool = False
    columnwise: bool = True
    summary: Callable[..., Any] | None = None
    tasks: tuple[Task, ...] = ("classify",)
    formula: Formula | None = None
    single_split: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.function.__doc__)
        object.__setattr__(self, "__module__", self.function.__module__)
        object.__setattr__(self, "__name__", self.function.__name__)
        object.__setattr__(self, "__wrapped__", self.function)
        if self.summary is not None:
            object.__setattr__(self, "__signature__", _signature(self.function))
        if set(self.options) != set(self.constraints):
            raise TypeError(f"score {self.name}: every option needs a constraint and vice versa")

    def __repr__(self) -> str:
        return f"<score {self.name}>"

    def __copy__(self) -> "Score":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Score":
        return self

    @property
    def name(self) -> str:
        """The recipe word."""
        return self.part.name

    @property
    def options(self) -> dict[str, Any]:
        """Names and defaults of the options."""
        parameters = inspect.signature(self.function).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}

    def __call__(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, task: WantedTask = "auto", **options: Any
    ) -> FloatArray:
        """Score every column of `X`: an array of shape (n_features,), larger is better.

        `task` is "classify" or "regress" for a target of whole numbers that could be either; by default a target with
        fractions holds numbers and any other one classes.
        """
        return self._checked(X, y, sample_weight, options, task).values

    def pvalues(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, task: WantedTask = "auto", **options: Any
    ) -> FloatArray:
        """P-value of every column; an error for scores without p-values."""
        found = self._checked(X, y, sample_weight, options, task).pvalues
        if found is None:
            raise TamisError(f"{self.name} has no p-values")
        return found

    def per_class(self, X: Any, y: Any = None, *, sample_weight: Any = None, **options: Any) -> FloatArray:
        """Value of every column for each class against the others; an error for scores that are no mean over classes.

        Returns an array of shape (n_classes, n_features) with the classes in sorted order. The score of a column is the
        mean of its values, weighted by the classes' shares of the rows.
        """
        found = self._checked(X, y, sample_weight, options)
        if found.by_class is None:
            raise TamisError(f"{self.name} has no values per class")
        return found.by_class()

    def evaluate(
        self,
        X: Matrix,
        y: Codes | FloatArray | None,
        sample_weight: FloatArray | None = None,
        nominal: Mask | None = None,
        **options: Any,
    ) -> Scored:
        """Score validated input; selectors call this."""
        if self.summary is not None:
            return self.of(self.summary(X, y, sample_weight), **options)
        self._check_options(options)
        columns = (nominal,) if self.takes_nominal else ()
        return _scored(self.function(X, y, sample_weight, *columns, **options))

    def of(self, summary: Any, **options: Any) -> Scored:
        """Score a summary of the data: one that other scores share, or the sum of those of parts of the rows."""
        formula = self.formula_for(options)
        if formula is None:
            raise TamisError(f"{self.name} is not a formula of a summary: pass X and y")
        self._check_options(options)
        return _scored(formula.function(summary, **options))

    def formula_for(self, options: Mapping[str, Any]) -> Formula | None:
        """The score with these options as a formula of a summary; None where it is none.

        Examples
        --------
        >>> from tamis.scores import ig
        >>> ig.formula_for({}).summary.__name__, ig.formula_for({"of": "states"})
        ('ClassCounts', None)
        """
        if self.summary is not None:
            return Formula(self.summary, self.function)
        if self.formula is None:
            return None
        given = {**self.options, **options}
        return self.formula if all(given[name] == value for name, value in self.formula.when.items()) else None

    def _check_options(self, options: dict[str, Any]) -> None:
        unknown = sorted(set(options) - set(self.options))
        if unknown:
            known = ", ".join(self.options) or "none"
            raise TamisError(f"{self.name} has no option {unknown[0]!r}; it takes: {known}")
        validate_parameter_constraints(self.constraints, options, caller_name=self.name)

    def _checked(
        self, X: Any, y: Any, sample_weight: Any, options: dict[str, Any], task: WantedTask = "auto"
    ) -> Scored:
        # Kernels skip NaN and report infinity themselves: a separate pass would cost as much as the score.
        nominal = None
        if self.takes_codes and isinstance(X, np.ndarray) and X.dtype in _CODES:
            X = check_array(X, dtype=None)
        elif self.takes_nominal:
            X, nominal, _ = coded(X, self.name)
        else:
            X = _numbers(X)
        target = self._target(X, y, task) if self.supervised else None
        return self.evaluate(X, target, check_weights(sample_weight, X), nominal, **options)

    def check_task(self, task: Task) -> None:
        """Refuse a task that the score does not serve."""
        if task not in self.tasks:
            raise wrong_task(self.part, self.tasks[0], task)

    def _target(self, X: Matrix, y: Any, task: WantedTask = "auto") -> Codes | FloatArray:
        """Class codes or numbers, checked."""
        if y is None:
            raise TamisError(f"{self.name} needs the target; pass y")
        check_consistent_length(X, y)
        y = column_or_1d(y)
        if self._settled(y, task) == "regress":
            return numeric_target(y, self.name)
        return encode_labels(y, self.name)[1]

    def _settled(self, y: Any, task: WantedTask = "auto") -> Task:
        """The task of a target: the one that is wanted, the only one of the score, or what the values tell."""
        if task != "auto":
            self.check_task(task)
            return task
        return self.tasks[0] if self.tasks != BOTH or y is None else task_of(y)


def score_many(
    wanted: Sequence[tuple[Score, Mapping[str, Any]]], X: Any, y: Any = None, *, sample_weight: Any = None
) -> list[Scored]:
    """Several scores, each with its options, of the same data; what they are a formula of is computed once."""
    found: list[Scored] = []
    summaries: dict[Any, Any] = {}
    if sp.issparse(X):
        # The rows of scikit-learn's vectorizers are not sorted: once for all.
        X = canonical(_numbers(X))
    formulas = [score for score, _ in wanted if score.summary is not None]
    numbers = _numbers(X) if formulas else None
    weight = check_weights(sample_weight, numbers) if formulas else None
    targets = {score._settled(y): score._target(numbers, y) for score in formulas if score.supervised}
    for score, options in wanted:
        if score.summary is None:
            found.append(score._checked(X, y, sample_weight, dict(options)))
            continue
        # A score that ignores the target shares the summary of those that do not.
        task = score._settled(y) if score.supervised else next(iter(targets), None)
        key = score.summary, task
        if key not in summaries:
            summaries[key] = score.summary(numbers, None if task is None else targets[task], weight)
        found.append(score.of(summaries[key], **options))
    return found


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    """What a user passes to a score whose function gets a summary: the data and the same options."""
    options = [p for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    data = [p for p in inspect.signature(Score.__call__).parameters.values() if p.name in ("X", "y", "sample_weight")]
    return inspect.Signature([*data, *options], return_annotation=FloatArray)


def _numbers(X: Any) -> Matrix:
    return check_array(X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), ensure_all_finite=False)


def _scored(found: FloatArray | Scored) -> Scored:
    return found if isinstance(found, Scored) else Scored(found)


def score(
    part: Part,
    *,
    supervised: bool = True,
    pvalues: bool = False,
    nonnegative: bool = False,
    constraints: Mapping[str, list[Any]] | None = None,
    takes_nominal: bool = False,
    takes_codes: bool = False,
    columnwise: bool = True,
    summary: Callable[..., Any] | None = None,
    tasks: tuple[Task, ...] = ("classify",),
    formula: Formula | None = None,
    single_split: bool = False,
) -> Callable[[Callable[..., FloatArray | Scored]], Score]:
    """Decorate a function as the score of a card; the keywords are those of :class:`Score`."""

    options = (supervised, pvalues, nonnegative, constraints or {}, takes_nominal, takes_codes, columnwise, summary)
    return lambda function: Score(part, function, *options, tasks, formula, single_split)
