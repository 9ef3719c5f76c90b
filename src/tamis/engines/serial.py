"""The serial engine: tasks in this process."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

from tamis.engines.engine import Closing, Lost, Result, Work, perform


class SerialEngine(Closing):
    """One task after the other, in this process; a running task cannot be abandoned."""

    workers = per_machine = 1

    def __init__(self, data: Any) -> None:
        self._data = data

    def run(
        self, work: Work[Result], tasks: Sequence[Any], *, until: float | None = None, hard: float | None = None
    ) -> Iterator[tuple[int, Result | Lost]]:
        """See :meth:`tamis.engines.engine.Engine.run`."""
        ends = [end for end in (until, hard) if end is not None]
        for number, task in enumerate(tasks):
            if ends and time.monotonic() >= min(ends):
                return
            yield number, perform(work, task, self._data, until)
