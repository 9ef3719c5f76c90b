"""A data set: rows, classes, names, kinds of columns, and an official split if there is one."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from tamis.base.errors import DataError, TamisError
from tamis.base.mixed_columns import columns_of, only_numbers
from tamis.base.task import Task, WantedTask, numeric_target
from tamis.base.validation import encode_labels
from tamis.data.caveats import caveats_of
from tamis.data.column_plan import ColumnPlan
from tamis.data.extreme_values import check_extremes
from tamis.data.prefilter import Prefilter
from tamis.data.target_task import with_task

if TYPE_CHECKING:
    from tamis.data.parsing.counted_column import CountedColumn


@dataclass(frozen=True, eq=False)
class Dataset:
    """Labelled rows, and what is known of their columns.

    Attributes
    ----------
    X : array, CSR matrix or polars.DataFrame of shape (n_rows, n_features)
        Numbers only: a float32 or float64 array (NaN where missing) or a CSR matrix. A polars data frame when
        some columns are nominal: those have dtype String, the others Float64, and null means missing. What
        :meth:`of` was given stays as it is.
    y : array of shape (n_rows,)
        Class labels as the file has them (str, int or float), or numbers.
    feature_names : array of str of shape (n_features,)
        The numbers of the columns where they have no names.
    name : str
        What the data is called in tables and reports.
    target : str
        What `y` is called.
    split : array of str of shape (n_rows,), optional
        The official part of each row: "train", "valid" or "test".
    unlabelled : mapping of str to matrix
        Rows that came without classes, by part.
    groups : array of shape (n_rows,), optional
        Rows of one group must stay together in validation.
    roles : array of str of shape (n_features,), optional
        What is known of each feature when the data was made: "informative", "redundant", "repeated", "probe".
    plan : ColumnPlan
        What was done to the columns of the table (:func:`tamis.data.column_sense.sense`); empty where nothing was.
    notes : tuple of str
        Sentences on what was guessed or changed while the data was read.
    texts : tuple of str
        Columns that are text by the format of the file; :func:`tamis.data.column_sense.sense` makes words of them.
    row_names : array of str of shape (n_rows,), optional
        What the rows are called, such as the files that they come from; where no row has a class, the unlabelled ones.
    counted : mapping of str to CountedColumn
        Columns of text whose words were counted while the file was read; `X` has the numbers of their texts instead.
        Nothing is here once the words are features.
    task : {"classify", "regress"}
        Whether `y` holds classes or numbers (:func:`tamis.data.target_task.with_task` guesses it).
    prefilter : Prefilter, optional
        The selection by which the columns were read from a larger file; every recipe begins with it.
    """

    X: Any
    y: np.ndarray
    feature_names: np.ndarray
    name: str = "data"
    target: str = "class"
    split: np.ndarray | None = None
    unlabelled: Mapping[str, Any] = field(default_factory=dict)
    groups: np.ndarray | None = None
    roles: np.ndarray | None = None
    plan: ColumnPlan = field(default_factory=ColumnPlan)
    notes: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    row_names: np.ndarray | None = None
    counted: "Mapping[str, CountedColumn]" = field(default_factory=dict)
    task: Task = "classify"
    prefilter: Prefilter | None = None

    def __post_init__(self) -> None:
        if len(self.X.shape) != 2:
            raise DataError(f"X must have rows and columns; got shape {tuple(self.X.shape)}")
        if np.ndim(self.y) != 1:
            raise DataError(f"{self.name}: y must be one column of labels; got shape {np.shape(self.y)}")
        rows, columns = self.X.shape
        for what, array, size in (
            ("labels", self.y, rows),
            ("feature names", self.feature_names, columns),
            ("split marks", self.split, rows),
            ("groups", self.groups, rows),
            ("row names", self.row_names, rows or sum(part.shape[0] for part in self.unlabelled.values())),
            ("roles", self.roles, columns),
        ):
            if array is not None and len(array) != size:
                raise DataError(f"{self.name}: {len(array)} {what} for {rows} rows and {columns} columns")

    @classmethod
    def of(
        cls, X: Any, y: Any = None, *, groups: Any = None, name: str = "data", task: WantedTask = "auto"
    ) -> "Dataset":
        """Labelled rows in any form as a data set, checked: there are rows, columns, and two classes or numbers.

        Parameters
        ----------
        X : Dataset, array, sparse matrix or data frame
            Dense rows are not copied.
        y : array of shape (n_rows,), optional
            Class labels or numbers; a data set brings its own.
        groups : array of shape (n_rows,), optional
            In place of the data set's own, if it has any.
        name : str, default="data"
            What it is called, unless it is a data set already.
        task : {"auto", "classify", "regress"}, default="auto"
            Whether the target holds classes or numbers; by default a data set knows, and of an array the values decide
            (:func:`tamis.data.target_task.guess_task`).

        Examples
        --------
        >>> data = Dataset.of([[0.0, 1.0], [2.0, 3.0]], ["a", "b"])
        >>> data.n_features, data.classes.tolist(), data.feature_names.tolist(), data.has_names
        (2, ['a', 'b'], [0, 1], False)
        """
        if isinstance(X, Dataset):
            if y is not None:
                raise TamisError("y was given twice: a data set brings its own")
            found = X
        elif y is None:
            raise TamisError("y is missing: validation needs the target")
        else:
            X = X if hasattr(X, "shape") else np.asarray(X)
            names = np.asarray(X.columns) if hasattr(X, "columns") else np.arange(X.shape[-1] if X.shape else 0)
            found = with_task(cls(X, np.asarray(y), names, name), task)
        if task not in ("auto", found.task):
            found = with_task(found, task)
        if 0 in found.X.shape:
            raise TamisError(f"X must have rows and columns; got shape {tuple(found.X.shape)}")
        if groups is not None:
            found = replace(found, groups=np.asarray(groups))
        if found.is_sparse and found.X.format != "csr":
            # Rows are taken fold by fold, which only CSR does well among the sparse formats.
            found = replace(found, X=found.X.tocsr())
        _check_target(found)
        check_extremes(found.X, found.feature_names, found.name)
        return found

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @cached_property
    def classes(self) -> np.ndarray:
        """The distinct labels, sorted; none where the target holds numbers."""
        return np.unique(self.y) if self.task == "classify" else self.y[:0]

    @property
    def has_names(self) -> bool:
        """Whether the columns have names, not numbers alone."""
        return self.feature_names.dtype.kind not in "iu"

    @property
    def is_sparse(self) -> bool:
        return bool(sp.issparse(self.X))

    @cached_property
    def nominal(self) -> np.ndarray:
        """Mask of the nominal columns."""
        if hasattr(self.X, "schema"):
            return np.array([not dtype.is_numeric() for dtype in self.X.schema.values()], dtype=bool)
        if self.is_sparse or only_numbers(self.X):
            return np.zeros(self.n_features, dtype=bool)
        return np.array([column.dtype == pl.String for column in columns_of(self.X, self.name)], dtype=bool)

    @cached_property
    def n_missing(self) -> int:
        """Number of missing values."""
        if hasattr(self.X, "null_count"):
            return int(sum(self.X.null_count().row(0)))
        if hasattr(self.X, "isna"):
            return int(self.X.isna().to_numpy().sum())
        values = self.X.data if self.is_sparse else self.X
        if values.dtype.kind == "O":
            return sum(column.null_count() for column in columns_of(values, self.name))
        return int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0

    @property
    def remedy(self) -> str:
        """What a model of plain numbers cannot take, and what to do about it; empty when it can take everything."""
        found = {}
        if missing := self.n_missing:
            found["impute"] = f"{missing} missing values"
        if self.nominal.any():
            first = self.feature_names[self.nominal][0]
            found["encode"] = f"nominal columns (the first is {str(first)!r})"
        if not found:
            return ""
        return f"the data has {' and '.join(found.values())}: begin the recipe with {' | '.join(found)}"

    @property
    def probes(self) -> np.ndarray | None:
        """Mask of the features known to be useless, when it is known."""
        return None if self.roles is None else self.roles == "probe"

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """What makes every error estimated on these rows too good, in sentences (:mod:`tamis.data.caveats`)."""
        return caveats_of(self)

    @property
    def left_out(self) -> Mapping[str, str]:
        """The columns of the table that are not features, each with the reason in words."""
        return self.plan.left_out

    @property
    def column_warnings(self) -> Mapping[str, str]:
        """What is suspicious about some of the features, in words."""
        return self.plan.warnings

    def rows(self, index: Any) -> "Dataset":
        """The data set of some of the rows, by mask or by number."""
        if hasattr(self.X, "schema"):
            X = self.X[np.flatnonzero(index) if np.asarray(index).dtype == bool else index]
        else:
            X = self.X[index]
        return replace(
            self,
            X=X,
            y=self.y[index],
            split=None if self.split is None else self.split[index],
            groups=None if self.groups is None else self.groups[index],
            row_names=None if self.row_names is None else self.row_names[index],
        )

    def without(self, *columns: str) -> "Dataset":
        """The data set without some columns; a frame that is left with numbers alone becomes an array."""
        keep = np.flatnonzero(~np.isin(self.feature_names, columns))
        if keep.size == 0:
            raise DataError(f"{self.name}: no feature is left without {', '.join(map(repr, columns))}")

        def taken(X: Any) -> Any:
            if not hasattr(X, "schema"):
                return X[:, keep]
            X = X[:, keep.tolist()]
            return X.to_numpy().astype(np.float64) if all(t.is_numeric() for t in X.schema.values()) else X

        return replace(
            self,
            X=taken(self.X),
            feature_names=self.feature_names[keep],
            unlabelled={part: taken(X) for part, X in self.unlabelled.items()},
            roles=None if self.roles is None else self.roles[keep],
        )

    def grouped_by(self, column: str) -> "Dataset":
        """The data set with a column taken out of the features to tell the groups."""
        places = np.flatnonzero(self.feature_names == column)
        if places.size == 0:
            raise DataError(f"{self.name}: there is no column called {column!r} to group by")
        taken = self.X[:, [int(places[0])]]
        groups = taken.toarray() if self.is_sparse else taken.to_numpy() if hasattr(taken, "schema") else taken
        return replace(self.without(column), groups=groups.ravel())


def _check_target(data: Dataset) -> None:
    y, name = data.y, data.name
    lost = next((row for row, label in enumerate(y.tolist(), 1) if label is None or label != label), None)
    if lost is not None:
        raise TamisError(f"{name}: the {'class' if data.task == 'classify' else 'number'} of row {lost} is missing")
    if data.task == "regress":
        if np.ptp(numeric_target(y, name)) == 0:
            raise TamisError(f"{name}: the target has one value, {y.tolist()[0]!r}, so there is nothing to predict")
        return
    try:
        encode_labels(y, "validation")
    except TamisError:
        raise
    except ValueError as error:
        raise TamisError(f"{name}: the target cannot be read as classes ({str(error).partition('. ')[0]})") from error


def unlabelled(X: Any, **known: Any) -> Dataset:
    """The data set of rows that all came without classes.

    Examples
    --------
    >>> data = unlabelled(np.ones((3, 2)), feature_names=np.array(["a", "b"]))
    >>> data.n_rows, data.unlabelled[""].shape
    (0, (3, 2))
    """
    return Dataset(X[:0], np.empty(0, dtype=np.int64), unlabelled={"": X}, **known)


def as_read(X: Any) -> Any:
    """Rows as a reader gives them: a float array, a CSR matrix, or a polars frame where columns are nominal."""
    if sp.issparse(X):
        return X.tocsr()
    if only_numbers(X):
        return np.asarray(X, dtype=np.float64)
    if isinstance(X, pl.DataFrame):
        return X
    return pl.DataFrame([column.alias(str(j)) for j, column in enumerate(columns_of(X, "data"))])
