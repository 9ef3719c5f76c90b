"""The single figures: what is drawn is in the facts, the same facts give the same file, names are never formulas."""

import subprocess
import sys
import warnings
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sample_facts import HOSTILE, STAGES, sample
from tamis.base.errors import TamisError
from tamis.reporting import figures_features, figures_models, figures_rows, figures_values
from tamis.reporting import matplotlib_drawing as canvas
from tamis.reporting.figure_description import Axis, Figure, Panel, Series
from tamis.reporting.figures import FORMATS, draw, figures
from tamis.reporting.plotly_json import plotly_json

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed (pip install tamis[figures])")

ALL = (
    "error_size",
    "error_features",
    "stability",
    "features",
    "redundancy",
    "selectors",
    "heat",
    "pairs",
    "projection",
    "confusion",
    "roc",
    "precision_recall",
    "threshold",
    "calibration",
    "permutation",
    "stages",
)


@pytest.fixture(autouse=True)
def look():
    """As within `draw`."""
    with canvas.style():
        yield


def axes_of(figure):
    """The axes of a figure that matplotlib draws from its description."""
    return canvas.drawn(figure).axes


def names(paths):
    return [path.stem for path in paths]


def labelled(axes):
    """Lines of the legend, by what it calls them."""
    return {line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")}


def written(figure):
    """All that is written in a figure, once it is drawn."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    FigureCanvasAgg(figure).draw()
    return [text.get_text() for text in figure.findobj(Text)]


@pytest.mark.parametrize(
    ("known", "missing"),
    [
        ({}, set()),
        ({"n_classes": 9}, {"threshold"}),
        ({"kind": "validate"}, {"error_size", "error_features", "stability", "stages"}),
        ({"kind": "data"}, set(ALL) - {"features", "redundancy", "projection"}),
    ],
)
def test_every_panel_with_facts_is_drawn(known, missing, tmp_path):
    paths = draw(sample(n_features=12, n_models=8, **known), tmp_path / "new" / "folder")
    assert names(paths) == [name for name in ALL if name not in missing]
    assert sorted((tmp_path / "new" / "folder").iterdir()) == sorted(paths)
    assert all(path.suffix == ".svg" for path in paths)


def test_nothing_is_drawn_of_nothing(tmp_path):
    facts = dict.fromkeys(("answer", "models", "features", "rows", "honesty", "story"))
    assert draw(facts, tmp_path) == []
    empty = sample(n_features=5, n_models=3)
    empty["models"] |= {"curves": [], "rows": []}
    empty["story"]["stages"] = []
    empty["rows"] |= {"roc": {"curves": []}, "calibration": {"curves": []}, "projection": None, "confusion": None}
    empty["rows"] |= {"precision_recall": None, "heat": None, "pairs": None}
    empty["features"] |= {"selectors": None, "redundancy": None}
    assert names(draw(empty, tmp_path)) == ["features", "threshold", "permutation"]


@pytest.mark.parametrize("format", FORMATS)
def test_the_same_facts_give_the_same_bytes(format, tmp_path):
    facts = sample(n_features=12, n_models=6, hostile=True)
    if format != "svg":
        # The others cost more, and what could differ in them is not in the panels.
        facts |= {"models": None, "features": None, "story": None}
        facts["rows"] |= dict.fromkeys(("projection", "pairs", "roc", "precision_recall", "threshold", "calibration"))
    first = [path.read_bytes() for path in draw(facts, tmp_path / "one", format=format)]
    with matplotlib.rc_context({"font.size": 20, "axes.grid": True, "svg.hashsalt": "other"}):
        again = [path.read_bytes() for path in draw(facts, tmp_path / "two", format=format)]
        assert matplotlib.rcParams["font.size"] == 20
    assert first == again
    begin = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[format]
    assert all(content.startswith(begin) and len(content) > 1000 for content in first)


def test_hostile_names_are_letters_only(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paths = draw(sample(n_features=25, n_models=8, hostile=True, n_classes=25), tmp_path)
    for path in paths:
        tree = ElementTree.parse(path)
        tags = {element.tag.rpartition("}")[2] for element in tree.iter()}
        assert not tags & {"script", "img", "foreignObject", "a", "text"}
        for element in tree.iter():
            assert not any(name.startswith("on") for name in element.attrib)
            link = element.get("{http://www.w3.org/1999/xlink}href", "#")
            assert link.startswith(("#", "data:image/png;base64,"))


@settings(max_examples=25)
@given(st.one_of(st.text(max_size=60), st.sampled_from(HOSTILE)))
def test_any_name_can_be_written(name):
    text = canvas.label(name)
    assert 0 < len(text) <= 33
    panel = Panel(Axis(names=[name]), Axis(name), [Series([0, 1], [0, 1], line=True, label=name)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = written(canvas.drawn(Figure("name", name, name, (2, 2), [panel], note=name)))
    assert {canvas.label(name, letters) for letters in (28, 40, 80)} <= set(found)


def test_a_letter_that_the_font_lacks_is_a_square():
    assert canvas.label("\U0001f9ec gene \U0001f469\u200d\U0001f52c") == "\u25a1 gene \u25a1\u25a1"
    assert canvas.label("$x^2$") == "$x^2$"
    assert canvas.label("a\u0301\u0f71") == "a\u0301"


def test_names_that_begin_with_an_underscore_are_in_the_legend():
    facts = sample(n_features=5, n_models=3)
    facts["rows"]["classes"] = ["_one", "__proto__"]
    (axes,) = axes_of(figures_rows.projection(facts))
    assert [text.get_text().strip() for text in axes.get_legend().get_texts()] == ["_one", "__proto__"]


def test_error_against_features_is_the_curves_of_the_facts():
    facts = sample()
    models = facts["models"]
    (axes,) = axes_of(figures_models.error_features(facts))
    lines = labelled(axes)
    curves = sorted(models["curves"], key=lambda curve: min(point["mean"] for point in curve["points"]))
    assert list(lines)[:6] == [curve["family"] for curve in curves[:6]]
    for curve in curves[:6]:
        expected = [(point["features"], point["mean"]) for point in curve["points"]]
        np.testing.assert_allclose(lines[curve["family"]].get_xydata(), expected)
    chosen, smallest = models["rows"][models["best"]], models["rows"][models["smallest"]]
    np.testing.assert_allclose(lines["chosen"].get_xydata(), [[chosen["features"], chosen["mean"]]])
    np.testing.assert_allclose(lines["smallest as good"].get_xydata(), [[smallest["features"], smallest["mean"]]])
    assert f"{len(curves) - 6} others" in lines
    assert len({(line.get_color(), line.get_marker()) for line in list(lines.values())[:6]}) == 6


def test_the_choice_is_the_row_that_was_chosen():
    facts = sample()
    models = facts["models"]
    models["chosen"] = models["smallest"] = 1
    (axes,) = axes_of(figures_models.error_features(facts))
    row = models["rows"][1]
    np.testing.assert_allclose(labelled(axes)["chosen"].get_xydata(), [[row["features"], row["mean"]]])
    assert "smallest as good" not in labelled(axes)


def test_bands_are_one_standard_error_wide():
    facts = sample(n_models=40)
    facts["models"]["curves"] = [curve for curve in facts["models"]["curves"] if len(curve["points"]) > 2][:1]
    (axes,) = axes_of(figures_models.error_features(facts))
    (band,) = axes.collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.round(9).tolist()}
    for point in facts["models"]["curves"][0]["points"]:
        for sign in (-1, 1):
            assert (point["features"], round(point["mean"] + sign * point["se"], 9)) in corners


def test_the_one_curve_is_the_best_model_of_each_size():
    facts = sample(n_models=60)
    (axes,) = axes_of(figures_models.error_size(facts))
    line = axes.get_lines()[0]
    rows = [row for row in facts["models"]["rows"] if row["features"]]
    first = {}
    for row in rows:
        first.setdefault(round(6 * np.log10(row["features"])), row)
    expected = sorted((row["features"], row["mean"]) for row in first.values())
    np.testing.assert_allclose(line.get_xydata(), expected)
    (band,) = axes.collections
    corners = {tuple(corner) for corner in band.get_paths()[0].vertices.round(9).tolist()}
    for row in first.values():
        assert (row["features"], round(row["mean"] + row["se"], 9)) in corners
    facts["models"]["rows"] = rows[:1]
    assert figures_models.error_size(facts) is None


def test_rows_of_a_class_stand_together_below_their_strip():
    facts = sample(n_classes=3)
    known = facts["rows"]["heat"]
    known["values"][1][2] = None
    strip, cells = axes_of(figures_values.heat(facts))
    ends = [(bar.get_x() + 0.5, bar.get_x() + bar.get_width() - 0.5) for bar in strip.patches]
    for number, (begin, end) in enumerate(ends):
        own = [i for i, code in enumerate(known["class"]) if code == number]
        assert (begin, end) == pytest.approx((own[0], own[-1]))
    drawn = cells.collections[0].get_array()
    assert drawn.mask.sum() == 1
    np.testing.assert_allclose(drawn.filled(np.nan), np.array(known["values"], dtype=float))
    assert [label.get_text() for label in cells.get_yticklabels()] == known["names"]
    assert strip.get_xlim() == cells.get_xlim()


def test_the_best_features_are_drawn_against_each_other():
    facts = sample()
    known = facts["rows"]["pairs"]
    axes = axes_of(figures_values.pairs(facts))
    assert [(one.get_xlabel(), one.get_ylabel()) for one in axes] == list(combinations(known["names"], 2))
    own = np.array(known["class"]) == 1
    expected = np.column_stack([known["values"][1], known["values"][3]])[own]
    np.testing.assert_allclose(axes[4].get_lines()[1].get_xydata(), expected)
    # The panels do not overlap, and one of them has the legend.
    places = [one.get_position() for one in axes]
    assert not any(a.overlaps(b) for a, b in combinations(places, 2))
    assert [one.get_legend() is not None for one in axes] == [False, False, True, False, False, False]
    facts["rows"]["pairs"] |= {"names": known["names"][:2], "values": known["values"][:2]}
    (single,) = axes_of(figures_values.pairs(facts))
    assert single.get_legend() is not None


def test_precision_is_drawn_beside_guessing():
    facts = sample(n_classes=3)
    curves = facts["rows"]["precision_recall"]["curves"]
    (axes,) = axes_of(figures_rows.precision_recall(facts))
    lines = axes.get_lines()
    for curve, line, guess in zip(curves, lines[::2], lines[1::2], strict=True):
        np.testing.assert_allclose(line.get_xydata(), np.column_stack([curve["recall"], curve["precision"]]))
        assert guess.get_ydata().tolist() == [curve["share"]] * 2


def test_boxes_stand_above_the_steps():
    facts = sample()
    known = facts["features"]["distributions"][0]
    known["boxes"] = [[-1.0, 0.0, 0.5, 1.0, 3.0], [-9.0, 1.0, 1.5, 2.0, 9.0]]
    above, below = axes_of(figures_features.distributions(facts)[0])
    assert [(bar.get_x(), bar.get_width()) for bar in above.patches] == [(0.0, 1.0), (1.0, 1.0)]
    assert above.get_xlim() == below.get_xlim() == (-9.0, 9.0)
    del known["boxes"]
    assert len(axes_of(figures_features.distributions(facts)[0])) == 1


def test_a_measure_of_which_more_is_better_puts_the_highest_family_first():
    facts = sample()
    facts["models"]["metric"] = {"name": "auc", "title": "AUC", "better": "high"}
    (axes,) = axes_of(figures_models.error_features(facts))
    highest = max(facts["models"]["curves"], key=lambda curve: max(point["mean"] for point in curve["points"]))
    assert next(iter(labelled(axes))) == highest["family"]


def test_features_are_drawn_by_how_often_they_were_chosen():
    facts = sample(n_features=100)
    table = facts["features"]["table"]
    (axes,) = axes_of(figures_features.chosen(facts))
    known = dict(zip(table["name"], zip(table["chosen"], table["used"], strict=True), strict=True))
    listed = [label.get_text() for label in axes.get_yticklabels()]
    bars = {round(bar.get_y() + bar.get_height() / 2): bar.get_width() for bar in axes.patches}
    shares = [known[name][0] for name in listed]
    assert shares == sorted(table["chosen"], reverse=True)[:30] == [bars[i] for i in range(30)]
    used = {name for name in listed if known[name][1]}
    blue = [c for c in axes.containers if c.get_label() != "not used"]
    assert sum(len(container) for container in blue) == len(used)


def test_features_that_no_fold_uses_are_not_drawn():
    facts = sample(n_features=6)
    facts["features"]["table"] |= {"chosen": [1.0, 0.5, 0.0, 0.0, 0.1, 0.0], "used": [None] * 6}
    (axes,) = axes_of(figures_features.chosen(facts))
    assert [bar.get_width() for bar in axes.patches] == [1.0, 0.5, 0.1]
    assert axes.get_legend() is None


def test_without_folds_features_are_drawn_by_score():
    facts = sample(kind="data")
    (axes,) = axes_of(figures_features.chosen(facts))
    assert axes.get_xlabel() == "score (cc)"
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == sorted(facts["features"]["table"]["score"], reverse=True)[:30]


def test_the_heat_map_is_the_correlation_in_order():
    known = sample()["features"]["redundancy"]
    axes = axes_of(figures_features.redundancy(sample()))[0]
    order = known["order"]
    expected = np.array(known["correlation"])[np.ix_(order, order)]
    np.testing.assert_allclose(axes.collections[0].get_array(), expected)
    assert [label.get_text() for label in axes.get_yticklabels()] == [known["names"][i] for i in order]
    sizes = np.bincount(known["cluster"])
    assert sorted(np.ptp(line.get_xdata()) for line in axes.get_lines()) == sorted(sizes[sizes > 1])


def test_selectors_are_drawn_as_sets():
    known = sample()["features"]["selectors"]
    above, matrix = axes_of(figures_features.selectors(sample()))
    assert [bar.get_height() for bar in above.patches] == [one["size"] for one in known["sets"]]
    sizes = [f"{name} ({size})" for name, size in zip(known["names"], known["sizes"], strict=True)]
    assert [label.get_text() for label in matrix.get_yticklabels()] == sizes
    _, joined = matrix.get_lines()
    x, y = joined.get_xdata(), joined.get_ydata()
    assert np.isnan(y).sum() == len(known["sets"])
    for number, one in enumerate(known["sets"]):
        assert y[(x == number) & ~np.isnan(y)].tolist() == one["members"]


@pytest.mark.parametrize("n_classes", [2, 9])
def test_rows_and_their_classes_are_drawn(n_classes):
    facts = sample(n_classes=n_classes)
    rows = facts["rows"]
    (axes,) = axes_of(figures_rows.projection(facts))
    for number, dots in enumerate(axes.get_lines()):
        own = np.array(rows["projection"]["class"]) == number
        expected = np.column_stack([rows["projection"]["x"], rows["projection"]["y"]])[own]
        np.testing.assert_allclose(dots.get_xydata(), expected)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == rows["classes"]
    assert "41 %" in axes.get_xlabel()


def test_counts_of_the_confusion_matrix_stand_where_they_belong():
    rows = sample(n_classes=9)["rows"]
    axes = axes_of(figures_rows.confusion(sample(n_classes=9)))[0]
    found = np.zeros((9, 9), dtype=int)
    for text in axes.texts:
        x, y = text.get_position()
        found[int(y), int(x)] = int(text.get_text())
    assert found.tolist() == rows["confusion"]
    counts = np.array(rows["confusion"])
    np.testing.assert_allclose(axes.collections[0].get_array(), counts / counts.sum(axis=1, keepdims=True))
    assert axes.yaxis_inverted()


def test_curves_are_those_of_the_facts():
    facts = sample(n_classes=5)
    rows = facts["rows"]
    (axes,) = axes_of(figures_rows.roc(facts))
    for curve, (name, line) in zip(rows["roc"]["curves"], labelled(axes).items(), strict=True):
        assert name == f"AUC {curve['auc']:.3f} {curve['class']}"
        np.testing.assert_allclose(line.get_xydata(), np.column_stack([curve["fpr"], curve["tpr"]]))
    (axes,) = axes_of(figures_rows.calibration(facts))
    for curve, (name, line) in zip(rows["calibration"]["curves"], labelled(axes).items(), strict=True):
        assert name == curve["class"]
        np.testing.assert_allclose(line.get_xydata(), np.column_stack([curve["predicted"], curve["observed"]]))


def test_the_threshold_is_marked():
    facts = sample()
    known = facts["rows"]["threshold"]
    (axes,) = axes_of(figures_rows.threshold(facts))
    curve, used, best = axes.get_lines()
    np.testing.assert_allclose(curve.get_xydata(), np.column_stack([known["share"], known["ber"]]))
    assert used.get_xydata().tolist() == [[known["used"]["share"], known["used"]["ber"]]]
    assert best.get_xydata().tolist() == [[known["best"]["share"], known["best"]["ber"]]]
    assert axes.get_xlabel() == "rows predicted to be ill"


def test_the_relabelings_are_counted():
    facts = sample()
    facts["honesty"]["permutation"]["null"][:3] = [None] * 3
    (axes,) = axes_of(figures_rows.permutation(facts))
    assert sum(bar.get_height() for bar in axes.patches) == 197
    assert axes.get_lines()[0].get_xdata().tolist() == [facts["honesty"]["permutation"]["value"]] * 2


@pytest.mark.parametrize(("scale", "unit"), [(0.01, "seconds"), (1, "minutes"), (100, "hours")])
def test_stages_stand_at_their_time(scale, unit):
    facts = sample()
    known = facts["story"]["stages"]
    for one in known:
        one["begin"] *= scale
        one["end"] *= scale
    (axes,) = axes_of(figures_models.stages(facts))
    seconds = {"seconds": 1, "minutes": 60, "hours": 3600}[unit]
    assert axes.get_xlabel() == f"time ({unit})"
    for bar, one in zip(axes.patches, known, strict=True):
        ends = [bar.get_x(), bar.get_x() + bar.get_width()]
        np.testing.assert_allclose(ends, [one["begin"] / seconds, one["end"] / seconds])


def test_a_stage_that_comes_again_has_one_line():
    facts = sample()
    facts["story"]["stages"].append({**facts["story"]["stages"][3], "begin": 900.0, "end": 1000.0})
    (axes,) = axes_of(figures_models.stages(facts))
    assert len(axes.get_yticklabels()) == len(STAGES)
    assert sum(bar.get_y() < 3 < bar.get_y() + bar.get_height() for bar in axes.patches) == 2
    texts = [text.get_text() for text in axes.texts]
    assert texts[3] == ""
    assert texts[-1].startswith("7 recipes")


@pytest.mark.parametrize("number", [0, 4])
def test_a_distribution_is_the_share_of_each_class(number):
    facts = sample()
    known = facts["features"]["distributions"][number]
    *above, axes = axes_of(figures_features.distributions(facts)[number])
    assert len(above) == (known["boxes"] is not None)
    for place, own in enumerate(known["classes"]):
        shares = np.array(own["counts"]) / sum(own["counts"])
        if known["edges"] is None:
            drawn = [bar.get_height() for bar in axes.containers[place]]
        else:
            drawn = axes.get_lines()[place].get_ydata()[:-1]
        np.testing.assert_allclose(drawn, shares, atol=1e-4)


@pytest.mark.parametrize("known", [{}, {"n_classes": 9, "hostile": True}, {"kind": "validate"}, {"kind": "data"}])
def test_page_and_files_show_the_same(known):
    """Both views draw every mark of a figure, with the same numbers and the same names in the legend."""
    for figure in figures(sample(n_features=30, n_models=8, **known)).values():
        for panel, axes in zip(figure.panels, canvas.drawn(figure).axes, strict=False):
            page = plotly_json(replace(figure, panels=[panel]))["data"]
            labels = [trace["meta"]["label"] for trace in page if "meta" in trace and not trace["meta"]["hidden"]]
            legend = axes.get_legend()
            shown = [] if legend is None else [text.get_text() for text in legend.get_texts()]
            assert [text for text in shown if not text.endswith(" others")] == [canvas.label(one, 40) for one in labels]
            lines = [trace for trace in page if "mode" in trace and trace.get("fill") != "toself"]
            drawn = [line.get_xdata() for line in axes.get_lines() if len(line.get_xdata())]
            for trace in lines:
                x = np.array(trace["x"], dtype=float)
                shaded = isinstance(trace.get("marker", {}).get("color"), list)
                assert shaded or any(x.size == one.size and np.allclose(x, one, rtol=1e-5) for one in drawn)
            bars = sum(len(trace["x"]) for trace in page if trace.get("type") == "bar")
            assert bars == len(axes.patches)


def test_what_is_not_known_is_not_drawn(tmp_path):
    facts = sample(n_features=12, n_models=8)
    for curve in facts["models"]["curves"]:
        for point in curve["points"]:
            point["se"] = None
    facts["models"]["smallest"] = facts["rows"]["roc"]["curves"][0]["auc"] = None
    facts["features"]["table"] |= {"used": [None] * 12, "role": None}
    facts["honesty"]["permutation"]["null"] = [None] * 200
    facts["rows"]["threshold"]["best"] = None
    facts["rows"]["projection"]["explained"] = [None, None]
    for one in facts["story"]["stages"]:
        one["best"] = None
    assert names(draw(facts, tmp_path)) == list(ALL)


def test_a_format_that_is_not_written_is_refused(tmp_path):
    with pytest.raises(TamisError, match="format must be one of svg, png, pdf; got 'jpg'"):
        draw(sample(n_features=5, n_models=3), tmp_path, format="jpg")


def test_without_matplotlib_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(TamisError, match=r"pip install tamis\[figures\]"):
        draw({}, tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_no_window_is_ever_opened(tmp_path):
    code = (
        "import sys; from pathlib import Path; import tamis.reporting.figures as f;"
        "assert 'matplotlib' not in sys.modules;"
        "story = {'stages': [{'stage': 'a', 'begin': 0.0, 'end': 1.0, 'recipes': 1, 'best': None}]};"
        "empty = dict.fromkeys(('answer', 'models', 'features', 'rows', 'honesty'));"
        "assert len(f.draw({**empty, 'story': story}, Path(sys.argv[1]), format='png')) == 1;"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code, str(tmp_path)], check=True, timeout=60)
