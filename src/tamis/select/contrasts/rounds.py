"""Rounds of the search by contrasts: test, take the effect of what passed out of the target, test again."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.stats import norm

from tamis.base.seeds import spawn
from tamis.base.types import FloatArray, Mask, Matrix
from tamis.select.contrasts.columns import columns_of
from tamis.select.contrasts.rankers import Engine
from tamis.select.contrasts.trial import Trial

#: A residual that varies less than this share of the target is rounding.
_NOTHING = 1e-12


@dataclass(frozen=True)
class Found:
    """What the search says of each column.

    Attributes
    ----------
    kept : bool array
        The columns that passed, less those that were skipped as redundant.
    round : int array
        The round in which each passed, from 1 on; 0 if in none.
    pvalues, importances, thresholds : float arrays
        Of that round, or of the first; see :class:`~tamis.select.contrasts.trial.Verdicts`.
    """

    kept: Mask
    round: np.ndarray
    pvalues: FloatArray
    importances: FloatArray
    thresholds: FloatArray

    def scores(self, repeats: int) -> FloatArray:
        """What each column is worth, all that are kept above all others; `repeats` is that of the search."""
        passed = np.where(self.round > 0, self.round, np.iinfo(np.int64).max)
        order = np.lexsort((self.importances, -passed))
        place = np.empty(order.size)
        place[order] = np.arange(order.size) / order.size
        scores = -np.log10(self.pvalues) - 0.5 * np.log1p(-(2.0**-repeats)) / np.log(10) * place
        scores[(self.round > 0) & ~self.kept] = 0.0
        return np.asarray(scores)


def contrasts_of(
    X: Matrix, target: np.ndarray, trial: Trial, *, redundant: str = "report", rounds: int = 10, seed: int = 0
) -> Found:
    """Find the columns that a target depends on, in rounds.

    Parameters
    ----------
    X : array or CSR/CSC matrix of shape (n_rows, n_columns)
    target : int or float array of shape (n_rows,)
        Whole numbers are class codes 0, 1, ...; floats are a numeric target.
    trial : Trial
    redundant : {"report", "skip"}
    rounds : int
    seed : int

    Examples
    --------
    >>> from tamis.select.contrasts.rankers import Engine
    >>> X = np.random.default_rng(0).normal(size=(100, 8))
    >>> trial = Trial(Engine(), n_repeats=6, quantile=1.0, alpha=0.05, own=False, batch=100)
    >>> np.flatnonzero(contrasts_of(X, X[:, 1] + X[:, 4] ** 2, trial).kept).tolist()
    [1, 4]
    """
    columns = columns_of(X)
    p = columns.n_columns
    kept, number = np.zeros(p, dtype=bool), np.zeros(p, dtype=np.int64)
    numbers = np.ones((3, p))
    rest = _numbers(target)
    least = _NOTHING * rest.var(axis=0).sum()
    goal = target if np.issubdtype(target.dtype, np.integer) else rest
    left = np.arange(p)
    for round_ in range(1, rounds + 1):
        tested = trial.run(columns, left, goal, spawn(seed, round_))
        heard = tested.passed if round_ > 1 else slice(None)
        numbers[:, left[heard]] = np.array([tested.pvalues, tested.importances, tested.thresholds])[:, heard]
        new = left[tested.passed]
        if not new.size:
            break
        kept[new], number[new] = True, round_
        skip = redundant == "skip"
        if round_ == rounds and not skip:
            break
        rows = columns.rows(columns.take(new))
        rows = rows.tocsr() if sp.issparse(rows) else rows
        predict = partial(_predict, trial.engine, rows, rest, spawn(seed, 0, round_), skip)
        explained = predict(np.arange(new.size))
        if skip:
            order = np.argsort(tested.importances[tested.passed], kind="stable")
            kept[new[_idle(order, predict, rest, explained, trial.alpha)]] = False
        rest = rest - explained
        left = left[~tested.passed]
        if not left.size or rest.var(axis=0).sum() <= least:
            break
        goal = rest
    return Found(kept, number, *numbers)


def _numbers(target: np.ndarray) -> FloatArray:
    """A numeric target, or the indicators of the classes, in columns; of two classes one indicator tells all."""
    if not np.issubdtype(target.dtype, np.integer):
        return np.asarray(target, dtype=np.float64)[:, None]
    n_classes = int(target.max()) + 1
    shown = np.arange(n_classes) if n_classes > 2 else np.array([1])
    return np.asarray(target[:, None] == shown, dtype=np.float64)


def _predict(
    engine: Engine, rows: Matrix, target: FloatArray, seed: int, bagged: bool, which: np.ndarray
) -> FloatArray:
    """The target as some columns of the rows predict it."""
    return engine.predicted(rows[:, which], target, seed, bagged=bagged)


def _idle(
    order: np.ndarray,
    predict: Callable[[np.ndarray], FloatArray],
    target: FloatArray,
    explained: FloatArray,
    alpha: float,
) -> np.ndarray:
    """Columns without which the target is predicted no worse than with all, which gives `explained`.

    The half of the columns that comes first in `order` is left out if that does no harm, else its halves one after
    the other, and so on down to single columns; then the other half. Harm is always measured against all columns, so
    that it cannot add up.
    """
    error = ((target - explained) ** 2).sum(axis=1)
    limit = norm.ppf(1 - alpha)
    out: list[int] = []
    waiting = [order]
    while waiting:
        block = waiting.pop()
        stay = np.setdiff1d(order, np.concatenate([out, block]).astype(np.intp))
        if stay.size:
            harm = ((target - predict(stay)) ** 2).sum(axis=1) - error
            if harm.mean() <= limit * harm.std(ddof=1) / np.sqrt(harm.size):
                out.extend(block.tolist())
                continue
        if block.size > 1:
            half = block.size // 2
            waiting += [block[half:], block[:half]]
    return np.array(out, dtype=np.intp)
