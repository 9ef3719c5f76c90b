"""``tamis mine`` as a user types it: a table in, a model with an honest error out, and refusals in one sentence."""

import json
import sqlite3
import sys
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from tamis.mining import progress_display

QUICK = ("--target", "kind", "--trials", 6, "--folds", 2, "--inner-folds", 2, "--engine", "serial")
FORM = ("--try", "cc | knn(metric=minkowski)", "--without", "committee")


@pytest.fixture
def garden(tmp_path, monkeypatch):
    """A folder with a table: one column tells the class."""
    rng = np.random.default_rng(0)
    kind = np.arange(60) % 2
    columns = {f"g{i}": rng.normal(size=60).round(4) for i in range(12)}
    columns["g5"] = (columns["g5"] + 3 * kind).round(4)
    frame = pl.DataFrame({**columns, "kind": np.where(kind, "tulip", "rose")})
    frame.write_csv(tmp_path / "flowers.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_from_a_table_to_predictions(tamis, garden):
    code, out, said = tamis("mine", "flowers.csv", *QUICK, *FORM)
    assert code == 0
    assert "on unseen rows" in out
    assert "optimism" in out
    assert "g5" in out.rpartition("fitted on all rows")[2]
    assert "best so far" in said
    assert (garden / "flowers.tamis-run").exists()
    code, out, _ = tamis("predict", "flowers.tamis-model", "flowers.csv", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["error"]["accuracy"] > 0.9
    assert found["honest_error"]["metric"] == "ber"


def test_json_tells_everything_and_a_second_time_nothing_is_computed(tamis, garden):
    code, out, _ = tamis("mine", "flowers.csv", *QUICK, *FORM, "--json")
    assert code == 0
    first = json.loads(out)
    assert {
        "recipe",
        "features",
        "honest",
        "inner_estimate",
        "optimism",
        "leaderboard",
        "choices",
        "model",
    } <= first.keys()
    assert "g5" in first["features"]
    code, out, said = tamis("mine", "flowers.csv", *QUICK, *FORM, "--json")
    again = json.loads(out)
    assert not said
    assert again["leaderboard"] == first["leaderboard"]
    assert again["honest"]["metrics"] == first["honest"]["metrics"]


def test_the_run_can_be_read_with_any_sqlite_tool(tamis, garden):
    tamis("mine", "flowers.csv", *QUICK, *FORM, "--estimate", "nested", "--run", "a.run", "--model", "b.model")
    assert (garden / "b.model").exists()
    found = sqlite3.connect(garden / "a.run").execute("SELECT count(*), count(DISTINCT search) FROM results").fetchone()
    assert found[0] > 50
    assert found[1] == 3


def test_a_space_from_a_file(tamis, garden):
    (garden / "space.toml").write_text(
        'try = ["ssv | knn"]\nwithout = ["committee", "blend"]\n[search.knn]\nn_neighbors = "{3, 5}"\n'
    )
    code, out, _ = tamis("mine", "flowers.csv", *QUICK, "--space", "space.toml", "--json")
    assert code == 0
    recipes = [row["recipe"] for row in json.loads(out)["leaderboard"]]
    assert recipes
    assert all(text.startswith("ssv(") and ("knn(3" in text or "knn(5" in text) for text in recipes)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--budget", "soon"), "budget takes a time"),
        (("--engine", "gpu"), "or dask://host:port; got 'gpu'"),
        (("--without", "nobody"), "no part is called 'nobody'"),
        (("--try", "cc"), "must end in a classifier"),
        (("--metric", "beauty"), "no metric is called 'beauty'"),
        (("--split", "official"), "no official split"),
        (("--space", "none.toml"), "none.toml: No such file"),
        (("--run", "none/run"), "its folder does not exist"),
        (("--memory", "lots"), "--memory takes a size"),
        (("--folds", "50"), "no class has 50 rows"),
        (("--group", "plot"), "no column called 'plot'"),
    ],
)
def test_refusals(tamis, garden, options, sentence):
    code, _, said = tamis("mine", "flowers.csv", *QUICK, *options)
    assert code == 2
    assert sentence in said
    assert said.startswith("tamis: ")
    assert "Traceback" not in said
    assert not (garden / "flowers.tamis-model").exists()


def test_changed_data_is_refused(tamis, garden):
    tamis("mine", "flowers.csv", *QUICK, *FORM)
    frame = pl.read_csv("flowers.csv").with_columns(g0=pl.col("g0") + 1)
    frame.write_csv("flowers.csv")
    code, _, said = tamis("mine", "flowers.csv", *QUICK, *FORM)
    assert code == 2
    assert "flowers.tamis-run: this run was made from other data (flowers has changed since)" in said


def test_a_terminal_gets_a_live_table(tamis, garden, monkeypatch):
    """The picture is drawn for every state that a search goes through."""
    drawn = []
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    real = progress_display._picture
    monkeypatch.setattr(progress_display, "_picture", lambda *given: drawn.append(real(*given)) or drawn[-1])
    code, _, _ = tamis("mine", "flowers.csv", *QUICK, *FORM)
    assert code == 0
    assert drawn
    heads = [str(picture.renderables[0]) for picture in drawn]
    assert any("the given templates" in head and "spent" in head for head in heads)
    assert drawn[-1].renderables[1].row_count > 0


def test_the_table_is_made_once_in_a_round():
    best = progress_display.Best()
    assert best(SimpleNamespace(searches=[], number=1)) == []
