"""The progress of ``tamis mine``: a live table on a terminal, plain lines elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tamis.mining.progress_display import Best
    from tamis.mining.runner import Progress


@contextmanager
def watching() -> Iterator[Callable[["Progress"], None]]:
    """Yield a callback that shows the progress of a search."""
    from tamis.mining.progress_display import Best, live_table

    if not sys.stderr.isatty():
        yield _Lines(Best())
        return
    with live_table() as watch:
        yield watch


class _Lines:
    """Prints a line whenever a stage begins or the best model changes."""

    def __init__(self, best: "Best") -> None:
        self._models = best
        self._stage = ""
        self._best = ""

    def __call__(self, progress: "Progress") -> None:
        from tamis.engines.progress import clock
        from tamis.mining.progress_display import COMPILE, stage_words

        if progress.stage == COMPILE:
            self._compiling(progress)
            return
        rows = self._models(progress)
        best = f"{rows[0][0]}, {rows[0][1]} features: {rows[0][3]}" if rows else ""
        words = stage_words(progress)
        if words == self._stage and best == self._best:
            return
        self._stage, self._best = words, best
        print(f"[{clock(progress.clock.spent)}] {words}{'; best so far: ' + best if best else ''}", file=sys.stderr)

    def _compiling(self, progress: "Progress") -> None:
        """A line for each quarter of the kernels."""
        from tamis.mining.progress_display import compiling

        quarter = f"{progress.stage} {4 * progress.done // progress.total}"
        if quarter != self._stage:
            self._stage = quarter
            print(compiling(progress), file=sys.stderr)
