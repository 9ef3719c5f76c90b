"""The contract of a reader: a file's bytes in, a data set out, every failure one sentence."""

import gzip
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from tamis.base.errors import DataError
from tamis.data.dataset import Dataset
from tamis.data.parsing.encodings import read_text
from tamis.data.reading import Reading

if TYPE_CHECKING:
    from tamis.data.parsing.cells import Cells

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Source:
    """A file to read and how to read it; messages name its path as the user gave it.

    `notes` collects sentences on what was guessed or changed; the loader hands them to the data set.

    >>> Source(Path("x/y.csv.gz")).suffix
    '.csv'
    """

    path: Path
    reading: Reading = field(default_factory=Reading)
    notes: list[str] = field(default_factory=list, compare=False)

    @property
    def _unzipped(self) -> Path:
        return Path(re.sub(r"\.gz$", "", self.path.name, flags=re.IGNORECASE))

    @property
    def suffix(self) -> str:
        """Ending of the name in lower case, without ``.gz``."""
        return self._unzipped.suffix.lower()

    @property
    def stem(self) -> str:
        """The file's name without folders and endings."""
        return self._unzipped.stem

    @cached_property
    def raw(self) -> bytes:
        """All bytes, unpacked when the file is gzipped whatever its name says; perhaps none."""
        raw = read_bytes(self.path)
        if raw.startswith(_GZIP):
            try:
                raw = gzip.decompress(raw)
            except (EOFError, OSError, zlib.error):
                raise DataError(f"{self.path}: the gzip data is damaged or cut short") from None
        else:
            _refuse_unpacked(self.path)
        return raw

    @cached_property
    def content(self) -> bytes:
        """The bytes of a file that must hold some."""
        if not self.raw.strip():
            raise DataError(f"{self.path}: is empty")
        return self.raw

    @cached_property
    def text(self) -> str:
        """The content as text without a byte-order mark, line ends as ``\\n``."""
        text, encoding = read_text(self.content, self.path, self.reading.encoding)
        if not text.strip():
            raise DataError(f"{self.path}: is empty")
        if self.reading.encoding is None and not encoding.startswith("utf-8"):
            self.notes.append(f"the text is {encoding.upper() if 'utf' in encoding else encoding}, not UTF-8")
        return text

    def beginning(self, size: int, *, lines: int = 0) -> "Source":
        """The first lines of the file, at least `size` bytes and `lines` where it has them, as a file of their own."""
        with unpacked(self.path) as file:
            try:
                raw = file.read(size)
                raw += file.readline(size)
                while raw.count(b"\n") < lines and (more := file.readline(size)):
                    raw += more
            except (EOFError, gzip.BadGzipFile, zlib.error):
                raise DataError(f"{self.path}: the gzip data is damaged or cut short") from None
        found = Source(self.path, self.reading)
        found.__dict__["raw"] = raw
        return found

    @property
    def head(self) -> bytes:
        """The first bytes, by which formats are recognized."""
        return self.content[:4096]


@dataclass(frozen=True)
class Reader:
    """A file format. Each file or folder of ``tamis.data.readers`` defines one, and the loader finds it.

    Attributes
    ----------
    name : str
        What the format is called.
    suffixes : tuple of str
        Endings of file names, with the dot, in lower case.
    recognizes : callable
        ``recognizes(source) -> bool``: whether the content may be of this format.
    read : callable
        ``read(source, target) -> Dataset``; `target` is the class column's name or None for the format's default.
        Whatever is wrong with the file is a DataError that names file, line or column.
    takes : frozenset of str
        The attributes of :class:`~tamis.data.reading.Reading` that it heeds beside the encoding.
    cells : callable, optional
        ``cells(source) -> Cells`` of a format that is a table of text, so that it can hold labels for another.
    folders : callable, optional
        ``folders(path) -> bool`` of a format that is a folder of files: whether this folder is one.
    counted : callable, optional
        ``counted(source, target) -> Dataset`` of a format that is read in batches: as `read`, except that the words of
        the columns that the user says are text are counted on the way (``Dataset.counted``). None for a file that must
        be read as a whole.
    """

    name: str
    suffixes: tuple[str, ...]
    recognizes: Callable[[Source], bool]
    read: Callable[[Source, str | None], Dataset]
    takes: frozenset[str] = frozenset()
    cells: "Callable[[Source], Cells] | None" = None
    folders: Callable[[Path], bool] | None = None
    counted: Callable[[Source, str | None], Dataset | None] | None = None

    def looks_right(self, source: Source) -> bool:
        """Whether the content may be of this format; False for a file that cannot be read."""
        try:
            return self.recognizes(source)
        except DataError:
            return False


def read_bytes(path: Path) -> bytes:
    """All bytes of a file, with an error that names it."""
    with open_bytes(path) as file:
        return file.read()


def unpacked(path: Path) -> BinaryIO:
    """A file to read, unpacked when it is gzipped whatever its name says."""
    with open_bytes(path) as file:
        packed = file.read(len(_GZIP)) == _GZIP
    if packed:
        return cast(BinaryIO, gzip.open(path))
    _refuse_unpacked(path)
    return open_bytes(path)


def _refuse_unpacked(path: Path) -> None:
    """Refuse a file that is not packed and whose name says that it is."""
    if path.suffix.lower() == ".gz":
        raise DataError(f"{path}: is named .gz but is not gzip data")


def open_bytes(path: Path) -> BinaryIO:
    """A file to read, with an error that names it."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise DataError(f"{path}: is a folder, not a file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None


def decode(raw: bytes, where: Path) -> str:
    """UTF-8 bytes as text, without a byte-order mark and with line ends ``\\n``; an error names the line."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{where}, line {raw[: error.start].count(10) + 1}: is not UTF-8 text") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")
