"""Reuters-21578: news in SGML, one file or a folder of them, plain or gzipped.

The texts are the columns title and body; a document that is only text (``TYPE="UNPROC"``) has no title, and a brief one
no body. The labels are its topics in their order, joined with a semicolon, and an empty text for none; places, people,
orgs and exchanges can be the target too. The official parts are those of the split ModApte: documents with
``TOPICS="YES"`` and ``LEWISSPLIT="TRAIN"`` or ``"TEST"``; others are left out. Where no document has a ``LEWISSPLIT``,
all are read, without parts. Rows are named by ``NEWID``.

References
----------
Lewis (1997), "Reuters-21578 text categorization test collection, distribution 1.0".
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tamis.base.errors import DataError
from tamis.data.dataset import Dataset, unlabelled
from tamis.data.load import Sought
from tamis.data.parsing.encodings import read_text
from tamis.data.parsing.matrices import own_target
from tamis.data.parsing.reader import Reader, Source

_TEXTS = ("title", "body")
_LABELS = ("topics", "places", "people", "orgs", "exchanges")
#: What stands between the labels of a document.
_BETWEEN = ";"
_PARTS = {"train": "train", "training": "train", "test": "test"}
_FILE = re.compile(r".+\.sgm(\.gz)?", re.IGNORECASE)
_OPEN = re.compile(r"<REUTERS\b([^>]*)>", re.IGNORECASE)
_CLOSE = re.compile(r"</REUTERS>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r'(\w+)\s*=\s*"([^"]*)"')
_TEXT = re.compile(r"<TEXT\b[^>]*>(.*?)</TEXT>", re.IGNORECASE | re.DOTALL)
_INNER = {name: re.compile(rf"<{name}>(.*?)</{name}>", re.IGNORECASE | re.DOTALL) for name in (*_TEXTS, *_LABELS)}
_LABEL = re.compile(r"<D>(.*?)</D>", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class _Document:
    """A document: its attributes in small letters, and what is between its tags."""

    attributes: dict[str, str]
    content: str

    @property
    def texts(self) -> tuple[str | None, str | None]:
        """Title and body, None where there is none."""
        match = _TEXT.search(self.content)
        text = match[1] if match else ""
        title, body = (found[1] if (found := _INNER[name].search(text)) else None for name in _TEXTS)
        if title is None and body is None:
            body = text
        return _plain(title), _plain(body)

    @property
    def part(self) -> str | None:
        """The part of the split; None where it is in none."""
        if self.attributes.get("topics", "").lower() != "yes":
            return None
        return _PARTS.get(self.attributes.get("lewissplit", "").lower())

    def labels(self, kind: str) -> list[str]:
        found = _INNER[kind].search(self.content)
        return [label for one in _LABEL.findall(found[1]) if (label := _plain(one))] if found else []


def _read(source: Source, target: str | None) -> Dataset:
    own_target(target, _LABELS, source.path)
    named = _documents(source)
    documents = list(named.values())
    kind = target if target in _LABELS else _LABELS[0]
    names = np.array(list(named), dtype=str)
    X = pl.DataFrame([one.texts for one in documents], schema=dict.fromkeys(_TEXTS, pl.String), orient="row")
    known: dict[str, Any] = {
        "name": source.path.resolve().name if source.path.is_dir() else source.stem,
        "target": str(kind),
        "feature_names": np.array(_TEXTS),
        "texts": _TEXTS,
    }
    rows, split = _official(source, documents)
    if not rows.size and isinstance(target, Sought):
        return unlabelled(X, row_names=names, **known)
    if not rows.size:
        raise DataError(f'{source.path}: no document has TOPICS="YES" and LEWISSPLIT="TRAIN" or "TEST"')
    y = _joined_labels(source, [documents[row] for row in rows.tolist()], str(kind))
    return Dataset(X[rows], y, row_names=names[rows], split=split, **known)


def _official(source: Source, documents: list[_Document]) -> tuple[np.ndarray, np.ndarray | None]:
    """The rows of the split and their parts; all rows where no document knows of a split."""
    if not any("lewissplit" in one.attributes for one in documents):
        return np.arange(len(documents)), None
    parts = np.array([one.part or "" for one in documents])
    rows = np.flatnonzero(parts != "")
    if 0 < rows.size < len(documents):
        lost = f"{len(documents) - rows.size} of {len(documents)} documents"
        source.notes.append(f"{lost} are in no part of the split ModApte and are left out")
    return rows, parts[rows]


def _joined_labels(source: Source, documents: list[_Document], kind: str) -> np.ndarray:
    """The labels of each document in one text; a note counts those that have several or none."""
    labels = [one.labels(kind) for one in documents]
    several, none = sum(len(one) > 1 for one in labels), sum(not one for one in labels)
    if several:
        source.notes.append(f"{several} of {len(labels)} documents have several labels, joined with {_BETWEEN!r}")
    if none:
        source.notes.append(f"{none} of {len(labels)} documents have no label: theirs is an empty text")
    return np.array([_BETWEEN.join(one) for one in labels], dtype=str)


def _documents(source: Source) -> dict[str, _Document]:
    """The documents of all files, by name."""
    files = _files(source.path) if source.path.is_dir() else [source.path]
    found: dict[str, _Document] = {}
    home: dict[str, Path] = {}
    others = 0
    for file in files:
        one = Source(file)
        text, encoding = read_text(one.content, file, source.reading.encoding)
        others += source.reading.encoding is None and not encoding.startswith("utf-8")
        for number, document in enumerate(_of_file(text, file), start=1):
            name = document.attributes.get("newid") or f"{one.stem}/{number}"
            if name in found:
                raise DataError(f"{file}: document {name} is also in {home[name]}; remove one")
            found[name], home[name] = document, file
    if others:
        source.notes.append(f"{others} of {len(files)} files are not UTF-8, and are read in another encoding")
    return found


def _files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.iterdir() if _FILE.fullmatch(file.name) and not file.name.startswith("."))


def _of_file(text: str, file: Path) -> Iterator[_Document]:
    """The documents of one file; one that is not closed is refused."""
    opened = list(_OPEN.finditer(text))
    if not opened:
        raise DataError(f"{file}: has no <REUTERS> document")
    for match, following in zip(opened, [*opened[1:], None], strict=True):
        close = _CLOSE.search(text, match.end())
        if close is None or (following is not None and following.start() < close.start()):
            line = text.count("\n", 0, match.start()) + 1
            raise DataError(f"{file}, line {line}: a document is not closed by </REUTERS>; is the file cut short?")
        attributes = {name.lower(): value for name, value in _ATTRIBUTE.findall(match[1])}
        yield _Document(attributes, text[match.end() : close.start()])


def _plain(text: str | None) -> str | None:
    """The text with entities replaced, None where nothing is left."""
    return (html.unescape(text).strip() or None) if text else None


def _recognizes(source: Source) -> bool:
    head = source.head.decode("latin-1")
    return head.lstrip("\ufeff \t\r\n").startswith("<") and _OPEN.search(head) is not None


def _holds_files(path: Path) -> bool:
    try:
        return bool(_files(path))
    except OSError:
        return False


reader = Reader("reuters", (".sgm",), _recognizes, _read, frozenset({"encoding"}), folders=_holds_files)
