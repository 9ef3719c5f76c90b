"""``tamis outliers``: tables as people have them, the sentence, JSON and the page."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.cli.main import app
from tamis.data.dataset import Dataset
from tamis.data.rows_alone import load_rows
from tamis.outliers.explain import explain
from tamis.outliers.highdod import HighDOD
from tamis.outliers.options import row_numbers, size_of, threshold_of
from tamis.reporting.figures_outliers import outlier_figure
from tamis.reporting.outlier_page import outlier_page


def people(n=120):
    """A table of people, of which row 17 has an income beyond its age, and row 30 a town of its own."""
    rng = generator(1)
    age = rng.uniform(20, 70, n).round(1)
    income = (900 * age + rng.normal(0, 900, n)).round()
    town = rng.choice(["Rome", "Oslo"], n).astype(object)
    age[16], income[16], town[29] = 24.0, 61000.0, "<b>Bern</b>"
    return age, income, town


@pytest.fixture
def table(tmp_path):
    age, income, town = people()
    group = np.where(np.arange(120) % 2, "a", "b")
    lines = [f"{a},{i:.0f},{t},{g}" for a, i, t, g in zip(age, income, town, group, strict=True)]
    path = tmp_path / "people.csv"
    path.write_text("age,income,town,group\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def run(*words):
    return CliRunner().invoke(app, ["outliers", *map(str, words)])


def test_rows_are_named_with_their_columns_and_the_target_is_left_out(table):
    done = run(table, "--target", "group", "--rows", "17,30,5", "--max-features", 2)
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0] == "people: 120 rows, 3 features; the target 'group' is left out"
    assert any(line.startswith("row 17 is unlike its neighbours in age and income") for line in lines)
    assert any(line.startswith("row 30 is unlike its neighbours in town") for line in lines)
    assert any(line.startswith("row 5 is like its neighbours in all columns together") for line in lines)
    assert "24; 61000" in done.output


def test_without_rows_the_most_outlying_are_taken_and_the_command_says_so(table):
    done = run(table, "--top", 2, "--json", "--drop", "group")
    assert done.exit_code == 0, done.output
    facts = json.loads(done.stdout)
    assert facts["chosen_by"] == "degree"
    assert facts["left_out"] is None
    assert {one["row"] for one in facts["found"]} == {17, 30}
    (row,) = (one for one in facts["found"] if one["row"] == 17)
    assert row["subspaces"][0]["values"]["age"]["row"] == "24"
    assert len(row["subspaces"][0]["neighbours"]) == 5
    done = run(table, "--top", 2, "--drop", "group")
    assert "no rows were named: these are the 2 rows with the highest degree in all columns" in done.output


def test_the_page_has_a_picture_for_each_row_and_names_are_never_markup(table, tmp_path):
    page = tmp_path / "page.html"
    done = run(table, "--drop", "group", "--rows", "17,30", "--max-features", 2, "--report", page)
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[-1] == f"page: {page}"
    text = page.read_text(encoding="utf-8")
    assert text.count("<svg") == 2
    assert "<b>Bern" not in text
    assert "&lt;b&gt;Bern" in text
    assert "<script" not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rows", "0"], "rows takes numbers from 1 to 120; got 0"),
        (["--rows", "121"], "rows takes numbers from 1 to 120; got 121"),
        (["--rows", "five"], "--rows takes numbers from 1, such as 17,20,31-35; got 'five'"),
        (["--max-features", "none"], "--max-features takes a number from 1, auto or all; got 'none'"),
        (["--threshold", "-1"], "--threshold takes a number above 0, auto or level; got '-1'"),
        (["--target", "town2"], "no column is called 'town2'"),
        (["--neighbours", "120"], "n_neighbors=120 needs 121 samples (rows) or more; got 120 samples"),
        (["--html", "/no/folder/page.html"], "there is no folder /no/folder"),
    ],
)
def test_bad_options_are_refused_in_a_sentence(table, words, message):
    done = run(table, *words)
    assert isinstance(done.exception, TamisError)
    assert message in str(done.exception)


def test_options_are_read():
    assert row_numbers("3,7-9") == [3, 7, 8, 9]
    for text in ("", "3,", "9-7", "1.5", "-3"):
        with pytest.raises(TamisError):
            row_numbers(text)
    assert [size_of(text) for text in ("all", "auto", "4")] == [None, "auto", 4]
    assert threshold_of("1e-3") == 0.001
    for text in ("nan", "inf", "0", "much"):
        with pytest.raises(TamisError):
            threshold_of(text)


def test_rows_without_a_target_lose_their_identifiers(tmp_path):
    path = tmp_path / "lab.csv"
    path.write_text("patient_id,wbc\n" + "\n".join(f"p{i:03},{i % 17 + 0.5}" for i in range(40)) + "\n")
    rows = load_rows(str(path))
    assert rows.target is None
    assert rows.data.feature_names.tolist() == ["wbc"]
    assert list(rows.data.left_out) == ["patient_id"]
    with pytest.raises(TamisError, match="no such file"):
        load_rows(str(tmp_path / "none.csv"))


def test_missing_values_and_sparse_data():
    X = np.column_stack([np.arange(50.0), np.arange(50.0) % 7])
    X[3, 0], X[9, 1] = np.nan, 40.0
    data = Dataset(X, np.zeros(50, dtype=int), np.array(["time", "dose"]))
    found = explain(data, [4, 10], model=HighDOD(3, random_state=0))
    assert found.rows[0].found.unknown == ("time",)
    assert found.rows[1].found.sentence() == "row 10 is unlike its neighbours in dose"
    assert "Without a value here: time" in outlier_page(found)
    with pytest.raises(TamisError, match="is sparse, and outlying subspaces are searched in dense tables only"):
        explain(Dataset(sp.csr_array(X), np.zeros(50, dtype=int), np.arange(2)))


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_figure_shows_every_row_once_for_each_column(size):
    X = generator(2).normal(size=(60, 3))
    X[5, :size] = 4.0
    data = Dataset(X, np.zeros(60, dtype=int), np.array(["a", "b", "c"]))
    found = explain(data, [6], model=HighDOD(3, threshold=0.8 * size**0.5, random_state=0))
    figure = outlier_figure(found, found.rows[0])
    (panel,) = figure.panels
    columns = len(found.rows[0].found.subspaces[0].columns)
    times = 1 if columns == 2 else columns
    assert [len(mark.x) for mark in panel.marks] == [56 * times, 3 * times, times]
    assert [mark.label for mark in panel.marks] == ["other rows", "nearest rows", "row 6"]


@pytest.mark.slow
def test_an_interrupt_ends_the_command_in_a_sentence(tmp_path):
    path = tmp_path / "wide.csv"
    X = generator(3).normal(size=(3000, 20))
    names = ",".join(f"col{chr(97 + j)}" for j in range(20))
    np.savetxt(path, X, delimiter=",", header=names, comments="")
    words = [sys.executable, "-m", "tamis.cli.main", "outliers", str(path), "--max-features", "all", "--rows"]
    process = subprocess.Popen([*words, "1-3000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(12)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (out, err)
    assert err.splitlines()[-1] == "tamis: stopped; nothing was written"
    assert "Traceback" not in err
