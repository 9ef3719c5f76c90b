"""Numbers at the edge: what rank, validate and mine make of them, and the memory that large tables take.

    python -m benchmarks edges

A score or an error is shown where the values are taken, with what was said beside it; else the sentence of the
refusal. The peak of memory is that of a process of its own, less that of the same command on 20 rows and 2 columns.
"""

import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import tamis

ROWS = 60
#: Rows and columns of the large tables.
LARGE = ((1_000_000, 2), (20, 200_000))
COMMANDS = ("rank", "validate", "mine")

Table = tuple[Any, Any]


def rows() -> np.ndarray:
    """Six columns of noise, of which the first differs between the classes."""
    X = np.random.default_rng(0).normal(size=(ROWS, 6))
    X[:, 0] += 2 * (np.arange(ROWS) % 2)
    return X


def classes() -> np.ndarray:
    return np.arange(ROWS) % 2


def scaled(column: int, factor: float, dtype: Any = np.float64) -> Callable[[], Table]:
    """One column times a factor."""

    def made() -> Table:
        X = rows()
        X[:, column] *= factor
        with np.errstate(over="ignore"):
            return X.astype(dtype), classes()

    return made


def one_value(value: float) -> Callable[[], Table]:
    """One value of column 1 replaced."""

    def made() -> Table:
        X = rows()
        X[3, 1] = value
        return X, classes()

    return made


def labelled(labels: Any) -> Callable[[], Table]:
    return lambda: (rows(), np.asarray(labels))


def words_and_numbers() -> Table:
    X = rows().astype(object)
    X[:, 1] = ["red", None, "blue"] * (ROWS // 3)
    return X, classes()


def of_dicts() -> Table:
    X = rows().astype(object)
    X[:, 1] = [{}] * ROWS
    return X, classes()


def twice() -> Table:
    return np.vstack([rows()[:30]] * 2), np.tile(classes()[:30], 2)


CASES: dict[str, Callable[[], Table]] = {
    "one infinite value": one_value(np.inf),
    "one value of 1e308": one_value(1e308),
    "a useless column times 1e200": scaled(1, 1e200),
    "a useless column of denormal numbers": scaled(1, 1e-310),
    "the useful column of denormal numbers": scaled(0, 1e-310),
    "the useful column times 1e-200": scaled(0, 1e-200),
    "the useful column times 1e100": scaled(0, 1e100),
    "float16": scaled(1, 1.0, np.float16),
    "float16 near its largest value": scaled(1, 15_000.0, np.float16),
    "float16 that has overflowed": scaled(1, 1e5, np.float16),
    "whole numbers near 1e18": lambda: ((rows() * 1e18).astype(np.int64), classes()),
    "truth values": lambda: (rows() > 0, classes()),
    "objects: numbers": lambda: (rows().astype(object), classes()),
    "objects: numbers, words and None": words_and_numbers,
    "objects: something else": of_dicts,
    "complex numbers": lambda: (rows() + 1j, classes()),
    "dates": lambda: (np.full((ROWS, 2), np.datetime64("2020-01-01")), classes()),
    "every row twice": twice,
    "one row in each class": labelled([f"c{i}" for i in range(ROWS)]),
    "two classes, one of one row": labelled(["a"] * (ROWS - 1) + ["b"]),
    "three classes, one of one row": labelled(["a", "b"] * 29 + ["a", "c"]),
}


def rank(X: Any, y: Any) -> str:
    found = tamis.rank(X, y)
    scores = found["score"].to_numpy()
    assert np.isfinite(scores).all()
    return f"best column {found['column'][0]}, score {scores[0]:.2f}"


def validate(X: Any, y: Any) -> str:
    found = tamis.validate("cc(1) | logistic", X, y, folds=5)
    return f"BER {found.summary()['ber'].mean:.2f}" + "".join(f"; beware: {one}" for one in found.caveats)


def mine(X: Any, y: Any) -> str:
    found = tamis.mine(X, y, trials=2, only=["cc(1) | logistic"], engine="serial", inner_folds=2, progress=False)
    validation = found.validation_
    return f"BER {validation.summary()['ber'].mean:.2f}" + "".join(f"; beware: {one}" for one in validation.caveats)


def outcome(command: str, case: str) -> str:
    """What a command makes of a case, in words; only errors that a user can mend are refusals."""
    X, y = CASES[case]()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = globals()[command](X, y)
        except ValueError as error:
            return f"refused: {str(error).splitlines()[0]}"
    strange = [one for one in caught if not issubclass(one.category, UserWarning)]
    assert not strange, strange[0].message
    return f"{found}; warns: {caught[0].message}" if caught else found


_PEAK = r"""
import re, sys, numpy as np
from benchmarks import bench_edges
n, p = int(sys.argv[2]), int(sys.argv[3])
X, y = np.random.default_rng(0).standard_normal((n, p)), np.arange(n) % 2
X[:, 0] += y
print(getattr(bench_edges, sys.argv[1])(X, y))
# What getrusage says begins with the peak of the process that started this one.
print(1024 * int(re.search(r"VmHWM:\s*(\d+) kB", open("/proc/self/status").read())[1]))
"""


def peak(command: str, shape: tuple[int, int]) -> tuple[str, int]:
    """What a command makes of a table of noise and one useful column, and the peak of its memory in bytes."""
    words = [sys.executable, "-W", "ignore", "-c", _PEAK, command, *map(str, shape)]
    said, size = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    return said, int(size)


def main() -> None:
    print("| data | rank | validate | mine |\n|---|---|---|---|")
    for case in CASES:
        print(f"| {case} | {' | '.join(outcome(command, case) for command in COMMANDS)} |", flush=True)
    print("\n| command | rows x columns | data | peak above a small table | result |\n|---|---|---|---|---|")
    for command in COMMANDS:
        _, small = peak(command, (20, 2))
        for shape in LARGE:
            said, size = peak(command, shape)
            own = shape[0] * shape[1] * 8
            above = f"{(size - small) / 1e6:.0f} MB ({(size - small) / own:.1f} times)"
            print(f"| {command} | {shape[0]} x {shape[1]} | {own / 1e6:.0f} MB | {above} | {said} |", flush=True)


if __name__ == "__main__":
    main()
