"""The study of gene patterns: folds of the printed intensities, and tables of what was found."""

import json

import pytest

from study_figures import described
from tamis.reproduce import genes
from tamis.reproduce.framework.study import Task
from tamis.reproduce.genes import MARKERS, NOISES, STUDY


@pytest.fixture
def findings(monkeypatch):
    monkeypatch.setattr(genes, "_N_GENES", 2000)
    monkeypatch.setattr(genes, "_DRAWS", 2)
    found = {}
    for piece in STUDY.pieces:
        if piece.name in ("printed intensities", "10 % noise", "50 % noise", "groups within 30 points", "courses"):
            seen = []
            task = Task(progress=lambda done, total, seen=seen: seen.append(done / total))
            found[piece.data, piece.name] = json.loads(json.dumps(piece.run(task), allow_nan=False))
            assert piece.drawn or seen[-1] == 1
    return found


def test_printed_folds_agree_with_printed_intensities_to_a_twentieth(findings):
    here = findings["", "printed intensities"]["fold"]
    # By hand: 2 ** 1.8240 * 7187.9 = 25448.
    assert here[0] == pytest.approx(1.8240, abs=1e-3)
    assert all(abs(fold - one.fold) < 0.05 for fold, one in zip(here, MARKERS, strict=True))
    # Two that the paper counts as 1.5 are below it.
    below = [one.accession for fold, one in zip(here, MARKERS, strict=True) if fold < 1.5]
    assert below == ["U14573", "AB000905"]


def test_the_tables(findings):
    folds, cleaning, recovery, groups = STUDY.tables(findings)
    assert folds.lines[0] == ["J04423", "25448.1", "7187.9", "1.85", "1.824", "yes"]
    assert cleaning.lines[-1][1] == "167 of 6823"
    assert [line[0] for line in recovery.lines] == ["10", "50"]
    assert float(recovery.lines[0][2]) >= 95
    assert float(recovery.lines[0][3]) <= 2
    assert groups.lines[0][0] == "30, then 15"
    for table in (folds, cleaning, recovery, groups):
        assert all(len(line) == len(table.columns) for line in table.lines)
    assert STUDY.tables({}) == []


def test_the_figures(findings):
    drawn = described(STUDY, findings)
    assert list(drawn) == ["intensities", *(f"course_{number}" for number in range(1, 7)), "recovery"]
    assert drawn["intensities"]["infected"]["length"][0] == 25448.1
    assert set(drawn["course_1"]) == {"infected", "mock"}
    assert drawn["recovery"]["found"]["x"] == [10, 50]


def test_the_study_makes_its_own_data_and_says_so():
    assert STUDY.data == ()
    assert len({piece.name for piece in STUDY.pieces}) == len(STUDY.pieces) == 1 + len(NOISES) + 3 + 1
    assert "not public" in STUDY.remarks[0]
