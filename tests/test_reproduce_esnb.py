"""The study of selective naive Bayes: its pieces run on small data, and the tables made of what they find."""

import pytest

from planted import with_valid_rows
from study_figures import described
from tamis.compose.recipe import parse
from tamis.reproduce import studies
from tamis.reproduce.esnb import STUDY
from tamis.reproduce.framework.study import Task


@pytest.fixture(scope="module")
def findings() -> dict:
    """What each model finds; one data set stands for all."""
    data = with_valid_rows()
    one = {p.name: p.run(Task(data)) for p in STUDY.pieces if p.data == "madelon"}
    return {(piece.data, piece.name): one[piece.name] for piece in STUDY.pieces}


def test_pieces_of_a_data_set_stand_together_and_are_recipes() -> None:
    assert STUDY.data == ("arcene", "dexter", "dorothea", "gisette_surrogate", "madelon")
    assert [p.data for p in STUDY.pieces] == sorted(p.data for p in STUDY.pieces)
    for piece in STUDY.pieces:
        parse(piece.run.args[0]).build()


def test_findings_tell_errors_features_and_probes(findings) -> None:
    esnb = findings["arcene", "esnb"]
    assert esnb["official"]["ber"] < 0.3
    assert esnb["pooled"]["auc"] > 0.8
    assert esnb["features"] >= 1
    assert esnb["share"] == esnb["features"] / 20
    assert esnb["probes"] < 0.6
    assert 0 < esnb["threshold"] < 1
    plain = findings["arcene", "nb"]
    assert (plain["features"], plain["probes"], plain["threshold"]) == (2, 0.0, None)


def test_tables_have_a_line_for_each_data_set_and_the_mean_of_all(findings) -> None:
    *tables, entry, results = STUDY.tables(findings)
    assert [table.title.split(":")[0] for table in tables] == ["nb", "snb", "esnb", "esnb, averaged"]
    for table in tables:
        assert all(len(line) == len(table.columns) for line in table.lines)
        assert [line[0] for line in table.lines[:6]] == [*STUDY.data, "mean"]
        # The same findings stand for all data sets here, so that their mean is each.
        assert table.lines[5][1] == table.lines[0][1].split()[0]
    assert [line[0] for line in entry.lines] == ["OVERALL", *STUDY.data]
    assert all(len(line) == len(entry.columns) for line in entry.lines)
    assert len(results.lines) == 15
    assert {line[2] for line in results.lines} - {None} <= set(studies())
    assert entry.lines[0][1:3] == ["-28.00", "12.42"]
    assert entry.lines[0][3] == tables[2].lines[5][1]
    assert entry.lines[0][-5:] == ["71.43", "6.48", "97.20", "80.30", "47.80"]
    drawn = described(STUDY, findings)["ber"]
    assert drawn["ESNB+NN, printed"]["length"] == [12.42]
    assert len(drawn["esnb"]["length"]) == 6


def test_a_data_set_that_is_not_at_hand_leaves_no_line_and_no_mean(findings) -> None:
    some = {key: found for key, found in findings.items() if key[0] != "dexter" and key[1] == "nb"}
    table, _ = STUDY.tables(some)
    assert [line[0] for line in table.lines] == ["arcene", "dorothea", "gisette_surrogate", "madelon"]
    assert STUDY.tables({}) == []
