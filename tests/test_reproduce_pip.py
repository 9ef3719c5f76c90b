"""The study of scores of words: documents and rankings, curves against plain loops, the printed tables."""

import json
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import f1_score
from sklearn.naive_bayes import MultinomialNB

from study_figures import described
from tamis import scores
from tamis.base.cut import rank
from tamis.base.errors import TamisError
from tamis.compose.recipe import parse
from tamis.data.dataset import Dataset
from tamis.data.label_sets import LabelSets
from tamis.data.text_columns import with_words
from tamis.reproduce import pip
from tamis.reproduce.framework.study import Task
from tamis.reproduce.pip import STUDY, area, documents, f1, rankings


def news(n: int = 80) -> Dataset:
    """Documents with topics of Reuters, typical words, a title and a body."""
    random = np.random.default_rng(0)
    topics = ("earn", "grain", "wheat")
    labels = [[t for t in topics if random.random() < 0.4] + (["rye"] if i % 9 == 0 else []) for i in range(n)]
    bodies = [
        " ".join(
            [*(f"{t}{random.integers(3)}" for t in own for _ in range(2)), *(f"w{random.integers(9)}" for _ in "ab")]
        )
        for own in labels
    ]
    frame = pl.DataFrame({"title": [f"the {' '.join(own)}" for own in labels], "body": bodies})
    y = np.array([";".join(own) for own in labels])
    split = np.where(np.arange(n) < 60, "train", "test")
    data = Dataset(frame, y, np.array(["title", "body"]), "reuters21578", split=split, texts=("title", "body"))
    return with_words(data, ["title", "body"])


def test_documents_with_a_topic_in_words_of_both_texts() -> None:
    data = news()
    own = documents(data, 1000, pip._TOPICS)
    assert own.train_topics.names.tolist() == ["earn", "grain", "wheat"]
    has = [any(topic in pip._TOPICS for topic in label.split(";")) for label in data.y]
    assert (own.train.shape[0], own.test.shape[0]) == (sum(has[:60]), sum(has[60:]))
    text = [f"{t} {b}" for t, b in zip(*[_texts(data, name) for name in ("title", "body")], strict=True)]
    train = [one.split() for one, there in zip(text[:60], has[:60], strict=True) if there]
    total = {word: sum(one.count(word) for one in train) for one in train for word in one}
    del total["the"]
    kept = sorted(word for word, times in total.items() if times >= 3)
    np.testing.assert_array_equal(np.asarray(own.train.sum(axis=0)).ravel(), [total[word] for word in kept])
    fewer = documents(data, total["earn"] - 1, pip._TOPICS)
    assert fewer.train.shape[1] == sum(3 <= times < total["earn"] for times in total.values()) < len(kept)
    with pytest.raises(TamisError, match="no official split"):
        documents(Dataset(data.X, data.y, data.feature_names, "none"), 1000)


def _texts(data: Dataset, name: str) -> list[str]:
    vocabulary = data.X.vocabulary
    offsets, codes = data.X.sequences()
    prefix = f"{name}: "
    return [
        " ".join(vocabulary.words[c] for c in codes[a:b] if c >= 0 and vocabulary.names[c].startswith(prefix))
        for a, b in pairwise(offsets)
    ]


def test_rankings_are_by_the_weighted_mean_over_the_topics() -> None:
    own = documents(news(), 1000, pip._TOPICS)
    found = rankings(own.train, own.train_topics)
    assert list(found) == ["IG", "chi2", "OR", "BNS", "WF", "PIP", "PIPp"]
    for name, order in found.items():
        score, options = pip._SCORES[name]
        total = 0.0
        for topic in range(3):
            y = own.train_topics.has(topic).astype(int)
            if name == "IG":
                values = scores.ig(own.train, y)
            else:
                values = scores.get(score).per_class(own.train, y, **options)[1]
            total = total + y.mean() * values
        assert sorted(order) == list(range(own.train.shape[1]))
        assert (np.diff(total[order]) <= 1e-9 * np.abs(total).max()).all(), name


def test_f1_is_that_of_scikit_learn() -> None:
    random = np.random.default_rng(1)
    truth, predicted = random.random((30, 4)) < 0.3, random.random((30, 4)) < 0.3
    predicted[:, 3] = truth[:, 3] = False
    expected = [f1_score(truth, predicted, average=kind, zero_division=0) for kind in ("micro", "macro")]
    np.testing.assert_allclose(f1(truth, predicted), expected)


def test_the_area_is_that_of_the_paper() -> None:
    assert area([0.5] * 7) == pytest.approx(495)
    rising = [0.0] * 6 + [1.0]
    assert area(rising) == pytest.approx(250)
    printed = [value for own in pip._PRINTED.values() for pair in own.values() for line in pair for value in line]
    assert len(printed) == 8 * 2 * 7
    assert max(printed) <= 990


def test_curves_are_those_of_a_plain_loop(monkeypatch) -> None:
    monkeypatch.setattr(pip, "SIZES", (2, 5))
    own = documents(news(), 1000, pip._TOPICS)
    order = rankings(own.train, own.train_topics)["PIPp"]
    found = pip._curve("nb(multinomial)", own, order)
    for place, size in enumerate((2, 5)):
        columns, truth = order[:size], own.test_topics.dense()
        predicted = np.stack(
            [
                MultinomialNB().fit(own.train[:, columns], own.train_topics.has(t)).predict(own.test[:, columns])
                for t in range(3)
            ],
            axis=1,
        )
        assert found["micro"][place] == pytest.approx(f1_score(truth, predicted, average="micro"))
        assert found["macro"][place] == pytest.approx(f1_score(truth, predicted, average="macro", zero_division=0))


def test_pieces_run_and_tables_show_printed_and_own_figures(monkeypatch) -> None:
    for piece in STUDY.pieces:
        parse(piece.run.args[0]).build()
    monkeypatch.setattr(pip, "SIZES", (2, 4, 6, 8, 10, 11, 12))
    data, seen = news(), []
    one = {
        p.name: p.run(Task(data, progress=lambda done, total: seen.append(done == total)))
        for p in STUDY.pieces
        if p.data == "reuters21578"
    }
    assert json.loads(json.dumps(one, allow_nan=False)) == one
    assert sum(seen) == len(one) == 6
    assert max(one["SVM"]["curves"]["chi2"]["micro"]) > 0.8
    findings = {(piece.data, piece.name): one[piece.name] for piece in STUDY.pieces}
    reuters, groups, places, *curves = STUDY.tables(findings)
    assert all(len(line) == len(table.columns) for table in (reuters, groups, places, *curves) for line in table.lines)
    assert reuters.lines[0] == ["Poisson, micro, printed", "708", "719", "670", "763", "684", "699", "755"]
    assert reuters.lines[1][1] == f"{area(one['Poisson']['curves']['IG']['micro']):.0f}"
    assert len(reuters.lines) == 4 * 4 + 2 * 2
    assert groups.lines[-2][0] == "probit, macro, printed"
    assert places.lines[0][0] == "reuters21578, printed"
    assert sum(float(cell) for cell in places.lines[0][1:]) == pytest.approx(28, abs=0.3)
    assert len(curves) == 6 + 4
    drawn = described(STUDY, findings)
    assert len(drawn) == 2 * (6 + 4) + 2 * 2 * 4
    curve = drawn["reuters21578_probit_gaussian_macro"]["BNS"]
    assert curve["y"] == [100 * value for value in one["probit, Gaussian"]["curves"]["BNS"]["macro"]]
    assert drawn["areas_20newsgroups_probit_micro"]["printed"]["length"] == [703, 723, 575, 713, 565, 693, 644]
    assert STUDY.tables({}) == []
    assert STUDY.brief(one["SVM"]).startswith("largest area ")


def test_places_of_equals_are_shared() -> None:
    assert pip._ranks(np.array([3, 5, 3, 1])).tolist() == [2.5, 1, 2.5, 4]


def test_topics_of_one_class_each_are_topics() -> None:
    data = news()
    single = Dataset(data.X, np.arange(80) % 3, data.feature_names, "20newsgroups", split=data.split)
    own = documents(single, 1000)
    assert isinstance(own.train_topics, LabelSets)
    assert own.train_topics.sizes.tolist() == [20, 20, 20]
    y = single.y[:60]
    np.testing.assert_array_equal(rankings(own.train, own.train_topics)["IG"], rank(scores.ig(own.train, y)))
