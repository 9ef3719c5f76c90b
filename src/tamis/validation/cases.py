"""What is validated: rows and classes, with groups, official parts and probes where they are known."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import TamisError
from tamis.base.types import Mask
from tamis.base.validation import encode_labels
from tamis.compose.catalog import part_for
from tamis.data.dataset import Dataset
from tamis.data.probes import add_probes


@dataclass(frozen=True, eq=False)
class Cases:
    """Rows with classes, ready to be split.

    Attributes
    ----------
    X : array, CSR matrix or data frame
    y : array of labels
    classes : array
        The distinct labels, sorted.
    name : str
    groups, parts : arrays of one entry a row, or None
    probes : mask of one entry a column, or None
    source : Dataset or None
        Where they come from, when that is known.
    """

    X: Any
    y: np.ndarray
    classes: np.ndarray
    name: str = "data"
    groups: np.ndarray | None = None
    parts: np.ndarray | None = None
    probes: Mask | None = None
    source: Dataset | None = None

    def trouble(self) -> str:
        """What a model of plain numbers cannot take, and the remedy; empty when there is nothing of the kind."""
        if self.source is None:
            return ""
        found = {}
        if missing := self.source.n_missing:
            found[part_for("imputation").name] = f"{missing} missing values"
        if self.source.nominal.any():
            first = self.source.feature_names[self.source.nominal][0]
            found[part_for("encoding").name] = f"nominal columns (the first is {str(first)!r})"
        if not found:
            return ""
        return f"the data has {' and '.join(found.values())}: begin the recipe with {' | '.join(found)}"


def cases(X: Any, y: Any = None, *, groups: Any = None, probes: float = 0.0, seed: int = 0) -> Cases:
    """Bring a data set, or a matrix and its classes, into one form; add probes when a share of them is wanted.

    Parameters
    ----------
    X : Dataset, array, sparse matrix or data frame
    y : array of shape (n_rows,), optional
        Class labels; a data set brings its own.
    groups : array of shape (n_rows,), optional
        In place of the data set's own, if it has any.
    probes : float, default=0
        Share handed to :func:`tamis.data.probes.add_probes`; 0 adds none.
    seed : int, default=0
    """
    if probes < 0:
        raise TamisError(f"probes must be a share of 0 or more; got {probes}")
    if isinstance(X, Dataset) and y is not None:
        raise TamisError("y was given twice: a data set brings its own classes")
    if not isinstance(X, Dataset) and y is None:
        raise TamisError("y is missing: validation needs the classes")
    X = X if hasattr(X, "shape") or isinstance(X, Dataset) else np.asarray(X)
    mask = None
    if probes:
        X, mask = add_probes(X, probes, seed=seed)
    if not isinstance(X, Dataset):
        return _checked(X, y, groups, Cases(X, y, np.empty(0), probes=mask))
    groups = X.groups if groups is None else groups
    known = Cases(X.X, X.y, X.classes, X.name, parts=X.split, probes=X.probes, source=X)
    return _checked(X.X, X.y, groups, known)


def _checked(X: Any, y: Any, groups: Any, known: Cases) -> Cases:
    # Rows are taken fold by fold, which only CSR does well among the sparse formats.
    sparse = sp.issparse(X)
    X = X.tocsr() if sparse else X
    if len(X.shape) != 2 or 0 in X.shape:
        raise TamisError(f"X must have rows and columns; got shape {tuple(X.shape)}")
    y = np.asarray(y)
    if y.ndim != 1:
        raise TamisError(f"{known.name}: y must be one column of labels; got shape {y.shape}")
    for name, array in (("labels", y), ("groups", groups)):
        if array is not None and len(array) != X.shape[0]:
            raise TamisError(f"{known.name}: {len(array)} {name} for {X.shape[0]} rows")
    return replace(
        known, X=X, y=y, classes=_classes(y, known.name), groups=None if groups is None else np.asarray(groups)
    )


def _classes(y: np.ndarray, name: str) -> np.ndarray:
    lost = next((row for row, label in enumerate(y.tolist(), 1) if label is None or label != label), None)
    if lost is not None:
        raise TamisError(f"{name}: the class of row {lost} is missing")
    try:
        return encode_labels(y, "validation")[0]
    except TamisError:
        raise
    except ValueError as error:
        raise TamisError(f"{name}: the target cannot be read as classes ({str(error).partition('. ')[0]})") from error
