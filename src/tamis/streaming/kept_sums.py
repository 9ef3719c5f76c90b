"""The sums of a pass over a table, kept on disk until the pass is complete."""

import contextlib
import json
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from tamis.base.errors import TamisError

#: Seconds between two writes of the sums of a block, at least; and as a multiple of what a write takes.
_PAUSE, _TIMES = 2.0, 20.0

#: Days after which what a killed pass has left is removed.
_DAYS = 14

#: What a summary is called in a file when a part has no rows.
_NONE = "none"


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

    def read(self, block: int, n_tasks: int) -> tuple[int, list[Any]]:
        """How many tasks of a block were added up, and their sums; 0 and no sums where nothing was kept."""
        try:
            with self._path(block).open("rb") as opened, np.load(opened) as file:
                done, total, parts = (int(file[name]) for name in ("done", "tasks", "parts"))
                if total != n_tasks or not 0 < done <= total:
                    return 0, []
                return done, [self._part(file, part) for part in range(parts)]
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return 0, []

    def write(self, block: int, done: int, sums: list[Any], *, last: bool, n_tasks: int) -> None:
        """Keep the sums, unless they were kept a moment ago; the file is replaced as a whole."""
        begin = time.monotonic()
        if self._refused or (not last and begin < self._last.get(block, 0.0)):
            return
        arrays: dict[str, Any] = {"done": done, "tasks": n_tasks, "parts": len(sums)}
        for part, one in enumerate(sums):
            if one is None:
                arrays[f"{part}/{_NONE}"] = 0
            else:
                arrays |= {f"{part}/{name}": array for name, array in one.arrays().items()}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
                np.savez(file, **arrays)
            os.replace(file.name, self._path(block))
        except OSError:
            # A full or read-only disk: the pass goes on, and would begin anew after a kill.
            self._refused = True
            return
        self._last[block] = time.monotonic() + max(_PAUSE, _TIMES * (time.monotonic() - begin))

    def remove(self) -> None:
        """Remove the sums, and those that killed passes have left long ago."""
        shutil.rmtree(self._folder, ignore_errors=True)
        limit = time.time() - 86_400 * _DAYS
        with contextlib.suppress(OSError):
            for folder in self._root.iterdir():
                if folder.is_dir() and folder.stat().st_mtime < limit:
                    shutil.rmtree(folder, ignore_errors=True)

    def _path(self, block: int) -> Path:
        return self._folder / f"block-{block}.npz"

    def _part(self, file: Mapping[str, np.ndarray], part: int) -> Any:
        begin = f"{part}/"
        arrays = {name.removeprefix(begin): file[name] for name in file if name.startswith(begin)}
        return None if _NONE in arrays else self._summary.of_arrays(arrays)


def kept_folder() -> Path:
    """Where sums are kept: ``tamis/passes`` in the user's folder of caches."""
    try:
        root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except RuntimeError as error:
        raise TamisError("the folder for interim results is unknown: set XDG_CACHE_HOME") from error
    return Path(root) / "tamis" / "passes"
