"""Metrics of numbers equal scikit-learn's and scipy's, and their standard errors those of many draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as sk

from tamis.base.errors import TamisError
from tamis.validation.metrics import Metric, all_metrics, chosen, metrics_for, standard_error
from tamis.validation.numeric_metrics import NumericPredictions, numeric_metrics

REFERENCE = {
    "rmse": sk.root_mean_squared_error,
    "mae": sk.mean_absolute_error,
    "r2": sk.r2_score,
    "spearman": lambda truth, found: stats.spearmanr(truth, found).statistic,
}


def drawn(seed: int = 0, n: int = 200) -> NumericPredictions:
    rng = np.random.default_rng(seed)
    truth = rng.normal(10.0, 3.0, n)
    return NumericPredictions(truth, truth + rng.normal(size=n))


@pytest.mark.parametrize("name", list(REFERENCE))
@given(seed=st.integers(0, 1000), n=st.integers(3, 40))
def test_a_metric_equals_its_reference(name: str, seed: int, n: int) -> None:
    predictions = drawn(seed, n)
    expected = REFERENCE[name](predictions.truth, predictions.labels)
    assert numeric_metrics[name](predictions) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_the_deviance_is_scikit_learns_for_counts() -> None:
    rng = np.random.default_rng(0)
    mean = np.exp(rng.normal(size=300))
    predictions = NumericPredictions(rng.poisson(mean).astype(float), mean)
    expected = sk.d2_tweedie_score(predictions.truth, predictions.labels, power=1)
    assert numeric_metrics["deviance"](predictions) == pytest.approx(expected)


def test_a_prediction_of_no_counts_or_fewer_has_a_finite_deviance() -> None:
    predictions = NumericPredictions(np.array([0.0, 3.0, 2.0]), np.array([-1.0, 0.0, 2.0]))
    assert np.isfinite(numeric_metrics["deviance"](predictions))


@pytest.mark.parametrize("truth", [[0.5, 1.0, 2.0], [-1.0, 1.0, 2.0]])
def test_the_deviance_is_for_counts_alone(truth: list[float]) -> None:
    predictions = NumericPredictions(np.array(truth), np.ones(3))
    assert not numeric_metrics["deviance"].possible(predictions)
    with pytest.raises(TamisError, match="deviance needs a target of counts"):
        numeric_metrics["deviance"](predictions)


def test_what_is_undefined_is_nan() -> None:
    same = NumericPredictions(np.ones(4), np.arange(4.0))
    assert np.isnan(numeric_metrics["r2"](same))
    assert np.isnan(numeric_metrics["spearman"](same))
    assert numeric_metrics["spearman"](NumericPredictions(np.arange(4.0), np.ones(4))) == 0.0


@pytest.mark.parametrize("name", ["rmse", "mae", "r2", "spearman"])
def test_the_standard_error_is_the_deviation_over_many_test_sets(name: str) -> None:
    metric = numeric_metrics[name]
    values = [metric(drawn(seed)) for seed in range(400)]
    errors = [standard_error(metric, drawn(seed)) for seed in range(5)]
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.2)


def test_a_perfect_prediction_has_no_standard_error() -> None:
    perfect = NumericPredictions(np.arange(5.0), np.arange(5.0))
    assert standard_error(numeric_metrics["rmse"], perfect) == 0.0


def test_metrics_are_chosen_by_the_task() -> None:
    assert [metric.name for metric in chosen(["r2", "rmse", "r2"], "regress")] == ["r2", "rmse"]
    assert metrics_for("classify") is all_metrics
    with pytest.raises(TamisError, match=r"metric ber is for classes, and the target holds numbers; there are: rmse"):
        chosen("ber", "regress")
    with pytest.raises(TamisError, match=r"metric rmse is for numbers, and the target holds classes; there are: ber"):
        chosen("rmse")
    with pytest.raises(TamisError, match="no metric is called 'rsme'"):
        chosen("rsme", "regress")
    with pytest.raises(TamisError, match="metric ber is for classes"):
        chosen(Metric("ber", "BER", "low", "labels", lambda _: 0.0), "regress")
