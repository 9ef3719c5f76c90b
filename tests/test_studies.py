"""Studies of papers: pieces that are kept, the tables they make, and the experiments on small data."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from tamis.compose.recipe import parse
from tamis.data.dataset import Dataset
from tamis.data.named import ENTRIES
from tamis.reproduce import contrasts, fr_svm, mrmr, studies
from tamis.reproduce.framework.pieces import run_pieces
from tamis.reproduce.framework.results import Results
from tamis.reproduce.framework.study import Piece, Study, Table, Task
from tamis.select.contrasts.contrast_tests import ContrastTest
from tamis.select.contrasts.rankers import Engine


def count_rows(task):
    task.progress(1, 1)
    return {"rows": task.data.n_rows, "drawn": task.seed}


def make_own(task):
    assert task.data is None
    return {"drawn": task.seed}


def tables(findings):
    lines = [[data or "made", str(found.get("rows"))] for (data, _), found in findings.items()]
    return [Table("A table", ("", "rows"), lines)]


SMALL = Study(
    "A small study",
    "Nobody 2005",
    "small things",
    (
        Piece("", "own", make_own),
        Piece("tiny", "count", count_rows),
        Piece("absent", "count", count_rows),
    ),
    tables,
    ("a remark",),
)


@pytest.fixture
def tiny(home):
    (home / "tiny.csv").write_text("a,b,class\n1,2,x\n3,4,y\n")
    return home


def test_pieces_are_kept_and_not_run_again(tiny, tmp_path):
    results = Results(tmp_path / "kept.json")

    def new(seed):
        return [one.new for one in run_pieces(SMALL.pieces, Task(seed=seed), results)]

    first = list(run_pieces(SMALL.pieces, Task(seed=3), results))
    assert [one.found and (one.found["drawn"], one.found.get("rows")) for one in first] == [(3, None), (3, 2), None]
    assert [one.new for one in first] == [True, True, False]
    assert new(3) == [False, False, False]
    assert new(4) == [True, True, False]
    (tiny / "tiny.csv").write_text("a,b,class\n1,2,x\n3,5,y\n")
    assert new(4) == [False, True, False]


def test_findings_may_not_have_the_names_of_what_is_kept_with_them():
    with pytest.raises(TypeError, match="seconds"):
        next(run_pieces([Piece("", "own", lambda task: {"seconds": 1})], Task()))


def test_the_command_prints_every_table(tiny, tamis, monkeypatch, tmp_path):
    monkeypatch.setattr(mrmr, "STUDY", SMALL)
    monkeypatch.chdir(tmp_path)
    code, out, error = tamis("reproduce", "mrmr")
    assert code == 0
    assert [line.rsplit(" in ", 1)[0] for line in error.splitlines()] == ["1/3 own", "2/3 tiny: count"]
    absent = "Not available: absent (the UCI repository)."
    for text in ("A small study (Nobody 2005)", "A table", "tiny", "a remark", absent):
        assert text in out
    code, out, error = tamis("reproduce", "mrmr", "--markdown", "--data", "tiny")
    assert (code, error) == (0, "")
    assert "|  | rows |\n|---|---|\n| tiny | 2 |\n" in out
    code, out, _ = tamis("reproduce", "mrmr", "--json", "--data", "tiny")
    assert code == 0
    assert '"rows": 2' in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mrmr", "--repeats", 2), "mrmr takes no repeats"),
        (("mrmr", "--figures", "f"), "mrmr has no figures"),
        (("mrmr", "--data", "iris"), "mrmr has nothing on 'iris'; it has: nci60_mrmr"),
        (("text-clustering", "--repeats", 2), "text-clustering takes no repeats"),
        (("text-clustering",), "not available: webkb4 (the WebKB project of Carnegie Mellon University"),
        (("contrasts", "--data", "iris"), "contrasts makes its own data"),
        (("fr-svm", "--json", "--markdown"), "exclude each other"),
        (("mrmr",), "not available: nci60_mrmr"),
        (("nobody",), "no study is called 'nobody'; there are bayesnn, binning, "),
    ],
)
def test_what_a_study_does_not_take_is_told(home, tamis, arguments, message, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, out, error = tamis("reproduce", *arguments)
    assert (code, out) == (2, "")
    assert message in error


@pytest.mark.parametrize("study", studies().values(), ids=studies())
def test_pieces_have_names_of_their_own_and_known_data(study):
    keys = [(piece.data, piece.name) for piece in study.pieces]
    assert len(set(keys)) == len(keys)
    files = {"iris", "balance.scale", "glass", "ionosphere", "vote", "audiology", "lymph", "kr.vs.kp"}
    files |= {"heart.statlog", "hepatitis", "credit.a", "labor", "primary.tumor", "mushroom", "colic"}
    files |= {"soybean", "sonar", "breast.w", "segment"}
    files |= {"bci2_datasetIV_finger", "BasicMotions", "JapaneseVowels", "ERing", "Libras"}
    assert set(study.data) <= {*ENTRIES, *files}
    names = [piece.data for piece in study.pieces]
    assert len([a for a, b in zip(names, [None, *names], strict=False) if a != b]) == len(set(names))
    assert all(isinstance(table, Table) for table in study.tables({}))


# mRMR


def test_printed_errors_of_mrmr_are_whole_rows():
    rows = {"nci60_mrmr": 60, "lymphoma_mrmr": 96, "lung_mrmr": 73, "leukemia_mrmr": 72, "colon_mrmr": 62}
    for data, printed in mrmr._TABLE_5.items():
        for pair in printed.values():
            wrong = np.array(pair) * rows[data] / 100
            np.testing.assert_allclose(wrong, np.round(wrong), atol=0.005 * rows[data] / 100 + 1e-9)
    for printed in mrmr._TABLE_4.values():
        assert all(len(errors) == len(mrmr.SIZES) for errors in printed.values())


def states(seed, n=24, columns=40, classes=2):
    random = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = random.choice([-2.0, 0.0, 2.0], size=(n, columns))
    X[:, 3] = np.where(random.random(n) < 0.8, 2.0 * (y == 0), X[:, 3])
    return Dataset(X, y, np.array([f"g{j}" for j in range(columns)]), name="colon_mrmr")


def test_errors_of_mrmr_are_those_of_a_plain_loop(monkeypatch):
    monkeypatch.setattr(mrmr, "SIZES", (1, 3))
    data = states(0)
    task = Task(data)
    found = mrmr._errors("", "nb(states, bins=values)", task)
    for name, selection in mrmr._SELECTIONS.items():
        for place, size in enumerate((1, 3)):
            model = parse(f"{selection.format(k=size)} | nb(states, bins=values)").build()
            inside = sum(
                model.fit(np.delete(data.X, i, axis=0), np.delete(data.y, i)).predict(data.X[[i]])[0] != data.y[i]
                for i in range(data.n_rows)
            )
            assert found["errors"]["inside"][name][place] == inside
            chosen = model[0].fit(data.X, data.y).transform(data.X)
            before = sum(
                model[1].fit(np.delete(chosen, i, axis=0), np.delete(data.y, i)).predict(chosen[[i]])[0] != data.y[i]
                for i in range(data.n_rows)
            )
            assert found["errors"]["all"][name][place] == before


def test_tables_of_mrmr_show_printed_and_own_figures():
    sizes = list(mrmr.SIZES)
    errors = {
        way: {name: [9] * 14 + [number] for number, name in enumerate(("baseline", "MID", "MIQ"), 4)}
        for way in ("all", "inside")
    }
    errors["inside"]["MID"] = [7] * 15
    findings = {
        (data, name): {"rows": 60, "sizes": sizes, "errors": errors}
        for data, name in (("nci60_mrmr", "SVM"), ("nci60_mrmr", "SVM, two states"))
    }
    table_4, table_5, curves = mrmr.STUDY.tables(findings)
    assert [line[0] for line in table_4.lines][::3] == ["baseline, printed", "MIQ, printed"]
    assert table_4.lines[0][1:4] == ["34", "25", "23"]
    assert table_4.lines[5][-1] == "6"
    assert [line[3] for line in table_5.lines] == ["25.00", "6.67", "6.67", "11.67", "8.33", "10.00"]
    assert [line[0] for line in curves.lines] == ["SVM, baseline", "SVM, MID", "SVM, MIQ"]


# Contrasts


def test_contrasts_find_the_strong_columns_of_a_linear_target(monkeypatch):
    quick = ContrastTest(Engine("extra_trees", 30), n_repeats=5, quantile=1.0, alpha=0.05, own=False, batch=100)
    monkeypatch.setattr(contrasts, "_test", lambda: quick)
    found = contrasts._sets(partial(contrasts._linear, 300), [0], Task())
    assert found["strength"] == contrasts._RATIOS.tolist()
    assert all(found["selected"][-4:])
    assert (found["probes"], found["false"] <= 1) == (10, True)
    gaussian = contrasts._gaussians(1)
    assert len(gaussian["strength"]) == len(gaussian["selected"])
    assert len(gaussian["strength"]) + gaussian["probes"] == 20


def test_tables_of_contrasts_count_what_was_found():
    findings = {
        ("", "sums of Gaussians, 500 rows, sets 1 to 10"): {
            "strength": [0.05, 0.1, 0.2, 0.25, 0.3, 0.4],
            "selected": [False, True, True, False, True, True],
            "false": 1,
            "probes": 10,
        },
        ("", "sums of Gaussians, 500 rows, sets 11 to 20"): {
            "strength": [0.2],
            "selected": [True],
            "false": 0,
            "probes": 10,
        },
        ("", "linear, 500 rows, sets 1 to 10"): {
            "strength": [0.3, 1.5],
            "selected": [False, True],
            "false": 2,
            "probes": 10,
        },
    }
    first, second = contrasts.STUDY.tables(findings)
    assert [line[1:3] for line in first.lines] == [
        ["1", "0 %"],
        ["1", "100 %"],
        ["3", "67 %"],
        ["1", "100 %"],
        ["1", "100 %"],
        ["20", "5.0 %"],
    ]
    assert [line[1:3] for line in second.lines][:3] == [["1", "0 %"], ["1", "100 %"], ["10", "20.0 %"]]
    assert [line[1:3] for line in second.lines][3:] == [["0", None]] * 3


# FR-SVM


def test_iris_is_classified_as_printed():
    X, y = load_iris(return_X_y=True)
    data = Dataset(X, y, np.array(["a", "b", "c", "d"]), name="iris")
    for table in fr_svm._TABLES[:3]:
        found = fr_svm._measure(table, Task(data))
        assert (found["train"], found["test"], found["plain"]["accuracy"]) == (105, 45, 1.0)
        for line, own in zip(table.lines, found["lines"], strict=True):
            # One of the 45 new rows is 2.2 %.
            assert 100 * own["accuracy"] == pytest.approx(line.accuracy, abs=4.5)
        (shown,) = fr_svm.STUDY.tables({("iris", table.piece): found})
        assert shown.lines[0][1:3] == ["100.00", "100.00"]
        assert len(shown.lines) == len(table.lines) + 1


def test_rows_of_mnist_are_the_first_of_the_training_part_and_pixels_shares():
    X = np.arange(24.0).reshape(6, 4)
    split = np.array(["train", "train", "test", "train", "test", "train"])
    data = Dataset(X, np.array([0, 1, 0, 1, 1, 0]), np.array(list("abcd")), split=split, name="mnist")
    rows = fr_svm._rows(data, 3)
    np.testing.assert_array_equal(rows.train, X[[0, 1, 3]] / 255)
    np.testing.assert_array_equal(rows.truth, [0, 1])


# A study of one's own


NEW = """from tamis.reproduce.framework.study import Piece, Study, Table


def _tables(findings):
    lines = [["error", "1.0", str(found["error"])] for found in findings.values()]
    return [Table("A table", ("", "printed", "here"), lines)]


PIECE = Piece("", "an error", lambda task: {"error": 1.5})
STUDY = Study("Newest", "Nobody 2026, Table 1", "an error", (PIECE,), _tables)
"""

LOOK = """
import runpy, sys
import tamis.reproduce
from tamis.cli.main import main

tamis.reproduce.__path__.append(sys.argv[1])
for line in runpy.run_path(sys.argv[2])["reproduced"]().splitlines():
    if line.startswith("| `newest-paper`"):
        print(line)
for arguments in ([], ["newest-paper"], ["newest-paper", "--json"]):
    sys.argv = ["tamis", "reproduce", *arguments]
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
"""


def test_a_study_is_added_in_one_file(tmp_path):
    room = tmp_path / "room"
    room.mkdir()
    (room / "newest_paper.py").write_text(NEW)
    tables = Path(__file__).parents[1] / "docs" / "make_tables.py"
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(room), str(tables)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    docs, rest = done.stdout.split("\n", 1)
    assert docs == "| `newest-paper` | Newest: Nobody 2026, Table 1 | an error | its own |"
    listed, rest = rest.split("Newest (Nobody 2026, Table 1)", 1)
    assert "newest-paper" in listed
    printed, found = rest.split("{", 1)
    assert "1.5" in printed
    assert json.loads("{" + found)["tables"][0]["lines"] == [["error", "1.0", "1.5"]]


def test_the_studies_that_are_found():
    known = (
        "bayesnn binning blasso cluster-tree contrasts convex-networks corona esnb fortal fr-svm fs-svm genes "
        "ghostminer highdod importance mdl-histogram mrmr nested-partitions parallel-fortal pip rckl text-clustering"
    )
    assert list(studies()) == known.split()
