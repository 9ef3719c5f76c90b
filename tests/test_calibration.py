"""Calibration against scikit-learn's logistic regression and a general optimizer."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax

from tamis.base.predictions import LEAST, calibrated
from tamis.mining.calibration import fit_calibration


def given(n_models: int = 4, n_rows: int = 80, n_classes: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of models that are too sure, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n_rows)
    evidence = rng.normal(size=(n_models, n_rows, n_classes)) * 2
    evidence[:, np.arange(n_rows), y] += 1.5
    p = np.exp(3 * evidence)
    return p / p.sum(axis=2, keepdims=True), y


def penalized_loss(parameters: np.ndarray, p: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    moved = parameters[0] * np.log(np.clip(p, LEAST, 1)) + np.concatenate([[0.0], parameters[1:]])
    prior = np.eye(1, parameters.size)[0]
    return -weight @ log_softmax(moved, axis=1)[np.arange(y.size), y] + 0.5 * ((parameters - prior) ** 2).sum()


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_minimum_of_the_loss(n_classes: int, weighted: bool) -> None:
    p, y = given(n_classes=n_classes)
    weight = np.random.default_rng(1).poisson(1.0, y.size).astype(float) if weighted else np.ones(y.size)
    found = fit_calibration(p, y, weight)
    for own, parameters in zip(p, found, strict=True):
        best = minimize(penalized_loss, np.eye(1, n_classes)[0], args=(own, y, weight), method="BFGS", tol=1e-10)
        np.testing.assert_allclose(parameters, best.x, atol=6e-4)


def test_it_begins_anywhere() -> None:
    p, y = given(n_classes=3)
    weight = np.ones(y.size)
    start = np.tile([3.0, -2.0, 2.0], (4, 1))
    np.testing.assert_array_equal(fit_calibration(p, y, weight, start), fit_calibration(p, y, weight))


def test_models_do_not_depend_on_each_other_nor_rows_without_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    p, y = given()
    weight = np.repeat([1.0, 0.0], 40)
    found = fit_calibration(p, y, weight)
    np.testing.assert_array_equal(found, fit_calibration(p[:, :40], y[:40], weight[:40]))
    np.testing.assert_array_equal(found[2:3], fit_calibration(p[2:3], y, weight))
    monkeypatch.setattr("tamis.mining.calibration._AT_ONCE", 1)
    np.testing.assert_array_equal(found, fit_calibration(p, y, weight))


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_probabilities_of_zero_and_one_and_separated_classes_stay_finite(p: float) -> None:
    y = np.arange(20) % 2
    sure = np.column_stack([1.0 - y, y])[None]
    found = fit_calibration(sure if p else 1 - sure, y, np.ones(20))
    assert np.isfinite(found).all()
    assert (found[:, 0] > 0).all()


def test_calibrated_probabilities_have_a_smaller_loss_on_other_rows() -> None:
    p, y = given(n_rows=4000, n_classes=3)
    parameters = fit_calibration(p[:, :2000], y[:2000], np.ones(2000))
    rows, truth = np.arange(2000), y[2000:]
    for own, found in zip(p[:, 2000:], parameters, strict=True):
        after = calibrated(own, found)
        assert after.sum(axis=1) == pytest.approx(1.0)
        assert -np.log(after[rows, truth]).mean() < -np.log(np.clip(own, LEAST, 1))[rows, truth].mean() - 0.1
