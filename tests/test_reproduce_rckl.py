"""The study of words and bigrams: its folds against plain models, the printed tables, the command."""

import json

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.stats import ttest_rel

from study_figures import described
from tamis.classify.nb import NaiveBayes
from tamis.compose.recipe import parse
from tamis.data.dataset import Dataset
from tamis.data.text_columns import with_words
from tamis.reproduce import rckl
from tamis.reproduce.framework.share import run_shared
from tamis.reproduce.framework.study import Task
from tamis.reproduce.rckl import STUDY, _Cell, bayes, counted, documents, machine, mark
from tamis.text.rckl import best_ngrams, best_words

CELLS = [_Cell(None, 0), _Cell(6, 0), _Cell(None, 8), _Cell(4, 8), _Cell(0, 8, "kl"), _Cell(0, 1000, "kl")]


def texts(seed: int, n: int = 90) -> Dataset:
    """Three classes that share their words; the pair "second hand" is typical of the first."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 3
    rows = []
    for label in y:
        words = [f"w{random.integers(4) + (3 * label if random.random() < 0.4 else 12)}x" for _ in range(15)]
        words += ["second", "hand"] if label == 0 else ["hand", "and", "second"]
        rows.append(" ".join(words))
    frame = pl.DataFrame({"text": rows})
    return with_words(Dataset(frame, y, np.array(["text"]), "texts", texts=("text",)), ["text"])


@pytest.fixture(scope="module")
def fold():
    data = texts(0)
    train, test = np.arange(60), np.arange(60, 90)
    return data, train, test, counted(documents(data.X), data.y, train, test, 2)


def joined(fold, part: str, cell: _Cell):
    own = getattr(fold, part)
    return sp.csr_array(sp.hstack([own["words"][:, : cell.words], own[cell.by][:, : cell.bigrams]]))


def test_columns_are_the_best_words_and_bigrams_of_the_training_documents(fold) -> None:
    data, train, _, found = fold
    corpus = documents(data.X[train])
    names = data.X.names
    for block, chosen in {
        "words": best_words(corpus, data.y[train], min_count=2),
        "rckl": best_ngrams(corpus, data.y[train], min_count=2),
        "kl": best_ngrams(corpus, data.y[train], criterion="kl", min_count=2),
    }.items():
        total = np.asarray(found.train[block].sum(axis=0)).ravel()
        assert total.size == len(chosen) > 10
        np.testing.assert_array_equal(total, chosen.counts.total, block)
        if block == "rckl":
            assert chosen.names(names)[0] in ("second hand", "hand and", "and second")


def test_test_documents_have_no_part_in_the_columns(fold) -> None:
    data, train, test, found = fold
    other = counted(documents(data.X), data.y, train, test[:3], 2)
    assert (other.train["rckl"] != found.train["rckl"]).nnz == 0
    assert (other.test["words"] != found.test["words"][:3]).nnz == 0


def test_naive_bayes_is_that_of_the_part(fold) -> None:
    found = fold[3]
    for cell, accuracy in zip(CELLS, bayes(found, CELLS), strict=True):
        model = NaiveBayes("multinomial").fit(joined(found, "train", cell), found.y_train)
        assert accuracy == np.mean(model.predict(joined(found, "test", cell)) == found.y_test), cell


@pytest.mark.parametrize("cell", [_Cell(6, 0), _Cell(4, 8), _Cell(0, 8, "kl")], ids=str)
def test_the_machine_is_the_recipe(fold, cell) -> None:
    data, train, test, found = fold
    bigrams = f"bigrams({cell.words}, {cell.bigrams}, criterion={cell.by}, min_count=2)"
    model = parse(f"{bigrams} | tfidf | svm(linear, solver=liblinear, tol=0.1)").build()
    predicted = model.fit(data.X[train], data.y[train]).predict(data.X[test])
    assert machine(found, [cell]) == [np.mean(predicted == data.y[test])]


def test_all_numbers_are_one_word() -> None:
    frame = pl.DataFrame({"text": ["in 1999 and 2005", "b12 in 1999"]})
    data = with_words(Dataset(frame, np.array([0, 1]), np.array(["text"]), texts=("text",)), ["text"])
    corpus, names = documents(data.X), np.array(data.X.names)
    assert names[corpus.codes].tolist() == ["in", "1999", "and", "1999", "b12", "in", "1999"]
    assert corpus.offsets.tolist() == [0, 4, 7]


def test_marks_are_those_of_a_paired_t_test() -> None:
    random = np.random.default_rng(0)
    seen = set()
    for shift in (-0.03, -0.01, 0.0, 0.005, 0.03):
        first, second = random.normal(0.9 + shift, 0.01, 10), random.normal(0.9, 0.01, 10)
        t, p = ttest_rel(first, second)
        expected = "=" if p >= 0.05 else "+" if t > 0 else "-"
        assert mark(first, second) == expected
        seen.add(expected)
    assert seen == {"+", "-", "="}
    assert mark(np.ones(3), np.ones(3)) == "="
    assert mark(np.ones(3), np.zeros(3)) == "+"


@pytest.mark.parametrize("grid", rckl._GRIDS.values(), ids=rckl._GRIDS)
def test_the_printed_summary_is_the_best_of_the_printed_tables(grid) -> None:
    for kind in ("NB", "SVM"):
        table = np.array(grid.mix[kind], dtype=float)
        assert table.shape == (len(grid.words), len(grid.bigrams))
        assert len(grid.only[kind]) == len(grid.alone)
        best = [np.nanmax(table[:, 0]), np.nanmax(np.array(grid.only[kind], dtype=float)), np.nanmax(table[:, 1:])]
        # Table 7 has 91.42 where Table 5 has 91.41.
        np.testing.assert_allclose([float(one) for one in grid.summary[kind][:3]], best, atol=0.011)
    assert set(grid.cells("SVM")) <= set(grid.cells("NB"))


def test_tables_show_printed_and_own_figures(monkeypatch) -> None:
    small = rckl._NEWS._replace(min_count=2)
    seen = []
    task = Task(texts(1), progress=lambda done, total: seen.append((done, total)))
    found = {("20newsgroups", kind): rckl._measure(kind, small, task) for kind in ("NB", "SVM")}
    assert seen == [(fold, 10) for fold in range(1, 11)] * 2
    assert json.loads(json.dumps(list(found.values()), allow_nan=False))[0]["rows"] == 90
    mixed, alone, summary = STUDY.tables(found)
    assert all(len(line) == len(table.columns) for table in (mixed, alone, summary) for line in table.lines)
    assert mixed.lines[0] == ["all words, NB, printed", "89.16", "89.20", "89.14", "89.31", "89.52", "89.41", "89.52"]
    accuracy = found["20newsgroups", "NB"]["accuracy"]
    assert mixed.lines[1][5] == f"{100 * np.mean(accuracy['all + 10000 rckl']):.2f}"
    assert [cell is None for cell in mixed.lines[3][1:]] == [False, True, True, True, False, True, True]
    assert alone.lines[2][:4] == ["SVM, printed", None, None, "75.60"]
    drawn = described(STUDY, found)
    assert list(drawn) == ["20newsgroups_NB", "20newsgroups_SVM"]
    assert drawn["20newsgroups_NB"]["all words, printed"]["y"][:2] == [89.16, 89.20]
    assert f"{drawn['20newsgroups_NB']['all words']['y'][4]:.2f}" == mixed.lines[1][5]
    assert summary.lines[0] == ["20newsgroups, NB, printed", "89.72", "87.14", "89.92", "=", "+"]
    assert summary.lines[1][1].endswith(("(all)", "K)"))
    assert STUDY.tables({}) == []
    assert STUDY.brief(found["20newsgroups", "NB"]).startswith("best ")


def test_the_command_runs_on_texts(home, tamis, monkeypatch, tmp_path) -> None:
    folder = home / "newsgroups20"
    folder.mkdir()
    data = texts(2, 60)
    names = np.array(data.X.names)
    offsets, codes = data.X.sequences()
    lines = [
        f"c{label}\t{' '.join(names[codes[a:b]])}"
        for label, a, b in zip(data.y, offsets[:-1], offsets[1:], strict=True)
    ]
    for part, own in (("train", lines[:30]), ("test", lines[30:])):
        text = "\n".join(["Category\tText", "d\tstring", "class\t", *own])
        (folder / f"20newsgroups-{part}.tab").write_text(text + "\n")
    monkeypatch.chdir(tmp_path)
    code, out, error = tamis("reproduce", "rckl", "--jobs", 1, "--json")
    assert code == 0, error
    facts = json.loads(out)
    assert [piece["found"] is None for piece in facts["pieces"]] == [False, False, True, True]
    assert facts["pieces"][0]["found"]["rows"] == 60
    assert "Not available: webkb4 (the WebKB project" in " ".join(facts["remarks"])
    assert [line.split(":")[0] for line in error.splitlines() if "/4" in line] == [
        "1/4 20newsgroups",
        "2/4 20newsgroups",
    ]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_shared_tasks_keep_their_order(n_jobs) -> None:
    seen = []
    task = Task(n_jobs=n_jobs, progress=lambda done, total: seen.append((done, total)))
    assert run_shared(pow, [(2, 3), (3, 2), (5, 1)], task) == [8, 9, 5]
    assert seen == [(done, 3) for done in ((1, 2, 3) if n_jobs == 1 else (2, 3))]
