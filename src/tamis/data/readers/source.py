"""A file's bytes, unpacked if gzipped, with every failure told in one sentence."""

import gzip
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tamis.base.errors import DataError

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Source:
    """One file to be read; its name for messages is the path as the user gave it.

    >>> Source(Path("x/y.csv.gz")).suffix
    '.csv'
    """

    path: Path

    @property
    def suffix(self) -> str:
        """Ending of the name in lower case, with any ``.gz`` taken off."""
        suffixes = [s.lower() for s in self.path.suffixes]
        if suffixes and suffixes[-1] == ".gz":
            suffixes.pop()
        return suffixes[-1] if suffixes else ""

    @property
    def stem(self) -> str:
        """The file's name without folders and endings."""
        name = self.path.name
        for ending in (".gz", self.suffix):
            if ending and name.lower().endswith(ending):
                name = name[: -len(ending)]
        return name

    @cached_property
    def content(self) -> bytes:
        """All bytes, unpacked when the file is gzipped whatever its name says."""
        raw = read_bytes(self.path)
        if raw.startswith(_GZIP):
            try:
                raw = gzip.decompress(raw)
            except (EOFError, OSError, zlib.error):
                raise DataError(f"{self.path}: the gzip data is damaged or cut short") from None
        elif self.path.suffix.lower() == ".gz":
            raise DataError(f"{self.path}: is named .gz but is not gzip data")
        if not raw.strip():
            raise DataError(f"{self.path}: is empty")
        return raw

    @cached_property
    def text(self) -> str:
        """The content as text: UTF-8 (a byte-order mark is dropped), line ends made ``\\n``."""
        raw = self.content
        if b"\x00" in raw:
            line = raw[: raw.index(b"\x00")].count(b"\n") + 1
            raise DataError(f"{self.path}, line {line}: contains a NUL byte, so it is not a text file")
        return decode(raw, self.path)

    @property
    def head(self) -> bytes:
        """The first bytes, for telling formats apart."""
        return self.content[:4096]


def read_bytes(path: Path) -> bytes:
    """All bytes of a file, with an error that names it."""
    try:
        return path.read_bytes()
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
