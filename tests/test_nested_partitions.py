"""Nested partitions: the parts against plain versions, searches on few columns against enumeration, cost, bad input."""

import inspect
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import curve_fit, minimize_scalar
from sklearn.exceptions import NotFittedError

from tamis.base.errors import DataError, TamisError
from tamis.base.nominal import coded
from tamis.compose.recipe import parse
from tamis.data import load
from tamis.select import NestedPartitions
from tamis.select.nested_partitions.coded_states import coded_states
from tamis.select.nested_partitions.regions import Area, Region
from tamis.select.nested_partitions.rinott import rinott
from tamis.select.nested_partitions.sampled_rows import stratified_rows
from tamis.select.nested_partitions.sampling_rate import VarianceCurve
from tamis.subsets import measures
from tamis.subsets.cfs import CFS
from tamis.subsets.inconsistency import Inconsistency

#: As the paper has it: each column by the toss of a coin, and no set taken along.
PLAIN = {"draw": "coin", "keep_best": False}


def problem(seed: int = 0, rows: int = 400, columns: int = 8, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Two columns tell the classes apart, another one repeats the first."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(rows) % n_classes)
    X = rng.normal(size=(rows, columns))
    X[:, 1] += 1.5 * y
    X[:, 3] += 1.5 * (y == n_classes - 1)
    X[:, -1] = X[:, 1] + 0.1 * rng.normal(size=rows)
    return X, y


def every_set(n: int) -> np.ndarray:
    return np.array(list(product([False, True], repeat=n)))


class Spy:
    """Stands in for CFS: notes the rows of every measure and the sets that are evaluated on them."""

    def __init__(self) -> None:
        self.rows: list[np.ndarray] = []
        self.sets: list[int] = []

    def __call__(self, X, y, nominal, settings):
        made, number = CFS.of(X, y, nominal), len(self.rows)
        self.rows.append(np.append(X[:, 0], y))
        self.sets.append(0)
        many = made.many

        def counted(sets):
            self.sets[number] += len(sets)
            return many(sets)

        made.many = counted  # type: ignore[method-assign]
        return made


@pytest.fixture
def spy(monkeypatch):
    found = Spy()
    monkeypatch.setitem(measures.MEASURES, "cfs", measures.NamedMeasure(found, CFS.BINS))
    return found


# Rinott's constant


@pytest.mark.parametrize(("probability", "h"), [(0.75, 1.711), (0.85, 2.222), (0.95, 3.166)])
def test_rinott_as_tabulated(probability: float, h: float) -> None:
    assert rinott(10, 3, probability) == pytest.approx(h, abs=5e-4)


@pytest.mark.parametrize(("n0", "k", "probability"), [(2, 3, 0.75), (5, 4, 0.9), (20, 2, 0.95), (60, 10, 0.8)])
def test_rinott_solves_its_equation(n0: int, k: int, probability: float) -> None:
    rng = np.random.default_rng(0)
    h = rinott(n0, k, probability)
    y = rng.chisquare(n0 - 1, size=(400_000, 1))
    x = rng.chisquare(n0 - 1, size=(400_000, k - 1))
    right = rng.normal(size=x.shape) <= h / np.sqrt((n0 - 1) * (1 / x + 1 / y))
    assert right.all(axis=1).mean() == pytest.approx(probability, abs=0.003)


@pytest.mark.parametrize(("n0", "k", "probability"), [(6, 5, 0.85), (12, 2, 0.75)])
def test_two_stages_choose_the_largest_mean(n0: int, k: int, probability: float) -> None:
    """The procedure itself, where it is hardest: one mean is larger than all others by delta, variances differ."""
    rng = np.random.default_rng(1)
    h, delta, runs = rinott(n0, k, probability), 0.5, 4000
    deviation = np.linspace(0.5, 2.0, k)
    right = 0
    for _ in range(runs):
        means = []
        for j in range(k):
            first = rng.normal(size=n0) * deviation[j] + (delta if j == 0 else 0.0)
            more = max(n0 + 1, int(np.ceil(h**2 * first.var(ddof=1) / delta**2))) - n0
            second = rng.normal(size=more) * deviation[j] + (delta if j == 0 else 0.0)
            means.append(np.append(first, second).mean())
        right += int(np.argmax(means)) == 0
    assert right / runs >= probability - 0.02


def test_rinott_grows_with_what_is_asked() -> None:
    assert rinott(10, 3, 0.75) < rinott(10, 4, 0.75) < rinott(5, 4, 0.75) < rinott(2, 4, 0.75) < rinott(2, 4, 0.9)
    for bad in ((1, 3, 0.9), (10, 1, 0.9), (10, 3, 1 / 3), (10, 3, 1.0)):
        with pytest.raises(ValueError, match="rinott takes"):
            rinott(*bad)


# The sampling rate


@given(
    *(st.floats(*bounds) for bounds in ((0.1, 200), (1, 60), (1, 4), (0.5, 8), (0.05, 0.95))),
    st.integers(50, 10_000),
)
def test_the_rate_has_the_least_cost(c1, c2, h, delta, trade_off, n_rows) -> None:
    rate = VarianceCurve(c1, c2).optimal_rate(h, delta, n_rows, trade_off, lowest=0.01)

    def cost(r: float) -> float:
        return trade_off * h**2 / delta**2 * c1 * np.exp(-c2 * r) + (1 - trade_off) * 0.01 * n_rows * r

    best = minimize_scalar(cost, bounds=(0.01, 1.0), method="bounded", options={"xatol": 1e-10})
    assert 0.01 <= rate <= 1.0
    assert cost(rate) <= best.fun * (1 + 1e-9)


def test_percent_or_shares_and_scores_that_do_not_vary() -> None:
    rates = np.array([0.05, 0.1, 0.2, 0.4])
    shares = 0.003 * np.exp(-12 * rates)
    one, other = VarianceCurve.fitted(rates, shares), VarianceCurve.fitted(rates, 1e4 * shares)
    assert one.optimal_rate(2.0, 0.01, 500, lowest=0.05) == pytest.approx(other.optimal_rate(2, 1.0, 500, lowest=0.05))
    flat = VarianceCurve.fitted(rates, np.zeros(4))
    assert flat.optimal_rate(2.0, 0.01, 500, lowest=0.05) == 0.05
    assert VarianceCurve(1.0, 5.0).optimal_rate(3.0, 1e-6, 500, lowest=0.05) == 1.0


def test_the_curve_is_that_of_least_squares() -> None:
    rng = np.random.default_rng(0)
    rates = np.array([0.02, 0.05, 0.1, 0.2, 0.4])
    for _ in range(20):
        c1, c2 = rng.uniform(1, 100), rng.uniform(2, 40)
        variances = c1 * np.exp(-c2 * rates) * rng.chisquare(24, size=5) / 24
        expected, _ = curve_fit(lambda r, a, b: a * np.exp(-b * r), rates, variances, p0=(c1, c2))
        np.testing.assert_allclose(VarianceCurve.fitted(rates, variances), expected, rtol=1e-4)


def test_samples_have_the_classes_in_their_shares() -> None:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], [600, 299, 1]))
    counts = np.array([np.bincount(y[stratified_rows(y, 0.1, rng)]) for _ in range(200)])
    assert set(counts[:, 0]) == {60}
    assert set(counts[:, 1]) == {29, 30}
    assert counts[:, 1].mean() == pytest.approx(29.9, abs=0.1)
    assert set(counts[:, 2]) == {1}
    rows = stratified_rows(y, 0.3, rng)
    assert np.unique(rows).size == rows.size
    np.testing.assert_array_equal(stratified_rows(y, 1.0, rng), np.arange(900))
    seen = np.bincount(np.concatenate([stratified_rows(y, 0.1, rng) for _ in range(300)]), minlength=900)
    assert seen.min() > 5
    assert seen[y < 2].max() < 65


# Regions


@pytest.mark.parametrize("fixed", [(), (True,), (False, True), (True, False, False, True), (False,) * 4, (True,) * 5])
def test_areas_hold_all_sets_between_them(fixed: tuple[bool, ...]) -> None:
    region, everything = Region(fixed, 5), every_set(5)[1:]
    parts = [Area(region.child(v)) for v in (True, False)] if len(fixed) < 5 else [Area(region)]
    areas = [area for area in (*parts, Area(region, surrounding=True)) if area.n_sets]
    rng = np.random.default_rng(0)
    listed = [np.concatenate(list(area.batches(area.n_sets, rng))) for area in areas]
    assert [len(sets) for sets in listed] == [area.n_sets for area in areas]
    together = np.concatenate(listed)
    assert np.unique(together, axis=0).tolist() == np.unique(everything, axis=0).tolist()
    for area, sets in zip(areas, listed, strict=True):
        assert [area.holds(one) for one in everything] == [one.tolist() in sets.tolist() for one in everything]
        drawn = list(area.batches(area.n_sets - 1, rng))
        assert sum(map(len, drawn)) == area.n_sets - 1
        assert all(area.holds(one) for some in drawn for one in some)


@pytest.mark.parametrize("surrounding", [False, True])
def test_a_coin_draws_all_sets_alike(surrounding: bool) -> None:
    area = Area(Region((True, False), 18), surrounding=surrounding, sizes=False)
    sets = np.concatenate(list(area.batches(30_000, np.random.default_rng(0))))
    np.testing.assert_allclose(sets[:, 2:].mean(axis=0), 0.5, atol=0.015)
    first = np.bincount(2 * sets[:, 0] + sets[:, 1], minlength=4) / len(sets)
    np.testing.assert_allclose(first, [1 / 3, 1 / 3, 0, 1 / 3] if surrounding else [0, 0, 1, 0], atol=0.015)


def test_sizes_are_drawn_alike() -> None:
    sets = np.concatenate(list(Area(Region((True,), 20)).batches(40_000, np.random.default_rng(0))))
    shares = np.bincount(sets.sum(axis=1), minlength=21) / len(sets)
    assert shares[0] == 0
    np.testing.assert_allclose(shares[1:], 1 / 20, atol=0.008)


@given(st.integers(0, 1000), st.booleans(), st.sampled_from(["cfs", "inconsistency"]))
def test_columns_coded_once_have_the_same_scores(seed: int, sparse: bool, measure: str) -> None:
    rng = np.random.default_rng(seed)
    X, y = problem(seed, rows=60, columns=5, n_classes=3)
    X[:, 0] = rng.integers(0, 4, size=60)
    X[rng.random((60, 5)) < 0.4] = 0.0
    X[:, 3] += 20.0
    given: Any = sp.csr_array(X) if sparse else X
    kind = {"cfs": CFS, "inconsistency": Inconsistency}[measure]
    assert measures.MEASURES[measure].bins == inspect.signature(kind.of).parameters["bins"].default
    codes = coded_states(given, y, np.zeros(5, dtype=bool), measures.MEASURES[measure].bins, "test")
    assert sp.issparse(codes) == sparse
    sets = every_set(5)
    np.testing.assert_array_equal(kind.of(codes, y, np.ones(5, dtype=bool)).many(sets), kind.of(given, y).many(sets))


# The search


@pytest.mark.parametrize("parameters", [{}, PLAIN, {"two_stage": True, "delta": 0.05, "psi": 0.75}])
def test_the_path_of_a_search(parameters: dict) -> None:
    X, y = problem(columns=12)
    found = NestedPartitions(n_sets=5, random_state=0, **parameters).fit(X, y)
    steps = np.diff(found.depths_)
    assert (found.depths_[0], found.depths_[-1]) == (0, 12)
    assert 12 not in found.depths_[:-1]
    assert set(steps) <= {-1, 1}
    assert found.n_backtracks_ == (steps == -1).sum()
    assert found.n_iter_ == steps.size == 12 + 2 * found.n_backtracks_
    assert found.complete_
    assert found.score_ == pytest.approx(CFS.of(X, y).many(found.support_[None])[0], abs=1e-12)
    np.testing.assert_array_equal(np.sort(found.partition_order_), np.arange(12))
    assert set(found.partition_order_[:3]) == {1, 3, 11}


def test_searches_backtrack_when_rows_are_few() -> None:
    X, y = problem(columns=10)
    backtracks = [
        sum(NestedPartitions(random_state=s, sampling_rate=rate).fit(X, y).n_backtracks_ for s in range(5))
        for rate in (1.0, 0.05)
    ]
    assert backtracks[0] < backtracks[1]


@pytest.mark.parametrize("parameters", [{"n_sets": 80}, {**PLAIN, "n_sets": 100}])
def test_on_all_rows_the_best_of_eight_columns_is_found(parameters: dict) -> None:
    reached = []
    for seed in range(10):
        X, y = problem(seed, rows=120, n_classes=2 + seed % 2)
        best = CFS.of(X, y).many(every_set(8)).max()
        reached += [best - NestedPartitions(random_state=s, **parameters).fit(X, y).score_ < 1e-12 for s in range(3)]
    assert np.mean(reached) >= 0.9


def test_one_seed_one_result_and_columns_may_move() -> None:
    X, y = problem()
    order = np.random.default_rng(1).permutation(8)
    for parameters in ({}, {"sampling_rate": 0.2}, {"two_stage": True, "delta": 0.05, "psi": 0.75}):
        one, again, moved = (
            NestedPartitions(random_state=3, **parameters).fit(rows, y) for rows in (X, X, X[:, order])
        )
        assert (one.n_evaluations_, one.depths_, one.score_) == (again.n_evaluations_, again.depths_, again.score_)
        np.testing.assert_array_equal(moved.support_, one.support_[order])
        assert moved.depths_ == one.depths_
        sparse = NestedPartitions(random_state=3, **parameters).fit(sp.csc_array(X), y)
        np.testing.assert_array_equal(sparse.support_, one.support_)
        assert sparse.depths_ == one.depths_
    different = {tuple(NestedPartitions(random_state=s, sampling_rate=0.03).fit(X, y).depths_) for s in range(5)}
    assert len(different) > 1


def test_rows_are_drawn_anew_in_every_iteration(spy) -> None:
    X, y = problem(rows=300)
    found = NestedPartitions(sampling_rate=0.1, random_state=0).fit(X, y)
    whole, *samples = spy.rows
    assert len(whole) == 2 * 300
    assert len(samples) == found.n_iter_
    assert {len(rows) for rows in samples} == {2 * 30}
    assert len({rows.tobytes() for rows in samples}) == len(samples)
    assert found.sampling_rate_ == 0.1


@pytest.mark.parametrize("parameters", [{}, {"sampling_rate": 0.2}, {"two_stage": True, "delta": 0.05, "psi": 0.75}])
def test_the_cost_is_counted(spy, parameters: dict) -> None:
    X, y = problem(columns=10)
    found = NestedPartitions(random_state=0, **parameters).fit(X, y)
    sampled = found.sampling_rate_ < 1
    # The score on all rows of what is selected is no part of the search.
    assert sum(spy.sets) - sampled == found.n_evaluations_
    cost = sum(len(rows) // 2 * sets for rows, sets in zip(spy.rows, spy.sets, strict=True))
    assert cost - sampled * 400 == found.n_rows_evaluated_
    if sampled:
        assert len(found.trace_) == found.n_iter_
        assert found.trace_[-1][0] == found.n_evaluations_


def test_the_number_of_sets_in_two_stages(monkeypatch) -> None:
    asked: list[tuple[Area, float]] = []
    batches = Area.batches

    def noted(self, n_sets, rng):
        asked.append((self, n_sets))
        return batches(self, n_sets, rng)

    monkeypatch.setattr(Area, "batches", noted)
    X, y = problem(columns=30)
    NestedPartitions(two_stage=True, delta=0.02, psi=0.85, sampling_rate=1.0, random_state=0).fit(X, y)
    score = CFS.of(X, y)
    order = NestedPartitions(random_state=0).fit(X, y).partition_order_
    rng = np.random.default_rng(0)
    rng.integers(2**31)
    first = np.zeros((10, 30), dtype=bool)
    first[:, order] = np.concatenate(list(batches(asked[0][0], 10, rng)))
    wanted = max(11, int(np.ceil((2.2217506 / 0.02) ** 2 * score.many(first).var(ddof=1))))
    assert [n for _, n in asked[:2]] == [10, wanted - 10]
    assert wanted > 11
    assert asked[0][0] == asked[1][0]


def test_the_guarantee() -> None:
    X, y = problem()
    found = NestedPartitions(two_stage=True, delta=0.05, psi=0.75, random_state=0).fit(X, y)
    assert found.guarantee_[0] == 0.05
    assert found.guarantee_[1] == pytest.approx(0.75**8 / (0.25**8 + 0.75**8))
    assert NestedPartitions(random_state=0).fit(X, y).guarantee_ is None
    assert found.variance_curve_.c1 > 0
    assert 0.05 <= found.sampling_rate_ <= 1


def test_limits_end_a_search() -> None:
    X, y = problem(columns=10)
    whole = CFS.of(X, y)
    for parameters in ({}, {"sampling_rate": 0.2}, {"two_stage": True, "delta": 0.05, "psi": 0.75}):
        for limit in ({"max_evaluations": 1}, {"max_evaluations": 150}, {"max_iter": 3}):
            found = NestedPartitions(random_state=0, **parameters, **limit).fit(X, y)
            assert not found.complete_
            assert found.guarantee_ is None
            assert found.n_evaluations_ <= limit.get("max_evaluations", np.inf)
            assert found.n_iter_ <= limit.get("max_iter", np.inf)
            assert found.score_ == whole.many(found.support_[None])[0]
    best = NestedPartitions(random_state=0, max_evaluations=150).fit(X, y)
    assert best.score_ == best.trace_[-1][2] == max(score for _, _, score in best.trace_)


def test_few_rows_are_all_taken() -> None:
    X, y = problem(rows=40)
    found = NestedPartitions(two_stage=True, delta=0.05, psi=0.75, random_state=0).fit(X, y)
    assert (found.sampling_rate_, found.variance_curve_) == (1.0, None)
    assert found.n_rows_evaluated_ == 40 * found.n_evaluations_


def test_other_measures_words_and_missing_values() -> None:
    X, y = problem(rows=150, columns=5, n_classes=3)
    for measure in ("classifier", "inconsistency", "cfs_pearson", "bic"):
        found = NestedPartitions(measure, sampling_rate=0.5, n_sets=5, delta=0.05, random_state=0).fit(X, y)
        assert found.complete_
        assert measure == "inconsistency" or {1, 4} & {*found.chosen_}
    frame = pl.DataFrame({"a": np.where(y == 0, "x", "y"), "b": X[:, 0], "c": np.where(y == 1, np.nan, X[:, 2])})
    for parameters in ({}, {"two_stage": True, "delta": 0.05, "psi": 0.75}):
        found = NestedPartitions(random_state=0, **parameters).fit(frame, np.array(["u", "v", "w"])[y])
        assert found.get_feature_names_out().tolist() == ["a", "c"]
    with pytest.raises(DataError, match="takes no nominal column such as 'a'"):
        NestedPartitions("classifier").fit(frame, y)


def test_one_column_and_columns_without_use() -> None:
    X, y = problem(rows=100)
    for parameters in ({}, {"sampling_rate": 0.3}, {"two_stage": True, "delta": 0.05, "psi": 0.75}):
        made = NestedPartitions(random_state=0, **parameters)
        assert made.fit(X[:, [1]], y).chosen_.tolist() == [0]
        # Of equal sets the smallest: a single column.
        constant = made.fit(np.ones((100, 3)), y)
        assert (constant.chosen_.size, constant.score_) == (1, 0.0)
        wide = made.fit(np.column_stack([np.ones(100), X[:, 1], X[:, 1], np.zeros(100)]), y)
        assert wide.chosen_.tolist() in ([1], [2])


@pytest.mark.parametrize(
    "parameters",
    [
        *({"delta": delta} for delta in (0.0, -1.0)),
        *({"psi": psi} for psi in (0.5, 1.0, 0.3)),
        *({"sampling_rate": rate} for rate in (0.0, 1.5)),
        *({"trade_off": value} for value in (0.0, 1.0)),
        *({"n0": 1}, {"n_sets": 0}, {"max_iter": 0}, {"draw": "dice"}, {"measure": "best"}),
    ],
)
def test_bad_parameters_are_refused(parameters: dict) -> None:
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}'"):
        NestedPartitions(**parameters).fit(*problem(rows=30))


def test_bad_input() -> None:
    X, y = problem(rows=60, columns=25)
    with pytest.raises(TamisError, match="at least 2 classes"):
        NestedPartitions().fit(X, np.zeros(60))
    with pytest.raises(ValueError, match="infinity"):
        NestedPartitions().fit(np.where(X > 3, np.inf, X) + np.inf, y)
    with pytest.raises(ValueError, match="0 sample"):
        NestedPartitions().fit(X[:0], y[:0])
    with pytest.raises(TamisError, match=r"delta=1e-09 needs .* sets in an iteration"):
        NestedPartitions(two_stage=True, delta=1e-9, random_state=0).fit(X, y)
    stopped = NestedPartitions(two_stage=True, delta=1e-9, random_state=0, max_evaluations=2000).fit(X, y)
    assert stopped.n_evaluations_ == 2000
    with pytest.raises(NotFittedError):
        NestedPartitions().transform(X)


def test_in_a_recipe() -> None:
    X, y = problem()
    model = parse("nested_partitions(cfs, two_stage=true, delta=0.05, psi=0.75, random_state=0) | knn(5)").build()
    assert model.fit(X, y).score(X, y) > 0.8


# Eight columns of real data, against all 256 sets


def within(shared_data, name: str, runs: int, delta: float, psi: float, **parameters) -> float:
    """Share of searches on eight random columns that end at most delta below the best set."""
    data = load(str(shared_data / "uci" / f"{name}.arff.gz"))
    y = np.unique(np.asarray(data.y), return_inverse=True)[1]
    reached = 0
    for run in range(runs):
        columns = np.sort(np.random.default_rng(run).permutation(data.n_features)[:8])
        X = data.X[:, columns.tolist()]
        matrix, nominal, _ = coded(X)
        best = CFS.of(matrix, y, nominal).many(every_set(8)).max()
        found = NestedPartitions(delta=delta, psi=psi, random_state=run, **parameters).fit(X, y)
        reached += best - found.score_ <= delta + 1e-12
    return reached / runs


SETS = ("vote", "audiology", "lymph", "kr.vs.kp")


@pytest.mark.parametrize("name", SETS)
def test_two_stages_end_near_the_best_set(shared_data, name: str) -> None:
    assert within(shared_data, name, 10, 0.05, 0.75, two_stage=True) >= 0.75 - 0.03


@pytest.mark.parametrize("name", SETS)
def test_on_all_rows_the_best_of_eight_real_columns_is_found(shared_data, name: str) -> None:
    assert within(shared_data, name, 20, 1e-9, 0.75) >= 0.9


@pytest.mark.slow
@pytest.mark.parametrize("psi", [0.75, 0.85, 0.95])
@pytest.mark.parametrize("delta", [0.05, 0.01])
@pytest.mark.parametrize("name", SETS)
def test_two_stages_end_near_the_best_set_as_often_as_promised(shared_data, name, delta, psi) -> None:
    assert within(shared_data, name, 100, delta, psi, two_stage=True) >= psi - 0.03
