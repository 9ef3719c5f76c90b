"""The last step of all generators: from columns to a data set."""

import numpy as np

from tamis.base.types import FloatArray
from tamis.data.dataset import Dataset


def planted(
    name: str, X: FloatArray, y: np.ndarray, roles: np.ndarray, order: np.ndarray, *, target: str = "class"
) -> Dataset:
    """The data set with its columns in the given `order`; their names f1, f2, ... do not reveal the roles."""
    names = np.array([f"f{number}" for number in range(1, X.shape[1] + 1)])
    return Dataset(X=X[:, order], y=y, feature_names=names, name=name, target=target, roles=roles[order])
