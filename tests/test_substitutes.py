"""Substitutes of features: planted copies are found, noise is not, and what a user sees of it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tamis
from sample_facts import sample
from tamis.base.errors import TamisError
from tamis.compose.recipe import recipe, to_text
from tamis.data.dataset import Dataset
from tamis.mining import substitutes as room
from tamis.mining.column_swaps import ColumnSwaps
from tamis.mining.fixed_columns import Columns, fixed_model
from tamis.mining.substitutes import Substitutes, find_substitutes
from tamis.reporting.markdown import text
from tamis.validation.folds import Split, StratifiedFolds

ROWS = 240


def planted(n_classes: int = 2, columns: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Columns 0 and 1 tell the class, each something of its own; 2 and 3 are copies of them with a little noise."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(ROWS) % n_classes)
    X = rng.normal(size=(ROWS, columns))
    X[:, 0] += 2.0 * (y == 0)
    X[:, 1] += 2.0 * (y == n_classes - 1)
    X[:, 2:4] = X[:, :2] + 0.2 * rng.normal(size=(ROWS, 2))
    return X, y


def chosen(*columns: int) -> Any:
    """A model that selects these columns, whatever the rows."""
    return make_pipeline(Columns(columns), StandardScaler(), KNeighborsClassifier(15))


def folds(y: np.ndarray, repeats: int = 2) -> list[Split]:
    return StratifiedFolds(5, repeats).splits(y)


def names(found: Substitutes) -> dict[Any, list[Any]]:
    return {feature: [one.feature for one in others] for feature, others in found.items()}


# ---------------------------------------------------------------- what is found


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("metric", ["ber", "auc"])
def test_a_copy_stands_in_and_noise_does_not(n_classes: int, metric: str) -> None:
    X, y = planted(n_classes)
    found = find_substitutes(chosen(0, 1), Dataset.of(X, y), folds(y), metric=metric)
    assert names(found) == {0: [2], 1: [3]}
    assert found.dispensable == []
    assert found.note == ""
    for one in found.examined:
        (copy,) = one.substitutes
        assert copy.redundancy == pytest.approx(np.corrcoef(X[:, one.column], X[:, copy.column])[0, 1], abs=1e-4)
        assert one.loss > 0.03
        assert copy.difference < one.loss / 2


def test_a_feature_that_is_not_needed_is_dispensable_and_has_no_noise_as_its_substitute() -> None:
    X, y = planted()
    X[:, 20] = X[:, 9] + 0.1 * np.random.default_rng(1).normal(size=ROWS)
    found = find_substitutes(chosen(0, 8, 9), Dataset.of(X, y), folds(y))
    assert set(found.dispensable) == {8, 9}
    # A column that is similar may still take the place of one.
    assert found[8] == []
    assert names(found)[9] == [20]


class _Given(ColumnSwaps):
    """Errors as a table gives them: for each change the mean over ten folds, and how much it varies."""

    late = False
    error = ""
    test_to_train = 0.25

    def __init__(self, table: dict[tuple[int, int | None], tuple[float, float]]) -> None:
        self.table, self.asked = table, []

    def errors(self, changes: Any) -> Any:
        self.asked += [pair for change in changes for pair in change.items()]
        ends = [self.table[next(iter(change.items()))] if change else (0.2, 0.0) for change in changes]
        return [mean + spread * np.tile([-1.0, 1.0], 5) for mean, spread in ends]


@pytest.mark.parametrize(
    ("mean", "spread", "similar", "needed", "expected"),
    [
        (0.201, 0.01, 0.3, True, True),
        (0.150, 0.01, 0.3, True, True),
        # Significantly worse, though it recovers most of the loss.
        (0.220, 0.01, 0.9, True, False),
        # Not significantly worse, as its error varies, but it recovers little.
        (0.270, 0.20, 0.9, True, False),
        # Recovers most, but not significantly.
        (0.210, 0.20, 0.9, True, False),
        (0.201, 0.01, 0.8, False, True),
        (0.201, 0.01, 0.6, False, False),
        (0.300, 0.01, 0.8, False, False),
    ],
)
def test_the_rule_of_substitutes(mean: float, spread: float, similar: float, needed: bool, expected: bool) -> None:
    swaps = _Given({(7, None): (0.3 if needed else 0.2, 0.01), (7, 9): (mean, spread)})
    (one,) = room._examine(swaps, {7: (np.array([9]), np.array([similar]))})
    assert one.needed is needed
    assert one.loss == pytest.approx(0.1 if needed else 0.0)
    assert [other.column for other in one.substitutes] == [9] * expected
    # A column that cannot be a substitute is not tried.
    assert ((7, 9) in swaps.asked) is (needed or similar >= 0.7)


def test_a_substitute_recovers_more_than_half() -> None:
    """Both gains are significant and neither is significantly worse, as the errors vary alike."""
    swaps = _Given({(7, None): (0.3, 0.08), (7, 8): (0.26, 0.08), (7, 9): (0.24, 0.08)})
    (one,) = room._examine(swaps, {7: (np.array([8, 9]), np.array([0.9, 0.8]))})
    assert [other.column for other in one.substitutes] == [9]


def test_differences_are_those_of_fits_by_hand() -> None:
    X, y = planted()
    splits = folds(y, 1)

    def errors(*columns: int) -> np.ndarray:
        values = []
        for split in splits:
            model = make_pipeline(StandardScaler(), KNeighborsClassifier(15))
            guess = model.fit(X[split.train][:, columns], y[split.train]).predict(X[split.test][:, columns])
            values.append(np.mean([(guess != y[split.test])[y[split.test] == c].mean() for c in (0, 1)]))
        return np.array(values)

    found = find_substitutes(chosen(0, 1), Dataset.of(X, y), splits)
    base = errors(0, 1)

    def difference(*columns: int) -> tuple[float, float]:
        gap = errors(*columns) - base
        return gap.mean(), gap.std(ddof=1) * np.sqrt(1 / 5 + 1 / 4)

    by_name = {one.feature: one for one in found.examined}
    assert (by_name[0].loss, by_name[0].se) == pytest.approx(difference(1))
    (copy,) = found[0]
    assert (copy.difference, copy.se) == pytest.approx(difference(2, 1))


def test_the_only_feature_is_compared_with_the_shares_of_the_classes() -> None:
    X, y = planted()
    found = find_substitutes(chosen(0), Dataset.of(X, y), folds(y))
    (one,) = found.examined
    assert one.needed
    assert 0.25 < one.loss < 0.4
    assert 2 in names(found)[0]


def test_sparse_is_dense() -> None:
    X, y = planted()
    X[np.abs(X) < 0.5] = 0.0
    model = make_pipeline(Columns((0, 1)), recipe("standardize | knn(15)"))
    dense, sparse = (find_substitutes(model, Dataset.of(kind(X), y), folds(y)) for kind in (np.asarray, sp.csr_matrix))
    assert names(dense) == {0: [2], 1: [3]}
    assert names(sparse) == names(dense)
    for one, other in zip(sparse.examined, dense.examined, strict=True):
        assert (one.loss, one.se) == pytest.approx((other.loss, other.se))


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame])
def test_nominal_columns_and_missing_values(frame: Any) -> None:
    X, y = planted()
    rng = np.random.default_rng(2)
    level = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [0.5, 2.0])]
    table = {"level": level, "LEVEL": np.char.upper(level), "x1": X[:, 1], "x3": X[:, 3]}
    table |= {f"noise{i}": rng.normal(size=ROWS) for i in range(6)}
    table |= {f"word{i}": np.array(["u", "v"])[rng.integers(0, 2, ROWS)] for i in range(3)}
    table["x1"] = np.where(rng.random(ROWS) < 0.05, np.nan, table["x1"])
    data = frame(table)
    if frame is pl.DataFrame:
        data = data.with_columns(pl.col("x1").fill_nan(None))
    found = find_substitutes(
        make_pipeline(Columns((0, 2)), recipe("impute | encode | knn(15)")), Dataset.of(data, y), folds(y)
    )
    assert names(found) == {"level": ["LEVEL"], "x1": ["x3"]}
    assert found["level"][0].redundancy == pytest.approx(1.0)


def test_in_a_blend_the_column_is_exchanged_where_it_is_used() -> None:
    X, y = planted()
    model = recipe("blend(cc(2) | knn(15), f(1) | nb, weights=[1, 1])")
    fitted = model.fit(X, y)
    # The members select columns of their own.
    first, second = (np.flatnonzero(one[0].get_support()).tolist() for one in fitted.estimators_)
    assert first != second
    fixed = fixed_model(model, fitted, X.shape[1])
    assert [one.columns.tolist() for one in fixed.members] == [first, second]
    places = {column: column for column in range(30)}
    changed = fixed.on(places, {second[0]: 25})
    assert [one["columns"].columns for one in changed.estimators] == [
        tuple(25 if c == second[0] else c for c in first),
        (25,),
    ]
    found = find_substitutes(model, Dataset.of(X, y), folds(y), fitted=fitted)
    assert set(found) == set(first) | set(second)


def test_a_blend_without_a_member_of_weight_zero() -> None:
    X, y = planted()
    model = recipe("blend(cc(2) | knn(15), knn(3), weights=[1, 0])")
    fixed = fixed_model(model, model.fit(X, y), 30)
    assert len(fixed.members) == 1
    assert fixed.on({int(c): int(c) for c in fixed.columns}, {}).fit(X, y).weights_.tolist() == [1.0]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("standardize | cc(3) | svm", ["standardize", "svm"]),
        ("cc(9) | standardize | f(3) | knn(3)", ["standardize", "knn(3)"]),
        ("cc(5) | pca(3) | f(2) | knn(3)", ["pca(3)", "f(2)", "knn(3)"]),
        ("committee(3, cc(2) | svm)", ["committee(3, svm)"]),
    ],
)
def test_only_selection_of_input_columns_is_removed(text: str, left: list[str]) -> None:
    X, y = planted()
    model = recipe(text)
    fixed = fixed_model(model, recipe(text).fit(X, y), 30)
    assert to_text(fixed.members[0].model) == " | ".join(left)


def test_a_tree_is_grown_again_on_the_columns_that_it_uses() -> None:
    X, y = planted()
    found = find_substitutes("tree(max_depth=1)", Dataset.of(X[:, [0, 2, *range(4, 20)]], y), folds(y, 1))
    assert names(found) in ({0: [1]}, {1: [0]})


def test_the_number_of_processes_does_not_matter() -> None:
    X, y = planted()
    one, two = (find_substitutes("cc(2) | extra_trees(10)", Dataset.of(X, y), folds(y, 1), n_jobs=n) for n in (1, 2))
    assert one == two


def test_the_same_seed_finds_the_same() -> None:
    X, y = planted()
    again = [find_substitutes("cc(2) | extra_trees(10)", Dataset.of(X, y), folds(y, 1), seed=s) for s in (0, 0, 1)]
    assert again[0] == again[1]
    assert again[0] != again[2]


# ---------------------------------------------------------------- limits


def test_only_the_best_features_are_examined(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = planted()
    monkeypatch.setattr(room, "_FEATURES", 2)
    found = find_substitutes(chosen(0, 1, 5, 6, 7), Dataset.of(X, y), folds(y, 1))
    assert set(found) == {0, 1}
    assert found.note == "2 of the 5 features were examined"


def test_no_time_leaves_a_note() -> None:
    X, y = planted()
    found = find_substitutes(chosen(0, 1), Dataset.of(X, y), folds(y, 1), seconds=0)
    assert dict(found) == {}
    assert found.note == "0 of the 2 features were examined, as the time was up"


@pytest.mark.parametrize(("cut", "examined"), [(False, 2), (True, 1)])
def test_time_up_in_the_middle_keeps_what_is_known(monkeypatch: pytest.MonkeyPatch, cut: bool, examined: int) -> None:
    """Time is up while the substitutes of the second feature are tried; `cut` is whether they come back without."""
    X, y = planted()
    monkeypatch.setattr(room, "_AT_ONCE", 1)
    compute, calls = ColumnSwaps.errors, []

    def errors(self: ColumnSwaps, changes: Any) -> Any:
        # The model itself, then a feature dropped and its substitutes, in turns.
        calls.append(changes)
        return [None] * len(changes) if cut and len(calls) > 4 else compute(self, changes)

    monkeypatch.setattr(ColumnSwaps, "errors", errors)
    monkeypatch.setattr(ColumnSwaps, "late", property(lambda _: len(calls) > 4))
    found = find_substitutes(chosen(0, 1, 5), Dataset.of(X, y), folds(y, 2))
    assert len(calls) == 5
    assert len(found) == examined
    assert found.note == f"{examined} of the 3 features were examined, as the time was up"


def test_a_model_of_all_columns_has_no_substitutes() -> None:
    X, y = planted()
    assert find_substitutes("knn(3)", Dataset.of(X, y), folds(y)).note == "the model uses all columns"


class _Lost(KNeighborsClassifier):
    """A classifier that claims to use other columns than it got."""

    used_ = np.zeros(3, dtype=bool)


def test_columns_that_cannot_be_traced_are_a_note() -> None:
    X, y = planted()
    found = find_substitutes(_Lost(), Dataset.of(X, y), folds(y))
    assert (dict(found), found.note) == ({}, "the columns that the model uses cannot be traced")


class _Refuses(KNeighborsClassifier):
    """A classifier that fails in folds."""

    def fit(self, X: Any, y: Any) -> Any:
        if len(X) < ROWS:
            raise ValueError("too few rows")
        return super().fit(X, y)


def test_a_model_that_fails_in_the_folds_is_a_note() -> None:
    X, y = planted()
    found = find_substitutes(make_pipeline(Columns((0, 1)), _Refuses()), Dataset.of(X, y), folds(y))
    assert dict(found) == {}
    assert "too few rows" in found.note


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"splits": []}, "splits must be two or more"),
        ({"metric": "speed"}, "speed"),
        ({"candidates": 0}, "candidates"),
        ({"seconds": -1.0}, "seconds"),
        ({"model": "cc(2)"}, "does not predict"),
    ],
)
def test_bad_input_is_refused(options: dict[str, Any], message: str) -> None:
    X, y = planted()
    given = {"model": "cc(2) | knn(3)", "splits": folds(y), **options}
    with pytest.raises(TamisError, match=message):
        find_substitutes(given.pop("model"), Dataset.of(X, y), given.pop("splits"), **given)


def test_constant_and_copied_columns_do_no_harm() -> None:
    X, y = planted()
    X[:, 10], X[:, 11] = 1.0, X[:, 0]
    found = find_substitutes(chosen(0, 1), Dataset.of(X, y), folds(y))
    assert found[0][0].feature == 11
    assert found[0][0].difference == 0.0
    X[3, 12] = np.inf
    with pytest.raises(TamisError, match="row 4 holds infinity in column '12'"):
        Dataset.of(X, y)


def test_a_hundred_thousand_columns() -> None:
    X, y = planted(columns=20)
    wide = sp.hstack([sp.csr_matrix(X), sp.random(ROWS, 100_000, 1e-3, "csr", random_state=0)], format="csr")
    found = find_substitutes(chosen(0, 1).set_params(standardscaler__with_mean=False), Dataset.of(wide, y), folds(y, 1))
    assert names(found)[0][0] == 2


# ---------------------------------------------------------------- in a search and its report

SEARCH: dict[str, Any] = {"trials": 2, "only": ["cc(2) | knn(15)"], "without": ["committee"], "engine": "serial"}


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """A search in which the copies have so much noise that they are not selected."""
    X, y = planted()
    X[:, 2:4] += 0.3 * np.random.default_rng(5).normal(size=(ROWS, 2))
    table = pl.DataFrame({**{f"g{i}": X[:, i] for i in range(30)}, "kind": np.where(y, "ill", "well")})
    folder = tmp_path_factory.mktemp("substitutes")
    table.write_csv(folder / "blood.csv")
    data = tamis.load(folder / "blood.csv", target="kind")
    return tamis.mine(data, run=folder / "a.tamis-run", folds=2, inner_folds=3, **SEARCH), folder


def test_a_search_tells_the_substitutes(mined: tuple[Any, Path]) -> None:
    found, _ = mined
    assert set(found.substitutes_) == set(found.selected_features_) == {"g0", "g1"}
    assert {f: [one.feature for one in others] for f, others in found.substitutes_.items()} == {
        "g0": ["g2"],
        "g1": ["g3"],
    }
    assert json.loads(json.dumps(found.summary()["substitutes"])) == found.substitutes_.to_dict()


def test_they_are_read_from_the_run(mined: tuple[Any, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    found, folder = mined
    monkeypatch.setattr(room, "find_substitutes", lambda *_, **__: pytest.fail("they are found again"))
    data = tamis.load(folder / "blood.csv", target="kind")
    again = tamis.mine(data, run=folder / "a.tamis-run", folds=2, inner_folds=3, **SEARCH)
    assert again.substitutes_ == found.substitutes_


def test_a_search_does_not_fail_for_want_of_substitutes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise TamisError("no such luck")

    monkeypatch.setattr(room, "find_substitutes", refuse)
    X, y = planted()
    found = tamis.mine(X, y, folds=2, inner_folds=2, **SEARCH)
    assert (dict(found.substitutes_), found.substitutes_.note) == ({}, "no such luck")


@pytest.mark.parametrize(
    ("now", "before", "expected"), [(None, None, False), (3.0, None, False), (3.0, 5.0, False), (6.0, 5.0, True)]
)
def test_more_time_finds_them_again(now: float | None, before: float | None, expected: bool) -> None:
    assert room._longer(now, before) is expected


def test_the_report_shows_them(mined: tuple[Any, Path]) -> None:
    found, folder = mined
    made = tamis.report(folder / "a.tamis-run")
    entry = made.facts["features"]["substitutes"]
    names = made.facts["features"]["table"]["name"]
    assert {names[one["place"]] for one in entry["examined"]} == {one["name"] for one in entry["examined"]}
    assert {one["name"]: [other["name"] for other in one["by"]] for one in entry["examined"]} == {
        "g0": ["g2"],
        "g1": ["g3"],
    }
    similar = found.substitutes_["g0"][0].redundancy
    assert f"- `g0` could be replaced by: `g2` (r = {similar:.2f})" in made.to_markdown()
    page = made.to_html(folder / "a.html").read_text(encoding="utf-8")
    assert '"by":[{"name":"g2"' in page
    assert "could be replaced by a column" in page


def test_a_report_from_before_has_none() -> None:
    facts = sample()
    del facts["features"]["substitutes"]
    assert "could be replaced" not in text(facts)
    facts["features"]["substitutes"] = {"examined": [], "note": "the model uses all columns"}
    assert "On substitutes: the model uses all columns." in text(facts)


def test_the_text_names_the_dispensable() -> None:
    facts = sample()
    examined = facts["features"]["substitutes"]["examined"]
    written = text(facts)
    line = next(line for line in written.splitlines() if line.startswith("Dispensable"))
    assert line.count("`") == 2 * sum(not one["needed"] for one in examined)
    assert written.count("could be replaced by:") == sum(bool(one["by"]) for one in examined)


def test_on_the_command_line(tamis: Any, mined: tuple[Any, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    _, folder = mined
    monkeypatch.chdir(folder)
    typed = ("mine", "blood.csv", "--target", "kind", "--trials", 2, "--folds", 2, "--inner-folds", 3)
    code, out, _ = tamis(*typed, "--engine", "serial", "--try", "cc(2) | knn(15)", "--without", "committee")
    assert code == 0
    assert "g0 could be replaced by g2 (0.9" in out
    code, out, _ = tamis("report", "blood.tamis-run", "--markdown")
    assert code == 0
    assert "`g1` could be replaced by: `g3`" in out
