"""One result as columns of the run file, and back: every number bit for bit, and nothing that could run code.

An array is stored as its checksum (CRC-32), the number of its type and of the type it is written in, the number of its
axes (one byte each), its shape (8 bytes an axis) and its values, all little-endian. Integers are written in the
shortest type that holds them. The used columns are an array of the steps from each to the next, starting at column 0,
or if that is shorter an array of bytes with one bit per column, the first in the lowest bit. The word "probabilities"
in place of scores, and "all" in place of used columns, say what they are. Predicted numbers have 0 classes.
"""

import json
import math
import struct
import zlib
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.types import Codes
from tamis.validation.fold_result import FoldResult
from tamis.validation.metrics import AnyPredictions, FoldPredictions
from tamis.validation.numeric_metrics import NumericPredictions

#: Types of arrays, by their number in the file.
_TYPES = ("|b1", "|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f2", "<f4", "<f8")
_NUMBERS = {np.dtype(name): number for number, name in enumerate(_TYPES)}

#: Most columns of data: a damaged number must not take all memory.
_MOST_COLUMNS = 2**28

#: In place of scores that are the probabilities (of two classes those of the second), and of all columns.
_THE_SAME = "probabilities"
_ALL = "all"

#: Modules that classes of warnings may come from: importing another one would run code that the file names.
_ROOMS = ("builtins", "sklearn.exceptions")


class SplitColumns(NamedTuple):
    """The columns that all recipes on one split share."""

    repeat: int
    fold: int
    n_train: int
    n_features: int
    n_classes: int
    rows: bytes
    truth: bytes


class ResultColumns(NamedTuple):
    """The columns of one recipe on one split; for a recipe that failed all but the error are None."""

    error: str | None = None
    metrics: str | None = None
    n_selected: int | None = None
    fit_seconds: float | None = None
    predict_seconds: float | None = None
    alone_seconds: float | None = None
    warnings: str | None = None
    labels: bytes | None = None
    scores: bytes | str | None = None
    probabilities: bytes | None = None
    selected: bytes | str | None = None


class Shared(NamedTuple):
    """The columns of a split, and its arrays unpacked."""

    split: SplitColumns
    rows: np.ndarray
    truth: np.ndarray
    columns: np.ndarray


def split_columns(result: FoldResult) -> SplitColumns:
    """The columns of the split of a result."""
    predictions = result.predictions
    return SplitColumns(
        int(result.repeat),
        int(result.fold),
        int(result.n_train),
        int(result.n_features),
        0 if isinstance(predictions, NumericPredictions) else int(predictions.n_classes),
        array_to_bytes(result.rows),
        array_to_bytes(predictions.truth),
    )


def result_columns(finding: FoldResult | TamisError) -> ResultColumns:
    """The columns of a recipe: its result without what the split has, or its error."""
    if isinstance(finding, TamisError):
        # A file name in the message need not be valid text, but the run file takes nothing else.
        return ResultColumns(error=str(finding).encode("utf-8", "backslashreplace").decode())
    predictions, selected = finding.predictions, finding.selected
    scores, probabilities = (None, None) if isinstance(predictions, NumericPredictions) else _graded(predictions)
    warned = [(_name_of(category), text) for category, text in finding.warnings]
    return ResultColumns(
        None,
        _metrics_to_text(finding.metrics),
        None if selected is None else selected.size,
        float(finding.fit_seconds),
        float(finding.predict_seconds),
        float(finding.alone_seconds),
        json.dumps(warned) if warned else None,
        array_to_bytes(predictions.labels),
        scores,
        probabilities,
        None if selected is None else _selected_to_bytes(selected, finding.n_features),
    )


def _graded(predictions: FoldPredictions) -> tuple[bytes | str | None, bytes | None]:
    """Scores and probabilities of predicted classes."""
    probabilities = None if predictions.probabilities is None else array_to_bytes(predictions.probabilities)
    scores: bytes | str | None = None if predictions.scores is None else array_to_bytes(predictions.scores)
    if probabilities is not None and scores == array_to_bytes(
        _evidence(predictions.probabilities, predictions.n_classes)
    ):
        scores = _THE_SAME
    return scores, probabilities


def shared_from(split: SplitColumns) -> Shared:
    """Unpack the columns of a split; errors are as for :func:`finding_from`."""
    for number in split[:5]:
        _checked(number, int)
    if not 0 <= split.n_features <= _MOST_COLUMNS:
        raise ValueError(f"data cannot have {split.n_features} columns")
    rows = array_from_bytes(split.rows, "iu")
    if split.n_classes == 0:
        truth = _shaped(array_from_bytes(split.truth, "f"), (rows.size,))
    else:
        truth = _codes(array_from_bytes(split.truth, "iu"), rows.size, split.n_classes)
    return Shared(split, rows, truth, np.arange(split.n_features))


def finding_from(result: ResultColumns, shared: Shared | None) -> FoldResult | TamisError:
    """The result or error in the columns.

    They may come from a damaged or malicious file: any exception means that they cannot be read.
    """
    if result.error is not None:
        return TamisError(_checked(result.error, str))
    if shared is None:
        raise ValueError("the split is not in the file")
    split, rows, _, columns = shared
    return FoldResult(
        repeat=split.repeat,
        fold=split.fold,
        rows=rows,
        n_train=split.n_train,
        predictions=_predictions(result, shared),
        metrics=_metrics_from_text(result.metrics),
        selected=None if result.selected is None else _selected_from_bytes(result.selected, columns, result.n_selected),
        n_features=split.n_features,
        fit_seconds=_checked(result.fit_seconds, float),
        predict_seconds=_checked(result.predict_seconds, float),
        alone_seconds=_checked(result.alone_seconds, float),
        warnings=() if result.warnings is None else _warnings_from_text(result.warnings),
    )


def _predictions(result: ResultColumns, shared: Shared) -> AnyPredictions:
    n, n_classes = shared.rows.size, shared.split.n_classes
    if n_classes == 0:
        return NumericPredictions(shared.truth, _shaped(array_from_bytes(result.labels, "f"), (n,)))
    probabilities = scores = None
    if result.probabilities is not None:
        probabilities = _shaped(array_from_bytes(result.probabilities, "f"), (n, n_classes))
    if result.scores == _THE_SAME:
        scores = _evidence(probabilities, n_classes)
    elif result.scores is not None:
        scores = array_from_bytes(result.scores, "f")
        _shaped(scores, (n,) if scores.ndim == 1 else (n, n_classes))
    labels = _codes(array_from_bytes(result.labels, "iu"), n, n_classes)
    return FoldPredictions(shared.truth, labels, n_classes, scores, probabilities)


def array_to_bytes(array: np.ndarray) -> bytes:
    """An array of numbers as bytes.

    Examples
    --------
    >>> packed = array_to_bytes(np.array([3, 0, 200]))
    >>> len(packed), array_from_bytes(packed, "iu")
    (18, array([  3,   0, 200]))
    """
    kind = array.dtype.newbyteorder("<")
    written = kind
    if kind.kind in "iu" and array.size and array.min() >= 0:
        written = np.min_scalar_type(array.max()).newbyteorder("<")
    head = struct.pack(f"<BBB{array.ndim}Q", _NUMBERS[kind], _NUMBERS[written], array.ndim, *array.shape)
    body = head + array.astype(written).tobytes()
    return struct.pack("<I", zlib.crc32(body)) + body


def array_from_bytes(packed: Any, kinds: str) -> np.ndarray:
    """The array that :func:`array_to_bytes` packed, if its kind (numpy's letter) is one of `kinds`."""
    body = _checked(packed, bytes)[4:]
    if struct.pack("<I", zlib.crc32(body)) != packed[:4]:
        raise ValueError("the checksum of an array is wrong")
    kind, written, axes = struct.unpack_from("<BBB", body)
    shape = struct.unpack_from(f"<{axes}Q", body, 3)
    to = np.dtype(_TYPES[kind])
    if to.kind not in kinds:
        raise ValueError(f"an array of {to} is out of place")
    # A copy: an array read in place would be read-only and perhaps unaligned.
    return np.frombuffer(body, _TYPES[written], offset=3 + 8 * axes).reshape(shape).astype(to)


def _evidence(probabilities: Any, n_classes: int) -> Any:
    """The scores, if they are the probabilities."""
    return probabilities[:, 1] if n_classes == 2 else probabilities


def _codes(codes: np.ndarray, n: int, n_classes: int) -> Codes:
    """The codes, if they are those of `n` rows and `n_classes` classes."""
    if n and not 0 <= codes.min() <= codes.max() < n_classes:
        raise ValueError("a class code is out of range")
    return _shaped(codes, (n,))


def _shaped(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if array.shape != shape:
        raise ValueError(f"an array has the shape {array.shape} instead of {shape}")
    return array


def _checked(value: Any, kind: type) -> Any:
    # SQLite accepts any type in any column.
    if type(value) is not kind:
        raise TypeError(f"got {type(value).__name__} instead of {kind.__name__}")
    return value


def _selected_to_bytes(selected: np.ndarray, n_features: int) -> bytes | str:
    if selected.size and not (selected[0] >= 0 and (selected[1:] > selected[:-1]).all() and selected[-1] < n_features):
        raise ValueError("the columns used must be columns of the data in ascending order, each once")
    if selected.size == n_features:
        return _ALL
    packed = array_to_bytes(np.diff(selected.astype(np.int64), prepend=0))
    if len(packed) * 8 <= n_features:
        return packed
    mask = np.zeros(n_features, dtype=bool)
    mask[selected] = True
    return array_to_bytes(np.packbits(mask, bitorder="little"))


def _selected_from_bytes(packed: Any, columns: Codes, n_selected: Any) -> Codes:
    if packed == _ALL:
        return columns
    found = array_from_bytes(packed, "iu")
    if found.dtype == np.uint8:
        _shaped(found, ((columns.size + 7) // 8,))
        selected = np.flatnonzero(np.unpackbits(found, count=columns.size, bitorder="little").view(bool))
    else:
        # Every step is shorter than the number of columns, so that the sum cannot overflow.
        if found.size and not (found[0] >= 0 and found[1:].min(initial=1) > 0 and found.max() < columns.size):
            raise ValueError("the columns used do not ascend")
        selected = np.cumsum(found, dtype=np.intp)
    if selected.size != n_selected or (selected.size and selected[-1] >= columns.size):
        raise ValueError("the columns used are not those of the data")
    return selected


def _metrics_to_text(metrics: Mapping[str, float]) -> str:
    return "{" + ", ".join(f"{json.dumps(name)}: {_number(float(value))}" for name, value in metrics.items()) + "}"


def _number(value: float) -> str:
    """A number in standard JSON, which has neither NaN nor infinity."""
    if math.isnan(value):
        return "null"
    return repr(value) if math.isfinite(value) else f"{'-' if value < 0 else ''}1e999"


def _metrics_from_text(text: Any) -> dict[str, float]:
    found = _checked(json.loads(_checked(text, str)), dict)
    return {name: math.nan if value is None else _checked(value, float) for name, value in found.items()}


def _name_of(category: type[Warning]) -> str:
    """The name of a class of warnings, or of its nearest base class that :func:`_category` finds."""
    names = ((f"{one.__module__}.{one.__qualname__}", one) for one in category.__mro__)
    return next((name for name, one in names if _category(name) is one), "builtins.UserWarning")


def _warnings_from_text(text: Any) -> tuple[tuple[type[Warning], str], ...]:
    pairs = json.loads(_checked(text, str))
    return tuple((_category(_checked(name, str)), _checked(message, str)) for name, message in pairs)


@lru_cache(maxsize=256)
def _category(name: str) -> type[Warning]:
    """The class of warnings with a name; UserWarning if this version has none."""
    module, _, word = name.rpartition(".")
    found: Any = None
    if module in _ROOMS or module.startswith("tamis."):
        with suppress(Exception):
            found = getattr(import_module(module), word, None)
    return found if isinstance(found, type) and issubclass(found, Warning) else UserWarning
