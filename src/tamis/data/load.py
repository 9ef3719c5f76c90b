"""Loading: from a path or a name to a data set.

Nothing heavy is imported before it is needed, so that ``import tamis.data`` stays cheap.
"""

import os
from collections.abc import Iterable
from dataclasses import replace
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Self

from tamis.base.errors import DataError
from tamis.data.parsing import parquet_trial

if TYPE_CHECKING:
    from tamis.data.dataset import Dataset
    from tamis.data.parsing.reader import Reader, Source
    from tamis.data.reading import Reading

#: Any text passes for delimited text, so this reader is tried last.
_LAST = "csv"
#: The reader of folders that no other reader knows.
_FOLDERS = "documents"
#: Endings of text that no other reader may know; delimited text is the likeliest.
_TEXT = (".txt", ".dat", ".asc", ".prn")
#: What can be ignored where a format or a generator has no use for it.
_HARMLESS = frozenset({"decimal", "encoding", "delimiter"})
#: Bytes by which the format of a large file is recognized.
_HEAD_BYTES = 1 << 20
#: The same in lines, which may be long.
_HEAD_LINES = 4
#: These are heeded behind every reader.
_OF_COLUMNS = frozenset({"drop", "keep", "id", "text", "kinds", "task"})


class Sought(str):
    """An optional class column, as in rows to predict; it replaces the name `target` of :func:`load`.

    Without the column, or when it is empty, all rows are ``unlabelled[""]`` of the data set. Labels that a format
    stores apart from its columns are read whatever their name.

    Parameters
    ----------
    name : str
    words : iterable of str
        Columns to read as text even when all of their values are numbers.
    """

    words: frozenset[str]

    def __new__(cls, name: str, words: Iterable[str] = ()) -> Self:
        made = super().__new__(cls, name)
        made.words = frozenset(words)
        return made


def load(
    data: "str | os.PathLike[str] | Dataset",
    target: str | None = None,
    *,
    reading: "Reading | None" = None,
    group: str | None = None,
) -> "Dataset":
    """Load a data set from a file, a folder or a name.

    Parameters
    ----------
    data : str, path or Dataset
        A file in a format of ``tamis.data.readers`` (gzipped or not), a folder of challenge files or of documents
        with one folder a class, or the name of a data set: a generated one, or one in the folder that the environment
        variable ``TAMIS_DATA`` names. A file or folder takes precedence over a name. A Dataset is returned unchanged.
    target : str, optional
        The column that holds the classes or the numbers to predict; by default that of the format or of the named data
        set. A :class:`Sought` one is optional.
    reading : Reading, optional
        How a table is to be read where the file does not tell: decimal mark, spellings of missing, encoding,
        delimiter, columns as rows, a second file of classes. By default all of it is found in the file. It also says
        which columns are no features, where :func:`tamis.data.column_sense.sense` is to decide otherwise, and whether
        the target holds classes or numbers.
    group : str, optional
        A column of groups, whose rows stay together in validation; it is no feature.

    Returns
    -------
    Dataset
        Its `notes` tell what was guessed or changed. Of a file, columns that are no features (identifiers, dates that
        number the rows, free text, constants, copies) are in `left_out`. Rows to predict (:class:`Sought`) and sets
        with a name keep all columns.

    See Also
    --------
    tamis.data.reading.Reading : The options of reading; commands have them under the same names.
    tamis.data.fetch.fetch : Download a data set from OpenML.
    tamis.data.describe.describe : Sizes, kinds of columns, missing values and classes of a data set.

    Examples
    --------
    >>> from tamis.data import load
    >>> load("xor").classes.size
    2

    A table from Excel in a country of decimal commas, with a spelling of missing of its own:

    >>> from tamis.data import Reading
    >>> path = getfixture("tmp_path") / "lab.csv"
    >>> _ = path.write_text("wbc;class\\n4,5;a\\nlost;b\\n7,25;a\\n")
    >>> lab = load(path, reading=Reading(na=["lost"]))
    >>> lab.X.ravel().tolist(), lab.notes
    ([4.5, nan, 7.25], ('numbers have decimal commas, such as 4,5',))
    """
    if isinstance(data, str | os.PathLike):
        # Before the imports that follow, so that the process started here imports at the same time.
        parquet_trial.expect(data)
    from tamis.data.dataset import Dataset
    from tamis.data.reading import Reading
    from tamis.data.target_task import with_noted_task

    if isinstance(data, Dataset):
        return data if group is None else data.grouped_by(group)
    if not isinstance(data, str | os.PathLike):
        raise DataError(f"load takes a path, a name or a Dataset; got {type(data).__name__}")
    reading = reading or Reading()
    found = _loaded(data, target, reading, group)
    # Whether rows to predict come with classes or numbers is known from the model.
    return found if isinstance(target, Sought) or not found.n_rows else with_noted_task(found, reading.task)


def _loaded(data: "str | os.PathLike[str]", target: str | None, reading: "Reading", group: str | None) -> "Dataset":
    """The data set of a file, a folder or a name, with the target as it was read."""
    from tamis.data import named

    path = Path(data)
    is_folder = os.path.isdir(path)
    if os.path.exists(path) and (not is_folder or _folder_reader(path) is not None):
        return _of_path(path, target, reading, group)
    if isinstance(data, str) and (known := named.find(data, target, reading)) is not None:
        known = known if group is None else known.grouped_by(group)
        has_texts = bool(known.texts) and not isinstance(target, Sought)
        return _with_sense(known, reading) if reading.chooses_columns or has_texts else known
    if is_folder:
        return _of_path(path, target, reading, group)
    if not isinstance(data, str) or len(path.parts) > 1 or by_ending(path.name):
        raise DataError(f"{path}: no such file")
    raise DataError(_unknown(data, list(named.names())))


def _of_path(path: Path, target: str | None, reading: "Reading", group: str | None) -> "Dataset":
    """The data set of a file or a folder; one of challenge files, or of rows to predict, keeps all columns."""
    from tamis.data.selection_note import read_selection_note

    found = _read_counted(path, target, reading) or read(path, target, reading)
    if (note := read_selection_note(path)) is not None:
        found = replace(found, notes=(*found.notes, note))
    found = found if group is None else found.grouped_by(group)
    whole = isinstance(target, Sought) or (os.path.isdir(path) and not found.texts)
    return found if whole else _with_sense(found, reading)


def _read_counted(path: Path, target: str | None, reading: "Reading") -> "Dataset | None":
    """The data set of a file with columns of text, read in batches; None where there are none, or it cannot be so."""
    from tamis.data.parsing.reader import Source

    if "text" not in reading.all_kinds.values() or reading.labels or isinstance(target, Sought) or os.path.isdir(path):
        return None
    source = Source(path, reading)
    head = source.beginning(_HEAD_BYTES)
    try:
        reader = reader_of(head)
    except DataError:
        return None
    if reader.counted is None or (reading.encoding is None and b"\x00" in head.raw and reader.cells is not None):
        return None  # with zeros it may be UTF-16
    check_heeds(str(path), f"{reader.name} files", reading, reader.takes)
    found = reader.counted(source, target)
    return None if found is None else replace(found, notes=tuple(source.notes))


def _with_sense(data: "Dataset", reading: "Reading") -> "Dataset":
    """The data set with its features alone, and notes on what was left out."""
    from tamis.data.column_sense import sense
    from tamis.data.column_words import column_warning_lines, left_out_lines
    from tamis.data.label_sets import several_labels_note

    found = sense(data, drop=reading.drop, keep=reading.keep, ids=reading.id, kinds=reading.all_kinds)
    several = several_labels_note(found.y, found.target)
    more = () if several is None else (several,)
    return replace(found, notes=(*found.notes, *left_out_lines(found), *column_warning_lines(found), *more))


def read(path: Path, target: str | None = None, reading: "Reading | None" = None) -> "Dataset":
    """The data set of a file, or of a folder of challenge files or documents."""
    from tamis.data.parsing.reader import Source
    from tamis.data.reading import Reading

    source = Source(path, reading or Reading())
    reader = _text_reader(source) or reader_of(source)
    check_heeds(str(path), f"{reader.name} files", source.reading, reader.takes)
    if source.reading.labels is None:
        found = reader.read(source, target)
    else:
        from tamis.data.labels_file import read_with_labels

        found = read_with_labels(reader, source, target)
    return replace(found, notes=tuple(source.notes)) if source.notes else found


def _text_reader(source: "Source") -> "Reader | None":
    """The reader of delimited text for a large file that begins as such; None for all others.

    No other reader must see more than the first lines to know a text, and this one need not hold it.
    """
    if os.path.isdir(source.path):
        return None
    try:
        head = source.beginning(_HEAD_BYTES, lines=_HEAD_LINES)
        if len(head.raw) < _HEAD_BYTES or b"\x00" in head.raw:
            return None
        reader = reader_of(head)
    except DataError:
        return None
    return reader if reader.name == _LAST else None


def reader_of(source: "Source") -> "Reader":
    """The reader for a file: by its content, then by its name."""
    path = source.path
    if os.path.isdir(path):
        return _folder_reader(path) or next(reader for reader in readers() if reader.name == _FOLDERS)
    own = by_ending(path.name)
    others = [reader for reader in readers() if reader not in own]
    if own:
        # Content overrules the name of the file, but any text looks like delimited text.
        others = [reader for reader in others if reader.name != _LAST]
    for reader in own + others:
        if reader.looks_right(source):
            return reader
    if own or source.suffix in _TEXT:
        return own[-1] if own else readers()[-1]
    formats = ", ".join(reader.name for reader in readers())
    raise DataError(f"{path}: its {len(source.content)} bytes are in no known format ({formats})")


def _folder_reader(path: Path) -> "Reader | None":
    """The reader for a folder, by what is in it; None where nothing tells."""
    return next((reader for reader in readers() if reader.folders is not None and reader.folders(path)), None)


def check_heeds(where: str, what: str, reading: "Reading", takes: frozenset[str] = frozenset()) -> None:
    """Refuse ways of reading that would change the data and are not known to `what`."""
    lost = [name for name in reading.given() if name not in takes | _HARMLESS | _OF_COLUMNS]
    if lost:
        raise DataError(f"{where}: --{lost[0]} is not for {what}")


@cache
def readers() -> tuple["Reader", ...]:
    """The readers found in the files and folders of ``tamis.data.readers``, in the order in which they are tried."""
    from tamis.data import readers as package
    from tamis.data.parsing.reader import Reader

    modules = [import_module(f"{package.__name__}.{info.name}") for info in iter_modules(package.__path__)]
    found = {value.name: value for module in modules for value in vars(module).values() if isinstance(value, Reader)}
    return tuple(sorted(found.values(), key=lambda reader: (reader.name == _LAST, reader.name)))


def by_ending(name: str) -> list["Reader"]:
    """The readers of files with this ending, gzipped or not."""
    ending = name.lower().removesuffix(".gz")
    return [reader for reader in readers() if ending.endswith(reader.suffixes)]


def _unknown(name: str, known: list[str]) -> str:
    """The message for an unknown name, with the closest known ones."""
    near = get_close_matches(name, known, n=3) or known[:3]
    hint = "" if os.environ.get("TAMIS_DATA") else "; more have names when TAMIS_DATA is set to a folder of data files"
    return f"no file and no data set is called {name!r}; the nearest names are {', '.join(near)}{hint}"
