"""The models and the story of a report: the test against scipy, blends fitted alone, trees in the data's words."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis.classify import SSVTree
from tamis.compose.recipe import recipe
from tamis.data.dataset import Dataset
from tamis.mining.mined import Mined, Run
from tamis.mining.run.store import Store
from tamis.mining.search import mine
from tamis.reporting.models import family, models
from tamis.reporting.story import story
from tamis.validation.fold_result import FoldResult
from tamis.validation.metrics import Metric, all_metrics, ber
from tamis.validation.result import Estimate
from tamis.validation.stability import stability

FOLDS = 3
FORMS = ("standardize | cc | {knn(metric=minkowski), svm(linear)}", "variance(2) | knn(3, metric=minkowski)")

#: Names that a careless page would run.
NAMES = np.array([f"<b>gene {j}</b>" for j in range(30)])


def planted(n_rows: int = 60, n_classes: int = 2, seed: int = 0) -> Dataset:
    """Rows whose first three columns tell the class, and whose largest ones tell nothing."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_rows) % n_classes)
    X = rng.normal(size=(n_rows, 30))
    X[:, :3] += 2.0 * y[:, None]
    X[:, 20:] *= 9.0
    return Dataset(X, y, NAMES)


class Searched(NamedTuple):
    """A search, and what its run file keeps."""

    found: Mined
    results: Callable[[str], list[FoldResult]]
    stages: list[dict[str, Any]]


def searched(data: Dataset, path: Path, **options: Any) -> Searched:
    usual: dict[str, Any] = {"trials": 12, "only": FORMS, "without": ["committee"], "engine": "serial"}
    found = mine(data, **{**usual, **options}, folds=FOLDS, inner_folds=FOLDS, run=path)
    with Store.read(path) as store:
        kept = {
            text: [
                one
                for repeat in range(5)
                for fold in range(FOLDS)
                for one in store.find(found.run_.search, f"{repeat}.{fold}", [text]).values()
                if isinstance(one, FoldResult)
            ]
            for text in found.leaderboard_["recipe"]
        }
        return Searched(found, lambda text: kept.get(text, []), store.noted("stages", []))


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Searched:
    return searched(planted(), tmp_path_factory.mktemp("run") / "two.tamis")


@pytest.fixture(scope="session")
def panel(run: Searched) -> dict[str, Any]:
    return models(run.found, run.results)


class _Validated(NamedTuple):
    metrics: tuple[Metric, ...]


def made(
    rows: Sequence[tuple[str, str, float, float | None, float | None, int]],
    model: Any = None,
    metric: str = "ber",
    **run: Any,
) -> Mined:
    """A search that tried these: recipe, stage, mean, deviation, features and folds of each."""
    found = Mined(model)
    found.recipe_ = rows[0][0]
    found.validation_ = _Validated((all_metrics[metric],))
    found.n_features_in_ = 30
    found.leaderboard_ = pl.DataFrame(
        [
            {"recipe": r, "stage": s, metric: m, "sd": d, "se": d, "features": f, "folds": n, "seconds": 0.5}
            for r, s, m, d, f, n in rows
        ],
        schema_overrides={"sd": pl.Float64, "se": pl.Float64, "features": pl.Float64, metric: pl.Float64},
    )
    found.run_ = Run(
        **{"path": None, "seconds": 9.0, "search": 0, "n_tried": len(rows), "choices": (), "failed": {}, **run}
    )
    return found


def fitted(text: str, X: Any, y: np.ndarray, names: np.ndarray | None = None) -> Mined:
    """A search that ended with this recipe."""
    found = made([(text, "base", 0.1, 0.1, 3.0, 3)], recipe(text).fit(X, y))
    found.n_features_in_ = X.shape[1]
    if names is not None:
        found.feature_names_in_ = names
    return found


def by_hand(gaps: np.ndarray, test_to_train: float) -> float:
    """The p-value of Nadeau and Bengio's test."""
    if np.ptp(gaps) < 1e-12:
        return float(abs(gaps[0]) < 1e-12)
    t = gaps.mean() / np.sqrt((1 / gaps.size + test_to_train) * gaps.var(ddof=1))
    return float(2 * scipy.stats.t.sf(abs(t), gaps.size - 1))


def nothing(text: str) -> list[FoldResult]:
    return []


def fold(value: float, number: int, n_train: int = 40, kept: Sequence[int] = (0, 1)) -> FoldResult:
    """A fold that is known by its value alone."""
    rows = np.arange(20)
    answers: Any = None
    columns = np.array(kept, dtype=int)
    return FoldResult(0, number, rows, n_train, answers, {"ber": value}, columns, 30, 0.1, 0.1, 0.2)


def test_rows_are_the_leaderboard_by_the_cautious_value(run: Searched, panel: dict[str, Any]) -> None:
    rows, board = panel["rows"], {one["recipe"]: one for one in run.found.leaderboard_.to_dicts()}
    assert {row["recipe"] for row in rows} == set(board)
    assert len(rows) == len(board)
    for row in rows:
        tried = board[row["recipe"]]
        assert (row["mean"], row["sd"], row["folds"]) == (tried["ber"], tried["sd"], tried["folds"])
        assert row["cautious"] == pytest.approx(tried["ber"] + tried["sd"])
    order = [(-row["folds"], round(row["cautious"], 12)) for row in rows]
    assert order == sorted(order)
    assert panel["best"] == 0
    assert rows[panel["chosen"]]["recipe"] == run.found.recipe_
    assert panel["metric"] == {"name": "ber", "title": "BER", "better": "low"}


def test_the_same_are_those_that_nadeau_and_bengios_test_leaves(run: Searched, panel: dict[str, Any]) -> None:
    """The test computed by hand, from answers of models that are judged anew."""
    rows = panel["rows"]
    best = {(one.repeat, one.fold): one for one in run.results(rows[0]["recipe"])}
    assert len(best) == rows[0]["folds"]
    expected = []
    for row in rows:
        own = {(one.repeat, one.fold): one for one in run.results(row["recipe"])}
        if row["folds"] < rows[0]["folds"]:
            expected.append(False)
            continue
        gaps = np.array([ber(own[key].predictions) - ber(best[key].predictions) for key in best])
        ratio = sum(one.rows.size for one in best.values()) / sum(one.n_train for one in best.values())
        expected.append(by_hand(gaps, ratio) >= 0.05)
    assert [row["same"] for row in rows] == expected
    assert len(set(expected)) == 2, "models of both kinds are needed"


def test_the_smallest_of_the_same_is_named(panel: dict[str, Any]) -> None:
    rows = panel["rows"]
    smallest = rows[panel["smallest"]]
    assert smallest["same"]
    assert smallest["features"] == min(row["features"] for row in rows if row["same"])


def test_curves_are_the_best_of_each_size(run: Searched, panel: dict[str, Any]) -> None:
    rows = {row["recipe"]: row for row in panel["rows"]}
    assert panel["curves"][0]["family"] == panel["rows"][0]["family"]
    for curve in panel["curves"]:
        sizes = [point["features"] for point in curve["points"]]
        assert sizes == sorted(set(sizes))
        for point in curve["points"]:
            row = rows[point["recipe"]]
            assert (row["family"], row["mean"], row["se"]) == (curve["family"], point["mean"], point["se"])
            rivals = [
                one
                for one in panel["rows"]
                if one["family"] == curve["family"] and round(one["features"]) == point["features"]
            ]
            assert rivals[0]["recipe"] == point["recipe"]
            sets = [one.selected for one in run.results(point["recipe"])]
            index = stability([one for one in sets if one is not None], 30).index
            assert point["stability"] == (None if np.isnan(index) else index)


def test_everything_can_be_written_as_json(run: Searched, panel: dict[str, Any]) -> None:
    json.dumps(panel, allow_nan=False)
    json.dumps(story(run.found, run.stages), allow_nan=False)


def test_many_classes_and_a_metric_that_should_be_high(tmp_path: Path) -> None:
    only = ("cc | knn(3, metric=minkowski)",)
    got = searched(planted(90, n_classes=9), tmp_path / "nine.tamis", metric="auc", trials=4, only=only)
    panel = models(got.found, got.results)
    for row in panel["rows"]:
        assert row["cautious"] == pytest.approx(row["mean"] - row["sd"])
    worths = [row["cautious"] for row in panel["rows"] if row["folds"] == panel["rows"][0]["folds"]]
    assert worths == sorted(worths, reverse=True)
    told = story(got.found, got.stages)
    given = next(one for one in told["stages"] if one["stage"] == "templates")
    assert given["best"] == max(row["mean"] for row in panel["rows"] if row["stage"] == "templates")
    json.dumps([panel, told], allow_nan=False)


def test_a_run_in_which_everything_but_one_recipe_failed(tmp_path: Path) -> None:
    forms = ("chi2({2, 3, 4}) | knn(3, metric=minkowski)", "cc(3) | knn(3, metric=minkowski)")
    got = searched(planted(), tmp_path / "one.tamis", only=forms, trials=12)
    panel, told = models(got.found, got.results), story(got.found, got.stages)
    assert [(row["recipe"], row["same"]) for row in panel["rows"]] == [(forms[1], True)]
    assert (panel["best"], panel["smallest"], panel["chosen"]) == (0, 0, 0)
    assert len(told["failed"]) == 3
    assert all("chi2" in one["recipe"] and one["why"] for one in told["failed"])
    assert [len(curve["points"]) for curve in panel["curves"]] == [1]
    json.dumps([panel, told], allow_nan=False)


def test_without_results_only_the_best_is_the_same_as_the_best() -> None:
    found = made([("cc(5) | knn(3)", "base", 0.1, None, 5.0, 3), ("knn(3)", "base", 0.2, None, None, 3)])
    panel = models(found, nothing)
    assert [row["same"] for row in panel["rows"]] == [True, False]
    assert (panel["best"], panel["smallest"]) == (0, 0)
    assert panel["rows"][0]["cautious"] == 0.1
    assert panel["curves"] == [
        {
            "family": "cc | knn",
            "points": [{"features": 5, "mean": 0.1, "se": None, "recipe": "cc(5) | knn(3)", "stability": None}],
        }
    ]


def test_fewer_folds_than_the_best_are_never_the_same() -> None:
    found = made([("knn(3)", "base", 0.1, 0.1, 30.0, 3), ("knn(5)", "base", 0.1, 0.1, 30.0, 2)])
    panel = models(found, lambda text: [fold(0.1 * number, number) for number in range(3 if "3" in text else 2)])
    assert [row["same"] for row in panel["rows"]] == [True, False]


def test_a_first_look_at_fewer_rows_counts_for_nothing_where_there_is_more() -> None:
    """The looks would tell the two apart, the folds do not; and the columns of the looks are other ones."""
    looks = {"knn(3)": [0.0, 0.01], "knn(5)": [0.9, 0.92]}
    whole = {"knn(3)": [0.1, 0.3, 0.2], "knn(5)": [0.2, 0.1, 0.4]}

    def results(text: str) -> list[FoldResult]:
        first = [fold(value, i, 10, [7 + i]) for i, value in enumerate(looks[text])]
        return [*first, *(fold(value, i) for i, value in enumerate(whole[text])), *first]

    rows = [(text, "base", float(np.mean(values)), 0.1, 2.0, 3) for text, values in whole.items()]
    panel = models(made(rows), results)
    assert [row["same"] for row in panel["rows"]] == [True, True]
    assert panel["curves"][0]["points"][0]["stability"] == 1.0


def test_values_that_differ_by_rounding_alone_are_the_same() -> None:
    rows = [(text, "base", 0.3, 0.1, 2.0, 3) for text in ("knn(3)", "knn(5)")]
    results = {"knn(3)": [fold(0.3, i) for i in range(3)], "knn(5)": [fold(0.1 + 0.2, i) for i in range(3)]}
    assert [row["same"] for row in models(made(rows), results.__getitem__)["rows"]] == [True, True]


def test_a_model_without_columns_is_not_named_as_the_smallest() -> None:
    rows = [(text, "base", 0.3, 0.1, size, 3) for text, size in (("knn(3)", 4.0), ("knn(5)", 0.0))]
    panel = models(made(rows), lambda text: [fold(0.1 * i, i) for i in range(3)])
    assert all(row["same"] for row in panel["rows"])
    assert panel["rows"][panel["smallest"]]["features"] == 4.0


TRIED = st.tuples(
    st.sampled_from(["cc(3)", "ssv(4)", "standardize | cc(9)", "rfe(5)", "pca(2)"]),
    st.sampled_from(["knn(3)", "svm(gaussian)", "svm", "tree", "lda", "forest", "logistic"]),
    st.floats(0, 1) | st.just(float("nan")),
    st.none() | st.floats(0, 0.5),
    st.none() | st.floats(0, 30),
    st.integers(2, 4),
)


@given(st.lists(TRIED, min_size=1, max_size=60), st.sampled_from(["ber", "auc"]))
@settings(max_examples=60)
def test_whatever_was_tried_the_curves_are_some_of_the_rows(tried: list[Any], metric: str) -> None:
    found = made([(f"{a} | {b}", "base", m, d, f, n) for a, b, m, d, f, n in tried], metric=metric)
    panel = models(found, nothing)
    json.dumps(panel, allow_nan=False)
    rows = panel["rows"]
    assert [row["folds"] for row in rows] == sorted((row["folds"] for row in rows), reverse=True)
    assert len(panel["curves"]) <= 12
    known = {(row["family"], row["recipe"], row["mean"], row["se"]) for row in rows}
    for curve in panel["curves"]:
        sizes = [point["features"] for point in curve["points"]]
        assert sizes == sorted(set(sizes))
        assert {(curve["family"], p["recipe"], p["mean"], p["se"]) for p in curve["points"]} <= known
        assert len(sizes) > 1 or curve["family"] == rows[0]["family"]


def test_a_long_search_is_cut_short() -> None:
    kinds = ["knn(1)", "svm", "lda", "tree", "logistic", "forest", "nrbf"]
    rows = [(f"cc({k}) | {kind}", "tune", 0.001 * k, 0.1, float(k), 3) for k in range(1, 301) for kind in kinds]
    given: list[str] = []

    def results(text: str) -> list[FoldResult]:
        given.append(text)
        return [fold(0.01 * i, i) for i in range(3)]

    panel = models(made(rows), results)
    assert len(panel["rows"]) == 2000
    assert sum(row["same"] for row in panel["rows"]) == 200
    points = [point for curve in panel["curves"] for point in curve["points"]]
    assert len(points) > 60
    assert sum(point["stability"] is not None for point in points) == 60
    assert len(set(given)) <= 260


def test_sizes_that_lie_close_together_are_one_point_of_a_curve() -> None:
    rows = [(f"cc({k}) | knn", "tune", m, 0.1, float(k), 3) for k, m in ((100, 0.1), (101, 0.4), (99, 0.2), (1, 0.3))]
    (curve,) = models(made(rows), nothing)["curves"]
    assert [(point["features"], point["mean"]) for point in curve["points"]] == [(1, 0.3), (100, 0.1)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("standardize | cc(50) | rms_norm | svm(gaussian, C=10)", "cc | svm gaussian"),
        ("cc(50) | ssv_tree | knn", "cc ssv_tree | knn"),
        ("pca(3) | lda", "lda"),
        ("committee(9, cc(5) | knn)", "committee"),
        ("blend(knn, svm)", "blend"),
    ],
)
def test_families(text: str, expected: str) -> None:
    assert family(text) == expected


def test_stages_end_where_the_next_begins(run: Searched) -> None:
    stages = [
        {"stage": "templates", "begin": 0.0},
        {"stage": "tune", "begin": 0.25},
        {"stage": "confirm", "begin": 1e9},
    ]
    told = story(run.found, stages)["stages"]
    assert [(one["begin"], one["end"]) for one in told] == [(0.0, 0.25), (0.25, 1e9), (1e9, 1e9)]
    board = run.found.leaderboard_
    for one in told:
        own = board.filter(pl.col("stage") == one["stage"])
        assert one["recipes"] == own.height
        assert one["best"] == (own.filter(pl.col("folds") == own["folds"].max())["ber"].min() if own.height else None)
    assert told[0]["recipes"] > 0
    assert story(run.found, stages[:1])["stages"][0]["end"] == run.found.run_.seconds
    assert story(run.found, [])["stages"] == []
    assert story(run.found, run.stages)["choices"] == list(run.found.run_.choices)


def test_the_rules_of_a_tree_in_a_chain_speak_of_the_datas_columns() -> None:
    """As a tree does that is fitted on a frame with the columns that reach it."""
    data = planted()
    found = fitted("cc(4) | tree(prune=none)", data.X, data.y, data.feature_names)
    (told,) = story(found, [])["trees"]
    kept = found.model[0].get_support(indices=True)
    frame = pl.DataFrame(data.X[:, kept], schema=[str(name) for name in NAMES[kept]])
    tree = SSVTree(prune=None).fit(frame, data.y)
    assert told["rules"] == [str(rule) for rule in tree.rules()]
    assert told["title"] == "cc(4) | tree(prune=none)"
    assert told["leaves"] == len(told["rules"])
    drawn = tree.plot()
    for ours, theirs in zip(told["figure"]["data"], drawn.data, strict=True):
        assert ours["x"] == list(theirs.x)
        assert ours.get("hovertext") == (None if theirs.hovertext is None else list(theirs.hovertext))


def _lists(value: Any) -> bool:
    """Whether a figure holds its numbers as lists, all the way down."""
    if isinstance(value, dict):
        return "bdata" not in value and all(map(_lists, value.values()))
    return all(map(_lists, value)) if isinstance(value, list) else isinstance(value, str | int | float | None)


def test_a_figure_is_drawn_from_lists() -> None:
    data = planted(n_classes=3)
    (told,) = story(fitted("tree", data.X, data.y), [])["trees"]
    assert _lists(told["figure"])
    assert all(isinstance(trace["x"], list) for trace in told["figure"]["data"])
    assert "x0" in told["rules"][0] or "x1" in told["rules"][0] or "x2" in told["rules"][0]
    assert told["title"] == "tree"


def test_large_trees_are_told_in_part_and_not_drawn() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 3)), rng.integers(0, 2, 600)
    (told,) = story(fitted("tree(prune=none)", X, y), [])["trees"]
    assert told["leaves"] > 60
    assert (len(told["rules"]), told["figure"]) == (60, None)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_trees_that_select_are_told_too(form: Callable[[np.ndarray], Any]) -> None:
    data = planted()
    text = "vote(cc(5), ssv_tree, at_least=1) | committee(3, cc(3) | tree) "
    found = fitted(text, form(data.X), data.y, data.feature_names)
    told = story(found, [])
    first, *others = told["trees"]
    assert first["title"] == "member 2 of vote: ssv_tree"
    assert "<b>gene" in first["rules"][0]
    assert [one["title"] for one in others] == [f"member {i} of committee: cc(3) | tree" for i in (1, 2, 3)]
    used = set(NAMES[found.model[0].get_support(indices=True)])
    for one in others:
        given = {name for name in NAMES if any(f"{name} " in rule for rule in one["rules"])}
        assert given
        assert given <= used
    json.dumps(told, allow_nan=False)


def test_the_rules_of_a_tree_that_selects_hold_on_its_rows() -> None:
    """A full tree answers its training rows rightly; so do its rules, read as they stand."""
    data = planted()
    found = fitted("ssv_tree | knn", data.X, data.y, np.array([f"c[{j}]" for j in range(30)]))
    (told,) = story(found, [])["trees"]
    for row, label in zip(data.X, data.y, strict=True):
        met = [rule for rule in told["rules"] if _holds(rule, row)]
        assert len(met) == 1
        assert f"THEN {label} " in met[0]


def _holds(rule: str, row: np.ndarray) -> bool:
    given = rule.removeprefix("IF ").partition(" THEN")[0]
    return all(bool(eval(one, {"c": row, "__builtins__": {}})) for one in given.split(" AND "))


def test_at_most_six_trees_are_shown() -> None:
    data = planted()
    assert len(story(fitted("committee(9, tree)", data.X, data.y), [])["trees"]) == 6
    assert story(fitted("cc(3) | knn", data.X, data.y), [])["trees"] == []


def test_a_title_says_when_splits_are_not_in_the_values_of_the_data() -> None:
    data = planted()
    (told,) = story(fitted("impute | standardize | cc(3) | tree", data.X, data.y), [])["trees"]
    assert told["title"] == "impute | standardize | cc(3) | tree (in values after standardize)"


def test_columns_that_were_mixed_have_names_of_their_own() -> None:
    data = planted()
    (told,) = story(fitted("pca(2) | tree", data.X, data.y, data.feature_names), [])["trees"]
    assert "<b>" not in " ".join(told["rules"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("blend(cc(3) | svm(linear), knn(3), weights=[2, 1])", [("cc(3) | svm(linear)", 2.0), ("knn(3)", 1.0)]),
        ("blend(cc(3) | svm, knn(3))", [("cc(3) | svm", 1.0), ("knn(3)", 1.0)]),
        ("blend(cc(3) | svm, knn(3), tree, weights=[2, 0, 1])", [("cc(3) | svm", 2.0), ("tree", 1.0)]),
        ("committee(3, cc(3) | svm(linear))", [("cc(3) | svm(linear)", None)] * 3),
        ("standardize | vote(cc(3), ssv_tree) | svm", [("cc(3)", None), ("ssv_tree", None)]),
        ("blend", [("svm", 1.0), ("knn", 1.0)]),
        ("cc(3) | svm", []),
    ],
)
def test_members(text: str, expected: list[tuple[str, float | None]]) -> None:
    data = planted()
    told = story(fitted(text, data.X, data.y), [])["members"]
    assert [(one["recipe"], one["weight"]) for one in told] == expected


def test_failures_are_cut_short_and_choices_are_told() -> None:
    data = planted()
    found = fitted("knn", data.X, data.y)
    failed = {f"cc({k}) | knn": "no" for k in range(1, 300)}
    found.run_ = replace(found.run_, failed=failed, choices=("knn(3)", "svm"))
    told = story(found, [])
    assert len(told["failed"]) == 200
    assert told["failed"][0] == {"recipe": "cc(1) | knn", "why": "no"}
    assert told["choices"] == ["knn(3)", "svm"]


def test_estimates_that_do_not_exist_are_none() -> None:
    found = made([("knn(3)", "base", float("nan"), None, 3.0, 3)])
    found.inner_estimate_ = Estimate(float("nan"), float("nan"), float("nan"))
    panel = models(found, nothing)
    assert panel["rows"][0]["mean"] is None
    assert panel["rows"][0]["cautious"] is None
