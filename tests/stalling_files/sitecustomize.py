"""Files that stall, as on a drive of the network; Python imports this at its start where the folder is on its path.

Each file below STALLING_FOLDER that is opened, and each statement on an SQLite file, takes a millisecond, and one in
three hundred takes seconds. STALLS_COUNTED names a file that gets a byte for each of these.
"""

import os
import random
import sqlite3
import sys
import time
from typing import Any

_FOLDER = os.environ["STALLING_FOLDER"]
_COUNT = os.open(os.environ["STALLS_COUNTED"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
_DRAW = random.Random()


def _stall(_: object = None) -> None:
    if _DRAW.random() < 0.003:
        os.write(_COUNT, b".")
        time.sleep(_DRAW.uniform(0.5, 3.0))
    else:
        time.sleep(_DRAW.uniform(0.0, 0.002))


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and not isinstance(arguments[0], int) and os.fsdecode(arguments[0]).startswith(_FOLDER):
        _stall()


def _connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
    connection = _plain_connect(*arguments, **options)
    connection.set_trace_callback(_stall)
    return connection


_plain_connect = sqlite3.connect
sqlite3.connect = _connect
sys.addaudithook(_hook)
