"""Sentences on the columns that were left out, and on those that are suspicious."""

from collections.abc import Mapping

from tamis.data.dataset import Dataset

#: More columns of one kind than this share a line.
_MOST_LINES = 5
#: Columns that such a line names.
_SHOWN = 5
#: What the columns of a line are called, by how their reasons begin.
_KINDS = {
    "constant": "constant columns",
    "the same as": "copies of other columns",
    "an identifier": "identifiers",
    "whole numbers": "identifiers",
    "a date that": "dates that only number the rows",
    "a date, replaced": "dates, replaced by numbers",
    "free text": "columns of free text",
    "text": "columns of text",
    "as asked": "columns, as asked",
}


def left_out_lines(data: Dataset) -> list[str]:
    """A line for each column that was left out, or for each kind of more than five.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.data.column_plan import ColumnPlan
    >>> X, y, names = np.ones((2, 1)), np.array([0, 1]), np.array(["age"])
    >>> left_out_lines(Dataset(X, y, names, plan=ColumnPlan({"id": "an identifier: 2 values in 2 rows"})))
    ['left out: id (an identifier: 2 values in 2 rows)']
    """
    return lines_of(data.left_out)


def lines_of(left_out: Mapping[str, str]) -> list[str]:
    """The lines of :func:`left_out_lines` for columns and their reasons."""
    kinds: dict[str, dict[str, str]] = {}
    for name, reason in left_out.items():
        kind = next((words for start, words in _KINDS.items() if reason.startswith(start)), reason)
        kinds.setdefault(kind, {})[name] = reason
    return [line for kind, found in kinds.items() for line in _lines(kind, found)]


def column_warning_lines(data: Dataset) -> list[str]:
    """A sentence for each suspicious column."""
    return [f"{name} {warning}" for name, warning in data.column_warnings.items()]


def _lines(kind: str, found: Mapping[str, str]) -> list[str]:
    if len(found) <= _MOST_LINES:
        return [f"left out: {name} ({reason})" for name, reason in found.items()]
    more = ", ..." if len(found) > _SHOWN else ""
    return [f"left out: {len(found)} {kind}: {', '.join(list(found)[:_SHOWN])}{more}"]
