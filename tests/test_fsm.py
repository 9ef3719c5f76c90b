"""Feature Space Mapping: its density written out, the rows it covers, its rules read literally, nominal and missing."""

import math

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from tamis.base.errors import TamisError
from tamis.classify import FSM
from tamis.classify.fsm.functions import FUNCTIONS


def log_density(model, X, node):
    """A Gaussian node's weight times its density, factor by factor, in units of the columns' deviations."""
    total = np.full(len(X), math.log(model.members_[node]))
    for j, column in enumerate(X.T):
        unit = X[:, j].std()
        factor = norm.logpdf(column, model.centres_[node, j], model.deviations_[node, j]) + math.log(unit)
        total += np.maximum(factor + math.log(2 * math.pi) / 2, math.log(1e-3))
    return total


@st.composite
def problems(draw):
    n, p = draw(st.integers(6, 40)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.normal(size=(n, p))
    values = draw(st.sampled_from(["real", "few", "skewed", "holes"]))
    if values == "few":
        X = np.round(X)
    elif values == "skewed":
        X = np.exp(3 * X)
    elif values == "holes":
        X[rng.random(X.shape) < 0.2] = np.nan
    y = np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), (np.nan_to_num(X[:, 0]) > 0).astype(int))
    y[:3] = [0, 1, 2]
    return X, y


def contradictory(X, y):
    """Rows whose values other rows have with another class."""
    key = [tuple(row) for row in np.nan_to_num(X, nan=1e300).tolist()]
    return np.array([len({c for k, c in zip(key, y, strict=True) if k == own}) > 1 for own in key])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_have_height_and_deviation_one(function) -> None:
    f = lambda z: math.exp(FUNCTIONS[function].log(np.abs([z]))[0])  # noqa: E731
    area, second = (quad(lambda z, k=k: z**k * f(z), -12, 12, points=[-1.7321, 1.7321], limit=200)[0] for k in (0, 2))
    assert f(0.0) == pytest.approx(1.0)
    assert second / area == pytest.approx(1.0, abs=0.02)
    half = FUNCTIONS[function].half
    assert f(half * (1 - 1e-6)) >= 0.49
    assert f(half * (1 + 1e-6)) <= 0.53


def test_evidence_is_the_density_written_out() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2)) + 2.5 * rng.integers(0, 2, (150, 1))
    y = (X.sum(axis=1) > 2).astype(int)
    for combine, join in (("sum", np.logaddexp.reduce), ("strongest", np.max)):
        model = FSM(6, combine=combine).fit(X, y)
        nodes = np.array([log_density(model, X, k) for k in range(len(model.labels_))])
        evidence = np.array([join(nodes[model.labels_ == c], axis=0) for c in (0, 1)])
        expected = 1 / (1 + np.exp(evidence[0] - evidence[1]))
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, rtol=1e-9, atol=1e-12)


def test_one_node_a_class_is_gaussian_naive_bayes() -> None:
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(40, 3)), rng.normal(size=(60, 3)) * [1, 2, 0.5] + 3])
    y = np.repeat([0, 1], [40, 60])
    model = FSM(2, smoothing=0.0).fit(X, y)
    for c in (0, 1):
        np.testing.assert_allclose(model.centres_[c], X[y == c].mean(axis=0))
        np.testing.assert_allclose(model.deviations_[c], X[y == c].std(axis=0))
    assert model.members_.tolist() == [40.0, 60.0]


@given(problems(), st.sampled_from(sorted(FUNCTIONS)), st.sampled_from(["sum", "strongest"]))
@settings(max_examples=20, deadline=None)
def test_with_room_enough_every_row_is_covered(problem, function, combine) -> None:
    X, y = problem
    model = FSM(500, function=function, combine=combine, min_samples=1).fit(X, y)
    right = model.predict(X) == y
    assert (right | contradictory(X, y) | np.isnan(X).any(axis=1)).all()
    assert model.coverage_ == pytest.approx(right.mean())


@given(problems(), st.sampled_from(["gaussian", "rectangular"]), st.sampled_from([1.0, 3.0]))
@settings(max_examples=20, deadline=None)
def test_every_row_meets_a_crisp_rule_of_its_class(problem, function, min_samples) -> None:
    """Read literally, rules count what they say they do, and leave out no row."""
    X, y = problem
    model = FSM(20, function=function, min_samples=min_samples).fit(X, y)
    met = np.zeros(len(y), dtype=bool)
    for rule in model.rules():
        fits = np.ones(len(y), dtype=bool)
        for condition in rule.conditions:
            values = X[:, int(condition.name[1:])]
            inside = (values >= condition.low) & (values < condition.high)
            fits &= np.where(np.isnan(values), condition.missing is True, inside | (condition.outside == frozenset()))
        assert (rule.weight, rule.wrong) == (fits.sum(), (fits & (y != rule.label)).sum())
        met |= fits & (y == rule.label)
    assert met.all()


def test_limits_are_kept() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 2))
    y = (np.sin(3 * X[:, 0]) > 0).astype(int)
    assert len(FSM(7, min_samples=1).fit(X, y).labels_) <= 7
    few, all_ = FSM(100, min_samples=1, coverage=0.9).fit(X, y), FSM(300, min_samples=1).fit(X, y)
    assert 0.9 <= few.coverage_ < 1.0 == all_.coverage_
    assert len(few.labels_) < len(all_.labels_)


def test_clusters_of_a_class_get_nodes_of_their_own() -> None:
    rng = np.random.default_rng(3)
    corners = np.array([[0, 0], [4, 4], [0, 4], [4, 0]])
    X = np.repeat(corners, 50, axis=0) + rng.normal(size=(200, 2)) / 3
    y = np.repeat(["even", "even", "odd", "odd"], 50)
    model = FSM().fit(X, y)
    assert model.coverage_ == 1.0
    nearest = np.abs(model.centres_ - corners[:, None]).max(axis=2).min(axis=1)
    assert (nearest < 0.3).all()
    for rule in model.rules():
        assert rule.wrong == 0


def golf():
    frame = pl.DataFrame({
        "outlook": ["sunny"] * 5 + ["overcast"] * 4 + ["rain"] * 5,
        "humidity": [70.0, 90, 85, 95, 70, 90, 78, 65, 75, 80, 70, 80, 80, 96],
        "windy": ["yes", "yes", "no", "no", "no", "yes", "no", "yes", "no", "yes", "yes", "no", "no", "no"],
    })  # fmt: skip
    return frame, np.array(["yes", "no", "no", "no", "yes", *["yes"] * 4, "no", "no", "yes", "yes", "yes"])


def test_levels_have_memberships_and_rules_name_them() -> None:
    frame, play = golf()
    model = FSM(20, min_samples=1, smoothing=0.5).fit(frame, play)
    assert model.score(frame, play) == 1.0
    texts = [str(rule) for rule in model.rules()]
    assert any("outlook in {" in text or "windy in {" in text for text in texts)
    assert any(" in {" in str(rule) and ": 1" in str(rule) for rule in model.rules("fuzzy"))
    unknown = pl.DataFrame({"outlook": ["snow"], "humidity": [70.0], "windy": ["no"]})
    missing = pl.DataFrame({"outlook": [None], "humidity": [70.0], "windy": ["no"]}, schema=frame.schema)
    np.testing.assert_allclose(model.predict_proba(unknown), model.predict_proba(missing))


def test_rows_that_differ_in_levels_alone_are_covered() -> None:
    rng = np.random.default_rng(4)
    codes = np.array([[a, b, c] for a in "abc" for b in "xyz" for c in "12"], dtype=object)
    y = rng.integers(0, 2, 18)
    assert FSM(60, min_samples=1).fit(codes, y).score(codes, y) == 1.0


def test_a_missing_value_drops_its_factor() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(100, 2)) + 2 * (np.arange(100) % 2)[:, None]
    y = np.arange(100) % 2
    both, one = FSM(2, smoothing=0.0).fit(X, y), FSM(2, smoothing=0.0).fit(X[:, :1], y)
    holes = X.copy()
    holes[:, 1] = np.nan
    np.testing.assert_allclose(both.predict_proba(holes), one.predict_proba(X[:, :1]), rtol=1e-9)


def test_units_and_offsets_of_columns_do_not_matter() -> None:
    rng = np.random.default_rng(6)
    X = rng.normal(size=(120, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    expected = FSM().fit(X, y).predict_proba(X)
    moved = X * [1e-9, 1e9, 3.0] + [5.0, 0.0, 1e3]
    np.testing.assert_allclose(FSM().fit(moved, y).predict_proba(moved), expected, rtol=1e-5, atol=1e-7)


def test_bad_input_is_refused() -> None:
    X, y = np.arange(8.0)[:, None], np.arange(8) % 2
    with pytest.raises(TamisError, match="crisp or fuzzy"):
        FSM().fit(X, y).rules("vague")
    with pytest.raises(TamisError, match="scale the columns"):
        FSM().fit(np.array([[-1.7e308], [1.7e308], [1.7e308], [1.6e308]]), y[:4])
    with pytest.raises(TamisError, match="select columns"):
        FSM().fit(sp.csr_array((2_000, 60_000)), np.arange(2_000) % 2)
