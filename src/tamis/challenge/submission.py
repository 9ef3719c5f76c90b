"""The files of an entry, one data set at a time: predicted by a model, written to an archive and read back.

For a data set NAME they are ``NAME_train.resu``, ``NAME_valid.resu`` and ``NAME_test.resu`` (one -1 or +1 a line, in
the order of the rows), ``.conf`` files of the same names (one confidence a line, zero or above, larger for a more
certain label) and ``NAME.feat`` (the features used, counted from 1, one a line, the most important first). The
confidences may be left out, and so may the features when all are used.
"""

import lzma
import os
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from tamis.base.errors import DataError, TamisError, quoted
from tamis.base.feature_tracking import trace_columns, used_features
from tamis.base.parallel import one_thread
from tamis.base.predictions import predict_rows
from tamis.base.seeds import seeded, spawn
from tamis.base.selector import Selector
from tamis.challenge.score import Submission, official_parts, true_labels
from tamis.compose.recipe import recipe, to_text
from tamis.data.dataset import Dataset
from tamis.data.parsing.index_value import index, number
from tamis.data.parsing.matrices import PARTS
from tamis.data.parsing.reader import decode
from tamis.data.readers.challenge.rows import parse_labels
from tamis.data.write import whole

#: Archives that unpack to more are refused; the five data sets of the challenge need less than a hundredth.
_MOST_BYTES = 256 * 2**20

_ENDINGS = (".resu", ".conf", ".feat")

#: What zipfile raises on damaged and on encrypted archives.
_DAMAGE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError, OverflowError, OSError)


def make_submission(
    model: Any, dataset: Dataset, *, train: Literal["train", "pooled"] = "train", seed: int = 0
) -> Submission:
    """Fit a model on the official training rows and predict every part of a data set.

    A ``random_state`` of None is set as :func:`tamis.validate` does for the official split, so its test error and the
    score of these predictions agree.

    Parameters
    ----------
    model : estimator or str
        A scikit-learn estimator that ends in a classifier, or a recipe. A copy is fitted.
    dataset : Dataset
        With two classes. Without an official split all rows are "train".
    train : {"train", "pooled"}, default="train"
        The rows to fit on: the training part, or the training and the validation part together.
    seed : int, default=0

    Returns
    -------
    Submission

    See Also
    --------
    write_submission, read_submission : The files of an entry.
    tamis.challenge.score.score_submission : The score of an entry.

    Examples
    --------
    >>> from tamis.data import load
    >>> entry = make_submission("cc(5) | knn(3)", load("xor"))
    >>> {part: labels.size for part, labels in entry.labels.items()}, entry.features.size
    ({'train': 500}, 5)
    """
    model = recipe(model) if isinstance(model, str) else model
    if not hasattr(model, "predict"):
        raise TamisError(f"the model does not predict: end it with a classifier; got {to_text(model)}")
    parts = official_parts(dataset)
    if train not in ("train", "pooled"):
        raise TamisError(f"train must be train or pooled; got {train!r}")
    fit_rows = np.isin(parts, ("train", "valid") if train == "pooled" else ("train",))
    true_labels(dataset, "train")
    if train == "pooled" and dataset.split is not None and "valid" not in parts:
        raise DataError(f"{dataset.name}: has no valid rows whose classes are known, to fit on with the train rows")
    rows = dataset.rows(fit_rows)
    labels: dict[str, np.ndarray] = {}
    confidences: dict[str, np.ndarray] = {}
    # As in validation: sums of the linear algebra libraries may depend on the number of threads.
    with one_thread():
        fitted = seeded(clone(model), spawn(seed, 0, 0)).fit(rows.X, rows.y)
        for part in PARTS:
            X = dataset.rows(parts == part).X if (parts == part).any() else dataset.unlabelled.get(part)
            if X is not None:
                labels[part], certainty = _predicted(fitted, X, dataset.classes)
                if certainty is not None:
                    confidences[part] = certainty
    return Submission(_file_name(dataset), labels, confidences, _features_used(fitted, dataset.n_features))


def write_submission(submission: Submission, path: str | os.PathLike[str], *, add: bool = False) -> list[str]:
    """Write an entry as a zip archive, whole or not at all; equal entries give equal bytes.

    Parameters
    ----------
    submission : Submission
    path : str or path
    add : bool, default=False
        Add the files to an archive that may exist; its files of the same data set are replaced, all others stay.
        Without it an existing archive is an error.

    Returns
    -------
    list of str
        The names of the files written.
    """
    path = Path(path)
    texts = _texts(submission)
    members = {name: text.encode("ascii") for name, text in texts.items()}
    if path.exists():
        if not add:
            raise DataError(f"{path}: is already there; to put this data set into it, add to it")
        own = {f"{submission.name}_{part}{ending}" for part in PARTS for ending in _ENDINGS[:2]}
        own.add(f"{submission.name}.feat")
        members |= {name: raw for name, raw in _zipped(path).items() if PurePosixPath(name).name not in own}
    with whole(path) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(members):
            # The time of writing would make equal entries differ.
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.external_attr = 0o644 << 16
            archive.writestr(info, members[name], zipfile.ZIP_DEFLATED)
    return list(texts)


def read_submission(path: str | os.PathLike[str], dataset: Dataset, *, needed: Iterable[str] = ()) -> Submission:
    """Read the predictions for a data set from an entry, checked against its rows and columns.

    Parameters
    ----------
    path : str or path
        A zip archive, or a folder of the files.
    dataset : Dataset
    needed : iterable of str
        The parts whose labels are required.

    Returns
    -------
    Submission
    """
    path, name = Path(path), _file_name(dataset)
    files = _in_folder(path) if path.is_dir() else _in_archive(path)
    parts = official_parts(dataset)
    sizes = {part: X.shape[0] for part, X in dataset.unlabelled.items()}
    sizes |= {part: int((parts == part).sum()) for part in np.unique(parts).tolist()}
    labels, confidences = {}, {}
    for part in PARTS:
        resu, conf = f"{name}_{part}.resu", f"{name}_{part}.conf"
        if resu in files:
            labels[part] = parse_labels(decode(files[resu], path / resu), path / resu)
            _check_size(labels[part].size, sizes.get(part), path / resu, f"{part} rows")
            if conf in files:
                confidences[part] = _parse_confidences(decode(files[conf], path / conf), path / conf)
                _check_size(confidences[part].size, labels[part].size, path / conf, "labels")
        elif part in needed or conf in files:
            raise DataError(f"{path}: has no file {resu}{_holds(files)}")
    if not labels:
        raise DataError(f"{path}: has no file {name}_train.resu, nor of another part{_holds(files)}")
    feat = f"{name}.feat"
    features = _parse_features(decode(files[feat], path / feat), path / feat, dataset) if feat in files else None
    return Submission(name, labels, confidences, features)


def _texts(submission: Submission) -> dict[str, str]:
    """The files by name, in the order of the parts."""
    name, texts = submission.name, {}
    for part in (part for part in PARTS if part in submission.labels):
        texts[f"{name}_{part}.resu"] = "".join(f"{sign:+d}\n" for sign in np.asarray(submission.labels[part]).tolist())
        if part in submission.confidences:
            given = np.asarray(submission.confidences[part], dtype=np.float64)
            texts[f"{name}_{part}.conf"] = "".join(f"{value!r}\n" for value in given.tolist())
    if submission.features is not None:
        texts[f"{name}.feat"] = "".join(f"{column + 1}\n" for column in np.asarray(submission.features).tolist())
    return texts


def _file_name(dataset: Dataset) -> str:
    """The data set's name as the start of file names, without folders."""
    return dataset.name.replace("/", "-").replace("\\", "-")


def _predicted(model: Any, X: Any, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Labels -1 and +1, and the confidence in each if the model has one."""
    found = predict_rows(model, X)
    signs = np.where(found.labels == classes[1], 1, -1)
    if found.decision is not None:
        evidence = found.decision.astype(np.float64)
    elif found.probabilities is not None:
        evidence = found.probabilities[:, 1].astype(np.float64) - found.probabilities[:, 0]
    else:
        return signs, None
    # A label against the evidence, as from a shifted threshold, has confidence 0.
    return signs, np.clip(evidence * signs, 0.0, np.finfo(np.float64).max)


def _features_used(model: Any, n_features: int) -> np.ndarray:
    """Columns that the model uses, in the order of its last ranking; those without a rank come after."""
    mask = used_features(model, n_features)
    if mask is None:
        return np.arange(n_features)
    place = np.full(n_features, n_features)
    for before, (_, step) in enumerate(model.steps if isinstance(model, Pipeline) else ()):
        reaching = trace_columns(model[:before], n_features)
        if isinstance(step, Selector) and reaching is not None:
            ranked = reaching[step.order_]
            # Backwards, so that a column with several copies has the place of the best.
            place[ranked[::-1]] = np.arange(ranked.size)[::-1]
    used = np.flatnonzero(mask)
    return used[np.argsort(place[used], kind="stable")]


def _in_folder(path: Path) -> dict[str, bytes]:
    try:
        return {file.name: file.read_bytes() for file in sorted(path.iterdir()) if file.suffix in _ENDINGS}
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None


def _in_archive(path: Path) -> dict[str, bytes]:
    """The files of an entry in an archive by name, in any of its folders."""
    files: dict[str, bytes] = {}
    for member, raw in _zipped(path).items():
        name = PurePosixPath(member)
        # Some systems add files of their own with the same endings.
        if name.suffix in _ENDINGS and "__MACOSX" not in name.parts and not name.name.startswith("."):
            if name.name in files:
                raise DataError(f"{path}: holds two files called {quoted(name.name)}")
            files[name.name] = raw
    return files


def _zipped(path: Path) -> dict[str, bytes]:
    """All files of a zip archive, by name; nothing is unpacked to disk."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
            if sum(info.file_size for info in members) > _MOST_BYTES:
                raise DataError(f"{path}: unpacks to more than {_MOST_BYTES >> 20} MiB, which no entry needs")
            for info in members:
                name = PurePosixPath(info.filename.replace("\\", "/"))
                if name.is_absolute() or ".." in name.parts:
                    raise DataError(f"{path}: holds a file named {quoted(info.filename)}, outside the archive")
            found = {info.filename: archive.read(info) for info in members}
            if len(found) < len(members):
                raise DataError(f"{path}: holds two files of one name")
            return found
    except TamisError:
        raise
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except PermissionError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None
    except _DAMAGE:
        raise DataError(f"{path}: is not a zip archive, or is a damaged one") from None


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.rstrip().split("\n")]


def _parse_confidences(text: str, where: Path) -> np.ndarray:
    values = []
    for count, word in enumerate(_lines(text), start=1):
        values.append(number(word, f"confidence {quoted(word)}", f"{where}, line {count}"))
        if values[-1] < 0:
            raise DataError(f"{where}, line {count}: confidence {quoted(word)} is negative")
    return np.array(values)


def _parse_features(text: str, where: Path, dataset: Dataset) -> np.ndarray:
    if not text.strip():
        raise DataError(f"{where}: is empty; leave it out when all features are used")
    seen: dict[int, int] = {}
    for count, word in enumerate(_lines(text), start=1):
        feature = index(word, f"{where}, line {count}")
        if feature > dataset.n_features:
            raise DataError(f"{where}, line {count}: feature {feature} is past the last of {dataset.n_features}")
        if feature in seen:
            raise DataError(f"{where}, line {count}: feature {feature} is on line {seen[feature]} already")
        seen[feature] = count
    return np.array(list(seen), dtype=np.intp) - 1


def _check_size(found: int, wanted: int | None, where: Path, what: str) -> None:
    if wanted is not None and found != wanted:
        raise DataError(f"{where}: has {found} lines for {wanted} {what}")


def _holds(files: Mapping[str, bytes]) -> str:
    names = sorted({name.rsplit("_", 1)[0] for name in files if name.endswith(".resu")})
    return f"; it has predictions for {', '.join(map(quoted, names[:5]))}{', ...' * (len(names) > 5)}" if names else ""
