"""The study of the hybrid cluster tree: the generated nations, its pieces on small data, and its table."""

import json

import numpy as np
import polars as pl
import pytest

from study_figures import described
from tamis.data.dataset import Dataset
from tamis.reproduce import cluster_tree
from tamis.reproduce.cluster_tree import STUDY
from tamis.reproduce.framework.study import Task


@pytest.fixture(scope="module")
def small() -> Dataset:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    frame = pl.DataFrame(
        {
            "length": 2 * y + rng.normal(size=90),
            "width": [None if i % 9 == 0 else float(v) for i, v in enumerate(rng.normal(size=90))],
            "colour": np.where(rng.random(90) < 0.5, "red", "blue"),
        }
    )
    return Dataset(frame, np.where(y, "ill", "well"), np.array(frame.columns), "hepatitis")


@pytest.fixture(scope="module")
def findings(small) -> dict:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_tree, "_SPLITS", 3)
        found = {}
        for piece in STUDY.pieces:
            if piece.data in ("", small.name):
                one = piece.run(Task(small if piece.data else None))
                found[piece.data, piece.name] = json.loads(json.dumps(one, allow_nan=False))
        return found


def test_nations_are_as_described() -> None:
    nations = cluster_tree._nations(0)
    assert (nations.n_rows, nations.n_features, int(nations.y.sum())) == (197, 17, 79)
    np.testing.assert_array_equal(cluster_tree._nations(0).X, nations.X)
    assert not np.array_equal(cluster_tree._nations(1).X, nations.X)


def test_printed_accuracies_are_whole_numbers_of_test_rows() -> None:
    printed = [line.accuracy for line in cluster_tree._LINES.values() if line.accuracy is not None]
    whole = {n: [round(100 * round(n * one / 100) / n, 1) == one for one in printed] for n in cluster_tree._TESTS}
    assert whole == {130: [True, True, True, True], 65: [True, False, True, True]}


def test_findings(findings) -> None:
    nations = findings["", "nations, 130 test rows"]
    assert nations["largest"] == pytest.approx(78 / 130)
    for found, columns in ((nations, 17), (findings["hepatitis", "all experiments"], 3)):
        assert found["columns"] == columns
        assert set(found["accuracy"]) == set(cluster_tree._LINES)
        for name, accuracy in found["accuracy"].items():
            assert len(accuracy) == 3
            assert 0.5 < np.mean(accuracy) <= 1.0
            assert all(1 <= n <= columns for n in found["variables"][name])
        assert found["variables"]["regression on all variables"] == [columns] * 3
    # A class that is told apart by one column needs no other.
    assert np.mean(findings["hepatitis", "all experiments"]["variables"]["clustering + C4.5"]) < 2.5


def test_table(findings) -> None:
    (table,) = STUDY.tables(findings)
    assert all(len(line) == len(table.columns) for line in table.lines)
    names = ["nations, 130 test rows", "nations, 65 test rows", "hepatitis"]
    assert [line[0] for line in table.lines] == [name for name in names for _ in range(7)]
    assert [line[2] for line in table.lines[:4]] == ["70.8", "70.0", "84.6", "87.7"]
    assert [line[4] for line in table.lines[7:11]] == ["7", "9", "5", "3"]
    assert all(line[2] is None and line[4] is None for line in table.lines[14:])
    assert table.lines[3][-2:] == [None, None]
    found = findings["", "nations, 130 test rows"]["accuracy"]
    less = 100 * (np.mean(found["C4.5"]) - np.mean(found["clustering + C4.5"]))
    assert table.lines[0][-2] == f"{less:+.1f}"
    assert STUDY.tables({})[0].lines == []


def test_figures(findings) -> None:
    drawn = described(STUDY, findings)
    assert drawn["accuracy"]["printed"]["length"] == [70.8, 70.0, 84.6, 87.7]
    own = findings["hepatitis", "all experiments"]
    assert drawn["variables"]["hepatitis"]["length"][0] == np.mean(own["variables"]["C4.5"])
