"""Excel workbooks, read by calamine: the first sheet, as a table of text."""

from dataclasses import replace

import polars as pl

from tamis.base.errors import DataError, quoted
from tamis.data.dataset import Dataset
from tamis.data.parsing.cells import Cells
from tamis.data.parsing.reader import Reader, Source
from tamis.data.parsing.text_table import text_dataset

_ZIP = b"PK\x03\x04"
_WORKBOOK = b"xl/workbook"
_TAKES = frozenset({"decimal", "na", "transpose", "labels", "on"})


def _read(source: Source, target: str | None) -> Dataset:
    return text_dataset(source, read_cells(source), target)


def read_cells(source: Source) -> Cells:
    """The cells of the first sheet, from its first row with values on."""
    sheet = _sheet(source)
    rows = sheet.with_row_index("row", offset=1).filter(pl.any_horizontal(pl.exclude("row").is_not_null()))
    if not rows.height:
        raise DataError(f"{source.path}: the first sheet is empty")
    numbers, rows = rows.get_column("row").to_list(), rows.drop("row")
    used = [column.name for column in rows if column.null_count() < rows.height]
    rows = rows.select(used)
    if rows.width < 2:
        raise DataError(f"{source.path}: the first sheet has one column, and a table has two or more")
    texts = pl.concat([column.alias("cell") for column in rows])
    across = Cells(texts.str.strip_chars(), rows.height, str)
    return replace(across.transposed(), place=lambda row: f"row {numbers[row]}")


def _sheet(source: Source) -> pl.DataFrame:
    """The values of the first sheet as text; a note names the other sheets."""
    import fastexcel

    try:
        book = fastexcel.read_excel(source.content)
        names = book.sheet_names
        texts, numbers = (
            book.load_sheet(0, header_row=None, skip_rows=0, dtypes=kind).to_polars() for kind in ("string", "float")
        )
    except Exception:  # of many types, from the reader of archives, of XML and of cells
        raise DataError(f"{source.path}: is not an Excel workbook, is protected, or is damaged") from None
    if len(names) > 1:
        others = ", ".join(map(quoted, names[1:]))
        source.notes.append(f"the first sheet, {quoted(names[0])}, is read; the others are {others}")
    return pl.DataFrame([_exact(text, numbers.get_column(text.name)) for text in texts])


def _exact(texts: pl.Series, numbers: pl.Series) -> pl.Series:
    """The texts with all digits: calamine's have nine decimals."""
    rounded = (texts.cast(pl.Float64, strict=False) != numbers).fill_null(False)
    return numbers.cast(pl.String).zip_with(rounded, texts).alias(texts.name)


def _recognizes(source: Source) -> bool:
    return source.content.startswith(_ZIP) and _WORKBOOK in source.content


reader = Reader("xlsx", (".xlsx", ".xlsm"), _recognizes, _read, _TAKES, read_cells)
