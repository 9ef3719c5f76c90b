"""The searches of HighDOD run again: findings that JSON holds, and tables of what is there."""

import json

import pytest

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


def test_pieces_have_names_of_their_own():
    assert len({(piece.data, piece.name) for piece in STUDY.pieces}) == len(STUDY.pieces) == 11
    assert STUDY.data == ("breast.w", "segment", "ionosphere", "wdbc")
