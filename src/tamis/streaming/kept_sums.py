"""The sums of a pass over a table, kept on disk until the pass is complete."""

import contextlib
import json
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.streaming.memory import Task

#: Seconds between two writes of the sums of a block, at least; and as a multiple of what a write takes.
_PAUSE, _TIMES = 2.0, 20.0

#: Days after which what a killed pass has left is removed.
_DAYS = 14

#: What a summary is called in a file when a part has no rows.
_NONE = "none"

#: The file with the tasks of the pass.
_TASKS = "tasks.json"


class KeptSums:
    """A folder with a file for each block of columns.

    Parameters
    ----------
    identity : mapping
        What the sums depend on: another file, target, score or division of the rows has a folder of its own. JSON.
    summary : type
        Has ``of_arrays``.
    """

    def __init__(self, identity: Mapping[str, Any], summary: Any) -> None:
        digest = blake2b(json.dumps(identity, sort_keys=True).encode(), digest_size=16).hexdigest()
        self._root = kept_folder()
        self._folder = self._root / digest
        self._summary = summary
        self._last: dict[int, float] = {}
        self._refused = False

    def agreed(self, blocks: list[list[Task]]) -> list[list[Task]]:
        """The tasks of an earlier pass if its blocks of columns are as narrow as these, or narrower; else these.

        How much memory is free, and how many workers there are, may have changed: sums of other blocks are of no use.
        """
        try:
            with (self._folder / _TASKS).open(encoding="ascii") as file:
                earlier = [[Task(*task) for task in block] for block in json.load(file)]
            if _width(earlier) <= _width(blocks):
                return earlier
        except (OSError, ValueError, TypeError, IndexError):
            pass
        shutil.rmtree(self._folder, ignore_errors=True)
        with self._writing():
            self._folder.mkdir(parents=True, exist_ok=True)
            self._replace(_TASKS, lambda file: file.write(json.dumps([[*map(astuple, b)] for b in blocks]).encode()))
        return blocks

    def read(self, block: int, tasks: Sequence[Task]) -> tuple[int, list[Any]]:
        """How many tasks of a block were added up, and their sums; 0 and no sums where nothing was kept."""
        try:
            with (self._folder / _name(block)).open("rb") as opened, np.load(opened) as file:
                done, parts = int(file["done"]), int(file["parts"])
                if not np.array_equal(file["tasks"], [astuple(task) for task in tasks]) or not 0 < done <= len(tasks):
                    return 0, []
                return done, [self._part(file, part) for part in range(parts)]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return 0, []

    def write(self, block: int, tasks: Sequence[Task], done: int, sums: list[Any]) -> None:
        """Keep the sums of the first tasks of a block, unless some were kept a moment ago and more will come."""
        begin = time.monotonic()
        if self._refused or (done < len(tasks) and begin < self._last.get(block, 0.0)):
            return
        arrays: dict[str, Any] = {"done": done, "tasks": [astuple(task) for task in tasks], "parts": len(sums)}
        for part, one in enumerate(sums):
            if one is None:
                arrays[f"{part}/{_NONE}"] = 0
            else:
                arrays |= {f"{part}/{name}": array for name, array in one.arrays().items()}
        with self._writing():
            self._replace(_name(block), lambda file: np.savez(file, **arrays))
        self._last[block] = time.monotonic() + max(_PAUSE, _TIMES * (time.monotonic() - begin))

    def remove(self) -> None:
        """Remove the sums, and those that killed passes have left long ago."""
        shutil.rmtree(self._folder, ignore_errors=True)
        limit = time.time() - 86_400 * _DAYS
        with contextlib.suppress(OSError):
            for folder in self._root.iterdir():
                if folder.is_dir() and folder.stat().st_mtime < limit:
                    shutil.rmtree(folder, ignore_errors=True)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """On a full or read-only disk the pass goes on, and would begin anew after a kill."""
        try:
            yield
        except OSError:
            self._refused = True

    def _replace(self, name: str, write: Callable[[IO[bytes]], object]) -> None:
        """Write a file, which others see as a whole."""
        with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
            try:
                write(file)
            except BaseException:
                os.unlink(file.name)
                raise
        os.replace(file.name, self._folder / name)

    def _part(self, file: Mapping[str, np.ndarray], part: int) -> Any:
        begin = f"{part}/"
        arrays = {name.removeprefix(begin): file[name] for name in file if name.startswith(begin)}
        return None if _NONE in arrays else self._summary.of_arrays(arrays)


def _name(block: int) -> str:
    return f"block-{block}.npz"


def _width(blocks: Sequence[Sequence[Task]]) -> int:
    return max(block[0].stop - block[0].start for block in blocks)


def digest(array: np.ndarray | None) -> str:
    """A digest of the values of an array."""
    return "" if array is None else blake2b(np.ascontiguousarray(array).tobytes(), digest_size=16).hexdigest()


def kept_folder() -> Path:
    """Where sums are kept: ``tamis/passes`` in the user's folder of caches."""
    try:
        root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError as error:
        raise TamisError("the folder for interim results is unknown: set XDG_CACHE_HOME") from error
    return Path(root) / "tamis" / "passes"
