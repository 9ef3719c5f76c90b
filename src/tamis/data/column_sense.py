"""Sense for the columns of a table: identifiers, dates, free text, constants and copies are left out of the features.

Only columns with names are left out by rules. A matrix whose columns are numbered (x1, x2, ... or V1, V2, ...) keeps
them all, so that published sets keep their number of columns; what looks like an identifier there is warned of, and
:func:`tamis.data.describe.describe` counts constant and equal columns.
"""

import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from tamis.base.errors import DataError, TamisError, quoted
from tamis.base.task import WantedTask
from tamis.data.column_plan import ColumnPlan
from tamis.data.column_wishes import Wishes
from tamis.data.dataset import Dataset
from tamis.data.dates import DateReading, instants, numbers_rows, read_dates
from tamis.data.identifiers import number_columns, text_column
from tamis.data.idle_columns import constant_columns, copies
from tamis.data.suspected_leaks import WARNING, suspected_leaks
from tamis.data.table_columns import TableColumns, as_frame, names_of
from tamis.data.text_columns import counts_of, with_words

#: Whole numbers between these may be dates such as 20200131.
_COMPACT = (18000101, 22001231)
#: Fewer rows say too little about what is constant, equal or a number that is a date.
_FEWEST_ROWS = 10
#: Rows that are read of every column before any column is read in full.
_HEAD = 16
#: Columns that a warning names.
_NAMED = 8
#: Dates that describe a row even when all of them differ.
_BIRTH = re.compile(r"birth|born|(^|[^a-z])dob([^a-z]|$)", re.IGNORECASE)


def sense(
    data: Dataset,
    *,
    drop: Iterable[str] = (),
    keep: Iterable[str] = (),
    ids: Iterable[str] = (),
    kinds: Mapping[str, str] | None = None,
) -> Dataset:
    """Leave out the columns that are not features, and replace dates by numbers.

    Left out are identifiers, dates that only number the rows, free text, constants and copies of other columns. Any
    other date is replaced by its year, month, weekday, hour and the days since the first, as far as they vary. A column
    that tells the class alone stays, with a warning. No rule leaves out a column of a matrix without names, whose
    columns are only numbered: published sets keep their number of columns. Of a sparse matrix with names the constant
    columns are left out. The classes are used for the warning alone.

    Parameters
    ----------
    data : Dataset
        A column of groups is taken out before (:meth:`~tamis.data.dataset.Dataset.grouped_by`).
    drop, keep, ids : iterable of str
        Names or patterns (``date_*``) of columns to leave out, to keep whatever the rules say, and to leave out as
        identifiers. Each must match a column. A date that is kept is still replaced by numbers, and ``visit: month``
        names one of them.
    kinds : mapping of str to str, optional
        The kinds of columns by name or pattern: "numeric", "nominal", "date", "id" or "text", whose words
        become features.

    Returns
    -------
    Dataset
        Its `plan` is what was done; `left_out` and `column_warnings` say why, in words. It is `data` itself where
        nothing was to be done.

    See Also
    --------
    as_planned : The same for new rows.
    tamis.data.column_words.left_out_lines : The words for people.

    Examples
    --------
    >>> frame = pl.DataFrame({"patient_id": [f"p{i:03}" for i in range(40)], "age": [30.0 + i % 17 for i in range(40)]})
    >>> data = sense(Dataset.of(frame, np.arange(40) % 2))
    >>> data.feature_names.tolist(), dict(data.left_out)
    (['age'], {'patient_id': 'an identifier: 40 values in 40 rows'})
    """
    plan = plan_of(data, drop=drop, keep=keep, ids=ids, kinds=kinds)
    return data if plan == ColumnPlan() else as_planned(data, plan)


class LeftOut(UserWarning):
    """Columns of a data frame that are no features."""


def sensed(
    X: Any, y: Any = None, *, groups: Any = None, text: Iterable[str] = (), task: WantedTask = "auto"
) -> Dataset:
    """Labelled rows as a data set; of a data frame the features alone, with a warning that names the other columns.

    Parameters
    ----------
    X : Dataset, array, sparse matrix or data frame
        A data set was looked at when it was loaded, and an array has no names that tell anything: both stay as they
        are.
    y, groups : arrays of shape (n_rows,), optional
    text : iterable of str
        Columns of a data frame whose words become features.
    task : {"auto", "classify", "regress"}
        Whether the target holds classes or numbers.
    """
    if isinstance(X, Dataset) or not hasattr(X, "columns"):
        if text:
            raise TamisError("text names columns of a data frame; a data set has its texts from loading")
        return Dataset.of(X, y, groups=groups, task=task)
    names = [str(name) for name in X.columns]
    data = Dataset.of(_narrow(as_frame(X, names)), y, groups=groups, task=task)
    found = sense(replace(data, feature_names=np.array(names, dtype=str)), kinds=dict.fromkeys(text, "text"))
    if found.plan == ColumnPlan():
        return Dataset.of(X, y, groups=groups, task=task)
    if found.left_out:
        named = ", ".join(f"{name} ({reason})" for name, reason in list(found.left_out.items())[:_NAMED])
        more = f" and {len(found.left_out) - _NAMED} more" if len(found.left_out) > _NAMED else ""
        warnings.warn(f"left out: {named}{more}{_hint(found.left_out)}", LeftOut, stacklevel=3)
    return found


def _hint(left_out: Mapping[str, str]) -> str:
    """How the words of a free text become features, where one is left out."""
    text = next((name for name, reason in left_out.items() if reason.startswith("free text")), None)
    return "" if text is None else f"; the words of {quoted(text)} become features when it is named as text"


def plan_of(
    data: Dataset,
    *,
    drop: Iterable[str] = (),
    keep: Iterable[str] = (),
    ids: Iterable[str] = (),
    kinds: Mapping[str, str] | None = None,
) -> ColumnPlan:
    """What :func:`sense` would do to the columns; it takes the same parameters."""
    table = TableColumns.of(data)
    named = has_own_names(data)
    dates = _dates(table, named or "date" in (kinds or {}).values())
    kinds = {**{name: "text" for name in data.texts if name in data.feature_names}, **(kinds or {})}
    wishes = Wishes.of(names_of(data), dates, data.target, drop=drop, keep=keep, ids=ids, kinds=kinds)
    if not named:
        dates = {name: reading for name, reading in dates.items() if name in wishes.kinds}
    plan = ColumnPlan(wishes.left_out, {}, _changed_kinds(table, wishes))
    plan = _with_dates(plan, table, dates, wishes)
    settled = wishes.settled | plan.left_out.keys() | set(data.plan.derived)
    found = {name: reason for name, reason in _identifiers(table).items() if name not in settled}
    if named:
        plan = replace(plan, left_out={**plan.left_out, **found})
        found = {}
    table = table.planned(plan).planned(ColumnPlan(dict.fromkeys(plan.texts, "text")))
    if named and data.n_rows >= _FEWEST_ROWS:
        kept = wishes.kept.union(name for name in plan.derived if _source(name, plan) in wishes.kept)
        idle = _idle(data, table, kept | plan.left_out.keys())
        plan, table = replace(plan, left_out={**plan.left_out, **idle}), table.planned(ColumnPlan(idle))
    doubts = {name: f"looks like {reason}; it stays, for the columns have no names" for name, reason in found.items()}
    doubts |= dict.fromkeys(_leaks(data, table, plan), WARNING)
    return replace(plan, left_out=_in_order(plan.left_out, names_of(data)), warnings=doubts)


def as_planned(data: Dataset, plan: ColumnPlan) -> Dataset:
    """The data set with a plan applied to its columns, as for new rows.

    Parameters
    ----------
    data : Dataset
        Labelled rows or not. Columns that the plan does not know stay; those that it knows may be absent.
    plan : ColumnPlan
        Of the data that a model was fitted on: its `plan`.

    Returns
    -------
    Dataset
    """
    if plan.texts and set(plan.texts) <= set(data.plan.texts):
        return data  # its words are counted already
    names = names_of(data)
    done = plan.after(data.plan)
    if set(names) <= plan.left_out.keys() - plan.dates.keys():
        reasons = ", ".join(f"{quoted(name)} is {plan.left_out[name]}" for name in names[:3])
        more = ", ..." if len(names) > 3 else ""
        raise DataError(f"{data.name}: no feature is left ({reasons}{more}){_hint(plan.left_out)}")
    if plan.texts:
        return _with_texts(data, plan, names)
    if not plan.changes(names):
        gone = [name for name in data.feature_names.tolist() if str(name) in plan.left_out]
        return replace(data.without(*gone) if gone else data, plan=done)
    X = plan.apply(as_frame(data.X, names))
    roles = None if data.roles is None else dict(zip(names, data.roles.tolist(), strict=True))
    return replace(
        data,
        X=_narrow(X),
        feature_names=np.array(X.columns, dtype=str),
        unlabelled={part: _narrow(plan.apply(as_frame(rows, names))) for part, rows in data.unlabelled.items()},
        roles=None if roles is None else np.array([roles[_source(name, plan)] for name in X.columns]),
        plan=done,
    )


def _with_texts(data: Dataset, plan: ColumnPlan, names: list[str]) -> Dataset:
    """The data set with a plan applied that has texts, whose words become features."""
    X = plan.apply(as_frame(data.X, names))
    rows = {part: plan.apply(as_frame(rows, names)) for part, rows in data.unlabelled.items()}
    planned = replace(data, X=X, feature_names=np.array(X.columns, dtype=str), unlabelled=rows, roles=None)
    return replace(with_words(planned, _present(plan, X, data.name)), plan=plan.after(data.plan))


def _present(plan: ColumnPlan, frame: pl.DataFrame, where: str) -> list[str]:
    """The columns of text, which must be there."""
    if absent := [name for name in plan.texts if name not in frame.columns]:
        raise DataError(f"{where}: no column is called {quoted(absent[0])}, whose words are features of the model")
    return plan.texts


def planned_rows(X: Any, plan: ColumnPlan, features: Iterable[str]) -> Any:
    """New rows with a plan applied to the columns of a data frame, in the order of the features.

    Anything else has no names, and stays as it is; so does a frame where there is no plan.
    """
    if plan == ColumnPlan() or not hasattr(X, "columns"):
        return X
    frame = plan.apply(as_frame(X, [str(name) for name in X.columns]))
    wanted = list(features)
    if plan.texts:
        return counts_of(frame, _present(plan, frame, "the rows"), "the rows").aligned(wanted)
    if absent := [name for name in wanted if name not in frame.columns]:
        raise DataError(f"the rows have no column {quoted(absent[0])}, which is a feature of the model")
    return _narrow(frame.select(wanted))


def has_own_names(data: Dataset) -> bool:
    """Whether columns may be left out by their values: those of a frame, or with names that are not just numbered.

    >>> has_own_names(Dataset(np.ones((2, 2)), np.array([0, 1]), np.array(["V1", "V2"])))
    False
    """
    names = names_of(data)
    if not data.has_names or len(set(names)) < len(names):
        return False
    if not isinstance(data.X, np.ndarray) and not data.is_sparse:
        return True
    before = names[0].rstrip("0123456789")
    return not all(name.startswith(before) and name[len(before) :].isdecimal() for name in names)


def _dates(table: TableColumns, look_at_numbers: bool) -> dict[str, DateReading]:
    """The columns that can be read as dates and are not one date alone."""
    found = {name: read_dates(column) for name, column in table.words.items()}
    if look_at_numbers and len(table.numbers) >= _FEWEST_ROWS:
        low, high = _COMPACT
        head = table.numbers[:_HEAD]
        for j in np.flatnonzero((((head >= low) & (head <= high)) | np.isnan(head)).all(axis=0)).tolist():
            values = table.numbers[:, j]
            values = values[~np.isnan(values)]
            if values.size >= _FEWEST_ROWS and (values == np.floor(values)).all():
                found[table.names[j]] = read_dates(pl.Series(values))
    return {name: reading for name, reading in found.items() if reading is not None and reading.parts}


def _changed_kinds(table: TableColumns, wishes: Wishes) -> dict[str, str]:
    """The columns whose kind is not yet the one that the user says."""
    wanted = {
        name: kind
        for name, kind in wishes.kinds.items()
        if kind in ("numeric", "nominal", "text") and name not in wishes.left_out
    }
    return {
        name: kind for name, kind in wanted.items() if kind == "text" or (name in table.words) != (kind == "nominal")
    }


def _with_dates(plan: ColumnPlan, table: TableColumns, dates: Mapping[str, DateReading], wishes: Wishes) -> ColumnPlan:
    """The plan with dates left out or replaced."""
    left_out, read = dict(plan.left_out), {}
    for name, reading in dates.items():
        if name in left_out or wishes.kinds.get(name, "date") != "date":
            continue
        wanted = [part for part in reading.parts if f"{name}: {part}" not in left_out]
        parts = wanted
        if name not in wishes.kept and name not in wishes.kinds:
            by_order = reading.order == "time" or _BIRTH.search(name) is not None
            if numbers_rows(instants(table.column(name), reading.order), by_order_only=by_order):
                parts = [part for part in wanted if f"{name}: {part}" in wishes.kept]
        reason = "a date that only numbers the rows" if wanted else "as asked"
        left_out[name] = f"a date, replaced by {_listed(parts)}" if parts else reason
        if parts:
            read[name] = replace(reading, parts=tuple(parts))
    return replace(plan, left_out=left_out, dates=read)


def _identifiers(table: TableColumns) -> dict[str, str]:
    """Identifiers and free text, with the reason."""
    found = {table.names[j]: reason for j, reason in number_columns(table.numbers, table.names).items()}
    words = {name: text_column(column) for name, column in table.words.items() if column.dtype == pl.String}
    return found | {name: reason for name, reason in words.items() if reason is not None}


def _idle(data: Dataset, table: TableColumns, settled: set[str]) -> dict[str, str]:
    """Constant columns, and copies of others, except those that are settled."""
    if data.is_sparse:
        still = zip(names_of(data), constant_columns(data.X).tolist(), strict=True)
        return {name: "constant" for name, constant in still if constant and name not in settled}
    found: dict[str, str] = {}
    words = pl.DataFrame(list(table.words.values()))
    for X, names in ((table.numbers, table.names), (words, list(table.words))):
        constant = constant_columns(X)
        found |= {names[j]: "constant" for j in np.flatnonzero(constant).tolist() if names[j] not in settled}
        stays = np.array([name in settled for name in names], dtype=bool)
        same = {j: of for j, of in copies(X, stays).items() if not constant[j] and not stays[j]}
        found |= {names[j]: f"the same as {names[of]}" for j, of in same.items()}
    return found


def _leaks(data: Dataset, table: TableColumns, plan: ColumnPlan) -> list[str]:
    """The columns that tell the class alone; of a date only the finest part counts."""
    coarse = {f"{name}: {part}" for name, reading in plan.dates.items() for part in reading.parts[:-1]}
    table = table.planned(ColumnPlan(dict.fromkeys(coarse, "")))
    words = {name: column for name, column in table.words.items() if column.dtype == pl.String}
    return suspected_leaks(table.numbers, table.names, words, data.y)


def _in_order(left_out: Mapping[str, str], names: list[str]) -> dict[str, str]:
    place = {name: j for j, name in enumerate(names)}
    return dict(sorted(left_out.items(), key=lambda one: place.get(one[0], len(names))))


def _listed(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def _source(name: str, plan: ColumnPlan) -> str:
    """The column that a feature comes from."""
    source, _, _ = name.rpartition(": ")
    return source if source in plan.dates else name


def _narrow(X: pl.DataFrame) -> Any:
    """An array where all columns are numbers."""
    return X.to_numpy().astype(np.float64) if all(dtype.is_numeric() for dtype in X.dtypes) else X
