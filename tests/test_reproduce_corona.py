"""The comparison of the Corona paper run again: findings that JSON holds, and tables of what is there."""

import json

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from study_figures import described
from tamis.reproduce.corona import SETS, STUDY, WAYS, FisherVariables
from tamis.reproduce.framework import pieces
from tamis.reproduce.framework.study import Task
from tamis.scores import fisher
from tamis.series import planted


@pytest.fixture(scope="module")
def findings():
    own = planted(40, 4, 30)
    found = {}
    for piece in STUDY.pieces:
        if piece.data == "ERing":
            found["ERing", piece.name] = json.loads(json.dumps(piece.run(Task(own)), allow_nan=False))
    return found


def test_every_way_runs_on_every_set():
    assert STUDY.data == tuple(SETS)
    names = [piece.name for piece in STUDY.pieces if piece.data == "JapaneseVowels"]
    assert names == [*WAYS]
    assert [piece.data for piece in STUDY.pieces if piece.name == "every subset"] == ["BasicMotions", "ERing", "Libras"]


def test_the_tables_show_what_is_there_and_what_is_not_public(findings):
    accuracy, curves, printed = STUDY.tables(findings)
    assert [line[0] for line in accuracy.lines] == [*WAYS, "best of every subset (optimistic)", "mean of every subset"]
    assert len(curves.lines) == 3
    assert "not public" in printed.title
    assert [line[0] for line in printed.lines] == ["HumanGait", "BCAR", "BCI MPI"]
    for table in (accuracy, curves, printed):
        assert all(len(line) == len(table.columns) for line in table.lines)
    assert STUDY.tables({}) == []
    assert STUDY.brief(findings["ERing", "Corona"]).startswith("best accuracy")


def test_the_curves_are_drawn(findings):
    drawn = described(STUDY, findings)
    assert list(drawn) == ["ERing", "table_2"]
    assert [*drawn["ERing"]] == [*WAYS, "best of every subset", "mean of every subset"]
    own = findings["ERing", "Corona"]
    assert drawn["ERing"]["Corona"]["y"] == [100 * one for one in own["accuracy"]]
    assert drawn["table_2"]["Corona"]["length"] == [own["table_seconds"] + own["path_seconds"]]


def test_correlations_beat_autoregressions_where_classes_differ_in_them(findings):
    best = {way: max(findings["ERing", way]["accuracy"]) for way in WAYS}
    assert best["Corona"] > 0.9
    assert max(best["AR(3) + RFE"], best["AR(3) + Fisher criterion"]) < 0.75


def test_fisher_ranks_variables_by_the_mean_of_their_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 12))
    y = np.arange(40) % 2
    X[:, 7] += 2 * y
    found = FisherVariables(2).fit(X, y)
    means = fisher(X, y).reshape(4, 3).mean(axis=1)
    expected = np.zeros(4, dtype=bool)
    expected[np.argsort(-means)[:2]] = True
    np.testing.assert_array_equal(found.support_.reshape(4, 3), np.repeat(expected[:, None], 3, axis=1))
    assert make_pipeline(FisherVariables(1)).fit_transform(X, y).shape == (40, 3)


def test_the_framework_finds_series_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv("TAMIS_DATA", str(tmp_path))
    assert pieces.dataset("ERing") is None
    (tmp_path / "mts").mkdir()
    np.savez(tmp_path / "mts" / "ERing.npz", X=np.arange(24.0).reshape(2, 3, 4), y=[0, 1])
    assert pieces.dataset("ERing").n_variables == 3
