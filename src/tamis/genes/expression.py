"""An expression matrix: genes as rows, samples as columns, and of each sample its time and its condition."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from tamis.base.errors import TamisError, quoted
from tamis.base.types import FloatArray
from tamis.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class Expression:
    """Intensities of genes in samples.

    Samples of the same time and condition are replicates.

    Attributes
    ----------
    values : array of shape (n_genes, n_samples)
        Intensities, NaN where missing. They may be zero or negative, as some scanners report them.
    genes : array of str of shape (n_genes,)
        Distinct names.
    samples : array of str of shape (n_samples,)
        Distinct names.
    times : array of shape (n_samples,)
    conditions : array of str of shape (n_samples,)
        Such as "infected" and "mock".
    name : str
        What the data is called in tables.
    unit : str
        The unit of the times, such as "h"; may be empty.
    notes : tuple of str
        Sentences on what was guessed or left out while the data was read.

    Examples
    --------
    >>> from tamis.genes import Expression
    >>> both = Expression.of([[1.0, 3.0, 2.0, 2.0]], times=[0, 0, 4, 4], conditions=["ill", "ill", "ill", "well"])
    >>> both.profiles("ill").tolist(), both.profiles("well").tolist()
    ([[2.0, 2.0]], [[nan, 2.0]])
    """

    values: FloatArray
    genes: np.ndarray
    samples: np.ndarray
    times: FloatArray
    conditions: np.ndarray
    name: str = "genes"
    unit: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or 0 in self.values.shape:
            raise TamisError(f"{self.name}: values must have genes and samples; got shape {self.values.shape}")
        for what, array, size in (
            ("gene", self.genes, self.values.shape[0]),
            ("sample", self.samples, self.values.shape[1]),
            ("time", self.times, self.values.shape[1]),
            ("condition", self.conditions, self.values.shape[1]),
        ):
            if array.shape != (size,):
                raise TamisError(f"{self.name}: there must be one {what} for each of {size}; got shape {array.shape}")
        for what, names in (("gene", self.genes), ("sample", self.samples)):
            found, counts = np.unique(names, return_counts=True)
            if (counts > 1).any():
                raise TamisError(f"{self.name}: {what} {quoted(str(found[counts > 1][0]))} occurs twice")
        if not np.isfinite(self.times).all():
            raise TamisError(
                f"{self.name}: sample {quoted(str(self.samples[~np.isfinite(self.times)][0]))} has no time"
            )
        if np.isinf(self.values).any():
            gene, sample = np.argwhere(np.isinf(self.values))[0]
            where = f"gene {quoted(str(self.genes[gene]))}, sample {quoted(str(self.samples[sample]))}"
            raise TamisError(f"{self.name}: {where}: the value is infinite")

    @classmethod
    def of(
        cls,
        values: Any,
        *,
        times: Any,
        conditions: Any,
        genes: Any = None,
        samples: Any = None,
        name: str = "genes",
        unit: str = "",
    ) -> "Expression":
        """An expression matrix from arrays or lists; genes and samples without names are numbered."""
        values = np.asarray(values, dtype=np.float64)
        rows, columns = values.shape if values.ndim == 2 else (0, 0)
        return cls(
            values,
            np.array([f"gene {i + 1}" for i in range(rows)] if genes is None else genes, dtype=str),
            np.array([f"sample {j + 1}" for j in range(columns)] if samples is None else samples, dtype=str),
            np.asarray(times, dtype=np.float64),
            np.array(conditions, dtype=str),
            name,
            unit,
        )

    @classmethod
    def of_dataset(cls, data: Dataset, time: str = "time") -> "Expression":
        """The genes of a data set with samples as rows, conditions as classes and a column of times."""
        at = np.flatnonzero(data.feature_names == time)
        if at.size != 1:
            raise TamisError(f"{data.name}: no column is called {quoted(time)}; --time names that of the times")
        if not isinstance(data.X, np.ndarray):
            words = data.feature_names[data.nominal]
            what = f"column {quoted(str(words[0]))} holds words" if words.size else "is sparse"
            raise TamisError(f"{data.name}: {what}, and expression is numbers in a table")
        genes = np.arange(data.n_features) != at[0]
        names = [f"sample {row + 1}" for row in range(data.n_rows)] if data.row_names is None else data.row_names
        return cls(
            np.ascontiguousarray(data.X[:, genes].T, dtype=np.float64),
            data.feature_names[genes].astype(str),
            np.array(names, dtype=str),
            data.X[:, at[0]].astype(np.float64),
            data.y.astype(str),
            data.name,
            notes=data.notes,
        )

    @property
    def time_points(self) -> FloatArray:
        """The distinct times, in order."""
        return np.unique(self.times)

    def profiles(self, condition: str) -> FloatArray:
        """Each gene over the time points in one condition: the mean of the replicates that have a value."""
        points = self.time_points
        found = np.full((self.values.shape[0], points.size), np.nan)
        for place, point in enumerate(points):
            chosen = self.values[:, (self.times == point) & (self.conditions == condition)]
            known = ~np.isnan(chosen)
            count = known.sum(axis=1)
            total = np.where(known, chosen, 0.0).sum(axis=1)
            found[:, place] = np.divide(total, count, out=np.full(count.size, np.nan), where=count > 0)
        return found

    def frame(self) -> pl.DataFrame:
        """The matrix as biologists keep it: a row for each gene, a column for each sample."""
        columns = {str(name): self.values[:, j] for j, name in enumerate(self.samples)}
        return pl.DataFrame({"gene": self.genes.astype(str), **columns}, nan_to_null=True)

    def sheet(self) -> pl.DataFrame:
        """The sample sheet: a row for each sample."""
        columns = {"sample": self.samples, "time": self.times, "condition": self.conditions}
        return pl.DataFrame(columns)
