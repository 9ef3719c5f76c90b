"""The searches of HighDOD run again: findings that JSON holds, and tables of what is there."""

import json

import pytest

from study_figures import described
from tamis.reproduce import highdod
from tamis.reproduce.framework.study import Task
from tamis.reproduce.highdod import STUDY


@pytest.fixture
def findings(monkeypatch):
    monkeypatch.setattr(highdod, "_QUERIES", {"level": 8, "auto": 8})
    (piece,) = (one for one in STUDY.pieces if one.name == "generated, 500 x 6")
    seen = []
    found = piece.run(Task(progress=lambda done, total: seen.append((done, total))))
    assert seen == [(done, 12) for done in range(1, 13)]
    return {(piece.data, piece.name): json.loads(json.dumps(found, allow_nan=False))}


def test_searches_find_the_same_with_fewer_evaluations(findings):
    (found,) = findings.values()
    assert found["subspaces"] == 63
    level = found["level"]
    assert len({(one["outlying"], one["minimal"]) for one in level.values()}) == 1
    assert level["tamis"]["evaluated"] < min(level[name]["evaluated"] for name in ("top-down", "bottom-up", "random"))


def test_the_tables_show_what_is_there(findings):
    tables = STUDY.tables(findings)
    assert [table.title.partition(",")[0] for table in tables] == [
        "Subspaces evaluated for a row",
        "Subspaces evaluated for a row",
        "Milliseconds for a row",
        "Printed: seconds for a row",
    ]
    assert [line[:2] for table in tables[:3] for line in table.lines] == [["generated, 500 x 6", "63"]] * 3
    assert all(len(line) == len(table.columns) for table in tables for line in table.lines)
    assert [table.lines for table in STUDY.tables({})] == [[], [], [], []]


def test_figures_3_to_6(findings, monkeypatch):
    monkeypatch.setattr(highdod, "_FIXED_ROWS", 60)
    monkeypatch.setattr(highdod, "_FIXED_COLUMNS", 5)
    monkeypatch.setattr(highdod, "_QUERIES", {"level": 3, "auto": 3})
    monkeypatch.setattr(highdod, "_QUERY_NUMBERS", (1, 4))
    monkeypatch.setattr(highdod, "_SAMPLE_SIZES", (1, 3))
    ((key, one),) = findings.items()
    found = {key: {**one, "rows": 60}, ("", "generated, 60 x 5"): {**one, "rows": 60, "columns": 5}}
    own = {name: highdod.Piece("", name, None) for _, name in found}
    monkeypatch.setattr(highdod, "_pieces", lambda: own)
    views = highdod._FIGURE_1
    found[views.data, views.name] = views.run(Task())
    assert found[views.data, views.name]["outlying"] == [[0, 1]]
    for piece in (highdod._FIGURE_5, highdod._FIGURE_6):
        seen = []
        found[piece.data, piece.name] = piece.run(
            Task(progress=lambda done, total, seen=seen: seen.append(done / total))
        )
        assert seen[-1] == 1
    drawn = described(STUDY, found)
    assert list(drawn) == [
        *("figure_1_1", "figure_1_2", "figure_1_3"),
        "figure_3_evaluated",
        "figure_3_seconds",
        "figure_5",
        "figure_6_time",
        "figure_6_evaluated",
    ]
    assert drawn["figure_3_evaluated"]["tamis"]["x"] == [5, 6]
    assert (drawn["figure_1_2"]["p"]["x"], drawn["figure_1_2"]["p"]["y"]) == ([0.8], [0.5])
    assert drawn["figure_5"]["top-down"]["x"] == [1, 4]
    assert (
        drawn["figure_6_evaluated"]["dynamic, no sample"]["y"]
        == [found["", highdod._FIGURE_6.name]["plain"]["evaluated"]] * 2
    )
    assert [table.title.partition(":")[0] for table in STUDY.tables(found)][-2:] == ["Figure 5", "Figure 6"]


def test_pieces_have_names_of_their_own():
    assert len({(piece.data, piece.name) for piece in STUDY.pieces}) == len(STUDY.pieces) == 14
    assert STUDY.data == ("breast.w", "segment", "ionosphere", "wdbc")
