"""A subset search that can be stopped, resumed, given to an engine, and timed."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from sklearn.base import clone

from tamis.base.errors import TamisError
from tamis.base.feature_tracking import steps_of
from tamis.subsets.efficiency import Efficiency, Timing, efficiencies
from tamis.subsets.evaluations import Evaluations
from tamis.subsets.journal import Journal
from tamis.subsets.session import SubsetSession, subset_session


def fit_search(
    model: Any,
    X: Any,
    y: Any,
    *,
    engine: str | None = None,
    run: Path | None = None,
    identity: dict[str, str] | None = None,
    seconds: float | None = None,
    progress: Callable[[Evaluations], None] | None = None,
) -> SubsetSession:
    """Fit a model whose selectors search among sets of columns.

    Parameters
    ----------
    model : estimator
        A selector, or a pipeline with selectors.
    X, y
        Rows and classes.
    engine : str, optional
        Who evaluates sets: "serial", "local", "local(3)" or "dask://host:port". By default the selectors themselves.
    run : Path, optional
        The file in which scores are stored. The same call with the same file goes on where it was stopped, by
        ``kill -9`` too, and ends with the same columns.
    identity : dict of str to str, optional
        What the file is for; a file with another identity is refused.
    seconds : float, optional
        After this time searches end with the best set so far.
    progress : callable, optional
        Called with the :class:`~tamis.subsets.evaluations.Evaluations` whenever some were made.

    Returns
    -------
    SubsetSession
        With the number of searches and the seconds that evaluations took.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import BestFirst
    >>> X, y = np.random.default_rng(0).normal(size=(60, 3)), np.repeat([0, 1], 30)
    >>> X[:, 1] += 3 * y
    >>> model = BestFirst()
    >>> fit_search(model, X, y, engine="serial").searches, model.chosen_
    (1, array([1]))
    """
    with ExitStack() as stack:
        journal = None if run is None else stack.enter_context(Journal(run, identity or {}))
        until = None if seconds is None else time.monotonic() + seconds
        session = stack.enter_context(subset_session(SubsetSession(engine, journal, until, progress)))
        model.fit(X, y)
    return session


def searches_of(model: Any) -> list[Any]:
    """The fitted selectors of a model that have searched among sets of columns."""
    return [step for step in steps_of(model) if hasattr(step, "n_evaluations_")]


def timed_searches(model: Any, X: Any, y: Any, workers: Sequence[int]) -> tuple[Any, list[Efficiency]]:
    """A fitted model, and what each number of workers brings; the first number must be 1.

    The same search is run for every number of workers. It ends with the same columns, whatever the number.
    """
    if not workers or workers[0] != 1 or any(n < 1 for n in workers):
        raise TamisError("efficiency is measured beside one worker: give numbers that begin with 1, such as 1,2")
    timings = []
    for n in workers:
        fitted = clone(model)
        begin = time.perf_counter()
        session = fit_search(fitted, X, y, engine="serial" if n == 1 else f"local({n})")
        if not session.searches:
            raise TamisError("efficiency is that of a subset search, such as fortal, genetic or best_first")
        timings.append(Timing(n, time.perf_counter() - begin, session.seconds))
    return fitted, efficiencies(timings)
