"""The search from end to end: what it finds, its honest estimate, and that nothing but the seed decides."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from tamis.base.errors import TamisError
from tamis.compose.catalog import entry
from tamis.compose.recipe import parse, recipe
from tamis.data.dataset import Dataset
from tamis.mining.budget import Budget, Clock, budget
from tamis.mining.mined import Mined, inner_estimate, leaderboard
from tamis.mining.run.packing import array_from_bytes
from tamis.mining.run.store import Store
from tamis.mining.runner import Progress
from tamis.mining.search import mine
from tamis.mining.search_state import RemainingWork, Request, SearchState
from tamis.mining.stages import _settings, _varied, narrow
from tamis.mining.template import Template
from tamis.mining.trials import Trial, Trials, inner_folds
from tamis.mining.variation import Candidate
from tamis.validation.experiment import Experiment
from tamis.validation.metrics import all_metrics
from tamis.validation.plan import plan

TEMPLATES = ("standardize | cc | {knn(metric=minkowski), svm(linear)}",)


def planted(n_rows: int = 60, n_columns: int = 30, n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose first three columns tell the class."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_rows) % n_classes)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, :3] += 2.0 * y[:, None]
    return X, y


def quick(X, y=None, **options) -> Mined:
    """A small search; copies of models in committees take most of the time and are left to one test."""
    usual = {"trials": 8, "only": TEMPLATES, "without": ["committee"], "engine": "serial", "folds": 2, "inner_folds": 2}
    return mine(X, y, **{"estimate": "bootstrap", **usual, **options})


def leaderboard_of(found: Mined) -> list[dict]:
    """The leaderboard without the seconds."""
    return found.leaderboard_.drop("seconds").to_dicts()


@pytest.fixture(scope="module")
def found() -> Mined:
    return quick(*planted())


@pytest.fixture(scope="module")
def nested() -> Mined:
    return quick(*planted(), estimate="nested")


@pytest.fixture(scope="module")
def longer() -> Mined:
    return quick(*planted(), trials=14, estimate="nested")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Mined, Path]:
    """A search and the file of its run."""
    path = tmp_path_factory.mktemp("finished") / "run"
    return quick(*planted(), run=path), path


@pytest.fixture
def run(finished: tuple[Mined, Path], tmp_path: Path) -> Path:
    """A copy of that file, which may be written to."""
    return Path(shutil.copy(finished[1], tmp_path / "run"))


def test_the_planted_columns_are_found_and_the_error_is_small(found: Mined) -> None:
    assert set(found.selected_features_) & {0, 1, 2}
    assert found.validation_.summary()["ber"].mean < 0.2
    X, y = planted(400, seed=1)
    assert (found.predict(X) == y).mean() > 0.8


def test_what_is_returned_is_a_fitted_estimator(found: Mined) -> None:
    assert found.classes_.tolist() == [0, 1]
    assert found.n_features_in_ == 30
    fresh, truth = planted(50, seed=2)
    assert found.score(fresh, truth) == (found.predict(fresh) == truth).mean()
    assert hasattr(found, "predict_proba") == hasattr(found.model, "predict_proba")
    assert found.run_.path is None
    assert found.run_.n_tried == 8 + sum(found.leaderboard_["stage"] == "ensemble")
    assert found.run_.choices == ()
    assert clone(found).model is not found.model


def test_the_model_is_the_choice_fitted_on_all_rows(found: Mined) -> None:
    X, y = planted()
    assert found.predict(X).tolist() == recipe(found.recipe_).fit(X, y).predict(X).tolist()


def test_every_offer_is_fitted_and_has_its_own_estimate(found: Mined) -> None:
    X, y = planted()
    assert list(found.models_) == ["best", "single", "small"]
    assert found.models_["best"].recipe == found.recipe_
    assert found.models_["best"].model is found.model
    assert found.models_["best"].validation == found.validation_
    for one in found.models_.values():
        assert (one.model.predict(X) == y).mean() > 0.8
        assert one.validation.estimates["ber"].mean < 0.3
        assert one.recipe in set(found.leaderboard_["recipe"])
    sizes = {name: one.selected_features.size for name, one in found.models_.items()}
    assert sizes["small"] <= sizes["single"]
    assert set(found.summary()["models"]["small"]) == {"recipe", "features", "metric", "honest", "inner_estimate"}


@pytest.mark.parametrize("prefer", ["single", "small"])
def test_the_preferred_offer_is_the_model(found: Mined, prefer) -> None:
    other = quick(*planted(), prefer=prefer)
    assert other.recipe_ == found.models_[prefer].recipe
    assert other.validation_ == found.models_[prefer].validation


def test_no_offer_uses_more_features_than_wanted() -> None:
    few = quick(*planted(), max_features=4)
    assert all(one.validation.mean_selected <= 4 for one in few.models_.values())


def test_without_a_blend_the_best_is_a_single_model() -> None:
    found = quick(*planted(), without=["committee", "blend"])
    assert found.recipe_ == found.models_["single"].recipe
    assert "ensemble" not in set(found.leaderboard_["stage"])


def test_the_honest_error_is_that_of_the_folds_corrected_for_the_choice(found: Mined) -> None:
    """The predictions are those of the folds, each by a model that has not seen the row; the estimate is larger."""
    X, y = planted()
    said = found.validation_.predictions
    assert np.unique(said.row).size == 60
    for repeat, fold in {(r, f) for r, f in zip(said.repeat, said.fold, strict=True)}:
        own = (said.repeat == repeat) & (said.fold == fold)
        train = np.setdiff1d(np.arange(60), said.row[own])
        model = recipe(found.recipe_).fit(X[train], y[train])
        assert said.label[own].tolist() == model.predict(X[said.row[own]]).tolist()
    plain = found.validation_.values["ber"].mean()
    assert plain <= found.validation_.estimates["ber"].mean <= plain + 0.1
    assert found.validation_.estimates["ber"].se > 0


def test_the_nested_error_is_that_of_the_choices_on_rows_they_have_not_seen(nested: Mined) -> None:
    """Every outer fold is refitted by hand, with the recipe chosen there, on the rows outside it."""
    X, y = planted()
    said = nested.validation_.predictions
    assert len(nested.run_.choices) == 2
    for fold, text in enumerate(nested.run_.choices):
        test = said.row[said.fold == fold]
        train = np.setdiff1d(np.arange(60), test)
        model = recipe(text).fit(X[train], y[train])
        assert said.label[said.fold == fold].tolist() == model.predict(X[test]).tolist()


def test_every_offer_of_a_nested_search_is_evaluated_in_the_outer_folds(nested: Mined) -> None:
    for one in nested.models_.values():
        assert one.validation.split == nested.validation_.split
        assert one.validation.predictions.row.tolist() == list(range(60))


def test_many_rows_and_a_small_class_have_a_corrected_estimate() -> None:
    """The first look has every row, but models of fewer training rows."""
    X, _ = planted(1400, 4)
    y = (np.arange(1400) % 40 == 0).astype(int)
    X[:, 0] += 2.0 * y
    found = quick(X, y, trials=3, only=["cc | knn(metric=minkowski)"], inner_folds=5)
    assert 0 < found.validation_.estimates["ber"].mean < 0.5


def test_a_search_within_an_outer_fold_never_sees_its_test_rows(nested: Mined) -> None:
    """Other classes on the test rows of a fold change the choice of no search within it."""
    X, y = planted()
    said = nested.validation_.predictions
    test = said.row[said.fold == 1]
    X[test] = np.random.default_rng(5).normal(size=X[test].shape)
    after = quick(X, y, estimate="nested")
    assert after.run_.choices[1] == nested.run_.choices[1]


def test_same_seed_same_answer(found: Mined) -> None:
    again = quick(*planted())
    assert leaderboard_of(again) == leaderboard_of(found)
    assert again.validation_ == found.validation_
    other = quick(*planted(), seed=1)
    assert other.validation_ != found.validation_


def test_local_processes_find_the_same(found: Mined) -> None:
    other = quick(*planted(), engine="local(2)")
    assert leaderboard_of(other) == leaderboard_of(found)
    assert other.validation_ == found.validation_


def test_the_leaderboard_is_in_order(found: Mined) -> None:
    table = found.leaderboard_
    for _, part in table.group_by("folds"):
        assert part["ber"].round(9).is_sorted()
    assert table["folds"].is_sorted(descending=True)
    assert table["recipe"].n_unique() == table.height


@pytest.mark.parametrize("kind", ["sparse", "polars", "pandas", "three classes", "words"])
def test_other_kinds_of_data(kind: str) -> None:
    X, y = planted(n_classes=3 if kind == "three classes" else 2)
    if kind == "sparse":
        found = quick(sp.csr_matrix(np.where(X > 0, X, 0)), y, trials=4)
    elif kind == "polars":
        frame = pl.DataFrame(X, schema=[f"g{i}" for i in range(30)]).with_columns(
            pl.Series("colour", np.where(y, "red", "blue"))
        )
        found = quick(frame, y, trials=4)
        assert "colour" in found.selected_features_.tolist()
    elif kind == "pandas":
        import pandas as pd

        found = quick(pd.DataFrame(X, columns=[f"g{i}" for i in range(30)]), y, trials=4)
        assert {"g0", "g1", "g2"} & set(found.selected_features_)
    elif kind == "words":
        found = quick(X, np.where(y, "ill", "well"), trials=4)
        assert found.classes_.tolist() == ["ill", "well"]
    else:
        found = quick(X, y, trials=4)
    assert found.validation_.summary()["ber"].mean < 0.35


def test_groups_stay_together() -> None:
    X, y = planted()
    groups = np.repeat(np.arange(20), 3)
    y = y[groups * 3]
    for estimate in ("bootstrap", "nested"):
        said = quick(X, y, groups=groups, estimate=estimate).validation_.predictions
        for group in range(20):
            own = np.isin(said.row, np.flatnonzero(groups == group)) & (said.repeat == 0)
            assert np.unique(said.fold[own]).size == 1


def test_the_official_split_has_one_search_on_the_training_rows() -> None:
    X, y = planted(90)
    split = np.repeat(["train", "valid"], [60, 30])
    data = Dataset(X, y, np.array([f"g{i}" for i in range(30)]), split=split)
    found = quick(data, split="official")
    assert len(found.run_.choices) == 1
    assert found.run_.choices[0] == found.recipe_
    for one in found.models_.values():
        assert one.validation.predictions.row.tolist() == list(range(60, 90))
    model = recipe(found.recipe_).fit(X[:60], y[:60])
    assert found.validation_.predictions.label.tolist() == model.predict(X[60:]).tolist()
    # The model to use learns from all rows.
    assert found.predict(X).tolist() == recipe(found.recipe_).fit(X, y).predict(X).tolist()


def test_the_choice_does_not_depend_on_the_rows_that_judge_it(tmp_path: Path) -> None:
    """Neither with an official split, nor in the searches within outer folds."""
    X, y = planted(90)
    split = np.repeat(["train", "valid"], [60, 30])
    names = np.array([f"g{i}" for i in range(30)])
    other = np.where(np.arange(90) < 60, y, y[::-1])
    one, two = (quick(Dataset(X, own, names, split=split), split="official") for own in (y, other))
    assert leaderboard_of(one) == leaderboard_of(two)
    assert one.run_.choices == two.run_.choices
    experiment = Experiment.of(X, y, folds=2)
    quick(X, y, estimate="nested", run=tmp_path / "run")
    with sqlite3.connect(tmp_path / "run") as connection:
        seen = connection.execute("select search, \"rows\" from splits where split != 'outer'").fetchall()
    for number, own in enumerate(experiment.splits):
        rows = [array_from_bytes(packed, "iu") for search, packed in seen if search == number]
        assert rows
        assert not np.isin(np.concatenate(rows), own.test).any()


#: Parts that make many models for one, which is what takes time on small data.
MANY = (
    *("forest", "extra_trees", "boost", "from_model", "committee"),
    *("sfs", "sffs", "pta", "sbs", "sbfs", "wrapper", "best_first", "genetic", "lvf", "fortal", "nested_partitions"),
)


def test_the_stages_of_a_search_without_templates(tmp_path: Path) -> None:
    X, y = planted(50, 12)
    found = quick(X, y, trials=120, only=(), without=MANY, run=tmp_path / "run")
    assert {"portfolio", "base", "select", "classify", "tune", "substitute"} <= set(found.leaderboard_["stage"])
    assert found.validation_.summary()["ber"].mean < 0.3
    assert not found.run_.failed


@pytest.mark.slow
def test_the_whole_space_on_small_data() -> None:
    X, y = planted(50, 12)
    found = quick(X, y, trials=80, only=(), without=())
    assert "ensemble" in set(found.leaderboard_["stage"])
    assert found.validation_.summary()["ber"].mean < 0.3
    assert not found.run_.failed


@pytest.mark.parametrize("estimate", ["bootstrap", pytest.param("nested", marks=pytest.mark.slow)])
def test_labels_at_random_are_not_predicted(estimate) -> None:
    """The folds that choose are fooled, the honest estimate is not."""
    errors, inner = [], []
    for seed in range(5):
        X, y = planted(60, 100, seed=seed)
        found = quick(X, np.random.default_rng(seed).permutation(y), seed=seed, estimate=estimate)
        errors.append(found.validation_.summary()["ber"].mean)
        inner.append(found.inner_estimate_.mean)
    assert abs(np.mean(errors) - 0.5) < 0.12
    assert np.mean(inner) < np.mean(errors)


def test_a_run_that_is_over_is_read_from_its_file(finished: tuple[Mined, Path], run: Path) -> None:
    first, _ = finished
    heard: list[Progress] = []
    again = quick(*planted(), run=run, progress=heard.append)
    assert not heard
    assert leaderboard_of(again) == leaderboard_of(first)
    assert again.validation_ == first.validation_
    assert again.run_.seconds >= first.run_.seconds


def test_a_larger_budget_goes_on(run: Path) -> None:
    known = _count(run)
    more = quick(*planted(), run=run, trials=14)
    assert leaderboard_of(more) == leaderboard_of(quick(*planted(), trials=14))
    assert _count(run) > known > 0


def test_other_data_or_another_seed_is_refused(run: Path) -> None:
    X, y = planted()
    with pytest.raises(TamisError, match=r"run: this run was made with seed 0, not 1"):
        quick(X, y, run=run, seed=1)
    X[0, 0] += 1
    with pytest.raises(TamisError, match=r"run: this run was made from other data"):
        quick(X, y, run=run)


KILLED = """
import sys
sys.path.insert(0, {tests!r})
from test_mine import {data}, quick
quick(*{data}(), run={run!r}, **{options!r})
"""


def kill_again_and_again(run: Path, times: int, data: str = "planted", **options: Any) -> int:
    """Begin a search so many times, and kill it at some moment after it has kept something new; how often it was."""
    rng = np.random.default_rng(3)
    program = KILLED.format(tests=str(Path(__file__).parent), run=str(run), data=data, options=options)
    kills = 0
    for _ in range(times):
        process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
        deadline, known = time.monotonic() + 120, _count(run)
        while process.poll() is None and time.monotonic() < deadline and _count(run) == known:
            time.sleep(0.02)
        time.sleep(float(rng.uniform(0, 0.5)))
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.wait()
    return kills


@pytest.mark.parametrize("engine", ["serial", pytest.param("local(2)", marks=pytest.mark.slow)])
def test_a_run_that_is_killed_again_and_again_ends_the_same(tmp_path: Path, engine: str, longer: Mined) -> None:
    options = {"trials": 14, "estimate": "nested"}
    assert kill_again_and_again(tmp_path / "run", 2, engine=engine, **options)
    ended = quick(*planted(), run=tmp_path / "run", **options)
    assert leaderboard_of(ended) == leaderboard_of(longer)
    assert ended.validation_ == longer.validation_


def larger() -> tuple[np.ndarray, np.ndarray]:
    """More rows and columns, for a search that takes a while."""
    return planted(120, 300)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_twenty_kills_in_one_run_of_the_whole_space_change_nothing(tmp_path: Path) -> None:
    options = {"only": (), "without": (), "trials": 60, "folds": 3, "inner_folds": 4, "engine": "local(2)"}
    kills = kill_again_and_again(tmp_path / "run", 20, "larger", **options)
    ended = quick(*larger(), run=tmp_path / "run", **options)
    alone = quick(*larger(), **options)
    assert kills == 20
    assert leaderboard_of(ended) == leaderboard_of(alone)
    assert ended.validation_ == alone.validation_


def _count(run: Path) -> int:
    if not run.exists():
        return 0
    try:
        with Store.read(run) as store:
            return store.count()
    except TamisError:
        return 0


class Timer:
    """A timer that moves a little whenever it is read."""

    def __init__(self, tick: float = 0.0) -> None:
        self.now, self.tick = 1000.0, tick

    def __call__(self) -> float:
        self.now += self.tick
        return self.now


def test_the_clock_of_a_budget() -> None:
    timer = Timer()
    clock = Clock(Budget(100.0), 40.0, timer)
    assert clock.spent == 40.0
    assert clock.left == 60.0
    assert clock.over("base")
    assert not clock.over("confirm")
    assert clock.left_of("base") < clock.left_of("select") < clock.left_of("last") < clock.left  # type: ignore[operator]
    timer.now += 57.0
    assert clock.over("last")
    clock.freeze(1.0)
    assert not clock.over("base")
    assert clock.spent == 1.0
    clock.freeze(None)
    assert clock.spent == 97.0


def test_what_is_reserved_moves_the_ends_of_the_stages() -> None:
    clock = Clock(Budget(100.0), timer=Timer())
    assert clock.left_of("narrow") == clock.left_of("confirm") == 94.0
    clock.reserve(confirm=7.0, final=20.0)
    assert clock.left_of("narrow") == pytest.approx(67.0)
    assert clock.left_of("confirm") == clock.left_of("ensemble") == pytest.approx(74.0)
    # However much it takes, most of the time is for the search.
    clock.reserve(confirm=1e6, final=1e6)
    assert clock.left_of("narrow") == pytest.approx(94.0 * (1 - 0.15 - 0.25))


def test_the_stages_of_a_phase_share_its_time() -> None:
    timer = Timer()
    clock = Clock(Budget(100.0), timer=timer)
    clock.enter(share=0.5)
    assert clock.left_of("narrow") == pytest.approx(47.0)
    clock.reserve(confirm=0.0, final=7.0)
    assert (clock.reserved, clock.left_of("narrow")) == (7.0, pytest.approx(40.0))
    # What the first phase needs at the end of the run is kept for it.
    timer.now += 44.0
    clock.enter(44.0, keep=clock.reserved)
    assert clock.left_of("narrow") == clock.left_of("confirm") == pytest.approx(94.0 - 44.0 - 7.0)
    assert clock.left_of("base") == pytest.approx(0.33 * 43.0)
    assert clock.left_of("tune") == clock.left_of("substitute") == pytest.approx(0.85 * 43.0)
    assert clock.left_with_tolerance == pytest.approx(43.0 + 6.0 + 7.0)
    # A phase that begins too late has no time, and not less than none.
    clock.enter(99.0)
    timer.now += 55.0
    assert clock.left_of("last") == pytest.approx(0.0)


def test_a_first_look_may_take_longer_than_its_stage() -> None:
    timer = Timer()
    clock = Clock(Budget(100.0), timer=timer)
    begin = timer.now
    assert Request("base", (), ()).until(clock) == pytest.approx(begin + 0.33 * 94.0)
    assert Request("base", (), (), beyond="first look").until(clock) == pytest.approx(begin + 0.65 * 94.0)
    # It has never less time than its stage.
    assert Request("narrow", (), (), beyond="first look").until(clock) == pytest.approx(begin + 94.0)
    assert Request("base", (), (), beyond="first look").until(Clock(Budget(None, 3))) is None


def test_the_remaining_work_depends_on_the_rows() -> None:
    remaining = RemainingWork(outer_splits=2.5, rows=200, last_rows=100)
    assert remaining.fits(200, growth=1.3) == pytest.approx(2.5 + 0.5**1.3)
    assert remaining.fits(100, growth=3.0) == pytest.approx(2.5 * 2**3 + 1)


def test_dense_solvers_are_expected_to_take_longer_on_all_rows() -> None:
    folds = inner_folds(np.arange(100), np.arange(100) % 2, None, search=0, folds=5, seed=0)
    trials = Trials(0, folds, all_metrics["ber"])
    state = SearchState(
        trials,
        SimpleNamespace(entry=entry),
        Clock(Budget(None, 9)),
        0,
        np.arange(100) % 2,
        None,
        None,
        1.0,  # type: ignore[arg-type]
        RemainingWork(0.0, 100, 160),
    )
    for text, growth in (("cc(5) | knn(3)", 1.3), ("cc(5) | svm(linear)", 2.0), ("cc(5) | rlsc(linear)", 3.0)):
        template = Template.of(parse(text))
        trials.add(text, "base", Candidate(template, template))
        trial = trials.by_recipe[text]
        trial.alone = dict.fromkeys(folds.folds, 1.5)
        assert state.seconds_after(trial) == pytest.approx(1.5 * (160 / 80) ** growth)


def test_without_a_limit_of_time_nothing_is_ever_over() -> None:
    clock = Clock(Budget(None, 10), 1e9)
    assert clock.left is clock.end_of("base") is clock.left_of("base") is None
    assert not clock.over("last")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("1h30m", 5400), ("1.5h", 5400), ("2d", 172800), (30, 30), (" 5M ", 300)],
)
def test_budgets_of_time(text: str | int, seconds: float) -> None:
    assert budget(text).seconds == seconds


@pytest.mark.parametrize("text", ["", "ten", "10", "10x", "m10", "-5m", 0, -3, True, "0.5s", float("nan")])
def test_what_is_no_time_is_refused(text) -> None:
    with pytest.raises(TamisError, match="budget takes a time"):
        budget(text)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"split": "pooled"}, "split takes 'folds' or 'official'"),
        ({"rule": "boldest"}, "rule must be one of"),
        ({"trials": 0}, "trials"),
        ({"engine": "gpu"}, "or dask://host:port; got 'gpu'"),
        ({"only": ["cc"]}, "must end in a classifier"),
        ({"without": ["nobody"]}, "no part is called 'nobody'"),
        ({"metric": "beauty"}, "no metric is called 'beauty'"),
        ({"inner_folds": 1}, "inner_folds"),
        ({"folds": 40}, "no class has 40 rows"),
        ({"split": "official"}, "no official split"),
        ({"caution": -1}, "caution"),
    ],
)
def test_wrong_parameters_are_refused_in_one_sentence(options: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as refused:
        quick(*planted(), **options)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("bad", ["one row", "one class", "empty", "nothing works"])
def test_bad_data_is_refused_in_one_sentence(bad: str) -> None:
    X, y = planted()
    if bad == "one row":
        X, y = X[:1], y[:1]
    elif bad == "one class":
        y = np.zeros_like(y)
    elif bad == "empty":
        X = X[:, :0]
    with pytest.raises(ValueError, match=r"\w"):
        quick(X, y, only=["chi2(5, of=counts) | knn(3)"] if bad == "nothing works" else TEMPLATES)


@pytest.mark.parametrize("oddity", ["one column", "constant", "duplicates", "missing", "infinite"])
def test_odd_data_is_taken_or_refused(oddity: str) -> None:
    X, y = planted()
    if oddity == "one column":
        X = X[:, :1]
    elif oddity == "constant":
        X[:, 5:] = 1.0
    elif oddity == "duplicates":
        X = np.hstack([X, X])
    elif oddity == "missing":
        X[::7, 4] = np.nan
    else:
        X[0, 0] = np.inf
        with pytest.raises(ValueError, match="infinity"):
            quick(X, y)
        return
    assert quick(X, y, trials=4).validation_.summary()["ber"].mean < 0.4


def test_batches_are_whole_sweeps_and_hold_every_model_once() -> None:
    chains = parse("standardize | {cc(geom(1, 50, 9)), ssv(geom(1, 50, 9))} | {knn({1, 3, 5}), svm(C={1, 10})}")
    models = [chain.build() for chain in chains.variants()]
    found = plan(models).batches(24)
    assert sorted(i for batch in found for i in batch) == list(range(len(models)))
    assert max(map(len, found)) <= 24
    for batch in found:
        # What one fit serves stands in one batch.
        own = [models[i] for i in batch]
        assert plan(own).n_fits() < sum(len(model.steps) for model in own)


def test_a_recipe_is_read_once_in_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr("tamis.mining.runner.recipe", lambda text, **given: read.append(text) or recipe(text, **given))
    found = quick(*planted())
    assert len(read) == len(set(read)) >= found.run_.n_tried - 1


def test_folds_within_a_search_stay_within_its_rows() -> None:
    y = np.repeat([0, 1], [2000, 2500])
    rows = np.arange(0, 4500, 2)
    found = inner_folds(rows, y, None, search=3, folds=5, seed=0)
    assert (len(found.folds), len(found.all)) == (2, 5)
    assert np.sort(np.concatenate([found.splits[i].test for i in found.all])).tolist() == rows.tolist()
    for split in found.splits:
        assert not np.intersect1d(split.train, split.test).size
        assert np.isin(split.train, rows).all()
    # A first look is fitted on fewer rows and is evaluated on the same ones.
    first = [found.splits[i] for i in found.first]
    assert all(abs(split.train.size - 1000) < 3 for split in first)
    assert first[0].test.tolist() == found.splits[0].test.tolist()
    assert len({found.name(i) for i in range(len(found.splits))}) == len(found.splits)


@pytest.mark.parametrize(
    ("rows", "first", "folds", "every"), [(60, 5, 10, 25), (100, 4, 10, 25), (300, 2, 5, 10), (1000, 2, 3, 5)]
)
def test_small_classes_are_evaluated_more_often_and_large_ones_less(
    rows: int, first: int, folds: int, every: int
) -> None:
    found = inner_folds(np.arange(rows), np.arange(rows) % 2, None, search=0, folds=5, seed=0)
    assert (len(found.first), len(found.folds), len(found.all)) == (first, folds, every)
    assert set(found.first) <= set(found.folds) <= set(found.all)


def test_errors_count_against_nobody_else() -> None:
    folds = inner_folds(np.arange(20), np.arange(20) % 2, None, search=0, folds=2, seed=0)
    trials = Trials(0, folds, all_metrics["ber"])
    trials.add("knn", "base", None)
    trials.record("knn", 0, TamisError("no"))
    assert trials.by_recipe["knn"].error == "no"
    assert not trials.ranked(folds.first)


def test_the_best_counts_though_time_ran_out_before_its_last_fold() -> None:
    folds = inner_folds(np.arange(4000), np.repeat([0, 1], [300, 3700]), None, search=0, folds=5, seed=0)
    trials = Trials(0, folds, all_metrics["ber"])
    errors = {"through": [0.2, 0.1, 0.2, 0.2, 0.2], "cut": [0.12, 0.1, 0.1, 0.1], "lucky": [0.01, 0.01, 0.01]}
    for text, values in errors.items():
        trials.add(text, "base", None)
        for split, value in zip(folds.all, values, strict=False):
            trials.by_recipe[text].values[split] = -value
    assert trials.levels() == (folds.all[:4], folds.all[:4], folds.first)
    assert leaderboard(trials)["recipe"].to_list() == ["cut", "through"]
    assert leaderboard(trials)["folds"].to_list() == [4, 4]
    assert inner_estimate(trials, trials.by_recipe["cut"]).mean == pytest.approx(0.105)
    # One that is no better on the folds it has changes nothing.
    trials.by_recipe["cut"].values[folds.all[0]] = -0.4
    assert trials.levels() == (folds.all, folds.all, folds.first)
    assert leaderboard(trials)["recipe"].to_list() == ["through"]


def test_a_first_look_far_behind_the_best_is_all_that_a_trial_gets() -> None:
    folds = inner_folds(np.arange(4000), np.arange(4000) % 2, None, search=0, folds=5, seed=0)
    trials = Trials(0, folds, all_metrics["ber"])

    def put(text: str, first: float, every: float | None) -> Trial:
        trials.add(text, "base", None)
        trial = trials.by_recipe[text]
        trial.values = dict.fromkeys(folds.first, -first)
        if every is not None:
            trial.values |= dict.fromkeys(folds.folds, -every)
        return trial

    seen = [put("near", 0.14, None), put("far", 0.40, None)]
    for number, (first, every) in enumerate([(0.20, 0.18), (0.15, 0.12), (0.12, 0.11)]):
        put(f"known {number}", first, every)
    # Three trials do not show how far a first look may be off.
    assert trials.within_reach(seen) == seen
    put("known 3", 0.30, 0.29)
    # The differences 0.02, 0.03, 0.01 and 0.01 deviate by about 0.01, and are 0.02 in the mean.
    assert trials.within_reach(seen) == seen[:1]
    for trial in trials.by_recipe.values():
        if trial not in seen:
            trial.values = dict.fromkeys(range(len(folds.splits)), -0.1)
    assert trials.within_reach(seen) == seen


def test_a_run_with_a_limit_of_time_is_read_as_it_was(tmp_path: Path) -> None:
    """Time decided what was tried; when the run is read again, long after, the same was tried and is chosen."""
    X, y = planted(60, 200)
    options = {"trials": None, "budget": 5, "only": (), "run": tmp_path / "run"}
    first = quick(X, y, **options)
    reports: list[Progress] = []
    again = quick(X, y, progress=reports.append, **options)
    assert not reports
    assert leaderboard_of(again) == leaderboard_of(first)
    assert again.recipe_ == first.recipe_
    assert again.run_.choices == first.run_.choices
    assert again.validation_ == first.validation_


def test_of_equal_models_the_smaller_comes_first_but_not_one_without_columns() -> None:
    folds = inner_folds(np.arange(40), np.arange(40) % 2, None, search=0, folds=2, seed=0)
    trials = Trials(0, folds, all_metrics["ber"])
    for recipe_, size in (("none", 0), ("large", 9), ("small", 2)):
        trials.add(recipe_, "base", None)
        trial = trials.by_recipe[recipe_]
        trial.values = dict.fromkeys(folds.all, -0.5)
        trial.sizes = dict.fromkeys(folds.all, size)
    assert [one.recipe for one in trials.ranked(folds.all)] == ["small", "large", "none"]


def test_what_is_tuned_differs_in_its_classifier_and_in_its_selection() -> None:
    texts = ["cc(5) | knn(3)", "cc(9) | knn(3)", "ssv(5) | knn(3)", "cc(5) | nrbf", "stump(5) | tree", "ssv(5) | nrbf"]
    templates = {text: Template.of(parse(text)) for text in texts}
    tried = [Trial(text, "base", Candidate(template, template)) for text, template in templates.items()]
    assert [str(one.closed) for one in _varied(tried, 4)] == [texts[0], texts[3], texts[2], texts[4]]
    assert [str(one.closed) for one in _varied(tried, 9)][-1] == texts[1]
    assert _varied([], 4) == []


def test_the_best_models_of_all_families_are_tried_with_fewer_columns_as_long_as_that_helps() -> None:
    ranges = {"cc": "cc(geom(1, 100))", "ssv": "ssv(geom(1, 100))"}
    tried: list[Trial] = []

    def put(text: str) -> None:
        selection, bar, classifier = text.partition(" | ")
        open_ = ranges.get(selection.split("(")[0], selection) + bar + classifier
        tried.append(Trial(text, "tune", Candidate(Template.of(parse(open_)), Template.of(parse(text)))))

    def loss(trial: Trial) -> float:
        """The best number of columns is 9 by cc and 2 by ssv."""
        size = dict(trial.candidate.closed.select[0].arguments).get("k", 99) if trial.candidate.closed.select else 99
        return abs(size - (9 if "cc" in trial.recipe else 2))

    def add(stage: str, candidates: Any) -> list[str]:
        known = [one.recipe for one in tried]
        new = [text for text in (str(one.closed) for one in candidates) if text not in known]
        for text in new:
            put(text)
        return new

    for text in ("cc(40) | knn(3)", "cc(30) | knn(3)", "ssv(2) | knn(3)", "ssv_tree(8) | nrbf", "knn(3)"):
        put(text)
    state: Any = SimpleNamespace(
        best=lambda: sorted(tried, key=loss),
        over=lambda stage: False,
        add=add,
        trials=SimpleNamespace(inner=SimpleNamespace(folds=(0, 1))),
    )
    requests = list(narrow(state))
    assert [one.recipes for one in requests] == [
        ("ssv(1) | knn(3)", "cc(15) | knn(3)"),
        ("cc(8) | knn(3)",),
        ("cc(4) | knn(3)",),
        ("cc(6) | knn(3)",),
    ]
    assert {(one.stage, one.splits) for one in requests} == {("narrow", (0, 1))}
    state.over = lambda stage: stage == "narrow"
    assert not list(narrow(state))


def test_a_classifier_is_tried_all_over_its_ranges_where_one_fit_serves_many_values() -> None:
    def settings(text: str) -> list[str]:
        classifier = Template.of(parse(f"cc(5) | {text}")).classify
        state: Any = SimpleNamespace(space=SimpleNamespace(entry=entry))
        return [str(closed[-1]) for _, closed in _settings(state, classifier)]

    assert settings("svm(linear, C=geom(0.01, 100.0))") == [
        "svm(linear, C=0.0464)",
        "svm(linear, C=1.0)",
        "svm(linear, C=21.5)",
    ]
    assert len(settings("rms_norm | svm(gaussian, C=geom(0.01, 100.0), sigma=geom(0.1, 10.0))")) == 9
    assert settings("logistic(C=geom(0.01, 100.0))") == ["logistic(C=1.0)"]
    assert settings("lda") == ["lda"]
