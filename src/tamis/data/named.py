"""Named data sets: generated ones, and the files of the folder that the environment variable TAMIS_DATA names.

A file in that folder, or in a folder inside it, has its name without endings: ``uci/iris.arff.gz`` is
``iris``. Files called ``NAME.train.csv`` and ``NAME.test.csv`` (also with ``_`` or ``-``) are the official parts
of one data set NAME, and so are challenge files. A second file of the same name is ``folder/name``. When
TAMIS_DATA is not set the folder is ``tamis_data`` in the home folder, where fetched data sets are stored.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from tamis.base.errors import DataError
from tamis.data.dataset import Dataset
from tamis.data.load import Sought, by_ending, check_heeds, read
from tamis.data.parsing.matrices import PARTS, assemble
from tamis.data.parsing.reader import Source
from tamis.data.readers import challenge
from tamis.data.reading import Reading

_PART = re.compile(rf"(?P<name>.+)[._-](?P<part>{'|'.join(PARTS)})")


@dataclass(frozen=True)
class Entry:
    """The files of a data set, and what they do not state."""

    files: dict[str, str]  # by official part or one under ""; relative to the folder, without the ending .gz
    about: str
    target: str | None = None  # when it is not the reader's default
    drop: tuple[str, ...] = ()  # columns of row names
    texts: tuple[str, ...] = ()  # columns of text, whose words are features


def _known(file: str, about: str, target: str | None = None, drop: tuple[str, ...] = ()) -> Entry:
    return Entry({"": file}, about, target, drop)


def _parts(name: str, about: str, target: str | None = None, texts: tuple[str, ...] = ()) -> Entry:
    """A training and a test file, where `name` has a star."""
    return Entry({part: name.replace("*", part) for part in ("train", "test")}, about, target, texts=texts)


#: Files that need more than their own name; an entry counts when its files exist.
ENTRIES: dict[str, Entry] = {
    "arcene": _known("arcene/arcene.npz", "cancer against normal from mass spectra (NIPS 2003)"),
    "dexter": _known("dexter/dexter.npz", "news on acquisitions, word counts (NIPS 2003)"),
    "dorothea": _known("dorothea/dorothea.npz", "drug binding, sparse binary (NIPS 2003)"),
    "madelon": _known("madelon/madelon.npz", "artificial, 20 real features of 500 (NIPS 2003)"),
    "gisette_surrogate": _known(
        "gisette_surrogate/gisette_surrogate.npz", "digits 4 against 9 with probes, made after GISETTE and not it"
    ),
    "leukemia": _known("leukemia/golub_raw.npz", "ALL against AML, expression (Golub 1999)"),
    "leukemia_mrmr": _known("leukemia/leukemia_mrmr_discretized.npz", "ALL against AML, three states (mRMR)"),
    "colon": _known("colon/colon_raw.npz", "tumor against normal, expression (Alon 1999)"),
    "colon_mrmr": _known("colon/colon_mrmr_discretized.npz", "tumor against normal, three states (mRMR)"),
    "lymphoma": _known("lymphoma/lymphoma62_continuous.npz", "three lymphomas, expression (Alizadeh 2000)"),
    "lymphoma_mrmr": _known("lymphoma/lymphoma_mrmr_discretized.npz", "nine classes, three states (mRMR)"),
    "nci60": _known("nci60/nci60_raw64.npz", "cancer cell lines, expression (Ross 2000)"),
    "nci60_mrmr": _known("nci60/nci_mrmr_discretized.npz", "cancer cell lines, three states (mRMR)"),
    "lung": _known("lung/garber2001.npz", "lung tumors, expression (Garber 2001)"),
    "lung_mrmr": _known("lung/lung_mrmr_discretized.npz", "lung tumors, three states (mRMR)"),
    "child_leukemia": _known("child_leukemia/yeoh2002_subtypes.npz", "six subtypes, expression (Yeoh 2002)"),
    "mnist": _known("mnist/mnist.npz", "handwritten digits, 28 x 28 pixels"),
    "optdigits": _known("optdigits/optdigits.npz", "handwritten digits, 8 x 8 counts, official split (UCI)"),
    "isolet": _known("isolet/isolet_1and5.npz", "spoken letters, parts 1 (train) and 5 (test) (UCI)"),
    "autos": _known("uci/autos.arff", "insurance risk of cars (UCI)", target="symboling"),
    "bupa": _known("uci/bupa.csv", "liver disorders (UCI)", target="selector"),
    "diabetes": _known("uci/diabetes.arff", "diabetes of Pima women (UCI)"),
    "diabetes_lars": _known("diabetes_lars/diabetes.npz", "progress of diabetes in a year, a number (Efron 2004)"),
    "splice": _known("uci/splice.arff", "splice sites in DNA (UCI)", target="Class", drop=("Instance_name",)),
    "wdbc": _known("uci/wdbc.csv", "breast cancer, diagnosis (UCI)", target="class"),
    "wine": _known("uci/wine.arff", "three cultivars of wine (UCI)", target="class"),
    "wpbc": _known("uci/wpbc.csv", "breast cancer, recurrence (UCI)", target="outcome", drop=("ID_number",)),
    "20newsgroups": _parts(
        "newsgroups20/20newsgroups-*.tab", "messages of 20 newsgroups, words, official split", texts=("Text",)
    ),
    "r52": _parts(
        "reuters_r52/reuters-r52-*.tab", "Reuters news with one of 52 topics, official split", texts=("Text",)
    ),
    "reuters21578": _known("reuters21578", "Reuters news with topics, several or none, split of ModApte"),
    "webkb4": Entry(
        {"": "webkb4/webkb4_raw.jsonl"},
        "pages of universities: course, faculty, project or student",
        drop=("name",),
        texts=("html",),
    ),
} | {
    f"monks-{number}": _parts(f"uci/monks-{number}.*.csv", f"Monk's problem {number}, official split (UCI)", "class")
    for number in (1, 2, 3)
}

#: Hidden files, notes, and what is not a table of rows: series.
_LEFT_OUT = (".*", "*/.*", "readme*", "*/readme*", "mts/*", "reuters21578/*")


def names() -> dict[str, str]:
    """The names that can be loaded, each with a one-line description."""
    from tamis.data.synthetic import GENERATORS

    made = {name: (make.__doc__ or "").split("\n")[0].rstrip(".") for name, make in GENERATORS.items()}
    folder = data_folder()
    return {name: entry.about for name, entry in sorted(_entries(folder).items() if folder else ())} | made


def find(name: str, target: str | None = None, reading: Reading | None = None) -> Dataset | None:
    """The data set of that name, or None."""
    from tamis.data.synthetic import GENERATORS

    if name in GENERATORS:
        if target is not None and not isinstance(target, Sought):
            raise DataError(f"{name}: is generated with its classes, so no target {target!r} can be chosen")
        check_heeds(name, "generated data", reading or Reading())
        return GENERATORS[name]()
    folder = data_folder()
    entry = _entries(folder).get(name) if folder else None
    if entry is None or folder is None:
        return None
    parts = {part: read(_file(folder, file), target or entry.target, reading) for part, file in entry.files.items()}
    data = parts[""] if "" in parts else _joined(parts, name)
    return replace(data.without(*entry.drop) if entry.drop else data, name=name, texts=entry.texts or data.texts)


def data_folder() -> Path | None:
    """The folder of named data sets, or None where there is none."""
    given = os.environ.get("TAMIS_DATA")
    if given and not os.path.isdir(given):
        raise DataError(f"TAMIS_DATA names {given}, which is not a folder")
    folder = Path(given or os.path.expanduser("~/tamis_data"))
    return folder if folder.is_dir() else None


def _file(folder: Path, file: str) -> Path:
    """The file, plain or gzipped, or the folder."""
    return folder / file if (folder / file).exists() else folder / f"{file}.gz"


def _entries(folder: Path) -> dict[str, Entry]:
    """The data sets of the folder by name: the known ones first, then the discovered ones."""
    found = {
        name: entry
        for name, entry in ENTRIES.items()
        if all(_file(folder, file).exists() for file in entry.files.values())
    }
    taken = {file for entry in found.values() for file in entry.files.values()}
    for name, files in _discovered(folder):
        if taken.isdisjoint(files.values()):
            first = next(iter(files.values()))
            free = next((n for n in (name, f"{Path(first).parent.name}/{name}") if n not in found), first)
            found[free] = Entry(files, f"read from {' and '.join(files.values())}")
            taken.update(files.values())
    return found


def _discovered(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The name, and the files by part, of every data set that the names of the files suggest."""
    groups: dict[tuple[Path, str], dict[str, str]] = {}
    for path in sorted([*folder.glob("*"), *folder.glob("*/*")]):
        file = path.relative_to(folder).as_posix().removesuffix(".gz")
        if (
            not path.is_file()
            or not by_ending(path.name)
            or any(fnmatch(file.lower(), pattern) for pattern in _LEFT_OUT)
        ):
            continue
        stem = Source(path).stem
        if (trio := challenge.name_of(path)) is not None:
            if stem == f"{trio}_train" and Source(path).suffix == ".data":
                yield trio, {"": file}
        elif match := _PART.fullmatch(stem):
            groups.setdefault((path.parent, match["name"]), {})[match["part"]] = file
        else:
            yield stem, {"": file}
    for (_, name), files in groups.items():
        if "train" in files:
            yield name, {part: files[part] for part in PARTS if part in files}
        else:
            yield from ((Source(Path(file)).stem, {"": file}) for file in files.values())


def _joined(parts: dict[str, Dataset], name: str) -> Dataset:
    """Join the official parts of a data set."""
    first = next(iter(parts.values()))
    for part, data in parts.items():
        if not np.array_equal(data.feature_names, first.feature_names) or _kinds(data) != _kinds(first):
            raise DataError(f"{name}: the columns of {part} are not those of {next(iter(parts))}")
        if (data.y.dtype.kind == "U") != (first.y.dtype.kind == "U"):
            raise DataError(f"{name}: the labels are words in one part and numbers in another")
    known: dict[str, Any] = {"name": name, "target": first.target, "feature_names": first.feature_names}
    known["notes"] = tuple(dict.fromkeys(note for data in parts.values() for note in data.notes))
    if not isinstance(first.X, pl.DataFrame):
        return assemble({part: (data.X, data.y) for part, data in parts.items()}, name, **known)
    rows = pl.concat([data.X for data in parts.values()])
    split = np.repeat(np.array(list(parts)), [data.n_rows for data in parts.values()])
    y = np.concatenate([data.y for data in parts.values()])
    return Dataset(X=rows, y=y, split=split, **known)


def _kinds(data: Dataset) -> Any:
    return data.X.schema if isinstance(data.X, pl.DataFrame) else None
