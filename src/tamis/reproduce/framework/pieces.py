"""Pieces of work run one after another; finished ones are saved in a file and not run again."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

import numpy as np

from tamis import __version__
from tamis.base.errors import DataError, TamisError
from tamis.data import named
from tamis.data.column_sense import sense
from tamis.data.dataset import Dataset
from tamis.data.fingerprint import fingerprint
from tamis.reproduce.framework.results import Results
from tamis.reproduce.framework.study import Piece, Progress, Task
from tamis.series.load import find as find_series
from tamis.series.series import Series

#: Called with a title: a context around long work, which gives the function to report progress to.
Watch = Callable[[str], AbstractContextManager[Progress]]

#: Real columns, from 1; all others of that data set are probes.
REAL_FEATURES = {
    "madelon": (29, 49, 65, 106, 129, 154, 242, 282, 319, 337, 339, 379, 434, 443, 452, 454, 456, 473, 476, 494)
}

#: Letters of a title beside a progress bar in a narrow terminal.
_ROOM = 48


@dataclass(frozen=True)
class Outcome:
    """The findings of a piece, None when its data set is not available; `new` when it was run just now."""

    piece: Piece
    found: Mapping[str, Any] | None
    new: bool = False


def run_pieces(
    pieces: Sequence[Piece],
    task: Task,
    results: Results | None = None,
    *,
    again: bool = False,
    progress: Watch | None = None,
) -> Iterator[Outcome]:
    """Run pieces in order, all with the same `task` but for data and progress.

    A piece is not run when `results` has it for the same seed, the same data and the same version of tamis.
    """
    total, done = sum(piece.size for piece in pieces), 0
    for name, members in groupby(pieces, key=lambda piece: piece.data):
        data = dataset(name) if name else None
        state = {"fingerprint": "" if data is None else _fingerprint(data), "version": __version__}
        for piece in members:
            if name and data is None:
                yield Outcome(piece, None)
            else:
                own = replace(task, data=data, repeats=task.repeats if piece.repeated else 1)
                wanted = {"data": name, "piece": piece.name, "repeats": own.repeats, "seed": own.seed, **state}
                found = None if again or results is None else results.find(wanted)
                if new := found is None:
                    with watched(progress, str(piece)) as report:
                        own = replace(own, progress=_share(report, done, piece.size, total))
                        found = dict(**wanted, **_timed(piece, own))
                    if results is not None:
                        results.keep(found)
                yield Outcome(piece, found, new)
            done += piece.size


def dataset(name: str) -> Dataset | Series | None:
    """Return the data set or the series of that name, with known probes and words of texts, or None if it is absent."""
    data = named.find(name)
    if data is None:
        return find_series(name)
    if data.texts:
        data = sense(data)
    if name not in REAL_FEATURES:
        return data
    roles = np.full(data.n_features, "probe", dtype="<U11")
    real = np.array(REAL_FEATURES[name]) - 1
    if real.max() >= data.n_features:
        raise DataError(f"{name}: has {data.n_features} columns; column {real.max() + 1} is known to be real")
    roles[real] = "informative"
    return replace(data, roles=roles)


def _fingerprint(data: Dataset | Series) -> str:
    if isinstance(data, Dataset):
        return fingerprint(data)
    # The coefficients tell items apart whatever the number of variables.
    return fingerprint(data.autoregression())


def watched(progress: Watch | None, title: str) -> AbstractContextManager[Progress]:
    """Return the context around long work."""
    if progress is None:
        return nullcontext(lambda done, total: None)
    return progress(title if len(title) <= _ROOM else f"{title[: _ROOM - 3]}...")


def _timed(piece: Piece, task: Task) -> dict[str, Any]:
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            found = piece.run(task)
    except TamisError as error:
        raise TamisError(f"{piece}: {error}") from error
    return dict(
        **found,
        seconds=round(time.perf_counter() - start, 2),
        date=datetime.now(UTC).date().isoformat(),
        warnings=sorted({str(w.message) for w in warned}),
    )


def _share(report: Progress, before: int, size: int, total: int) -> Progress:
    """The progress of one piece as part of all."""
    report(before, total)
    return lambda done, all_: report(before + size * done / all_, total)
