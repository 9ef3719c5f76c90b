"""The study of nested partitions: its pieces run on small data, and the tables made of what they find."""

import json

import numpy as np
import polars as pl
import pytest

from study_figures import described
from tamis.data.dataset import Dataset
from tamis.reproduce import nested_partitions
from tamis.reproduce.framework.study import Task
from tamis.reproduce.nested_partitions import STUDY, sampling_rates


@pytest.fixture(scope="module")
def small() -> Dataset:
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    columns = {f"c{j}": (rng.random(300) < (0.2 + 0.5 * y if j < 3 else 0.5)).astype(int) for j in range(10)}
    frame = pl.DataFrame(columns).with_columns(pl.col("c1").cast(str))
    return Dataset(frame, y, np.array(frame.columns), "vote")


@pytest.fixture(scope="module")
def findings(small) -> dict:
    """What the pieces of one data set find."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nested_partitions, "_RUNS", 2)
        patch.setattr(nested_partitions, "REPLICATIONS", 2)
        patch.setattr(sampling_rates, "REPLICATIONS", 2)
        patch.setattr(sampling_rates, "_RATES", (1.0, 0.2, 0.1, 0.02))
        pieces = [piece for piece in STUDY.pieces if piece.data == "vote"]
        return {(one.data, one.name): json.loads(json.dumps(one.run(Task(small)), allow_nan=False)) for one in pieces}


def test_pieces_of_a_data_set_stand_together() -> None:
    assert STUDY.data == ("vote", "audiology", "lymph", "kr.vs.kp")
    assert len({str(piece) for piece in STUDY.pieces}) == len(STUDY.pieces) == 4 * (2 * 4 + 1) + 1


def test_findings(findings) -> None:
    reduced = findings["vote", "8 columns, all sizes, best kept"]
    assert all(len(reduced[name]) == 6 for name in ("rate", "accuracy", "short", "within"))
    assert all(0 <= share <= 1 for share in reduced["within"])
    assert all(short >= 0 for short in reduced["short"])
    # A smaller delta, or a larger psi, takes more rows.
    assert reduced["rate"] == sorted(reduced["rate"][:3]) + sorted(reduced["rate"][3:])
    assert np.mean(reduced["rate"][:3]) < np.mean(reduced["rate"][3:])
    plain, sampled, two_stage = (
        findings["vote", f"{name}, all sizes, best kept"] for name in ("NP", "NP, sampled", "TSNP")
    )
    assert plain["cost"] == [300 * evaluations for evaluations in plain["evaluations"]]
    assert sampled["rate"] == [0.1, 0.1]
    assert sampled["cost"] == [30 * evaluations for evaluations in sampled["evaluations"]]
    assert max(two_stage["rate"]) <= 1
    assert min(min(one["accuracy"]) for one in (plain, sampled, two_stage)) > 0.5
    # Few rows make the merit vary more, and no sample has fewer than ten.
    for own in findings["vote", "Table 2: variances"]["variances"]:
        assert own[0] == 0 < own[1] < own[2]
        assert own[3] is None
    rated = findings["vote", "Figure 1: sampling rates"]
    assert rated["rates"] == [1.0, 0.2, 0.1]
    # The framework adds these.
    assert not any({"seconds", "warnings"} & set(one) for one in findings.values())


def test_figures(findings, monkeypatch) -> None:
    monkeypatch.setattr(sampling_rates, "_RATES", (1.0, 0.2, 0.1, 0.02))
    cells = tuple(line[:4] for line in sampling_rates._VARIANCES["vote"])
    monkeypatch.setitem(sampling_rates._VARIANCES, "vote", cells)
    drawn = described(STUDY, findings)
    assert list(drawn) == ["figure_1_cost", "figure_1_time", "figure_1_backtracks", "table_2_vote"]
    own = findings["vote", "Figure 1: sampling rates"]["tamis"]["cost"]
    assert drawn["figure_1_cost"]["all sizes, best kept"]["y"] == [np.mean(one) / 1000 for one in own]
    assert drawn["table_2_vote"]["1, printed"]["y"] == [1.4, 4.0, 5.0]


def test_tables(findings, monkeypatch) -> None:
    monkeypatch.setattr(sampling_rates, "_RATES", (1.0, 0.2, 0.1, 0.02))
    cells = tuple(line[:4] for line in sampling_rates._VARIANCES["vote"])
    monkeypatch.setitem(sampling_rates._VARIANCES, "vote", cells)
    variances, rates, *tables = STUDY.tables(findings)
    assert [line[0] for line in variances.lines] == [f"vote {n}, {way}" for n in (1, 2) for way in ("printed", "here")]
    assert [line[0].split(", ")[-1] for line in rates.lines] == ["backtracks", "x rows / 1000", "ms"] * 2
    assert [table.title.split(":")[0] for table in tables] == ["Table 3", "Table 3", "Table 4", "Table 5"]
    for table in tables:
        assert all(len(line) == len(table.columns) for line in table.lines)
    assert [line[0] for line in tables[2].lines] == [
        *("vote, printed", "vote, all sizes, best kept", "vote, coin, none kept")
    ]
    assert tables[2].lines[0][1:] == ["0.96", "0.98", "0.98", "0.78", "0.88", "0.96"]
    whole = tables[3].lines
    assert [line[1] for line in whole] == 2 * ["TSNP", "NP, sampled", "NP"]
    # The printed time of NP to that of TSNP, and our costs.
    assert whole[0][5] == "(3.6)"
    assert whole[2][11] == "1.0"
    assert [table.lines for table in STUDY.tables({})] == [[], [], [], []]
