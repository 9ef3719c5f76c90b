"""The contract of a score: a function of data and classes, and a frozen description of it."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from tamis.base._sklearn import validate_parameter_constraints
from tamis.base.errors import TamisError
from tamis.base.nominal import coded
from tamis.base.part import Part
from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.base.validation import check_weights, encode_labels

#: Integer types that kernels count without conversion.
_CODES = tuple(map(np.dtype, (np.int8, np.uint8, np.int16, np.int32, np.int64)))


@dataclass(frozen=True)
class Scored:
    """The values of a score, larger is better, and a function for their p-values."""

    values: FloatArray
    tail: Callable[[], FloatArray] | None = None

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
        `X` a float array or CSR/CSC matrix (NaN means missing), `y` class codes 0, 1, ... or None.
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.function.__doc__)
        object.__setattr__(self, "__module__", self.function.__module__)
        object.__setattr__(self, "__name__", self.function.__name__)
        object.__setattr__(self, "__wrapped__", self.function)
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

    def __call__(self, X: Any, y: Any = None, *, sample_weight: Any = None, **options: Any) -> FloatArray:
        """Score every column of `X`: an array of shape (n_features,), larger is better."""
        return self._checked(X, y, sample_weight, options).values

    def pvalues(self, X: Any, y: Any = None, *, sample_weight: Any = None, **options: Any) -> FloatArray:
        """P-value of every column; an error for scores without p-values."""
        found = self._checked(X, y, sample_weight, options).pvalues
        if found is None:
            raise TamisError(f"{self.name} has no p-values")
        return found

    def evaluate(
        self,
        X: Matrix,
        y: Codes | None,
        sample_weight: FloatArray | None = None,
        nominal: Mask | None = None,
        **options: Any,
    ) -> Scored:
        """Score validated input; selectors call this."""
        unknown = sorted(set(options) - set(self.options))
        if unknown:
            known = ", ".join(self.options) or "none"
            raise TamisError(f"{self.name} has no option {unknown[0]!r}; it takes: {known}")
        validate_parameter_constraints(self.constraints, options, caller_name=self.name)
        columns = (nominal,) if self.takes_nominal else ()
        found = self.function(X, y, sample_weight, *columns, **options)
        return found if isinstance(found, Scored) else Scored(found)

    def _checked(self, X: Any, y: Any, sample_weight: Any, options: dict[str, Any]) -> Scored:
        # Kernels skip NaN and report infinity themselves: a separate pass would cost as much as the score.
        nominal = None
        if self.takes_codes and isinstance(X, np.ndarray) and X.dtype in _CODES:
            X = check_array(X, dtype=None)
        elif self.takes_nominal:
            X, nominal, _ = coded(X, self.name)
        else:
            X = check_array(X, accept_sparse=("csr", "csc"), dtype=(np.float64, np.float32), ensure_all_finite=False)
        codes = None
        if self.supervised:
            if y is None:
                raise TamisError(f"{self.name} needs the classes; pass y")
            check_consistent_length(X, y)
            _, codes = encode_labels(column_or_1d(y), self.name)
        return self.evaluate(X, codes, check_weights(sample_weight, X), nominal, **options)


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
) -> Callable[[Callable[..., FloatArray | Scored]], Score]:
    """Decorate a function as the score of a card; the keywords are those of :class:`Score`."""

    options = (supervised, pvalues, nonnegative, constraints or {}, takes_nominal, takes_codes, columnwise)
    return lambda function: Score(part, function, *options)
