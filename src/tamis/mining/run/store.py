"""A run on disk: the result of every recipe on every split, stored in one SQLite file as soon as it is known.

A run can be stopped at any moment, by ``kill -9`` too: what :meth:`Store.put` has stored stays, and a later session
resumes from it. Any SQLite program can read the file. These are its tables:

============ ==========================================================================================================
identity     `setting`, `value` (JSON): what decides the results, from the data's fingerprint to the seed
versions     `package`, `version`: the software that computed the results
notes        `name`, `value` (JSON): small facts about the run
splits       `search`, `split`: number of the search and name of the split in it; `repeat`, `fold` (from 0), `n_train`
             (training rows), `n_features` (columns of the data), `n_classes`; `rows` and `truth`, arrays: the test rows
             and their classes
results      `search`, `split`, `recipe`; `error`: why there is no result, in which case all that follows is empty;
             `metrics` (JSON: name and value, null for NaN); `n_selected`: number of columns used; `fit_seconds`,
             `predict_seconds`, with work that recipes share divided among them; `alone_seconds`: their sum with shared
             work in full; `warnings` (JSON: pairs of class and text); `labels`, `scores`, `probabilities`: arrays of
             the predictions for the test rows; `selected`: the columns used, or empty if unknown
============ ==========================================================================================================

Arrays are binary (:mod:`tamis.mining.run.packing`). For example, the mean error of the recipes, those evaluated most
often first::

    SELECT recipe, count(*), avg(json_extract(metrics, '$.ber')) FROM results GROUP BY recipe ORDER BY 2 DESC, 3

While a run is written there are files beside it with the endings ``-wal``, ``-shm`` and ``-lock``; the first is part of
the run and must be copied with it. After an orderly end the run is one file again.
"""

import json
import sqlite3
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

from tamis.base.errors import TamisError
from tamis.compose.versions import made_with
from tamis.kernels.lock import Lock
from tamis.mining.run.file import REMEDY, RunFile, printable
from tamis.mining.run.packing import (
    ResultColumns,
    SplitColumns,
    finding_from,
    result_columns,
    shared_from,
    split_columns,
)
from tamis.validation.fold_result import FoldResult

#: The outcome of one recipe on one split.
Finding: TypeAlias = FoldResult | TamisError

_RESULT = ", ".join(ResultColumns._fields)
_SPLIT = ", ".join(f'"{name}"' for name in SplitColumns._fields)
_PUT_RESULT = f"INSERT OR IGNORE INTO results VALUES (?, ?, ?{', ?' * len(ResultColumns._fields)})"
_PUT_SPLIT = f"INSERT OR IGNORE INTO splits VALUES (?, ?{', ?' * len(SplitColumns._fields)})"


class OtherVersions(UserWarning):
    """A run has results computed by other versions."""


class Store:
    """A run on disk, opened with :meth:`open` or :meth:`read`; use it from one thread.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> path, identity = Path(folder.name) / "xor.tamis", {"data": "xor", "fingerprint": "5f1c", "seed": 0}
    >>> with Store.open(path, identity) as store:
    ...     store.put(0, "fold 1", {"knn(99)": TamisError("99 neighbours of 40 rows")})
    ...     store.note("elapsed", 1.5)
    >>> with Store.read(path) as store:
    ...     store.count(), store.noted("elapsed"), store.find(0, "fold 1", ["knn(99)", "knn(5)"])
    (1, 1.5, {'knn(99)': TamisError('99 neighbours of 40 rows')})
    >>> Store.open(path, identity | {"seed": 1})  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    ...
    TamisError: xor.tamis: this run was made with seed 0, not 1; name another run file or delete it
    >>> folder.cleanup()
    """

    def __init__(self, file: RunFile, connection: sqlite3.Connection, lock: Lock | None) -> None:
        self._file, self._connection, self._lock = file, connection, lock
        self._writes = lock is not None
        self._signed = False

    @classmethod
    def open(cls, path: Path, identity: Mapping[str, Any] | None = None) -> Self:
        """Open a run to continue it, or create one.

        The identity is what decides the results, as values for JSON: ``fingerprint`` and ``data``, the fingerprint and
        the name of the data, and every setting such as the seed. A run with another identity is refused. Without an
        identity the run must exist, and may have any.
        """
        file = RunFile(path)
        wanted = {setting: json.dumps(value, sort_keys=True) for setting, value in (identity or {}).items()}
        lock = file.lock()
        try:
            if identity is not None and not file.is_there:
                file.create(wanted)
            with closing(file.read()) as connection, file.explained():
                if identity is not None:
                    _compare(path, dict(connection.execute("SELECT setting, value FROM identity")), wanted)
                    _warn_of_others(path, connection.execute("SELECT package, version FROM versions").fetchall())
            return cls(file, file.write(), lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def read(cls, path: Path) -> Self:
        """Open a run for reading, even while it is being written."""
        file = RunFile(path)
        return cls(file, file.read(), None)

    @property
    def path(self) -> Path:
        """The run file."""
        return self._file.path

    @property
    def versions(self) -> dict[str, list[str]]:
        """The versions of each package that computed results of the run."""
        found: dict[str, list[str]] = {}
        with self._file.explained():
            for package, version in self._connection.execute("SELECT package, version FROM versions ORDER BY rowid"):
                found.setdefault(package, []).append(version)
        return found

    def find(self, search: int, split: str, recipes: Sequence[str]) -> dict[str, Finding]:
        """The outcomes of recipes on a split of a search, in their order; recipes without one are left out."""
        query = f"SELECT {_RESULT} FROM results WHERE search = ? AND split = ? AND recipe = ?"
        # One transaction: a writer stores a split and its first results at the same time.
        with self._transaction("DEFERRED"):
            columns = self._split(search, split)
            rows = [(recipe, self._connection.execute(query, (search, split, recipe)).fetchone()) for recipe in recipes]
        try:
            shared = None if columns is None else shared_from(columns)
            return {recipe: finding_from(ResultColumns(*row), shared) for recipe, row in rows if row is not None}
        except Exception:  # any failure to read means a damaged file
            what = f"a result in split {split} of search {search} cannot be read"
            raise TamisError(f"{self.path}: is damaged ({what}); {REMEDY}") from None

    def of(self, search: int, recipe: str) -> dict[str, Finding]:
        """All outcomes of a recipe in a search, by split."""
        query = "SELECT split FROM results WHERE search = ? AND recipe = ? ORDER BY rowid"
        with self._file.explained():
            splits = [split for (split,) in self._connection.execute(query, (search, recipe)).fetchall()]
        return {split: self.find(search, split, [recipe])[recipe] for split in splits}

    def put(self, search: int, split: str, findings: Mapping[str, Finding]) -> None:
        """Store the outcomes of recipes on a split of a search in one transaction; stored ones are not replaced."""
        self._refuse_if_reading()
        shared = {split_columns(one) for one in findings.values() if isinstance(one, FoldResult)}
        rows = [(search, split, recipe, *result_columns(one)) for recipe, one in findings.items()]
        with self._transaction("IMMEDIATE"):
            if rows and not self._signed:
                self._connection.executemany("INSERT OR IGNORE INTO versions VALUES (?, ?)", made_with().items())
            self._connection.executemany(_PUT_SPLIT, [(search, split, *one) for one in shared])
            if shared and shared != {self._split(search, split)}:
                what = f"split {split} of search {search} has other test rows than before"
                raise TamisError(f"{self.path}: {what}; {REMEDY}")
            self._connection.executemany(_PUT_RESULT, rows)
        self._signed = self._signed or bool(rows)

    def note(self, key: str, value: Any) -> None:
        """Store a small fact about the run, a value for JSON, in place of an earlier one with this key."""
        self._refuse_if_reading()
        with self._file.explained():
            self._connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (key, json.dumps(value)))

    def noted(self, key: str, default: Any = None) -> Any:
        """The fact stored under a key."""
        with self._file.explained():
            row = self._connection.execute("SELECT value FROM notes WHERE name = ?", (key,)).fetchone()
        return default if row is None else self._value(key, row[0])

    def count(self) -> int:
        """The number of stored outcomes."""
        with self._file.explained():
            (number,) = self._connection.execute("SELECT count(*) FROM results").fetchone()
        return int(number)

    def close(self) -> None:
        """Close the run; a second call does nothing."""
        lock, self._lock = self._lock, None
        if lock is not None:
            # One file again, which can be read in a read-only folder; unless somebody is reading it now.
            with suppress(sqlite3.Error):
                self._connection.execute("PRAGMA busy_timeout = 0")
                self._connection.execute("PRAGMA journal_mode = MEMORY")
        self._connection.close()
        if lock is not None:
            lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @contextmanager
    def _transaction(self, kind: str) -> Iterator[None]:
        with self._file.explained():
            self._connection.execute(f"BEGIN {kind}")
            try:
                yield
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def _split(self, search: int, split: str) -> SplitColumns | None:
        query = f"SELECT {_SPLIT} FROM splits WHERE search = ? AND split = ?"
        row = self._connection.execute(query, (search, split)).fetchone()
        return None if row is None else SplitColumns(*row)

    def _refuse_if_reading(self) -> None:
        if not self._writes:
            raise TamisError(f"{self.path}: was opened to be read; open it for writing to add to it")

    def _value(self, key: str, text: Any) -> Any:
        try:
            return json.loads(text)
        except (ValueError, TypeError, RecursionError):
            raise TamisError(f"{self.path}: is damaged ({printable(str(key))} cannot be read); {REMEDY}") from None


def _compare(path: Path, had: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    """Refuse a run that was made with another setting; other data are reported first."""
    if had.get("fingerprint") != wanted.get("fingerprint"):
        before, now = (_readable(settings.get("data")) for settings in (had, wanted))
        how = f"{before} has changed since" if before == now else f"{before}, not {now}"
        raise TamisError(f"{path}: this run was made from other data ({how}); {REMEDY}")
    for setting in dict.fromkeys((*had, *wanted)):
        if had.get(setting) != wanted.get(setting):
            before, now = (_readable(settings.get(setting)) for settings in (had, wanted))
            what = f"{printable(str(setting))} {before}, not {now}"
            raise TamisError(f"{path}: this run was made with {what}; {REMEDY}")


def _readable(value: Any) -> str:
    """A JSON value as it is written in a sentence."""
    if value is None:
        return "unset"
    try:
        plain = json.loads(value)
    except (ValueError, TypeError, RecursionError):
        plain = None
    return printable(plain if isinstance(plain, str) and plain else str(value))


def _warn_of_others(path: Path, had: Sequence[tuple[str, str]]) -> None:
    now = made_with()
    others = [(package, version) for package, version in had if now.get(package) != version]
    if others:
        before = printable(", ".join(f"{package} {version}" for package, version in others))
        here = printable(", ".join(f"{package} {now.get(package, 'unknown')}" for package in dict(others)))
        text = f"{path}: has results made with {before}; results made with {here} will be mixed with them"
        warnings.warn(text, OtherVersions, stacklevel=3)
