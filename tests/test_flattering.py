"""Every public way to an error, on noise: one that does not show the truth, 0.50, says so where it shows its figure."""

import io
import json
import warnings

import numpy as np
import polars as pl
import pytest
from benchmarks import bench_flattering as bench
from sklearn.base import clone

from tamis.base.errors import TamisError
from tamis.data import load
from tamis.data.caveats import caveats_of
from tamis.data.dataset import Dataset
from tamis.data.encoded_targets import encoded_targets
from tamis.data.selection_note import KEY, SelectionNote, beside, is_selection_note
from tamis.data.write import write
from tamis.mining.mined import FittedRows

#: What each path says where it is not the truth.
WORDS = {
    "best_of_many": "the best of 20 looks better than it is",
    "leaked": "if the steps saw all rows",
    "inner_choice": "inner estimate",
    "leaderboard": "inner estimate",
    "inner_estimate": "inner estimate",
    "own_rows": "the model was fitted on 60 of these 60 rows",
    "folds_of_mined": "refused",
    "predicted": "these are the rows that the model was fitted on",
    "path": "these columns were selected from 1000 by 'cc(20)' with the classes of these rows",
    "encoded": "holds the class rates of the rows themselves",
    "repeated": "60 rows are copies of earlier rows",
    "forgotten_groups": "without --group patient",
}
NOTE = SelectionNote("cc(1)", 9)
ENDINGS = (".csv", ".csv.gz", ".parquet", ".npz")


def named(path):
    return path.__doc__


@pytest.mark.parametrize("path", bench.SAYS_SO, ids=named)
def test_what_flatters_says_so(path) -> None:
    value, said = path(0)
    assert WORDS[path.__name__] in said
    if path.__name__ in ("leaked", "own_rows", "predicted", "path", "encoded", "repeated", "forgotten_groups"):
        assert value > 0.65


@pytest.mark.parametrize("path", [bench.whole, bench.sklearn_folds, bench.known_groups], ids=named)
def test_what_is_honest_shows_a_half_and_says_nothing(path) -> None:
    shown = [path(seed) for seed in range(8)]
    assert np.mean([value for value, _ in shown]) == pytest.approx(0.5, abs=0.15)
    assert {said for _, said in shown} == {""}


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("path", bench.HONEST, ids=named)
def test_honest_paths_show_a_half_over_twenty_draws(path) -> None:
    shown = [path(seed) for seed in range(20)]
    assert np.mean([value for value, _ in shown]) == pytest.approx(0.5, abs=0.07)
    assert {said for _, said in shown} == {""}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder, in which commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def rows() -> Dataset:
    rng = np.random.default_rng(3)
    return Dataset(rng.normal(size=(40, 3)), np.tile(["a", "b"], 20), np.array(["u", "v", "w"]), "garden")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_note_is_read_where_it_was_written_and_gone_where_it_was_not(rows, tmp_path, ending) -> None:
    path = tmp_path / f"some{ending}"
    write(rows, path, note=NOTE)
    noted = load(path)
    assert str(NOTE) in noted.notes
    assert noted.caveats == (str(NOTE),)
    np.testing.assert_allclose(noted.X, rows.X)
    write(rows, path)
    assert not any(map(is_selection_note, load(path).notes))
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_note_is_where_its_format_has_a_place_for_it(rows, tmp_path) -> None:
    write(rows, tmp_path / "a.parquet", note=NOTE)
    assert json.loads(pl.read_parquet_metadata(tmp_path / "a.parquet")[KEY])["selected"]["recipe"] == "cc(1)"
    write(rows, tmp_path / "a.csv", note=NOTE)
    write(rows, tmp_path / "plain.csv")
    # Others read the file as any other.
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "plain.csv").read_bytes()


def test_a_note_beside_a_file_that_changed_says_so(rows, tmp_path) -> None:
    path = tmp_path / "a.csv"
    write(rows, path, note=NOTE)
    path.write_text(path.read_text(encoding="utf-8") + "1.0,2.0,3.0,a\n", encoding="utf-8")
    assert "the file has changed since; delete a.csv.tamis-note" in load(path).notes[0]


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"selected": 3}', '{"selected": {"recipe": "x"}}', "9" * 70_000])
def test_a_broken_note_is_none(rows, tmp_path, text) -> None:
    path = tmp_path / "a.csv"
    write(rows, path)
    beside(path).write_text(text, encoding="utf-8")
    assert load(path).notes == ()
    with io.BytesIO() as file:
        np.savez(file, X=rows.X, y=rows.y, tamis_note=np.array(text))
        (tmp_path / "a.npz").write_bytes(file.getvalue())
    assert load(tmp_path / "a.npz").notes == ()


@pytest.mark.parametrize("recipe", ["cc(2)", "standardize | cc(2) | knn(1)", "variance(2) | ssv_tree"])
def test_commands_that_read_the_file_print_its_note(tamis, here, rows, recipe) -> None:
    write(rows, here / "rows.csv")
    code, out, error = tamis("select", "rows.csv", recipe, "--output", "some.parquet")
    assert code == 0, error
    assert "A note is in it: these columns were selected" in out
    _, _, said = tamis("rank", "some.parquet")
    assert "note: these columns were selected from 3" in said
    _, out, said = tamis("validate", "some.parquet", "knn(1)", "--folds", "3")
    assert "note: these columns were selected from 3" in said
    assert "beware: these columns were selected from 3" in out
    _, out, _ = tamis("validate", "some.parquet", "knn({1, 3})", "--folds", "3")
    assert "beware: these columns were selected from 3" in out
    assert "beware: the best of 2 looks better" in out
    _, _, said = tamis("rank", "some.parquet", "--memory", "1GB")
    assert "note: these columns were selected from 3" in said
    # Selected once more, without classes, they are still what they were.
    tamis("select", "some.parquet", "variance(1)", "--output", "less.npz")
    assert is_selection_note(load(here / "less.npz").notes[-1])


def test_mine_prints_the_note(tamis, here, rows) -> None:
    write(rows, here / "some.npz", note=NOTE)
    words = ("--trials", "2", "--try", "knn", "--engine", "serial", "--inner-folds", "2")
    code, out, said = tamis("mine", "some.npz", *words)
    assert code == 0, said
    assert f"note: {NOTE}" in said
    assert f"beware: {NOTE}" in out


def test_a_selection_without_classes_leaves_no_note(tamis, here, rows) -> None:
    write(rows, here / "rows.csv")
    for recipe in ("variance(2)", "variance(2) | knn(1)"):
        code, out, error = tamis("select", "rows.csv", recipe, "--output", "some.npz")
        assert code == 0, error
        assert "note" not in out
        assert load(here / "some.npz").notes == ()


def test_a_score_on_some_rows_of_the_fit_counts_them() -> None:
    found = bench._mined(0)
    X, y = bench.noise(0)
    fresh, truth = bench.noise(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found.score(fresh, truth)
    with pytest.warns(FittedRows, match="on 5 of these 65 rows"):
        found.score(np.vstack([fresh, X[:5]]), np.append(truth, y[:5]))
    with pytest.raises(TamisError, match="clone"):
        clone(found).fit(X, y)


def test_rows_of_few_values_are_equal_by_chance() -> None:
    rng = np.random.default_rng(0)
    assert caveats_of(Dataset.of(rng.integers(0, 3, (400, 4)).astype(float), np.arange(400) % 2)) == ()
    assert caveats_of(load("xor")) == ()
    X = rng.integers(0, 3, (40, 30)).astype(float)
    assert caveats_of(Dataset.of(np.vstack([X, X[:1]]), np.arange(41) % 2))[0].startswith("1 row is a copy of")


def test_copies_within_a_group_are_no_matter() -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    y, groups = np.tile(np.arange(30) % 2, 2), np.tile(np.arange(30), 2)
    assert caveats_of(Dataset.of(np.vstack([X, X]), y))
    assert caveats_of(Dataset.of(np.vstack([X, X]), y, groups=groups)) == ()


def test_mean_targets_of_numbers_are_found_and_levels_are_not() -> None:
    rng = np.random.default_rng(1)
    y, level = rng.normal(size=90), rng.integers(0, 30, 90)
    means = np.array([y[level == one].mean() for one in level])
    X = np.column_stack([means, level, rng.normal(size=90), y, np.full(90, y.mean())])
    assert encoded_targets(X, y, "regress").tolist() == [0]
    codes = np.arange(90) % 2
    assert encoded_targets(np.column_stack([codes, level, rng.random(90)]), codes).size == 0
