"""How the subset searches of a context run: who computes, where scores are stored, when they end, and who is told."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tamis.subsets.journal import Journal

if TYPE_CHECKING:
    from tamis.subsets.evaluations import Evaluations


@dataclass
class SubsetSession:
    """What holds for all searches of a context, those that a selector runs within another one too.

    Attributes
    ----------
    engine : str or None
        Who evaluates sets, as for :func:`tamis.engines.engine.open_engine`; None for this process.
    journal : Journal or None
        Where scores are stored.
    until : float or None
        The ``time.monotonic()`` at which searches end with the best set so far.
    progress : callable or None
        Called with the :class:`~tamis.subsets.evaluations.Evaluations` whenever some were made. It may raise
        :class:`~tamis.subsets.evaluations.Stopped`, which ends that search with the best set so far.
    searches : int
        Searches begun so far.
    seconds : float
        Time spent in evaluations.
    """

    engine: str | None = None
    journal: Journal | None = None
    until: float | None = None
    progress: "Callable[[Evaluations], None] | None" = None
    searches: int = 0
    seconds: float = 0.0


_session: ContextVar[SubsetSession | None] = ContextVar("session", default=None)


@contextmanager
def subset_session(session: SubsetSession) -> Iterator[SubsetSession]:
    """A context in which subset searches run as the session says.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import BestFirst
    >>> X, y = np.random.default_rng(0).normal(size=(60, 3)), np.repeat([0, 1], 30)
    >>> X[:, 1] += 3 * y
    >>> with subset_session(SubsetSession(engine="serial")) as session:
    ...     BestFirst().fit(X, y).chosen_
    array([1])
    >>> session.searches
    1
    """
    token = _session.set(session)
    try:
        yield session
    finally:
        _session.reset(token)


def present_session() -> SubsetSession | None:
    """The session of the context, if there is one."""
    return _session.get()
