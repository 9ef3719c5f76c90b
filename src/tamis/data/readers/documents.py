"""Documents in a folder: one folder a class, and in it a file a document, of text or HTML, gzipped or not.

The class is the name of the folder, the one column is called text, and the names of the files are the names of the
rows. Endings of the files do not matter, and hidden files do not count. Folders called train, valid and test (or
NAME-train and so on) that hold the folders of the classes are the official parts. Files without folders are documents
without classes, which can only be predicted.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tamis.base.errors import DataError, quoted
from tamis.data.dataset import Dataset, unlabelled
from tamis.data.load import Sought
from tamis.data.parsing.encodings import read_text
from tamis.data.parsing.matrices import PARTS, own_target
from tamis.data.parsing.reader import Reader, Source

#: The name of the one column.
TEXT = "text"
_PART = re.compile(rf"(?:.+[._-])?(?P<part>{'|'.join(PARTS)})")


def _has_folders(path: Path) -> bool:
    """Whether a folder holds folders that are not empty."""
    try:
        return any(one.is_dir() and any(map(_counts, one.iterdir())) for one in path.iterdir() if _counts(one))
    except OSError:
        return False


def _counts(path: Path) -> bool:
    return not path.name.startswith(".")


def _read(source: Source, target: str | None) -> Dataset:
    own_target(target, ("class",), source.path)
    folder = source.path
    known: dict[str, Any] = {"name": folder.resolve().name, "texts": (TEXT,), "feature_names": np.array([TEXT])}
    if not _has_folders(folder):
        files = _files(folder, target)
        X = pl.DataFrame({TEXT: _texts(source, files)})
        return unlabelled(X, target=str(target), row_names=_names(folder, files), **known)
    parts = _parts(folder)
    classes = [(part, one) for part, inner in parts.items() for one in _classes(source, inner)]
    found = [(part, one.name, file) for part, one in classes for file in _documents(one)]
    if not found:
        raise DataError(f"{folder}: its folders hold no files")
    files = [file for _, _, file in found]
    return Dataset(
        pl.DataFrame({TEXT: _texts(source, files)}),
        np.array([label for _, label, _ in found]),
        split=None if "" in parts else np.array([part for part, _, _ in found]),
        row_names=_names(folder, files),
        **known,
    )


def _entries(folder: Path) -> tuple[list[Path], list[Path]]:
    """Folders and files of a folder, by name."""
    try:
        entries = sorted(filter(_counts, folder.iterdir()))
    except OSError as error:
        raise DataError(f"{folder}: cannot be read ({error.strerror})") from None
    for one in entries:
        if not one.is_dir() and not one.is_file():
            what = "a link to nothing" if one.is_symlink() and not one.exists() else "neither a file nor a folder"
            raise DataError(f"{one}: is {what}; remove it from the folder of documents")
    return [one for one in entries if one.is_dir()], [one for one in entries if not one.is_dir()]


def _files(folder: Path, target: str | None) -> list[Path]:
    """The files of a folder without folders, which are documents to predict."""
    if not _entries(folder)[1] or not isinstance(target, Sought):
        raise DataError(
            f"{folder}: is a folder without challenge files (NAME_train.data), without .sgm files and without folders "
            "of documents, one a class; name a file in it"
        )
    return _documents(folder)


def _parts(folder: Path) -> dict[str, Path]:
    """The folders of the official parts, or the folder itself under an empty name."""
    folders, _ = _entries(folder)
    matches = {one: _PART.fullmatch(one.name.lower()) for one in folders}
    found = {match["part"]: one for one, match in matches.items() if match}
    if len(found) < len(folders) or "train" not in found or not all(map(_has_folders, folders)):
        return {"": folder}
    _refuse_strays(folder)
    return {part: found[part] for part in PARTS if part in found}


def _refuse_strays(folder: Path) -> None:
    """Refuse files beside folders."""
    _, files = _entries(folder)
    if files:
        count = f"{len(files)} files, such as {quoted(files[0].name)}," if len(files) > 1 else quoted(files[0].name)
        raise DataError(
            f"{folder}: holds {count} beside folders, and a folder of documents has one folder a class and nothing else"
        )


def _classes(source: Source, folder: Path) -> list[Path]:
    """The folders of the classes; a note names those that are empty."""
    _refuse_strays(folder)
    folders, _ = _entries(folder)
    empty = [one for one in folders if not any(map(_counts, one.iterdir()))]
    if empty:
        source.notes.append(f"folders without files are no classes: {', '.join(quoted(one.name) for one in empty)}")
    return [one for one in folders if one not in empty]


def _documents(folder: Path) -> list[Path]:
    """The files of a class; one that is there plain and gzipped is refused, as are folders in the folder of a class."""
    folders, files = _entries(folder)
    if folders and files:
        _refuse_strays(folder)
    if folders:
        raise DataError(
            f"{folder}: is the folder of a class and holds the folder {quoted(folders[0].name)}; "
            "name the folder whose folders are the classes"
        )
    twice = [name for name, count in Counter(re.sub(r"\.gz$", "", one.name) for one in files).items() if count > 1]
    if twice:
        raise DataError(f"{folder}: {quoted(twice[0])} is there twice, plain and gzipped; remove one")
    return files


def _texts(source: Source, files: Iterable[Path]) -> pl.Series:
    """The texts of the files, null where there is none; notes say how many are empty or not in UTF-8."""
    texts: list[str | None] = []
    encodings: Counter[str] = Counter()
    for file in files:
        text, encoding = read_text(Source(file).raw, file, source.reading.encoding)
        texts.append(text if text.strip() else None)
        encodings[encoding] += not encoding.startswith("utf-8")
    if source.reading.encoding is None:
        for encoding, count in encodings.items():
            if count:
                source.notes.append(f"{count} of {len(texts)} files are {encoding}, not UTF-8")
    if empty := texts.count(None):
        source.notes.append(f"{empty} of {len(texts)} files are empty: documents without words")
    return pl.Series(TEXT, texts, dtype=pl.String)


def _names(folder: Path, files: Iterable[Path]) -> np.ndarray:
    return np.array([Path(os.path.relpath(file, folder)).as_posix() for file in files], dtype=str)


reader = Reader("documents", (), lambda source: False, _read, frozenset({"encoding"}), folders=_has_folders)
