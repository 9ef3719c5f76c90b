"""FR-SVM: seconds to answer for new rows and accuracy, beside the plain Gaussian SVM here and in scikit-learn."""

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from benchmarks.timing import seconds
from tamis.base.errors import TamisError
from tamis.classify import FRSVM, SVM
from tamis.data import load

#: Training rows and new rows of MNIST.
_TRAIN, _NEW = 10_000, 10_000

#: What a unit of slack costs, as in Lei and Govindaraju's experiments on MNIST.
_COST = 5.0


class _Digits(NamedTuple):
    name: str
    train: np.ndarray
    classes: np.ndarray
    new: np.ndarray
    truth: np.ndarray


class _Run(NamedTuple):
    fit: float
    answer: float
    accuracy: float


def _digits() -> _Digits:
    """The first training rows and all test rows of MNIST, or scikit-learn's small digits."""
    try:
        data = load("mnist")
    except TamisError:
        X, y = load_digits(return_X_y=True)
        return _Digits("digits", X[:1000], y[:1000], X[1000:], y[1000:])
    new = np.arange(data.X.shape[0] - _NEW, data.X.shape[0])
    rows = np.concatenate([np.arange(_TRAIN), new])
    X, y = np.asarray(data.X[rows], dtype=np.float64) / 255.0, np.asarray(data.y)[rows]
    return _Digits("MNIST", X[:_TRAIN], y[:_TRAIN], X[_TRAIN:], y[_TRAIN:])


def _run(model: Any, digits: _Digits) -> _Run:
    start = perf_counter()
    model.fit(digits.train, digits.classes)
    fit = perf_counter() - start
    answer = seconds(lambda: model.predict(digits.new))
    return _Run(fit, answer, float(np.mean(model.predict(digits.new) == digits.truth)))


def main() -> None:
    digits = _digits()
    n_rows, n_columns = digits.train.shape
    print(f"{digits.name}: {n_rows} training rows x {n_columns}, {digits.new.shape[0]} new rows, C={_COST:g}")
    plain = SVM("gaussian", _COST)
    peers = {"svm(gaussian)": _run(plain, digits), "SVC": _run(SVC(C=_COST), digits)}
    for name, run in peers.items():
        print(
            f"{name:<44} fit {run.fit:7.2f} s   new rows {run.answer:8.4f} s   accuracy {run.accuracy:.4f}", flush=True
        )
    few = (25, 16) if n_columns < 100 else (50, 40)
    for model in (FRSVM(*few, C=_COST), FRSVM(*few, ranking="linear", C=_COST), FRSVM(few[0], None, C=_COST)):
        own = _run(model, digits)
        name = f"fr_svm({model.n_components}, {model.n_features}, ranking={model.ranking})"
        faster = ", ".join(f"{run.answer / own.answer:.1f}x {peer}" for peer, run in peers.items())
        saved = plain.support_vectors_.size / model.evaluation_cost_
        print(
            f"{name:<44} fit {own.fit:7.2f} s   new rows {own.answer:8.4f} s   accuracy {own.accuracy:.4f}   "
            f"faster: {faster}   multiplications: {saved:.1f}x fewer than svm",
            flush=True,
        )
