"""The progress of a subset search in ``tamis select``: a line on a terminal, and Ctrl-C, which ends the search."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tamis.subsets.evaluations import Evaluations

#: Seconds before the line appears.
_PATIENCE = 1.0


class SearchWatch:
    """What is called whenever sets were evaluated; it ends the search after an interrupt.

    Parameters
    ----------
    budget : float or None
        Seconds that the search may take.

    Attributes
    ----------
    interrupted : bool
        Whether an interrupt has ended the search.
    """

    def __init__(self, budget: float | None) -> None:
        self.interrupted = False
        self._budget = budget
        self._begin = monotonic()
        self._words = "fitting"
        self._searching = False

    def __call__(self, scores: "Evaluations") -> None:
        from tamis.subsets.evaluations import Stopped

        self._searching = True
        best = scores.best
        found = "" if best is None else f"; best {best.score:.4g} with {best.columns.size} of {scores.n_features}"
        self._words = f"searching: {scores.used:,} sets evaluated{found}"
        if self.interrupted:
            raise Stopped

    def on_interrupt(self, number: int, frame: FrameType | None) -> None:
        """End the search after the sets that are being evaluated, so that none of their scores is lost.

        A second interrupt stops at once, and so does one when no set was evaluated yet.
        """
        if self.interrupted or not self._searching:
            raise KeyboardInterrupt
        self.interrupted = True

    def line(self) -> str:
        """The sets evaluated so far, the best score and the time."""
        from tamis.engines.progress import clock

        spent = monotonic() - self._begin
        if spent < _PATIENCE:
            return ""
        time = clock(spent) + ("" if self._budget is None else f" of {clock(self._budget)}")
        ending = "; ending, Ctrl-C again stops at once" if self.interrupted else ""
        return f"{self._words}; {time}{ending}"


@contextmanager
def watching(budget: float | None, *, silent: bool) -> Iterator[SearchWatch]:
    """Yield the watch of a search; its line is on a terminal unless `silent`."""
    from tamis.engines.progress import displaying

    watch = SearchWatch(budget)
    with _interrupts(watch), displaying(not silent) as place:
        if place != "terminal":
            yield watch
            return
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        def picture() -> Text:
            return Text(watch.line(), overflow="ellipsis", no_wrap=True)

        with Live(console=Console(stderr=True), refresh_per_second=4, transient=True, get_renderable=picture):
            yield watch


@contextmanager
def _interrupts(watch: SearchWatch) -> Iterator[None]:
    """Interrupts go to the watch; only the main thread can see to that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: Any = signal.signal(signal.SIGINT, watch.on_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
