"""Studies of papers: pieces that are kept, the tables they make, and the experiments on small data."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from browser import chromium, needs_chromium, opened
from study_figures import described
from tamis.compose.recipe import parse
from tamis.data.dataset import Dataset
from tamis.data.named import ENTRIES
from tamis.reporting.figure_description import Axis
from tamis.reproduce import contrasts, draw, fr_svm, mrmr, run, studies
from tamis.reproduce.framework.figures import Curve, bars, curves
from tamis.reproduce.framework.pieces import run_pieces
from tamis.reproduce.framework.results import Results
from tamis.reproduce.framework.study import Piece, Study, Table, Task
from tamis.reproduce.mrmr import child_leukemia
from tamis.reproduce.mrmr import figures as mrmr_figures
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
        (("mrmr", "--figures", "f"), "not available: nci60_mrmr"),
        (("mrmr", "--figures", "file"), "file: cannot be made a folder"),
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
    (tmp_path / "file").write_text("")
    code, out, error = tamis("reproduce", *arguments)
    assert (code, out) == (2, "")
    assert message in error


def counted(findings):
    rows = [found.get("rows", 0) for found in findings.values()]
    own = {"here": rows, "printed": [None] * len(rows)}
    return [bars("rows", "<b>Rows</b>", "Of all.", [data or "made" for data, _ in findings], Axis("rows"), own)]


def test_figures_are_drawn_with_the_tables_and_their_own_pieces_then_alone(tiny, tamis, monkeypatch, tmp_path):
    pieces = (*SMALL.pieces[:2], Piece("tiny", "for a figure", count_rows, drawn=True))
    drawing = replace(SMALL, pieces=pieces, figures=counted, brief=lambda found: str(found["drawn"]))
    monkeypatch.setattr(mrmr, "STUDY", drawing)
    monkeypatch.chdir(tmp_path)
    code, out, error = tamis("reproduce", "mrmr")
    assert (code, "for a figure" in error) == (0, False)
    code, out, error = tamis("reproduce", "mrmr", "--figures", "new/folder")
    assert code == 0
    assert error.rsplit(" in ", 1)[0] == "3/3 tiny: for a figure"
    assert "A table" in out
    page, numbers = (tmp_path / "new" / "folder" / f"mrmr-figures.{end}" for end in ("html", "json"))
    assert out.splitlines()[-2:] == ["Figures: new/folder/mrmr-figures.html", "Figures: new/folder/mrmr-figures.json"]
    (figure,) = json.loads(numbers.read_text())["figures"]
    here = next(mark for mark in figure["panels"][0]["marks"] if mark["label"] == "here")
    assert (figure["panels"][0]["x_names"], here["length"]) == (["made", "tiny", "tiny"], [0, 2, 2])
    html = page.read_text()
    assert "&lt;b&gt;Rows" in html
    assert "a remark" in html
    assert re.findall(r"<(?:script|link|img)[^>]+(?:src|href)=(?!\"data:)", html) == []
    assert 4_000_000 < len(html) < 6_000_000
    assert run("mrmr", data="tiny", results="tamis-reproduce-mrmr.json").figures == []


def test_a_study_without_figures_says_so(tiny, tamis, monkeypatch, tmp_path):
    monkeypatch.setattr(mrmr, "STUDY", SMALL)
    monkeypatch.chdir(tmp_path)
    code, out, error = tamis("reproduce", "mrmr", "--figures", "here")
    assert (code, out, error) == (2, "", "tamis: mrmr has no figures to draw\n")
    assert not (tmp_path / "here").exists()


@pytest.mark.slow
@needs_chromium
def test_the_page_of_figures_is_drawn_by_a_browser(tmp_path):
    page, _ = draw("binning", tmp_path)
    with chromium() as browser, opened(browser, page) as seen:
        assert seen.draw_all() == ["predictor", "likelihoods", "fresh"]
        assert seen.errors == []
        assert all(url.startswith(("file:", "data:", "blob:")) for url in seen.requests)


def test_curves_and_bars_are_beside_the_printed_ones():
    own = {"here": Curve((1, 2), [3.0, None], [0.1, 0.2]), "printed": Curve((1, 2), [3, 4], printed=True, colour=0)}
    (panel,) = curves("name", "title", "caption", Axis("x"), Axis("y"), own).panels
    assert [(one.colour, one.dotted, one.points) for one in panel.marks] == [(0, False, True), (0, True, False)]
    places = {"printed": [1.0, None], "here": [2.0, 3.0], "there": [4.0, 5.0]}
    (panel,) = bars("name", "title", "caption", ["a", "b"], Axis("y"), places).panels
    assert [(one.colour, one.length, one.across) for one in panel.marks] == [
        *(("faint", [1.0], False), (0, [2.0, 3.0], False), (1, [4.0, 5.0], False)),
    ]
    assert panel.marks[1].at == pytest.approx([0.0, 1.0])
    # Long names stand beside horizontal bars.
    (panel,) = bars("name", "title", "caption", ["a", "a long name of a set"], Axis("y"), places).panels
    assert panel.y.names == ["a", "a long name of a set"]
    assert panel.marks[0].across


@pytest.mark.parametrize("study", studies().values(), ids=studies())
def test_every_study_has_figures(study):
    assert study.figures({}) == []


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
    table_4, table_5, curve = mrmr.STUDY.tables(findings)
    assert [line[0] for line in table_4.lines][::3] == ["baseline, printed", "MIQ, printed"]
    assert table_4.lines[0][1:4] == ["34", "25", "23"]
    assert table_4.lines[5][-1] == "6"
    assert [line[3] for line in table_5.lines] == ["25.00", "6.67", "6.67", "11.67", "8.33", "10.00"]
    assert [line[0] for line in curve.lines] == ["SVM, baseline", "SVM, MID", "SVM, MIQ"]
    findings |= {("nci60_mrmr", name): findings["nci60_mrmr", "SVM"] for name in ("NB", "LDA")}
    drawn = described(mrmr.STUDY, findings)
    assert list(drawn) == ["figure_1c", "figure_2_nci60_mrmr"]
    assert drawn["figure_1c"]["MID, inside the folds"]["y"] == [100 * 7 / 60] * 15
    assert drawn["figure_2_nci60_mrmr"]["MIQ"]["y"][-1] == 10.0


def test_relevance_and_redundancy_are_those_of_mrmr():
    data = states(1)
    found = mrmr_figures._curves(Task(data))
    for name in ("MID", "MIQ"):
        own = parse(f"mrmr(40, criterion={name.lower()})").build().fit(data.X, data.y)
        # Ours are in bits, those of the part in nats.
        for key, curve in (("relevance", own.relevance_curve_), ("redundancy", own.redundancy_curve_)):
            np.testing.assert_allclose(np.log(2) * np.array(found[key][name]), curve, atol=2e-6)


def test_child_leukemia_is_divided_as_in_the_paper(monkeypatch):
    monkeypatch.setattr(child_leukemia, "_DRAWS", 2)
    monkeypatch.setattr(child_leukemia, "SIZES", (3, 6))
    monkeypatch.setattr(child_leukemia, "PRINTED", {"SVM": dict.fromkeys(("baseline", "MID", "MIQ"), (30, 20))})
    counts = {"BCR-ABL": 15, "E2A-PBX1": 27, "Hyperdip>50": 64, "MLL": 20, "T-ALL": 43, "TEL-AML": 79}
    y = np.repeat(list(counts), list(counts.values()))
    train, test = child_leukemia.parts(y, np.random.default_rng(0))
    assert (test.size, train.size) == (85, 163)
    assert np.intersect1d(train, test).size == 0
    assert dict(zip(*np.unique(y[test], return_counts=True), strict=True)) == child_leukemia._TEST
    random = np.random.default_rng(0)
    X = random.normal(size=(y.size, 12))
    X[:, :6] += 4 * (y[:, None] == np.array(list(counts)))
    piece = child_leukemia.piece({"SVM": "svm(linear)"})
    found = piece.run(Task(Dataset(X, y, np.arange(12).astype(str), name=piece.data)))
    assert np.shape(found["errors"]["SVM"]["MID"]) == (2, 2)
    assert np.diff(found["errors"]["SVM"]["MID"]).max() < 0
    findings = {(piece.data, piece.name): found}
    third, fifth = mrmr.STUDY.tables(findings)
    assert [line[0] for line in third.lines[:2]] == ["SVM, baseline, printed", "SVM, baseline, here"]
    assert third.lines[0][1:] == [f"{100 * one / 112:.1f}" for one in (30, 20)]
    assert fifth.lines[1][3] == f"{100 * np.mean(found['errors']['SVM']['baseline'], axis=0).min() / 85:.2f}"
    assert described(mrmr.STUDY, findings)["table_3_SVM"]["MID, printed"]["y"][0] == 100 * 30 / 112


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
    drawn = described(contrasts.STUDY, findings)
    assert drawn["figure_1"]["here"]["length"] == [5.0, 0.0, 100.0, 100.0, 0.0, 100.0, 100.0]
    assert drawn["linear"]["500 rows"]["length"] == [20.0, 0.0, 100.0]
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
        assert all(len(line) == len(shown.columns) for line in shown.lines)
        drawn = described(fr_svm.STUDY, {("iris", table.piece): found})
        assert list(drawn) == ([] if table.number == 8 else [f"table_{table.number}_accuracy"])


def test_printed_times_of_fr_svm_give_its_speed_ups():
    projected = next(table for table in fr_svm._TABLES if table.number == 3)
    training, testing = fr_svm._faster(projected, projected.lines[-2])
    # "A speedup of 11.5 in testing and 6.8 in training" with 25 components; 4471.6 / (228.6 + 441.4) is 6.7.
    assert testing == pytest.approx(11.5, abs=0.05)
    assert training == pytest.approx(4471.6 / (228.6 + 441.4))
    both = [table for table in fr_svm._TABLES if table.number == 8]
    assert [fr_svm._faster(table, table.lines[0]) for table in both] == [(1, 1.3), (3.90, 10.9), (0.98, 11.1)]


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
