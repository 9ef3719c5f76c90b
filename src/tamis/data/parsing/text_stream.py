"""The text of a file block by block, for files that are too large to hold."""

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator

from tamis.base.errors import DataError
from tamis.data.parsing.encodings import CONTROL, refuse_nul
from tamis.data.parsing.reader import Source, unpacked

_BLOCK_BYTES = 1 << 22


def text_blocks(source: Source, size: int) -> Iterator[str]:
    """The text in blocks of about `size` characters, line ends as ``\\n`` and without a byte-order mark.

    The encoding is found in a pass over the file before the first block, as :func:`~tamis.data.parsing.encodings`
    finds that of a whole file; an error names the line.
    """
    encoding = _encoding(source)
    if source.reading.encoding is None and not encoding.startswith("utf-8"):
        source.notes.append(f"the text is {encoding}, not UTF-8")
    with unpacked(source.path) as file:
        text = io.TextIOWrapper(file, encoding, newline=None)
        first = True
        while block := _read(source, text, size, encoding):
            yield block.removeprefix("\ufeff") if first else block
            first = False


class NotPlainError(Exception):
    """The text must be read as a whole, which also tells what is wrong with it."""


def utf8_blocks(source: Source, size: int) -> Iterator[bytes]:
    """The text in blocks of whole lines and about `size` bytes, as UTF-8 with line ends ``\\n`` and without a mark.

    Other encodings, line ends of old kinds and damaged files are :class:`NotPlainError`.
    """
    with unpacked(source.path) as file:
        try:
            first = True
            while block := file.read(size):
                if not block.endswith(b"\n"):
                    block += file.readline()
                yield _plain(block, first)
                first = False
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise NotPlainError from error


def _plain(block: bytes, first: bool) -> bytes:
    if b"\x00" in block:
        raise NotPlainError
    if not block.isascii():
        try:
            block.decode("utf-8")
        except UnicodeDecodeError as error:
            raise NotPlainError from error
        if first:
            block = block.removeprefix(codecs.BOM_UTF8).removeprefix(codecs.BOM_UTF8)
    return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in block else block


def _encoding(source: Source) -> str:
    """The encoding that is given, else UTF-8, else cp1252."""
    given = source.reading.encoding
    if given is not None:
        return given
    decoder = codecs.getincrementaldecoder("utf-8")()
    lines = 0
    for block in _blocks(source):
        if b"\x00" in block:
            refuse_nul(block, source.path, lines)
        try:
            decoder.decode(block)
        except UnicodeDecodeError as error:
            return _western(source, lines + block[: error.start].count(b"\n"))
        lines += block.count(b"\n")
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return _western(source, lines)
    return "utf-8"


def _western(source: Source, lines: int) -> str:
    """The encoding of text that is not UTF-8, where it can be read."""
    for block in _blocks(source):
        try:
            block.decode("cp1252")
            readable = not CONTROL.search(block)
        except UnicodeDecodeError:
            readable = False
        if not readable:
            raise DataError(
                f"{source.path}, line {lines + 1}: is not UTF-8 text, nor UTF-16 or cp1252; --encoding names another"
            )
    return "cp1252"


def _read(source: Source, text: io.TextIOWrapper, size: int, encoding: str) -> str:
    try:
        block = text.read(size)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise DataError(f"{source.path}: the gzip data is damaged or cut short") from None
    except UnicodeError:
        raise DataError(f"{source.path}: is not {encoding} text; --encoding names another") from None
    if "\x00" in block:
        raise DataError(f"{source.path}: contains a NUL byte, so it is not a text file")
    return block


def _blocks(source: Source) -> Iterator[bytes]:
    with unpacked(source.path) as file:
        try:
            while block := file.read(_BLOCK_BYTES):
                yield block
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise DataError(f"{source.path}: the gzip data is damaged or cut short") from None
