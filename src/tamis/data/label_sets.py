"""Several labels a row: the names of the labels, and which row has which."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError, quoted
from tamis.base.types import Mask
from tamis.base.validation import check_whole

#: Marks that a class column is searched for.
_MARKS = (";", "|", ", ")
#: Share of the rows with two parts or more from which a class column looks like several labels.
_JOINED = 0.1
#: Labels that a note names.
_NAMED = 5
#: Begins the note on a class column.
_NOTE = "looks like several labels a row"


@dataclass(frozen=True, eq=False)
class LabelSets:
    """Rows that have any number of labels each, also none.

    Attributes
    ----------
    names : array of str of shape (n_labels,)
        The labels, sorted when they were read from text.
    indicator : CSR array of bool of shape (n_rows, n_labels)
        Which row has which label.
    mark : str
        Divides the labels of a row where they are written as one text.
    left_out : mapping of str to int
        Labels that are not considered (:meth:`kept`), with their numbers of rows.

    Examples
    --------
    >>> labels = LabelSets.of(["grain;wheat", "wheat", "", "corn;grain"])
    >>> labels.names.tolist(), labels.sizes.tolist(), labels.joined().tolist()
    (['corn', 'grain', 'wheat'], [1, 2, 2], ['grain;wheat', 'wheat', '', 'corn;grain'])
    """

    names: np.ndarray
    indicator: sp.csr_array
    mark: str = ";"
    left_out: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, labels: Any, *, mark: str = ";", names: Sequence[str] | None = None) -> "LabelSets":
        """Read the labels of rows in any form.

        Parameters
        ----------
        labels : LabelSets, array of str, list of lists, or indicator of shape (n_rows, n_labels)
            Text has the labels of a row divided by `mark`; blanks around them do not count. Empty text, None and NaN
            are rows without labels. An indicator, dense or sparse, holds 0 and 1; a data frame brings names.
        mark : str, default=";"
        names : sequence of str, optional
            The labels of an indicator; by default its column numbers.
        """
        if not isinstance(mark, str) or not mark:
            raise DataError(f"the mark between labels must be text such as ';'; got {mark!r}")
        if isinstance(labels, LabelSets):
            return labels
        if getattr(labels, "ndim", 1) == 2 or hasattr(labels, "columns"):
            return _from_indicator(labels, mark, names)
        rows = labels.tolist() if hasattr(labels, "tolist") else list(labels)
        if any(isinstance(row, list | tuple | set | frozenset) for row in rows):
            return _from_lists([() if _is_missing(row) else row for row in rows], mark)
        return _from_text(["" if _is_missing(row) else str(row) for row in rows], mark)

    @property
    def n_rows(self) -> int:
        return int(self.indicator.shape[0])

    @property
    def n_labels(self) -> int:
        return int(self.names.size)

    @cached_property
    def sizes(self) -> np.ndarray:
        """Number of rows of each label."""
        return np.bincount(self.indicator.indices, minlength=self.n_labels)

    @property
    def labels_per_row(self) -> np.ndarray:
        """Number of labels of each row."""
        return np.diff(self.indicator.indptr)

    def has(self, label: int) -> Mask:
        """Mask of the rows with the label of a number."""
        return np.asarray(self.indicator[:, [label]].toarray()[:, 0], dtype=bool)

    def dense(self) -> Mask:
        """The indicator as an array."""
        return np.asarray(self.indicator.toarray(), dtype=bool)

    def rows(self, index: Any) -> "LabelSets":
        """The labels of some of the rows, by mask or by number."""
        return replace(self, indicator=self.indicator[index])

    def joined(self) -> np.ndarray:
        """The labels of each row as one text."""
        names, ends = self.names.tolist(), self.indicator.indptr
        sets = np.split(self.indicator.indices, ends[1:-1]) if self.n_rows else []
        return np.array([self.mark.join(names[label] for label in one) for one in sets], dtype=str)

    def kept(self, *, top: int | None = None, min_rows: int = 1) -> "LabelSets":
        """The labels with enough rows; rows stay, also those without a label.

        Parameters
        ----------
        top : int, optional
            Keep the most frequent of them, this many; of equals the first.
        min_rows : int, default=1
            Keep the labels with this many rows or more, and with as many rows that do not have the label.
        """
        check_whole("min_rows", min_rows, 1)
        enough = (self.sizes >= min_rows) & (self.n_rows - self.sizes >= min_rows)
        if top is not None:
            check_whole("top", top, 1)
            order = np.argsort(-self.sizes, kind="stable")
            enough &= np.isin(np.arange(self.n_labels), order[enough[order]][:top])
        if not enough.any():
            most = int(self.sizes.max(initial=0))
            raise DataError(
                f"no label is left: each needs {min_rows} rows that have it and {min_rows} that do not; "
                f"there are {self.n_rows} rows, and the most frequent of {self.n_labels} labels has {most}"
            )
        gone = np.flatnonzero(~enough)
        more = dict(zip(self.names[gone].tolist(), self.sizes[gone].tolist(), strict=True))
        columns = np.flatnonzero(enough)
        return replace(
            self,
            names=self.names[columns],
            indicator=sp.csr_array(self.indicator[:, columns]),
            left_out={**self.left_out, **more},
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, in words."""
        return (left_out_note(self.left_out),) if self.left_out else ()

    def strata(self) -> np.ndarray:
        """The number of the rarest label of each row, -1 for a row without labels: what folds are stratified by.

        All rows of the rarest label are one stratum, so that the folds have equal shares of it. A frequent label is
        divided in several strata, each of which the folds share equally.
        """
        places = np.full(self.n_rows, -1)
        rows = np.repeat(np.arange(self.n_rows), self.labels_per_row)
        # The most frequent first: the rarest is written last and stays.
        order = np.argsort(-self.sizes[self.indicator.indices], kind="stable")
        places[rows[order]] = self.indicator.indices[order]
        return places


def left_out_note(left_out: Mapping[str, int]) -> str:
    """The labels that are not considered, in words, with their numbers of rows.

    >>> left_out_note({"rye": 2, "oat": 3})
    '2 labels are left out, in brackets their rows: oat (3), rye (2)'
    """
    most = sorted(left_out, key=lambda name: (-left_out[name], name))
    shown = ", ".join(f"{name} ({left_out[name]})" for name in most[:_NAMED])
    more = f" and {len(most) - _NAMED} more" if len(most) > _NAMED else ""
    what = "1 label is" if len(most) == 1 else f"{len(most)} labels are"
    return f"{what} left out, in brackets their rows: {shown}{more}"


def several_labels_note(y: np.ndarray, target: str) -> str | None:
    """A note when the values of a class column look like several labels a row, joined by a mark; None otherwise.

    They do when a tenth of the rows have two parts or more and the different parts are at most half as many as the
    different values.

    Examples
    --------
    >>> several_labels_note(np.array(["a;b", "a", "b;c", "a;c", "a;b;c", "c"]), "topics")
    "the class 'topics' looks like several labels a row (a;b): tamis validate --several ';' reads them so"
    """
    if y.dtype.kind not in "UO" or not y.size:
        return None
    values, counts = np.unique(y.astype(str), return_counts=True)
    for mark in _MARKS:
        parts = [_split(value, mark.strip()) if mark in value else [value] for value in values.tolist()]
        several = np.array([len(one) > 1 for one in parts])
        if counts[several].sum() < _JOINED * y.size:
            continue
        if 2 * len({part for one in parts for part in one}) <= values.size:
            example = values[several][counts[several].argmax()]
            what = f"the class {quoted(target)} {_NOTE} ({example[:40]}): "
            return f"{what}tamis validate --several {mark.strip()!r} reads them so"
    return None


def is_several_labels_note(note: str) -> bool:
    """Whether a note of a data set is that of :func:`several_labels_note`."""
    return _NOTE in note


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _split(text: str, mark: str) -> list[str]:
    return [part for piece in text.split(mark) if (part := piece.strip())]


def _from_text(rows: list[str], mark: str) -> LabelSets:
    values, inverse = np.unique(np.array(rows, dtype=str), return_inverse=True)
    if rows and not any(mark in value for value in values.tolist()):
        first = next((value for value in values.tolist() if any(one in value for one in _MARKS)), rows[0])
        raise DataError(f"the mark {mark!r} is in none of the {len(rows)} classes, of which {quoted(first)} is one")
    found = _from_lists([_split(value, mark) for value in values.tolist()], mark)
    return replace(found, indicator=found.indicator[inverse])


def _from_lists(rows: Sequence[Any], mark: str) -> LabelSets:
    if any(isinstance(row, str) for row in rows):
        raise DataError("labels are lists in some rows and text in others")
    sets = [sorted({str(label) for label in row}) for row in rows]
    names = sorted({label for one in sets for label in one})
    place = {name: number for number, name in enumerate(names)}
    indices = np.array([place[label] for one in sets for label in one], dtype=np.int32)
    ends = np.concatenate(([0], np.cumsum([len(one) for one in sets]))).astype(np.int32)
    shape = (len(sets), len(names))
    return LabelSets(
        np.array(names, dtype=str), sp.csr_array((np.ones(indices.size, bool), indices, ends), shape), mark
    )


def _from_indicator(labels: Any, mark: str, names: Sequence[str] | None) -> LabelSets:
    if names is None and hasattr(labels, "columns"):
        names = [str(name) for name in labels.columns]
    if not sp.issparse(labels):
        labels = labels.to_numpy() if hasattr(labels, "to_numpy") else np.asarray(labels)
    stored = labels.tocsr().data if sp.issparse(labels) else labels
    if stored.dtype.kind not in "biuf" or not np.isin(stored, (0, 1)).all():
        raise DataError("an indicator of labels holds 0 and 1 alone, one column a label")
    found = sp.csr_array(labels, dtype=bool)
    found.sum_duplicates()
    found.eliminate_zeros()
    names = [str(number) for number in range(found.shape[1])] if names is None else list(names)
    if len(names) != found.shape[1] or len(set(names)) < len(names):
        raise DataError(f"{len(set(names))} different names for {found.shape[1]} labels")
    return LabelSets(np.array(names, dtype=str), found, mark)
