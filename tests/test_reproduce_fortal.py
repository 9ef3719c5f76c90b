"""The studies of FortalFS: their pieces run on small data, and the tables made of what they find."""

import json

import numpy as np
import polars as pl
import pytest

from study_figures import described
from tamis.base.errors import DataError
from tamis.data.dataset import Dataset
from tamis.reproduce import parallel_fortal, run
from tamis.reproduce.fortal import STUDY
from tamis.reproduce.fortal.algorithms import ALGORITHMS, FRAMEWORK, FRAMEWORK_LEARNERS, LEARNERS, Algorithm
from tamis.reproduce.fortal.experiment import selected
from tamis.reproduce.fortal.printed import BEST, DATA, FEATURES, HYBRIDS, SCORES
from tamis.reproduce.fortal.tables import FRAMEWORK_PIECE
from tamis.reproduce.framework.study import Task


def table_of(seed: int, rows: int = 60) -> pl.DataFrame:
    """Five columns, two of them nominal, with missing values; the class is decided by `a` and `n`."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % 2
    columns = {
        "a": rng.normal(size=rows) + 2 * y,
        "b": rng.normal(size=rows),
        "n": np.where(rng.random(rows) < 0.2 + 0.6 * y, "yes", "no"),
        "c": rng.normal(size=rows),
        "m": np.array(["x", "y", "z"])[rng.integers(3, size=rows)],
    }
    frame = pl.DataFrame(columns).with_columns(pl.Series("class", np.array(["one", "two"])[y]))
    gaps = pl.Series(np.arange(rows) % 7 == 3)
    return frame.with_columns(pl.when(gaps).then(None).otherwise(pl.col(name)).alias(name) for name in ("b", "m"))


@pytest.fixture(scope="module")
def small() -> Dataset:
    frame = table_of(0)
    names = [name for name in frame.columns if name != "class"]
    return Dataset(frame.select(names), frame["class"].to_numpy(), np.array(names), "labor")


@pytest.fixture(scope="module")
def findings(small) -> dict:
    """What the pieces of one data set find."""
    pieces = [piece for piece in STUDY.pieces if piece.data == "labor"]
    return {(one.data, one.name): json.loads(json.dumps(one.run(Task(small)), allow_nan=False)) for one in pieces}


def lasting(found: dict) -> dict:
    """What an algorithm found, without its time."""
    return {name: value for name, value in found.items() if name != "seconds"}


# FortalFS and its rivals


def test_printed_figures_agree_with_each_other() -> None:
    assert len(DATA) == 13
    # "A total number of 1230 features", of which the backward wrapper selects 1072.
    assert 3 * sum(n_features for n_features, _ in DATA.values()) == 1230
    assert round(100 * 1072 / 1230, 2) == float(FEATURES["BWR"])
    assert BEST["FFS"] == BEST["FS10"] + BEST["FS8"] + BEST["FS6"]
    sums = {rival: np.sum(scores, axis=0).tolist() for rival, scores in SCORES.items()}
    # In words: 27 of 39 against LVF at 0.1; 30 and 6 in all against Focus; 27 and 8 against the random wrapper.
    assert np.sum(SCORES["LVF"][:3], axis=0).tolist() == [27, 1]
    assert (sums["Foc"], sums["WN2"]) == ([30, 6], [27, 8])
    assert np.sum(SCORES["Foc"][:3], axis=0)[0] == 25
    assert np.sum(SCORES["FWR"][1:3], axis=0)[0] == 5
    assert np.sum(SCORES["BWR"][:3], axis=0).tolist() == [18, 3]
    assert HYBRIDS["information gain"]["k-nearest neighbour"] == "Sebban02, Xing01"
    assert all(max(one) <= 39 for one in sums.values())


def test_pieces() -> None:
    assert STUDY.data == tuple(DATA)
    assert len({str(piece) for piece in STUDY.pieces}) == len(STUDY.pieces) == 13 * 3 + 4
    assert [piece.data for piece in STUDY.pieces] == sorted((p.data for p in STUDY.pieces), key=list(DATA).index)


def test_findings(findings) -> None:
    for learner in LEARNERS:
        found = findings["labor", learner]
        assert list(found["algorithms"]) == list(ALGORITHMS)
        assert found["n_features"] == 5
        for one in found["algorithms"].values():
            assert len(one["accuracy"]) == 5
            assert one["columns"] == sorted(set(one["columns"]))
            assert one["complete"] is True
        assert found["algorithms"]["NFS"]["columns"] == [0, 1, 2, 3, 4]
        assert found["algorithms"]["NFS"]["seconds"] == 0
        assert np.mean(found["algorithms"]["FS10"]["accuracy"]) > 0.6
        assert 0 in found["algorithms"]["FS10"]["columns"]
    # A filter does not depend on the learner.
    for name in ("B-F", "Gen", "LVF", "Rel", "Foc"):
        assert len({str(findings["labor", learner]["algorithms"][name]["columns"]) for learner in LEARNERS}) == 1
    cells = findings["labor", FRAMEWORK_PIECE]["cells"]
    assert {kind: list(own) for kind, own in cells.items()} == {kind: list(FRAMEWORK_LEARNERS) for kind in FRAMEWORK}


def test_a_selection_is_decided_by_the_seed(small) -> None:
    learner = LEARNERS["naive Bayes"]
    first, again, other = (
        lasting(selected(small, learner, FRAMEWORK["dependency (CFS)"], seed, 0)) for seed in (0, 0, 1)
    )
    assert first == again
    assert first["accuracy"] != other["accuracy"]


def test_the_selection_sees_one_half_and_the_evaluation_the_other(small) -> None:
    seen = []

    class Spy:
        def fit(self, X, y):
            seen.append((X, y))

        def get_support(self, indices):
            return np.array([0])

    spy = Algorithm("spy", lambda *_: Spy())
    evaluated = selected(small, LEARNERS["k-NN"], spy, 0, 0)
    ((rows, classes),) = seen
    assert rows.shape == (30, 5)
    assert np.unique(classes, return_counts=True)[1].tolist() == [15, 15]
    # The steps in front of the learner were applied.
    assert rows["b"].null_count() == rows["m"].null_count() == 0
    selection = pl.Series(np.isin(small.X["a"].to_numpy(), rows["a"].to_numpy()))

    def without(some: pl.Series) -> Dataset:
        """The data with nothing to learn from column `a` in some of the rows."""
        column = pl.when(some).then(0.0).otherwise(pl.col("a")).alias("a")
        return Dataset(small.X.with_columns(column), small.y, small.feature_names, "labor")

    assert selected(without(selection), LEARNERS["k-NN"], spy, 0, 0)["accuracy"] == evaluated["accuracy"]
    assert selected(without(~selection), LEARNERS["k-NN"], spy, 0, 0)["accuracy"] != evaluated["accuracy"]
    columns = [
        selected(data, LEARNERS["naive Bayes"], ALGORITHMS["B-F"], 0, 0)["columns"]
        for data in (small, without(~selection), without(selection))
    ]
    assert columns[0] == columns[1] != columns[2]


def test_tables(findings) -> None:
    shown = STUDY.tables(findings)
    overall, best, single, accuracies, framework = shown
    for table in shown:
        assert table.lines
        assert all(len(line) == len(table.columns) for line in table.lines)
    assert [line[0] for line in overall.lines] == ["FFS", *ALGORITHMS]
    assert "of 3" in overall.title
    assert overall.lines[1][6] == "100.00"
    assert overall.lines[2][2] == "12"
    assert max(int(line[3]) for line in overall.lines) <= 3
    assert best.lines[0] == ["LVF, printed", "19 x 0", "4 x 0", "4 x 1", "6 x 3", "33 x 4", "2"]
    assert len(best.lines) == 6 * 3
    assert len(single.lines) == 6 * 2
    for line in (*best.lines[1::3], *single.lines):
        won, lost = map(int, line[-2].split(" x "))
        assert won + lost + int(line[-1]) == 3
    assert [line[:2] for line in accuracies.lines] == [["labor", learner] for learner in LEARNERS]
    assert framework.lines[2][:3] == ["information gain, printed", "Bala96, BBHFS, Xing01+", "Sebban02, Xing01"]
    assert len(framework.lines) == 2 * 4 + 1
    assert [table.lines for table in STUDY.tables({})] == [[]] * 5
    drawn = described(STUDY, findings)
    assert list(drawn) == ["figure_2", "figure_3", "figure_4"]
    assert drawn["figure_2"]["here"]["length"] == [int(line[3]) for line in overall.lines]
    assert drawn["figure_4"]["printed"]["length"] == [float(text) for text in FEATURES.values() if text != "below 40"]


def test_wins_and_losses_are_counted_by_their_p_values() -> None:
    def accuracy(*folds: float) -> dict:
        return {"columns": [0], "seconds": 1.0, "accuracy": list(folds), "complete": True}

    low = accuracy(0.5, 0.5, 0.5, 0.5, 0.5)
    own = dict.fromkeys(ALGORITHMS, low) | {
        "FS8": accuracy(0.9, 0.9, 0.9, 0.9, 0.8),
        "FS10": accuracy(0.5, 0.5, 0.5, 0.5, 0.6),
        "Foc": accuracy(0.9, 0.9, 0.9, 0.9, 0.8),
        "Rel": accuracy(1.0, 1.0, 0.9, 0.9, 0.9),
    }
    overall, best, single, *_ = STUDY.tables({("vote", "C4.5"): {"n_features": 2, "algorithms": own}})
    lines = {line[0]: line[1:] for line in best.lines}
    assert lines["LVF, t-test"] == ["1 x 0", "0 x 0", "0 x 0", "0 x 0", "1 x 0", "0"]
    assert lines["Focus, t-test"] == ["0 x 0", "0 x 0", "0 x 0", "0 x 0", "0 x 0", "1"]
    # Differences of 0.1, 0.1, 0, 0 and 0.1: t is 2.45, and 1.63 when corrected.
    assert lines["Relief, t-test"] == ["0 x 0", "0 x 0", "0 x 1", "0 x 0", "0 x 1", "0"]
    assert lines["Relief, corrected t-test"] == ["0 x 0", "0 x 0", "0 x 0", "0 x 1", "0 x 1", "0"]
    assert {line[0]: line[4] for line in single.lines}["LVF, t-test"] == "1 x 0"
    assert {line[0]: line[3] for line in overall.lines if line[3] != "0"} == {"Rel": "1"}


def test_what_is_not_at_hand_is_told(no_home) -> None:
    with pytest.raises(DataError, match="not available: labor"):
        run("fortal", data="labor")
    with pytest.raises(DataError, match="not available: sonar"):
        run("parallel-fortal", data="sonar")


# More workers


def test_numbers_of_workers() -> None:
    assert [parallel_fortal._workers(cores) for cores in (1, 2, 3, 16)] == [
        *([1], [1, 2], [1, 2, 3], [1, 2, 4, 8, 16]),
    ]


def test_timings_of_one_worker(home, monkeypatch) -> None:
    monkeypatch.setattr(parallel_fortal, "cpu_count", lambda: 1)
    table_of(1).write_csv(home / "sonar.csv")
    found = run("parallel-fortal", data=["sonar", "splice"])
    averages, each = found.tables
    assert all(len(line) == len(table.columns) for table in found.tables for line in table.lines)
    assert averages.columns == ("", "1", "2", "4", "8", "16")
    assert averages.lines[0][1:] == ["99.34", "97.34", "98.10", "96.44", "93.74"]
    assert averages.lines[2][1:] == ["100.00", None, None, None, None]
    assert averages.lines[3][2] == "96.84"
    assert [line[:2] for line in each.lines] == [["sonar", "1"]]
    assert each.lines[0][4:] == ["1.00", "1.00", "100.0", "100.0"]
    assert any("Not available: splice" in text for text in found.remarks)


def test_efficiencies_are_those_of_the_equations() -> None:
    findings = {
        ("mushroom", "fortal(c45)"): {"timings": [[1, 10.0, 8.0], [2, 6.5, 4.4]]},
        ("sonar", "fortal(c45)"): {"timings": [[1, 10.0, 10.0], [2, 5.0, 5.0]]},
    }
    averages, each = parallel_fortal.STUDY.tables(findings)
    assert each.lines[1] == ["mushroom", "2", "6.5", "2.10", "1.54", "1.67", "92.3", "76.9"]
    assert averages.lines[2][2] == f"{(92.3077 + 100) / 2:.2f}"
    drawn = described(parallel_fortal.STUDY, findings)
    assert drawn["speedup"]["sonar"]["y"] == [1.0, 2.0]
    assert drawn["efficiency"]["mean, printed"]["y"] == [99.34, 97.34]
    assert averages.lines[-1][2] == f"{(10 / 6.5 + 2) / 2:.2f}"
    assert [table.lines for table in parallel_fortal.STUDY.tables({})] == [[], []]
