"""The file of a run: how it is created, opened and locked, and the errors for one that cannot be used."""

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal

from tamis.base.errors import TamisError
from tamis.kernels.lock import Lock, LockedError

#: Marks a SQLite file as a run, in its header.
APPLICATION = int.from_bytes(b"tami", "big")

#: Version of the tables.
LAYOUT = 2

#: The tables by name, as SQLite stores their definitions; `tamis.mining.run.store` describes their contents.
TABLES = {
    "identity": "CREATE TABLE identity (setting TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "versions": "CREATE TABLE versions (package TEXT, version TEXT, PRIMARY KEY (package, version))",
    "notes": "CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "splits": """CREATE TABLE splits (
    search INTEGER, split TEXT,
    repeat INTEGER, fold INTEGER, n_train INTEGER, n_features INTEGER, n_classes INTEGER, "rows" BLOB, truth BLOB,
    PRIMARY KEY (search, split))""",
    "results": """CREATE TABLE results (
    search INTEGER, split TEXT, recipe TEXT,
    error TEXT, metrics TEXT, n_selected INTEGER, fit_seconds REAL, predict_seconds REAL, alone_seconds REAL,
    warnings TEXT, labels BLOB, scores BLOB, probabilities BLOB, selected BLOB,
    PRIMARY KEY (search, split, recipe))""",
}

#: Seconds to wait for another program that has the file locked.
_PATIENCE = 30.0

#: What to do about a file that cannot be used.
REMEDY = "name another run file or delete it"

_REASONS = {
    sqlite3.SQLITE_BUSY: "is locked by another program; try again when that has ended",
    sqlite3.SQLITE_LOCKED: "is locked by another program; try again when that has ended",
    sqlite3.SQLITE_FULL: "cannot be written (the disk is full)",
    sqlite3.SQLITE_NOTADB: "is not a run of tamis; name another run file",
    sqlite3.SQLITE_IOERR: "cannot be read or written ({error})",
    **dict.fromkeys(
        (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM),
        "cannot be opened ({error}); look at the permissions of the file and its folder",
    ),
}


class RunFile:
    """A run file, existing or not; messages name it by the path that the user gave."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # One file has one lock, whatever path leads to it.
        self._real = Path(os.path.realpath(path))
        if os.path.isdir(path):
            raise TamisError(f"{path}: is a folder; name a file")
        if not os.path.isdir(self._real.parent):
            raise TamisError(f"{path}: its folder does not exist; make it first or name another run file")
        if self.is_there and not os.path.isfile(path):
            raise TamisError(f"{path}: is not a file")

    @property
    def is_there(self) -> bool:
        """Whether anything has this name."""
        return os.path.lexists(self._real)

    def lock(self) -> Lock:
        """Lock the file for this process; an error if it is locked."""
        with self.explained():
            try:
                return Lock(self._beside("-lock"))
            except LockedError:
                raise TamisError(
                    f"{self.path}: is in use by another process, or still open in this one; wait for it to end or "
                    "name another run file"
                ) from None

    def create(self, identity: Mapping[str, str]) -> None:
        """Create the file atomically, with the settings of the run."""
        new = self._beside("-new")
        try:
            new.unlink(missing_ok=True)
            with self.explained(), closing(_connect(new, "rwc")) as connection:
                connection.execute("PRAGMA journal_mode = MEMORY")
                connection.execute("BEGIN")
                connection.execute(f"PRAGMA application_id = {APPLICATION}")
                connection.execute(f"PRAGMA user_version = {LAYOUT}")
                for table in TABLES.values():
                    connection.execute(table)
                connection.executemany("INSERT INTO identity VALUES (?, ?)", identity.items())
                connection.execute("COMMIT")
            # SQLite would take what a deleted older run left here for a part of this one.
            for ending in ("-wal", "-shm", "-journal"):
                self._beside(ending).unlink(missing_ok=True)
            new.replace(self._real)
        except OSError as error:
            raise TamisError(f"{self.path}: cannot be written ({error.strerror})") from None
        finally:
            with suppress(OSError):
                new.unlink(missing_ok=True)

    def read(self) -> sqlite3.Connection:
        """A connection that reads the file, after a check that it is a run; a writer is not disturbed."""
        if not self.is_there:
            raise TamisError(f"{self.path}: there is no such run file")
        with self.explained():
            try:
                return self._checked(_connect(self._real, "ro"))
            except sqlite3.OperationalError as error:
                # In a read-only folder SQLite cannot register readers, and need not unless a writer left something.
                wal = self._beside("-wal")
                if _code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY) or (
                    wal.exists() and wal.stat().st_size
                ):
                    raise
            return self._checked(_connect(self._real, "ro&immutable=1"))

    def write(self) -> sqlite3.Connection:
        """A connection that reads and writes the file; call it after :meth:`lock` and :meth:`read`."""
        with self.explained():
            connection = _connect(self._real, "rw")
            try:
                if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                    # A kill while the mode changes must leave no journal that a reader cannot handle.
                    connection.execute("PRAGMA journal_mode = MEMORY")
                    connection.execute("PRAGMA journal_mode = WAL")
                # A commit survives the end of the process. A power cut may undo the last few commits, each as a whole;
                # they are computed again.
                connection.execute("PRAGMA synchronous = NORMAL")
                # A read-only file is refused now, not after the first results.
                connection.execute("DELETE FROM notes WHERE 0")
            except BaseException:
                connection.close()
                raise
            return connection

    def _checked(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """The connection, if it is to a run with the tables of this layout."""
        try:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (layout,) = connection.execute("PRAGMA user_version").fetchone()
            if application != APPLICATION:
                raise TamisError(f"{self.path}: is not a run of tamis; name another run file")
            if layout != LAYOUT:
                raise TamisError(
                    f"{self.path}: has layout {layout}, this version of tamis has layout {LAYOUT}; {REMEDY}"
                )
            made = connection.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view')")
            # A view in place of a table, or a trigger, could keep SQLite busy for ever.
            triggers = connection.execute("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'").fetchone()
            if {name: sql for name, sql in made if name in TABLES} != TABLES or triggers != (0,):
                raise TamisError(f"{self.path}: is damaged (its tables are not those of a run); {REMEDY}")
            return connection
        except BaseException:
            connection.close()
            raise

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn SQLite's errors inside the block into sentences."""
        try:
            yield
        except sqlite3.ProgrammingError:  # not the file's fault
            raise
        except UnicodeDecodeError:  # SQLite quotes the file
            raise TamisError(f"{self.path}: is damaged (a text in it cannot be read); {REMEDY}") from None
        except sqlite3.Error as error:
            reason = _REASONS.get(_code(error), f"is damaged ({{error}}); {REMEDY}").format(error=printable(str(error)))
            if _code(error) in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR) and self.is_there:
                reason += "; what was stored in it stays, and the same command resumes"
            raise TamisError(f"{self.path}: {reason}") from None

    def _beside(self, ending: str) -> Path:
        return self._real.with_name(self._real.name + ending)


def _connect(path: Path, mode: Literal["ro", "rw", "rwc", "ro&immutable=1"]) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.as_uri()}?mode={mode}", uri=True, timeout=_PATIENCE, isolation_level=None)
    # The tables of a malicious file may call no functions; overlapping cells are found.
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    return connection


def printable(text: str) -> str:
    """A text from a file with its control characters escaped, for use in a message.

    Examples
    --------
    >>> printable("0.1\x1b[2J")
    '0.1\\\\x1b[2J'
    """
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def _code(error: sqlite3.Error) -> int:
    """The primary code of an error, without the details in higher bits; 0 if Python raised it."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
