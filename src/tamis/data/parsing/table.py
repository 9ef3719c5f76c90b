"""From named columns to a data set: the class column, numeric and nominal features, and the checks of both."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.base.errors import DataError, quoted
from tamis.base.types import FloatArray
from tamis.data.dataset import Dataset, unlabelled
from tamis.data.in_place import can_shrink, rows_at_a_time, shrunk
from tamis.data.load import Sought
from tamis.data.parsing.matrices import number_labels
from tamis.data.parsing.reader import Source

#: Default names of the class column, in any letter case.
CLASS_NAMES = ("class", "target", "label", "y")
#: Longer class labels mean that a column of free text was taken for the class.
_LONGEST_LABEL = 1000
#: Names that are compared with a misspelt one, and how much longer or shorter they may be.
_COMPARED, _LONGER = 20_000, 3


@dataclass(frozen=True)
class Table:
    """Named columns as a reader found them, before one of them becomes the class.

    `numbers` has all columns, with NaN where a value is missing; its entries of nominal columns are ignored. Where they
    are the table's `own`, they are changed when it becomes a data set, which happens once.
    """

    source: Source
    names: Sequence[str]
    numbers: FloatArray
    nominal: Mapping[int, pl.Series]  # by position, as strings with null where missing
    place: Callable[[int], str]  # how a message names a row: `place(0)` is "line 2" or "row 1"
    text: bool = False  # whether the values were text, so that a spelling can be declared missing
    own: bool = False  # whether nobody else has the numbers

    def dataset(self, target: str | None) -> Dataset:
        """The data set whose class is the column `target`, by default one of `CLASS_NAMES`.

        Features of true and false alone become 1 and 0, and those without values become numbers. `X` is an array
        when every feature is a number, and a polars data frame otherwise. Rows without a class are left out, with a
        note. When the class is optional (:class:`~tamis.data.load.Sought`) and absent, or absent in some rows, all
        rows are unlabelled.
        """
        check_names(self.source, self.names)
        if len(self.numbers) == 0:
            raise DataError(f"{self.source.path}: has no rows")
        at = find_target(self.source, self.names, target)
        drop = [] if at is None else [at]
        y, rows = None, None
        if at is not None:
            column = self.nominal[at] if at in self.nominal else self.numbers[:, at].copy()
            if not (isinstance(target, Sought) and self._lacks(column)):
                y, rows = labelled(self.source, self.names[at], column, self.place)
        numbers, nominal = self._kinds(at, target.words if isinstance(target, Sought) else frozenset())
        self._refuse_infinity(numbers, [*nominal, *drop])
        features = np.delete(np.array(self.names, dtype=str), drop)
        X: Any
        if nominal:
            positions = (j for j in range(len(self.names)) if j != at)
            columns = (nominal[j] if j in nominal else pl.Series(numbers[:, j], nan_to_null=True) for j in positions)
            X = pl.DataFrame([column.alias(str(name)) for name, column in zip(features, columns, strict=True)])
        elif self.own and can_shrink(numbers):
            X = shrunk(numbers, rows=rows, columns=np.delete(np.arange(len(self.names)), drop))
        else:
            X = np.delete(numbers, drop, axis=1)
        if rows is not None and len(X) != len(rows):
            X = X[rows]
        known: dict[str, Any] = {
            "feature_names": features,
            "name": self.source.stem,
            "target": self.names[at] if at is not None else str(target),
        }
        return unlabelled(X, **known) if y is None else Dataset(X, y, **known)

    def _kinds(self, at: int | None, words: frozenset[str]) -> tuple[FloatArray, dict[int, pl.Series]]:
        """Numbers and nominal features, once columns of truth values, or of nothing, are numbers unless in `words`."""
        nominal = {j: column for j, column in self.nominal.items() if j != at}
        unsure = [column.alias(str(j)) for j, column in nominal.items() if self.names[j] not in words]
        if not unsure:
            return self.numbers, nominal
        truth = _truth_columns(pl.DataFrame(unsure))
        numbers = self.numbers.copy() if truth.width and not self._may_change else self.numbers
        for column in truth:
            numbers[:, int(column.name)] = column.cast(pl.Float64).to_numpy()
            del nominal[int(column.name)]
        return numbers, nominal

    @property
    def _may_change(self) -> bool:
        return self.own and bool(self.numbers.flags.writeable)

    def _lacks(self, column: Any) -> bool:
        """Whether some rows have no class; a note says so when others have one."""
        count = int(_missing(column).sum())
        if 0 < count < len(column):
            self.source.notes.append(f"{count} of {len(column)} rows have no class, so the classes are not used")
        return count > 0

    def _refuse_infinity(self, numbers: FloatArray, others: list[int]) -> None:
        height = rows_at_a_time(numbers)
        for top in range(0, len(numbers), height):
            infinite = np.isinf(numbers[top : top + height])
            infinite[:, others] = False
            if infinite.any():
                row, column = np.argwhere(infinite)[0]
                raise infinity(self.source, self.place(top + int(row)), self.names[column], text=self.text)


def from_frame(source: Source, frame: pl.DataFrame) -> Table:
    """The table of a data frame: numbers and booleans, text and categories; no other types.

    >>> from pathlib import Path
    >>> frame = pl.DataFrame({"size": [1, None], "colour": ["red", "blue"], "class": ["a", "b"]})
    >>> from_frame(Source(Path("t.parquet")), frame).dataset(None).nominal
    array([False,  True])
    """
    nominal: dict[int, pl.Series] = {}
    for j, (name, dtype) in enumerate(frame.schema.items()):
        if dtype in (pl.String, pl.Boolean, pl.Categorical, pl.Enum):
            nominal[j] = frame.get_column(name).cast(pl.String)
        elif not (dtype.is_numeric() or dtype == pl.Null):
            raise DataError(
                f"{source.path}, column {quoted(name)}: has type {dtype.base_type()}, "
                "which is neither a number, a boolean nor text"
            )
    numeric = [j for j in range(frame.width) if j not in nominal]
    numbers = np.full(frame.shape, np.nan)
    if numeric and frame.height:
        columns = (pl.col(frame.columns[j]).cast(pl.Float64) for j in numeric)
        numbers[:, numeric] = frame.select(columns).to_numpy()
    return Table(source, frame.columns, numbers, nominal, lambda row: f"row {row + 1}", own=True)


def check_names(source: Source, names: Sequence[str]) -> None:
    """Refuse two columns of one name."""
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if first.setdefault(name, number) < number:
            raise DataError(f"{source.path}: columns {first[name]} and {number} are both called {quoted(name)}")


def find_target(source: Source, names: Sequence[str], target: str | None) -> int | None:
    """Position of the column `target`, by default of the first of `CLASS_NAMES` in any letter case.

    None when the target is optional and absent.
    """
    if target is None:
        lower = [name.lower() for name in names]
        at = next((lower.index(word) for word in CLASS_NAMES if word in lower), None)
        if at is None:
            raise DataError(
                f"{source.path}: no column is called {', '.join(CLASS_NAMES[:-1])} or {CLASS_NAMES[-1]}, "
                f"so name the class with --target; the columns are {_listed(names)}"
            )
    elif target in names:
        at = names.index(target)
    elif isinstance(target, Sought):
        return None
    else:
        near = nearest(target, names)
        raise DataError(f"{source.path}: no column is called {quoted(target)}; {near}the columns are {_listed(names)}")
    if len(names) == 1:
        raise DataError(f"{source.path}: has no feature column beside {quoted(names[at])}")
    return at


def nearest(name: str, names: Sequence[str]) -> str:
    """A hint at the name that is spelt most like another; empty when there is none."""
    near = [one for one in names if abs(len(one) - len(name)) <= _LONGER][:_COMPARED]
    lower = dict(zip([one.lower() for one in near], near, strict=True))
    found = get_close_matches(name.lower(), list(lower), n=1)
    return f"the nearest is {quoted(lower[found[0]])}; " if found else ""


def labelled(
    source: Source, name: str, column: Any, place: Callable[[int], str]
) -> tuple[np.ndarray, np.ndarray | None]:
    """The labels, and the rows that have one where some have none, which a note says."""
    missing = _missing(column)
    count = int(missing.sum())
    if count == 0:
        return labels(source, name, column, place), None
    if count == missing.size:
        raise DataError(f"{source.path}: the class {quoted(name)} is missing in all rows")
    what = f"{count} rows without a class are" if count > 1 else "1 row without a class is"
    source.notes.append(f"{what} left out")
    rows = np.flatnonzero(~missing)
    return labels(source, name, column[rows], lambda row: place(int(rows[row]))), rows


def _missing(column: Any) -> np.ndarray:
    found: np.ndarray = column.is_null().to_numpy() if isinstance(column, pl.Series) else np.isnan(column)
    return found


def labels(source: Source, name: str, column: Any, place: Callable[[int], str]) -> np.ndarray:
    """Class labels: whole numbers become int, other numbers stay float, words stay str.

    `column` is an array or a series of strings, and nothing is missing. Words that are all
    whole numbers become int, unless two of them are one number ("1" and "01").
    """
    if isinstance(column, pl.Series):
        return _word_labels(source, name, column, place)
    if np.isinf(column).any():
        raise infinity(source, place(int(np.isinf(column).argmax())), name)
    return number_labels(column)


def _word_labels(source: Source, name: str, column: pl.Series, place: Callable[[int], str]) -> np.ndarray:
    whole = column.cast(pl.Int64, strict=False)
    if not whole.null_count() and whole.n_unique() == column.n_unique():
        return whole.to_numpy()
    lengths = column.str.len_chars().to_numpy()
    if lengths.max() > _LONGEST_LABEL:
        raise DataError(
            f"{source.path}, {place(int(lengths.argmax()))}: the class {quoted(name)} is a text of "
            f"{lengths.max()} characters, and a label has at most {_LONGEST_LABEL}"
        )
    return np.array(column.to_list(), dtype=str)


def infinity(source: Source, place: str, name: str, *, text: bool = False) -> DataError:
    """The error for an infinite number; in a `text` its spelling can be declared missing."""
    hint = "; --na inf reads inf as missing" if text else ""
    return DataError(f"{source.path}, {place}, column {quoted(name)}: holds an infinite number{hint}")


def refuse_infinity(source: Source, X: sp.csr_array, names: Sequence[str], place: Callable[[int], str]) -> None:
    """Refuse an infinite number in a sparse matrix whose columns have these names."""
    if np.isinf(X.data).any():
        entry = int(np.isinf(X.data).argmax())
        row = int(np.searchsorted(X.indptr, entry, side="right")) - 1
        raise infinity(source, place(row), names[X.indices[entry]])


def sparse_dataset(
    source: Source, names: Sequence[str], X: Any, at: int, words: pl.Series | None, place: Callable[[int], str]
) -> Dataset:
    """The data set of a sparse matrix whose column `at` is the class; `words` are its labels where it is nominal."""
    column = X[:, [at]].toarray().ravel() if words is None else words
    y, rows = labelled(source, names[at], column, place)
    X, features = X[:, np.delete(np.arange(len(names)), at)], [*names[:at], *names[at + 1 :]]
    refuse_infinity(source, X, features, place)
    X = X if rows is None else X[rows]
    return Dataset(X, y, np.array(features, dtype=str), name=source.stem, target=names[at])


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(quoted, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _truth_columns(words: pl.DataFrame) -> pl.DataFrame:
    """The columns that hold only true and false in any letter case, or nothing, as booleans."""
    # The first value rules out most columns at once.
    first = words.select(pl.all().drop_nulls().first().str.to_lowercase()).row(0)
    likely = [name for name, word in zip(words.columns, first, strict=True) if word in (None, "true", "false")]
    lower = words.select(pl.col(likely).str.to_lowercase())
    only = lower.select(pl.all().is_in(["true", "false"]).all())
    return lower.select(pl.col(name) == "true" for name in likely if only.item(0, name))
