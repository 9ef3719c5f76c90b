"""Bayesian logistic regression: time and error on five real sets, beside l1 logistic regression and ARDRegression.

Each model is refitted in every fold, with all that goes before it. Seconds are of the processor, so that other work on
the machine counts little; errors are balanced errors in percent. The ratio is to the line of tamis before. Single sets
are named as options: ``python -m benchmarks bayes_logistic --colon``.
"""

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import ARDRegression, LogisticRegressionCV
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

import tamis
from tamis.classify import BayesLogistic
from tamis.select import Ranking

ONLY_NAMED = True

_SETS = ("colon", "leukemia", "arcene", "madelon", "dexter")

#: Columns that reach ARDRegression, which holds a matrix of all pairs of them, and the model beside it.
_FEW = 200


class Codes(ClassifierMixin, BaseEstimator):
    """ARDRegression on -1 and 1."""

    def fit(self, X: Any, y: Any) -> "Codes":
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.model_ = ARDRegression().fit(X.toarray() if sp.issparse(X) else X, 2 * codes - 1)
        self.used_ = self.model_.coef_ != 0
        return self

    def predict(self, X: Any) -> np.ndarray:
        found = self.model_.predict(X.toarray() if sp.issparse(X) else X)
        return self.classes_[(found > 0).astype(int)]


@dataclass
class _Line:
    error: float
    spread: float
    used: float
    processor: float
    wall: float


def _models(sparse: bool) -> dict[str, Any]:
    scale = MaxAbsScaler() if sparse else StandardScaler()
    l1 = LogisticRegressionCV(
        Cs=10,
        cv=5,
        l1_ratios=(1.0,),
        solver="liblinear",
        scoring="neg_log_loss",
        random_state=0,
        use_legacy_attributes=False,
    )
    few = Ranking("cc", k=_FEW)
    return {
        "bayes_logistic": make_pipeline(scale, BayesLogistic()),
        "LogisticRegressionCV l1": make_pipeline(scale, l1),
        f"cc({_FEW}) | bayes_logistic": make_pipeline(scale, few, BayesLogistic()),
        f"cc({_FEW}) | ARDRegression": make_pipeline(scale, few, Codes()),
    }


def _used(model: Pipeline) -> int:
    last = model[-1]
    return int(np.count_nonzero(last.used_ if hasattr(last, "used_") else last.coef_))


def _measured(model: Any, X: Any, y: np.ndarray) -> _Line:
    """Error, columns used and seconds of fits in five stratified folds."""
    errors, used = [], []
    processor, wall = 0.0, 0.0
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(np.zeros(y.size), y):
        begun, ticks = time.perf_counter(), time.process_time()
        fitted = clone(model).fit(X[train], y[train])
        wall, processor = wall + time.perf_counter() - begun, processor + time.process_time() - ticks
        errors.append(100 * (1 - balanced_accuracy_score(y[test], fitted.predict(X[test]))))
        used.append(_used(fitted))
    return _Line(float(np.mean(errors)), float(np.std(errors)), float(np.mean(used)), processor / 5, wall / 5)


def main(options: list[str] | None = None) -> None:
    for name in options or _SETS:
        data = tamis.load(name.removeprefix("--"))
        print(f"{data.name}, {data.X.shape[0]} x {data.X.shape[1]}, five folds", flush=True)
        sparse = sp.issparse(data.X)
        X = sp.csr_array(data.X).astype(np.float64) if sparse else np.asarray(data.X, dtype=np.float64)
        ours = 0.0
        for words, model in _models(sparse).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                one = _measured(model, X, np.asarray(data.y))
            ours = one.processor if "bayes_logistic" in words else ours
            ratio = one.processor / ours
            print(
                f"  {words:<28} error {one.error:5.1f} +- {one.spread:4.1f}   columns {one.used:6.1f}   "
                f"{one.processor:8.2f} s of processor a fit   ({one.wall:.2f} s by the clock)   {ratio:7.1f}x",
                flush=True,
            )
