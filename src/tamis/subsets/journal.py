"""The journal of a subset search: every score in one SQLite file as soon as it is known.

A search asks for the same sets again when it is repeated with the same seed. So a search that was stopped, by ``kill
-9`` too, goes on where it was: the scores that it asks for first are in the journal, and cost nothing.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Self

from tamis.base.errors import TamisError

#: Marks the file; to be changed with its tables.
_LAYOUT = "tamis subset search 1"

_TABLES = """
CREATE TABLE IF NOT EXISTS about (setting TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS scores
    (search INTEGER, columns BLOB, score REAL, PRIMARY KEY (search, columns)) WITHOUT ROWID;
"""


class Journal:
    """The scores of the searches of one run, by the number of the search and the columns of the set.

    Parameters
    ----------
    path : Path
    identity : mapping of str to str
        What decides the scores, such as the fingerprint of the data, the recipe and the seed. A file with another
        identity is refused.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> folder = TemporaryDirectory()
    >>> path = Path(folder.name) / "a.tamis-subsets"
    >>> with Journal(path, {"seed": "0"}) as journal:
    ...     journal.write(0, [(b"01", 0.5)])
    >>> with Journal(path, {"seed": "0"}) as journal:
    ...     journal.read(0)
    {b'01': 0.5}
    >>> Journal(path, {"seed": "1"})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    tamis.base.errors.TamisError: ...a.tamis-subsets holds a search with seed 0, not 1; name another file
    >>> folder.cleanup()
    """

    def __init__(self, path: Path, identity: Mapping[str, str]) -> None:
        self.path = path
        try:
            self._file = sqlite3.connect(path, isolation_level=None)
            self._check({"layout": _LAYOUT, **identity})
        except sqlite3.Error as error:
            raise TamisError(f"{path} is no file of a subset search, or cannot be written: {error}") from error

    def read(self, search: int) -> dict[bytes, float]:
        """The scores of a search."""
        rows = self._file.execute("SELECT columns, score FROM scores WHERE search = ?", (search,))
        return {bytes(columns): float("nan") if score is None else score for columns, score in rows}

    def write(self, search: int, scores: Iterable[tuple[bytes, float]]) -> None:
        """Add scores of a search; they are on disk when this returns."""
        self._file.execute("BEGIN")
        rows = ((search, columns, score) for columns, score in scores)
        self._file.executemany("INSERT OR IGNORE INTO scores VALUES (?, ?, ?)", rows)
        self._file.execute("COMMIT")

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _check(self, identity: Mapping[str, str]) -> None:
        """Write the identity into a new file, or compare it."""
        with closing(self._file.cursor()) as cursor:
            cursor.executescript(_TABLES)
            known = dict(cursor.execute("SELECT setting, value FROM about"))
            if not known:
                cursor.executemany("INSERT INTO about VALUES (?, ?)", identity.items())
                return
        for setting, value in identity.items():
            if known.get(setting) != value:
                self.close()
                raise TamisError(
                    f"{self.path} holds a search with {setting} {known.get(setting)}, not {value}; name another file"
                )
