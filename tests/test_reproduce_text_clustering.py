"""The study of clusters of documents: its pieces run on small texts, and the tables made of what they find."""

import json
from collections.abc import Iterator

import numpy as np
import polars as pl
import pytest

from study_figures import described
from tamis.base.errors import TamisError
from tamis.compose.recipe import parse
from tamis.data.dataset import Dataset
from tamis.data.named import ENTRIES
from tamis.reproduce import text_clustering
from tamis.reproduce.framework.study import Task
from tamis.reproduce.text_clustering import STUDY
from tamis.text.reduction_curves import reduction_curves

pytest.importorskip("Stemmer")

PIECES = ["projections", "selections", "TI before ICA", "TfV before ICA", "DF before ICA", "times"]


@pytest.fixture(scope="module")
def small() -> Dataset:
    """Texts of three topics and of one that only three documents have; a column that gives the class away."""
    rng = np.random.default_rng(0)
    y = np.append(np.repeat(["a", "b", "c"], 30), ["rare"] * 3)
    words = np.array([f"word{j}" for j in range(90)])
    weights = {topic: 1.0 + 9.0 * (np.arange(90) % 3 == place) for place, topic in enumerate("abc")}
    weights["rare"] = np.ones(90)
    texts = [" ".join(rng.choice(words, 30, p=weights[one] / weights[one].sum())) for one in y]
    frame = pl.DataFrame({"told": y, "text": texts})
    return Dataset(frame, y, np.array(["told", "text"]), "small", texts=("text",))


@pytest.fixture(scope="module")
def few() -> Iterator[None]:
    """The collections with few dimensions, which small texts have."""
    with pytest.MonkeyPatch.context() as patch:
        sizes = {"projected": (2, 3, 4, 6), "projected_range": (2, 4), "screened_range": (2, 4), "splits": 2}
        sizes |= {"selected": (5, 20, 40), "selected_range": (5, 40)}
        given = {name: own._replace(**sizes) for name, own in text_clustering._COLLECTIONS.items()}
        patch.setattr(text_clustering, "_COLLECTIONS", given)
        patch.setattr(text_clustering, "_RUNS", 1)
        yield


@pytest.fixture(scope="module")
def findings(small, few) -> dict:
    """What each piece finds; one data set stands for both."""
    seen = []
    task = Task(small, progress=lambda done, total: seen.append((done, total)))
    pieces = text_clustering._pieces()
    one = {piece.name: piece.run(task) for piece in pieces if piece.data == "webkb4"}
    assert sum(done == total for done, total in seen) >= len(one)
    assert json.loads(json.dumps(one, allow_nan=False)) == one
    return {(piece.data, piece.name): one[piece.name] for piece in pieces}


def test_every_part_of_the_paper_is_run() -> None:
    assert STUDY.data == ("webkb4", "r52")
    assert set(STUDY.data) <= set(ENTRIES)
    assert [(piece.data, piece.name) for piece in STUDY.pieces] == [(d, name) for d in STUDY.data for name in PIECES]
    for own in text_clustering._COLLECTIONS.values():
        # A paired test needs some dimensions inside each of the paper's ranges, and their ends.
        assert set(own.screened_range) <= set(own.screened) <= set(own.projected)
        assert set(own.projected_range) <= set(own.projected)
        assert set(own.selected_range) <= set(own.selected)
        assert all(len(p) == 5 for p in own.screenings.values())


def test_the_documents_are_their_words_in_classes_that_are_large_enough(small) -> None:
    found = text_clustering._documents(small)
    assert found.n_rows == 90
    assert set(found.y) == {"a", "b", "c"}
    assert sorted(found.feature_names.tolist()) == sorted(f"word{j}" for j in range(90))
    with pytest.raises(TamisError, match="small: no class has 4 documents"):
        text_clustering._documents(small.rows(np.arange(90, 93)))


def test_findings_are_accuracies_of_every_split_and_dimension(findings) -> None:
    found = findings["webkb4", "projections"]
    assert found["dimensions"] == [2, 3, 4, 6]
    assert list(found["accuracy"]) == ["ICA", "LSI", "RP", "ICA, not normalised", "LSI, not normalised"]
    assert all(np.shape(values) == (2, 4) for values in found["accuracy"].values())
    assert np.mean(found["accuracy"]["LSI"]) > 0.9
    assert np.mean(found["accuracy"]["ICA"]) > np.mean(found["accuracy"]["RP"])
    assert list(findings["r52", "TfV before ICA"]["accuracy"]) == [f"TfV {share} %" for share in (5, 10, 15, 20, 25)]
    selected = findings["r52", "selections"]["accuracy"]
    assert np.mean(selected["DF"], axis=0)[-1] > np.mean(selected["DF"], axis=0)[0]
    times = findings["r52", "times"]
    assert (times["documents"], times["words"], times["sizes"]) == (90, 90, [30, 30, 30])
    assert all(seconds > 0 for step in ("ica", "pca") for found in times[step].values() for seconds in found)


def test_tables_have_the_print_beside_what_was_found(findings, few) -> None:
    everything = findings | {
        (data, f"{name} before ICA"): {
            "dimensions": [2, 3, 4],
            "accuracy": {f"{name} {share} %": [[0.5, 0.6, 0.7 - share / 1000]] * 2 for share in shares},
        }
        for data in STUDY.data
        for name, shares in text_clustering._SHARES.items()
    }
    tables = STUDY.tables(everything)
    assert len(tables) == 2 * 7
    assert all(len(line) == len(table.columns) for table in tables for line in table.lines)
    _, _, _, second, _, fourth, times = tables[:7]
    assert second.title.startswith("Table 2, webkb4")
    assert [line[:2] for line in second.lines] == [["DF, TI", "0.16"], ["DF, TfV", "0.16"], ["TI, TfV", None]]
    assert fourth.title.startswith("Table 4, webkb4")
    assert [line[3] for line in fourth.lines] == [
        *("0.00", "0.10", "0.24", "0.00", "0.56", "0.00", "0.06", "0.22", "0.47", "0.80", None),
    ]
    drawn = described(STUDY, everything)
    assert list(drawn) == [
        f"{data}_{part}" for data in STUDY.data for part in ("projections", "selections", "screened")
    ]
    assert drawn["r52_screened"]["TfV 5 %"]["y"][0] == 50
    plain = np.mean([row[:3] for row in findings["webkb4", "projections"]["accuracy"]["ICA"]])
    line = fourth.lines[3]
    assert line[0] == "TI 20 %"
    assert (line[1], line[2]) == (f"{100 * (1.78 / 3):.1f}", f"{100 * (1.78 / 3 - plain):+.1f}")
    assert (float(line[4]) > 0.5) == (plain < 1.78 / 3)
    assert "90 documents, 90 words, 3 classes of 30 to 30" in times.title
    ratio = everything["webkb4", "times"]["ica"][""][0] / everything["webkb4", "times"]["ica"]["TI"][0]
    assert times.lines[0][3] == f"{ratio:.1f}x"
    assert tables[12].title.startswith("Table 3, r52")
    assert tables[12].lines[8][3] == "0.01"


def test_what_is_not_at_hand_leaves_no_table(findings, few) -> None:
    some = {key: found for key, found in findings.items() if key == ("r52", "selections")}
    assert [table.title.split(":")[0] for table in STUDY.tables(some)] == ["r52", "Table 2, r52"]
    assert STUDY.tables({}) == []


@pytest.mark.filterwarnings("ignore:ica is not settled")
def test_kmeans_does_not_see_the_rotation_of_ica(small) -> None:
    data = text_clustering._documents(small)
    recipe = (
        f"{text_clustering._WORDS} | {text_clustering._WEIGHTS} | ica({{k}}, max_iter={{most}}, tol=0.5) | normalize"
    )
    methods = {most: lambda k, most=most: parse(recipe.format(k=k, most=most)).build() for most in ("1", "500")}
    found = reduction_curves(methods, data.X, data.y, [2, 3, 5], n_splits=2)
    np.testing.assert_array_equal(found.accuracy["1"], found.accuracy["500"])
