"""Spellings of a missing value."""

import polars as pl

#: Missing values in a column of words, in this spelling.
WORD_MARKS = (
    *("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "<NA>"),
    *("#N/A", "#NV", "#DIV/0!", "#VALUE!", "#WERT!", "#REF!", "#NUM!", "#NAME?", "#NULL!"),
)
#: Missing values in a column of numbers, in any letter case.
MARKS = (*WORD_MARKS, "None", "-", "--", ".", "..", "n.a.")

_LOWER_MARKS = sorted({mark.lower() for mark in MARKS})


def is_missing(cells: pl.Series) -> pl.Series:
    """Which texts stand for a missing value in a column of numbers.

    >>> is_missing(pl.Series(["NONE", "1", None])).to_list()
    [True, False, True]
    """
    return cells.fill_null("").str.to_lowercase().is_in(_LOWER_MARKS)


def without_marks(texts: pl.Series, marks: tuple[str, ...] | list[str] = WORD_MARKS) -> pl.Series:
    """Texts with nothing in place of some of them, by default of the usual spellings of missing."""
    return texts.set(texts.is_in(marks).fill_null(False), None)
