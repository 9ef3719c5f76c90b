"""Reports on numbers: facts with known values, every drawing, hostile names, the page, the text."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import pearsonr, ttest_ind
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict

import tamis
from browser import chromium, needs_chromium, opened
from sample_facts import HOSTILE
from tamis.base.errors import TamisError
from tamis.data.dataset import Dataset
from tamis.reporting.answer import chance, interval
from tamis.reporting.facts import data_facts, validated_facts
from tamis.reporting.figures import draw, figures
from tamis.reporting.figures_numbers import along_features
from tamis.reporting.html import page, write_page
from tamis.reporting.markdown import text
from tamis.reporting.metric_text import hover_format, metric_text, significant
from tamis.reporting.numeric_distributions import numeric_distributions
from tamis.reporting.numeric_effects import numeric_effects
from tamis.reporting.numeric_warnings import determining
from tamis.reporting.plotly_figure import plotly_figure
from tamis.reporting.plotly_json import plotly_json
from tamis.reporting.svg_drawing import svg
from tamis.validation import learning_curve, permutation_test, validate_many
from tamis.validation.metrics import Metric
from tamis.validation.numeric_metrics import numeric_metrics
from tamis.validation.result import Estimate

#: Words that no report on numbers has; "class" is an attribute of HTML too.
CLASS_WORDS = re.compile(r"\bclass(es)?\b|classifier|confusion|sensitivity|calibrat|guessing", re.IGNORECASE)

OF_CLASSES = ("confusion", "rates", "roc", "precision_recall", "threshold", "calibration")


def numeric(X: Any, y: Any, **known: Any) -> Dataset:
    names = np.array(X.columns if hasattr(X, "columns") else [f"f{j}" for j in range(X.shape[1])])
    return Dataset(X, np.asarray(y, dtype=float), names, task="regress", **{"target": "weight", **known})


@pytest.fixture(scope="module")
def line() -> Dataset:
    """Sixty rows whose target rises with the first column and falls with the second."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    return numeric(X, 100 + 20 * X[:, 0] - 10 * X[:, 1] + 5 * rng.normal(size=60), name="line")


@pytest.fixture(scope="module")
def found(line: Dataset) -> Any:
    return tamis.validate("cc(2) | ridge", line, folds=5, leak_check=True)


@pytest.fixture(scope="module")
def facts(found: Any, line: Dataset) -> dict[str, Any]:
    test = permutation_test("cc(2) | ridge", line, n=19, folds=5)
    known = validated_facts(found, line, permutation=test, command="tamis validate line.csv")
    assert json.loads(json.dumps(known, allow_nan=False)) == known
    return known


@pytest.fixture(scope="module")
def hostile() -> tuple[Any, Dataset]:
    """A table in which every name is one that a careless view would run or break on."""
    rng = np.random.default_rng(1)
    x, level = rng.normal(size=(90, 6)), rng.choice([HOSTILE[0], HOSTILE[1], "a | b"], 90)
    y = np.exp(x[:, 0] + (level == HOSTILE[0])) + 0.1
    x[rng.random(x.shape) < 0.05] = np.nan
    columns = {f"{HOSTILE[j]} {j}": pl.Series(own, nan_to_null=True) for j, own in enumerate(x.T)}
    frame = pl.DataFrame({**columns, HOSTILE[2]: level})
    rows = np.array([HOSTILE[i % len(HOSTILE)] for i in range(90)])
    data = numeric(frame, y, name=HOSTILE[1], target=HOSTILE[2], row_names=rows)
    return tamis.validate("impute | encode | ridge", data, folds=3), data


# The numbers


def test_the_answer_is_the_estimate_beside_the_mean_alone(facts: dict[str, Any], found: Any, line: Dataset) -> None:
    answer, e = facts["answer"], found.estimates["rmse"]
    assert answer["metric"] == {"name": "rmse", "title": "RMSE", "better": "low", "task": "regress"}
    assert answer["chance"] == pytest.approx(line.y.std())
    assert (answer["honest"]["mean"], answer["honest"]["se"]) == (e.mean, e.se)
    assert answer["about"] == "root of the mean squared error, in units of the target"
    assert [one["name"] for one in answer["others"]] == ["mae", "r2", "spearman"]
    assert answer["others"][1]["mean"] == found.estimates["r2"].mean
    share = round(100 * found.estimates["r2"].mean)
    about = f"{significant(e.mean, 2)} (RMSE), where the mean alone has {significant(line.y.std(), 2)}"
    assert answer["words"] == f"predicts weight with an error of about {about}: {share} % of the variance"


def test_r2_and_spearman_are_computed_where_they_were_not_asked_for(found: Any, line: Dataset) -> None:
    alone = tamis.validate("cc(2) | ridge", line, folds=5, metrics="rmse")
    others = validated_facts(alone, line)["answer"]["others"]
    for one in others:
        assert one["mean"] == pytest.approx(found.estimates[one["name"]].mean)
        assert one["se"] == pytest.approx(found.estimates[one["name"]].se)
    left = tamis.validate(LinearRegression(), line, split="leave-one-out", metrics="rmse")
    predicted = cross_val_predict(LinearRegression(), line.X, line.y, cv=LeaveOneOut())
    r2, _ = validated_facts(left, line)["answer"]["others"]
    assert r2["mean"] == pytest.approx(r2_score(line.y, predicted))
    assert 0 < r2["se"] < 0.1


def test_a_model_that_is_no_better_than_the_mean_is_called_so() -> None:
    rng = np.random.default_rng(3)
    data = numeric(rng.normal(size=(80, 4)), rng.normal(size=80))
    known = validated_facts(tamis.validate("ridge", data, folds=4), data)
    assert known["answer"]["words"].startswith("predicts weight no better than its mean: the error is about 1.")
    said = [one["what"] for one in known["honesty"]["warnings"] if one["level"] == "warning"]
    assert any(what.startswith("The RMSE of the mean alone, ") for what in said)


@pytest.mark.parametrize(("name", "ends"), [("rmse", (0.0, 12.8)), ("r2", (-6.8, 1.0)), ("spearman", (-1.0, 1.0))])
def test_intervals_hold_what_the_metric_can_be(name: str, ends: tuple[float, float]) -> None:
    mean = 3.0 if name == "rmse" else -3.0 if name == "r2" else 0.0
    low, high = interval(Estimate(mean, 1.0, 5.0), numeric_metrics[name])
    assert (low, high) == pytest.approx((ends[0] if name != "r2" else mean - 9.8, ends[1]))


def test_the_mean_alone_has_no_skill() -> None:
    truth = np.array([1.0, 2.0, 6.0])
    assert chance(numeric_metrics["r2"], truth) == chance(numeric_metrics["spearman"], truth) == 0.0
    worst = Metric("worst", "worst", "low", "labels", lambda p: float(np.abs(p.residuals).max()), task="regress")
    assert chance(worst, truth) == 3.0


def test_errors_have_the_digits_that_matter() -> None:
    assert metric_text("mae", 0.000123456) == "0.0001235"
    assert metric_text("rmse", 1234567.8) == "1,234,568"
    assert metric_text("r2", -0.00001) == "0.000"
    assert (significant(1e-9), significant(-3.0), significant(0.0)) == ("1e-09", "-3", "0")
    assert (hover_format("rmse"), hover_format("auc")) == (",.4~r", ".3f")


def test_the_target_has_its_range_outliers_and_ties() -> None:
    y = np.array([1.0, 2.0, 2.0, 3.0, 4.0, 50.0])
    values = data_facts(numeric(np.arange(12.0).reshape(6, 2), y))["data"]["values"]
    assert (values["name"], values["lowest"], values["highest"], values["outliers"]) == ("weight", 1.0, 50.0, 1)
    assert (values["first"], values["median"], values["third"]) == (2.0, 2.5, 3.75)
    assert (values["distinct"], values["common"]) == (5, {"value": 2.0, "rows": 2})
    assert sum(values["counts"]) == 6


# The rows


def test_predictions_stand_beside_the_truth_and_the_worst_rows_are_listed(facts: dict[str, Any], found: Any) -> None:
    rows, own = facts["rows"], found.predictions
    assert rows["classes"] == []
    assert [rows[key] for key in OF_CLASSES] == [None] * 6
    known = rows["predicted"]
    np.testing.assert_allclose(known["truth"], own.truth, rtol=1e-5)
    np.testing.assert_allclose(known["prediction"], own.label, rtol=1e-5)
    assert known["row"] == (own.row + 1).tolist()
    worst = np.argsort(-np.abs(own.truth - own.label))[:20]
    assert [one["row"] for one in known["worst"]] == (own.row[worst] + 1).tolist()
    assert known["worst"][0]["residual"] == pytest.approx((own.truth - own.label)[worst[0]], rel=1e-5)
    order = np.argsort(own.label)
    np.testing.assert_allclose(known["bias"]["prediction"], own.label[order].reshape(10, 6).mean(axis=1), rtol=1e-5)
    rest = (own.truth - own.label)[order].reshape(10, 6)
    np.testing.assert_allclose(known["bias"]["residual"], rest.mean(axis=1), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(known["bias"]["se"], rest.std(axis=1, ddof=1) / np.sqrt(6), rtol=1e-5)


def test_rows_of_repeats_are_listed_once_with_their_mean(line: Dataset) -> None:
    twice = tamis.validate("ridge", line, folds=3, repeats=2)
    known = validated_facts(twice, line)["rows"]["predicted"]
    assert known["of"] == 120
    numbers = [one["row"] for one in known["worst"]]
    assert len(set(numbers)) == 20
    own = twice.predictions.label[twice.predictions.row == numbers[0] - 1]
    assert known["worst"][0]["prediction"] == pytest.approx(own.mean(), rel=1e-5)


def test_rows_are_coloured_and_ordered_by_the_target(facts: dict[str, Any], line: Dataset) -> None:
    rows = facts["rows"]
    assert rows["target"] == "weight"
    assert rows["ends"] == pytest.approx(np.percentile(line.y, [2, 98]))
    assert rows["projection"]["value"] == line.y.tolist()
    assert rows["heat"]["value"] == np.sort(line.y).tolist()
    assert rows["pairs"]["value"] == line.y.tolist()
    (dots,) = figures(facts)["projection"].panels[0].marks
    assert (dots.values, dots.ends, dots.scale) == (line.y.tolist(), tuple(rows["ends"]), "weight")


def test_many_rows_are_drawn_in_part_over_the_whole_range() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4000, 2))
    data = numeric(X, X[:, 0] + rng.normal(size=4000))
    known = validated_facts(tamis.validate("ridge", data, folds=2), data)
    rows = known["rows"]
    assert (rows["predicted"]["shown"], rows["predicted"]["of"], rows["heat"]["shown"]) == (1500, 4000, 200)
    assert np.percentile(rows["heat"]["value"], [5, 95]) == pytest.approx(np.percentile(data.y, [5, 95]), rel=0.2)
    assert "1,500 of 4,000 predictions" in figures(known)["predicted"].note


# The features


def test_effects_are_pearsons_and_welchs(line: Dataset) -> None:
    X = line.X.copy()
    X[::7, 1] = np.nan
    level = np.where(line.y > 100, "high", np.where(np.arange(60) % 2, "odd", "even"))
    frame = pl.DataFrame({f"f{j}": pl.Series(own, nan_to_null=True) for j, own in enumerate(X.T)})
    frame = frame.with_columns(pl.Series("level", level), flat=pl.lit(1.0))
    effects = numeric_effects(numeric(frame, line.y), np.arange(8))
    for j in range(6):
        known = ~np.isnan(X[:, j])
        theirs = pearsonr(X[known, j], line.y[known])
        ends = theirs.confidence_interval(0.95)
        assert [effects[j][key] for key in ("size", "low", "high")] == pytest.approx([theirs.statistic, *ends])
    high = (level == "high").astype(bool)
    theirs = ttest_ind(line.y[high], line.y[~high], equal_var=False).confidence_interval(0.95)
    sd = line.y.std()
    assert effects[6]["level"] == "high"
    assert effects[6]["size"] == pytest.approx((line.y[high].mean() - line.y[~high].mean()) / sd)
    assert (effects[6]["low"] * sd, effects[6]["high"] * sd) == pytest.approx((theirs.low, theirs.high))
    assert effects[7] is None


def test_the_target_is_averaged_along_a_feature(line: Dataset) -> None:
    level = np.array(["a", "b", "b"] * 20)
    frame = pl.DataFrame({"x": line.X[:, 0], "level": level})
    numbers, nominal = numeric_distributions(numeric(frame, line.y), [0, 1])
    order = np.argsort(line.X[:, 0])
    groups = line.y[order].reshape(10, 6)
    np.testing.assert_allclose(numbers["means"]["mean"], groups.mean(axis=1), rtol=1e-5)
    np.testing.assert_allclose(numbers["means"]["se"], groups.std(axis=1, ddof=1) / np.sqrt(6), rtol=1e-5)
    assert (sum(numbers["counts"]), len(numbers["counts"]), len(numbers["edges"])) == (60, 24, 25)
    assert (nominal["levels"], nominal["counts"], nominal["edges"]) == (["b", "a"], [40, 20], None)
    expected = [line.y[level == "b"].mean(), line.y[level == "a"].mean()]
    assert nominal["means"]["mean"] == pytest.approx(expected, rel=1e-5)


def test_scores_are_correlations_and_the_folds_choose(facts: dict[str, Any], line: Dataset) -> None:
    table = facts["features"]["table"]
    assert facts["features"]["score_name"] == "cc"
    assert table["name"][:2] == ["f0", "f1"]
    assert table["chosen"][:2] == [1.0, 1.0]
    assert table["score"][0] == pytest.approx(abs(np.corrcoef(line.X[:, 0], line.y)[0, 1]), rel=1e-5)


# The warnings


def warned(data: Dataset, start: str) -> list[dict[str, Any]]:
    return [one for one in data_facts(data)["honesty"]["warnings"] if start in one["what"]]


def test_a_column_that_determines_the_target_is_suspicious(line: Dataset) -> None:
    level = np.repeat(["low", "middle", "high"], 20)
    frame = pl.DataFrame({"log": np.log(line.y), "x": line.X[:, 2]})
    (one,) = warned(numeric(frame, line.y), "alone explains 98 % or more")
    assert '"log" (100.0%)' in one["what"]
    assert one["level"] == "warning"
    steps = numeric(
        pl.DataFrame({"level": level, "x": line.X[:, 2]}), np.repeat([1.0, 5.0, 9.0], 20) + line.X[:, 3] / 50
    )
    assert list(determining(steps)) == [0]
    assert determining(line) == {}
    few = numeric(np.arange(3.0)[:, None], [1.0, 2.0, 3.1])
    assert warned(few, "alone explains 98 %")[0]["level"] == "note"


def test_equal_rows_with_other_numbers_set_a_limit() -> None:
    X = np.repeat(np.arange(5.0), 2)[:, None]
    (one,) = warned(numeric(X, np.arange(10.0)), "another number")
    assert one["what"].startswith("10 rows have the values of another row and another number, row 1 and row 2")
    assert "a standard deviation of 0.707" in one["why"]
    assert warned(numeric(X, np.repeat(np.arange(5.0), 2)), "another number") == []


def test_outliers_ties_and_few_numbers_are_noted() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    far = rng.normal(size=60) + 10
    far[17] = 1000.0
    (one,) = warned(numeric(X, far), "3 interquartile ranges")
    assert "row 18 (1,000)" in one["what"]
    assert "logarithm" in one["why"]
    tied = np.where(np.arange(60) % 2, 0.0, rng.normal(size=60))
    assert warned(numeric(X, tied), "50% of the rows have the same number, 0")
    assert warned(numeric(X, np.arange(60) % 6), "The target has 6 different numbers")
    assert warned(numeric(X, rng.normal(size=60)), "the target") == []


# The views


def test_no_view_speaks_of_classes(facts: dict[str, Any], found: Any) -> None:
    body = page(facts).partition("<body>")[2].partition('<script type="application/json"')[0]
    assert CLASS_WORDS.findall(re.sub(r"<[^>]*>", " ", body)) == []
    assert CLASS_WORDS.findall(text(facts)) == []
    shown = re.sub(r"<[^>]*>", " ", found._repr_html_())
    assert CLASS_WORDS.findall(shown) == []


def test_figures_of_numbers_are_drawn_three_times(facts: dict[str, Any], tmp_path: Path) -> None:
    known = figures(facts)
    assert {"target", "effects", "predicted", "residuals", "projection", "heat", "pairs", "permutation"} <= set(known)
    assert not {"confusion", "roc", "calibration", "threshold"} & set(known)
    for figure in (*known.values(), *along_features(facts)):
        json.dumps(plotly_json(figure), allow_nan=False)
        assert plotly_figure(figure).data
        assert svg(figure).startswith("<svg")
    assert len(along_features(facts)) == 6
    pytest.importorskip("matplotlib", reason="matplotlib is absent: pip install tamis[figures]")
    assert {path.stem for path in draw(facts, tmp_path)} == set(known)
    first = (tmp_path / "predicted.svg").read_bytes()
    draw(facts, tmp_path)
    assert (tmp_path / "predicted.svg").read_bytes() == first


def test_the_diagonal_is_where_predictions_are_exact(facts: dict[str, Any]) -> None:
    (panel,) = figures(facts)["predicted"].panels
    points, diagonal = panel.marks
    assert panel.x.limits == panel.y.limits == tuple(diagonal.x) == tuple(diagonal.y)
    assert (points.x, points.y) == (facts["rows"]["predicted"]["truth"], facts["rows"]["predicted"]["prediction"])
    rest, zero, bias = figures(facts)["residuals"].panels[0].marks
    np.testing.assert_allclose(rest.y, np.subtract(points.x, points.y))
    assert (zero.y, bias.label) == ([0.0, 0.0], "mean of ten groups")


def test_results_plot_themselves(found: Any, line: Dataset) -> None:
    assert found.plot().layout.title.text == found.plot("predicted").layout.title.text == "Predicted against true"
    assert found.plot("residuals").data
    assert found.plot("features").data
    with pytest.raises(TamisError, match="kind must be one of features, predicted, residuals here"):
        found.plot("roc")
    many = validate_many("cc({1, 2, 4}) | ridge", line, folds=3)
    assert many.plot().layout.yaxis.title.text.startswith("\u2068RMSE in units of the target")
    curve = learning_curve("ridge", line, folds=3, sizes=(0.5, 1.0))
    assert curve.plot().data
    for one in (found, many, curve):
        assert "RMSE" in one._repr_html_()


def test_the_notebook_shows_the_sentence_and_the_picture(found: Any) -> None:
    html = found._repr_html_()
    assert "The model predicts weight with an error of about " in html
    assert "; the mean alone " in html
    assert "Predicted against true" in html
    assert len(html) < 30_000


def test_the_text_has_the_answer_and_the_largest_errors(facts: dict[str, Any]) -> None:
    written = text(facts)
    assert f"The model {facts['answer']['words']}." in written
    worst = facts["rows"]["predicted"]["worst"][0]
    assert re.search(rf"\| {worst['row']} +\| +{re.escape(significant(worst['truth']))} \|", written)
    assert "- With target permuted 19 times: p = 0.05 for " in written
    assert "- target `weight`: " in written
    assert "rises with it: r = 0." in written


def test_hostile_names_are_text_everywhere(hostile: tuple[Any, Dataset], tmp_path: Path) -> None:
    found, data = hostile
    known = validated_facts(found, data)
    json.dumps(known, allow_nan=False)
    body = page(known).partition("<body>")[2].partition('<script type="application/json"')[0]
    assert "window.__hit" in body
    for html in (body, found._repr_html_(), *(svg(figure) for figure in figures(known).values())):
        assert "<script>window" not in html
        assert "<img" not in html
    assert "<script" not in text(known)
    assert known["rows"]["predicted"]["worst"][0]["name"] in HOSTILE
    drawn = [plotly_json(figure) for figure in (*figures(known).values(), *along_features(known))]
    # Titles and captions are text of the page.
    assert "<script>window" not in json.dumps([[one["data"], one["layout"]] for one in drawn])
    pytest.importorskip("matplotlib", reason="matplotlib is absent: pip install tamis[figures]")
    assert draw(known, tmp_path)


def test_data_alone_has_a_page(line: Dataset) -> None:
    known = data_facts(line)
    assert known["rows"]["predicted"] is None
    assert {"target", "effects", "features", "projection"} <= set(figures(known))
    assert "Rows with the largest errors" not in page(known)
    assert "Standard deviation" in page(known)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.ones((5, 1)), [1.0, 2.0, 3.0, 4.0, 5.5]),
        (np.full((6, 2), np.nan), [0.5, 0.25, 1.0, 2.0, 3.0, 4.0]),
        (np.array([[1e300], [-1e300], [0.0], [np.inf]]), [1.5, 2.5, 3.5, 4.0]),
        (np.arange(2.0)[:, None], [0.5, 1e9]),
    ],
    ids=["constant", "missing", "huge", "two rows"],
)
def test_odd_data_has_facts(X: np.ndarray, y: list[float]) -> None:
    known = data_facts(numeric(X, y))
    json.dumps(known, allow_nan=False)
    assert page(known)
    assert text(known)


@pytest.fixture(scope="module")
def pages(facts: dict[str, Any], hostile: tuple[Any, Dataset], folder: Path) -> dict[str, Path]:
    known = validated_facts(*hostile)
    return {"plain": write_page(facts, folder / "plain.html"), "hostile": write_page(known, folder / "hostile.html")}


@needs_chromium
@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("kind", ["plain", "hostile"])
def test_the_page_opens_in_a_browser(kind: str, width: int, pages: dict[str, Path]) -> None:
    pytest.importorskip("playwright", reason="playwright is absent: pip install playwright")
    with chromium() as browser, opened(browser, pages[kind]) as seen:
        seen.page.set_viewport_size({"width": width, "height": 900})
        names = set(seen.draw_all())
        assert {"target", "distribution", "effects", "predicted", "residuals", "heat", "pairs", "projection"} <= names
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert seen.page.evaluate("window.__hit") is None
        effect = seen.page.locator("[data-table=features] .effect").first.inner_text()
        assert "with it" in effect or "higher at" in effect
        assert (seen.errors, seen.dialogs, seen.requests) == ([], [], [pages[kind].as_uri()])


def test_a_search_has_a_report(line: Dataset, tmp_path: Path) -> None:
    options: dict[str, Any] = {"trials": 3, "folds": 2, "inner_folds": 2, "engine": "serial", "only": ["cc | ridge"]}
    found = tamis.mine(line, run=tmp_path / "line.tamis-run", **options)
    report = tamis.report(tmp_path / "line.tamis-run", out=tmp_path / "line.html", compare=tmp_path / "line.tamis-run")
    facts = report.facts
    json.dumps(facts, allow_nan=False)
    assert facts["answer"]["recipe"] == found.recipe_
    assert facts["answer"]["words"].startswith("predicts weight with an error of about ")
    assert {"r2", "spearman"} <= {one["name"] for one in facts["answer"]["others"]}
    assert facts["models"]["metric"]["title"] == "RMSE"
    assert facts["features"]["table"]["name"][0] == "f0"
    assert facts["comparison"]["verdict"].startswith("No significant difference: RMSE ")
    assert repr(report).startswith(f"Report of {tmp_path / 'line.tamis-run'}: RMSE ")
    loss = {one["place"]: one["mean"] for one in facts["features"]["permutation_importance"]["loss"]}
    assert max(loss, key=lambda place: loss[place]) == 0
    for kind in ("effects", "target", "projection", "predicted"):
        assert found.plot(kind).data
    written = report.to_markdown()
    assert "Quote the first figure." in written
    assert "The model predicts weight with an error of about " in found._repr_html_()


def test_the_commands_write_pages(tamis: Any, line: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({**{f"f{j}": own for j, own in enumerate(line.X.T)}, "weight": line.y}).write_csv("line.csv")
    code, out, said = tamis(
        "validate", "line.csv", "cc(2) | ridge", "--target", "weight", "--folds", "3", "--report", "page.html"
    )
    assert (code, out.splitlines()[-1]) == (0, "report: page.html"), said
    assert "The model <bdi>predicts weight with an error of about " in Path("page.html").read_text(encoding="utf-8")
    assert tamis("data", "describe", "line.csv", "--target", "weight", "--html", "data.html")[0] == 0
    assert "The target: <bdi>weight</bdi>" in Path("data.html").read_text(encoding="utf-8")
