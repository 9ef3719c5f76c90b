"""Finished rows in a file, told apart by model, split and data."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tamis.base.errors import DataError
from tamis.data.dataset import Dataset
from tamis.data.write import write_text

#: Version of the layout of the results file.
_LAYOUT = 1

#: Rows of a data set that go into its fingerprint.
_ROWS_READ = 64

#: What tells one result from another, and what else must be the same for it to be used again.
_KEY = ("data", "recipe", "split", "folds", "repeats", "seed")
_STATE = ("fingerprint", "version")


class Results:
    """Finished rows in a JSON file, which is written whole after every one of them.

    Parameters
    ----------
    path : Path
        The file; it need not be there yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read()

    def find(self, wanted: Mapping[str, Any]) -> dict[str, Any] | None:
        """The result of the same model on the same data, split in the same way by the same version."""
        same = (entry for entry in self._read() if all(entry.get(k) == wanted[k] for k in (*_KEY, *_STATE)))
        return next(same, None)

    def keep(self, entry: Mapping[str, Any]) -> None:
        """Put a result into the file, in place of an older one of the same model and split."""
        others = [e for e in self._read() if any(e.get(k) != entry[k] for k in _KEY)]
        write_text(self.path, json.dumps({"layout": _LAYOUT, "rows": [*others, entry]}, indent=1, allow_nan=False))

    def _read(self) -> list[dict[str, Any]]:
        """The rows as they are now: another run may have added to them."""
        if not self.path.exists():
            return []
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            if content["layout"] == _LAYOUT:
                return [dict(entry) for entry in content["rows"]]
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read ({error.strerror})") from None
        except (ValueError, KeyError, TypeError):
            pass
        raise DataError(f"{self.path}: is not a results file of this version; name another one")


def fingerprint(data: Dataset) -> str:
    """A short text that differs for data sets that differ: shape, classes, split, and some of the rows.

    Examples
    --------
    >>> from tamis.data import load
    >>> fingerprint(load("xor")) == fingerprint(load("xor")), fingerprint(load("xor")) == fingerprint(load("friedman"))
    (True, False)
    """
    rows = np.unique(np.linspace(0, data.n_rows - 1, _ROWS_READ).astype(int))
    seen = data.rows(rows).X
    if sp.issparse(seen):
        pieces = [seen.data, seen.indices, seen.indptr]
    else:
        pieces = [np.array(str(seen.rows())) if hasattr(seen, "schema") else seen]
    digest = hashlib.blake2b(f"{data.name} {data.X.shape}".encode(), digest_size=12)
    for piece in (data.y.astype(str), np.array([]) if data.split is None else data.split, *pieces):
        digest.update(np.ascontiguousarray(piece).tobytes())
    return digest.hexdigest()
