"""A data set: rows, classes, names, kinds of columns, and an official split if there is one."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError


@dataclass(frozen=True)
class Dataset:
    """Labelled rows, and what is known of their columns.

    Attributes
    ----------
    X : array, CSR matrix or polars.DataFrame of shape (n_rows, n_features)
        Numbers only: a float32 or float64 array (NaN where missing) or a CSR matrix. A polars data frame when
        some columns are nominal: those have dtype String, the others Float64, and null means missing.
    y : array of shape (n_rows,)
        Class labels as the file has them (str, int or float).
    feature_names : array of str of shape (n_features,)
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

    def __post_init__(self) -> None:
        rows, columns = self.X.shape
        for what, array, size in (
            ("labels", self.y, rows),
            ("feature names", self.feature_names, columns),
            ("split marks", self.split, rows),
            ("groups", self.groups, rows),
            ("roles", self.roles, columns),
        ):
            if array is not None and len(array) != size:
                raise DataError(f"{self.name}: {len(array)} {what} for {rows} rows and {columns} columns")

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def classes(self) -> np.ndarray:
        """The distinct labels, sorted."""
        return np.unique(self.y)

    @property
    def is_sparse(self) -> bool:
        return bool(sp.issparse(self.X))

    @property
    def nominal(self) -> np.ndarray:
        """Mask of the nominal columns."""
        if hasattr(self.X, "schema"):
            return np.array([not dtype.is_numeric() for dtype in self.X.schema.values()], dtype=bool)
        return np.zeros(self.n_features, dtype=bool)

    @property
    def n_missing(self) -> int:
        """Number of missing values."""
        if hasattr(self.X, "null_count"):
            return int(sum(self.X.null_count().row(0)))
        return int(np.isnan(self.X.data if self.is_sparse else self.X).sum())

    @property
    def probes(self) -> np.ndarray | None:
        """Mask of the features known to be useless, when it is known."""
        return None if self.roles is None else self.roles == "probe"

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


def unlabelled(X: Any, **known: Any) -> Dataset:
    """The data set of rows that all came without classes.

    Examples
    --------
    >>> data = unlabelled(np.ones((3, 2)), feature_names=np.array(["a", "b"]))
    >>> data.n_rows, data.unlabelled[""].shape
    (0, (3, 2))
    """
    return Dataset(X[:0], np.empty(0, dtype=np.int64), unlabelled={"": X}, **known)
