"""Multivariate time series: items of several variables over time, each with a class or a number."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from tamis.base.errors import DataError
from tamis.base.task import WantedTask
from tamis.base.types import FloatArray
from tamis.base.validation import check_whole
from tamis.data.dataset import Dataset, unlabelled
from tamis.data.target_task import with_noted_task
from tamis.series.autoregression import autoregression_rows
from tamis.series.correlation import Table, correlation_rows

#: The axes of an item.
Layout: TypeAlias = Literal["time-variables", "variables-time"]

#: Larger values cannot be squared and summed.
_LARGEST = 1e150

#: Names of the pairs stand on both sides of this mark.
PAIR = "~"


@dataclass(frozen=True, eq=False)
class Series:
    """Items that each hold the values of the same variables over time, of equal or different lengths.

    Attributes
    ----------
    items : tuple of arrays of shape (n_times, n_variables)
        NaN is missing.
    y : array of shape (n_items,) or None
        Classes or numbers; None for items to predict.
    variables : array of str of shape (n_variables,)
    name : str
    target : str
        What `y` is called.
    split : array of str of shape (n_items,), optional
        The official part of each item: "train", "valid" or "test".
    groups : array of shape (n_items,), optional
        Items of one group stay together in validation.
    notes : tuple of str
    task : {"auto", "classify", "regress"}
        Whether `y` holds classes or numbers; by default the values decide.

    Examples
    --------
    >>> walk = [[0.0, 1.0], [1.0, 3.0], [2.0, 4.0]]
    >>> rest = [[0.0, 5.0], [1.0, 4.0], [2.0, 2.0], [3.0, 1.0]]
    >>> series = Series.of([walk, rest], ["walk", "rest"], variables=["foot", "hand"])
    >>> series
    Series(data: 2 items of 3 to 4 time points, 2 variables, 2 classes)
    >>> table = series.correlations()
    >>> table.feature_names.tolist(), table.X.round(3).tolist()
    (['foot~hand'], [[0.982], [-0.99]])
    """

    items: tuple[FloatArray, ...]
    y: np.ndarray | None
    variables: np.ndarray
    name: str = "data"
    target: str = "class"
    split: np.ndarray | None = None
    groups: np.ndarray | None = None
    notes: tuple[str, ...] = ()
    task: WantedTask = "auto"

    @classmethod
    def of(
        cls,
        items: Any,
        y: Any = None,
        *,
        variables: Sequence[str] | None = None,
        layout: Layout = "time-variables",
        split: Any = None,
        groups: Any = None,
        name: str = "data",
        target: str = "class",
        task: WantedTask = "auto",
    ) -> "Series":
        """Check items and put them in order.

        Parameters
        ----------
        items : array of three dimensions, or a list of arrays of two
            Items come first; `layout` says what the other two dimensions are.
        y : array of shape (n_items,), optional
            Classes or numbers.
        variables : sequence of str, optional
            Their names; by default v1, v2, ...
        layout : {"time-variables", "variables-time"}, default="time-variables"
            Whether an item has a row for each time point or a row for each variable.
        split, groups, name, target, task
            The attributes of the same names.
        """
        if layout not in ("time-variables", "variables-time"):
            raise DataError(f'layout must be "time-variables" or "variables-time"; got {layout!r}')
        found = tuple(_item(item, number, layout, name) for number, item in enumerate(items, 1))
        if not found:
            raise DataError(f"{name}: there are no items")
        widths = [item.shape[1] for item in found]
        if (odd := next((i for i, width in enumerate(widths) if width != widths[0]), None)) is not None:
            raise DataError(
                f"{name}: item 1 has {widths[0]} variables and item {odd + 1} has {widths[odd]}; an item has "
                f"{'a row for each variable' if layout == 'variables-time' else 'a row for each time point'} with "
                f"layout={layout!r}"
            )
        names = [f"v{number}" for number in range(1, widths[0] + 1)] if variables is None else [*map(str, variables)]
        if len(names) != widths[0] or len(set(names)) < len(names):
            raise DataError(f"{name}: variables must be {widths[0]} different names; got {len(names)}: {names[:5]}")
        of_items = {
            what: None if given is None else np.asarray(given)
            for what, given in (("y", y), ("split", split), ("groups", groups))
        }
        for what, array in of_items.items():
            if array is not None and array.shape != (len(found),):
                raise DataError(f"{name}: {what} must have {len(found)} values, one for each item; got {array.shape}")
        return cls(found, variables=np.array(names), name=name, target=target, task=task, **of_items)  # type: ignore[arg-type]

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_variables(self) -> int:
        return self.variables.size

    @cached_property
    def lengths(self) -> np.ndarray:
        """Number of time points of each item."""
        return np.array([len(item) for item in self.items])

    def correlations(self) -> Dataset:
        """A table with a row for each item and a column for each pair of variables, called ``a~b``.

        A row depends on its own item alone, so that nothing is learned: the table can be divided into folds
        afterwards. A correlation is taken over the time points at which both variables are known, and is 0 where it is
        undefined: a variable is constant there, or fewer than two points are known. The selector ``corona`` selects
        variables by these columns.

        Returns
        -------
        Dataset
            Its `notes` count undefined correlations and equal items.
        """
        if self.n_variables < 2:
            raise DataError(f"{self.name}: has one variable, and correlations need two; take autoregression instead")
        first, second = np.triu_indices(self.n_variables, 1)
        names = [f"{self.variables[a]}{PAIR}{self.variables[b]}" for a, b in zip(first, second, strict=True)]
        why = "of variables that are constant, or of items with fewer than 2 known time points"
        return self._dataset(correlation_rows(self.items), names, f"correlations are undefined, {why}")

    def autoregression(self, order: int = 3) -> Dataset:
        """A table with a row for each item and `order` columns for each variable, called ``a.1``, ``a.2``, ...

        They are the coefficients of a variable on its own last values, by forward-backward least squares. Values of
        constant variables, and of items with no more than `order` time points, are 0. The selector
        ``corona(columns=3, aggregate=mean)`` selects variables by three columns each.
        """
        check_whole("order", order, 1)
        names = [f"{variable}.{lag}" for variable in self.variables for lag in range(1, order + 1)]
        why = f"of variables that are constant, or of items with fewer than {order + 1} time points"
        return self._dataset(autoregression_rows(self.items, order), names, f"coefficients are undefined, {why}")

    def rows(self, index: Any) -> "Series":
        """Some of the items, by mask or by number."""
        chosen = np.arange(self.n_items)[index]
        of_items: Any = {
            what: None if (array := getattr(self, what)) is None else array[chosen] for what in ("y", "split", "groups")
        }
        return replace(self, items=tuple(self.items[i] for i in chosen), **of_items)

    def only(self, variables: Sequence[str]) -> "Series":
        """The items with some of their variables, in the given order."""
        places = {name: place for place, name in enumerate(self.variables.tolist())}
        unknown = [name for name in variables if name not in places]
        if unknown or not len(variables):
            raise DataError(f"{self.name}: variables must be among {[*places][:10]}; got {[*map(str, variables)]}")
        chosen = [places[name] for name in variables]
        return replace(self, items=tuple(item[:, chosen] for item in self.items), variables=self.variables[chosen])

    def __repr__(self) -> str:
        low, high = self.lengths.min(), self.lengths.max()
        times = f"{low}" if low == high else f"{low} to {high}"
        holds = "" if self.y is None else f", {np.unique(self.y).size} classes"
        if self.task == "regress":
            holds = ", numbers"
        return f"Series({self.name}: {self.n_items} items of {times} time points, {self.n_variables} variables{holds})"

    def _n_copies(self, rows: FloatArray) -> int:
        """Number of items that equal an earlier one; only items with the same row can."""
        alike: dict[bytes, list[FloatArray]] = {}
        for row, item in zip(rows, self.items, strict=True):
            alike.setdefault(row.tobytes(), []).append(item)
        groups = [items for items in alike.values() if len(items) > 1]
        return sum(len(items) - len({(item.shape, item.tobytes()) for item in items}) for items in groups)

    def _dataset(self, table: Table, names: Sequence[str], undefined: str) -> Dataset:
        notes = [*self.notes]
        if table.undefined.all() and (table.undefined == table.rows.shape[1]).all():
            raise DataError(f"{self.name}: all {undefined}")
        if number := int(table.undefined.sum()):
            notes.append(f"{number} of {table.rows.size} {undefined}: they are 0")
        same = self._n_copies(table.rows)
        if same:
            notes.append(f"{same} items equal another one: such items in training and test rows make errors too small")
        known: Any = {"name": self.name, "target": self.target, "notes": tuple(notes)}
        if self.y is None:
            return unlabelled(table.rows, feature_names=np.array(names), **known)
        found = Dataset(table.rows, self.y, np.array(names), split=self.split, groups=self.groups, **known)
        return with_noted_task(found, self.task)


def _item(item: Any, number: int, layout: Layout, name: str) -> FloatArray:
    """An item as rows of time points, checked."""
    try:
        values = np.asarray(item)
        values = values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name}: item {number} cannot be read as numbers in rows of equal length") from None
    if values.ndim != 2:
        raise DataError(f"{name}: item {number} must have rows and columns; got shape {values.shape}")
    values = np.ascontiguousarray(values.T) if layout == "variables-time" else values
    if 0 in values.shape:
        raise DataError(f"{name}: item {number} has {values.shape[0]} time points and {values.shape[1]} variables")
    if not (np.isnan(values) | (np.abs(values.astype(np.float64, copy=False)) < _LARGEST)).all():
        raise DataError(f"{name}: item {number} contains infinity or values too large to square")
    return values
