"""The rows of a table without their target, for what needs none."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tamis.base.errors import DataError
from tamis.data.column_sense import sense
from tamis.data.dataset import Dataset
from tamis.data.load import Sought, load

if TYPE_CHECKING:
    from tamis.data.reading import Reading

#: A name of a target that is optional, for tables that have none under a usual name.
_NONE = "class"


class RowsAlone(NamedTuple):
    """A data set, and the name of its target, which is no feature; None where it has none, and `y` means nothing."""

    data: Dataset
    target: str | None


def load_rows(data: str, target: str | None = None, reading: "Reading | None" = None) -> RowsAlone:
    """Load the rows of a file, a folder or a name, which need not have a target.

    Parameters
    ----------
    data : str
        As for :func:`tamis.data.load.load`.
    target : str, optional
        A column to leave out; by default the usual one of the format or the data set, if there is one.
    reading : Reading, optional

    Examples
    --------
    >>> path = getfixture("tmp_path") / "people.csv"
    >>> _ = path.write_text("age,height\\n31,170\\n45,182\\n")
    >>> rows = load_rows(str(path))
    >>> rows.data.feature_names.tolist(), rows.data.X.shape, rows.target
    (['age', 'height'], (2, 2), None)
    """
    try:
        found = load(data, target, reading=reading)
    except DataError:
        if target is not None:
            raise
        # Whatever else is wrong is refused again.
        found = load(data, Sought(_NONE), reading=reading)
    if found.n_rows:
        return RowsAlone(found, found.target)
    if "" not in found.unlabelled:
        raise DataError(f"{found.name}: has no rows")
    rows = found.unlabelled[""]
    whole = Dataset(
        rows,
        np.zeros(rows.shape[0], dtype=np.int64),
        found.feature_names,
        name=found.name,
        notes=found.notes,
        row_names=found.row_names,
    )
    if reading is None:
        return RowsAlone(sense(whole), None)
    wishes = {"drop": reading.drop, "keep": reading.keep, "ids": reading.id}
    return RowsAlone(sense(whole, kinds=reading.all_kinds, **wishes), None)
