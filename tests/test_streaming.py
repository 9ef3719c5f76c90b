"""Tables that are read piece by piece: the same scores as in memory, within the folds too, after a kill too."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

import tamis
from tamis import scores
from tamis.base.errors import DataError, TamisError
from tamis.compose.parser import parse
from tamis.compose.streamed import RankingStep, StreamedTable
from tamis.data.chunks import lines
from tamis.data.chunks.formats import open_chunked
from tamis.data.chunks.parquet import ParquetTable, row_group_sizes
from tamis.data.dataset import Dataset
from tamis.data.reading import Reading
from tamis.kernels.value_tables import count_between
from tamis.streaming import kept_sums, memory
from tamis.streaming.scores import Folds, streamed_scores
from tamis.streaming.table_scores import table_scores
from tamis.streaming.target import StreamedTarget
from tamis.streaming.value_tables import Counter, cuts_of, score_of, upper_bound
from tamis.trees.stumps import stumps
from tamis.validation.folds import StratifiedFolds
from tamis.validation.prefilter import divisions_of

ROWS, COLUMNS = 420, 30
LIMIT = 4e9

#: Scores that are sums over rows, with options.
FORMULAS = [
    *("cc", "f", "fisher", "s2n", "t", "variance", "count", "chi2", "ig"),
    *("bns", "odds", "wf", "pip", "pipp", "kl", "tfv", "ti"),
]


@pytest.fixture(scope="module")
def counts() -> tuple[np.ndarray, np.ndarray]:
    """Counts with missing values and three classes, of which one is missing in some pieces."""
    rng = np.random.default_rng(0)
    y = np.sort(rng.integers(0, 3, ROWS))
    X = rng.poisson(1.3, size=(ROWS, COLUMNS)).astype(np.float32)
    X[:, 3] += y
    X[:, 7] += 2 * (y == 1)
    X[rng.random(X.shape) < 0.03] = np.nan
    X[:, 11] = 2.0
    return X, y


def write_parquet(folder: Path, X: np.ndarray, y: np.ndarray, files: int = 3, rows: int = 40) -> Path:
    folder.mkdir(exist_ok=True)
    names = [f"g{j}" for j in range(X.shape[1])]
    frame = pl.DataFrame([pl.Series(name, X[:, j], nan_to_null=True) for j, name in enumerate(names)])
    frame = frame.with_columns(pl.Series("class", y.tolist()))
    for number, own in enumerate(np.array_split(np.arange(len(y)), files)):
        frame[own.tolist()].write_parquet(folder / f"part{number}.parquet", row_group_size=rows)
    return folder


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory, counts: tuple[np.ndarray, np.ndarray]) -> Path:
    return write_parquet(tmp_path_factory.mktemp("parquet"), *counts)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every row group is a piece and a task, and sums are kept in a folder of the test."""
    monkeypatch.setattr("tamis.data.chunks.parquet._SMALL", 1)
    monkeypatch.setattr("tamis.data.chunks.chunked._BLOCK", 8)
    monkeypatch.setattr(memory, "_TASK", 1.0)
    monkeypatch.setattr(kept_sums, "_PAUSE", 0.0)
    monkeypatch.setattr(kept_sums, "_TIMES", 0.0)
    monkeypatch.setattr(lines, "SIZE", 2000)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def opened(path: Path, **options: object) -> tuple[ParquetTable, StreamedTarget]:
    table = open_chunked(path, **options)
    return table, StreamedTarget.of(table)


def close(a: np.ndarray, b: np.ndarray) -> None:
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(b[np.isfinite(b)]).max()))


# Scores that are sums


@pytest.mark.parametrize("name", FORMULAS)
def test_pieces_give_the_scores_of_all_rows_and_of_training_rows(name, parquet, counts):
    X, y = counts
    score = scores.get(name)
    rng = np.random.default_rng(1)
    parts = [rng.integers(0, 4, ROWS), rng.integers(0, 3, ROWS)]
    divisions = [Folds(part.astype(np.int16), int(part.max()) + 1) for part in parts]
    found = streamed_scores(*opened(parquet), score, limit=LIMIT, engine="serial", divisions=divisions)
    close(found.whole.values, score(X, y))
    for part, own in zip(parts, found.folds, strict=True):
        for fold, one in enumerate(own):
            close(one.values, score(X[part != fold], y[part != fold]))
    assert found.scanned.read == len(opened(parquet)[0].pieces) == 12


def test_every_score_that_has_a_formula_is_tested():
    assert {name for name, one in scores.all_scores.items() if one.formula_for({}) is not None} == set(FORMULAS)


@pytest.mark.parametrize("name", ["cc", "f", "variance"])
def test_a_target_of_numbers(name, tmp_path, counts):
    X, _ = counts
    y = np.random.default_rng(2).normal(size=ROWS)
    table, target = opened(write_parquet(tmp_path / "p", X, y))
    assert target.labelled.task == "regress"
    part = (np.arange(ROWS) % 3).astype(np.int16)
    found = streamed_scores(table, target, scores.get(name), limit=LIMIT, engine="serial", divisions=[Folds(part, 3)])
    close(found.whole.values, scores.get(name)(X, y))
    close(found.folds[0][1].values, scores.get(name)(X[part != 1], y[part != 1]))


@pytest.mark.parametrize("name", ["f", "chi2", "tfv"])
def test_sparse_pieces_of_svmlight(name, tmp_path):
    rng = np.random.default_rng(3)
    X = sp.random_array((200, 60), density=0.1, rng=rng, data_sampler=lambda size: rng.integers(1, 5, size)).tocsr()
    X = sp.csr_array(X.astype(np.float64))
    y = rng.integers(0, 2, 200)
    dump_svmlight_file(X, y, str(tmp_path / "a.svm"), zero_based=False)
    table, target = opened(tmp_path / "a.svm")
    assert len(table.pieces) > 3
    width = len(table.feature_names)
    found = streamed_scores(table, target, scores.get(name), limit=LIMIT, engine="serial")
    close(found.whole.values, scores.get(name)(X[:, :width], y))


def test_rows_without_a_class_are_left_out_with_a_note(tmp_path, counts):
    X, y = counts
    words = np.where(np.arange(ROWS) % 5 == 0, None, np.array(["a", "b", "c"], dtype=object)[y])
    table, target = opened(write_parquet(tmp_path / "p", X, words))
    assert "84 rows without a class are left out" in target.labelled.notes
    known = np.arange(ROWS) % 5 != 0
    found = streamed_scores(table, target, scores.get("f"), limit=LIMIT, engine="serial")
    close(found.whole.values, scores.get("f")(X[known], y[known]))


def limit_for(table: ParquetTable, columns: int) -> float:
    """Memory for so many columns of the largest piece, and the sums of three classes of these and of all columns."""
    of_column = 3 * 3 * 3 * 8
    return 2 * memory.PROCESS + columns * (40 * table.expansion + of_column) + COLUMNS * of_column


def test_blocks_of_columns_and_workers_make_no_difference(parquet, monkeypatch):
    table, target = opened(parquet)
    # Two pieces a task: which of them are added up first must not depend on memory.
    monkeypatch.setattr(memory, "_TASK", table.pieces[0].size + 1.0)
    one = streamed_scores(table, target, scores.get("f"), limit=LIMIT, engine="serial")
    narrow = streamed_scores(table, target, scores.get("f"), limit=limit_for(table, 7), engine="serial")
    two = streamed_scores(table, target, scores.get("f"), limit=LIMIT, engine="local(2)")
    assert one.scanned.read < 12
    assert narrow.scanned.read == 5 * one.scanned.read
    np.testing.assert_array_equal(one.whole.values, narrow.whole.values)
    np.testing.assert_array_equal(one.whole.values, two.whole.values)


def test_folds_of_splits_and_single_sets_of_training_rows():
    y = np.arange(60) % 2
    splits = StratifiedFolds(5, repeats=2).splits(y)
    divisions = divisions_of(splits, np.arange(60), 60)
    assert [(one.n_folds, one.trains) for one in divisions] == [(5, False), (5, False)]
    for number, split in enumerate(splits):
        part = divisions[number // 5].part
        np.testing.assert_array_equal(np.flatnonzero(part == number % 5), split.test)


@pytest.mark.parametrize(("limit", "free"), [("3000000", 2.5e6), ("max", 5e6), ("900000", 0.4e6)])
def test_the_limit_of_a_container_counts(limit, free, tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    (tmp_path / "memory.max").write_text(limit + "\n")
    (tmp_path / "memory.current").write_text("800000\n")
    (tmp_path / "memory.stat").write_text("anon 500000\ninactive_file 300000\n")
    monkeypatch.setattr(memory, "_free_on_machine", lambda: 5e6)
    assert memory.free_memory() == free


# After a kill


def test_a_pass_that_was_stopped_goes_on(parquet, monkeypatch):
    table, target = opened(parquet)
    whole = streamed_scores(table, target, scores.get("f"), limit=LIMIT, engine="serial").whole.values
    read, reads = ParquetTable.blocks, []

    def stopped(self, piece, columns):
        if len(reads) == 5:
            raise KeyboardInterrupt
        reads.append(piece.where)
        return read(self, piece, columns)

    monkeypatch.setattr(ParquetTable, "blocks", stopped)
    with pytest.raises(KeyboardInterrupt):
        streamed_scores(table, target, scores.get("f"), limit=LIMIT, engine="serial")
    seen, reads = reads, []
    monkeypatch.setattr(
        ParquetTable, "blocks", lambda self, piece, columns: reads.append(piece.where) or read(self, piece, columns)
    )
    # Another score, and another way to divide the rows, have nothing to do with it.
    assert streamed_scores(table, target, scores.get("ig"), limit=LIMIT, engine="serial").scanned.kept == 0
    reads.clear()
    found = streamed_scores(table, target, scores.get("f"), limit=LIMIT, engine="serial")
    assert (found.scanned.kept, found.scanned.read) == (5, 7)
    assert [*seen, *reads] == [piece.where for piece in table.pieces]
    np.testing.assert_array_equal(found.whole.values, whole)
    assert not list(kept_sums.kept_folder().iterdir())


@pytest.mark.parametrize(("before", "after", "kept"), [(7, COLUMNS, 17), (COLUMNS, 7, 0), (7, 7, 17), (7, 4, 0)])
def test_sums_of_other_blocks_of_columns_are_not_mixed_up(before, after, kept, parquet, monkeypatch):
    table, target = opened(parquet)
    f = scores.get("f")
    whole = streamed_scores(table, target, f, limit=LIMIT, engine="serial", resume=False).whole.values

    def stopped(done: float, total: float) -> None:
        seen.append(done)
        if len(seen) == 18:
            raise KeyboardInterrupt

    seen: list[float] = [0.0] * (0 if before < COLUMNS else 10)
    with pytest.raises(KeyboardInterrupt):
        streamed_scores(table, target, f, limit=limit_for(table, before), engine="serial", progress=stopped)
    found = streamed_scores(table, target, f, limit=limit_for(table, after), engine="serial")
    assert found.scanned.kept == kept
    np.testing.assert_array_equal(found.whole.values, whole)


def test_tables_of_values_that_were_stopped_go_on(parquet, monkeypatch):
    table, target = opened(parquet)
    ssv = scores.get("ssv")
    whole = table_scores(table, target, ssv, limit=LIMIT, engine="serial", resume=False)
    # Three blocks of ten columns, of which the second is stopped in the middle.
    monkeypatch.setattr("tamis.streaming.table_scores._TABLES", 10 * 8 * 256 * 7.0)
    seen = []

    def stopped(done: float, total: float) -> None:
        seen.append(done / total)
        if done > 0.5 * total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        table_scores(table, target, ssv, limit=LIMIT, engine="serial", progress=stopped)
    begins = []
    again = table_scores(
        table, target, ssv, limit=LIMIT, engine="serial", progress=lambda done, total: begins.append(done / total)
    )
    assert begins[0] == pytest.approx(seen[-1], abs=0.01)
    assert begins[-1] == pytest.approx(1.0)
    assert re.search(r"had read 5\d % of the file", again.notes[1])
    np.testing.assert_array_equal(again.scored.values, whole.scored.values)
    assert not list(kept_sums.kept_folder().iterdir())


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 cut", None])
def test_damaged_sums_are_computed_again(damage, parquet, monkeypatch):
    table, target = opened(parquet)
    monkeypatch.setattr(kept_sums.KeptSums, "remove", lambda self: None)
    first = streamed_scores(table, target, scores.get("f"), limit=LIMIT, engine="serial")
    (kept,) = kept_sums.kept_folder().rglob("block-0.npz")
    if damage is not None:
        kept.write_bytes(damage)
    again = streamed_scores(table, target, scores.get("f"), limit=LIMIT, engine="serial")
    assert again.scanned.kept == (12 if damage is None else 0)
    np.testing.assert_array_equal(first.whole.values, again.whole.values)


def test_a_folder_that_cannot_be_written_only_costs_the_resume(parquet, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert streamed_scores(*opened(parquet), scores.get("f"), limit=LIMIT, engine="serial").scanned.read == 12


# Tables of values


@given(st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]))
def test_the_kernel_counts_as_numpy_does(seed, dtype):
    rng = np.random.default_rng(seed)
    X = np.asfortranarray(rng.integers(0, 6, (20, 3)).astype(dtype))
    X[rng.random(X.shape) < 0.2] = np.nan
    codes = rng.integers(0, 2, 20)
    cuts = np.sort(rng.choice([0.5, 1.0, 2.5, 4.0, np.inf], (3, 3)), axis=1)
    counts, total = np.zeros((3, 4, 2)), np.zeros((3, 4))
    low, high = np.full((3, 4), np.inf), np.full((3, 4), -np.inf)
    count_between(X, codes, cuts, counts, total, low, high)
    for j in range(3):
        known = ~np.isnan(X[:, j])
        place = np.searchsorted(cuts[j], X[known, j], side="right")
        wanted = np.zeros((4, 2))
        np.add.at(wanted, (place, codes[known]), 1)
        np.testing.assert_array_equal(counts[j], wanted)
        for b in range(4):
            own = X[known, j][place == b]
            assert total[j, b] == own.sum()
            assert (low[j, b], high[j, b]) == ((own.min(), own.max()) if own.size else (np.inf, -np.inf))


@pytest.mark.parametrize("name", ["ssv", "stump", "modl", "mi"])
def test_columns_of_few_values_are_exact(name, parquet, counts):
    X, y = counts
    found = table_scores(*opened(parquet), scores.get(name), limit=LIMIT, engine="serial")
    close(found.scored.values, scores.get(name)(X, y))
    assert "is exact" in found.notes[0]


@pytest.mark.parametrize("name", ["ssv", "stump"])
@pytest.mark.parametrize("classes", [2, 3])
def test_scores_of_a_single_split_lie_within_their_bounds(name, classes, tmp_path):
    rng = np.random.default_rng(classes)
    X, y = rng.normal(size=(3000, 6)).astype(np.float32), rng.integers(0, classes, 3000)
    X[:, 2] += y
    # The best split lies within a group: the classes have values of their own there.
    X[:, 3] = np.where(np.abs(X[:, 3]) < 0.004, 0.001 * y, X[:, 3])
    table, target = opened(write_parquet(tmp_path / "p", X, y, rows=500))
    found = table_scores(table, target, scores.get(name), limit=LIMIT, engine="serial")
    exact, values = scores.get(name)(X, y), found.scored.values
    assert "256 groups" in found.notes[0]
    assert (values <= exact * (1 + 1e-12)).all()
    assert (found.upper >= exact * (1 - 1e-12)).all()
    assert (found.upper - values).max() < 0.03 * exact.max()
    assert f"at most {(found.upper - values).max():.3g} too low" in found.notes[0]


@given(st.integers(0, 2**32 - 1), st.sampled_from(["ssv", "stump"]), st.sampled_from([2, 3, 4]))
def test_bounds_hold_whatever_the_order_within_a_group(seed, name, classes):
    rng = np.random.default_rng(seed)
    x, y = rng.permutation(40).astype(float), rng.integers(0, classes, 40)
    x[rng.random(40) < 0.1] = np.nan
    x[rng.random(40) < 0.2] = 7.0
    cuts = np.full((1, 255), np.inf)
    cuts[0, :4] = np.sort(rng.choice(39, 4, replace=False)) + 0.5
    tables = Counter(cuts, classes)(x[:, None], y)
    score = scores.get(name)
    exact = stumps(x[:, None], y, None, criterion="ssv" if name == "ssv" else "balanced_error")[0]
    slack = 1e-9 * max(1.0, exact)
    assert score_of(tables, 0, score, {}) <= exact + slack
    assert exact <= upper_bound(tables, 0, score, {}) + slack


def test_a_note_says_how_many_columns_could_be_selected_as_well(tmp_path):
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(2000, 8)).astype(np.float32), np.arange(2000) % 2
    X[:, 2:] = X[:, :1] + 0.5 * y[:, None] + 1e-3 * X[:, 2:]
    X[:, :2] += 2 * y[:, None]
    source = StreamedTable.open(write_parquet(tmp_path / "p", X, y, rows=500), engine="serial")
    sure, unsure = (source.ranking(RankingStep.of(parse(by).parts[0])).notes for by in ("ssv(2)", "ssv(4)"))
    assert len(sure) == 1
    assert re.match(r"[1-4] columns that are not selected may be as good as the last of the 4 that are", unsure[1])


@pytest.mark.parametrize("name", ["modl", "mi"])
def test_other_scores_of_many_values_are_close(name, tmp_path):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(3000, 6)).astype(np.float32), rng.integers(0, 2, 3000)
    X[:, 2] += y
    table, target = opened(write_parquet(tmp_path / "p", X, y, rows=500))
    found = table_scores(table, target, scores.get(name), limit=LIMIT, engine="serial")
    assert found.upper is None
    np.testing.assert_allclose(found.scored.values, scores.get(name)(X, y), atol=0.003)
    share = float(found.notes[0].split("at most ")[1].split(" %")[0]) / 100
    assert 0.003 < share < 0.02


def test_cuts_divide_the_values_evenly():
    values = np.random.default_rng(5).normal(size=5000)
    sizes = np.bincount(np.searchsorted(cuts_of(values), values, side="right"), minlength=256)
    assert sizes.size == 256
    assert sizes.min() >= 15
    assert sizes.max() <= 25


def test_scores_of_rows_or_numbers_are_refused_with_what_to_do(parquet, tmp_path, counts):
    with pytest.raises(TamisError, match=r"put a score .* in front, such as 'f\(2000\) \| relieff'"):
        table_scores(*opened(parquet), scores.get("relieff"), limit=LIMIT, engine="serial")
    numbers = opened(write_parquet(tmp_path / "p", counts[0], np.random.default_rng(0).normal(size=ROWS)))
    with pytest.raises(TamisError, match="needs the table in memory"):
        table_scores(*numbers, scores.get("mi"), limit=LIMIT, engine="serial")


# Whole recipes


@pytest.mark.parametrize("by", ["f(5)", "ig(5)", "t(fdr=0.05)", "f(0.2)", "f(12) | mrmr(4)", "f(threshold=3) | ssv(2)"])
def test_rank_is_that_of_the_table_in_memory(by, tmp_path, counts):
    X, y = counts[0], (counts[1] > 0).astype(int)
    X = np.nan_to_num(X)
    found = tamis.rank(write_parquet(tmp_path / "p", X, y), by=by, engine="serial")
    wanted = tamis.rank(Dataset(X, y, np.array([f"g{j}" for j in range(COLUMNS)])), by=by)
    for column in ("feature", "column"):
        chosen = [table.filter(pl.col("selected"))[column].to_list() for table in (found, wanted)]
        assert chosen[0] == chosen[1]


def test_a_step_that_compares_rows_gets_rows_drawn_at_random(parquet):
    source = StreamedTable.open(parquet, memory=60 * 3 * 8 * COLUMNS, engine="serial")
    data, chain = source.prepared(parse("relieff(4)"))
    assert (data.n_rows, str(chain)) == (60, "relieff(4)")
    assert "relieff(4): of 420 rows 60 were drawn at random" in data.notes[-1]
    with pytest.raises(DataError, match="raise --memory to"):
        StreamedTable.open(parquet, memory=1e3, engine="serial").prepared(chain)


@pytest.mark.parametrize("repeats", [1, 2])
def test_a_prefilter_selects_in_each_fold_what_the_recipe_would_select(repeats, parquet, counts):
    X, y = counts
    names = np.array([f"g{j}" for j in range(COLUMNS)])
    recipe = "impute | svm(linear)"
    found = tamis.validate(recipe, parquet, prefilter="f(4)", folds=4, repeats=repeats, engine="serial")
    wanted = tamis.validate(f"f(4) | {recipe}", Dataset(X, y, names), folds=4, repeats=repeats)
    assert found.recipe == wanted.recipe == f"f(4) | {recipe}"
    np.testing.assert_array_equal(found.values["ber"], wanted.values["ber"])
    for own, theirs in zip(found.selected, wanted.selected, strict=True):
        assert [found.source.feature_names[j] for j in own] == [names[j] for j in theirs]
    assert found.n_features < COLUMNS


def test_a_prefiltered_data_set_is_kept_to_its_folds_and_its_selection(parquet):
    found = tamis.validate("knn(3)", parquet, prefilter="f(4)", folds=4, engine="serial")
    data = found.source
    with pytest.raises(TamisError, match=r"selected by f\(4\) for other folds"):
        tamis.validate("knn(3)", data, folds=5)
    with pytest.raises(TamisError, match=r"begin the model with it"):
        tamis.validate(tamis.recipe("impute | knn(3)"), data, folds=4)
    assert tamis.validate("knn(3)", data, folds=4).recipe == "f(4) | impute | knn(3)"


def test_noise_behind_a_prefilter_is_at_chance(tmp_path):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(60, 3000)).astype(np.float32), np.arange(60) % 2
    path = write_parquet(tmp_path / "p", X, y)
    found = tamis.validate("svm(linear)", path, prefilter="f(10)", folds=5, repeats=4, engine="serial")
    assert 0.4 < found.estimates["ber"].mean < 0.62
    mined = tamis.mine(path, prefilter="f(10)", trials=6, engine="serial", only=["knn", "centroid"], progress=False)
    assert mined.recipe_.count("f(10) | ") >= 1
    assert mined.validation_.estimates["ber"].mean > 0.35
    front = r"(blend\(|committee\(9, )?f\(10\) \| "
    assert all(re.match(front, text) for text in mined.leaderboard_["recipe"])


@pytest.mark.parametrize(
    ("prefilter", "message"),
    [
        ("ssv(5)", "a score that is a sum over rows"),
        ("f(0.1)", "a number of columns"),
        ("f(5) | cc(3)", "a score that is a sum over rows"),
    ],
)
def test_what_is_no_prefilter(prefilter, message, parquet):
    with pytest.raises(TamisError, match=message):
        tamis.validate("knn(3)", parquet, prefilter=prefilter)


def test_options_that_do_not_go_with_a_prefilter(parquet):
    for options in ({"split": "bootstrap"}, {"split": "official"}):
        with pytest.raises(TamisError, match="a prefilter takes split 'folds'"):
            tamis.validate("knn(3)", parquet, prefilter="f(4)", **options)
    with pytest.raises(TamisError, match="estimate by the bootstrap"):
        tamis.mine(parquet, prefilter="f(4)", estimate="nested")
    with pytest.raises(TamisError, match="path of a file"):
        tamis.validate("knn(3)", np.ones((4, 2)), [0, 1, 0, 1], prefilter="f(4)")
    with pytest.raises(TamisError, match="for a file with a prefilter"):
        tamis.validate("knn(3)", np.ones((4, 2)), [0, 1, 0, 1], target="y")


# Files


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("g0,g1,class\n1,2.5,a\n,3,b\nNA, 4 ,a\n7,-1e3,b\n", Reading()),
        ("g0;g1;class\n1;2,5;a\n;3;b\n?;4;a\n7;-1e3;b\n", Reading()),
        ("1\t2.5\ta\n\t3\tb\nlost\t4\ta\n7\t-1e3\tb\n", Reading(na=("lost",))),
        ('g0,g1,class\n1,2.5,"a,\n1"\n,3,b\n?,4,"a,\n1"\n7,-1e3,b\n', Reading()),
    ],
)
def test_text_is_read_as_in_memory(text, reading, tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text(text)
    monkeypatch.setattr(lines, "SIZE", 12)
    target = None if "class" in text else "x3"
    wanted = tamis.load(path, target, reading=reading)
    table = open_chunked(path, target, reading)
    found = StreamedTarget.of(table, reading)
    assert len(table.pieces) > 1
    X = np.vstack([table.read(piece, slice(None)) for piece in table.pieces])
    np.testing.assert_array_equal(X, wanted.X)
    assert found.labelled.y.tolist() == wanted.y.tolist()
    assert table.feature_names.tolist() == wanted.feature_names.tolist()


def test_words_and_identifiers_are_no_features(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{i},{'red' if i % 3 else 'blue'},{i % 7},{i % 2}" for i in range(60)]
    path.write_text("\n".join(["patient_id,colour,age,class", *rows]))
    table = open_chunked(path)
    assert table.feature_names.tolist() == ["age"]
    assert any("colour" in note for note in table.notes)
    assert any("patient_id" in note for note in table.notes)
    assert open_chunked(path, reading=Reading(keep=("patient_id",), drop=("age",))).feature_names.tolist() == [
        "patient_id"
    ]


def failing(path: Path, match: str, *, score: str = "f", **options: object) -> None:
    with pytest.raises(TamisError, match=match):
        tamis.rank(path, by=score, engine="serial", **options)


def test_files_that_cannot_be_read_are_named(tmp_path, counts):
    X, y = counts
    folder = write_parquet(tmp_path / "p", X, y)
    frame = pl.read_parquet(folder / "part1.parquet")
    frame.drop("class").write_parquet(folder / "part1.parquet")
    failing(folder, r"part1.parquet: the target 'class' is missing, which part0.parquet has")
    frame.drop("g4", "g5").write_parquet(folder / "part1.parquet")
    failing(folder, r"part1.parquet: column 'g4' is missing, which part0.parquet has \(2 such columns\)")
    frame.with_columns(new=pl.lit(1.0)).write_parquet(folder / "part1.parquet")
    failing(folder, r"part1.parquet: has the column 'new', which part0.parquet has not")
    frame.with_columns(pl.col("g4").cast(pl.String)).write_parquet(folder / "part1.parquet")
    failing(folder, r"part1.parquet: column 'g4' has type String, and Float32 in part0.parquet")
    frame.with_columns(pl.col("g4").cast(pl.Float64)).write_parquet(folder / "part1.parquet")
    failing(folder, r"part1.parquet: column 'g4' has type Float64, and Float32 in part0.parquet")
    frame.with_columns(pl.col("class") > 0).write_parquet(folder / "part1.parquet")
    failing(folder, r"part1.parquet: column 'class' has type Boolean, and Int64 in part0.parquet")
    infinite = frame.with_columns(g4=pl.when(pl.int_range(pl.len()) == 50).then(np.inf).otherwise(pl.col("g4")))
    infinite.write_parquet(folder / "part1.parquet", row_group_size=40)
    failing(folder, r"part1.parquet, row group 2, column 'g4': holds an infinite number")
    content = (folder / "part0.parquet").read_bytes()
    (folder / "part1.parquet").write_bytes(content[: len(content) // 2])
    failing(folder, r"part1.parquet: is not a Parquet file, or is cut short")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TamisError):
        tamis.rank(tmp_path / "empty", by="f")
    (folder / "part1.parquet").unlink()
    failing(folder, "too little for 1 workers", memory=1e6)


def readable(path: Path, start: int, rows: int) -> bool:
    try:
        return pl.scan_parquet(path).slice(start, rows).collect().height > 0
    except pl.exceptions.ComputeError:
        return False


@pytest.mark.parametrize("small", [1, 1 << 24])
def test_a_damaged_row_group_is_named_and_nothing_is_written(small, tmp_path, counts, monkeypatch, run):
    monkeypatch.setattr("tamis.data.chunks.parquet._SMALL", small)
    X, y = counts
    folder = write_parquet(tmp_path / "p", X, y, files=1)
    path = folder / "part0.parquet"
    content = bytearray(path.read_bytes())
    begin = int(row_group_sizes(path)[1][:2].sum())
    content[begin : begin + 400] = b"\xff" * 400
    path.write_bytes(content)
    damaged = [1 + start // 40 for start in range(0, ROWS, 40) if not readable(path, start, 40)]
    assert damaged[0] > 1
    output = tmp_path / "few.csv"
    code, out, err = run("select", folder, "f(5) | mrmr(2)", "--engine", "serial", "--output", output)
    assert code == 2
    place = f"tamis: {path}, row group {damaged[0]}: cannot be read, it may be damaged ("
    assert (err[: len(place)], err.count("\n")) == (place, 1)
    assert not out
    assert not output.exists()


@given(st.data())
def test_mutated_footers_are_read_or_refused(folder, data):
    path = folder / "m.parquet"
    if not (folder / "whole").exists():
        rng = np.random.default_rng(0)
        frame = pl.DataFrame(rng.normal(size=(50, 4)), schema=list("abcd")).with_columns(
            pl.Series("class", [0, 1] * 25)
        )
        frame.write_parquet(folder / "whole", row_group_size=20)
    content = bytearray((folder / "whole").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        table = open_chunked(path)
    except TamisError as error:
        message = str(error)
    else:
        message = f"{path} has {len(table.pieces)} row groups"
        assert sum(piece.rows for piece in table.pieces) < 10**9
    assert str(path) in message


def test_a_number_that_turns_into_a_word_is_named(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_text("a,b,class\n" + "".join(f"{i},{i % 5},{i % 2}\n" for i in range(400)) + "7,oops,1\n")
    monkeypatch.setattr("tamis.data.chunks.delimited._HEAD", 500)
    failing(path, r"t.csv, the \d+\. piece, from line \d+, row \d+ of it, column 'b': 'oops'", memory=LIMIT)


# The command line


@pytest.fixture
def run(request: pytest.FixtureRequest):
    """The command, under a name that leaves the package its own."""
    return request.getfixturevalue("tamis")


def test_commands_read_piece_by_piece(parquet, tmp_path, run):
    code, out, err = run("rank", parquet, "ig(5)", "--engine", "serial", "--json")
    found = json.loads(out)
    assert (code, found["rows"], found["features"], found["selected"], err) == (0, ROWS, COLUMNS, 5, "")
    assert {row["feature"] for row in found["ranking"][:2]} == {"g3", "g7"}
    code, out, err = run("validate", parquet, "knn(3)", "--prefilter", "f(4)", "--folds", 4, "--engine", "serial")
    assert code == 0
    assert "recipe: f(4) | impute | knn(3)" in out
    assert "note: f(4): " in err
    code, out, err = run("validate", parquet, "knn(3)", "--prefilter", "f(4)", "--nested")
    assert code == 2
    assert "--prefilter reads the file for the folds of one validation, without --nested" in err
    target = tmp_path / "few.csv"
    code, out, err = run("select", parquet, "ig(5) | mrmr(2)", "--engine", "serial", "--output", target)
    assert code == 0, err
    assert "note: ig(5) selects 5 of 30 columns, in a pass over the file" in err
    assert pl.read_csv(target).width == 3


def test_mine_behind_a_prefilter(parquet, tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    options = ["--prefilter", "f(4)", "--trials", 4, "--try", "knn", "--engine", "serial", "--json"]
    code, out, err = run("mine", parquet, *options)
    assert code == 0, err
    assert json.loads(out)["recipe"].count("f(4) | ")
    model = next(Path.cwd().glob("*.tamis-model"))
    code, out, err = run("predict", model, parquet / "part0.parquet", "--json")
    assert code == 0, err


@pytest.mark.slow
def test_sigkill_in_the_middle_and_the_same_command_again(tmp_path):
    rng = np.random.default_rng(7)
    folder = tmp_path / "big"
    folder.mkdir()
    for number in range(24):
        y = rng.integers(0, 2, 20_000)
        X = rng.standard_normal((20_000, 300), dtype=np.float32)
        X[:, 5] += y
        frame = pl.DataFrame(X, schema=[f"g{j}" for j in range(300)]).with_columns(pl.Series("class", y))
        frame.write_parquet(folder / f"{number:02}.parquet", row_group_size=5_000)
    command = [
        sys.executable,
        "-c",
        "from tamis.cli.main import main; main()",
        "rank",
        str(folder),
        "f",
        "--json",
        "--top",
        "300",
    ]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "kept")}
    whole = subprocess.run(command, env={**environment, "XDG_CACHE_HOME": str(tmp_path / "other")}, capture_output=True)
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    limit = time.time() + 60
    while not list((tmp_path / "kept").rglob("block-0.npz")) and time.time() < limit:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    again = subprocess.run(command, env=environment, capture_output=True)
    assert json.loads(again.stdout)["rows"] == 480_000
    assert again.stdout == whole.stdout
    found = re.search(rb"an earlier pass that was stopped had read (\d+) of (\d+) parts of the file", again.stderr)
    assert found
    assert 0 < int(found[1]) <= int(found[2])
