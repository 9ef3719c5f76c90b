"""Subset search: every strategy against a plain version or enumeration, the limits, the journal and the engines."""

import os
import signal
import subprocess
import sys
import time
import warnings
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_selection import VarianceThreshold

from tamis.base.cut import NothingPasses
from tamis.base.errors import DataError, TamisError
from tamis.classify import KNN
from tamis.select import LVF, BestFirst, Focus, Fortal, Genetic, RandomWrapper, Ranking
from tamis.subsets.evaluations import Evaluations, Stopped
from tamis.subsets.inconsistency import Inconsistency
from tamis.subsets.journal import Journal
from tamis.subsets.session import SubsetSession, subset_session

STRATEGIES = [BestFirst, Genetic, RandomWrapper, LVF, Focus, Fortal]


class Table:
    """A measure that is a table: the score of every set of a few columns; counts what it is asked for."""

    def __init__(self, n_features: int, seed: int = 0, *, coarse: bool = False) -> None:
        self.n_features = n_features
        values = np.random.default_rng(seed).random(2**n_features)
        self.values = values.round(1) if coarse else values
        self.values[0] = -1.0
        self.asked = 0

    def many(self, sets: np.ndarray) -> np.ndarray:
        self.asked += len(sets)
        return self.values[sets @ (1 << np.arange(self.n_features))]

    def add(self, columns: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        return self.many(self._changed(columns, candidates, True))

    def remove(self, columns: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        return self.many(self._changed(columns, candidates, False))

    def _changed(self, columns: np.ndarray, candidates: np.ndarray, present: bool) -> np.ndarray:
        sets = np.zeros((candidates.size, self.n_features), dtype=bool)
        sets[:, columns] = True
        sets[np.arange(candidates.size), candidates] = present
        return sets


def problem(seed: int = 0, rows: int = 100, columns: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Two columns tell two classes apart, another one repeats the first."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) % 2)
    X = rng.normal(size=(rows, columns))
    X[:, 1] += 1.5 * y
    X[:, 3] += 1.5 * y
    X[:, 5] = X[:, 1] + 0.1 * rng.normal(size=rows)
    return X, y


def search_on(strategy, measure, **parameters):
    """A strategy on a measure of its own instead of data."""
    one = strategy(**parameters)
    one.classes_ = np.array([0, 1])
    rng = np.random.default_rng(parameters.get("random_state"))
    with Evaluations(measure, one.max_evaluations) as scores:
        one._searched(scores, rng)
    return one


def test_a_set_is_evaluated_once() -> None:
    measure = Table(4)
    scores = Evaluations(measure)
    sets = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]], dtype=bool)
    np.testing.assert_array_equal(scores.many(sets), measure.values[[1, 2, 1]])
    assert (scores.used, measure.asked) == (2, 2)
    np.testing.assert_array_equal(scores.add(np.array([0]), np.array([1, 2])), measure.values[[3, 5]])
    np.testing.assert_array_equal(scores.remove(np.array([1, 0]), np.array([0, 1])), measure.values[[2, 1]])
    assert scores.used == measure.asked == 4
    assert scores.of(np.array([2, 0])) == measure.values[5]
    assert scores.used == 4


def test_of_equal_sets_the_smaller_is_best() -> None:
    measure = Table(3)
    measure.values = np.array([0.0, 0.5, 0.5, 0.7, 0.7, 0.1, 0.1, 0.7 + 1e-14])
    scores = Evaluations(measure)
    scores.many(np.array([[1, 1, 0], [1, 1, 1], [0, 0, 1]], dtype=bool))
    assert scores.best is not None
    assert (scores.best.columns.tolist(), scores.best.score) == ([2], 0.7)
    assert [(used, one.columns.tolist()) for used, one in scores.trace] == [(1, [0, 1]), (3, [2])]


def test_the_limit_ends_a_search_with_what_it_has() -> None:
    measure = Table(4)
    scores = Evaluations(measure, limit=3)
    with pytest.raises(Stopped):
        scores.many(np.eye(4, dtype=bool))
    assert scores.used == measure.asked == 3
    # What is known costs nothing.
    scores.many(np.eye(4, dtype=bool)[:3])
    with pytest.raises(Stopped):
        scores.of(np.array([3]))


def plain_best_first(values: np.ndarray, n: int, patience: int, moves: str) -> tuple[int, int]:
    """Best-first search on a table of scores: the best set, as a number, and the sets that were evaluated."""

    def order(one: int) -> tuple[float, int]:
        return -round(values[one], 12), one.bit_count()

    start = 2**n - 1 if moves == "backward" else 0
    waiting, seen, best, idle = [start], [start], start, 0
    while waiting and idle < patience:
        waiting.sort(key=lambda one: (*order(one), seen.index(one)))
        here = waiting.pop(0)
        found = []
        if moves != "backward":
            found += [here | 1 << j for j in range(n) if not here >> j & 1]
        if moves != "forward":
            found += [here & ~(1 << j) for j in range(n) if here >> j & 1]
        before = best
        for one in found:
            if one not in seen:
                seen.append(one)
                waiting.append(one)
                best = min(best, one, key=order)
        idle = 0 if best != before else idle + 1
    return best, len(seen)


@settings(max_examples=100)
@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 4), st.sampled_from(["forward", "backward", "both"]))
def test_best_first_is_the_plain_one(seed: int, n: int, patience: int, direction: str) -> None:
    measure = Table(n, seed, coarse=seed % 2 == 0)
    found = search_on(BestFirst, measure, patience=patience, direction=direction)
    best, evaluated = plain_best_first(measure.values, n, patience, direction)
    assert found.score_ == measure.values[best]
    assert found.chosen_.size == best.bit_count()
    assert found.n_evaluations_ == evaluated
    assert found.complete_


def test_best_first_goes_back_where_hill_climbing_is_caught() -> None:
    """One column alone looks best and leads nowhere; patience finds the pair without it."""
    measure = Table(3)
    measure.values = np.array([0.0, 0.5, 0.3, 0.4, 0.3, 0.4, 0.9, 0.2])
    assert search_on(BestFirst, measure, patience=1).chosen_.tolist() == [0]
    assert search_on(BestFirst, measure, patience=4).chosen_.tolist() == [1, 2]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_seeds_decide(strategy) -> None:
    X, y = problem()
    given = {} if strategy in (BestFirst, Focus) else {"random_state": 3}
    one, two = (strategy(**given).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.chosen_, two.chosen_)
    assert (one.score_, one.n_evaluations_) == (two.score_, two.n_evaluations_)
    np.testing.assert_array_equal(np.flatnonzero(one.get_support()), one.chosen_)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("limit", [1, 7])
def test_a_search_that_is_cut_off_selects_the_best_so_far(strategy, limit: int) -> None:
    X, y = problem()
    with warnings.catch_warnings():
        # The first set of a forward search is the empty one.
        warnings.simplefilter("ignore", NothingPasses)
        found = strategy(max_evaluations=limit).fit(X, y)
    assert found.n_evaluations_ <= limit
    assert not found.complete_
    assert found.chosen_.size
    assert np.isfinite(found.score_)


@pytest.mark.parametrize("strategy", [BestFirst, Genetic])
def test_where_no_column_helps_the_best_single_one_is_selected(strategy) -> None:
    X = np.tile(np.arange(4.0), 10)[:, None] * np.ones((1, 3))
    with pytest.warns(
        NothingPasses, match="no set of columns scores higher than none; the best single one is selected"
    ):
        found = strategy().fit(X, np.repeat([0, 1], 20))
    assert found.chosen_.tolist() == [0]
    assert found.score_ == 0.0


def test_genetic_search_keeps_its_best_and_finds_the_optimum() -> None:
    measure = Table(8, seed=1)
    found = search_on(Genetic, measure, generations=200, mutation=0.1, random_state=0)
    assert found.score_ == measure.values.max()
    scores = [score for _, _, score in found.trace_]
    assert scores == sorted(scores)
    # Without children nothing but the first generation is evaluated.
    first = search_on(Genetic, Table(8, seed=1), generations=0, population=20, random_state=0)
    assert first.n_evaluations_ <= 20
    assert first.n_generations_ == 0
    same = {"mutation": 0.0, "crossover": 0.0}
    short = search_on(Genetic, Table(8, seed=1), generations=500, patience=3, random_state=0, **same)
    assert short.n_generations_ == 3


def test_genetic_children_come_from_their_parents() -> None:
    """Without mutation no column can appear that the first generation has not, and clones stay clones."""
    measure = Table(6)
    one = search_on(Genetic, measure, population=2, generations=30, mutation=0.0, random_state=5)
    assert one.n_evaluations_ <= 2 + 2**6
    clones = search_on(Genetic, Table(6), population=4, generations=30, mutation=0.0, crossover=0.0, random_state=5)
    assert clones.n_evaluations_ <= 4


def test_the_random_wrapper_is_the_best_of_its_draws() -> None:
    measure = Table(5, coarse=True)
    found = search_on(RandomWrapper, measure, n_iter=40, random_state=2)
    rng = np.random.default_rng(2)
    sets = rng.random((40, 5)) < 0.5
    values = measure.values[sets @ (1 << np.arange(5))]
    best = values.max()
    smallest = sets[values == best].sum(axis=1).min()
    assert (found.score_, found.chosen_.size) == (best, smallest)
    assert search_on(RandomWrapper, Table(5), random_state=2).n_evaluations_ <= 50


def consistent_sets(X: np.ndarray, y: np.ndarray, rate: float) -> list[tuple[int, ...]]:
    """The smallest sets whose inconsistency rate is at most `rate`, by enumeration with a dictionary."""
    for size in range(X.shape[1] + 1):
        found = []
        for columns in combinations(range(X.shape[1]), size):
            patterns: dict[tuple, list[int]] = {}
            for row, label in zip(X[:, columns].tolist(), y.tolist(), strict=True):
                patterns.setdefault(tuple(row), []).append(label)
            wrong = sum(len(labels) - max(map(labels.count, labels)) for labels in patterns.values())
            if wrong / len(y) <= rate + 1e-12:
                found.append(columns)
        if found:
            return found
    return []


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.sampled_from([None, 0.0, 0.1, 0.3]))
def test_focus_is_exhaustive_enumeration(seed: int, n: int, threshold: float | None) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, size=(25, n)).astype(float), rng.integers(0, 2, 25)
    y[:2] = [0, 1]
    everything = -Inconsistency.of(X, y, bins="values").many(np.ones((1, n), dtype=bool))[0]
    if threshold is not None and threshold < everything:
        with pytest.warns(NothingPasses, match="above threshold"):
            assert Focus(threshold).fit(X, y).chosen_.size == n
        return
    smallest = consistent_sets(X, y, everything if threshold is None else threshold)
    if smallest == [()]:
        with pytest.warns(NothingPasses, match="no set of columns scores higher than none"):
            assert Focus(threshold).fit(X, y).chosen_.size == 1
        return
    found = Focus(threshold).fit(X, y)
    assert tuple(found.chosen_) in smallest
    assert set(found.needed_) <= set.intersection(*map(set, smallest))


def test_focus_looks_at_few_sets() -> None:
    """A parity of four among 14 columns: no smaller set helps, and still most sets are not looked at."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(400, 14)).astype(float)
    found = Focus().fit(X, X[:, [2, 5, 7, 11]].sum(axis=1) % 2)
    assert found.chosen_.tolist() == [2, 5, 7, 11]
    assert found.n_evaluations_ < 1 + sum(len(list(combinations(range(14), k))) for k in range(5))


def test_lvf_selects_the_smallest_consistent_draw() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(200, 8)).astype(float)
    y = (X[:, 2] + X[:, 5]) % 2
    found = LVF(4, random_state=0).fit(X, y)
    assert found.chosen_.tolist() == [2, 5]
    assert found.score_ == 0.0
    assert found.threshold_ == 0.0
    assert len(found.subsets_) == 4
    sizes = [one.size for one in found.subsets_]
    assert sizes == sorted(sizes)
    assert all({2, 5} <= set(one) for one in found.subsets_)
    with pytest.warns(NothingPasses, match="is 0.5, above threshold=0.1"):
        assert LVF(threshold=0.1).fit(np.ones((10, 3)), np.arange(10) % 2).chosen_.size == 3
    # With room for errors fewer columns will do.
    assert LVF(threshold=0.5, random_state=0).fit(X, y).chosen_.size == 1


def test_adam_counts_the_sets_of_the_selector() -> None:
    X, y = problem()
    found = Fortal(selector=LVF(5, random_state=1), k=5, random_state=0).fit(X, y)
    sets = LVF(5, random_state=1).fit(X, y).subsets_
    np.testing.assert_allclose(found.adam_, np.bincount(np.concatenate(sets), minlength=8) * 5 / len(sets))
    np.testing.assert_array_equal(found.scores_, found.adam_)
    # A ranking has no seed: it is fitted on samples of the rows.
    found = Fortal(selector=Ranking("cc", k=2), k=20, random_state=0).fit(X, y)
    assert found.adam_.sum() == 40
    assert set(np.flatnonzero(found.adam_ == 0)) >= {0, 2, 4}
    # Columns that no set has are never drawn.
    assert set(found.chosen_) <= set(np.flatnonzero(found.adam_))


def test_adam_by_weights() -> None:
    X, y = problem()
    found = Fortal(selector=Ranking("cc", k=2), weights=True, random_state=0).fit(X, y)
    scores = Ranking("cc", k=2).fit(X, y).scores_
    np.testing.assert_allclose(found.adam_, 10 * (scores - scores.min()) / (scores.max() - scores.min()))
    with pytest.raises(TamisError, match="weights=true takes a selector that scores every column"):
        Fortal(selector=VarianceThreshold(), weights=True).fit(X, y)


def test_a_wrapper_by_any_classifier() -> None:
    X, y = problem()
    for strategy in (BestFirst, Genetic):
        quick = {"generations": 5} if strategy is Genetic else {}
        found = strategy("classifier", estimator=KNN(3), random_state=0, **quick).fit(X, y)
        assert found.score_ > 0.8
        assert found.chosen_.size <= 6


@pytest.mark.parametrize("measure", ["cfs", "cfs_pearson", "inconsistency", "bic", "convex_net", "classifier"])
def test_best_first_by_every_measure(measure: str) -> None:
    X, y = problem()
    found = BestFirst(measure, random_state=0).fit(X, y)
    assert {1, 3} & set(found.chosen_)
    sparse = BestFirst(measure, random_state=0).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(sparse.chosen_, found.chosen_)


def test_nominal_columns_and_missing_values() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    colour = np.where(rng.random(90) < 0.1, None, np.array(["red", "green", "blue"], dtype=object)[y])
    frame = pl.DataFrame({"noise": rng.normal(size=90), "colour": colour, "size": y + rng.normal(size=90)})
    for strategy in (BestFirst, Focus, LVF, Genetic):
        assert "colour" in strategy().fit(frame, y).get_feature_names_out()
    with pytest.raises(DataError, match="takes no nominal column such as 'colour'; put encode in front"):
        BestFirst("bic").fit(frame, y)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_column_and_constants(strategy) -> None:
    y = np.arange(40) % 2
    seed = {} if strategy is Focus else {"random_state": 0}
    assert strategy(**seed).fit(y[:, None].astype(float), y).chosen_.tolist() == [0]
    X = np.column_stack([np.ones(40), y + 0.0, np.zeros(40)])
    assert strategy(**seed).fit(X, y).chosen_.tolist() == [1]


def test_the_journal_keeps_scores(tmp_path: Path) -> None:
    path, measure = tmp_path / "run", Table(6)
    with Journal(path, {"seed": "0"}) as journal, subset_session(SubsetSession(journal=journal)):
        first = search_on(BestFirst, measure)
    asked = measure.asked
    with Journal(path, {"seed": "0"}) as journal, subset_session(SubsetSession(journal=journal)) as session:
        again = search_on(BestFirst, measure)
    assert measure.asked == asked
    assert session.seconds == 0.0
    np.testing.assert_array_equal(again.chosen_, first.chosen_)
    assert (again.n_evaluations_, again.trace_[-1][0]) == (first.n_evaluations_, first.trace_[-1][0])
    with pytest.raises(TamisError, match="holds a search with seed 0, not 1; name another file"):
        Journal(path, {"seed": "1"})
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(TamisError, match="is no file of a subset search"):
        Journal(path, {"seed": "0"})


def test_time_ends_a_search() -> None:
    with subset_session(SubsetSession(until=time.monotonic() - 1)), pytest.warns(NothingPasses):
        found = search_on(BestFirst, Table(5))
    assert not found.complete_
    assert found.n_evaluations_ == 0
    assert found.chosen_.size == 1


@pytest.mark.parametrize("engine", ["serial", "local(2)"])
def test_engines_agree(engine: str) -> None:
    X, y = problem(rows=60, columns=6)
    told = []
    strategy = Fortal(KNN(3), n_iter=40, random_state=0)
    alone = Fortal(KNN(3), n_iter=40, random_state=0).fit(X, y)
    with subset_session(SubsetSession(engine=engine, progress=lambda one: told.append(one.used))) as session:
        found = strategy.fit(X, y)
    np.testing.assert_array_equal(found.chosen_, alone.chosen_)
    assert (found.score_, found.n_evaluations_) == (alone.score_, alone.n_evaluations_)
    # The filter within counts as a search too.
    assert session.searches == 2
    assert told[-1] == found.n_evaluations_


KILLED = """
import sys, time
from pathlib import Path
import numpy as np
from tamis.select import BestFirst
from tamis.subsets.journal import Journal
from tamis.subsets.session import SubsetSession, subset_session
from test_subset_search import Table, search_on

class Slow(Table):
    def many(self, sets):
        time.sleep(float(sys.argv[2]) * len(sets))
        return super().many(sets)

with Journal(Path(sys.argv[1]), {"seed": "0"}) as journal, subset_session(SubsetSession(journal=journal)) as session:
    measure = Slow(8)
    found = search_on(BestFirst, measure, patience=20)
print(found.chosen_.tolist(), found.n_evaluations_, measure.asked)
"""


def test_a_search_that_was_killed_goes_on(tmp_path: Path) -> None:
    def start(path: Path, seconds: float) -> subprocess.Popen[str]:
        here = str(Path(__file__).parent)
        return subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path), str(seconds)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": here},
        )

    with start(tmp_path / "whole", 0.0) as process:
        whole = process.communicate(timeout=100)[0]
    chosen, evaluations, asked = whole.rsplit(" ", 2)
    assert evaluations == asked.strip()
    path = tmp_path / "killed"
    with start(path, 0.02) as process:
        deadline = time.time() + 60
        while time.time() < deadline and stored(path) < 20:
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    kept = stored(path)
    assert 20 <= kept < int(evaluations)
    with start(path, 0.0) as process:
        resumed = process.communicate(timeout=100)[0]
    assert resumed.rsplit(" ", 2) == [chosen, evaluations, f"{int(evaluations) - kept}\n"]


def stored(path: Path) -> int:
    """How many scores are in a journal."""
    import sqlite3

    if not path.exists():
        return 0
    try:
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as file:
            return int(file.execute("SELECT count(*) FROM scores").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
