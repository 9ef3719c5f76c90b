"""ARFF, the format of Weka, plain or gzipped: dense rows and sparse rows.

Numeric, nominal and string attributes are supported, strings as nominal; date and relational ones are refused. The
class is the attribute called class in any letter case, or else the last one. A missing value is a question mark without
quotes. Commas separate the values, or blanks where a file has no commas. Instance weights are refused, since ignoring
them would change the data.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.base.errors import DataError, quoted
from tamis.base.types import FloatArray
from tamis.data.dataset import Dataset, unlabelled
from tamis.data.parsing.delimited_text import Layout, take_columns
from tamis.data.parsing.reader import Reader, Source
from tamis.data.parsing.table import Table, check_names, find_target, refuse_infinity, sparse_dataset

_NUMERIC = ("numeric", "real", "integer")
_COMMENT = re.compile(r"(?:^|(?<=[ \t]))%.*$", re.MULTILINE)
_QUOTED = re.compile(
    r"""(?<![^\s,{])(?:'((?:[^'\\\n]|\\.)*+)'(?=[\s,}]|$)|"((?:[^"\\\n]|\\.)*+)"(?=[\s,}]|$)|['"])""", re.MULTILINE
)
_HARMLESS = re.compile(r"[\w.:;<>=/()+&-]+")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}
# Replaces a quote that is not closed; a quoted word is replaced by a quote and the word's number.
_UNCLOSED = '"?'
_OPEN_QUOTE = re.compile(r'(?<![^\s,{])"\?')
_WEIGHTS = "instance weights are not supported"


@dataclass(frozen=True)
class _Attribute:
    """A column as declared: `values` is None for numbers, empty for any words."""

    name: str
    values: tuple[str, ...] | None


class _Quotes:
    """Quoted words taken out of a text, so that the commas, blanks and braces left in it are syntax."""

    def __init__(self) -> None:
        self.words: dict[str, int] = {}

    def take_out(self, text: str) -> str:
        return _QUOTED.sub(self._placeholder, text) if "'" in text or '"' in text else text

    def _placeholder(self, match: re.Match[str]) -> str:
        inner = match[1] if match[1] is not None else match[2]
        if inner is None:
            return _UNCLOSED
        word = re.sub(r"\\(.)", lambda escape: _ESCAPED.get(escape[1], escape[1]), inner)
        return word if _HARMLESS.fullmatch(word) else f'"{self.words.setdefault(word, len(self.words))}'

    def put_back(self, cells: pl.Series) -> pl.Series:
        """The words in place of their placeholders."""
        if not self.words:
            return cells
        return cells.replace([f'"{number}' for number in self.words.values()], list(self.words))


def _read(source: Source, target: str | None) -> Dataset:
    lines = source.text.split("\n")
    attributes, header = _header(source, lines)
    names = [attribute.name for attribute in attributes]
    check_names(source, names)
    target = target or next((name for name in names if name.lower() == "class"), names[-1])
    find_target(source, names, target)
    quotes = _Quotes()
    # Blank lines replace the header, so that line numbers stay right.
    body = "\n" * header + _COMMENT.sub("", quotes.take_out("\n".join(lines[header:])))
    if match := _OPEN_QUOTE.search(body):
        line = body[: match.start()].count("\n") + 1
        raise DataError(f"{source.path}, line {line}: a quote is not closed")
    if not (rows := body.lstrip()):
        raise DataError(f"{source.path}: has no rows")
    if rows.startswith("{"):
        return _read_sparse(source, attributes, target, body, quotes)
    return _read_dense(source, attributes, body, quotes).dataset(target)


def _recognizes(source: Source) -> bool:
    """Whether the first line that is not a comment is ``@relation``."""
    content = source.content.removeprefix(b"\xef\xbb\xbf")
    first = re.match(rb"(?:\s*+(?:%[^\r\n]*+)?+[\r\n])*+\s*+(@relation\b)?", content, re.IGNORECASE)
    return first is not None and first[1] is not None


def _header(source: Source, lines: list[str]) -> tuple[list[_Attribute], int]:
    """The attributes, and the number of the ``@data`` line."""
    attributes: list[_Attribute] = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("%"):
            continue
        word, *rest = text.split(None, 1)
        if word.lower() == "@attribute":
            attributes.append(_attribute(f"{source.path}, line {number}", "".join(rest)))
        elif word.lower() == "@data":
            if not attributes:
                raise DataError(f"{source.path}, line {number}: @data comes before any @attribute")
            return attributes, number
        elif word.lower() != "@relation":
            raise DataError(
                f"{source.path}, line {number}: {quoted(word)} is none of @relation, @attribute, @data or a % comment"
            )
    raise DataError(f"{source.path}: has no @data line")


def _attribute(where: str, declaration: str) -> _Attribute:
    quotes = _Quotes()
    match = re.match(r"([^\s{]+)\s*(.*)", quotes.take_out(declaration))
    if match is None:
        raise DataError(f"{where}: @attribute needs a name and a type")
    if _OPEN_QUOTE.search(match[0]):
        raise DataError(f"{where}: a quote is not closed")
    kind = match[2]
    name = quotes.put_back(pl.Series([match[1]]))[0]
    if kind.startswith("{"):
        if "}" not in kind:
            raise DataError(f"{where}: the values of {quoted(name)} have no closing brace")
        words = [word.strip() for word in kind[1 : kind.index("}")].split(",")]
        return _Attribute(name, tuple(quotes.put_back(pl.Series([word for word in words if word], dtype=pl.String))))
    kind = re.match(r"\w*", kind)[0].lower()  # type: ignore[index]
    if kind not in (*_NUMERIC, "string"):
        known = "is not supported" if kind in ("date", "relational") else "is unknown"
        raise DataError(f"{where}: type {quoted(kind)} of {quoted(name)} {known}; use numeric, string or {{a, b, ...}}")
    return _Attribute(name, () if kind == "string" else None)


def _read_dense(source: Source, attributes: list[_Attribute], body: str, quotes: _Quotes) -> Table:
    width = len(attributes)
    if "," not in body and width > 1:
        body = re.sub(r"[ \t]+", ",", re.sub(r"^[ \t]+|[ \t]+$", "", body, flags=re.MULTILINE))
    layout = Layout.of(body.encode(), ",", quotes=False)
    odd = np.flatnonzero(layout.widths != width)
    if len(odd):
        raise _wrong_count(source, layout, int(odd[0]), width)

    def place(cell: int) -> str:
        return f"{layout.place(cell // width)}, attribute {quoted(attributes[cell % width].name)}"

    raw = layout.cells()
    if raw.null_count():
        hole = int(raw.is_null().to_numpy().argmax())
        raise DataError(f"{source.path}, {place(hole)}: is empty; a missing value is written ?")
    cells = _known(raw, quotes)
    numbers = _numbers(source, attributes, cells, lambda at: at % width, place)
    words = take_columns(cells, width, [j for j, attribute in enumerate(attributes) if attribute.values is not None])
    nominal = {int(j): words.get_column(j) for j in words.columns}
    for j, column in nominal.items():
        _check_words(source, attributes[j], column, range(j, len(cells), width), place)
    return Table(source, [a.name for a in attributes], numbers.reshape(-1, width), nominal, layout.place)


def _wrong_count(source: Source, layout: Layout, row: int, width: int) -> DataError:
    start, got = int(layout.starts[row]), int(layout.widths[row])
    if layout.data[start : layout.data.index(b"\n", start)].rstrip().endswith(b"}"):
        return DataError(f"{source.path}, {layout.place(row)}: {_WEIGHTS}")
    values = "value" if got == 1 else "values"
    return DataError(f"{source.path}, {layout.place(row)}: has {got} {values} for {width} attributes")


def _read_sparse(source: Source, attributes: list[_Attribute], target: str, body: str, quotes: _Quotes) -> Dataset:
    names = [attribute.name for attribute in attributes]
    at = find_target(source, names, target)
    raw, rows, columns, lines = _entries(source, body, len(names))
    shape = (len(lines), len(names))

    def place(row: int) -> str:
        return f"line {lines[row]}"

    def entry_place(entry: int) -> str:
        return f"{place(rows[entry])}, attribute {quoted(names[columns[entry]])}"

    cells = _known(pl.Series(raw, dtype=pl.String), quotes)
    numbers = _numbers(source, attributes, cells, lambda at: columns[at], entry_place)
    nominal: dict[int, pl.Series] = {}
    order = np.argsort(columns, kind="stable")
    for j, attribute in enumerate(attributes):
        if attribute.values is not None:
            mine = order[slice(*np.searchsorted(columns, [j, j + 1], sorter=order))]
            words = cells.gather(mine)
            _check_words(source, attribute, words, mine.tolist(), entry_place)
            # A sparse row leaves out the first declared value.
            column = np.full(shape[0], attribute.values[0] if attribute.values else None, dtype=object)
            column[rows[mine]] = words.to_list()
            nominal[j] = pl.Series(column.tolist(), dtype=pl.String)
    if not nominal.keys() <= {at}:
        dense = np.zeros(shape)
        dense[rows, columns] = numbers
        return Table(source, names, dense, nominal, place).dataset(target)
    X = sp.csr_array((numbers, (rows, columns)), shape=shape)
    X.eliminate_zeros()
    if at is None:
        refuse_infinity(source, X, names, place)
        return unlabelled(X, feature_names=np.array(names, dtype=str), name=source.stem, target=str(target))
    return sparse_dataset(source, names, X, at, nominal.get(at), place)


def _entries(source: Source, body: str, width: int) -> tuple[list[str], np.ndarray, np.ndarray, list[int]]:
    """The values of sparse rows, the row and column of each, and the line of each row."""
    cells: list[str] = []
    columns: list[int] = []
    rows: list[int] = []
    lines: list[int] = []
    for number, line in enumerate(body.split("\n"), start=1):
        if not (text := line.strip()):
            continue
        where = f"{source.path}, line {number}"
        if not text.startswith("{"):
            raise DataError(f"{where}: is not a sparse row in braces like the rows above")
        inner, brace, rest = text[1:].partition("}")
        if not brace or rest:
            raise DataError(f"{where}: {_WEIGHTS if rest.endswith('}') else 'a sparse row must end in one brace'}")
        last = -1
        for entry in inner.split(",") if inner.strip() else ():
            index, value = _entry(where, entry, width)
            if index <= last:
                raise DataError(f"{where}: index {index} follows index {last}, and indices must rise")
            columns.append(last := index)
            rows.append(len(lines))
            cells.append(value)
        lines.append(number)
    return cells, np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp), lines


def _entry(where: str, entry: str, width: int) -> tuple[int, str]:
    """The column and the value of one entry of a sparse row."""
    parts = entry.split(None, 1)
    if len(parts) < 2:
        raise DataError(f"{where}: {quoted(entry.strip())} is not an index and a value")
    index = parts[0]
    # More than nine digits are too large in any case, and int() refuses thousands.
    if not (index.isascii() and index.isdigit() and len(index) < 10 and int(index) < width):
        raise DataError(f"{where}: index {quoted(index)} is not a whole number from 0 to {width - 1}")
    return int(index), parts[1].strip()


def _known(cells: pl.Series, quotes: _Quotes) -> pl.Series:
    """The values with null where missing and quoted words put back."""
    return quotes.put_back(cells.zip_with(cells != "?", pl.Series([None], dtype=pl.String)))


def _numbers(
    source: Source,
    attributes: list[_Attribute],
    cells: pl.Series,
    column: Callable[[np.ndarray], np.ndarray],
    place: Callable[[int], str],
) -> FloatArray:
    """The values as numbers, NaN where missing; words are refused in numeric attributes only."""
    values = cells.cast(pl.Float64, strict=False)
    unread = (values.is_null() & cells.is_not_null()).arg_true().to_numpy()
    numeric = np.array([attribute.values is None for attribute in attributes])
    wrong = unread[numeric[column(unread)]]
    if len(wrong):
        raise DataError(f"{source.path}, {place(int(wrong[0]))}: {quoted(cells[int(wrong[0])])} is not a number")
    return np.asarray(values.to_numpy())


def _check_words(
    source: Source, attribute: _Attribute, words: pl.Series, at: Sequence[int], place: Callable[[int], str]
) -> None:
    """Refuse a word that a nominal attribute does not declare; `at` holds the position of each word for `place`."""
    if attribute.values:
        undeclared = words.is_not_null() & ~words.is_in(list(attribute.values))
        if undeclared.any():
            first = int(undeclared.to_numpy().argmax())
            raise DataError(
                f"{source.path}, {place(at[first])}: {quoted(words[first])} is not one of the declared values"
            )


reader = Reader("arff", (".arff",), _recognizes, _read, frozenset({"labels", "on"}))
