"""The benchmark of the search: rows, results and tables. No search is run."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from benchmarks import bench_mine, bench_mine_curve
from benchmarks.mine import systems, worker
from benchmarks.mine.estimates import estimates
from benchmarks.mine.resplit import FEWEST, SMALL, divide, kept_rows, resplit, write
from benchmarks.mine.results import Line, append, read, replaced, table, wins, written
from benchmarks.mine.systems import FailedError, Outcome, Systems, UnavailableError
from benchmarks.portfolio import learned_without

from tamis.data import load
from tamis.data.dataset import Dataset
from tamis.mining.edits import read_edits
from tamis.mining.portfolio import portfolio

ROOT = Path(__file__).parents[1]
START, END = "<!-- mine -->", "<!-- end of mine -->"


def labels(*counts):
    return np.random.default_rng(0).permutation(np.repeat(np.arange(len(counts)), counts))


def data_set(form, rows=60):
    """A column that tells the classes apart, one of noise, and in a frame one of words."""
    rng = np.random.default_rng(1)
    y = np.array(["no", "yes"])[np.arange(rows) % 2]
    X = np.column_stack([rng.normal(size=rows) + 4 * (y == "yes"), rng.normal(size=rows)])
    if form == "frame":
        words = [None if i == 7 else "NA" if i % 3 else 'a "b", c' for i in range(rows)]
        X = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "word": words})
    elif form == "sparse":
        X = sp.csr_array(X)
    return Dataset(X, y, np.array(["a", "b", "word"][: X.shape[1]]), name=form)


FORMS = ["dense", "sparse", "frame"]


@pytest.mark.parametrize("counts", [(40, 22), (11, 42, 9), (100, 51), (300, 30), (6, 6)])
@pytest.mark.parametrize("number", [0, 1])
def test_a_resplit_divides_all_rows_and_keeps_the_shares_of_the_classes(counts, number):
    y = labels(*counts)
    train, fresh = divide(y, number)
    assert np.array_equal(np.sort(np.concatenate([train, fresh])), np.arange(y.size))
    share = 2 / 3 if y.size <= SMALL else 1 / 2
    assert np.all(np.abs(np.bincount(y[train]) - share * np.array(counts)) <= 1)


def test_resplits_differ_and_come_back_the_same():
    y = labels(40, 22)
    assert np.array_equal(divide(y, 0)[0], divide(y, 0)[0])
    assert not np.array_equal(divide(y, 0)[0], divide(y, 1)[0])


def test_rare_classes_are_left_out():
    y = labels(40, FEWEST, FEWEST - 1)
    assert np.array_equal(kept_rows(y), np.flatnonzero(y < 2))
    data = Dataset(np.arange(y.size, dtype=float)[:, None], y, np.array(["a"]))
    rows = resplit(data, 0)
    assert rows.n_classes == 2
    assert sorted([*rows.train[:, 0], *rows.fresh[:, 0]]) == np.flatnonzero(y < 2).tolist()


def test_official_parts_are_pooled():
    data = load("madelon-fresh")
    rows = resplit(data, 0)
    assert rows.y.size + rows.truth.size == data.n_rows


@pytest.mark.parametrize("form", FORMS)
def test_a_system_reads_the_rows_that_were_written_and_no_class_of_a_fresh_one(form, tmp_path):
    rows = resplit(data_set(form), 0)
    write(rows, tmp_path)
    found = worker.read(tmp_path)
    for ours, theirs in ((rows.train, found.train), (rows.fresh, found.fresh)):
        if form == "frame":
            theirs = theirs.astype(object).where(theirs.notna(), None).to_numpy()
            assert [tuple(row) for row in theirs] == ours.rows()
        else:
            dense = [one.toarray() if sp.issparse(one) else one for one in (ours, theirs)]
            assert np.array_equal(*dense)
    assert np.array_equal(found.y, rows.y)
    assert found.nominal == (["word"] if form == "frame" else [])
    ending = {"dense": "npy", "sparse": "npz", "frame": "csv"}[form]
    assert {one.name for one in tmp_path.iterdir()} == {"about.json", "y.npy", f"train.{ending}", f"fresh.{ending}"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("system", [worker.extra_trees, worker.lightgbm, worker.l1_logistic])
def test_plain_peers_learn_from_every_form(system, form, tmp_path):
    rows = resplit(data_set(form), 0)
    write(rows, tmp_path)
    predictions, answer = system(worker.read(tmp_path), 30)
    assert np.mean(predictions == rows.truth) > 0.85
    assert answer.features >= 1


def test_the_l1_logistic_takes_several_classes_missing_values_and_little_time():
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 4))
    X[:, 0] += 6 * y
    X[::7, 1] = np.nan
    rows = worker.Rows(X[:60], y[:60], X[60:], [])
    predictions, _ = worker.l1_logistic(rows, 30)
    assert np.mean(predictions == y[60:]) > 0.6
    _, hurried = worker.l1_logistic(rows, 0)
    assert "0 tried" in hurried.chosen


def line(name="colon", re_split=0, system="tamis", ber=0.2, **more):
    first = Line(name, re_split, system, 20.0, "2026-01-01", "abc", "x 1", 40, 20, 5, 2, ber, 1.5)
    return replace(first, **more)


def test_results_come_back_as_they_were_written(tmp_path):
    path = tmp_path / "new" / "mine.csv"
    lines = [
        line(honest=0.25, honest_se=0.05, features=3, chosen='cc(3) | "svm"(linear, C=1)'),
        line(system="flaml", error="two\nlines, and a comma"),
    ]
    for one in lines:
        append(path, one)
    lines[1] = replace(lines[1], error="two lines, and a comma")
    assert list(read(path).values()) == lines


def test_the_last_of_two_results_counts(tmp_path):
    for ber in (0.3, 0.1):
        append(tmp_path / "mine.csv", line(ber=ber, revision=f"r{ber}"))
    assert [one.ber for one in read(tmp_path / "mine.csv").values()] == [0.1]
    assert replaced(tmp_path / "mine.csv", 20.0) == ["- tamis: 1 results were replaced by those of later runs."]
    assert replaced(tmp_path / "mine.csv", 30.0) == []


def test_only_the_code_of_before_is_told_apart_by_its_revision():
    assert line(revision="a").key == line(revision="b").key
    assert line(system="before", revision="a").key != line(system="before", revision="b").key


def test_a_file_with_other_line_ends_loses_nothing(tmp_path):
    path = tmp_path / "mine.csv"
    append(path, line("colon"))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    append(path, line("sonar"))
    append(path, line("wdbc"))
    assert [one.set for one in read(path).values()] == ["colon", "sonar", "wdbc"]


def test_a_line_that_was_cut_is_not_read_and_makes_room_for_the_next(tmp_path):
    path = tmp_path / "mine.csv"
    for name in ("colon", "lung"):
        append(path, line(name, chosen='a "word", more'))
    path.write_bytes(path.read_bytes()[:-9])
    assert [one.set for one in read(path).values()] == ["colon"]
    append(path, line("sonar"))
    assert [one.set for one in read(path).values()] == ["colon", "sonar"]


def test_wins_are_counted_by_set_on_the_resplits_that_both_have():
    lines = [
        *(line("won", n, ber=0.1) for n in range(3)),
        *(line("won", n, "flaml", ber=ber) for n, ber in ((0, 0.09), (1, 0.2))),
        line("tied", ber=0.100),
        line("tied", system="flaml", ber=0.105),
        line("lost", ber=0.2),
        line("lost", system="flaml", ber=0.19),
        line("alone", ber=0.2),
    ]
    assert wins(lines, "tamis", "flaml") == (1, 1, 1)
    assert wins(lines, "flaml", "tamis") == (1, 1, 1)
    assert wins(lines, "tamis", "autogluon") == (0, 0, 0)


def cells(text):
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in text.splitlines() if row.startswith("| ")]


def test_the_table_has_means_wins_failures_and_the_honest_estimate():
    lines = [
        line("colon", 0, ber=0.1, honest=0.2),
        line("colon", 1, ber=0.3, honest=0.2),
        line("colon", 0, "flaml", ber=0.3),
        line("colon", 1, "flaml", ber=0.5, error="out of memory"),
        line("sonar", 0, ber=0.1, honest=0.16),
        line("sonar", 0, "flaml", ber=0.05, used=9.0),
        line("lung", 0, ber=0.9),
    ]
    text = table(lines, ["colon", "lung", "sonar", "absent"], ["tamis", "before", "flaml"])
    assert cells(text) == [
        ["data", "rows, columns, classes", "tamis", "flaml", "tamis says"],
        ["colon", "40 + 20, 5, 2", "**20.0**", "40.0 (1 failed)", "20.0"],
        ["lung", "40 + 20, 5, 2", "**90.0**", "", ""],
        ["sonar", "40 + 20, 5, 2", "10.0", "**5.0**", "16.0"],
        ["mean of 2 sets", "", "15.0", "22.5", ""],
        ["seconds", "", "2", "4", ""],
        ["tamis wins/ties/loses", "", "", "1/0/1", ""],
    ]
    assert "- flaml failed on colon: out of memory" in text


def test_the_study_of_the_estimates():
    lines = [
        line("colon", 0, ber=0.1, honest=0.2, honest_se=0.05),
        line("colon", 1, ber=0.3, honest=0.2, honest_se=0.05),
        line("sonar", 0, ber=0.1, honest=0.16, honest_se=0.01, fresh_rows=1000),
        line("sonar", 0, "tamis permuted", ber=0.5, honest=0.48, honest_se=0.05),
        line("lung", 0, "tamis permuted", ber=0.5, honest=0.6, honest_se=0.05, classes=3),
        line("colon", 0, "flaml", ber=0.3),
        line("colon", 2, ber=0.5, error="out of memory"),
    ]
    text = estimates(lines)
    assert cells(text) == [
        ["data", "tamis: fresh", "tamis: says", "tamis: covers", "tamis permuted"],
        ["colon", "20.0", "20.0", "2 of 2", ""],
        ["sonar", "10.0", "16.0", "0 of 1", "48.0"],
        ["lung", "", "", "", "60.0 of 66.7"],
    ]
    assert "less its error on the fresh rows: +3.0 points in the mean of 2 sets (standard error 3.0)" in text
    assert "covers the fresh error in 2 of 3 runs" in text
    assert "- tamis permuted: 48.0 in the mean of 1 runs" in text
    assert estimates([line("colon", 0, "flaml")]) == ""


def test_the_curve_of_errors_against_seconds(faked, tmp_path, no_home, capsys):
    given = ["--sets", "xor", "--seconds", "5", "10", "--results", str(tmp_path / "curve.csv")]
    bench_mine_curve.main([*given, "--figure", str(tmp_path / "curve.svg")])
    assert sorted(faked.ran) == ["before"] * 2 + ["tamis"] * 2
    rows = cells(capsys.readouterr().out)
    assert rows == [["data", "", "5 s", "10 s"], ["xor", "tamis", "50.0", "50.0"], ["xor", "before", "50.0", "50.0"]]
    assert "xor" in (tmp_path / "curve.svg").read_text(encoding="utf-8")


def test_a_page_gets_the_section_between_its_marks():
    page = f"# Title\n\n{START}\nold\n{END}\n\nthe rest\n"
    once = written(page, "new", "mine")
    assert once == f"# Title\n\n{START}\n\nnew\n\n{END}\n\nthe rest\n"
    assert written(once, "new", "mine") == once
    with pytest.raises(ValueError, match="no lines"):
        written("# Title\n", "new", "mine")


@pytest.mark.parametrize("name", ["mine", "estimates"])
def test_the_page_of_results_has_the_marks(name):
    assert "new" in written((ROOT / "docs" / "results.md").read_text(encoding="utf-8"), "new", name)


class Faked:
    """Systems that answer at once: one predicts the first class, one fails, one is not to be had."""

    def __init__(self, monkeypatch):
        self.ran = []
        monkeypatch.setattr(Systems, "prepare", self.prepare)
        monkeypatch.setattr(Systems, "run", self.run)

    def prepare(self, system):
        if system == "autogluon":
            raise UnavailableError("no room on the disk")

    def run(self, system, folder, seconds):
        self.ran.append(system)
        if system == "flaml":
            raise FailedError("out of memory", 3.0)
        fresh = worker.read(folder).fresh
        return Outcome(np.zeros(fresh.shape[0], dtype=int), 1.0, "first class", None, 0.4, 0.1, "x 1")


@pytest.fixture
def faked(monkeypatch):
    return Faked(monkeypatch)


def bench(tmp_path, *more, names=("xor", "friedman")):
    results = tmp_path / "mine.csv"
    bench_mine.main(["--sets", *names, "--seconds", "5", "--re-splits", "2", "--results", str(results), *more])
    return list(read(results).values())


def test_an_interrupted_benchmark_goes_on_where_it_was(faked, tmp_path, no_home, capsys):
    assert len(bench(tmp_path, "--systems", "tamis", names=["xor"])) == 2
    assert len(bench(tmp_path, "--systems", "tamis", "extra trees")) == 8
    assert sorted(faked.ran) == ["extra trees"] * 4 + ["tamis"] * 4
    assert len(bench(tmp_path, "--systems", "tamis", "extra trees", "--again", "tamis")) == 8
    assert faked.ran[8:] == ["tamis"] * 4
    assert "- tamis: 4 results were replaced by those of later runs." in capsys.readouterr().out
    assert len(bench(tmp_path, "--systems", "extra trees", "--seconds", "6")) == 12


def test_what_fails_counts_as_always_the_same_class_and_what_is_missing_does_not(faked, tmp_path, no_home, capsys):
    lines = bench(tmp_path, "--systems", "tamis", "flaml", "autogluon", names=["xor", "nosuch"])
    assert [(one.system, one.ber, one.error) for one in lines] == [
        ("tamis", 0.5, ""),
        ("flaml", 0.5, "out of memory"),
    ] * 2
    said = capsys.readouterr().out
    assert "nosuch: is absent" in said
    assert "autogluon: left out, no room on the disk" in said
    assert "| xor | 250 + 250, 50, 2 | **50.0** | **50.0** (2 failed) | 40.0 |" in said


def test_the_table_goes_to_a_page(faked, tmp_path, no_home):
    page = tmp_path / "page.md"
    page.write_text(f"{START}\n{END}\n", encoding="utf-8")
    bench(tmp_path, "--systems", "tamis", "--write", str(page))
    assert "| xor |" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("arguments", [["--systems", "weka"], ["--re-splits", "0"], ["--seconds", "-1"], ["--nosuch"]])
def test_wrong_arguments_are_refused(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        bench_mine.main(arguments)
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err


def python(code):
    return [sys.executable, "-c", code]


def test_a_run_that_fails_says_why():
    with pytest.raises(FailedError, match=r"^ValueError: too wide$") as failed:
        systems._run(python("raise ValueError('too wide')"), {}, 60)
    assert failed.value.used > 0
    with pytest.raises(FailedError, match="ended by signal SIGKILL"):
        systems._run(python("import os; os.kill(os.getpid(), 9)"), {}, 60)
    with pytest.raises(FailedError, match="stopped after 1 s"):
        systems._run(python("import time; time.sleep(60)"), {}, 1)


def test_a_peer_that_cannot_be_installed_is_said_to_be_so_once(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").touch()
    monkeypatch.setattr(systems, "ROOT", tmp_path / "file")
    found = Systems("HEAD")
    for _ in range(2):
        with pytest.raises(UnavailableError, match=r"flaml cannot be installed: .*file"):
            found.prepare("flaml")
    assert capsys.readouterr().out.count("makes its environment") == 1


def test_the_search_refuses_to_run_other_code_than_was_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(ImportError, match="other code than was asked for"):
        worker.mine(worker.Rows(np.zeros((2, 1)), np.arange(2), np.zeros((1, 1)), []), 1)


def test_a_revision_that_git_does_not_know_is_refused():
    assert systems.short_revision("nosuch") == "nosuch"
    with pytest.raises(UnavailableError, match="git archive: "):
        Systems("nosuch").prepare("before")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["nosuch"], "no benchmark is called 'nosuch'"),
        (["--seconds", "3"], "options follow the name of one benchmark"),
        (["timing"], "no benchmark is called 'timing'"),
        (["knn", "--seconds", "3"], "knn takes no options"),
    ],
)
def test_the_command_refuses_what_it_does_not_know(arguments, why):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert why in done.stderr


def test_the_worker_knows_every_system():
    assert {*systems.SYSTEMS, *systems.OTHERS} == {*worker.SYSTEMS} == {*worker.IMPORTED}


def test_the_search_starts_with_what_other_sets_teach(tmp_path):
    first = learned_without("colon")
    write(resplit(data_set("dense"), 0), tmp_path, first)
    assert read_edits(tmp_path / worker.FIRST).first == tuple(first)
    assert len(first) == len(portfolio())
    assert first != list(portfolio())
    assert learned_without("colon_mrmr") == first
