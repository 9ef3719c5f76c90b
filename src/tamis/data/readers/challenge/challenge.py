"""Challenge files: ``NAME_train.data`` with its ``.labels``, the valid and test parts, and ``NAME.param``."""

import re
from pathlib import Path

import numpy as np

from tamis.base.errors import DataError
from tamis.base.types import Matrix
from tamis.data.dataset import Dataset
from tamis.data.parsing.matrices import PARTS, assemble, own_target
from tamis.data.parsing.reader import Reader, Source
from tamis.data.readers.challenge.param import FORMS, Param, check_param, parse_param
from tamis.data.readers.challenge.rows import guess_form, parse_labels, parse_rows, widen

_FILE = re.compile(r"(?P<name>.+?)(?:_(?:train|valid|test)\.(?:data|labels)|\.param)(?:\.gz)?")


def name_of(path: Path) -> str | None:
    """The NAME of the data set that a challenge file, or a folder of them, belongs to; None for any other path.

    >>> name_of(Path("dexter/dexter_valid.labels")), name_of(Path("iris.data"))
    ('dexter', None)
    """
    if path.is_dir():
        names = sorted({match["name"] for file in path.glob("*_train.data*") if (match := _FILE.fullmatch(file.name))})
        if len(names) > 1:
            raise DataError(f"{path}: holds several data sets ({', '.join(names)}); name a file of one of them")
        return names[0] if names else None
    match = _FILE.fullmatch(path.name)
    return match["name"] if match else None


def _recognizes(source: Source) -> bool:
    return not source.path.is_dir() and name_of(source.path) is not None


def _read(source: Source, target: str | None) -> Dataset:
    own_target(target, ("class",), source.path)
    name = name_of(source.path)
    folder = source.path if source.path.is_dir() else source.path.parent
    if name is None and folder == source.path:
        raise DataError(f"{folder}: is a folder without a file NAME_train.data")
    if name is None:
        raise DataError(f"{source.path}: is not called NAME_train.data, NAME_train.labels or NAME.param")
    stated = _find(folder / f"{name}.param")
    param = Param() if stated is None else parse_param(stated.text, stated.path)
    labels: dict[str, np.ndarray | None] = {}
    sources: dict[str, Source] = {}
    for part in PARTS:
        rows, marks = _find(folder / f"{name}_{part}.data"), _find(folder / f"{name}_{part}.labels")
        if part == "train" and (rows is None or marks is None):
            raise DataError(f"{folder / f'{name}_train'}{'.data' if rows is None else '.labels'}: no such file")
        if rows is not None:
            sources[part] = rows
            labels[part] = None if marks is None else parse_labels(marks.text, marks.path)
        elif marks is not None:
            raise DataError(f"{marks.path}: there are labels but no rows, {name}_{part}.data is missing")
    matrices = _matrices(sources, labels, param)
    for part, X in matrices.items():
        y = labels[part]
        if y is not None and y.size != X.shape[0]:
            raise DataError(f"{folder / f'{name}_{part}.labels'}: {y.size} labels for {X.shape[0]} rows")
        check_param(param, part, X, y)
    return assemble({part: (X, labels[part]) for part, X in matrices.items()}, source.path, name=name)


def _find(path: Path) -> Source | None:
    """The file, plain or gzipped, if it exists."""
    candidates = (path, path.with_name(path.name + ".gz"))
    return next((Source(candidate) for candidate in candidates if candidate.is_file()), None)


def _matrices(sources: dict[str, Source], labels: dict[str, np.ndarray | None], param: Param) -> dict[str, Matrix]:
    """The rows of every part, all in the form of the training part."""
    train = sources["train"]
    form = guess_form(train.text)
    if form != "sparse" and param.form in ("dense", "binary"):
        form = param.form  # whole numbers may be values or indices; the .param file states which
    elif param.form is not None and (param.form == "dense") != (form == "dense"):
        raise DataError(f"{train.path}: looks {form}, but {param.path} states data type {FORMS[param.form]}")
    columns = param.features
    matrices: dict[str, Matrix] = {}
    for part, data in sources.items():
        y, stated = labels[part], param.counts.get(part)
        rows = y.size if y is not None else stated.total if stated is not None else None
        matrices[part] = parse_rows(data.text, data.path, form, columns, rows)
        if form == "dense":
            columns = matrices[part].shape[1]
    return widen(matrices)


# A bare ".data" may be anything: UCI's files end so and are delimited text.
_SUFFIXES = (*(f"_{part}.{kind}" for part in PARTS for kind in ("data", "labels")), ".param")

reader = Reader("challenge", _SUFFIXES, _recognizes, _read, folders=lambda path: name_of(path) is not None)
