"""The encoding of a text file, found in its bytes."""

import codecs
import re
from pathlib import Path

from tamis.base.errors import DataError

_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
#: Bytes that no text of an 8-bit encoding has.
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_HEAD = 4096


def read_text(raw: bytes, where: Path, encoding: str | None = None) -> tuple[str, str]:
    """The text with line ends ``\\n`` and without a byte-order mark, and the encoding that it was in.

    Without an `encoding` it is UTF-8, UTF-16, or, when it is neither, cp1252. An error names the line.

    >>> read_text(b"caf\\xe9", Path("t.csv"))
    ('café', 'cp1252')
    """
    name = encoding or next((name for mark, name in _MARKS.items() if raw.startswith(mark)), None) or _by_zeros(raw)
    if encoding is None and (name is None or not name.startswith("utf-16")):
        refuse_nul(raw, where)
    try:
        text = raw.decode(name or "utf-8")
    except UnicodeError as error:
        if name is not None:
            place = f", line {raw[: error.start].count(10) + 1}" if isinstance(error, UnicodeDecodeError) else ""
            raise DataError(f"{where}{place}: is not {name} text; --encoding names another") from None
        text, name = _western(raw, where, error), "cp1252"
    if "\x00" in text:
        refuse_nul(text.encode("utf-8", "replace"), where)
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"), name or "utf-8"


def _by_zeros(raw: bytes) -> str | None:
    """UTF-16 without a mark: every second byte of Western text is zero."""
    head = raw[:_HEAD]
    if len(raw) % 2 or len(head) < 4:
        return None
    zeros = [head[start::2].count(0) for start in (0, 1)]
    for empty, name in ((0, "utf-16-be"), (1, "utf-16-le")):
        if zeros[empty] > 0.8 * len(head) / 2 and zeros[1 - empty] == 0:
            return name
    return None


def _western(raw: bytes, where: Path, error: UnicodeError) -> str:
    try:
        if CONTROL.search(raw):
            raise error
        return raw.decode("cp1252")
    except UnicodeError:
        line = raw[: getattr(error, "start", 0)].count(10) + 1
        raise DataError(
            f"{where}, line {line}: is not UTF-8 text, nor UTF-16 or cp1252; --encoding names another"
        ) from None


def refuse_nul(raw: bytes, where: Path, above: int = 0) -> None:
    """Refuse text with a NUL byte; `above` is the number of lines before the first."""
    if b"\x00" in raw:
        line = raw[: raw.index(b"\x00")].count(b"\n") + above + 1
        raise DataError(f"{where}, line {line}: contains a NUL byte, so it is not a text file")
