"""Delimited text split into values: where rows and values begin and end."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

_BLOCK_BYTES = 1 << 24
_LINE_END = b"\n"
# `Source.text` never holds these two characters.
_END, _GAP = "\x00", "\r"


@dataclass(frozen=True)
class Layout:
    """Where rows and values begin and end, by the delimiters and line ends outside quotes.

    Blank lines are left out. All values form one long column, so that the cost does not depend on the width.
    """

    data: bytes
    closed: bool  # whether the last quote is closed
    starts: np.ndarray  # where in `data` each row begins
    widths: np.ndarray  # number of values of each row
    blank: np.ndarray  # the values that are blank lines
    packed: bytes  # the text with `_END` after every value

    @classmethod
    def of(cls, data: bytes, delimiter: str, *, quotes: bool) -> "Layout":
        """Split text; with `quotes`, delimiters and line ends inside quotes do not count."""
        data = data if data.endswith(_LINE_END) else data + _LINE_END
        packed = np.frombuffer(bytearray(data), dtype=np.uint8)
        inside, values = False, 0
        row_ends, last_values = [], []
        for begin in range(0, len(packed), _BLOCK_BYTES):
            block = packed[begin : begin + _BLOCK_BYTES]
            line_end = block == ord(_LINE_END)
            cut = line_end | (block == ord(delimiter))
            if quotes:
                # Inside quotes when the number of quotes so far is odd; this holds for doubled quotes too.
                quoted = np.bitwise_xor.accumulate((block == ord('"')).view(np.uint8)).view(bool) ^ inside
                inside = bool(quoted[-1])
                cut &= ~quoted
            where = np.flatnonzero(cut)
            last = np.flatnonzero(line_end[where])
            row_ends.append(where[last] + begin)
            last_values.append(last + values)
            values += len(where)
            block[where] = ord(_END)
        ends, last = np.concatenate(row_ends), np.concatenate(last_values)
        starts, widths = np.concatenate([[0], ends[:-1] + 1])[: len(ends)], np.diff(last, prepend=-1)
        blank = [i for i in np.flatnonzero(widths == 1).tolist() if not data[starts[i] : ends[i]].strip()]
        return cls(data, not inside, np.delete(starts, blank), np.delete(widths, blank), last[blank], packed.tobytes())

    def cells(self) -> pl.Series:
        """All values as stripped strings, row after row; null where there is none."""
        table = pl.read_csv(
            self.packed,
            has_header=False,
            schema={"cell": pl.String},
            separator=_GAP,
            eol_char=_END,
            quote_char=None,
        )
        cells = table.get_column("cell")
        if len(self.blank):
            cells = cells.gather(np.delete(np.arange(len(cells)), self.blank))
        return cells.str.strip_chars(" \t") if b" " in self.packed or b"\t" in self.packed else cells

    def place(self, row: int) -> str:
        """The line on which a row begins."""
        return line_of(self.data, int(self.starts[row]))


def take_columns(cells: pl.Series, width: int, columns: Sequence[int]) -> pl.DataFrame:
    """Some columns of rows of one width, named by their positions."""
    cell = pl.col("cell")
    return cells.alias("cell").to_frame().select(cell.gather_every(width, j).alias(str(j)) for j in columns)


def line_of(data: bytes, at: int, above: int = 0) -> str:
    """The line, counted from 1, of a position in text that has some lines above it."""
    return f"line {data.count(_LINE_END, 0, at) + above + 1}"
