"""The facts of a run as a whole: every entry is there and plain, and each number is what the run itself says."""

import json
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import average_precision_score

from tamis.base.errors import TamisError
from tamis.compose.recipe import recipe
from tamis.data.column_plan import ColumnPlan
from tamis.data.dataset import Dataset
from tamis.data.load import load
from tamis.mining.run.store import Store
from tamis.mining.runner import STAGES
from tamis.mining.search import mine
from tamis.reporting.comparison import comparison
from tamis.reporting.facts import VERSION, data_facts, mined_facts, most_often, validated_facts
from tamis.validation.fold_result import FoldResult
from tamis.validation.metrics import all_metrics
from tamis.validation.permutation import PermutationTest, permutation_test
from tamis.validation.whole import validate

HEAD = {"version", "kind", "title", "made", "data"}
PANELS = {"answer", "models", "features", "rows", "honesty", "story"}
METRIC = {"name", "title", "better"}
COMMANDS = [{"what": "predict", "command": "tamis predict m NEW"}]

#: The entries of each panel, as the views expect them.
ENTRIES = {
    "answer": "recipe sentence members metric about chance honest inner_estimate optimism offers n_used n_features "
    "false_features groups commands",
    "models": "metric rows n best smallest chosen curves",
    "features": "n table left_out score_name stability selectors redundancy substitutes permutation_importance effects "
    "distributions quality",
    "rows": "projection heat pairs classes confusion rates roc precision_recall threshold calibration",
    "honesty": "leak permutation search warnings",
    "story": "stages choices trees members failed",
}


def plants(n_classes: int = 2, rows: int = 90, columns: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Noise in which columns 5 and 7 tell something of the class."""
    rng = np.random.default_rng(7)
    kind = np.arange(rows) % n_classes
    X = rng.normal(size=(rows, columns)).round(4)
    X[:, 5] += 1.6 * kind
    X[:, 7] -= 1.3 * kind
    return X, np.array(["rose", "tulip", "aster", "poppy", "daisy", "lily"])[kind]


@pytest.fixture(scope="session")
def mined(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Dataset, dict[str, Any]]:
    """One search of a table, its data and its facts."""
    folder = tmp_path_factory.mktemp("mined")
    X, y = plants()
    pl.DataFrame({**{f"g{i}": X[:, i] for i in range(X.shape[1])}, "kind": y}).write_csv(folder / "flowers.csv")
    data = load(folder / "flowers.csv", target="kind")
    asked: dict[str, Any] = {"only": ("cc | knn", "ssv | knn(metric=minkowski)"), "without": ("committee",)}
    found = mine(
        data,
        trials=12,
        inner_folds=3,
        engine="serial",
        split="folds",
        estimate="bootstrap",
        run=folder / "a.tamis-run",
        **asked,
    )
    leak = validate(recipe("cc(3) | knn(5)"), data, folds=3, leak_check=True).leak
    with Store.read(folder / "a.tamis-run") as store:

        def results(text: str) -> list[FoldResult]:
            return [one for one in store.of(found.run_.search, text).values() if isinstance(one, FoldResult)]

        stages = store.noted(STAGES)
        facts = mined_facts(
            found, data, results=results, stages=stages, leak=leak, command="tamis mine a", commands=COMMANDS
        )
    return found, data, facts


def check_plain(value: Any) -> None:
    """Nothing but what JSON has, down to the last entry: no number of numpy, no NaN, no key that is no text."""
    json.dumps(value, allow_nan=False)
    if type(value) is dict:
        assert {type(key) for key in value} <= {str}
        for inner in value.values():
            check_plain(inner)
    elif type(value) is list:
        for inner in value:
            check_plain(inner)
    else:
        assert value is None or type(value) in (str, int, float, bool)


def check_contract(facts: dict[str, Any], kind: str, data: Dataset, none: set[str]) -> None:
    """Every entry is there, those that do not apply are None, and lists that belong together are equally long."""
    check_plain(facts)
    assert facts.keys() == HEAD | PANELS | {"words"}
    assert facts["words"] is None  # there are no texts (see test_report_words.py)
    assert (facts["version"], facts["kind"], facts["title"]) == (VERSION, kind, data.name)
    assert facts["made"].keys() == {"versions", "seed", "command", "date"}
    assert {"tamis", "numpy", "scikit-learn"} <= facts["made"]["versions"].keys()
    assert (facts["data"]["rows"], facts["data"]["features"]) == data.X.shape
    assert {panel for panel in PANELS if facts[panel] is None} == none
    for panel in PANELS - none:
        assert facts[panel].keys() == set(ENTRIES[panel].split()), panel
    check_features(facts["features"], data)
    check_rows(facts["rows"], data)
    for warning in facts["honesty"]["warnings"]:
        assert warning.keys() == {"what", "why", "level"}
        assert warning["level"] in ("warning", "note")


def check_features(panel: dict[str, Any], data: Dataset) -> None:
    table = panel["table"]
    assert table.keys() == {"name", "rank", "score", "chosen", "used", "role"}
    assert {len(column) for name, column in table.items() if column is not None} == {len(table["name"])}
    assert panel["n"] == data.n_features
    assert set(table["name"]) <= set(map(str, data.feature_names))
    assert len(set(table["rank"])) == len(table["rank"])
    for one in panel["distributions"]:
        assert one.keys() == {"name", "kind", "classes", "edges", "levels", "missing", "boxes"}
        # Every row is in one bin of its class, or missing.
        assert sum(sum(each["counts"]) for each in one["classes"]) + one["missing"] == data.n_rows
        bins = len(one["levels"]) if one["kind"] == "nominal" else len(one["edges"]) - 1
        assert {len(each["counts"]) for each in one["classes"]} <= {bins}
    if panel["redundancy"] is not None:
        assert panel["redundancy"].keys() == {"names", "correlation", "cluster", "order"}
        assert sorted(panel["redundancy"]["order"]) == list(range(len(panel["redundancy"]["names"])))


def check_rows(panel: dict[str, Any], data: Dataset) -> None:
    assert panel["classes"] == [str(label) for label in data.classes.tolist()]
    drawn = panel["projection"]
    if drawn is not None:
        assert drawn.keys() == {"x", "y", "class", "row", "explained", "shown", "of"}
        assert {len(drawn[axis]) for axis in ("x", "y", "class", "row")} == {drawn["shown"]}
        assert drawn["of"] == data.n_rows


# ---------------------------------------------------------------- a search


def test_a_search_has_every_entry(mined: Any) -> None:
    found, data, facts = mined
    check_contract(facts, "mine", data, none=set())
    answer, models = facts["answer"], facts["models"]
    assert answer["metric"].keys() == models["metric"].keys() == METRIC
    assert answer["commands"] == COMMANDS
    assert (facts["made"]["seed"], facts["made"]["command"]) == (0, "tamis mine a")
    keys = "recipe family stage mean sd se cautious features seconds folds same"
    assert all(row.keys() == set(keys.split()) for row in models["rows"])
    assert {row["recipe"] for row in models["rows"]} == set(found.leaderboard_["recipe"])
    assert models["n"] == found.run_.n_tried == found.leaderboard_.height == found.summary()["tried"]
    assert [curve.keys() for curve in models["curves"]] == [{"family", "points"}] * len(models["curves"])
    sizes = [[point["features"] for point in curve["points"]] for curve in models["curves"]]
    assert sizes
    assert all(own == sorted(set(own)) for own in sizes)
    assert facts["story"]["choices"] == list(found.run_.choices)
    assert all(one.keys() == {"stage", "begin", "end", "recipes", "best"} for one in facts["story"]["stages"])
    recipes = {one["stage"]: one["recipes"] for one in facts["story"]["stages"]}
    assert {stage: recipes[stage] for stage in ("templates", "tune")} == {
        stage: sum(row["stage"] == stage for row in models["rows"]) for stage in ("templates", "tune")
    }
    ends = [one["end"] for one in facts["story"]["stages"]]
    assert ends == sorted(ends)
    if "blend(" in found.recipe_:
        assert all(member.keys() == {"recipe", "weight"} for member in facts["story"]["members"])
        assert len(facts["story"]["members"]) > 1


def test_the_honest_error_is_that_of_the_validation(mined: Any) -> None:
    found, _, facts = mined
    estimate = found.validation_.estimates["ber"]
    honest = facts["answer"]["honest"]
    assert (honest["mean"], honest["se"]) == (estimate.mean, estimate.se)
    assert honest["how"] == found.validation_.split
    assert honest["corrected"]
    assert honest["high"] == pytest.approx(min(1.0, norm.ppf(0.975) * estimate.se + estimate.mean), abs=1e-4)
    assert honest["low"] == pytest.approx(max(0.0, norm.ppf(0.025) * estimate.se + estimate.mean), abs=1e-4)
    assert facts["answer"]["inner_estimate"] == {"mean": found.inner_estimate_.mean, "se": found.inner_estimate_.se}
    assert facts["answer"]["optimism"] == pytest.approx(estimate.mean - found.inner_estimate_.mean)
    assert facts["honesty"]["search"]["optimism"] == pytest.approx(facts["answer"]["optimism"])
    leak = facts["honesty"]["leak"]
    assert leak["nested"]["mean"] == honest["mean"]
    assert leak["optimism"] == pytest.approx(honest["mean"] - leak["leaky"]["mean"])


def test_guessing_and_the_rates_are_those_of_the_predictions(mined: Any) -> None:
    found, _, facts = mined
    assert facts["answer"]["chance"] == 0.5
    assert facts["answer"]["about"].startswith("balanced error rate")
    confusion = np.array(facts["rows"]["confusion"])
    shares = {one["what"]: (one["right"], one["of"]) for one in facts["rows"]["rates"]}
    assert shares["sensitivity"] == (confusion[1, 1], confusion[1].sum())
    assert shares["negative predictive value"] == (confusion[0, 0], confusion[:, 0].sum())
    predictions = found.validation_.predictions
    (curve,) = facts["rows"]["precision_recall"]["curves"]
    positive = predictions.truth == found.classes_[1]
    assert curve["area"] == pytest.approx(average_precision_score(positive, predictions.scores))
    assert curve["share"] == pytest.approx(positive.mean())
    # Read as the names of columns, the best first.
    table = facts["features"]["table"]
    used = [name for name, one in zip(table["name"], table["used"], strict=True) if one]
    assert sorted(facts["rows"]["heat"]["names"]) == sorted(used)
    assert facts["rows"]["pairs"]["names"] == used[:4]


def test_groups_that_are_split_are_counted() -> None:
    X, y = plants()
    data = Dataset.of(X, y, groups=np.repeat(np.arange(30), 3))
    whole = validate("cc(2) | knn(3)", data, folds=3)
    assert validated_facts(whole, data)["answer"]["groups"] == 0
    assert validated_facts(whole, data)["data"]["group_sizes"] == [3, 3.0, 3]
    alone = validate("cc(2) | knn(3)", replace(data, groups=None), folds=3)
    tests = [set(alone.predictions.row[alone.predictions.fold == fold].tolist()) for fold in range(3)]
    split = sum(not any({3 * g, 3 * g + 1, 3 * g + 2} <= test for test in tests) for g in range(30))
    assert validated_facts(alone, data)["answer"]["groups"] == split > 0
    assert validated_facts(alone, replace(data, groups=None))["answer"]["groups"] is None


def test_all_offers_of_the_search_are_there(mined: Any) -> None:
    found, _, facts = mined
    offers = facts["answer"]["offers"]
    assert [one["name"] for one in offers] == ["best", "single", "small"]
    assert [one["chosen"] for one in offers].index(True) == 0
    for one in offers:
        offered = found.models_[one["name"]]
        assert one["recipe"] == offered.recipe
        assert one["n_used"] == offered.selected_features.size
        assert one["honest"]["mean"] == offered.validation.estimates["ber"].mean


def test_the_features_are_those_of_the_model_and_of_the_folds(mined: Any) -> None:
    found, data, facts = mined
    table = facts["features"]["table"]
    used = [name for name, one in zip(table["name"], table["used"], strict=True) if one]
    assert sorted(used) == sorted(map(str, found.selected_features_))
    assert facts["answer"]["n_used"] == len(used)
    assert 0 < len(used) < data.n_features
    sets = [{str(data.feature_names[j]) for j in columns} for columns in found.validation_.selected]
    shares = [sum(name in own for own in sets) / len(sets) for name in table["name"]]
    assert table["chosen"] == pytest.approx(shares, abs=1e-4)
    assert max(shares) > 0
    keys = [(not u, -c, r) for u, c, r in zip(table["used"], table["chosen"], table["rank"], strict=True)]
    assert keys == sorted(keys)
    stability = facts["features"]["stability"]
    assert stability["index"] == pytest.approx(found.validation_.stability.index)
    assert stability["low"] <= stability["index"] <= stability["high"]


def test_selectors_are_held_against_each_other(mined: Any) -> None:
    """The sets divide the features that any of them chose, so that the sizes can be added up from them."""
    selectors = mined[2]["features"]["selectors"]
    assert sorted(selectors["names"]) == ["cc", "ssv"]
    sizes = [sum(one["size"] for one in selectors["sets"] if i in one["members"]) for i in range(2)]
    assert sizes == selectors["sizes"]
    assert min(sizes) >= 1


def test_the_confusions_are_the_answers_of_the_folds(mined: Any) -> None:
    found, data, facts = mined
    answers = found.validation_.predictions
    counted = Counter(zip(answers.truth.tolist(), answers.label.tolist(), strict=True))
    classes = data.classes.tolist()
    assert facts["rows"]["confusion"] == [[counted[truth, said] for said in classes] for truth in classes]
    assert sum(map(sum, facts["rows"]["confusion"])) == data.n_rows


def test_the_best_has_the_best_cautious_value_of_those_judged_most_often(mined: Any) -> None:
    rows = mined[2]["models"]["rows"]
    best, models = rows[mined[2]["models"]["best"]], mined[2]["models"]
    most = max(row["folds"] for row in rows)
    assert best["folds"] == most
    assert best["mean"] + best["sd"] == pytest.approx(
        min(row["mean"] + row["sd"] for row in rows if row["folds"] == most)
    )
    assert best["same"]
    assert rows[models["smallest"]]["features"] == min(row["features"] for row in rows if row["same"])
    assert rows[models["chosen"]]["recipe"] == mined[0].recipe_


# ---------------------------------------------------------------- a validation


def test_a_validation_with_a_leak_and_a_null() -> None:
    X, y = plants()
    data = Dataset(X, y, np.array([f"g{i}" for i in range(12)]), name="flowers")
    model = recipe("cc(3) | knn(5)")
    found = validate(model, data, folds=3, leak_check=True)
    test = permutation_test(model, data, n=19, folds=3)
    assert isinstance(test, PermutationTest)
    assert found.leak is not None
    facts = validated_facts(found, data, permutation=test, command="tamis validate")
    check_contract(facts, "validate", data, none={"models", "story"})
    assert facts["answer"]["inner_estimate"] is None
    assert facts["answer"]["n_used"] == 3
    assert facts["honesty"]["leak"]["leaky"]["mean"] == found.leak.estimates["ber"].mean
    assert facts["honesty"]["leak"]["optimism"] == pytest.approx(found.optimism)
    assert facts["honesty"]["permutation"]["p"] == test.pvalue
    assert facts["honesty"]["permutation"]["null"] == test.null.tolist()
    assert facts["features"]["table"]["used"] == [None] * 12


def test_added_probes_are_not_among_the_features() -> None:
    X, y = plants()
    data = Dataset(X, y, np.array([f"g{i}" for i in range(12)]))
    found = validate(recipe("cc(10) | knn(5)"), data, folds=3, probes=0.5)
    assert max(columns.max() for columns in found.selected or ()) >= 12
    facts = validated_facts(found, data)
    check_contract(facts, "validate", data, none={"models", "story"})
    assert facts["answer"]["false_features"]["probes"] == 12
    assert facts["rows"]["projection"]["shown"] == 90


def test_a_model_that_mixes_columns_uses_all_of_them() -> None:
    X, y = plants()
    data = Dataset(X, y, np.array([f"g{i}" for i in range(12)]))
    facts = validated_facts(validate(recipe("pca(2) | knn(5)"), data, folds=3), data)
    check_contract(facts, "validate", data, none={"models", "story"})
    assert facts["answer"]["n_used"] == 12
    assert facts["features"]["table"]["chosen"] == [1.0] * 12
    # Every fold uses all, so there is no choice that could be stable.
    assert facts["features"]["stability"] is None


def test_features_that_cannot_be_told_are_unknown() -> None:
    X, y = plants()
    data = Dataset(X, y, np.array([f"g{i}" for i in range(12)]))
    found = replace(validate(recipe("cc(2) | knn(5)"), data, folds=3), selected=None, stability=None)
    facts = validated_facts(found, data)
    check_contract(facts, "validate", data, none={"models", "story"})
    assert facts["answer"]["n_used"] is None
    assert facts["features"]["table"]["chosen"] == [None] * 12
    assert facts["rows"]["projection"] is not None


# ---------------------------------------------------------------- other kinds of data


@pytest.mark.parametrize("n_classes", [2, 6])
def test_sparse_data_and_many_classes(n_classes: int) -> None:
    X, y = plants(n_classes, rows=120)
    X[np.abs(X) < 0.8] = 0.0
    data = Dataset(sp.csr_array(X), y, np.array([f"g{i}" for i in range(12)]), name="thin")
    dense = Dataset(X, y, data.feature_names, name="thin")
    model = recipe("cc(3) | knn(5)")
    thin, full = (validated_facts(validate(model, one, folds=3), one) for one in (data, dense))
    check_contract(thin, "validate", data, none={"models", "story"})
    assert thin["data"]["kind"] == "sparse"
    assert thin["rows"]["confusion"] == full["rows"]["confusion"]
    assert thin["features"]["table"] == full["features"]["table"]
    assert thin["features"]["distributions"] == full["features"]["distributions"]
    assert (thin["rows"]["threshold"] is not None) == (n_classes == 2)
    assert len(thin["rows"]["roc"]["curves"]) == (1 if n_classes == 2 else n_classes)


def test_a_search_of_sparse_data_of_four_classes() -> None:
    X, y = plants(4, rows=100)
    X[np.abs(X) < 0.8] = 0.0
    data = Dataset(sp.csr_array(X), y, np.array([f"g{i}" for i in range(12)]), name="thin")
    found = mine(
        data,
        trials=2,
        folds=2,
        inner_folds=2,
        engine="serial",
        only=("cc | knn(metric=minkowski)",),
        without=("committee", "blend"),
        metric="accuracy",
    )
    facts = mined_facts(found, data, results=lambda _: [], stages=[])
    check_contract(facts, "mine", data, none=set())
    assert facts["answer"]["metric"]["better"] == "high"
    assert facts["answer"]["optimism"] == pytest.approx(found.inner_estimate_.mean - facts["answer"]["honest"]["mean"])
    # Without results nothing can be told of other models, nor of the time.
    assert facts["features"]["selectors"] is None
    assert facts["story"]["stages"] == []
    assert facts["made"]["command"] is None


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A table with names, numbers and gaps in both."""
    X, y = plants()
    colour = np.where(np.arange(90) % 4 == 0, "white", y)
    frame = pl.DataFrame({"size": X[:, 5], "depth": X[:, 0], "colour": colour, "blank": "one", "kind": y})
    gaps = pl.int_range(90) % 10 == 0
    frame.with_columns(pl.when(~gaps).then(pl.col("size", "colour"))).write_csv(tmp_path / "mixed.csv")
    return tmp_path / "mixed.csv"


def test_names_and_gaps_from_a_table(mixed: Path) -> None:
    data = load(mixed, target="kind")
    found = validate(recipe("impute | encode | cc(3) | knn(5)"), data, folds=3)
    facts = validated_facts(found, data)
    check_contract(facts, "validate", data, none={"models", "story"})
    assert (facts["data"]["nominal"], facts["data"]["missing"]) == (1, 18)
    assert facts["data"]["not_features"] == [{"name": "blank", "why": "constant"}]
    shown = {one["name"]: one for one in facts["features"]["distributions"]}
    assert {name: one["kind"] for name, one in shown.items()} == {
        "size": "numeric",
        "depth": "numeric",
        "colour": "nominal",
    }
    assert (shown["colour"]["missing"], shown["depth"]["missing"]) == (9, 0)
    assert sorted(shown["colour"]["levels"]) == ["rose", "tulip", "white"]
    assert facts["features"]["score_name"] == "ssv"


def test_data_alone(mixed: Path) -> None:
    data = load(mixed, target="kind")
    facts = data_facts(data, command="tamis data describe mixed.csv")
    check_contract(facts, "data", data, none={"answer", "models", "story"})
    assert facts["made"]["seed"] is None
    assert facts["rows"]["confusion"] is None
    assert facts["features"]["table"]["chosen"] == [None] * 3
    assert facts["features"]["stability"] is None
    assert facts["rows"]["projection"]["explained"][0] <= 1
    assert facts["data"]["not_features"] == [{"name": "blank", "why": "constant"}]
    assert facts["data"]["reading"] == ["colour tells the class alone; was it known before the outcome?"]


def test_what_reading_left_out_and_noted_is_told() -> None:
    plan = ColumnPlan({"id": "every row has a value of its own"})
    notes = ("the decimal sign is a comma", "left out: id (every row has a value of its own)")
    y = np.array(["a", "a", "b", "b"])
    facts = data_facts(Dataset(np.ones((4, 1)), y, np.array(["u"]), plan=plan, notes=notes))["data"]
    assert facts["not_features"] == [{"name": "id", "why": "every row has a value of its own"}]
    assert facts["reading"] == ["the decimal sign is a comma"]


@pytest.mark.parametrize(
    "data",
    [
        Dataset(np.empty((0, 2)), np.array([], dtype=str), np.array(["u", "v"])),
        Dataset(np.ones((1, 1)), np.array(["a"]), np.array(["u"])),
        Dataset(np.full((4, 2), np.nan), np.array(["a", "a", "b", "b"]), np.array(["u", "v"])),
        Dataset(np.arange(40.0).reshape(40, 1), np.arange(40.0) / 7, np.array(["u"])),
    ],
    ids=["no row", "one row", "all missing", "a number to predict"],
)
def test_poor_data_alone(data: Dataset) -> None:
    check_contract(data_facts(data), "data", data, none={"answer", "models", "story"})


# ---------------------------------------------------------------- the columns chosen most often


@given(st.lists(st.lists(st.integers(0, 9), unique=True, max_size=8), min_size=1, max_size=6))
def test_the_columns_chosen_most_often_by_counting(sets: list[list[int]]) -> None:
    counts = Counter(column for own in sets for column in own)
    size = round(sum(map(len, sets)) / len(sets))
    expected = sorted(sorted(counts, key=lambda column: (-counts[column], column))[:size])
    assert most_often([np.array(own, dtype=np.intp) for own in sets]).tolist() == expected


# ---------------------------------------------------------------- two runs side by side


def run(
    mean: float, se: float = 0.02, *, title: str = "run", metric: str = "ber", names: Any = ("u", "v"), seed: int = 0
) -> dict[str, Any]:
    """What a comparison looks at."""
    known = all_metrics[metric]
    answer = {
        "recipe": f"knn of {title}",
        "metric": {"name": known.name, "title": known.title, "better": known.better},
        "honest": {"mean": mean, "se": se, "low": mean - 1.96 * se, "high": mean + 1.96 * se},
        "inner_estimate": None,
        "n_used": None if names is None else len(names),
        "n_features": 9,
    }
    table = {"name": ["u", "v", "w"], "used": [None] * 3 if names is None else [n in names for n in "uvw"]}
    return {"title": title, "answer": answer, "features": {"table": table}, "made": {"seed": seed}}


@given(*[st.floats(0, 1) for _ in range(2)], *[st.floats(0.001, 0.3) for _ in range(2)])
def test_the_difference_is_tested_as_that_of_two_normal_estimates(a: float, b: float, se: float, other: float) -> None:
    found = comparison(run(a, se), run(b, other))
    assert found["p"] == pytest.approx(2 * norm.sf(abs(a - b) / np.sqrt(se**2 + other**2)), rel=1e-6, abs=1e-300)
    assert ("No significant difference" in found["verdict"]) == (found["p"] >= 0.05)
    check_plain(found)


@pytest.mark.parametrize(("metric", "better"), [("ber", "low one"), ("auc", "high one"), ("accuracy", "high one")])
@pytest.mark.parametrize("turned", [False, True])
def test_the_better_one_is_named(metric: str, better: str, turned: bool) -> None:
    made = partial(run, metric=metric)
    both = [made(0.1, title="low one"), made(0.4, title="high one")]
    verdict = comparison(*(both[::-1] if turned else both))["verdict"]
    assert verdict.startswith(f"{better} is better: {all_metrics[metric].title}")
    assert verdict.endswith("(p < 0.001).")
    first, second = ("0.100", "0.400") if better == "low one" else ("0.400", "0.100")
    assert f"{first} against {second}" in verdict


@pytest.mark.parametrize(("gap", "p"), [(0.0, 1.0), (0.25, 0.0)])
def test_estimates_without_an_error_differ_or_are_the_same(gap: float, p: float) -> None:
    assert comparison(run(0.25, 0.0), run(0.25 + gap, 0.0))["p"] == p


@pytest.mark.parametrize("unknown", ["se", "mean"])
def test_an_unknown_error_is_not_compared(unknown: str) -> None:
    """A measure that is not defined on the test rows is None in the facts."""
    one = run(0.2)
    one["answer"]["honest"] |= {unknown: None, "low": None, "high": None}
    for both in ([one, run(0.4)], [run(0.4), one]):
        found = comparison(*both)
        assert found["p"] is None
        check_plain(found)


def test_different_measures_are_not_compared() -> None:
    found = comparison(run(0.1), run(0.9, metric="auc"))
    assert found["p"] is None
    assert found["verdict"] == "BER and AUC cannot be compared."
    values = {row["what"]: row["values"] for row in found["rows"]}
    assert values["error on unseen rows"][1].startswith("AUC 0.900")


def test_features_in_common() -> None:
    found = comparison(run(0.1, names=("u", "v")), run(0.1, names=("v", "w")))
    assert (found["shared"], found["n_shared"], found["n_either"]) == (["v"], 1, 3)
    assert found["titles"] == ["run (1)", "run (2)"]
    values = {row["what"]: row["values"] for row in found["rows"]}
    assert values["features used"] == ["2 of 9", "2 of 9"]
    for both in ([run(0.1, names=None), run(0.1)], [run(0.1), run(0.1) | {"features": None}]):
        found = comparison(*both)
        assert (found["shared"], found["n_shared"], found["n_either"]) == (None, None, None)
    assert comparison(run(0.1, names=None), run(0.1))["rows"][2]["values"][0] == "? of 9"


def test_only_so_many_features_in_common_are_named() -> None:
    names = [f"gene {i}" for i in range(80)]
    one = run(0.1) | {"features": {"table": {"name": names, "used": [True] * 80}}}
    found = comparison(one, one)
    assert found["shared"] == names[:50]
    assert found["n_shared"] == found["n_either"] == 80


def test_data_alone_is_not_compared() -> None:
    with pytest.raises(TamisError, match="only runs with a model can be compared"):
        comparison(run(0.1), run(0.1) | {"answer": None})


def test_a_run_beside_itself_is_the_same(mined: Any) -> None:
    found = comparison(mined[2], mined[2])
    check_plain(found)
    assert found["p"] == 1.0
    assert found["n_shared"] == found["n_either"] == mined[2]["answer"]["n_used"]
    assert found["titles"] == ["flowers (1)", "flowers (2)"]
