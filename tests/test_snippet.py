"""What a notebook shows of a result: the answer first, in HTML without scripts and with every name escaped."""

import re
from copy import copy
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn import config_context
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, f1_score, log_loss

import tamis
from small_results import HOSTILE, data, results
from tamis.reporting.figure_description import Axis, Bars, Figure, Heat, Panel, Series
from tamis.reporting.svg_drawing import svg
from tamis.validation import learning_curve, validate_many

KINDS = ("one", "many", "nested", "learning", "permutation", "mined")
SVG = "{http://www.w3.org/2000/svg}"


def shown(result: object) -> str:
    """The text of a result's HTML, which must be well-formed."""
    return "".join(ElementTree.fromstring(result._repr_html_()).itertext())  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", KINDS)
def test_the_html_is_small_well_formed_and_runs_nothing(kind: str) -> None:
    html = results()[kind]._repr_html_()
    root = ElementTree.fromstring(html)
    assert len(html.encode()) < 30_000
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags <= {
        *("div", "p", "b", "br", "small", "code", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "bdi"),
        *("svg", "title", "text", "line", "polyline", "polygon", "path", "rect", "circle"),
    }
    assert "svg" in tags
    assert "table" in tags
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not [name for name in attributes if name.startswith("on") or name in ("href", "src", "id")]
    assert not [v for element in root.iter() for v in element.attrib.values() if "url(" in v]
    # The names of classes and of the data, which are markup here, are text.
    assert "<i>" not in html
    assert "<script" not in html


def test_names_of_features_are_escaped_and_whole() -> None:
    found = results()["mined"]
    assert HOSTILE in found.features
    html = found._repr_html_()
    assert "<b>bold" not in html
    assert HOSTILE in shown(found)


def test_the_answer_comes_first_with_interval_chance_and_features() -> None:
    found = results()["one"]
    e = found.estimates["ber"]
    low, high = max(0.0, e.mean - 1.96 * e.se), min(1.0, e.mean + 1.96 * e.se)
    first = f"BER {e.mean:.4f} on unseen rows (95 % interval {low:.4f} to {high:.4f}; chance 0.5), "
    assert shown(found).startswith(f"{first}with 2 of 30 features.")
    mined = results()["mined"]
    e = mined.validation_.estimates["ber"]
    assert shown(mined).startswith(f"BER {e.mean:.4f} on unseen rows (95 % interval ")
    assert f"with {len(mined.features)} of 30 features." in shown(mined)


def test_the_table_of_a_search_has_its_offers() -> None:
    found = results()["mined"]
    root = ElementTree.fromstring(found._repr_html_())
    rows = [["".join(cell.itertext()) for cell in row] for row in root.iter("tr")]
    assert rows[0] == ["offer", "BER (95 % interval)", "features", "recipe"]
    offers = {row[0].removesuffix(" (this one)"): row for row in rows[1:]}
    assert list(offers) == ["best", "single", "small"]
    assert [row[0] for row in rows if row[0].endswith("(this one)")]
    for name, one in found.models_.items():
        assert offers[name][1].startswith(f"{one.validation.estimates['ber'].mean:.4f} (")
        assert offers[name][2] == str(one.selected_features.size)


def test_members_of_an_ensemble_are_listed() -> None:
    found = copy(results()["mined"])
    found.recipe_ = "blend(cc(2) | knn(3), cc(1) | knn(1), weights=[3, 1])"
    text = shown(found)
    assert "The mean probability of 2 models:75 %: ranks the features" in text
    assert "25 %: ranks" in text


def test_many_models_are_shown_best_first_and_the_rest_counted() -> None:
    found = validate_many("cc({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}) | knn(1)", data(), folds=2, metrics="accuracy")
    text = shown(found)
    assert text.index(found.ordered()[0].recipe) < text.index(found.ordered()[9].recipe)
    assert "2 more models." in text
    # The heading, ten models, that the best of many looks better than it is, and how many more there are.
    assert len(repr(found).splitlines()) == 13
    assert repr(found).endswith("... and 2 more; print() shows all")
    assert len(str(found).splitlines()) == 14


def test_an_estimate_without_an_error_or_a_selection_is_shown() -> None:
    official = tamis.validate("knn(1)", data(), folds=2, metrics="accuracy")
    assert "30 of 30 features" in shown(official)
    curve = learning_curve("knn(1)", data(), folds=2, sizes=[1.0])
    assert shown(curve).startswith("Whether more rows would help is unknown")
    many_classes = np.array([f"class {number % 40}" for number in range(120)])
    X = np.random.default_rng(0).normal(size=(120, 3))
    found = tamis.validate("knn(1)", X, many_classes, folds=3)
    assert len(found._repr_html_()) < 30_000
    assert f"chance {1 - 1 / 40:.4g}" in shown(found)


def test_a_search_that_is_not_fitted_shows_its_parameters() -> None:
    from sklearn.base import clone

    bare = clone(results()["mined"])
    assert repr(bare).startswith("Mined(model=")
    assert "Mined" in bare._repr_html_()
    for use in (bare.plot, lambda: bare.report("never.html")):
        with pytest.raises(NotFittedError):
            use()


def test_scikit_learns_setting_turns_the_html_off() -> None:
    with config_context(display="text"):
        assert not hasattr(results()["mined"], "_repr_html_")
        assert list(results()["mined"]._repr_mimebundle_()) == ["text/plain"]
    assert "tamis-result" in results()["mined"]._repr_mimebundle_()["text/html"]


def test_a_search_prints_its_answer_in_few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    found = results()["mined"]
    lines = repr(found).splitlines()
    assert 1 <= len(lines) <= 5
    assert max(map(len, lines)) <= 60
    e = found.validation_.estimates["ber"]
    assert lines[0].startswith(f"Mined: BER {e.mean:.4f} +- {e.se:.4f}")
    assert found.recipe_ in str(found)
    offered = repr(found.models_["small"])
    assert offered.startswith("Offered: BER 0.")
    assert len(offered) <= 60
    assert all(one.recipe in str(found) for one in found.models_.values())


@pytest.mark.parametrize("metric", ["ber", "balanced_accuracy", "accuracy", "auc", "f1_macro", "log_loss"])
def test_chance_is_what_a_dummy_classifier_reaches(metric: str) -> None:
    found = tamis.validate("cc(2) | knn(3)", data(), folds=3, metrics=metric)
    X, y = data().X, data().y
    dummy = DummyClassifier(strategy="prior").fit(X, y)
    expected = {
        "ber": 0.5,
        "balanced_accuracy": 0.5,
        "accuracy": accuracy_score(y, dummy.predict(X)),
        "auc": 0.5,
        "f1_macro": f1_score(y, dummy.predict(X), average="macro", zero_division=0),
        "log_loss": log_loss(y, dummy.predict_proba(X)),
    }
    assert found.chance == pytest.approx(expected[metric])


def drawn(*marks: Series | Bars | Heat, x: Axis | None = None, y: Axis | None = None) -> ElementTree.Element:
    return ElementTree.fromstring(svg(Figure("f", "title", "", (4, 3), [Panel(x or Axis("x"), y or Axis("y"), marks)])))


def numbers(text: str) -> np.ndarray:
    return np.array([[float(one) for one in pair.split(",")] for pair in text.split()])


def test_a_line_is_drawn_to_scale() -> None:
    x, y = [1.0, 2.0, 4.0, 9.0], [0.5, 0.25, 0.4, 0.1]
    place = numbers(drawn(Series(x, y, line=True)).find(f"{SVG}polyline").attrib["points"])
    for values, pixels, sign in ((x, place[:, 0], 1), (y, place[:, 1], -1)):
        slope, left = np.polyfit(values, pixels, 1)
        assert np.sign(slope) == sign
        assert np.abs(slope * np.array(values) + left - pixels).max() < 0.1
    log = Axis("x", "log", ticks=[1, 10, 100])
    place = numbers(drawn(Series([1, 10, 100], [0, 0, 1], line=True), x=log).find(f"{SVG}polyline").attrib["points"])
    assert place[1, 0] - place[0, 0] == pytest.approx(place[2, 0] - place[1, 0], abs=0.11)


def test_bars_are_as_long_as_their_values() -> None:
    rects = drawn(Bars([0, 1], [1.0, 0.25], across=True), y=Axis(names=["a", "b"])).findall(f"{SVG}rect")
    widths = [float(rect.attrib["width"]) for rect in rects]
    assert widths[1] / widths[0] == pytest.approx(0.25, abs=0.01)
    assert float(rects[0].attrib["y"]) < float(rects[1].attrib["y"])
    rects = drawn(Bars([1, 2, 3], [4, 0, 2])).findall(f"{SVG}rect")
    heights = [float(rect.attrib["height"]) for rect in rects]
    assert heights[2] / heights[0] == pytest.approx(0.5, abs=0.01)
    assert heights[1] == 0


def test_cells_have_their_counts_and_shades() -> None:
    names = Axis(names=["a", "b"], grid=False)
    root = drawn(Heat([[1.0, 0.0], [0.5, 0.5]], "share", [["7", "0"], ["2", "3"]]), x=names, y=names)
    shades = [float(rect.attrib["fill-opacity"]) for rect in root.findall(f"{SVG}rect")]
    assert shades[0] > shades[2] == shades[3] > shades[1]
    assert [text.text for text in root.findall(f"{SVG}text")][-4:] == ["7", "0", "2", "3"]


def test_what_cannot_be_drawn_is_left_out() -> None:
    hidden = Series([1, 2], [1, 2], line=True, hidden=True)
    gap = Series([1, 2, None, 4], [1, None, 3, 4], line=True, points=True, label="gap")
    root = drawn(hidden, gap)
    assert len(root.findall(f"{SVG}polyline")) == 1
    assert len(root.findall(f"{SVG}circle")) == 2
    same = drawn(Series([3, 3], [0.5, 0.5], points=True, shape="square-open", reach=[0.0, 0.0]))
    endless = drawn(Series([1, 2, 3], [1, float("inf"), 2], line=True, reach=[float("inf"), 0.0, 0.1]))
    assert len(numbers(endless.find(f"{SVG}polyline").attrib["points"])) == 2
    assert not re.search("nan|inf", ElementTree.tostring(endless, encoding="unicode"))
    assert not re.search("nan|inf", ElementTree.tostring(same, encoding="unicode"))
    many = drawn(*(Series([1, 2], [i, i], line=True, reach=[1, 1], label=f"l{i}") for i in range(9)))
    assert "and 1 more" in [text.text for text in many.findall(f"{SVG}text")]
    # Nine bands would hide each other.
    assert len(many.findall(f"{SVG}polygon")) == 1
    three = drawn(*(Series([1, 2], [i, i], line=True, reach=[1, 1]) for i in range(3)))
    assert len(three.findall(f"{SVG}polygon")) == 3
