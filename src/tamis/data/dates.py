"""Columns of dates and times: how they are written, and the numbers they become."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import polars as pl

from tamis.base.errors import DataError

#: What a date becomes. `days` counts from the first date; `hour` has its minutes as a fraction.
PARTS = ("year", "month", "weekday", "hour", "days")
#: The order of day, month and year, and how the date is then read once its separators are dashes.
_ORDERS = {
    "ymd": ("%Y-%m-%d",),
    "dmy": ("%d-%m-%Y", "%d-%m-%y"),
    "mdy": ("%m-%d-%Y", "%m-%d-%y"),
    "named": ("%d-%b-%Y", "%d-%b-%y"),
    "compact": ("%Y%m%d",),
    "time": (),
}
_YEARS = (1800, 2200)
_TIME = r"(?:^|[T\s,]+)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*([AaPp][Mm])?\s*(?:Z|UTC|[+-]\d{2}:?\d{2})?$"
_NUMBERS = r"^(?:(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2})|(?:\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})))$"
_DAY_FIRST = r"^(\d{1,2})(?:st|nd|rd|th)?[-/. ]+([A-Za-z]{3})[a-z]*[-/., ]+(\d{4}|\d{2})$"
_MONTH_FIRST = r"^([A-Za-z]{3})[a-z]*[-/. ]+(\d{1,2})(?:st|nd|rd|th)?[-/., ]+(\d{4})$"
#: A column of dates may have this share of other entries.
_MOST_OTHERS = 0.05
#: Values that decide whether the rest of a column is worth a look.
_SAMPLE = 50
#: Fewer known dates are not taken to number the rows.
_FEWEST_ROWS = 10


@dataclass(frozen=True)
class DateReading:
    """How a column of dates is read, so that new rows are read alike.

    Attributes
    ----------
    order : str
        "ymd", "dmy", "mdy", "named" (3 Jan 2020), "compact" (20200103) or "time" (of day, without a date).
    origin : float
        The day from which `days` counts, in days since 1970-01-01.
    parts : tuple of str
        The columns that it becomes, of :data:`PARTS`.
    """

    order: str
    origin: float
    parts: tuple[str, ...]

    def columns(self, column: pl.Series) -> list[pl.Series]:
        """The columns that replace a column of dates; null where there is no date.

        >>> reading = DateReading("dmy", 18262.0, ("month", "days"))
        >>> [one.to_list() for one in reading.columns(pl.Series("visit", ["3.1.2020", "lost"]))]
        [[1.0, None], [2.0, None]]
        """
        found = parts_of(instants(column, self.order), self.origin)
        return [found[part].alias(f"{column.name}: {part}") for part in self.parts]

    def to_dict(self) -> dict[str, Any]:
        return {**asdict(self), "parts": list(self.parts)}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_dict` wrote."""
        order, origin, parts = (found.get(key) for key in ("order", "origin", "parts"))
        if order not in list(_ORDERS) or not isinstance(origin, int | float) or not isinstance(parts, list):
            raise DataError("a plan of columns has a date that cannot be read")
        if not all(part in PARTS for part in parts):
            raise DataError(f"a plan of columns has a part of a date that is none of {', '.join(PARTS)}")
        return cls(order, float(origin), tuple(parts))


def read_dates(column: pl.Series) -> DateReading | None:
    """How a column is read as dates, or None where it is not one of dates.

    The column as a whole decides between day and month first. Where no day is above 12, slashes mean month first,
    and dots and dashes day first.

    Parameters
    ----------
    column : polars.Series
        Text, dates of polars, or numbers such as 20200131.

    Examples
    --------
    >>> read_dates(pl.Series(["03/04/2020", "03/25/2020", "04/01/2021"])).order
    'mdy'
    >>> read_dates(pl.Series(["red", "blue", "green"])) is None
    True
    """
    known = column.drop_nulls()
    if not len(known):
        return None
    order = "ymd" if column.dtype.is_temporal() else _order(known)
    if order is None:
        return None
    when = instants(known, order).drop_nulls()
    origin = 0.0 if order == "time" else float(np.floor(when.to_numpy().min()))
    found = parts_of(when, origin)
    wanted = ("hour",) if order == "time" else PARTS
    return DateReading(order, origin, tuple(part for part in wanted if found[part].n_unique() > 1))


def numbers_rows(when: pl.Series, *, by_order_only: bool = False) -> bool:
    """Whether moments only number the rows: no two are equal, or they follow the order of the rows.

    Parameters
    ----------
    when : polars.Series
        From :func:`instants`.
    by_order_only : bool, default=False
        Only moments in the order of the rows count, as for dates of birth and times of day.
    """
    known = when.drop_nulls()
    distinct = known.n_unique()
    if len(known) < _FEWEST_ROWS:
        return False
    if distinct == len(known) and not by_order_only:
        return True
    return 2 * distinct >= len(known) and (known.is_sorted() or known.is_sorted(descending=True))


def instants(column: pl.Series, order: str) -> pl.Series:
    """Days since 1970-01-01, with the time of day as a fraction; null where the text is no date in this order."""
    if column.dtype.is_temporal():
        return _of_temporal(column)
    if column.dtype.is_numeric():
        column = column.cast(pl.Int64, strict=False)
    text = column.cast(pl.String).alias("text").to_frame()
    return text.select(_instant(pl.col("text").str.strip_chars(), order)).to_series().alias(column.name)


def parts_of(when: pl.Series, origin: float) -> dict[str, pl.Series]:
    """The columns of numbers that moments become."""
    day = when.floor()
    dates = day.cast(pl.Int32).cast(pl.Date).dt
    found = {
        "year": dates.year(),
        "month": dates.month(),
        "weekday": dates.weekday(),
        # Moments are sums of days and seconds: rounding keeps whole minutes whole.
        "hour": ((when - day) * 24).round(4),
        "days": day - origin,
    }
    return {part: column.cast(pl.Float64) for part, column in found.items()}


def _order(known: pl.Series) -> str | None:
    """The order that reads nearly all values; of several the one that reads most."""
    if known.dtype.is_numeric():
        return "compact" if _reads(known, "compact") == len(known) else None
    sample = known.head(_SAMPLE)
    if 2 * sample.str.contains(r"\d.*\d").sum() < len(sample):
        return None
    orders = [order for order in _ORDERS if order != "mdy"]
    orders.insert(1 if sample.str.contains("/", literal=True).any() else 2, "mdy")
    likely = [order for order in orders if 2 * _reads(sample, order) >= len(sample)]
    if not likely:
        return None
    read = {order: _reads(known, order) for order in likely}
    best = max(likely, key=lambda order: read[order])
    return best if read[best] >= (1 - _MOST_OTHERS) * len(known) else None


def _reads(known: pl.Series, order: str) -> int:
    return len(known) - instants(known, order).null_count()


def _instant(text: pl.Expr, order: str) -> pl.Expr:
    date, clock = text.str.replace(_TIME, ""), _clock(text)
    if order == "time":
        return pl.when(date == "").then(clock)
    # A time that cannot be read makes the entry no date.
    timed = text.str.contains(":", literal=True)
    return _date(date, order).cast(pl.Int32).cast(pl.Float64) + pl.when(timed).then(clock).otherwise(0.0)


def _clock(text: pl.Expr) -> pl.Expr:
    """The time of day as a share of the day; null where there is none."""
    hour, minute, second = (text.str.extract(_TIME, at).cast(pl.Float64) for at in (1, 2, 3))
    half = text.str.extract(_TIME, 4).str.to_lowercase()
    hour = pl.when(half.is_null()).then(hour).otherwise(hour % 12 + pl.when(half == "pm").then(12.0).otherwise(0.0))
    second = second.fill_null(0.0)
    valid = (hour < 24) & (minute < 60) & (second < 60)
    return pl.when(valid).then((hour * 3600 + minute * 60 + second) / 86400)


def _date(text: pl.Expr, order: str) -> pl.Expr:
    if order == "named":
        text = text.str.replace(_MONTH_FIRST, "${2}-${1}-${3}").str.replace(_DAY_FIRST, "${1}-${2}-${3}")
    elif order == "compact":
        text = pl.when(text.str.contains(r"^\d{8}$")).then(text)
    else:
        text = pl.when(text.str.contains(_NUMBERS)).then(text.str.replace_all(r"[/.]", "-"))
    read = [text.str.to_date(form, strict=False) for form in _ORDERS[order]]
    # "%Y" also reads 20 as the year 20.
    return pl.coalesce(pl.when(one.dt.year().is_between(*_YEARS)).then(one) for one in read)


def _of_temporal(column: pl.Series) -> pl.Series:
    if column.dtype == pl.Time:
        return column.cast(pl.Int64).cast(pl.Float64) / 86400e9
    moments = column.cast(pl.Datetime("ms")).cast(pl.Int64).cast(pl.Float64)
    return moments / 86400e3
