"""A lock between processes, for files that several of them may write."""

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

#: Seconds between two attempts to get a lock.
_TICK = 0.05


class LockedError(Exception):
    """Another process has the lock, or another part of this one."""


class Lock:
    """A lock, held until it is released or the process ends.

    It is an exclusive SQLite transaction on an empty file, so it works wherever SQLite does.

    Parameters
    ----------
    path : Path
        The file; it is removed when the lock is released.
    patience : float, default=0.0
        Seconds to wait for the lock before :class:`LockedError` is raised.
    """

    def __init__(self, path: Path, patience: float = 0.0) -> None:
        self._path = path
        end = time.monotonic() + patience
        while True:
            found = _identity(path)
            # SQLite would wait without listening to the keyboard.
            connection = sqlite3.connect(
                f"{path.as_uri()}?mode=rwc", uri=True, timeout=0.0, isolation_level=None, check_same_thread=False
            )
            opened = _identity(path)
            try:
                connection.execute("BEGIN EXCLUSIVE")
            except sqlite3.Error as error:
                connection.close()
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code == sqlite3.SQLITE_FULL:  # nobody has the lock, or it would be busy
                    with suppress(OSError):
                        path.unlink(missing_ok=True)
                    raise
                if code != sqlite3.SQLITE_BUSY:
                    if found == _identity(path):
                        raise
                    continue  # SQLite fails on a file that is removed meanwhile
                if time.monotonic() >= end:
                    raise LockedError(str(path)) from None
                time.sleep(_TICK)
                continue
            # Who releases the lock removes the file. It must be the same one before it is opened and once it is locked,
            # or another process may lock a new file of this name.
            if found is not None and found == opened == _identity(path):
                self._connection = connection
                return
            connection.close()

    def release(self) -> None:
        with suppress(OSError):  # where an open file cannot be removed it stays, which does no harm
            self._path.unlink(missing_ok=True)
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _identity(path: Path) -> tuple[int, int, int] | None:
    """What distinguishes a file from a later one of the same name; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_ctime_ns
