"""Weights of variables that have several columns each, or whose pairs are the columns, for recursive elimination."""

from typing import Literal, Protocol

import numpy as np

from tamis.base.types import FloatArray, Mask
from tamis.margins.elimination import Fit
from tamis.margins.solve import Solution

#: What becomes of the weights of a variable's columns.
Aggregate = Literal["max", "mean"]


class RemainingColumns(Protocol):
    """The columns that an elimination has left, and machines on them."""

    def machine_weights(self) -> tuple[FloatArray, list[Solution]]:
        """Weight of each remaining column in each machine, and the solutions."""
        ...

    def keep(self, kept: Mask) -> None:
        """Drop the remaining columns outside the mask `kept`."""
        ...


class VariableWeights:
    """Weights of variables for :func:`tamis.incremental.elimination.eliminate`; `fits` describes each round.

    The weight of a column is the mean of ``|w|`` over the machines, that of a variable the largest or the mean one of
    its columns. Two variables have the same largest weight whenever it is that of their own pair: their mean weights
    decide then, so that the numbering of the variables does not. Only the order of the returned weights matters. A
    column leaves with the first of its variables.

    Parameters
    ----------
    remaining : RemainingColumns
    members : int array of shape (n_columns, 1) or (n_columns, 2)
        The variables of each column.
    aggregate : {"max", "mean"}
    """

    def __init__(self, remaining: RemainingColumns, members: np.ndarray, aggregate: Aggregate) -> None:
        self._remaining, self._members, self._aggregate = remaining, members, aggregate
        self._n_variables = int(members.max()) + 1
        self.fits: list[Fit] = []

    def __call__(self, variables: np.ndarray) -> FloatArray:
        """Weight of each of the variables, which must be among those of the last call."""
        stays: Mask = np.asarray(np.isin(self._members, variables).all(axis=1))
        if not stays.all():
            self._remaining.keep(stays)
            self._members = self._members[stays]
        weights, machines = self._remaining.machine_weights()
        settled = all(one.settled for one in machines)
        self.fits.append(Fit(None, settled, settled and not any(one.bounded for one in machines)))
        columns = np.abs(weights).mean(axis=1)
        mean = self._mean(columns)[variables]
        if self._aggregate == "mean":
            return mean
        largest = np.zeros(self._n_variables)
        for member in self._members.T:
            np.maximum.at(largest, member, columns)
        return _by_first(largest[variables], mean)

    def _mean(self, columns: FloatArray) -> FloatArray:
        found, count = np.zeros(self._n_variables), np.zeros(self._n_variables)
        for member in self._members.T:
            found += np.bincount(member, columns, minlength=self._n_variables)
            count += np.bincount(member, minlength=self._n_variables)
        return found / np.maximum(count, 1.0)


def _by_first(first: FloatArray, second: FloatArray) -> FloatArray:
    """Places in the order of the first values, and where they differ by rounding alone, of the second.

    >>> _by_first(np.array([2.0, 1.0, 2.0]), np.array([1.0, 5.0, 0.5]))
    array([2., 0., 1.])
    """
    rounded = [(values / (values.max() or 1.0)).astype(np.float32) for values in (first, second)]
    return np.unique(np.column_stack(rounded), axis=0, return_inverse=True)[1].reshape(-1).astype(np.float64)
