"""A file of findings, with one entry for each piece, seed and data set."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tamis.base.errors import DataError
from tamis.data.write import write_text

#: Version of the layout of the results file.
_LAYOUT = 2

#: What identifies a result, and what else must be the same for it to be used again.
_KEY = ("data", "piece", "repeats", "seed")
_STATE = ("fingerprint", "version")


class Results:
    """Finished pieces in a JSON file, which need not exist yet and is rewritten after each piece."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._read()

    def find(self, wanted: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the result of the same piece on the same data by the same version."""
        same = (entry for entry in self._read() if all(entry.get(k) == wanted[k] for k in (*_KEY, *_STATE)))
        return next(same, None)

    def keep(self, entry: Mapping[str, Any]) -> None:
        """Write a result to the file, in place of an older one of the same piece."""
        others = [e for e in self._read() if any(e.get(k) != entry[k] for k in _KEY)]
        write_text(self.path, json.dumps({"layout": _LAYOUT, "pieces": [*others, entry]}, indent=1, allow_nan=False))

    def _read(self) -> list[dict[str, Any]]:
        """Read the file as it is now: another run may have added to it."""
        if not self.path.exists():
            return []
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            if content["layout"] == _LAYOUT:
                return [dict(entry) for entry in content["pieces"]]
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read ({error.strerror})") from None
        except (ValueError, KeyError, TypeError):
            pass
        raise DataError(f"{self.path}: is not a results file of this version; name another file")
