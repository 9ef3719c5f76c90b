"""CSV that a spreadsheet shows and does not run.

Spreadsheets take a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return for a formula, also in
quotes, and a formula can start programs and send what other cells hold. Names of columns, classes and rows come from
data, so anybody can put one there. Such a text gets an apostrophe in front, which spreadsheets take for "this is text".
"""

import warnings

import polars as pl

#: Text that may be a formula: one sign alone is none.
_FORMULA = r"(?s)^(?:[=+@-].|[\t\r])"
#: Numbers, which stay: with a point or a comma, an exponent, a percent sign.
_NUMBER = r"^[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)? ?%?$|^[+-]?(?i:inf|infinity|nan)$"


class Escaped(UserWarning):
    """Text of a CSV file was changed, so that no spreadsheet runs it."""


def csv_text(frame: pl.DataFrame) -> str:
    r"""A table as CSV, with an apostrophe in front of text that a spreadsheet would take for a formula.

    Numbers stay, also those that are written as text. A file that must keep every text as it is has to be Parquet.

    Examples
    --------
    >>> with warnings.catch_warnings(action="ignore"):
    ...     print(csv_text(pl.DataFrame({"class": ["=1+1", "-1.5", "-"], "x": [-1.5, 2.0, 0.0]})), end="")
    class,x
    '=1+1,-1.5
    -1.5,2.0
    -,0.0
    """
    return escaped(frame).write_csv()


def escaped(frame: pl.DataFrame) -> pl.DataFrame:
    """The table whose names and texts no spreadsheet runs; with a warning where some had to be changed."""
    words = frame.select(pl.selectors.by_dtype(pl.String, pl.Categorical, pl.Enum).cast(pl.String))
    columns = [column for column in words.iter_columns() if _is_formula(column).any()]
    names = [name for name in frame.columns if _is_formula(pl.Series([name])).item()]
    if not columns and not names:
        return frame
    count = len(names) + sum(int(_is_formula(column).sum()) for column in columns)
    warnings.warn(
        f"{count} texts that a spreadsheet would take for a formula have an apostrophe in front; Parquet keeps them",
        Escaped,
        stacklevel=3,
    )
    made = frame.with_columns(
        pl.select(pl.when(_is_formula(column)).then("'" + column).otherwise(column)).to_series().alias(column.name)
        for column in columns
    )
    for name in names:
        other = f"'{name}"
        while other in made.columns:
            other = f"'{other}"
        made = made.rename({name: other})
    return made


def _is_formula(texts: pl.Series) -> pl.Series:
    return (texts.str.contains(_FORMULA) & ~texts.str.contains(_NUMBER)).fill_null(False)
