"""Rounds of contrast tests: test, remove the effect of the columns that passed from the target, test again."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.stats import norm

from tamis.base.seeds import spawn
from tamis.base.types import FloatArray, Mask, Matrix
from tamis.select.contrasts.columns import Columns
from tamis.select.contrasts.contrast_tests import ContrastTest
from tamis.select.contrasts.rankers import Engine

#: A residual that varies less than this share of the target is rounding.
_NOTHING = 1e-12


@dataclass(frozen=True)
class RoundResults:
    """Results for each column.

    Attributes
    ----------
    selected : bool array
        The columns that passed, less those skipped as redundant.
    round : int array
        The round in which the column passed, from 1 on; 0 if in none.
    pvalues, importances, thresholds : float arrays
        Of that round, or of the first; see :class:`~tamis.select.contrasts.contrast_tests.ColumnResults`.
    """

    selected: Mask
    round: np.ndarray
    pvalues: FloatArray
    importances: FloatArray
    thresholds: FloatArray

    def scores(self, repeats: int) -> FloatArray:
        """-log10 of the p-values, with ties broken by round and importance; 0 for redundant columns."""
        passed = np.where(self.round > 0, self.round, np.iinfo(np.int64).max)
        order = np.lexsort((self.importances, -passed))
        place = np.empty(order.size)
        place[order] = np.arange(order.size) / order.size
        scores = -np.log10(self.pvalues) - 0.5 * np.log1p(-(2.0**-repeats)) / np.log(10) * place
        scores[(self.round > 0) & ~self.selected] = 0.0
        return np.asarray(scores)


def contrasts_of(
    X: Matrix, target: np.ndarray, test: ContrastTest, *, redundant: str = "report", rounds: int = 10, seed: int = 0
) -> RoundResults:
    """Select the columns that a target depends on, in rounds.

    A target of whole numbers holds class codes 0, 1, ...; a target of floats is numeric.

    Examples
    --------
    >>> from tamis.select.contrasts.rankers import Engine
    >>> X = np.random.default_rng(0).normal(size=(100, 8))
    >>> test = ContrastTest(Engine(), n_repeats=6, quantile=1.0, alpha=0.05, own=False, batch=100)
    >>> np.flatnonzero(contrasts_of(X, X[:, 1] + X[:, 4] ** 2, test).selected).tolist()
    [1, 4]
    """
    columns = Columns(X)
    p = columns.n_columns
    selected, passed_in = np.zeros(p, dtype=bool), np.zeros(p, dtype=np.int64)
    numbers = np.ones((3, p))
    rest = _numbers(target)
    least = _NOTHING * rest.var(axis=0).sum()
    current = target if np.issubdtype(target.dtype, np.integer) else rest
    left = np.arange(p)
    for round_ in range(1, rounds + 1):
        tested = test.run(columns, left, current, spawn(seed, round_), np.flatnonzero(passed_in))
        reported = tested.passed if round_ > 1 else slice(None)
        numbers[:, left[reported]] = np.array([tested.pvalues, tested.importances, tested.thresholds])[:, reported]
        new = left[tested.passed]
        if not new.size:
            break
        selected[new], passed_in[new] = True, round_
        skip = redundant == "skip"
        if round_ == rounds and not skip:
            break
        rows = columns.take(new)
        rows = rows.tocsr() if sp.issparse(rows) else rows
        predict = partial(_predict, test.engine, rows, rest, spawn(seed, 0, round_), skip)
        explained = predict(np.arange(new.size))
        if skip:
            order = np.argsort(tested.importances[tested.passed], kind="stable")
            selected[new[_redundant(order, predict, rest, explained, test.alpha)]] = False
        rest = rest - explained
        left = left[~tested.passed]
        if not left.size or rest.var(axis=0).sum() <= least:
            break
        current = rest
    return RoundResults(selected, passed_in, *numbers)


def _numbers(target: np.ndarray) -> FloatArray:
    """A numeric target, or the indicators of the classes, in columns; of two classes one indicator suffices."""
    if not np.issubdtype(target.dtype, np.integer):
        return np.asarray(target, dtype=np.float64)[:, None]
    n_classes = int(target.max()) + 1
    classes = np.arange(n_classes) if n_classes > 2 else np.array([1])
    return np.asarray(target[:, None] == classes, dtype=np.float64)


def _predict(
    engine: Engine, rows: Matrix, target: FloatArray, seed: int, bagged: bool, which: np.ndarray
) -> FloatArray:
    """Predictions of the target from some columns of the rows."""
    return engine.predicted(rows[:, which], target, seed, bagged=bagged)


def _redundant(
    order: np.ndarray,
    predict: Callable[[np.ndarray], FloatArray],
    target: FloatArray,
    explained: FloatArray,
    alpha: float,
) -> np.ndarray:
    """Columns without which the target is predicted no worse than with all, which gives `explained`.

    The first half of the columns in `order` is removed if that does no harm, else each of its halves in turn, and so on
    down to single columns; then the second half. Harm is measured against all columns, so that it cannot accumulate.
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
