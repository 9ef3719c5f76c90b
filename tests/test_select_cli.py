"""``tamis select`` as a user types it: the features by name, what is written, and refusals."""

import json

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from tamis.compose.model_file import load_model
from tamis.data import load
from tamis.data.dataset import Dataset
from tamis.data.fingerprint import fingerprint
from tamis.data.write import write
from tamis.select import Ranking


@pytest.fixture
def garden(tmp_path):
    rng = np.random.default_rng(0)
    kind = np.arange(60) % 2
    width = [None if i == 5 else float(v) for i, v in enumerate(rng.normal(size=60).round(3))]
    frame = pl.DataFrame(
        {
            "length": (2 * kind + rng.normal(size=60)).round(3),
            "width": width,
            "colour": np.where((kind + (rng.random(60) < 0.1)) % 2, "red", "blue"),
            "noise": rng.normal(size=60).round(3),
            "kind": np.where(kind, "tulip", "rose"),
        }
    )
    frame.write_csv(tmp_path / "flowers.csv")
    return tmp_path


def _refusal(answer) -> str:
    code, out, error = answer
    assert code == 2
    assert out == ""
    assert error.startswith("tamis: ")
    assert "Traceback" not in error
    return error


def _facts(answer) -> dict:
    code, out, error = answer
    assert code == 0, error
    return json.loads(out)


def test_features_come_with_rank_and_score(tamis, no_home):
    facts = _facts(tamis("select", "madelon-like", "cc(7)", "--json"))
    data = load("madelon-like")
    ranking = Ranking("cc", k=7).fit(data.X, data.y)
    best = ranking.order_[:7]
    assert [row["column"] for row in facts["selected"]] == best.tolist()
    assert [row["feature"] for row in facts["selected"]] == data.feature_names[best].tolist()
    assert [row["rank"] for row in facts["selected"]] == list(range(1, 8))
    np.testing.assert_allclose([row["score"] for row in facts["selected"]], ranking.scores_[best])
    assert [row["role"] for row in facts["selected"]] == data.roles[best].tolist()
    assert facts["used"] == 7
    assert facts["error"] is None


def test_the_data_gets_what_it_needs(tamis, garden):
    facts = _facts(tamis("select", garden / "flowers.csv", "cc(3) | knn(3)", "--target", "kind", "--json"))
    assert facts["recipe"] == "impute | encode | cc(3) | knn(3)"
    # Both indicators of one word are one feature, with the better rank.
    assert [(row["feature"], row["rank"]) for row in facts["selected"]] == [("colour", 1), ("length", 3)]


def test_what_is_printed_says_that_there_is_no_estimate(tamis, garden):
    path = garden / "flowers.csv"
    code, out, error = tamis("select", path, "cc(2)", "--target", "kind")
    assert (code, error) == (0, "")
    assert "features are selected by encode | cc(2)" in out
    assert f"This is no error estimate; tamis validate {path} 'cc(2) | svm' --target kind gives one." in out
    command = _facts(tamis("select", path, "cc(2) | knn", "--target", "kind", "--json"))["validate"]
    assert command == f"tamis validate {path} 'cc(2) | knn' --target kind"


def test_a_classifier_may_narrow_further_and_may_select_alone(tamis, garden):
    facts = _facts(tamis("select", garden / "flowers.csv", "tree", "--target", "kind", "--json"))
    assert 0 < facts["used"] < 5
    assert all(row["rank"] is None and row["score"] is None for row in facts["selected"])
    code, out, _ = tamis("select", garden / "flowers.csv", "tree", "--target", "kind")
    assert code == 0
    assert "score" not in out


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_data_is_written_with_these_features_alone(tamis, garden, ending):
    out = garden / f"less.{ending}"
    answer = tamis("select", garden / "flowers.csv", "ssv(2)", "--target", "kind", "--output", out, "--json")
    names = {row["feature"] for row in _facts(answer)["selected"]}
    less, whole = load(str(out), "kind"), load(str(garden / "flowers.csv"), "kind")
    assert set(less.feature_names) == names == {"length", "colour"}
    assert less.X.equals(whole.X.select(less.feature_names.tolist()))
    np.testing.assert_array_equal(less.y, whole.y)


def test_sparse_data_is_written_sparse(tamis, tmp_path):
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.random((40, 9)) * (rng.random((40, 9)) < 0.4))
    y = np.arange(40) % 2
    write(Dataset(X, y, np.array([f"w{j}" for j in range(9)])), tmp_path / "all.npz")
    assert (
        _facts(tamis("select", tmp_path / "all.npz", "f(3)", "--output", tmp_path / "less.npz", "--json"))["used"] == 3
    )
    less = load(str(tmp_path / "less.npz"))
    assert less.is_sparse
    kept = [int(name[1:]) for name in less.feature_names]
    assert (X[:, kept] != less.X).nnz == 0
    assert "is sparse; write it as .npz" in _refusal(
        tamis("select", tmp_path / "all.npz", "f(3)", "--output", tmp_path / "less.csv")
    )
    assert not (tmp_path / "less.csv").exists()


def test_a_model_is_saved_with_its_card(tamis, garden):
    path = garden / "m.tamis"
    answer = tamis("select", garden / "flowers.csv", "cc(2) | forest", "--target", "kind", "--save", path, "--json")
    facts = _facts(answer)
    model, card = load_model(path)
    data = load(str(garden / "flowers.csv"), "kind")
    assert card.recipe == facts["recipe"] == "encode | cc(2) | forest"
    assert sorted(card.uses) == sorted(row["feature"] for row in facts["selected"])
    assert card.fingerprint == fingerprint(data)
    assert card.error is None
    assert (card.target, card.classes, card.data) == ("kind", ["rose", "tulip"], "flowers")
    assert model.predict(data.X).shape == (60,)
    again = garden / "again.tamis"
    tamis("select", garden / "flowers.csv", "cc(2) | forest", "--target", "kind", "--save", again)
    np.testing.assert_array_equal(load_model(again)[0].predict_proba(data.X), model.predict_proba(data.X))


def test_refusals_leave_nothing(tamis, garden):
    flowers, before = garden / "flowers.csv", sorted(garden.iterdir())
    kind = ("--target", "kind")
    assert "--save takes a recipe that ends in a classifier; cc is a score" in _refusal(
        tamis("select", flowers, "cc(2)", *kind, "--save", garden / "m.tamis")
    )
    assert "standardize is a transform" in _refusal(tamis("select", flowers, "cc(2) | standardize", *kind))
    assert "stands for 2 recipes" in _refusal(tamis("select", flowers, "cc({2, 3})", *kind))
    assert "no part is called 'nothing'" in _refusal(tamis("select", flowers, "nothing", *kind))
    assert "the recipe is empty" in _refusal(tamis("select", flowers, "", *kind))
    assert "must end in .csv" in _refusal(tamis("select", flowers, "cc(2)", *kind, "--output", garden / "a.txt"))
    assert "no column is called 'none'" in _refusal(tamis("select", flowers, "cc(2)", "--target", "none"))
    assert "cannot be written" in _refusal(
        tamis("select", flowers, "cc(2) | knn", *kind, "--save", garden / "no" / "m.tamis")
    )
    assert "no such file" in _refusal(tamis("select", garden / "none.csv", "cc(2)"))
    assert sorted(garden.iterdir()) == before


BAD = {
    "empty": ("", "is empty"),
    "no rows": ("a,class\n", "has no rows"),
    "one row": ("a,b,class\n1,2,x\n", "class"),
    "one class": ("a,b,class\n1,2,x\n3,4,x\n2,2,x\n", "class"),
    "infinity": ("a,b,class\n1,2,x\ninf,4,y\n2,2,x\n", "infinite"),
    "cut": ("a,b,class\n1,2,x\n3,4", "line 3"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_data_is_refused(tamis, tmp_path, what):
    text, says = BAD[what]
    (tmp_path / "bad.csv").write_text(text)
    assert says in _refusal(tamis("select", tmp_path / "bad.csv", "cc(1) | knn(1)", "--save", tmp_path / "m.tamis"))
    assert not (tmp_path / "m.tamis").exists()


def test_constants_duplicates_and_many_columns(tamis, tmp_path):
    rng = np.random.default_rng(0)
    X = np.zeros((20, 100_000), dtype=np.float32)
    X[:, 500] = X[:, 700] = np.arange(20) % 2
    X[:, 900] = rng.normal(size=20)
    np.savez(tmp_path / "wide.npz", X=X, y=np.arange(20) % 2)
    facts = _facts(tamis("select", tmp_path / "wide.npz", "cc(2) | knn(1)", "--save", tmp_path / "m.tamis", "--json"))
    assert [row["feature"] for row in facts["selected"]] == ["x501", "x701"]
    assert len(load_model(tmp_path / "m.tamis")[1].columns) == 100_000


def test_a_subset_search_is_stored_resumed_and_limited(tamis, garden):
    flowers, run = (garden / "flowers.csv", "best_first(inconsistency)", "--target", "kind"), garden / "a.tamis-subsets"
    first = _facts(tamis("select", *flowers, "--run", run, "--json"))
    (search,) = first["searches"]
    assert search["search"] == "best_first"
    assert search["complete"]
    assert search["evaluations"] >= search["best"][-1]["evaluations"]
    assert search["best"][-1]["score"] == search["score"]
    again = _facts(tamis("select", *flowers, "--run", run, "--engine", "serial", "--json"))
    assert (again["selected"], again["searches"]) == (first["selected"], first["searches"])
    error = _refusal(tamis("select", *flowers, "--run", run, "--seed", "1"))
    assert "a.tamis-subsets holds a search with seed 0, not 1; name another file" in error
    code, out, error = tamis("select", *flowers, "--budget", "1h")
    assert code == 0, error
    assert f"best_first evaluated {search['evaluations']} sets; the best scores" in out
    assert "budget takes a time" in _refusal(tamis("select", *flowers, "--budget", "soon"))


def test_efficiency_of_a_subset_search(tamis, garden):
    flowers = garden / "flowers.csv", "random_wrapper(knn(3), n_iter=8)", "--target", "kind"
    rows = _facts(tamis("select", *flowers, "--efficiency", "--jobs", "1,2", "--json"))["efficiency"]
    assert [row["workers"] for row in rows] == [1, 2]
    assert (rows[0]["speed-up"], rows[0]["optimal"], rows[0]["total efficiency"]) == (1, 1, 1)
    for row in rows:
        assert row["sequential"] + row["parallel"] == pytest.approx(row["seconds"], abs=0.002)
    code, out, _ = tamis("select", *flowers, "--efficiency", "--jobs", "1")
    assert code == 0
    assert "total efficiency" in out
    assert "begin with 1" in _refusal(tamis("select", *flowers, "--efficiency", "--jobs", "2,4"))
    assert "--jobs takes numbers" in _refusal(tamis("select", *flowers, "--efficiency", "--jobs", "two"))
    assert "takes neither" in _refusal(tamis("select", *flowers, "--efficiency", "--budget", "5s"))
    plain = tamis("select", garden / "flowers.csv", "ssv(2)", "--target", "kind", "--efficiency")
    assert "efficiency is that of a subset search" in _refusal(plain)
