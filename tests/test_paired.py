"""Tests on the differences of folds: against scipy, the formulas, numerical integration and a simulation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from tamis.base.errors import TamisError
from tamis.validation.comparison.paired import bayesian_t, corrected_t, holm

#: Ten differences with some spread; the correction for ten folds is 1/9.
FOLDS = np.array([0.021, -0.004, 0.013, 0.030, 0.008, -0.011, 0.025, 0.017, 0.002, 0.019])

differences = st.lists(st.floats(-1, 1).map(lambda x: round(x, 6)), min_size=2, max_size=30).map(np.array)
ratios = st.floats(0, 2)


def test_without_correction_it_is_the_paired_t_test() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 12))
    found, wanted = corrected_t(first - second, 0.0, level=0.1), stats.ttest_rel(first, second)
    assert (found.t, found.pvalue) == pytest.approx((wanted.statistic, wanted.pvalue))
    assert found.interval == pytest.approx(tuple(wanted.confidence_interval(0.9)))
    assert found.n_folds == 12


def test_the_formula_of_nadeau_and_bengio() -> None:
    found = corrected_t(FOLDS, 1 / 9)
    se = np.sqrt((1 / 10 + 1 / 9) * FOLDS.var(ddof=1))
    assert (found.mean, found.se, found.t) == pytest.approx((FOLDS.mean(), se, FOLDS.mean() / se))
    assert found.pvalue == pytest.approx(2 * stats.t.sf(FOLDS.mean() / se, 9))
    assert found.interval == pytest.approx(stats.t.interval(0.95, 9, loc=FOLDS.mean(), scale=se))


def test_values_by_hand() -> None:
    # Mean 2 and variance 2 of two folds; t = 2 / sqrt((1/2 + 1) 2) = 2 / sqrt(3), and with one degree of freedom
    # p = 1 - 2/pi atan(t).
    found = corrected_t([1.0, 3.0], 1.0)
    assert found.t == pytest.approx(2 / np.sqrt(3))
    assert found.pvalue == pytest.approx(1 - 2 / np.pi * np.arctan(2 / np.sqrt(3)))


@pytest.mark.parametrize("rope", [0.0, 0.01, 0.2])
@pytest.mark.parametrize("test_to_train", [0.0, 1 / 9, 1.0])
def test_probabilities_are_areas_under_the_posterior(rope: float, test_to_train: float) -> None:
    found = bayesian_t(FOLDS, test_to_train, rope)
    rho = test_to_train / (1 + test_to_train)
    scale = np.sqrt((1 / 10 + rho / (1 - rho)) * FOLDS.var(ddof=1))
    density = stats.t(9, loc=FOLDS.mean(), scale=scale).pdf
    left = integrate.quad(density, -np.inf, -rope, epsabs=1e-10)[0]
    within = integrate.quad(density, -rope, rope, epsabs=1e-10)[0]
    assert (found.left, found.rope) == pytest.approx((left, within), abs=1e-8)
    assert found.right == pytest.approx(1 - left - within, abs=1e-8)
    assert (found.mean, found.scale, found.n_folds) == pytest.approx((FOLDS.mean(), scale, 10))


@given(differences, ratios, st.floats(0, 0.5))
@settings(deadline=None)
def test_changing_sides_changes_signs(d: np.ndarray, ratio: float, rope: float) -> None:
    one, two = corrected_t(d, ratio), corrected_t(-d, ratio)
    assert (one.mean, one.t, one.se, one.pvalue) == (-two.mean, -two.t, two.se, two.pvalue)
    assert one.interval == (-two.interval[1], -two.interval[0])
    a, b = bayesian_t(d, ratio, rope), bayesian_t(-d, ratio, rope)
    assert (a.left, a.rope, a.right) == (b.right, b.rope, b.left)
    assert a.left + a.rope + a.right == pytest.approx(1)
    assert min(a.left, a.rope, a.right) >= 0


@given(differences, ratios, st.floats(0.001, 0.5))
@settings(deadline=None)
def test_p_value_interval_and_posterior_agree(d: np.ndarray, ratio: float, level: float) -> None:
    found, bayes = corrected_t(d, ratio, level=level), bayesian_t(d, ratio, 0.0)
    low, high = found.interval
    assert low <= found.mean <= high
    if found.se > 0:
        assert found.pvalue == pytest.approx(2 * min(bayes.left, bayes.right), abs=1e-9)
        if abs(found.pvalue - level) > 1e-9:
            assert (found.pvalue < level) == (not low <= 0 <= high)


@given(differences, st.floats(0, 1), st.floats(0.01, 1))
@settings(deadline=None)
def test_more_shared_rows_never_make_it_surer(d: np.ndarray, ratio: float, more: float) -> None:
    assert corrected_t(d, ratio).pvalue <= corrected_t(d, ratio + more).pvalue


def test_undefined_folds_are_left_out() -> None:
    holes = np.insert(FOLDS, [0, 3, 10], np.nan)
    assert corrected_t(holes, 0.1) == corrected_t(FOLDS, 0.1)
    assert bayesian_t(holes, 0.1) == bayesian_t(FOLDS, 0.1)


@pytest.mark.parametrize("folds", [[], [np.nan], [np.nan, 0.5]])
def test_fewer_than_two_folds_give_no_test(folds: list[float]) -> None:
    found, bayes = corrected_t(np.array(folds), 0.1), bayesian_t(np.array(folds), 0.1)
    wanted = 0.5 if 0.5 in folds else np.nan
    assert found.mean == pytest.approx(wanted, nan_ok=True)
    assert bayes.mean == pytest.approx(wanted, nan_ok=True)
    assert np.isnan([found.se, found.t, found.pvalue, *found.interval, bayes.left, bayes.rope, bayes.right]).all()


@pytest.mark.parametrize(
    ("value", "t", "pvalue", "areas"),
    [
        (0.0, 0.0, 1.0, (0.0, 1.0, 0.0)),
        (0.3, np.inf, 0.0, (0.0, 0.0, 1.0)),
        (-0.3, -np.inf, 0.0, (1.0, 0.0, 0.0)),
        (0.005, np.inf, 0.0, (0.0, 1.0, 0.0)),
    ],
)
def test_equal_differences(value: float, t: float, pvalue: float, areas: tuple[float, ...]) -> None:
    found, bayes = corrected_t([value] * 5, 0.25), bayesian_t([value] * 5, 0.25)
    assert (found.se, found.t, found.pvalue, found.interval) == (0.0, t, pvalue, (value, value))
    assert (bayes.left, bayes.rope, bayes.right) == areas


def test_rounding_is_no_spread() -> None:
    # 0.3 - 0.2 is not 0.1 in binary numbers.
    assert corrected_t([0.1, 0.3 - 0.2, 0.4 - 0.3], 0.5).se == 0.0


def shares_wrong(rng: np.random.Generator, rows: int = 60, splits: int = 15, test: int = 20) -> np.ndarray:
    """Differences over random splits between two threshold rules on columns that are equally good."""
    y = np.repeat([0, 1], rows // 2)
    X = rng.normal(size=(rows, 2)) + 1.2 * y[:, None]
    found = []
    for _ in range(splits):
        order = rng.permutation(rows)
        held, learnt = order[:test], order[test:]
        middle = (X[learnt][y[learnt] == 0].mean(axis=0) + X[learnt][y[learnt] == 1].mean(axis=0)) / 2
        wrong = ((X[held] > middle) != y[held, None]).mean(axis=0)
        found.append(wrong[0] - wrong[1])
    return np.array(found)


def test_it_keeps_its_level_where_the_plain_test_does_not() -> None:
    """Two rules that are equally good on average: the plain test finds them apart in far more than 5 % of samples."""
    rng = np.random.default_rng(0)
    samples = [shares_wrong(rng) for _ in range(300)]
    plain, corrected = (np.mean([corrected_t(d, r).pvalue < 0.05 for d in samples]) for r in (0.0, 20 / 40))
    assert plain > 0.3
    assert corrected < 0.12


def test_its_level_is_exact_for_equally_correlated_folds() -> None:
    """Normal folds with correlation n_test / (n_test + n_train) are what the correction assumes."""
    rng = np.random.default_rng(1)
    rho = 0.2
    folds = np.sqrt(rho) * rng.normal(size=(2000, 1)) + np.sqrt(1 - rho) * rng.normal(size=(2000, 8))
    assert np.mean([corrected_t(d, rho / (1 - rho)).pvalue < 0.05 for d in folds]) == pytest.approx(0.05, abs=0.015)
    assert np.mean([corrected_t(d, 0.0).pvalue < 0.05 for d in folds]) > 0.15


def test_holm_by_hand() -> None:
    # In order: 4 * 0.005, 3 * 0.01, 2 * 0.03, 1 * 0.04 raised to the one before it.
    np.testing.assert_allclose(holm([0.04, 0.005, 0.03, 0.01]), [0.06, 0.02, 0.06, 0.03])
    np.testing.assert_array_equal(holm([0.7, 0.6]), [1.0, 1.0])
    assert holm([0.2]).tolist() == [0.2]
    assert holm([]).size == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0.01, 0.2))
def test_holm_rejects_step_by_step(p: list[float], level: float) -> None:
    raised = holm(p)
    assert np.all(raised >= p)
    all_before = True
    for step, i in enumerate(np.argsort(p, kind="stable")):
        all_before = all_before and p[i] * (len(p) - step) < level
        assert (raised[i] < level) == all_before


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: corrected_t([[0.1]], 0.1), r"differences must be finite numbers, one a fold; got shape \(1, 1\)"),
        (lambda: corrected_t(["a", "b"], 0.1), "differences must be finite numbers"),
        (lambda: bayesian_t([0.1, np.inf], 0.1), "differences must be finite numbers"),
        (lambda: corrected_t([0.1, 0.2], -0.1), "test_to_train must be a finite number of 0 or more; got -0.1"),
        (lambda: bayesian_t([0.1, 0.2], np.nan), "test_to_train must be a finite number"),
        (lambda: bayesian_t([0.1, 0.2], 0.1, -1), "rope must be a finite number of 0 or more; got -1"),
        (lambda: corrected_t([0.1, 0.2], 0.1, level=0), "level must be a number above 0 and below 1; got 0"),
        (lambda: corrected_t([0.1, 0.2], 0.1, level="x"), "level must be a number above 0 and below 1; got 'x'"),
    ],
)
def test_refusals(call: object, message: str) -> None:
    with pytest.raises(TamisError, match=message):
        call()
