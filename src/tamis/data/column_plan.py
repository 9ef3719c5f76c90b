"""The plan of columns: what was left out of a table and how dates were read, so that new rows are treated alike."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import polars as pl

from tamis.base.errors import DataError, quoted
from tamis.data.dates import DateReading


@dataclass(frozen=True)
class ColumnPlan:
    """What is done to the columns of a table before a model sees them.

    Attributes
    ----------
    left_out : mapping of str to str
        The columns that are not features, each with the reason in words.
    dates : mapping of str to DateReading
        The columns of dates that are replaced by numbers.
    kinds : mapping of str to str
        The columns that become "numeric", "nominal" or "text" because the user says so.
    warnings : mapping of str to str
        Columns that stay, and what is suspicious about them.

    See Also
    --------
    tamis.data.column_sense.sense : Makes the plan of a table.
    tamis.data.column_sense.as_planned : Applies it to a data set.

    Examples
    --------
    >>> plan = ColumnPlan({"id": "an identifier"}, {"visit": DateReading("ymd", 18262.0, ("month",))})
    >>> plan.apply(pl.DataFrame({"id": ["p9"], "visit": ["2020-03-01"], "age": [40.0]})).to_dicts()
    [{'visit: month': 3.0, 'age': 40.0}]
    >>> ColumnPlan.from_dict(plan.to_dict()) == plan
    True
    """

    left_out: Mapping[str, str] = field(default_factory=dict)
    dates: Mapping[str, DateReading] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    warnings: Mapping[str, str] = field(default_factory=dict)

    @property
    def derived(self) -> list[str]:
        """The columns that replace dates."""
        return [f"{name}: {part}" for name, reading in self.dates.items() for part in reading.parts]

    @property
    def texts(self) -> list[str]:
        """The columns of text, whose words are features."""
        return [name for name, kind in self.kinds.items() if kind == "text"]

    def apply(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The columns of a table that are features.

        Each row is treated by itself. Columns that the plan does not know stay, and those that it knows may be absent.
        """
        columns: list[pl.Series] = []
        for column in frame:
            reading = self.dates.get(column.name)
            columns += [column] if reading is None else reading.columns(column)
        return pl.DataFrame([self._of_kind(column) for column in columns if column.name not in self.left_out])

    def after(self, earlier: "ColumnPlan") -> "ColumnPlan":
        """One plan of two: `earlier`, then this one."""
        return ColumnPlan(
            {**earlier.left_out, **self.left_out},
            {**earlier.dates, **self.dates},
            {**earlier.kinds, **self.kinds},
            {**earlier.warnings, **self.warnings},
        )

    def changes(self, names: list[str]) -> bool:
        """Whether any of these columns changes its values, and not only its place."""
        return not (self.dates.keys() | self.kinds.keys()).isdisjoint(names)

    def to_dict(self) -> dict[str, Any]:
        """The plan as a dict that ``json.dumps`` takes."""
        dates = {name: reading.to_dict() for name, reading in self.dates.items()}
        return {
            "left_out": dict(self.left_out),
            "dates": dates,
            "kinds": dict(self.kinds),
            "warnings": dict(self.warnings),
        }

    @classmethod
    def from_dict(cls, found: Any) -> Self:
        """Read what :meth:`to_dict` wrote; raises :class:`~tamis.base.errors.DataError` on anything else."""
        if not isinstance(found, Mapping) or not all(isinstance(found.get(key), Mapping) for key in _FIELDS):
            raise DataError(f"a plan of columns has {', '.join(_FIELDS)}, each a mapping")
        for key in ("left_out", "kinds", "warnings"):
            if not all(isinstance(text, str) for text in (*found[key], *found[key].values())):
                raise DataError(f"a plan of columns has text in {key!r}")
        if not set(found["kinds"].values()) <= {"numeric", "nominal", "text"}:
            raise DataError("a plan of columns has kinds that are neither numeric, nominal nor text")
        if not all(isinstance(one, Mapping) for one in found["dates"].values()):
            raise DataError("a plan of columns has a date that cannot be read")
        dates = {str(name): DateReading.from_dict(one) for name, one in found["dates"].items()}
        return cls(dict(found["left_out"]), dates, dict(found["kinds"]), dict(found["warnings"]))

    def _of_kind(self, column: pl.Series) -> pl.Series:
        kind = self.kinds.get(column.name)
        if kind == "text":
            return column.cast(pl.String)
        return _as_numbers(column) if kind == "numeric" else _as_levels(column) if kind == "nominal" else column


_FIELDS = ("left_out", "dates", "kinds", "warnings")


def _as_numbers(column: pl.Series) -> pl.Series:
    if column.dtype != pl.String:
        return column.cast(pl.Float64)
    found = column.str.strip_chars().str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
    wrong = column.filter(found.is_null() & column.is_not_null())
    if len(wrong):
        raise DataError(f"column {quoted(column.name)} was to be numeric, and {quoted(wrong[0])} is not a number")
    return found


def _as_levels(column: pl.Series) -> pl.Series:
    """Text; numbers as a file would have them, 3 rather than 3.0."""
    value = pl.col(column.name)
    number = value.cast(pl.Float64, strict=False).fill_nan(None)
    whole = (number == number.round(0)) & (number.abs() < 2**53)
    text = value.cast(pl.String) if column.dtype == pl.String else number.cast(pl.String)
    return (
        column.to_frame()
        .select(pl.when(whole).then(number.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(text))
        .to_series()
        .alias(column.name)
    )
