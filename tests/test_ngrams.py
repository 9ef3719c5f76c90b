"""Words and n-grams: counts, divergences, choice and matrix against plain Python."""

import tracemalloc
from collections import Counter
from itertools import chain, pairwise
from math import log

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.kernels import kl, ngrams
from tamis.kernels.compiler import Kernel
from tamis.text.chosen import ChosenNgrams, best_per_class
from tamis.text.corpus import OUTSIDE, Corpus
from tamis.text.count_matrix import count_matrix
from tamis.text.divergence import class_shares, kl_divergence
from tamis.text.ngrams import NgramCounts, ngram_counts, word_counts
from tamis.text.rckl import best_ngrams, best_words, choose_ngrams

Documents = list[list[int]]


@st.composite
def texts(draw, weights=(1.0,)):
    n_words = draw(st.integers(1, 5))
    token = st.integers(OUTSIDE, n_words - 1)
    documents = draw(st.lists(st.lists(token, max_size=25), max_size=8))
    n = len(documents)
    y = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    weight = draw(st.lists(st.sampled_from(weights), min_size=n, max_size=n))
    return documents, n_words, np.array(y, dtype=int), np.array(weight)


def corpus_of(documents: Documents, n_words: int) -> Corpus:
    offsets = np.cumsum([0, *map(len, documents)])
    return Corpus(offsets, np.array(list(chain(*documents)), dtype=np.int32), n_words)


def windows(document: list[int], n: int) -> list[tuple[int, ...]]:
    found = [tuple(document[t : t + n]) for t in range(len(document) - n + 1)]
    return [words for words in found if OUTSIDE not in words]


def plain_counts(documents, y, weight, n):
    """Total, documents and class totals of every n-gram of n words."""
    total, containing, classes = Counter(), Counter(), Counter()
    for document, c, w in zip(documents, y, weight, strict=True):
        for words in windows(document, n):
            total[words] += w
            classes[words, c] += w
        for words in set(windows(document, n)):
            containing[words] += w
    rows = [w for w in sorted(total) if total[w] > 0]
    k = max(y, default=-1) + 1
    return {w: (total[w], containing[w], [classes[w, c] for c in range(k)]) for w in rows}


def as_dict(parts: list[NgramCounts]) -> dict:
    found = {}
    for part in parts:
        rows = zip(part.words.tolist(), part.total, part.documents, part.class_totals.tolist(), strict=True)
        found |= {tuple(words): (total, documents, classes) for words, total, documents, classes in rows}
    return found


def plain_kl(counts, reference, smoothing):
    known = [(n + smoothing, p) for n, p in zip(counts, reference, strict=True) if p > 0]
    whole = sum(n for n, _ in known)
    return sum(n / whole * log(n / whole / p) for n, p in known if n > 0)


@given(
    texts(weights=(0.0, 0.5, 1.0, 3.0)), st.integers(2, 4), st.sampled_from([1, 0.5, 2, 3.5]), st.sampled_from([1, 2])
)
def test_counts_equal_a_plain_count(text, order, min_count, min_df):
    documents, n_words, y, weight = text
    corpus = corpus_of(documents, n_words)
    parts = list(ngram_counts(corpus, y, order=order, min_count=min_count, min_df=min_df, weight=weight))
    expected = {}
    for n in range(2, order + 1):
        every = plain_counts(documents, y, weight, n)
        expected |= {w: row for w, row in every.items() if row[0] >= min_count and row[1] >= min_df}
    found = as_dict(parts)
    assert found == expected
    # Shorter ones first, ascending within a length.
    assert list(found) == sorted(found, key=lambda words: (len(words), words))
    words = word_counts(corpus, y, weight=weight)
    singles = plain_counts(documents, y, weight, 1)
    assert {w: row for w, row in as_dict([words]).items() if row[0] > 0} == singles
    assert words.total.shape == (n_words,)


@given(texts(weights=(0.0, 1.0, 2.5)), st.integers(2, 3), st.sampled_from([1, 2]), st.sampled_from([1, 300, 1500]))
def test_less_memory_gives_the_same(text, order, min_count, memory):
    documents, n_words, y, weight = text
    corpus = corpus_of(documents, n_words)
    options = {"order": order, "min_count": min_count, "weight": weight}
    whole = list(ngram_counts(corpus, y, **options))
    small = list(ngram_counts(corpus, y, max_memory=memory, **options))
    assert all(len(part.words) for part in small)
    assert as_dict(small) == as_dict(whole)
    for k in (1, 2, None):
        for criterion in ("rckl", "kl"):
            one = best_ngrams(corpus, y, k, criterion=criterion, **options)
            other = best_ngrams(corpus, y, k, criterion=criterion, max_memory=memory, **options)
            np.testing.assert_array_equal(one.words, other.words)
            np.testing.assert_array_equal(one.score, other.score)
            np.testing.assert_array_equal(one.counts.class_totals, other.counts.class_totals)


def test_little_memory_takes_both_ways():
    """A part holds several rare heads or one frequent head that does not fit."""
    rng = generator(0)
    codes = np.minimum(rng.geometric(0.1, 3000) - 1, 49).astype(np.int32)
    corpus, y = Corpus(np.arange(0, 3001, 10), codes, 50), np.arange(300) % 3
    parts = list(ngram_counts(corpus, y, max_memory=20_000))
    heads = [np.unique(part.words[:, 0]).size for part in parts]
    sizes = [part.total.sum() for part in parts]
    assert max(heads) > 1
    # Not even without their counts would these occurrences fit.
    assert sizes[0] > 20_000 / (4 + 4 + 8 * 3 + 48)
    assert as_dict(parts) == as_dict(list(ngram_counts(corpus, y)))


def test_memory_is_bounded():
    rng = generator(0)
    corpus = Corpus(np.arange(0, 300_001, 100), rng.integers(0, 3000, 300_000), 3000)
    y = np.arange(3000) % 10
    word_counts(corpus, y)
    peak = {}
    for memory in (2**20, 2**22, 2**28):
        tracemalloc.start()
        try:
            best_ngrams(corpus, y, 100, min_count=1, max_memory=memory)
            peak[memory] = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    # Class totals and a few numbers of every word come on top.
    words = 8 * (10 + 10) * 3000
    assert peak[2**20] < 2**20 + words
    assert peak[2**22] < 2**22 + words
    assert peak[2**28] > 2**24


@given(texts(weights=(0.0, 1.0, 2.0, 3.0)), st.sampled_from([1, 2, 4]))
def test_a_weight_is_as_many_documents(text, min_count):
    documents, n_words, y, weight = text
    times = weight.astype(int)
    repeated = corpus_of([d for d, n in zip(documents, times, strict=True) for _ in range(n)], n_words)
    again = np.repeat(y, times)
    # The last class may be without documents.
    found = as_dict(list(ngram_counts(corpus_of(documents, n_words), y, min_count=min_count, weight=weight)))
    expected = as_dict(list(ngram_counts(repeated, again, min_count=min_count)))
    assert found.keys() == expected.keys()
    for words, (total, containing, classes) in expected.items():
        assert found[words][:2] == (total, containing)
        assert found[words][2][: len(classes)] == classes
        assert not any(found[words][2][len(classes) :])


@given(
    st.lists(st.lists(st.sampled_from([0.0, 1.0, 7.0, 0.5]), min_size=3, max_size=3), min_size=1, max_size=5),
    st.sampled_from([(0.2, 0.3, 0.5), (0.0, 0.5, 0.5), (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)]),
    st.sampled_from([0.0, 0.1, 10.0]),
)
def test_divergence_equals_its_formula(counts, reference, smoothing):
    found = kl_divergence(np.array(counts), np.array(reference), smoothing=smoothing)
    expected = [plain_kl(row, reference, smoothing) for row in counts]
    np.testing.assert_allclose(found, np.maximum(expected, 0.0), atol=1e-14)
    assert (found >= 0).all()


def test_divergence_of_a_share_like_all_is_zero_and_its_mean_is_the_mutual_information():
    rng = generator(1)
    counts = rng.integers(0, 30, (40, 4)).astype(float)
    p = class_shares(counts, smoothing=0.0)
    np.testing.assert_allclose(kl_divergence(1000 * p[None, :], p, smoothing=0.0), 0.0, atol=1e-15)
    joint = counts / counts.sum()
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    information = (joint[joint > 0] * np.log((joint / independent)[joint > 0])).sum()
    mean = joint.sum(axis=1) @ kl_divergence(counts, p, smoothing=0.0)
    np.testing.assert_allclose(mean, information)
    assert class_shares(np.zeros((3, 2))).tolist() == [0.0, 0.0]


@given(
    texts(weights=(0.0, 1.0, 2.0)),
    st.integers(2, 3),
    st.sampled_from([0.0, 0.5, 10.0]),
    st.sampled_from([1, 2]),
    st.sampled_from(["rckl", "kl"]),
    st.sampled_from([0, 1, 3, None]),
)
def test_the_best_equal_a_plain_ranking(text, order, smoothing, min_count, criterion, k):
    documents, n_words, y, weight = text
    corpus = corpus_of(documents, n_words)
    options = {"smoothing": smoothing, "min_count": min_count, "weight": weight}
    found = best_ngrams(corpus, y, k, order=order, criterion=criterion, **options)
    singles = plain_counts(documents, y, weight, 1)
    totals = np.array([[0.0] * (y.max(initial=-1) + 1), *(row[2] for row in singles.values())]).sum(axis=0)
    n_words_there = sum(any(row[2]) for row in singles.values())
    totals = np.where(totals > 0, totals + smoothing * n_words_there, 0.0)
    reference = totals / (totals.sum() or 1.0)
    word_kl = {words: plain_kl(row[2], reference, smoothing) for words, row in singles.items()}
    expected = {}
    for n in range(2, order + 1):
        for words, (total, _, classes) in plain_counts(documents, y, weight, n).items():
            if total >= min_count:
                redundancy = sum(word_kl[w,] for w in words) if criterion == "rckl" else 0.0
                expected[words] = plain_kl(classes, reference, smoothing) - redundancy
    rows = [tuple(w for w in row if w != OUTSIDE) for row in found.words.tolist()]
    assert len(set(rows)) == len(rows) == min(len(expected), len(expected) if k is None else k)
    np.testing.assert_allclose(found.score, [expected[words] for words in rows], atol=1e-13)
    np.testing.assert_allclose(found.score, sorted(expected.values(), reverse=True)[: len(rows)], atol=1e-13)
    # Among equals fewer words, then smaller codes.
    ranks = [(-score, len(words), words) for score, words in zip(found.score, rows, strict=True)]
    assert ranks == sorted(ranks)
    singly = best_words(corpus, y, k, **options)
    frequent = [words for words, row in singles.items() if row[0] >= min_count]
    best = sorted((word_kl[words] for words in frequent), reverse=True)[:k]
    np.testing.assert_allclose(singly.score, best, atol=1e-13)
    np.testing.assert_allclose(singly.score, [word_kl[tuple(w)] for w in singly.words.tolist()], atol=1e-13)


def test_ties_at_the_cut_do_not_depend_on_memory():
    """A third of 400 pairs occurs twice and has one score, the others another: of equals smaller codes come first."""
    pairs = np.array([(a, b) for a in range(20) for b in range(20)])
    twice = np.arange(400) % 3 == 0
    documents = generator(3).permutation(np.concatenate((pairs, pairs[twice])))
    # A pair is in one class; both classes have as many documents.
    y = (documents @ [20, 1]) % 2
    corpus = Corpus(np.arange(0, documents.size + 1, 2), documents.ravel(), 20)
    expected = [*pairs[twice].tolist(), *pairs[~twice].tolist()]
    for memory in (1, 10_000, 30_000, 2**28):
        for k in (7, 200, None):
            found = best_ngrams(corpus, y, k, criterion="kl", min_count=1, max_memory=memory)
            assert found.words.tolist() == expected[:k]


def test_a_redundant_pair_gives_way():
    """Either word of 'commit perjury' shows the class; of 'second hand' neither does."""
    vocabulary = ["commit", "perjury", "second", "hand", "the"]
    trials = [0, 1, 4, 2, 4, 3] * 60
    smoking = [2, 3, *[4] * 16] * 30
    corpus, y = corpus_of([trials, smoking, [2, 4, 3, 4, 4] * 30], 5), [0, 1, 0]
    scores = []
    for criterion in ("kl", "rckl"):
        found = best_ngrams(corpus, y, criterion=criterion, smoothing=1.0)
        scores.append(dict(zip(found.names(vocabulary), found.score, strict=True)))
    plain, compensated = scores
    assert plain["commit perjury"] > plain["second hand"]
    assert compensated["second hand"] > 0 > compensated["commit perjury"]


@given(texts(), st.integers(2, 3), st.data())
def test_matrix_equals_a_plain_count(text, order, data):
    documents, n_words, y, _ = text
    chosen = choose_ngrams(corpus_of(documents, n_words), y, 3, 6, order=order, min_count=1)
    token = st.integers(OUTSIDE, n_words - 1)
    others = data.draw(st.lists(st.lists(token, max_size=30), max_size=5))
    X = count_matrix(corpus_of(others, n_words), chosen)
    assert X.shape == (len(others), len(chosen))
    assert X.dtype == np.float64
    assert X.has_canonical_format
    assert (X.data > 0).all()
    rows = [tuple(w for w in row if w != OUTSIDE) for row in chosen.words.tolist()]
    expected = [[windows(document, len(words)).count(words) for words in rows] for document in others]
    np.testing.assert_array_equal(X.toarray(), np.reshape(expected, X.shape))


def test_training_counts_are_those_of_the_choice():
    corpus, y, weight = random_corpus()
    chosen = choose_ngrams(corpus, y, 20, 40, order=4, min_count=2, weight=weight)
    X = count_matrix(corpus, chosen).toarray()
    np.testing.assert_allclose(weight @ X, chosen.counts.total)
    np.testing.assert_allclose(weight @ (X > 0), chosen.counts.documents)
    for c in range(3):
        np.testing.assert_allclose((weight * (y == c)) @ X, chosen.counts.class_totals[:, c])
    lengths = chosen.lengths
    assert lengths[:20].tolist() == [1] * 20
    assert set(lengths[20:]) == {2, 3, 4}


def test_a_smaller_choice_is_the_beginning_of_a_larger():
    corpus, y, _ = random_corpus()
    few, many = choose_ngrams(corpus, y, 5, 7, min_count=1), choose_ngrams(corpus, y, 11, 30, min_count=1)
    assert few.words.tolist() == many.words[[*range(5), *range(11, 18)]].tolist()
    assert choose_ngrams(corpus, y, 5, 0, min_count=1).words.tolist() == many.words[:5, :1].tolist()


def random_corpus() -> tuple[Corpus, np.ndarray, np.ndarray]:
    rng = generator(2)
    offsets = np.concatenate(([0], np.cumsum(rng.integers(0, 60, 80))))
    codes = np.minimum(rng.geometric(0.15, offsets[-1]) - 2, 29).astype(np.int32)
    return Corpus(offsets, codes, 30), np.arange(80) % 3, rng.choice([0.5, 1.0, 2.0], 80)


@pytest.mark.parametrize("n", [2, 3])
def test_counts_equal_those_of_scikit_learn(n):
    corpus, y, _ = random_corpus()
    codes = np.where(corpus.codes < 0, 0, corpus.codes)
    corpus = Corpus(corpus.offsets, codes, corpus.n_words)
    names = [f"w{code:02}" for code in range(corpus.n_words)]
    documents = [" ".join(names[w] for w in codes[a:b]) for a, b in pairwise(corpus.offsets)]
    peer = CountVectorizer(ngram_range=(n, n), tokenizer=str.split, token_pattern=None, lowercase=False, min_df=2)
    theirs = peer.fit_transform(documents)
    chosen = best_ngrams(corpus, y, order=n, min_count=1, min_df=2)
    keep = np.flatnonzero(chosen.lengths == n)
    ours = dict(zip(np.array(chosen.names(names))[keep].tolist(), chosen.counts.total[keep], strict=True))
    columns = peer.get_feature_names_out()
    assert ours == dict(zip(columns, theirs.sum(axis=0).A1.astype(float), strict=True))
    X = count_matrix(corpus, chosen)[:, keep]
    order = np.argsort(np.array(chosen.names(names))[keep])
    assert (sp.csr_array(theirs) != X[:, order]).nnz == 0


@pytest.mark.parametrize("documents", [[], [[]], [[0]], [[], [0], []], [[OUTSIDE, OUTSIDE]], [[0, OUTSIDE, 0]]])
def test_texts_without_pairs(documents):
    corpus, y = corpus_of(documents, 1), np.arange(len(documents))
    assert not list(ngram_counts(corpus, y, order=3))
    chosen = choose_ngrams(corpus, y, min_count=1)
    assert chosen.lengths.tolist() == ([1] if any(0 in d for d in documents) else [])
    assert count_matrix(corpus, chosen).shape == (len(documents), len(chosen))
    assert best_per_class(chosen, ["word"]) == [[] for _ in documents]


def test_one_document_of_one_word():
    corpus = corpus_of([[0] * 5], 1)
    chosen = best_ngrams(corpus, [0], order=4, min_count=1)
    assert chosen.words.tolist() == [[0, 0, -1, -1], [0, 0, 0, -1], [0, 0, 0, 0]]
    assert chosen.counts.total.tolist() == [4, 3, 2]
    assert chosen.score.tolist() == [0, 0, 0]
    assert count_matrix(corpus, chosen).toarray().tolist() == [[4, 3, 2]]


def test_no_vocabulary():
    corpus = Corpus([0, 2], np.array([OUTSIDE, OUTSIDE]), 0)
    chosen = choose_ngrams(corpus, [0])
    assert len(chosen) == 0
    assert count_matrix(corpus, chosen).shape == (1, 0)


def test_codes_without_a_sign_and_mapped_files(tmp_path):
    codes = np.array([0, 1, 2**32 - 1, 1, 0, 1], dtype=np.uint32)
    codes.tofile(tmp_path / "codes")
    mapped = np.memmap(tmp_path / "codes", dtype=np.uint32, mode="r")
    signed = corpus_of([[0, 1, OUTSIDE, 1], [0, 1]], 2)
    for given_codes in (codes, mapped):
        corpus = Corpus(signed.offsets, given_codes, 2)
        assert np.shares_memory(corpus.codes, given_codes)
        assert as_dict(list(ngram_counts(corpus, [0, 1]))) == {(0, 1): (2, 2, [1, 1])}


def test_the_best_of_each_class_in_words():
    """In a small class, a share above its own counts and not the largest."""
    words = np.array([[0, OUTSIDE], [0, 1], [1, 0], [1, 1]], dtype=np.int32)
    classes = np.array([[9.0, 1.0, 0.0], [90.0, 10.0, 0.0], [60.0, 40.0, 0.0], [0.0, 5.0, 0.0]])
    counts = NgramCounts(words, classes.sum(axis=1), classes.sum(axis=1), classes)
    for smoothing in (0.0, 1e-3):
        chosen = ChosenNgrams(counts, np.arange(4.0)[::-1], np.array([0.8, 0.2, 0.0]), smoothing, 2)
        assert chosen.owner.tolist() == [0, 0, 1, 1]
        assert best_per_class(chosen, ["a", "b"]) == [["a b"], ["b a", "b b"], []]
        assert best_per_class(chosen, ["a", "b"], 1, least_words=1) == [["a"], ["b a"], []]
    with pytest.raises(TamisError, match="2 words, the vocabulary has 3"):
        chosen.names(["a", "b", "c"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 2], [0, 1], 1), "got 0 to 1"),
        (([0, 2], [0, -2], 1), "got -2 to 0"),
        (([0, 1], [0, 0], 1), "number of tokens, 2"),
        (([0, 2, 1, 2], [0, 0], 1), "ascend"),
        (([1, 2], [0, 0], 1), "from 0"),
        (([], [], 1), "ascend"),
        (([0, 1], [0.5], 1), "whole numbers"),
        (([0, 1], [[0]], 1), "one dimension"),
        (([0, 1], [2**40], 1), "codes must be"),
        (([0, 0], [], -1), "n_words"),
        (([0, 0], [], 2**31), "at most"),
    ],
)
def test_a_corpus_that_is_none_is_refused(arguments, message):
    offsets, codes, n_words = arguments
    with pytest.raises(TamisError, match=message):
        Corpus(np.array(offsets), np.array(codes), n_words)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": [0]}, "y must have"),
        ({"y": [0.0, 1.0]}, "y must have"),
        ({"y": [0, -1]}, "begin with 0"),
        ({"weight": [1.0]}, "2 finite numbers"),
        ({"weight": [1.0, np.nan]}, "2 finite numbers"),
        ({"weight": [1.0, -1.0]}, "none below 0"),
        ({"order": 1}, "order must be"),
        ({"min_count": 0}, "min_count must be above 0"),
        ({"min_df": -1}, "min_df must be"),
        ({"min_count": np.nan}, "min_count must be"),
        ({"max_memory": 0}, "max_memory must be"),
        ({"smoothing": -1.0}, "smoothing must be"),
        ({"smoothing": np.inf}, "smoothing must be"),
        ({"criterion": "ig"}, "'rckl' or 'kl'"),
        ({"k": -1}, "number of n-grams"),
    ],
)
def test_bad_arguments_are_refused(options, message):
    corpus = corpus_of([[0, 0], [0]], 1)
    with pytest.raises(TamisError, match=message):
        best_ngrams(corpus, **({"y": [0, 1]} | options))


def test_bad_arguments_for_words_and_matrices_are_refused():
    corpus = corpus_of([[0, 0], [0]], 1)
    with pytest.raises(TamisError, match="min_count must be above 0"):
        best_words(corpus, [0, 1], min_count=0)
    chosen = choose_ngrams(corpus, [0, 1], min_count=1)
    with pytest.raises(TamisError, match="1 words, the corpus has 2"):
        count_matrix(corpus_of([[1]], 2), chosen)
    twice = NgramCounts.joined([chosen.counts, chosen.counts])
    with pytest.raises(TamisError, match="twice"):
        count_matrix(corpus, ChosenNgrams(twice, np.zeros(4), chosen.reference, 10.0, 1))
    with pytest.raises(TamisError, match="do not fit"):
        kl_divergence(np.ones((2, 3)), np.ones(2))


def test_kernels_declare_the_types_they_are_called_with():
    corpus, y, weight = random_corpus()
    for memory in (1, 2**20):
        chosen = choose_ngrams(corpus, y, 3, 3, order=3, weight=weight, max_memory=memory)
    count_matrix(corpus, chosen)
    declared = [each for module in (ngrams, kl) for each in vars(module).values() if isinstance(each, Kernel)]
    assert len(declared) == 8
    for one in declared:
        used = set(one._ready)
        one.warm()
        assert used <= one._ready
        assert len(one._ready) == len(one.signatures)
