"""Figures and reports of results, from Python."""

import json
import pickle
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, roc_curve

import tamis
from small_results import HOSTILE, QUICK, data, results
from tamis.base.errors import TamisError

#: The figures of each result, the default first.
FIGURES = {
    "one": ["roc", "features", "confusion", "threshold", "calibration"],
    "many": ["error_features", "stability", "confusion", "roc", "threshold"],
    "nested": ["error_features", "features", "confusion", "roc", "threshold", "calibration"],
    "learning": ["learning"],
    "permutation": ["permutation"],
    "mined": ["error_features", "stability", "features", "confusion", "roc", "threshold", "calibration"],
}


@pytest.mark.parametrize(("kind", "names"), FIGURES.items())
def test_each_result_draws_what_it_has_and_names_it(kind: str, names: list[str]) -> None:
    found = results()[kind]
    assert found.plot().layout.title == found.plot(names[0]).layout.title
    for name in names:
        figure = found.plot(name)
        assert figure.data
        text = json.dumps(figure.to_plotly_json(), default=lambda values: values.tolist())
        assert "<i>ill" not in text
        assert HOSTILE not in text
    with pytest.raises(TamisError) as refused:
        found.plot("pie")
    sentence = str(refused.value)
    assert sentence.endswith("here; got 'pie'")
    assert all(name in sentence for name in names)


def test_a_backend_that_is_not_there_is_refused() -> None:
    with pytest.raises(TamisError, match="backend must be plotly or matplotlib; got 'bokeh'"):
        results()["one"].plot(backend="bokeh")


def test_the_confusions_and_the_curve_are_those_of_the_predictions() -> None:
    found = results()["one"]
    own, classes = found.predictions, found.classes
    counts = confusion_matrix(own.truth, own.label, labels=classes)
    (heat,) = found.plot("confusion").data
    assert np.allclose(heat.z, counts / counts.sum(axis=1, keepdims=True))
    assert np.array(heat.text).astype(int).tolist() == counts.tolist()
    scores = own.scores if own.scores.ndim == 1 else own.scores[:, 1]
    fpr, tpr, _ = roc_curve(own.truth == classes[1], scores)
    curve = found.plot("roc").data[-1]
    assert np.allclose(curve.x, fpr, atol=1e-5)
    assert np.allclose(curve.y, tpr, atol=1e-5)


def test_error_against_features_has_a_point_for_every_model() -> None:
    found = results()["many"]
    points = [zip(trace.x, trace.y, strict=True) for trace in found.plot().data if "markers" in trace.mode]
    drawn = {(x, round(y, 4)) for own in points for x, y in own}
    expected = {(one.mean_selected, round(one.estimates["ber"].mean, 4)) for one in found}
    assert drawn == expected


def test_the_chosen_model_of_a_nested_choice_has_a_ring() -> None:
    found = results()["nested"]
    ring = next(trace for trace in found.plot().data if trace.name == "chosen")
    assert ring.y[0] == pytest.approx(found.inner_estimate, abs=1e-5)


def test_features_are_drawn_by_how_often_folds_select_them() -> None:
    found = results()["one"]
    often = np.bincount(np.concatenate(found.selected), minlength=30) / len(found.selected)
    (bars,) = found.plot("features").data
    assert sorted(bars.x, reverse=True) == pytest.approx(sorted(often[often > 0], reverse=True))
    assert HOSTILE in found.features
    assert len(found.features) == 2


def test_a_learning_curve_is_drawn_as_it_was_estimated() -> None:
    found = results()["learning"]
    line = found.plot().data[-1]
    assert list(line.x) == pytest.approx(found.rows.tolist(), rel=1e-5)
    assert list(line.y) == pytest.approx([one.estimates["ber"].mean for one in found.validations], rel=1e-5)


@pytest.mark.parametrize("kind", FIGURES)
def test_matplotlib_draws_the_same_and_nothing_is_cut_off(kind: str) -> None:
    pytest.importorskip("matplotlib")
    for name in FIGURES[kind]:
        sheet = results()[kind].plot(name, backend="matplotlib")
        box, (width, height) = sheet.get_tightbbox(), sheet.get_size_inches()
        assert min(box.x0, box.y0) > -0.02
        assert box.x1 < width + 0.02
        assert box.y1 < height + 0.02


def test_a_search_draws_what_needs_its_data() -> None:
    found = results()["mined"]
    assert len(found.plot("projection").data) == 2
    assert found.plot("stages").data[0].type == "bar"


def test_the_report_of_a_validation(tmp_path: Path) -> None:
    found = results()["one"]
    page = found.report(tmp_path / "one.html")
    assert page == tmp_path / "one.html"
    facts = _facts(page)
    assert facts["kind"] == "validate"
    assert facts["answer"]["honest"]["mean"] == pytest.approx(found.estimates["ber"].mean)
    assert HOSTILE in facts["features"]["table"]["name"]


def test_the_command_writes_the_same_report(tmp_path: Path, tamis: Any, monkeypatch: Any) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    monkeypatch.chdir(tmp_path)
    rows = [f"{a:.4f},{b:.4f},{c:.4f},{'u' if i % 2 else 'v'}" for i, (a, b, c) in enumerate(X)]
    Path("t.csv").write_text("\n".join(["a,b,c,y", *rows]) + "\n")
    assert tamis("validate", "t.csv", "knn(1)", "--target", "y", "--folds", 3, "--report", "cli.html")[0] == 0
    _python().validate("knn(1)", _python().load("t.csv", target="y"), folds=3, split="folds").report("python.html")
    ours, theirs = _facts(Path("python.html")), _facts(Path("cli.html"))
    for entry in ("answer", "features", "rows", "honesty", "data", "title"):
        assert ours[entry] == theirs[entry], entry


def test_the_report_of_a_search_is_that_of_its_run(tmp_path: Path) -> None:
    run = tmp_path / "a.tamis-run"
    kept = tamis.mine(data(), trials=6, run=run, **QUICK)
    made = tamis.report(run, out=tmp_path / "b.html")
    e = kept.validation_.estimates["ber"]
    assert f": BER {e.mean:.4f} +- {e.se:.4f} on unseen rows, {len(kept.features)} of 30 features;" in repr(made)
    assert kept.report(tmp_path / "a.html").read_text() == (tmp_path / "b.html").read_text()
    again = pickle.loads(pickle.dumps(kept))
    assert again.report(tmp_path / "c.html").read_text() == (tmp_path / "a.html").read_text()
    # Without a run file the report has the same models, features and rows.
    loose = _facts(results()["mined"].report(tmp_path / "d.html"))
    facts = _facts(tmp_path / "a.html")
    for entry in ("features", "rows", "data"):
        assert loose[entry] == facts[entry]
    assert loose["models"]["rows"]["recipe"] == facts["models"]["rows"]["recipe"]
    assert loose["models"]["rows"]["same"] == facts["models"]["rows"]["same"]
    assert loose["answer"]["commands"] == []
    assert len(facts["answer"]["commands"]) == 1


def test_pickled_results_leave_the_data_behind() -> None:
    one, mined = (pickle.loads(pickle.dumps(results()[kind])) for kind in ("one", "mined"))
    assert one == results()["one"]
    assert one.source is None
    assert results()["one"].source is data()
    assert 3 in one.features
    assert one.plot("features").data
    assert "column 3" in one._repr_html_()
    with pytest.raises(TamisError, match="validate again"):
        one.report("never.html")
    assert mined._notes is None
    refitted = deepcopy(results()["mined"])
    refitted._notes = results()["mined"]._notes
    assert refitted.fit(data().X, data().y)._notes is None
    assert mined.predict(data().X).shape == (60,)
    assert mined.plot("error_features").data
    with pytest.raises(TamisError, match=r"give tamis\.mine a run file"):
        mined.report("never.html")
    with pytest.raises(TamisError, match=r"give tamis\.mine a run file"):
        mined.plot("projection")
    assert not Path("never.html").exists()


def test_probes_that_were_added_are_not_features() -> None:
    found = tamis.validate("cc(25) | knn(1)", data(), folds=2, probes=0.5)
    assert found.n_features > 30
    assert found.source is data()
    assert set(found.features) <= set(data().feature_names.tolist())
    names = json.dumps(found.plot("features").layout.yaxis.ticktext)
    assert "probe " in names


def _python() -> Any:
    """The library, where a fixture of the same name runs the command."""
    return tamis


def _facts(page: Path) -> dict[str, Any]:
    """The facts within a page."""
    text = page.read_text()
    begin = text.index(">", text.index('id="facts"')) + 1
    return json.loads(text[begin : text.index("</script>", begin)])
