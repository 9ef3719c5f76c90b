"""A problem with a known answer, and a model for it."""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from tamis.data.dataset import Dataset
from tamis.select import Ranking


def planted(seed: int = 0, rows: int = 60, columns: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Noise in which columns 3 and 8 tell the classes apart, though not perfectly."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([0, 1], rows // 2))
    X = rng.normal(size=(rows, columns))
    X[:, [3, 8]] += 1.2 * y[:, None]
    return X, y


def chain(k: int = 3, last: Any = None) -> Pipeline:
    """A model of three steps that keeps k columns."""
    return make_pipeline(StandardScaler(), Ranking("cc", k=k), LogisticRegression() if last is None else last)


def dataset(X: Any, y: np.ndarray, **known: Any) -> Dataset:
    """The same as a data set, with what else is known of it."""
    return Dataset(X, y, np.array([f"f{i}" for i in range(X.shape[1])]), name="planted", **known)


def with_valid_rows() -> Dataset:
    """Two informative columns and 18 probes; 80 train and 40 valid rows."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 20))
    X[:, :2] += 2 * y[:, None]
    roles = np.where(np.arange(20) < 2, "informative", "probe")
    return dataset(X, y, split=np.repeat(["train", "valid"], [80, 40]), roles=roles)
