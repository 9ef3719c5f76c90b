"""The figures of the MDL histogram run again: findings that JSON holds, and tables of what is there."""

import json

import numpy as np
import pytest

from study_figures import described
from tamis.reproduce import mdl_histogram
from tamis.reproduce.framework.study import Task
from tamis.reproduce.mdl_histogram import ANGLES, NOISE, ROWS, SIZES, SLANT, STUDY, square


@pytest.fixture
def findings(monkeypatch):
    monkeypatch.setattr(mdl_histogram, "_DRAWS", 3)
    monkeypatch.setattr(mdl_histogram, "_TEST_ROWS", 2000)
    wanted = {f"{n} rows, line at {degrees} degrees" for n, degrees in ((30, 20), (1000, 20), (1000, 0), (1000, 90))}
    found, seen = {}, []
    for piece in STUDY.pieces:
        if piece.name in wanted:
            task = Task(progress=lambda done, total: seen.append((done, total)))
            found[piece.data, piece.name] = json.loads(json.dumps(piece.run(task), allow_nan=False))
    assert seen == [(1, 3), (2, 3), (3, 3)] * 4
    return found


def test_every_point_of_the_figures_is_a_piece_of_its_own():
    names = [piece.name for piece in STUDY.pieces]
    assert len(set(names)) == len(names) == len(SIZES) + len(ANGLES) - 1 + 1
    assert ROWS in SIZES
    assert SLANT in ANGLES
    assert STUDY.data == ()


def test_what_the_paper_says_of_its_figures(findings):
    one, other = findings["", "1000 rows, line at 0 degrees"], findings["", "1000 rows, line at 90 degrees"]
    assert np.mean(one["depths"], axis=0).tolist() == [1.0, 0.0]
    assert np.mean(other["depths"], axis=0).tolist() == [0.0, 1.0]
    assert np.max(one["off"]) < 0.02
    few, many = findings["", "30 rows, line at 20 degrees"], findings["", "1000 rows, line at 20 degrees"]
    assert np.mean(few["depths"], axis=0)[1] < np.mean(many["depths"], axis=0)[1]
    assert np.mean(few["off"]) > np.mean(many["off"])
    assert NOISE - 0.03 < np.mean(many["test"]) < NOISE + 0.1


def test_the_tables_show_what_is_there(findings):
    boundary, errors, soft = STUDY.tables(findings)
    assert [line[0] for line in boundary.lines] == [line[0] for line in errors.lines] == ["30", "1000"]
    assert [line[0] for line in soft.lines] == ["0", "20", "90"]
    assert soft.lines[0][1:] == ["(1, 0), 3 of 3", "1.00", "0.00"]
    for table in (boundary, errors, soft):
        assert all(len(line) == len(table.columns) for line in table.lines)
    assert [table.lines for table in STUDY.tables({})] == [[], [], []]


def test_figures_1_to_3(findings, monkeypatch):
    monkeypatch.setattr(mdl_histogram, "_DIVIDED", ((1, 30, 20), (3, 1000, 90)))
    pictures = mdl_histogram._FIGURES
    found = {**findings, (pictures.data, pictures.name): pictures.run(Task())}
    drawn = described(STUDY, found)
    assert list(drawn) == ["figure_1_30", "figure_3_90", "figure_2", "figure_3"]
    assert len(drawn["figure_1_30"]["class 0"]["x"]) + len(drawn["figure_1_30"]["class 1"]["x"]) == 30
    # At 90 degrees the boundary is one line across the square, near its middle.
    across, up = drawn["figure_3_90"]["the boundary"]["x"], drawn["figure_3_90"]["the boundary"]["y"]
    assert across == [0.0, 1.0, None]
    assert up[0] == up[1] == pytest.approx(0.5, abs=0.01)
    assert drawn["figure_2"]["test"]["x"] == [30, 1000]
    assert drawn["figure_3"]["d1"]["y"][0] == 1


def test_the_line_parts_the_square():
    X, y, best = square(5000, 45, np.random.default_rng(0))
    np.testing.assert_array_equal(best, (X.sum(axis=1) > 1).astype(int))
    assert abs(np.mean(y != best) - NOISE) < 0.02
