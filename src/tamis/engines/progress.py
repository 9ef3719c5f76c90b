"""Progress on a terminal or in a notebook, and silence in logs, pipes and worker processes."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from importlib import import_module
from multiprocessing import parent_process
from time import monotonic
from typing import Any, Literal, TypeAlias

from tamis.base.errors import TamisError

#: A function of (done, total) that moves a bar.
Step: TypeAlias = Callable[[float, float], None]

#: What functions take as `progress`: a function of their own to call, False for silence, by default a display.
Wanted: TypeAlias = Step | bool | None

Place: TypeAlias = Literal["terminal", "notebook"]

#: Seconds before a bar appears, and between two states of a notebook's output.
_PATIENCE, _PAUSE = 1.0, 0.25

#: Held by the one display that there may be.
_shown = threading.Lock()


@contextmanager
def displaying(progress: bool | None = None) -> Iterator[Place | None]:
    """Yield where progress can be shown: on a terminal, in a notebook, or nowhere.

    It is nowhere if `progress` is False, in a log or a pipe, in a worker process, in a thread, and while another
    display is open.
    """
    place = None if progress is False else _place()
    if place is None or not _shown.acquire(blocking=False):
        yield None
        return
    try:
        yield place
    finally:
        _shown.release()


def check_progress(progress: Any) -> None:
    """Refuse a `progress` that is neither a function nor a switch."""
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise TamisError(f"progress must be a function, True, False or None; got {progress!r}")


@contextmanager
def progress_bar(title: str, progress: Wanted = None) -> Iterator[Step | None]:
    """Yield the function to call with (done, total): a given one, or one that moves a bar; None where there is none.

    The bar appears after a second.
    """
    check_progress(progress)
    if callable(progress):
        yield progress
        return
    with displaying(progress) as place:
        if place is None:
            yield None
        else:
            with (_terminal_bar if place == "terminal" else _notebook_bar)(title) as step:
                yield step


@contextmanager
def _terminal_bar(title: str) -> Iterator[Step]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None, visible=False)
        appear = threading.Timer(_PATIENCE, bar.update, (task,), {"visible": True})
        appear.daemon = True
        appear.start()
        try:
            yield lambda done, total: bar.update(task, completed=done, total=total)
        finally:
            appear.cancel()


@contextmanager
def _notebook_bar(title: str) -> Iterator[Step]:
    line, begin = NotebookOutput(), monotonic()

    def step(done: float, total: float) -> None:
        if monotonic() - begin >= _PATIENCE:
            line.show(bar_html(title, done, total))

    try:
        yield step
    except BaseException:
        line.end(f"{title}: stopped after {clock(monotonic() - begin)}")
        raise
    line.end(f"{title}: {clock(monotonic() - begin)}")


class NotebookOutput:
    """A piece of a notebook's output that is replaced, at most four times a second; it needs no widgets."""

    def __init__(self) -> None:
        self._handle: Any = None
        self._next = 0.0

    def show(self, html: str) -> None:
        """Show this HTML in place of what was shown, unless that is too new."""
        if monotonic() < self._next:
            return
        self._next = monotonic() + _PAUSE
        self._put(html, "")

    def end(self, text: str) -> None:
        """Leave a line of text, if anything was shown."""
        if self._handle is not None:
            self._put(f"<small>{escape(text)}</small>", text)

    def _put(self, html: str, text: str) -> None:
        data = {"text/html": html, "text/plain": text}
        if self._handle is None:
            self._handle = import_module("IPython.display").display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


def bar_html(title: str, done: float, total: float) -> str:
    """A bar with its title, as HTML without a script."""
    return f'<progress value="{done:g}" max="{max(total, 1):g}"></progress> {escape(title)}: {done:g} of {total:g}'


def clock(seconds: float) -> str:
    """A time that people can read.

    Examples
    --------
    >>> clock(61), clock(3725.9)
    ('1:01', '1:02:05')
    """
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


def _place() -> Place | None:
    if parent_process() is not None or threading.current_thread() is not threading.main_thread():
        return None
    if sys.stderr is not None and sys.stderr.isatty():
        return "terminal"
    # A notebook has imported IPython, and its shell has a kernel.
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return "notebook" if hasattr(shell, "kernel") else None
