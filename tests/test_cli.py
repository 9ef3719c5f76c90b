"""The commands as a user types them: what they print, and how they refuse."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest

from bad_files import BAD_FILES
from reading import put
from tamis.cli import show


@pytest.fixture
def flowers(tmp_path):
    """A small table with a nominal column, a missing value, a group column and two classes."""
    rng = np.random.default_rng(0)
    lines = ["length,width,colour,plot,noise,kind"]
    for i in range(60):
        kind = i % 2
        width = "" if i == 5 else f"{rng.normal():.3f}"
        colour = ["red", "blue"][(i + rng.integers(0, 4) // 3) % 2]
        lines.append(
            f"{2 * kind + rng.normal():.3f},{width},{colour},{i // 4},{rng.normal():.3f},{['rose', 'tulip'][kind]}"
        )
    path = tmp_path / "flowers.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def one_sentence(error):
    """What a refusal is: one line, and no traceback."""
    assert error.startswith("tamis: ")
    assert error.count("\n") == 1
    assert "Traceback" not in error
    return error


def test_help_answers_at_once():
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "tamis.cli.main", "--help"], capture_output=True, text=True, check=True
    )
    assert "validate" in done.stdout
    loaded = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "tamis.cli.main", "--help"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert time.perf_counter() - started < 20
    for heavy in ("numpy", "sklearn", "numba", "polars", "scipy", "rich.table"):
        assert f"| {heavy}" not in loaded.stderr


@pytest.mark.parametrize(
    ("command", "heavy"),
    [
        (("data",), ("sklearn", "scipy.stats", "pandas", "numba", "joblib", "jinja2", "plotly")),
        (("validate", "cc(2) | nb"), ("numba", "jinja2", "plotly", "skops", "optuna", "scipy.cluster", "matplotlib")),
    ],
)
def test_a_command_on_a_small_table_imports_no_more_than_it_needs(tmp_path, command, heavy):
    name, *recipe = command
    rows = [",".join(map(str, (*row, i % 2))) for i, row in enumerate(np.random.default_rng(0).normal(size=(40, 3)))]
    (table := tmp_path / "small.csv").write_text("\n".join(["a,b,c,class", *rows]))
    start = [sys.executable, "-X", "importtime", "-m", "tamis.cli.main"]
    done = subprocess.run([*start, name, str(table), *recipe], capture_output=True, text=True, check=True)
    loaded = {line.rsplit("|", 1)[-1].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert "polars" in loaded
    assert not loaded & set(heavy)


def test_version_and_usage(tamis):
    assert tamis("--version")[:2] == (0, "tamis 0.1.0\n")
    code, _, error = tamis("validate")
    assert code == 2
    assert "Missing argument" in error


def test_list(tamis):
    code, out, _ = tamis("list")
    assert code == 0
    assert "Absolute correlation of the feature with the target." in out
    code, out, _ = tamis("list", "scores", "--json")
    assert {part["name"] for part in json.loads(out)} >= {"cc", "t", "chi2"}
    code, out, _ = tamis("list", "svm")
    assert "class_weight" in out
    code, _, error = tamis("list", "nonsense")
    assert code == 2
    assert "'nonsense' is neither a kind" in one_sentence(error)


def test_rank(tamis, flowers):
    code, out, _ = tamis("rank", flowers, "t", "--target", "kind", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["recipe"] == "encode | t"
    assert found["ranking"][0]["feature"] == "length"
    assert found["features"] == 6
    code, out, _ = tamis("rank", "madelon-like", "cc(20)", "--top", 5)
    assert "20 of 500 features are selected by cc(20)" in out
    assert "cc(20): ranks the features by correlation with the target and keeps the best 20" in out
    assert "are probes" in out
    assert "50 of 50 features are selected by cc(900); it asks for 900" in tamis("rank", "xor", "cc(900)")[1]
    code, _, error = tamis("rank", flowers, "svm(linear)", "--target", "kind")
    assert code == 2
    assert "svm is not a selector" in one_sentence(error)


@pytest.mark.parametrize("command", [("validate", "xor", "cc(900) | nb", "--folds", 2), ("select", "xor", "cc(900)")])
def test_more_features_than_there_are_is_said(tamis, command):
    code, _, error = tamis(*command)
    assert code == 0
    assert error == "tamis: note: cc(900) asks for more features than there are: all 50 are kept\n"


def test_validate(tamis, flowers):
    code, out, error = tamis(
        "validate", flowers, "cc(2) | svm(linear)", "--target", "kind", "--folds", 5, "--leak-check"
    )
    assert (code, error) == (0, "")
    assert "recipe: impute | encode | cc(2) | svm(linear)" in out
    assert "leak check:" in out
    assert "selected features: 2 of " in out
    code, out, _ = tamis("validate", flowers, "cc(2) | svm(linear)", "--target", "kind", "--folds", 5, "--json")
    found = json.loads(out)
    assert found["recipe"] == "impute | encode | cc(2) | svm(linear)"
    assert 0.5 < found["metrics"]["accuracy"]["mean"] <= 1.0
    assert len(found["selected"]) == 5


def test_validate_is_the_same_whoever_computes(tamis, flowers):
    found = []
    for option in (("--jobs", 1), ("--jobs", 2), ("--engine", "serial")):
        _, out, _ = tamis("validate", flowers, "cc(2) | knn(auto)", "--target", "kind", *option, "--json")
        found.append(json.loads(out))
        found[-1].pop("seconds")
    assert found[0] == found[1] == found[2]
    code, _, err = tamis("validate", flowers, "cc(2) | knn(auto)", "--target", "kind", "--engine", "abacus")
    assert code == 2
    assert "engine must be serial, local" in err
    _, out, _ = tamis("validate", flowers, "cc(2) | knn(auto)", "--target", "kind", "--seed", 1, "--json")
    assert json.loads(out)["predictions"] != found[0]["predictions"]


def test_groups_and_probes(tamis, flowers):
    code, out, _ = tamis(
        "validate", flowers, "cc(2) | svm(linear)", "--target", "kind", "--group", "plot", "--probes", 0.5, "--json"
    )
    found = json.loads(out)
    assert code == 0
    assert found["n_features"] == 8
    assert found["probe_share"] is not None
    code, _, error = tamis("validate", flowers, "svm", "--target", "kind", "--group", "nothing")
    assert "no column called 'nothing'" in one_sentence(error)


def test_a_wrong_recipe_is_pointed_at(tamis, flowers):
    code, _, error = tamis("validate", flowers, "cc(2) | swm(linear)")
    assert code == 2
    assert error == "tamis: no part is called 'swm'; did you mean 'svm'?\n  cc(2) | swm(linear)\n          ^^^\n"
    code, _, error = tamis("rank", flowers, "cc({2, 3})")
    assert code == 2
    assert "stands for 2 recipes" in one_sentence(error)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv", "svm"], "nowhere.csv"),
        (["FLOWERS", "svm"], "target"),
        (["FLOWERS", "svm", "--target", "nothing"], "nothing"),
        (["FLOWERS", "cc(2)", "--target", "kind"], "does not predict"),
        (["FLOWERS", "svm", "--target", "kind", "--folds", "50"], "class"),
        (["FLOWERS", "svm", "--target", "kind", "--split", "official"], "split"),
        (["FLOWERS", "svm", "knn", "--target", "kind", "--leak-check"], "--leak-check takes one recipe; got 2"),
        (["FLOWERS", "svm", "--target", "kind", "--memory", "lots"], "--memory takes a size such as 500MB"),
        (["FLOWERS", "svm", "--target", "kind", "--split", "bootstrap", "--nested"], "nested validation takes folds"),
    ],
)
def test_what_cannot_be_validated_is_refused(tamis, flowers, arguments, message):
    code, out, error = tamis("validate", *[str(flowers) if a == "FLOWERS" else a for a in arguments])
    assert (code, out) == (2, "")
    assert message in one_sentence(error)


def test_validate_many(tamis, flowers):
    recipes = ["cc({1, 2, 3}) | svm(linear, C={0.1, 10})", "cc(2) | knn(3)", "cc(2) | knn(3)"]
    code, out, _ = tamis("validate", flowers, *recipes, "--target", "kind", "--folds", 5, "--jobs", 2)
    assert code == 0
    assert "7 recipes, 5 stratified folds, seed 0; " in out
    assert "impute and encode were added" in out
    assert "cc(*) | svm(linear, C=0.1)" in out
    assert "The best of 7 models by BER" in out
    code, out, _ = tamis("validate", flowers, *recipes, "--target", "kind", "--folds", 5, "--json")
    found = json.loads(out)
    assert len(found["models"]) == 7
    code, out, _ = tamis("validate", flowers, recipes[1], "--target", "kind", "--folds", 5, "--json")
    assert json.loads(out)["metrics"] == found["models"][-1]["metrics"]


def test_validate_nested(tamis, flowers):
    arguments = [flowers, "cc({1, 2, 3}) | knn({1, 5})", "--target", "kind", "--folds", 4, "--nested"]
    code, out, _ = tamis("validate", *arguments, "--rule", "simplest", "--inner-folds", 3)
    assert code == 0
    assert "the simplest good one of 6 recipes; 4 stratified folds, 3 within, seed 0" in out
    assert "on all rows the choice is: impute | encode | cc(" in out
    code, out, _ = tamis("validate", *arguments, "--json")
    found = json.loads(out)["nested"]
    assert (len(found["inner"]), len(found["recipes"])) == (4, 6)


def test_validate_with_permutations_and_learning_curve(tamis, flowers):
    arguments = [flowers, "cc(1) | knn(3)", "--target", "kind", "--folds", 4, "--permutations", 9, "--learning-curve"]
    code, out, _ = tamis("validate", *arguments, "--memory", "1 MB")
    assert code == 0
    assert "of 9 relabelings none did as well (p = 0.1)" in out
    assert "learning curve of impute | encode | cc(1) | knn(3)" in out
    code, out, _ = tamis("validate", *arguments, "--json")
    found = json.loads(out)
    assert len(found["permutations"][0]["null"]) == 9
    assert len(found["learning_curve"][0]["table"]) == 5
    assert found["one"]["n_features"] == 5


def test_validate_by_the_bootstrap(tamis, flowers):
    code, out, _ = tamis(
        *("validate", flowers, "knn({1, 5})", "--target", "kind", "--split", "bootstrap", "--repeats", 10)
    )
    assert code == 0
    assert "10 bootstrap samples" in out


def test_data_commands(tamis, flowers, tmp_path):
    code, out, _ = tamis("data", "describe", flowers, "--target", "kind", "--json")
    facts = json.loads(out)
    assert (code, facts["rows"], facts["features"]) == (0, 60, 5)
    assert "rose" in tamis("data", "describe", flowers, "--target", "kind")[1]
    assert "madelon-like" in tamis("data", "list")[1]
    for name in ("m.csv", "m.csv.gz", "m.parquet", "m.npz"):
        assert tamis("data", "make", "madelon-like", tmp_path / name, "--rows", 40)[0] == 0
        code, out, _ = tamis("data", "describe", tmp_path / name, "--json")
        assert (json.loads(out)["rows"], json.loads(out)["features"]) == (40, 500)
    code, _, error = tamis("data", "make", "madelon-like", tmp_path / "m.xls")
    assert code == 2
    assert "must end in .csv" in one_sentence(error)
    assert not list(tmp_path.glob(".m*"))
    code, _, error = tamis("data", "make", "nothing", tmp_path / "m.csv")
    assert "no generator is called 'nothing'" in one_sentence(error)
    code, _, error = tamis("data", "make", "xor", tmp_path / "no" / "m.csv")
    assert code == 2
    assert "cannot be written" in one_sentence(error)


@pytest.mark.parametrize(("files", "opened", "fragment"), [c[1:] for c in BAD_FILES], ids=[c[0] for c in BAD_FILES])
def test_bad_files_get_one_sentence(tamis, tmp_path, files, opened, fragment):
    path = put(tmp_path, files) / opened
    code, out, error = tamis("data", "describe", path)
    assert (code, out) == (2, "")
    assert fragment in one_sentence(error)
    assert error.startswith(f"tamis: {path}")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("a,class\n1,x\n2,x\n3,x\n", "class"),
        ("a,class\n1,x\n", "class"),
        ("class\nx\ny\n", "columns"),
        ("a,class\ninf,x\n1,y\n", "'a'"),
    ],
    ids=["one class", "one row", "no feature", "infinity"],
)
def test_tables_that_cannot_be_learnt_from(tamis, tmp_path, table, message):
    path = tmp_path / "t.csv"
    path.write_text(table)
    code, out, error = tamis("validate", path, "cc(1) | svm(linear)")
    assert (code, out) == (2, "")
    assert message in one_sentence(error)


def test_awkward_columns_are_survived(tamis, tmp_path):
    """Constants, duplicates, an empty column and one column alone."""
    lines = ["c,d1,d2,empty,class"] + [f"7,{i % 3},{i % 3},,{'ab'[i % 2]}" for i in range(40)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    assert tamis("validate", path, "cc(2) | svm(linear)", "--folds", 5)[0] == 0
    path.write_text("\n".join(["x,class", *(f"{i % 5},{'ab'[i % 2]}" for i in range(40))]))
    assert tamis("validate", path, "cc(1) | knn(3)", "--folds", 5)[0] == 0


def test_a_hundred_thousand_columns(tamis, tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "wide.csv"
    with path.open("w") as file:
        file.write(",".join(f"g{i}" for i in range(100_000)) + ",class\n")
        for row in range(12):
            file.write(",".join(map(str, rng.integers(0, 9, 100_000))) + f",{'ab'[row % 2]}\n")
    code, out, _ = tamis("rank", path, "cc(5)", "--top", 3, "--json")
    assert code == 0
    assert json.loads(out)["features"] == 100_000


def test_notes_are_said_once(tamis, flowers):
    code, _, error = tamis("rank", flowers, "length_is_no_score")
    assert code == 2
    code, _, error = tamis("rank", flowers, "t(threshold=1000)", "--target", "kind")
    assert code == 0
    assert error == "tamis: note: 0 of 6 features meet the cut; the best 1 selected instead\n"


def test_lack_of_memory_is_told(tamis, monkeypatch, flowers):
    def fail(*_, **__):
        raise MemoryError

    monkeypatch.setattr(sys.modules["tamis.data.load"], "load", fail)
    code, _, error = tamis("data", "describe", flowers)
    assert (code, error) == (2, "tamis: not enough memory for this\n")


def test_warm(tamis):
    code, out, _ = tamis("warm")
    assert code == 0
    assert "kernels are compiled" in out


def test_json_has_no_numbers_that_json_lacks():
    assert show._plain({"a": np.array([1.0, np.nan, np.inf, -np.inf]), 1: (np.int64(3),)}) == {
        "a": [1.0, None, "inf", "-inf"],
        "1": [3],
    }
