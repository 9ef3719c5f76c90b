"""What bins may be: how many, of how many rows, and how wide."""

from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np

from tamis.base._sklearn import integer, real
from tamis.base.errors import TamisError
from tamis.base.types import FloatArray, Mask
from tamis.kernels.optimal_binning import best_bins

#: Least number of rows in a bin by default: "it would be hard to feel comfortable" with fewer.
MIN_ROWS = 10


@dataclass(frozen=True)
class BinLimits:
    """Katz's bounds: on the number of bins, and of each bin on its rows and on the distance of its outermost values.

    Rows are counted by their weight. A bin reaches from its lowest to its highest training value, and the difference of
    these is its width: a bin of one value has the width 0. A column of a single value has one bin whatever the limits
    say, and one bin for all rows may have fewer rows, and be narrower, than the limits say.
    """

    min_bins: int = 1
    max_bins: int | None = None
    min_rows: float = MIN_ROWS
    max_rows: float | None = None
    min_width: float = 0.0
    max_width: float | None = None

    #: Constraints of parameters of these names.
    CONSTRAINTS: ClassVar[dict[str, list[Any]]] = {
        "min_bins": [integer(1)],
        "max_bins": [integer(1), None],
        "min_rows": [integer(1)],
        "max_rows": [integer(1), None],
        "min_width": [real(0, None, "left")],
        "max_width": [real(0, None, "left"), None],
    }

    def __post_init__(self) -> None:
        for one in fields(self):
            value, least = getattr(self, one.name), 1 if one.name.endswith("bins") else 0
            if value is not None and not value >= least:
                raise TamisError(f"{one.name} takes a number of at least {least}; got {value!r}")
            if value is not None and one.name.endswith("bins") and not isinstance(value, Integral):
                raise TamisError(f"{one.name} takes a whole number; got {value!r}")
        for what in ("bins", "rows", "width"):
            least, most = getattr(self, f"min_{what}"), getattr(self, f"max_{what}")
            if most is not None and most < least:
                raise TamisError(f"min_{what}={least} and max_{what}={most} contradict each other")

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """The limits that are parameters of an estimator."""
        return cls(**{one.name: getattr(estimator, one.name) for one in fields(cls)})

    @property
    def number(self) -> np.ndarray:
        """The fewest and the most bins, as kernels take them."""
        return np.array([self.min_bins, self.max_bins or 0])

    @property
    def size(self) -> FloatArray:
        """Least and largest weight and width, as kernels take them."""
        most = [np.inf if one is None else float(one) for one in (self.max_rows, self.max_width)]
        return np.array([self.min_rows, most[0], self.min_width, most[1]])

    def solve(
        self,
        features: np.ndarray,
        first: np.ndarray,
        values: FloatArray,
        sums: FloatArray,
        min_gain: float | Literal["auto"] | None,
        *,
        lines: bool = False,
        named: bool = True,
    ) -> tuple[Mask, FloatArray]:
        """The values at which the best bins of some columns begin, except the first of each, and what they cost.

        Columns, values and sums are those of :class:`~tamis.bins.value_tables.ValueTables`; unless the columns are
        `named`, an error calls its column x.
        """
        auto = min_gain is None or min_gain == "auto"
        penalty = np.full(features.size, -1.0 if auto else float(min_gain))  # type: ignore[arg-type]
        begins, cost = np.empty(values.size, dtype=bool), np.empty(features.size)
        best_bins(first, values, sums, penalty, self.number, self.size, lines, begins, cost)
        if np.isinf(cost).any():
            j = int(np.argmax(np.isinf(cost)))
            part = slice(first[j], first[j + 1])
            raise self.conflict(int(features[j]) if named else None, values[part], sums[part, 0])
        return begins, cost

    def conflict(
        self, column: int | None, values: FloatArray, weight: FloatArray, *, coarse: bool = False
    ) -> TamisError:
        """The error that names the limits that no bins of a column keep to together.

        With `coarse` the values are those at which strips of several values begin.
        """
        limits, free = self, BinLimits(min_rows=0.0)
        for name in (one.name for one in fields(self)):
            # What is impossible without a limit too is not its fault.
            changes: dict[str, Any] = {name: getattr(free, name)}
            without = replace(limits, **changes)
            if not without._possible(values, weight):
                limits = without
        names = " and ".join(
            f"{one.name}={getattr(limits, one.name):g}"
            for one in fields(self)
            if getattr(limits, one.name) != getattr(free, one.name)
        )
        what = "strips of neighbouring values" if coarse else "distinct values"
        return TamisError(
            f"{'x' if column is None else f'column {column} (counted from 0)'} has no bins with {names}: it has "
            f"{weight.sum():g} rows and {values.size} {what} from {values[0]:g} to {values[-1]:g}, with up to "
            f"{weight.max():g} rows each"
        )

    def _possible(self, values: FloatArray, weight: FloatArray) -> bool:
        """Whether some bins of a column keep to the limits."""
        sums = np.column_stack((weight, np.zeros((weight.size, 2))))
        begins, cost = np.empty(values.size, dtype=bool), np.empty(1)
        ends = np.array([0, values.size])
        best_bins(ends, values, sums, np.ones(1), self.number, self.size, False, begins, cost)
        return bool(np.isfinite(cost[0]))
