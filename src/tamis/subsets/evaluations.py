"""The scores that a strategy asks for: each set is evaluated once, and the best is remembered."""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from tamis.base.types import FloatArray, Mask
from tamis.engines.engine import Engine, Lost, open_engine
from tamis.subsets.measure import Measure
from tamis.subsets.session import present_session

#: Scores that differ by less are equal: rounding must not decide.
EQUAL = 1e-12

#: Sets that are evaluated at first before scores are stored and the time is looked at, and the seconds that this
#: should take.
_FIRST, _WHILE = 16, 0.5

#: Tasks for each worker of an engine, so that none waits long for the last.
_TURNS = 4

#: Seconds of an evaluation from which on an engine is worth its cost.
_SLOW = 1e-3


class ScoredSubset(NamedTuple):
    """A set of columns and its score."""

    columns: np.ndarray
    score: float

    def beats(self, other: "ScoredSubset | None") -> bool:
        """Whether it is better: a higher score, or an equal one with fewer columns."""
        if other is None:
            return True
        if abs(self.score - other.score) <= EQUAL:
            return self.columns.size < other.columns.size
        return self.score > other.score


class Stopped(Exception):  # noqa: N818 - the end of a search, no error
    """The evaluations that a search may take are used up."""


class Evaluations:
    """The scores of a measure as a strategy sees them; a context manager that ends the workers it started.

    A set is evaluated when its score is first asked for; afterwards it is remembered. When `limit` sets were evaluated,
    the next new one raises :class:`Stopped`. A session (:mod:`tamis.subsets.session`) can let an engine evaluate, store
    the scores, and limit the time.

    Parameters
    ----------
    measure : Measure
    limit : int, optional
        Most evaluations.

    Attributes
    ----------
    measure : Measure
    best : ScoredSubset or None
        The best set so far; of equal ones the smallest, of these the first.
    used : int
        Sets evaluated.
    trace : list of (int, ScoredSubset)
        Each set that was the best when it was evaluated, with the number of evaluations by then.
    """

    def __init__(self, measure: Measure, limit: int | None = None) -> None:
        self.measure, self._limit = measure, limit
        self._known: dict[bytes, float] = {}
        self.best: ScoredSubset | None = None
        self.used = 0
        self.trace: list[tuple[int, ScoredSubset]] = []
        self._session = present_session()
        self._engine: Engine | None = None
        #: Seconds of an evaluation in this process.
        self._each = 0.0
        self._stored: dict[bytes, float] = {}
        if self._session is not None:
            self._number = self._session.searches
            self._session.searches += 1
            if self._session.journal is not None:
                self._stored = self._session.journal.read(self._number)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.measure.n_features

    def many(self, sets: Mask) -> FloatArray:
        """Scores of sets, the rows of a boolean array of shape (n_sets, n_features)."""
        return self._scores([np.flatnonzero(one) for one in sets], lambda new: ("many", sets[new]))

    def of(self, columns: np.ndarray) -> float:
        """Score of one set."""
        row = np.zeros((1, self.n_features), dtype=bool)
        row[0, columns] = True
        return float(self.many(row)[0])

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Scores of the set `columns` with each of the candidates."""
        sets = [np.append(columns, j) for j in candidates]
        return self._scores(sets, lambda new: ("add", columns, candidates[new]))

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> FloatArray:
        """Scores of the set `columns` without each of the candidates."""
        sets = [columns[columns != j] for j in candidates]
        return self._scores(sets, lambda new: ("remove", columns, candidates[new]))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._engine is not None:
            self._engine.close()

    def _scores(self, sets: Sequence[np.ndarray], task: Callable[[np.ndarray], tuple[Any, ...]]) -> FloatArray:
        """Scores of sets; `task` is the method of the measure, with its arguments, for those at some places."""
        keys = [np.sort(one).astype(np.int32).tobytes() for one in sets]
        new = {key: place for place, key in reversed(list(enumerate(keys))) if key not in self._known}
        places = sorted(new.values())
        allowed = places if self._limit is None else places[: max(0, self._limit - self.used)]
        size = len(allowed) if self._session is None else _FIRST
        while allowed:
            now, allowed = allowed[:size], allowed[size:]
            begin = time.perf_counter()
            self._evaluate(sets, keys, now, task)
            size *= 2 if time.perf_counter() - begin < _WHILE else 1
        if len(places) > sum(key in self._known for key in new):
            raise Stopped
        return np.array([self._known[key] for key in keys])

    def _evaluate(
        self,
        sets: Sequence[np.ndarray],
        keys: Sequence[bytes],
        places: Sequence[int],
        task: Callable[[np.ndarray], tuple[Any, ...]],
    ) -> None:
        """Evaluate the sets at some places, or take their scores from the journal."""
        missing = np.array([place for place in places if keys[place] not in self._stored], dtype=np.intp)
        session = self._session
        found = {}
        if missing.size:
            if session is not None and session.until is not None and time.monotonic() >= session.until:
                raise Stopped
            begin = time.perf_counter()
            found = dict(zip((keys[i] for i in missing), self._computed(missing, task).tolist(), strict=True))
            if session is not None:
                session.seconds += time.perf_counter() - begin
                if session.journal is not None:
                    session.journal.write(self._number, found.items())
        for place in places:
            key = keys[place]
            self._take(sets[place], key, found[key] if key in found else self._stored[key])
        if session is not None and session.progress is not None:
            session.progress(self)

    def _computed(self, places: np.ndarray, task: Callable[[np.ndarray], tuple[Any, ...]]) -> FloatArray:
        if self._session is None or self._session.engine is None:
            return _score(task(places), self.measure)
        if self._each < _SLOW:
            begin = time.perf_counter()
            here = _score(task(places), self.measure)
            self._each = (time.perf_counter() - begin) / places.size
            return here
        if self._engine is None:
            self._engine = open_engine(self._session.engine, self.measure)
        parts = np.array_split(places, min(places.size, _TURNS * self._engine.workers))
        found: list[FloatArray] = [np.empty(0)] * len(parts)
        for number, result in self._engine.run(_score, [task(part) for part in parts]):
            if isinstance(result, Lost):
                raise result
            found[number] = result
        return np.concatenate(found)

    def _take(self, columns: np.ndarray, key: bytes, score: float) -> None:
        self._known[key] = score
        self.used += 1
        found = ScoredSubset(np.sort(columns), score)
        if found.beats(self.best):
            self.best = found
            self.trace.append((self.used, found))


def _score(task: tuple[Any, ...], measure: Measure) -> FloatArray:
    """Scores by one of the methods of a measure."""
    method, *arguments = task
    found: FloatArray = getattr(measure, method)(*arguments)
    return found
