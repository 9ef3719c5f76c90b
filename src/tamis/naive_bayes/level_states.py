"""Nominal columns as states: the state of each level."""

from collections.abc import Mapping

import numpy as np

from tamis.base.types import Codes, FloatArray, Mask, Matrix
from tamis.bins.level_groups import level_groups

#: The state of each level of nominal columns, by column number; NaN for a level without rows.
LevelStates = dict[int, FloatArray]


def level_states(
    X: Matrix, y: Codes, weight: FloatArray, levels: Mapping[int, np.ndarray], *, grouped: bool
) -> LevelStates:
    """The state of each level of the nominal columns, whose `levels` are given; all weights are above zero.

    With `grouped`, states are groups of levels by MODL (:func:`tamis.bins.level_groups.level_groups`); else each level
    is a state. Nominal columns of `X` hold level codes 0, 1, ...; NaN is missing.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0]]).repeat(20, axis=0)
    >>> y = np.array([0, 1, 0]).repeat(20)
    >>> for grouped in (True, False):
    ...     print(level_states(X, y, np.ones(60), {0: np.array(["a", "b", "c", "d"])}, grouped=grouped))
    {0: array([ 0.,  1.,  0., nan])}
    {0: array([ 0.,  1.,  2., nan])}
    """
    found: LevelStates = {}
    for j, known in levels.items():
        state = np.full(known.size, np.nan)
        codes = X[:, j]
        if grouped:
            group = level_groups(codes, y, sample_weight=weight).group
            state[: group.size] = np.where(group < 0, np.nan, group)
        else:
            there = np.unique(codes[~np.isnan(codes)]).astype(np.intp)
            state[there] = there
        found[j] = state
    return found


def in_states(X: Matrix, columns: Mask, states: LevelStates) -> Matrix:
    """Some columns, with levels of nominal ones replaced by states; an unknown level (-1) is missing."""
    if not states:
        return X if columns.all() else X[:, columns]
    out = X[:, columns]
    for j, state in states.items():
        if columns[j]:
            codes = X[:, j]
            # The last place is for unknown levels.
            place = np.where(codes >= 0, codes, state.size).astype(np.intp)
            out[:, np.count_nonzero(columns[:j])] = np.append(state, np.nan)[place]
    return out
