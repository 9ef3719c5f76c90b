"""Numbers as people write them: decimal commas, thousands marks, detection limits, units, spellings of missing.

Plain numbers are read in one pass. Only the columns in which something is not a plain number are looked at again.
"""

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from tamis.base.errors import DataError, quoted
from tamis.base.types import FloatArray, Mask
from tamis.data.parsing.cells import TextRows
from tamis.data.parsing.delimited_text import take_columns
from tamis.data.parsing.missing_marks import is_missing
from tamis.data.parsing.plain_numbers import PlainNumbers, row_blocks
from tamis.data.parsing.reader import Source

_MOSTLY_NUMBERS = 0.9
_SPACES = "[\u00a0\u2007\u2009\u202f]"
_MONEY = r"^[+-]?\s*[$€£¥]\s*[+-]?\d[\d.,' ]*$|^[+-]?\d[\d.,' ]*\s*[$€£¥]$"
_THOUSANDS = r"^[+-]?[1-9]\d{0,2}(?:\.\d{3})+$"
#: Fewer distinct numbers than this beside values like <5 are groups, not measurements.
_FEWEST_BESIDE_LIMITS = 3


def read_columns(
    source: Source,
    names: Sequence[str],
    cells: TextRows,
    *,
    label: int | None,
    words: Collection[int],
    plain: PlainNumbers | None = None,
) -> tuple[FloatArray, list[int]]:
    """All columns as numbers, NaN where missing, and the positions of those that are nominal.

    Parameters
    ----------
    source : Source
        Its `reading` says what is given; its `notes` get what was guessed.
    names : sequence of str
    cells : TextRows
    label : int, optional
        The class column, whose words are labels and are never taken apart.
    words : collection of int
        Columns to read as text even when all of their values are numbers.
    plain : PlainNumbers, optional
        Those of the cells, where they were read before; they are changed in place.
    """
    plain = plain or PlainNumbers.of(cells)
    numbers, some = plain.numbers, plain.has_numbers()
    # Only columns with numbers may have missing values in an odd letter case.
    wordy = np.where(some, plain.wordy, plain.odd)
    for number in filter(np.isfinite, map(_as_number, source.reading.na)):
        numbers = numbers if numbers.flags.writeable else numbers.copy()
        for block in row_blocks(numbers):
            block[block == number] = np.nan
    open_ = np.ones(cells.width, dtype=bool)
    open_[[*words, *([] if label is None else [label])]] = False
    nominal = set(np.flatnonzero(wordy).tolist()) | set(words)
    clean = np.flatnonzero(~wordy & open_)
    decimal = source.reading.decimal
    hopeful = np.flatnonzero(wordy & open_ & (plain.like_numbers | some))
    if hopeful.size:
        table = _Columns.of(source, names, cells, hopeful, clean, numbers)
        read, found = table.read()
        numbers = numbers if numbers.flags.writeable else numbers.copy()
        numbers[:, read] = found
        nominal -= set(read.tolist())
        decimal = table.decimal
    if decimal == ",":
        numbers = _without_points(source, names, cells, clean, numbers)
    return numbers, sorted(nominal)


def _as_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


@dataclass(frozen=True)
class _Guess:
    """What columns are under one decimal mark; the arrays have a row for each column."""

    decimal: str
    values: FloatArray
    known: Mask
    read: Mask  # known and a number
    limits: Mask  # a number behind < or >
    grouped: Mask  # a number with thousands marks
    units: dict[int, str]

    @property
    def numeric(self) -> Mask:
        whole: Mask = (self.read == self.known).all(axis=1)
        return whole

    @property
    def nearly(self) -> Mask:
        """Columns in which nearly all values are numbers and some are not."""
        read = self.read.sum(axis=1)
        mask: Mask = ~self.numeric & (read >= _MOSTLY_NUMBERS * self.known.sum(axis=1))
        return mask

    @property
    def score(self) -> int:
        return int((self.numeric | self.nearly).sum())

    @classmethod
    def of(cls, texts: pl.Series, count: int, decimal: str) -> "_Guess":
        """Read the texts of `count` columns, column after column, null where missing."""
        plain = texts.cast(pl.Float64, strict=False)
        if decimal == ",":
            pointed = texts.str.contains(".", literal=True).fill_null(False)
            plain = texts.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False).set(pointed, None)
        # Taking a number apart costs much more than to see that it is one.
        odd = (texts.is_not_null() & plain.is_null()).arg_true().to_numpy()
        odd = odd[texts.gather(odd).str.contains(_pattern(decimal)).to_numpy()]
        parts = _parts(texts.gather(odd), decimal)
        owner = odd // (len(texts) // count)

        def spread(name: str) -> Any:
            flat = np.zeros(len(texts), dtype=bool)
            flat[odd] = parts[name].to_numpy()
            return flat.reshape(count, -1)

        values: Any = np.array(plain.to_numpy())
        values[odd] = parts["value"].to_numpy()
        values, known = values.reshape(count, -1), texts.is_not_null().to_numpy().reshape(count, -1)
        limit, grouped, unit = spread("limit"), spread("grouped"), spread("has_unit")
        read = known & ~np.isnan(values)
        units = {}
        for j in np.flatnonzero(unit.any(axis=1)).tolist():
            own = parts["unit"].filter(owner == j)
            if (one := _one_unit(own, unit[j], known[j])) is None:
                read[j] &= ~unit[j]
            else:
                units[j] = one
        limits = read & limit
        for j in np.flatnonzero(limits.any(axis=1)).tolist():
            beside = values[j][read[j] & ~limits[j]]
            if np.unique(beside).size < _FEWEST_BESIDE_LIMITS and 2 * beside.size < read[j].sum():
                read[j] &= ~limits[j]
        return cls(decimal, values, known, read, limits & read, grouped & read, units)


def _parts(texts: pl.Series, decimal: str) -> pl.DataFrame:
    """Value, limit, thousands marks and unit of texts that are numbers with this decimal mark."""
    pieces = [
        pl.col("sign").fill_null(""),
        pl.col("whole").fill_null("").str.replace_all("[ .,']", ""),
        pl.col("fraction").fill_null("").str.replace(",", ".", literal=True),
        pl.col("exponent").fill_null(""),
    ]
    return (
        texts.str.extract_groups(_pattern(decimal))
        .struct.unnest()
        .select(
            "unit",
            value=pl.concat_str(pieces).cast(pl.Float64, strict=False),
            limit=pl.col("limit").is_not_null(),
            grouped=pl.col("whole").str.contains("[ .,']").fill_null(False),
            has_unit=pl.col("unit").is_not_null(),
        )
    )


def _pattern(decimal: str) -> str:
    """The parts of a number with this decimal mark."""
    marks = [" ", "'", "," if decimal == "." else r"\."]
    groups = "|".join(rf"[1-9]\d{{0,2}}(?:{mark}\d{{3}})+" for mark in marks)
    point = r"\." if decimal == "." else ","
    return (
        rf"^(?P<limit>[<>]=?|[≤≥])?\s*(?P<sign>[+-])?\s?(?P<whole>{groups}|\d+)?(?P<fraction>{point}\d*)?"
        r"(?P<exponent>[eE][+-]?\d+)?(?P<unit> *[%‰°µ\p{L}][\p{L}%°²³/*.·]*(?:\^?\d)?)?$"
    )


def _one_unit(units: pl.Series, unit: Mask, known: Mask) -> str | None:
    """The unit that all values of a column have, if there is one."""
    distinct = units.drop_nulls().str.strip_chars().unique().to_list()
    if len(distinct) != 1 or (unit != known).any():
        return None
    # Codes like 1a and 2a are words; 5 g, 5mg and 5% are amounts.
    apart = units.drop_nulls().str.starts_with(" ").all()
    return distinct[0] if apart or len(distinct[0]) > 1 or not distinct[0].isalpha() else None


@dataclass(frozen=True)
class _Columns:
    """Columns that plain numbers do not explain, read under the decimal mark that explains most of them."""

    source: Source
    names: Sequence[str]
    cells: TextRows
    columns: np.ndarray
    texts: pl.Series
    clean: np.ndarray
    numbers: FloatArray
    guess: _Guess
    other: _Guess | None

    @classmethod
    def of(
        cls,
        source: Source,
        names: Sequence[str],
        cells: TextRows,
        columns: np.ndarray,
        clean: np.ndarray,
        numbers: FloatArray,
    ) -> "_Columns":
        frame = cells.columns(columns.tolist())
        texts = pl.concat([column.alias("cell") for column in frame])
        texts = texts.set(is_missing(texts), None)
        if (texts.str.len_bytes() != texts.str.len_chars()).any():
            texts = texts.str.replace_all(_SPACES, " ").str.replace_all("\u2212", "-").str.replace_all("\u2019", "'")
            texts = texts.str.strip_chars()
            texts = texts.set(is_missing(texts), None)
        for number in filter(np.isfinite, map(_as_number, source.reading.na)):
            texts = texts.set((texts.cast(pl.Float64, strict=False) == number).fill_null(False), None)
        given = source.reading.decimal
        guess = _Guess.of(texts, columns.size, given or ".")
        other = None
        if given is None and texts.str.contains(",", literal=True).any():
            guess, other = cls._better(cells, clean, guess, _Guess.of(texts, columns.size, ","))
        return cls(source, names, cells, columns, texts, clean, numbers, guess, other)

    @staticmethod
    def _better(cells: TextRows, clean: np.ndarray, point: _Guess, comma: _Guess) -> tuple[_Guess, _Guess]:
        """The guess that makes more columns numeric, then the other one."""
        if point.score != comma.score:
            return (point, comma) if point.score > comma.score else (comma, point)
        has_points = any(
            texts.str.contains(r"\.\d").fill_null(False).any()
            for piece in (cells.pieces() if clean.size else ())
            for texts in take_columns(piece, cells.width, clean.tolist())
        )
        # Where a semicolon or a tab divides the values, the comma is free to be the decimal mark.
        return (point, comma) if has_points or cells.delimiter == "," else (comma, point)

    @property
    def decimal(self) -> str:
        """The decimal mark, where it makes a difference."""
        used = self.guess.decimal == "," and (
            self.source.reading.decimal == "," or self._uses(self.guess, r"\d,\d|^,\d") is not None
        )
        return "," if used else "."

    def read(self) -> tuple[np.ndarray, FloatArray]:
        """The columns that are numeric, and their numbers."""
        guess = self.guess
        self._refuse_second_header()
        for j in np.flatnonzero(guess.nearly).tolist():
            row = int((guess.known[j] & ~guess.read[j]).argmax())
            raise self._error(j, row, "is not a number as nearly all of the column is", na=True)
        for j in np.flatnonzero(~guess.numeric).tolist():
            own = self._column(j).drop_nulls()
            if len(own) and own.str.contains(_MONEY).all():
                row = int(guess.known[j].argmax())
                raise self._error(j, row, "is an amount of money: take the sign out of the column, or out of the table")
        self._add_notes()
        numeric = guess.numeric
        values = np.where(guess.read, guess.values, np.nan)[numeric].T
        return self.columns[numeric], values

    def _column(self, j: int) -> pl.Series:
        height = self.guess.known.shape[1]
        return self.texts[j * height : (j + 1) * height]

    def _error(self, j: int, row: int, what: str, *, na: bool = False) -> DataError:
        word = str(self._column(j)[row])
        hint = f"; --na {shlex.quote(word)} reads it as missing" if na and len(word) <= 40 else ""
        where = f"{self.source.path}, {self.cells.place(row)}, column {quoted(self.names[self.columns[j]])}"
        return DataError(f"{where}: {quoted(word)} {what}{hint}")

    def _refuse_second_header(self) -> None:
        """Refuse words in the first row above columns that are all numbers below."""
        guess = self.guess
        if guess.known.shape[1] < 3:
            return
        bad = guess.known & ~guess.read
        above = bad[:, 0] & ~bad[:, 1:].any(axis=1) & (guess.read[:, 1:].sum(axis=1) > 1)
        if above.sum() > 1 and np.isnan(self.numbers[0, self.clean]).all():
            words = ", ".join(quoted(str(self._column(j)[0])) for j in np.flatnonzero(above)[:3].tolist())
            raise DataError(
                f"{self.source.path}, {self.cells.place(0)}: holds words ({words}) above columns of numbers, like a "
                "second header or a row of units; leave one line of names above the values"
            )

    def _uses(self, guess: _Guess, pattern: str) -> str | None:
        """The first number of a numeric column that matches."""
        texts = self.texts.filter(pl.Series((guess.read & guess.numeric[:, None]).ravel()))
        found = texts.filter(texts.str.contains(pattern))
        return str(found[0]) if len(found) else None

    def _add_notes(self) -> None:
        guess, notes = self.guess, self.source.notes
        numeric = guess.numeric[:, None]
        flat = (guess.grouped & numeric).ravel()
        rival = self._rival()
        if self.decimal == ",":
            if self.source.reading.decimal is None:
                notes.append(f"numbers have decimal commas, such as {self._uses(guess, ',')}{rival}")
            rival = ""
        if flat.any():
            notes.append(f"thousands marks are left out, as in {self.texts[int(flat.argmax())]}{rival}")
        flat = (guess.limits & numeric).ravel()
        if flat.any():
            what = "values below or above a detection limit" if flat.sum() > 1 else "value beyond a detection limit"
            verb = "are" if flat.sum() > 1 else "is"
            notes.append(f"{flat.sum()} {what}, such as {self.texts[int(flat.argmax())]}, {verb} taken as the limit")
        units = {j: unit for j, unit in guess.units.items() if guess.numeric[j]}
        if units:
            named = ", ".join(f"{unit} of {quoted(self.names[self.columns[j]])}" for j, unit in list(units.items())[:3])
            more = f" and {len(units) - 3} more" if len(units) > 3 else ""
            notes.append(f"units are left out: {named}{more}")

    def _rival(self) -> str:
        """What the other decimal mark would make of a number, where both make the column numeric."""
        if self.other is None:
            return ""
        mine, other = self.guess, self.other
        both = (mine.numeric & other.numeric)[:, None] & mine.read & other.read & (mine.values != other.values)
        if not both.any():
            return ""
        at = int(both.ravel().argmax())
        value = f"{other.values.ravel()[at]:.10g}"
        return f"; --decimal {other.decimal} would read {self.texts[at]} as {value}"


def _without_points(
    source: Source, names: Sequence[str], cells: TextRows, clean: np.ndarray, numbers: FloatArray
) -> FloatArray:
    """Numbers whose points are thousands marks, as 1.234 is beside decimal commas."""
    pointed, grouped = np.zeros(cells.width, dtype=bool), np.ones(cells.width, dtype=bool)
    for piece in cells.pieces() if clean.size else ():
        for column in take_columns(piece, cells.width, clean.tolist()):
            own = column.filter(column.str.contains(".", literal=True).fill_null(False) & ~is_missing(column))
            pointed[int(column.name)] |= len(own) > 0
            grouped[int(column.name)] &= bool(own.str.contains(_THOUSANDS).all())
    changed = np.flatnonzero(pointed & grouped).tolist()
    kept = np.flatnonzero(pointed & ~grouped).tolist() if source.reading.decimal == "," else []
    if changed:
        numbers = numbers if numbers.flags.writeable else numbers.copy()
        for column in cells.columns(changed):
            whole = column.str.replace_all(".", "", literal=True).cast(pl.Float64, strict=False)
            numbers[:, int(column.name)] = whole.to_numpy()
        source.notes.append(f"points are thousands marks in {_listed(names, changed)}")
    if kept:
        source.notes.append(f"points are decimal marks all the same in {_listed(names, kept)}")
    return numbers


def _listed(names: Sequence[str], columns: list[int]) -> str:
    shown = ", ".join(quoted(names[j]) for j in columns[:3])
    return shown + (f" and {len(columns) - 3} more" if len(columns) > 3 else "")
