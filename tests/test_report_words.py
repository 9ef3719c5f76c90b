"""The words of a class in the report of a model on text: chosen by hand, in their context, and shown as text."""

import json
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tamis as library
from browser import chromium, needs_chromium, opened
from sample_facts import HOSTILE, sample
from tamis.compose.recipe import completed_for, parse, recipe
from tamis.data.column_sense import sense
from tamis.data.dataset import Dataset
from tamis.data.word_counts import Vocabulary, WordCounts
from tamis.reporting import words as entry
from tamis.reporting.contexts import context
from tamis.reporting.facts import data_facts, validated_facts
from tamis.reporting.html import page
from tamis.reporting.markdown import text
from tamis.reporting.terms import terms_of, words_in
from tamis.reporting.words import words_of_model
from tamis.validation.whole import validate

TEXTS = [
    "The gene was expressed in liver cells",
    "A gene, expressed! And the liver.",
    "the gene of a star",
    "Stars and planets: the telescope saw a star",
    "the star of the telescope",
]
CLASSES = ["bio", "bio", "bio", "sky", "sky"]


def dataset(frame: pl.DataFrame, y: list[str], *texts: str) -> Dataset:
    return sense(Dataset.of(frame, y), kinds=dict.fromkeys(texts, "text"))


def tiny() -> Dataset:
    return dataset(pl.DataFrame({"body": TEXTS}), CLASSES, "body")


def corpus(n_classes: int, sizes: Callable[[int], int] = lambda c: 6, labels: Any = None) -> Dataset:
    """Documents whose classes have words of their own, between words that all have."""
    labels = labels or [f"class {c:02d}" for c in range(n_classes)]
    own = [(c, i) for c in range(n_classes) for i in range(sizes(c))]
    texts = [" ".join([*(f"all{j}" for j in range(9)), f"own{c:02d} again{c:02d}", f"all{i}"]) for c, i in own]
    return dataset(pl.DataFrame({"body": texts}), [labels[c] for c, _ in own], "body")


def entry_of(recipe_text: str, data: Dataset) -> dict[str, Any]:
    found = words_of_model(recipe(recipe_text).fit(data.X, data.y), data)
    assert found is not None
    json.dumps(found, allow_nan=False)
    return found


def of_class(found: dict[str, Any], label: str) -> dict[str, dict[str, Any]]:
    (group,) = (one for one in found["classes"] if one["class"] == label)
    return {one["word"]: one for one in group["words"]}


def shown_in(snippets: list[dict[str, Any]]) -> list[tuple[int, str, str, str]]:
    return [(one["row"], one["before"], one["found"], one["after"]) for one in snippets]


# ---------------------------------------------------------------- which words


def test_the_words_of_a_class_by_hand() -> None:
    found = entry_of("words(2) | nb(multinomial)", tiny())
    assert (found["n"], found["note"], found["order"], found["more"]) == (8, "", True, 0)
    assert [(one["class"], one["documents"]) for one in found["classes"]] == [("bio", 3), ("sky", 2)]
    bio, sky = of_class(found, "bio"), of_class(found, "sky")
    # "the" is in all documents and speaks for none; "of" and "and" are in one of each class, of which sky is smaller.
    assert list(bio) == ["gene", "expressed", "liver"]
    assert list(sky) == ["telescope", "star", "and", "of"]
    # All three of bio have a gene, and none of sky.
    assert bio["gene"]["log_odds"] == pytest.approx(log(3.5 / 0.5) - log(0.5 / 2.5), abs=1e-6)
    assert (bio["gene"]["inside"], bio["gene"]["outside"]) == (1.0, 0.0)
    # One of bio has a star, and both of sky.
    assert sky["star"]["log_odds"] == pytest.approx(log(2.5 / 0.5) - log(1.5 / 2.5), abs=1e-6)
    assert sky["star"]["outside"] == pytest.approx(1 / 3, abs=1e-6)


def test_the_order_is_that_of_counting() -> None:
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b", "c"], 80)
    texts = [" ".join(f"word{j}" for j in range(30) if rng.random() < 0.2 + 0.3 * (j % 3 == "abc".index(k))) for k in y]
    found = entry_of("words(1) | nb(multinomial)", dataset(pl.DataFrame({"body": texts}), y.tolist(), "body"))
    for group in found["classes"]:
        odds = {}
        for word in {word for one in texts for word in one.split()}:
            inside = [word in one.split() for one, k in zip(texts, y, strict=True) if k == group["class"]]
            outside = [word in one.split() for one, k in zip(texts, y, strict=True) if k != group["class"]]
            (a, n), (b, m) = ((sum(side), len(side)) for side in (inside, outside))
            odds[word] = log((a + 0.5) / (n - a + 0.5)) - log((b + 0.5) / (m - b + 0.5))
            odds[word] = odds[word] if a / n > b / m else -1.0
        expected = sorted((value for value in odds.values() if value > 0), reverse=True)[:10]
        assert [one["log_odds"] for one in group["words"]] == pytest.approx(expected, abs=1e-6)
        assert all(one["log_odds"] == pytest.approx(odds[one["word"]], abs=1e-6) for one in group["words"])


def test_only_words_that_the_model_uses() -> None:
    data = corpus(3)
    found = entry_of("words(1) | chi2(2) | nb(multinomial)", data)
    assert found["n"] == 2
    assert sum(len(group["words"]) for group in found["classes"]) == 2


def test_a_committee_uses_the_words_of_its_members() -> None:
    data = corpus(3)
    members = [recipe(f"words(1) | {part} | nb(multinomial)").fit(data.X, data.y) for part in ("chi2(2)", "chi2(4)")]
    both = {term.name for member in members for term in terms_of(member, data.X, data.X.names).terms}
    blend = recipe("blend(words(1) | chi2(2) | nb(multinomial), words(1) | chi2(4) | nb(multinomial))")
    found = terms_of(blend.fit(data.X, data.y), data.X, data.X.names)
    names = [term.name for term in found.terms]
    assert len(names) == len(set(names)) == found.counts.shape[1]
    assert set(names) == both
    columns = [data.X.names.index(name) for name in names]
    assert np.array_equal(found.counts.toarray(), data.X[:, columns].toarray())


def test_the_largest_of_many_classes_are_shown() -> None:
    data = corpus(15, sizes=lambda c: 3 if c in (2, 5, 7) else 5)
    found = entry_of("words(1) | nb(multinomial)", data)
    assert found["more"] == 3
    assert [one["class"] for one in found["classes"]] == [f"class {c:02d}" for c in range(15) if c not in (2, 5, 7)]
    assert [next(iter(of_class(found, f"class {c:02d}"))) for c in (0, 14)] == ["again00", "again14"]
    assert all(len(one["words"]) <= 10 for one in found["classes"])


def test_numbers_and_levels_are_no_words() -> None:
    frame = pl.DataFrame({"age": [1.0, 2, 3, 4, 5], "body": TEXTS, "colour": ["red", "red", "red", "blue", "blue"]})
    data = dataset(frame, CLASSES, "body")
    named = {word for one in ("words(1)", "bigrams(9, 3, min_count=1)") for word in _named(one, data)}
    assert named
    assert all(name.startswith("body: ") for name in named)
    # The colour is the class, and of equal columns the first is selected.
    alone = recipe("words(1) | cc(1) | nb").fit(data.X, data.y)
    assert data.feature_names[alone[0].origins_[alone[1].get_support()]].tolist() == ["colour=blue"]
    assert words_of_model(alone, data) is None


def _named(front: str, data: Dataset) -> set[str]:
    found = entry_of(f"{front} | nb(multinomial)", data)
    return {one["word"] for group in found["classes"] for one in group["words"]}


def test_plain_numbers_have_no_words() -> None:
    data = Dataset.of(np.random.default_rng(0).random((30, 4)), ["a", "b"] * 15)
    facts = validated_facts(validate(recipe("cc(2) | knn(3)"), data, folds=3), data)
    assert facts["words"] is None
    assert 'id="words"' not in page(facts)
    assert "## Words" not in text(facts)
    assert data_facts(tiny())["words"] is None
    counts = tiny().X
    assert words_of_model(None, Dataset(counts, np.linspace(0, 1, 5), np.array(counts.names))) is None
    assert words_of_model(None, Dataset(WordCounts(counts), np.array(CLASSES), np.array(counts.names))) is None


# ---------------------------------------------------------------- where they stand


def test_documents_of_the_class_come_first() -> None:
    found = entry_of("words(2) | nb(multinomial)", tiny())
    star = of_class(found, "sky")["star"]["snippets"]
    assert shown_in(star) == [
        (4, "stars and planets the telescope saw", "star", ""),
        (5, "the", "star", "of the telescope"),
        (3, "the gene of", "star", ""),
    ]
    assert [one["class"] for one in star] == ["sky", "sky", "bio"]


def test_six_words_to_each_side() -> None:
    texts = [" ".join(f"w{i}" for i in range(20)), "w3 w7", "w3 w9"]
    counts = dataset(pl.DataFrame({"body": texts}), ["a", "b", "b"], "body").X
    term = next(one for one in words_in(counts, counts.names, None).terms if one.name == "w9")
    assert context(term, counts, 0) == {
        "before": "\u2026 w3 w4 w5 w6 w7 w8",
        "found": "w9",
        "after": "w10 w11 w12 w13 w14 w15 \u2026",
    }
    assert context(term, counts, 1) is None
    # The rows of a part of the documents are those documents.
    assert context(term, counts[[2, 0]], 0) == {"before": "w3", "found": "w9", "after": ""}


def test_the_same_context_is_shown_once() -> None:
    texts = ["gene here"] * 4 + ["gene there", "star"]
    found = entry_of("words(1) | nb(multinomial)", dataset(pl.DataFrame({"b": texts}), ["bio"] * 5 + ["sky"], "b"))
    gene = of_class(found, "bio")["gene"]["snippets"]
    assert shown_in(gene) == [(1, "", "gene", "here"), (5, "", "gene", "there")]


@pytest.mark.parametrize("front", ["bigrams(4, 4, min_count=2)", "words(2, ngrams=2)"])
def test_runs_of_words_in_context(front: str) -> None:
    texts = ["a big brother is here", "my brother is big", "no big brother there", "big news for one brother"]
    data = dataset(pl.DataFrame({"body": texts}), ["tv", "home", "tv", "home"], "body")
    run = of_class(entry_of(f"{front} | nb(multinomial)", data), "tv")["big brother"]
    assert (run["inside"], run["outside"]) == (1.0, 0.0)
    assert shown_in(run["snippets"]) == [(1, "", "big brother", "is here"), (3, "no", "big brother", "there")]


def test_stop_words_may_stand_within_a_run() -> None:
    texts = ["loss of memory and sleep", "loss of the memory", "memory of loss", "sleep and memory"]
    data = dataset(pl.DataFrame({"body": texts}), ["ill", "ill", "well", "well"], "body")
    run = of_class(entry_of('words(2, ngrams=2, stop="english") | nb(multinomial)', data), "ill")["loss memory"]
    assert shown_in(run["snippets"]) == [
        (1, "", "loss of memory", "and sleep"),
        (2, "", "loss of the memory", ""),
    ]


def test_a_stem_is_shown_as_it_stands() -> None:
    pytest.importorskip("Stemmer")
    texts = ["it connects here", "a connection", "star here", "two stars"]
    data = dataset(pl.DataFrame({"body": texts}), ["a", "a", "b", "b"], "body")
    stem = of_class(entry_of('words(1, stem="porter") | nb(multinomial)', data), "a")["connect"]
    assert stem["inside"] == 1.0
    assert shown_in(stem["snippets"]) == [(1, "it", "connects", "here"), (2, "", "connection", "")]


def test_a_context_stays_within_its_text() -> None:
    frame = pl.DataFrame(
        {"title": ["big gene", "small star", "gene", "star"], "body": ["gene cell"] * 2 + ["star"] * 2}
    )
    data = dataset(frame, ["bio", "sky", "bio", "sky"], "title", "body")
    found = of_class(entry_of("words(1, ngrams=2) | nb(multinomial)", data), "bio")
    assert shown_in(found["title: gene"]["snippets"]) == [(1, "big", "gene", ""), (3, "", "gene", "")]
    # The title ends with a gene and the body begins with one, and this is no run.
    assert "title: gene gene" not in found
    assert shown_in(found["title: big gene"]["snippets"]) == [(1, "", "big gene", "")]
    facts = validated_facts(validate(recipe("words(1) | nb(multinomial)"), data, folds=2), data)
    assert "texts: <bdi>title</bdi>, <bdi>body</bdi>; 7 words)" in page(facts)


def test_without_the_order_there_are_no_documents() -> None:
    data = tiny()
    known = data.X.vocabulary
    bag = Vocabulary(known.names, known.n_numbers, known.words, np.empty(0), np.empty(0))
    unordered = Dataset(WordCounts.of(data.X, bag), data.y, data.feature_names)
    facts = validated_facts(validate(recipe("words(2) | nb(multinomial)"), unordered, folds=2), unordered)
    found = facts["words"]
    assert not found["order"]
    assert next(iter(of_class(found, "bio"))) == "gene"
    assert not [one for group in found["classes"] for word in group["words"] for one in word["snippets"]]
    assert "The order of the words was not kept" in page(facts)
    assert "<mark>" not in page(facts)


# ---------------------------------------------------------------- of a validation and of a search


def test_a_model_that_is_not_fitted_again_has_the_words_of_its_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    data = corpus(3)
    result = validate(recipe("words(1) | chi2(4) | nb(multinomial)"), data, folds=3)
    assert validated_facts(result, data)["words"]["note"] == ""
    monkeypatch.setattr(entry, "_SECONDS", -1.0)
    found = validated_facts(result, data)["words"]
    assert found["note"].startswith("single words that most folds use, as fitting the model again would take")
    assert found["n"] == 4
    monkeypatch.setattr(entry, "_SECONDS", 20.0)
    monkeypatch.setattr(entry, "recipe", _refuse)
    facts = validated_facts(result, data)
    assert "could not be fitted again (no <such> model)" in facts["words"]["note"]
    assert "no &lt;such&gt; model" in page(facts)
    assert "no &lt;such&gt; model" in text(facts)


def _refuse(_: str) -> Any:
    raise ValueError("no <such> model\nat all")


def test_a_search_notes_the_words(tmp_path: Path) -> None:
    data = corpus(2, sizes=lambda c: 15)
    run = tmp_path / "a.tamis-run"
    options: Any = {"only": ["chi2(2) | nb(multinomial)"], "engine": "serial", "folds": 2, "inner_folds": 2}
    library.mine(data, run=run, trials=1, **options)
    report = library.report(run)
    assert [group["class"] for group in report.facts["words"]["classes"]] == ["class 00", "class 01"]
    assert "again00" in of_class(report.facts["words"], "class 00")
    assert "| `again00` |" in report.to_markdown()


def test_the_command_writes_the_panel(tmp_path: Path, tamis: Callable[..., tuple[int, str, str]]) -> None:
    path, out = tmp_path / "reviews.csv", tmp_path / "out.html"
    rows = [("good", f"a fine day {i}1") for i in range(6)] + [("bad", f"an awful day {i}1") for i in range(6)]
    pl.DataFrame(rows, schema=["stars", "body"], orient="row").write_csv(path)
    model = "chi2(5) | nb(multinomial)"
    status, _, error = tamis(
        "validate", path, model, "--target", "stars", "--text", "body", "--folds", "3", "--report", out
    )
    assert status == 0, error
    shown = out.read_text(encoding="utf-8")
    assert '<section id="words"' in shown
    assert "<mark>awful</mark> day" in shown
    assert "(texts: <bdi>body</bdi>; " in shown


# ---------------------------------------------------------------- shown


class Elements(HTMLParser):
    """How often each kind of element is on a page."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.found: dict[str, int] = {}
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found[tag] = self.found.get(tag, 0) + 1


def facts_of(data: Dataset) -> dict[str, Any]:
    """The facts of a run with the words of a data set."""
    model = completed_for(data, parse("nb(multinomial)")).build().fit(data.X, data.y)
    return {**sample(n_features=30), "words": words_of_model(model, data)}


def test_old_facts_have_no_panel() -> None:
    facts = sample(n_features=30)
    assert "words" not in facts
    assert 'id="words"' not in page(facts)
    assert "## Words" not in text(facts)


def test_hostile_names_are_text() -> None:
    n = len(HOSTILE)
    plain = facts_of(corpus(n))
    hostile = facts_of(corpus(n, labels=[f"{name} {c}" for c, name in enumerate(HOSTILE)]))
    for group in hostile["words"]["classes"]:
        for one, name in zip(group["words"], HOSTILE, strict=False):
            one["word"] = name
            for snippet in one["snippets"]:
                snippet |= dict.fromkeys(("before", "found", "after"), name)
    hostile["words"]["note"] = HOSTILE[0]
    hostile["data"]["texts"] = {"columns": list(HOSTILE), "words": 3, "numbers": 0, "levels": 0}
    drawn = page(hostile)
    expected, found = Elements(page(plain)).found, Elements(drawn).found
    assert {tag: count for tag, count in found.items() if tag not in ("bdi", "i")} == {
        tag: count for tag, count in expected.items() if tag not in ("bdi", "i")
    }
    assert "<mark>&lt;script&gt;window.__hit=1&lt;/script&gt;</mark>" in drawn
    written = text(hostile).partition("## Words")[2].partition("\n## ")[0]
    assert "<script>" not in written
    assert written.count("\n|") == sum(2 + len(group["words"]) for group in hostile["words"]["classes"])


def test_the_panel_stays_small() -> None:
    """Words as long as words can be, of letters of three bytes each."""
    rng = np.random.default_rng(0)
    letters = [chr(code) for code in range(0x4E00, 0x4E80)]
    words = ["".join(rng.choice(letters, 64)) for _ in range(400)]
    y = [f"class {i % 20:02d}" for i in range(200)]
    texts = [" ".join(rng.choice(words, 40)) for _ in y]
    facts = facts_of(dataset(pl.DataFrame({"body": texts}), y, "body"))
    assert len(facts["words"]["classes"]) == 12
    size = len(page(facts).encode()) - len(page({**facts, "words": None}).encode())
    assert 10_000 < size < 150_000
    usual = facts_of(corpus(20))
    assert all(len(one["snippets"]) == 3 for group in usual["words"]["classes"] for one in group["words"])
    assert len(page(usual).encode()) - len(page({**usual, "words": None}).encode()) < 100_000


def test_the_text_has_a_table_for_each_class() -> None:
    found = text(facts_of(corpus(13)))
    panel = found.partition("## Words")[2].partition("\n## ")[0]
    assert panel.count("| word") == 12
    assert "`class 00`, 6 documents:" in panel
    assert "1 more class is not shown." in panel
    assert panel.count("again00") == 1
    assert "|  100 % |     0 % |     7.54 |" in panel  # log(6.5 / 0.5) - log(0.5 / 72.5)


def test_the_data_are_texts_and_words() -> None:
    frame = pl.DataFrame({"age": [1.0, 2, 3, 4, 5], "body": TEXTS, "colour": ["red", "red", "red", "blue", "blue"]})
    data = dataset(frame, CLASSES, "body")
    facts = data_facts(data)
    n = data.n_features - 3
    assert facts["data"]["texts"] == {"columns": ["body"], "words": n, "numbers": 1, "levels": 2}
    assert f"{n + 3} (texts: <bdi>body</bdi>; {n} words, 1 numeric, 2 levels of nominal columns)" in page(facts)
    assert f"(texts: `body`; {n} words, 1 numeric, 2 levels of nominal columns; sparse float32)" in text(facts)
    table = facts["features"]["quality"]["table"]
    kinds = dict(zip(table["name"], table["kind"], strict=True))
    assert (kinds["age"], kinds["body: gene"]) == ("numeric", "word")
    assert data_facts(Dataset.of(np.eye(4), ["a", "b"] * 2))["data"]["texts"] is None


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    pytest.importorskip("playwright", reason="playwright is absent: pip install playwright")
    with chromium() as found:
        yield found


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_panel_can_be_read_by_all(browser: Any, tmp_path: Path, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python", reason="axe-core is absent: pip install axe-playwright-python")
    file = tmp_path / "report.html"
    file.write_text(page(facts_of(corpus(3))), encoding="utf-8")
    # The checker needs to run in the page, which the policy would forbid.
    with opened(browser, file, color_scheme=scheme, bypass_csp=True) as seen:
        seen.page.set_viewport_size({"width": 400, "height": 800})
        word = seen.page.locator("#words summary").first
        word.focus()
        assert not seen.page.locator("#words mark").first.is_visible()
        seen.page.keyboard.press("Enter")
        assert seen.page.locator("#words mark").first.is_visible()
        assert seen.page.locator("#words mark").first.inner_text() == word.inner_text()
        seen.page.keyboard.press("Tab")
        focused = "document.activeElement === document.querySelectorAll('#words summary')[1]"
        assert seen.page.evaluate(focused)
        seen.page.locator("#words details").evaluate_all("all => all.forEach(e => { e.open = true; })")
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 400
        wide = "all => all.filter(e => e.getBoundingClientRect().right > innerWidth).length"
        assert seen.page.locator("#words *").evaluate_all(wide) == 0
        seen.page.evaluate(Path(axe.__file__).with_name("axe.min.js").read_text(encoding="utf-8"))
        found = seen.page.evaluate("axe.run('#words', {resultTypes: ['violations']})")
        assert found["passes"]
        assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found["violations"]] == []
        assert (seen.errors, seen.requests) == ([], [file.as_uri()])
