"""Texts: words as features, chosen in the training rows, from a file to a prediction."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import _safe_indexing

import tamis as library
from tamis.base.errors import DataError, TamisError
from tamis.compose.model_file import card_of, save_model
from tamis.compose.recipe import completed_for, parse, recipe
from tamis.data.column_sense import LeftOut, sense
from tamis.data.dataset import Dataset
from tamis.data.parsing import tokens
from tamis.data.parsing.tokens import count_words
from tamis.data.reading import Reading
from tamis.data.text_columns import counts_of
from tamis.data.word_counts import WordCounts
from tamis.transform import Bigrams, Words

TEXTS = [
    "The gene was expressed in liver cells",
    "A gene, expressed! And expressed again in the liver.",
    "Stars and planets: the telescope saw a star",
    "telescope telescope STAR",
    "",
    None,
    "Cells of the liver",
    "planets orbit the star",
]
CLASSES = ["bio", "bio", "sky", "sky", "sky", "bio", "bio", "sky"]

texts = st.lists(st.text(alphabet="ab1_ é-.", max_size=12), min_size=1, max_size=8)


def corpus(n: int = 60, seed: int = 0) -> tuple[list[str], list[str]]:
    """Documents of two classes with ten words of their own each, and twenty that both have."""
    rng = np.random.default_rng(seed)
    own = {kind: [f"{kind}word{i}" for i in range(10)] for kind in ("left", "right")}
    common = [f"common{i}" for i in range(20)]
    y = ["left" if i % 2 else "right" for i in range(n)]
    return [" ".join([*rng.choice(own[kind], 4), *rng.choice(common, 8)]) for kind in y], y


def dataset(frame: pl.DataFrame, y: list[str], *texts: str) -> Dataset:
    return sense(Dataset.of(frame, y), kinds=dict.fromkeys(texts, "text"))


@given(texts)
def test_counts_are_those_of_scikit_learn(documents: list[str]) -> None:
    found = count_words(pl.Series(documents))
    try:
        peer = CountVectorizer().fit(documents)
    except ValueError:
        assert found.words == []
        return
    assert found.words == peer.get_feature_names_out().tolist()
    assert (found.counts != peer.transform(documents)).nnz == 0
    again = sp.csr_array(
        (np.ones(found.codes.size), found.codes, found.offsets), shape=(len(documents), len(found.words))
    )
    assert np.array_equal(again.toarray(), found.counts.toarray())


def test_batches_do_not_change_the_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = pl.Series(corpus()[0])
    whole = count_words(documents)
    monkeypatch.setattr(tokens, "_AT_ONCE", 300)
    parts = count_words(documents)
    assert parts.words == whole.words
    assert (parts.counts != whole.counts).nnz == 0
    assert np.array_equal(parts.codes, whole.codes)
    assert np.array_equal(parts.offsets, whole.offsets)


def test_a_word_that_is_too_long_is_none() -> None:
    found = count_words(pl.Series(["gene " + "x" * 65, "gene"]))
    assert found.words == ["gene"]
    assert found.codes.tolist() == [0, -1, 0]


def test_the_order_is_given_up_where_there_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_MOST_IN_ORDER", 3)
    found = count_words(pl.Series(TEXTS))
    assert found.offsets.size == 0
    assert found.counts.sum() > 20


def test_rows_keep_their_words_and_columns_do_not() -> None:
    counts = counts_of(pl.DataFrame({"text": TEXTS}), ["text"], "test")
    some = _safe_indexing(counts, np.array([3, 0]))
    assert isinstance(some, WordCounts)
    offsets, codes = some.sequences()
    names = counts.vocabulary.names
    assert [names[codes[offsets[i] : offsets[i + 1]]].tolist() for i in range(2)] == [
        ["telescope", "telescope", "star"],
        ["the", "gene", "was", "expressed", "in", "liver", "cells"],
    ]
    mask = np.zeros(len(TEXTS), dtype=bool)
    mask[2] = True
    assert some[np.array([True, False])].documents.tolist() == [3]
    assert counts[mask].documents.tolist() == [2]
    assert not isinstance(counts[:, [0]], WordCounts)
    assert counts[[0]][:, [0]].shape == (1, 1)


def test_words_of_the_training_rows_alone() -> None:
    documents, y = corpus(20)
    data = dataset(pl.DataFrame({"body": [*documents, "unseen unseen", "unseen", "unseen"]}), [*y, *y[:3]], "body")
    fitted = Words(1).fit(data.X[:20])
    names = fitted.get_feature_names_out(data.feature_names)
    assert "unseen" in data.feature_names
    assert "unseen" not in names
    peer = CountVectorizer().fit(documents)
    assert names.tolist() == peer.get_feature_names_out().tolist()
    assert np.array_equal(fitted.transform(data.X).toarray()[:20], peer.transform(documents).toarray())


@pytest.mark.parametrize("min_df", [1, 2, 3])
@pytest.mark.parametrize("max_df", [0.4, 1.0])
def test_document_frequency(min_df: int, max_df: float) -> None:
    documents, _ = corpus()
    ours = Words(min_df, max_df=max_df).fit(documents)
    peer = CountVectorizer(min_df=min_df, max_df=max_df).fit(documents)
    assert ours.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    assert (ours.transform(documents) != peer.transform(documents)).nnz == 0
    new = ["common1 never leftword2 common1", ""]
    assert np.array_equal(ours.transform(new).toarray(), peer.transform(new).toarray())


def test_stop_words() -> None:
    kept = Words(1, stop="english").fit([text or "" for text in TEXTS]).get_feature_names_out()
    peer = CountVectorizer(stop_words="english").fit([text or "" for text in TEXTS])
    assert kept.tolist() == peer.get_feature_names_out().tolist()


def test_stems_are_counted_together() -> None:
    pytest.importorskip("Stemmer")
    documents = ["connect connected", "connection connecting", "star", "stars star"]
    words = Words(1, stem="porter").fit(documents)
    assert words.get_feature_names_out().tolist() == ["connect", "star"]
    assert words.transform(documents).toarray().tolist() == [[2, 0], [2, 0], [0, 1], [0, 2]]
    assert words.transform(["connects"]).toarray().tolist() == [[0, 0]]  # no training document has this form
    # A stem that two documents have in different forms is in two documents.
    assert Words(2, stem="porter").fit(documents).get_feature_names_out().tolist() == ["connect", "star"]


@pytest.mark.parametrize("stop", [None, "english"])
@pytest.mark.parametrize("ngrams", [2, 3])
def test_runs_of_words_are_those_of_scikit_learn(ngrams: int, stop: str | None) -> None:
    documents = [text or "" for text in TEXTS] * 2 + ["the gene of the liver", "star of the telescope"]
    ours = Words(2, ngrams=ngrams, stop=stop).fit(documents)
    peer = CountVectorizer(min_df=2, ngram_range=(1, ngrams), stop_words=stop).fit(documents)
    names = ours.get_feature_names_out().tolist()
    order = [names.index(name) for name in peer.get_feature_names_out()]
    assert len(order) == len(names)
    new = [*documents, "the gene and the liver again, never seen"]
    assert np.array_equal(ours.transform(new).toarray()[:, order], peer.transform(new).toarray())


def test_numbers_and_levels_beside_a_text() -> None:
    documents, y = corpus()
    rng = np.random.default_rng(1)
    age = [None if i == 3 else float(v) for i, v in enumerate(rng.normal(50, 9, len(y)))]
    frame = pl.DataFrame({"age": age, "body": documents, "colour": rng.choice(["red", "blue"], len(y))})
    data = dataset(frame, y, "body")
    assert data.feature_names[:3].tolist() == ["age", "colour=blue", "colour=red"]
    assert data.feature_names[3].startswith("body: ")
    assert data.n_missing == 1
    chain = completed_for(data, parse("cc(5) | logistic"))
    assert str(chain) == "words | impute | cc(5) | logistic"
    kept = Words(1).fit(data.X)
    assert kept.get_feature_names_out(data.feature_names)[:3].tolist() == ["age", "colour=blue", "colour=red"]
    found = library.validate("cc(20) | logistic", data, folds=5)
    assert found.summary()["ber"].mean < 0.2


def test_two_texts_have_words_of_their_own() -> None:
    frame = pl.DataFrame({"title": ["gene star", "star", None], "body": ["gene gene", "cell", "star"]})
    counts = counts_of(frame, ["title", "body"], "test")
    assert counts.vocabulary.names.tolist() == ["title: gene", "title: star", "body: cell", "body: gene", "body: star"]
    assert counts.toarray().tolist() == [[1, 1, 0, 2, 0], [0, 1, 1, 0, 0], [0, 0, 0, 0, 1]]
    offsets, codes = counts.sequences()
    assert codes.tolist() == [0, 1, -1, 3, 3, -1, 1, -1, 2, -1, -1, 4, -1]
    assert offsets.tolist() == [0, 6, 10, 13]


def test_folds_see_only_their_own_words() -> None:
    """Each document has a word for itself, which would tell its class if the vocabulary leaked."""
    rng = np.random.default_rng(0)
    y = rng.permutation(["left", "right"] * 40).tolist()
    documents = [f"same words here unique{i}" for i in range(80)]
    data = dataset(pl.DataFrame({"body": documents}), y, "body")
    found = library.validate("words(1) | nb(multinomial)", data, folds=5, repeats=2)
    assert abs(found.summary()["ber"].mean - 0.5) < 0.12


def test_plain_numbers_pass_by_how_many_rows_have_them() -> None:
    X = np.array([[1.0, 0.0, 2.0], [1.0, 0.0, 0.0], [1.0, 3.0, 0.0]])
    assert Words(2).fit(X).transform(X).tolist() == [[1.0], [1.0], [1.0]]
    with pytest.raises(DataError, match="stop is for text"):
        Words(2, stop="english").fit(X)


@pytest.mark.parametrize(
    ("frame", "texts", "message"),
    [
        (pl.DataFrame({"body": ["", None]}), ["body"], "there is no word in 'body'"),
        (pl.DataFrame({"body": ["- -", "! ?"]}), ["body"], "there is no word"),
    ],
)
def test_texts_without_words_are_refused(frame: pl.DataFrame, texts: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        counts_of(frame, texts, "test")


def test_no_word_is_frequent_enough() -> None:
    with pytest.raises(DataError, match="no word is in 3 documents or more"):
        Words().fit(["gene", "star"])


def test_without_the_stemmer_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "Stemmer", None)
    with pytest.raises(TamisError, match=r"install tamis\[text\]"):
        Words(1, stem="english").fit(["words that nobody stemmed before"])


def test_from_a_file_to_a_prediction(tmp_path: Path, tamis: Callable[..., tuple[int, str, str]]) -> None:
    documents, y = corpus(90)
    path, new, model = tmp_path / "reviews.csv", tmp_path / "new.csv", tmp_path / "model"
    pl.DataFrame({"stars": y, "body": documents}).write_csv(path)
    pl.DataFrame({"body": ["leftword1 leftword2 fresh", "rightword1 rightword3"]}).write_csv(new)
    data = library.load(path, "stars", reading=Reading(text=["body"]))
    assert data.n_features == 40
    assert data.plan.texts == ["body"]
    status, out, _ = tamis("rank", path, "chi2", "--target", "stars", "--text", "body", "--json")
    best = json.loads(out)["ranking"][:5]
    assert status == 0
    assert all("word" in row["feature"] for row in best)
    recipe = "chi2(20) | nb(multinomial)"
    status, out, _ = tamis("validate", path, recipe, "--target", "stars", "--text", "body", "--folds", "5")
    assert status == 0
    assert "(words was added for text; it is fitted in the folds)" in out
    status, _, _ = tamis("select", path, recipe, "--target", "stars", "--text", "body", "--save", model)
    assert status == 0
    assert library.predict(model, new).table["class"].to_list() == ["left", "right"]
    assert library.predict(model, pl.read_csv(new)).table["class"].to_list() == ["left", "right"]
    status, _, error = tamis("rank", path, "chi2", "--target", "stars", "--text", "bod")
    assert status == 2
    assert "the nearest name is 'body'" in error


def test_a_model_asks_for_its_text(tmp_path: Path) -> None:
    documents, y = corpus(40)
    data = dataset(pl.DataFrame({"body": documents, "size": np.arange(40.0) % 7}), y, "body")
    fitted = completed_for(data, parse("cc(5) | logistic")).build().fit(data.X, data.y)
    save_model(tmp_path / "model", fitted, card_of(fitted, data))
    with pytest.raises(DataError, match="no column is called 'body'"):
        library.predict(tmp_path / "model", pl.DataFrame({"size": [1.0], "text": ["leftword1"]}))
    with pytest.raises(DataError, match="lacks 1 columns that the model was fitted with: 'size'"):
        library.predict(tmp_path / "model", pl.DataFrame({"body": ["leftword1"]}))


def test_pairs_tell_more_than_their_words(tmp_path: Path) -> None:
    """Both classes have the same words, in different order."""
    rng = np.random.default_rng(0)
    left, right = ["big brother", "second hand"], ["brother big", "hand second"]
    y = ["left" if i % 2 else "right" for i in range(80)]
    fill = [" ".join(rng.choice(["and", "or", "but"], 2)) for _ in y]
    documents = [f"{f} {rng.choice(left if kind == 'left' else right)} {f}" for f, kind in zip(fill, y, strict=True)]
    data = dataset(pl.DataFrame({"body": documents}), y, "body")
    words = library.validate("words | nb(multinomial)", data, folds=5).summary()["ber"].mean
    pairs = library.validate("bigrams(7, 20) | nb(multinomial)", data, folds=5).summary()["ber"].mean
    assert words > 0.3
    assert pairs < 0.1
    fitted = recipe("bigrams(7, 4) | nb(multinomial)").fit(data.X, data.y)
    names = fitted[0].get_feature_names_out(data.feature_names)
    assert {"big brother", "second hand", "brother big", "hand second"} == set(names[7:])
    save_model(tmp_path / "model", fitted, card_of(fitted, data))
    new = pl.DataFrame({"body": ["a big brother is", "the hand second", "big news, brother"]})
    assert library.predict(tmp_path / "model", new).table["class"].to_list()[:2] == ["left", "right"]


def test_pairs_of_plain_numbers_are_refused_once_there_were_some() -> None:
    fitted = Bigrams(2, 1, min_count=1).fit(["one two", "two one", "one two"], [0, 1, 0])
    with pytest.raises(DataError, match="plain numbers"):
        fitted.transform(np.ones((2, 2)))
    with pytest.raises(TamisError, match="Negative values"):
        Bigrams().fit(np.array([[1.0], [-1.0]]), [0, 1])


def test_a_data_frame_says_which_columns_are_text() -> None:
    documents, y = corpus()
    frame = pl.DataFrame({"age": np.arange(60.0) % 7, "body": documents})
    found = library.validate("chi2(20) | nb(multinomial)", frame, y, folds=3, text=["body"])
    assert found.recipe == "words | chi2(20) | nb(multinomial)"
    assert found.summary()["ber"].mean < 0.2
    assert library.rank(frame, y, by="chi2", text=["body"])["feature"][0].startswith("body: ")
    with pytest.warns(LeftOut, match="the words of 'body' become features when it is named as text"):
        library.validate("cc(1) | nb", frame, y, folds=3)
    with pytest.raises(DataError, match=r"no feature is left .* named as text"):
        library.validate("words | nb(multinomial)", frame.select("body"), y, folds=3)
    with pytest.raises(TamisError, match="put Words in front"):
        library.validate(recipe("nb"), frame, y, text=["body"])
    with pytest.raises(TamisError, match="columns of a data frame"):
        library.rank(np.ones((4, 2)), [0, 1, 0, 1], text=["x0"])
    with pytest.raises(TamisError, match="no column is called 'bod'"):
        library.validate("nb", frame, y, text=["bod"])


@pytest.mark.parametrize("form", ["list", "series", "pandas", "objects"])
def test_texts_in_any_form(form: str) -> None:
    documents, y = corpus(30)
    wide = [[1.0, text] for text in documents]
    forms = {
        "list": documents,
        "series": pl.Series(documents),
        "pandas": pd.DataFrame({"size": 1.0, "body": documents}),
        "objects": np.array(wide, dtype=object),
    }
    fitted = Words(1).fit(forms[form], y)
    counts = fitted.transform(forms[form])
    assert counts[:, -1].sum() == CountVectorizer().fit_transform(documents)[:, -1].sum()
