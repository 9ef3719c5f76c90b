"""The .param file of the NIPS 2003 challenge: what it states of a data set, and whether that is true."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tamis.base.errors import DataError, quoted
from tamis.base.types import Matrix
from tamis.data.parsing.index_value import index, number

#: The forms of a .data file, and what a .param file calls them.
FORMS = {"dense": "non-sparse", "sparse": "sparse-integer", "binary": "sparse-binary"}

_FEATURES = re.compile(r"number of features\s*:\s*(\S+)", re.IGNORECASE)
_TYPE = re.compile(r"data type\s*:\s*(\S+)", re.IGNORECASE)
_COUNTS = re.compile(r"(train|valid|test)\s+(\d{1,18})\s+(\d{1,18})\s+(\d{1,18})(?:\s+(\S+))?", re.I | re.A)


@dataclass(frozen=True)
class Counts:
    """What a .param file states of one part; `check_sum` is the sum of all values."""

    positive: int
    negative: int
    total: int
    check_sum: float | None


@dataclass(frozen=True)
class Param:
    """What a .param file states; what it leaves out is None or absent."""

    path: Path | None = None
    form: str | None = None
    features: int | None = None
    counts: dict[str, Counts] = field(default_factory=dict)


def parse_param(text: str, path: Path) -> Param:
    """Parse a .param file.

    >>> parse_param("Number of features: 7\\nTrain 1 2 3 9.00\\n", Path("a.param")).counts["train"]
    Counts(positive=1, negative=2, total=3, check_sum=9.0)
    """
    form: str | None = None
    features: int | None = None
    counts: dict[str, Counts] = {}
    for count, line in enumerate(text.split("\n"), start=1):
        where = f"{path}, line {count}"
        if match := _FEATURES.search(line):
            features = index(match[1].rstrip("."), where)
        elif match := _TYPE.search(line):
            word = match[1].lower()
            form = "dense" if word.startswith("non") else "binary" if "bin" in word else "sparse"
        elif match := _COUNTS.fullmatch(line.strip()):
            positive, negative, total = (int(match[n]) for n in (2, 3, 4))
            check_sum = number(match[5], f"check-sum {quoted(match[5])}", where) if match[5] else None
            counts[match[1].lower()] = Counts(positive, negative, total, check_sum)
    if features is None and not counts:
        raise DataError(f"{path}: states neither the number of features nor of examples")
    return Param(path, form, features, counts)


def check_param(param: Param, part: str, X: Matrix, y: np.ndarray | None) -> None:
    """Refuse a part that is not what the .param file states."""
    stated = param.counts.get(part)
    if stated is None:
        return
    if X.shape[0] != stated.total:
        raise DataError(f"{param.path}: states {stated.total} rows of {part}, there are {X.shape[0]}")
    if y is not None and ((y == 1).sum(), (y == -1).sum()) != (stated.positive, stated.negative):
        raise DataError(
            f"{param.path}: states {stated.positive} positive and {stated.negative} negative rows of {part}, "
            f"there are {(y == 1).sum()} and {(y == -1).sum()}"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        total, size = float(X.sum(dtype=np.float64)), float(abs(X).sum(dtype=np.float64))
    # Check-sums are printed with two decimals and were added up in another order.
    if stated.check_sum is not None and abs(total - stated.check_sum) > 0.01 + 1e-9 * size:
        raise DataError(
            f"{param.path}: states check-sum {stated.check_sum:.2f} of {part}, the values add up to {total:.2f}"
        )
