"""A note in a file of selected columns: that they were selected with the classes of the rows beside them.

Whoever estimates an error on such rows gets one that is too good, and nothing in the columns shows it. So
``tamis select --output`` writes the note, and whatever reads the file says so.

- Parquet has it among the key-value metadata of the file, under the key ``tamis``.
- A .npz archive has it as the array ``tamis_note``.
- CSV has no room for it: a comment line would be taken for a row, or for the header, by spreadsheets, pandas and R. It
  lies beside the file, in ``NAME.csv.tamis-note``, with a digest of the file, and is lost where it is not copied along.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Any

import numpy as np

from tamis.base.errors import quoted
from tamis.base.task import HOLDS, Task

#: The key of the note in the metadata of a Parquet file, and the name of its array in an archive.
KEY, ARRAY = "tamis", "tamis_note"
#: The ending of the file beside a CSV file.
BESIDE = ".tamis-note"
#: Bytes of a longer note are not looked at.
_LONGEST = 1 << 16
_END = "an error estimated on them is too good"


@dataclass(frozen=True)
class SelectionNote:
    """How the columns of a file were selected, with the help of the target of its rows.

    Attributes
    ----------
    recipe : str
        What selected them.
    columns : int
        How many there were.
    task : {"classify", "regress"}
        What the target holds.
    """

    recipe: str
    columns: int
    task: Task = "classify"

    def __str__(self) -> str:
        return (
            f"these columns were selected from {self.columns} by {quoted(self.recipe)} with the {HOLDS[self.task]} of "
            f"these rows: {_END}"
        )

    def to_text(self) -> str:
        """The note as it is stored.

        >>> SelectionNote.from_text(SelectionNote("cc(5)", 100).to_text())
        SelectionNote(recipe='cc(5)', columns=100, task='classify')
        """
        return json.dumps({"selected": vars(self)})

    @classmethod
    def from_text(cls, text: Any) -> "SelectionNote | None":
        """The note of a stored text; None where it is none, such as after an edit."""
        try:
            found = json.loads(text)["selected"]
            made = cls(str(found["recipe"]), int(found["columns"]), found["task"])
        except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
            return None
        return made if made.task in HOLDS else None


def is_selection_note(note: str) -> bool:
    """Whether a sentence on how data was read is that of a file of selected columns.

    >>> is_selection_note(str(SelectionNote("cc(5)", 100))), is_selection_note("the text is cp1252, not UTF-8")
    (True, False)
    """
    return note.startswith("these columns were selected ") and _END in note


def read_selection_note(path: "str | os.PathLike[str]") -> str | None:
    """The sentence on the columns of a file, or of the first file with a note of a folder; None without a note.

    It is only called for a file that could be read: its reader has refused a damaged one.
    """
    path = Path(path)
    if path.is_dir():
        inside = (each for each in sorted(path.iterdir()) if each.suffix.lower() in (".parquet", ".pq"))
        return next((note for each in inside if (note := read_selection_note(each))), None)
    try:
        with path.open("rb") as file:
            magic = file.read(4)
        more = ""
        if magic == b"PAR1":
            found = _in_parquet(path)
        elif magic == b"PK\x03\x04":
            found = _in_archive(path)
        else:
            found, more = _beside(path)
    except OSError:
        return None
    return None if found is None else f"{found}{more}"


def beside(path: Path) -> Path:
    """The file of the note on a CSV file."""
    return path.with_name(path.name + BESIDE)


def write_beside(path: Path, note: SelectionNote | None) -> None:
    """Write the note beside a CSV file, or delete that of an earlier file of this name."""
    if note is None:
        with suppress(OSError):
            beside(path).unlink()
        return
    content: Mapping[str, Any] = {**json.loads(note.to_text()), "digest": _digest(path)}
    beside(path).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _in_parquet(path: Path) -> SelectionNote | None:
    import polars as pl

    try:
        return SelectionNote.from_text(pl.read_parquet_metadata(path).get(KEY))
    except (pl.exceptions.PolarsError, OSError, ValueError):
        return None


def _in_archive(path: Path) -> SelectionNote | None:
    try:
        with np.load(path, allow_pickle=False) as archive:
            if ARRAY not in archive.files or archive.zip.getinfo(f"{ARRAY}.npy").file_size > _LONGEST:
                return None
            return SelectionNote.from_text(str(archive[ARRAY]))
    except Exception:  # whatever a parser raises on damaged bytes; the reader of the rows has its own words for it
        return None


def _beside(path: Path) -> tuple[SelectionNote | None, str]:
    """The note beside a file, and what to add where it is not on these bytes."""
    own = beside(path)
    if not own.is_file() or own.stat().st_size > _LONGEST:
        return None, ""
    text = own.read_text(encoding="utf-8", errors="replace")
    note = SelectionNote.from_text(text)
    if note is None or json.loads(text).get("digest") == _digest(path):
        return note, ""
    return note, f" (the file has changed since; delete {own.name} where it holds other data)"


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "blake2b").hexdigest()[:32]
