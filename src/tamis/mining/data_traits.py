"""The traits of the data that narrow the search."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.mixed_columns import assembled, columns_of, only_numbers
from tamis.base.part import Trait
from tamis.base.task import Task
from tamis.base.types import FloatArray
from tamis.data.dataset import Dataset
from tamis.data.word_counts import WordCounts


@dataclass(frozen=True)
class DataTraits:
    """What narrows the search.

    Attributes
    ----------
    n_rows, n_features, n_classes : int
        No class where the target holds numbers.
    smallest, largest : int
        Rows of the smallest and of the largest class; all rows where there are none.
    sparse : bool
    nominal, missing : bool
        Whether there are nominal columns, and missing values.
    non_negative : bool
        Whether no value is below zero.
    counts : bool
        Whether all values are whole numbers of zero and above, such as word counts or bits.
    text : bool
        Whether they are counts of the words of texts.
    task : {"classify", "regress"}
    prefilter : str
        The selection with which every recipe begins, if there is one.
    """

    n_rows: int
    n_features: int
    n_classes: int
    smallest: int
    largest: int
    sparse: bool
    nominal: bool
    missing: bool
    non_negative: bool
    counts: bool
    text: bool = False
    task: Task = "classify"
    prefilter: str = ""

    @property
    def uneven(self) -> bool:
        """Whether the classes differ so much in size that balancing them can matter."""
        return self.largest > 1.25 * self.smallest

    @property
    def dense(self) -> bool:
        return not self.sparse

    @property
    def wide(self) -> bool:
        """Whether there are at least as many columns as rows."""
        return self.n_rows <= self.n_features

    @property
    def balanced_binary(self) -> bool:
        """Whether there are two classes of about the same size."""
        return self.n_classes == 2 and not self.uneven

    def have(self, traits: Iterable[Trait]) -> bool:
        """Whether the data has all of some traits."""
        return all(getattr(self, trait) for trait in traits)

    def for_rows(self, y: np.ndarray) -> "DataTraits":
        """The traits for a search on some rows with the target `y`: the other rows must not narrow it."""
        if self.task == "regress":
            return replace(self, n_rows=y.size, smallest=y.size, largest=y.size)
        _, sizes = np.unique(y, return_counts=True)
        return replace(self, n_rows=y.size, n_classes=sizes.size, smallest=int(sizes.min()), largest=int(sizes.max()))


def data_traits(data: Dataset) -> DataTraits:
    """Find the traits of some data.

    Examples
    --------
    >>> found = data_traits(Dataset.of(np.array([[0.0, 2.0], [1.0, 0.0], [3.0, 1.0]]), [0, 1, 1]))
    >>> found.counts, found.sparse, found.smallest
    (True, False, 1)
    """
    sizes = np.unique(data.y, return_counts=True)[1] if data.task == "classify" else np.array([data.n_rows])
    nominal, missing, values = _values(data.X)
    non_negative = bool(values.size) and bool(np.nanmin(values, initial=0.0) >= 0.0)
    return DataTraits(
        n_rows=data.X.shape[0],
        n_features=data.X.shape[1],
        n_classes=data.classes.size,
        smallest=int(sizes.min()),
        largest=int(sizes.max()),
        sparse=data.is_sparse,
        nominal=nominal,
        missing=missing,
        non_negative=non_negative,
        counts=non_negative and not nominal and bool((values == np.floor(values)).all()),
        text=isinstance(data.X, WordCounts),
        task=data.task,
        prefilter="" if data.prefilter is None else data.prefilter.recipe,
    )


def _values(X: Any) -> tuple[bool, bool, FloatArray]:
    """Whether there are nominal columns, whether values are missing, and the numbers themselves."""
    if sp.issparse(X):
        return False, bool(np.isnan(X.data).any()), X.data
    if only_numbers(X):
        numbers = np.asarray(X, dtype=np.float64)
        return False, bool(np.isnan(numbers).any()), numbers
    table = assembled(X, columns_of(X, "mine"), "mine")
    missing = bool(np.isnan(table.numbers).any()) or any(column.null_count() for column in table.text)
    return bool(table.nominal.any()), missing, table.numbers
