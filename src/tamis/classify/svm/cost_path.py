"""Kernel, width and cost of a support vector machine, selected by cross-validation on one set of distances.

Each width turns inner products or distances into one kernel matrix of all rows. In each fold the costs are solved from
the smallest to the largest.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from tamis.base.classifier import one_vs_one
from tamis.base.inner_cv import Fold
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.validation import row_terms
from tamis.margins.kernel import inner_products, squared_norms
from tamis.margins.pairs import Multiclass, column_path, gram_path
from tamis.margins.solve import Solution

#: Costs to try, for a kernel whose rows lie at a mean squared distance of 1 from their mean.
COSTS = np.geomspace(1e-3, 1e4, 10)

#: Limits of a solve in the search: steps of libsvm, multiplications of refining and of liblinear's passes.
_STEPS, _REFINE, _PASSES = 50_000, 1e8, 2e8


class Candidate(NamedTuple):
    """A kernel, its width (None for one without) and the cost of slack."""

    kernel: str
    sigma: float | None
    C: float


@dataclass(frozen=True)
class Rule:
    """Parameters of the SVM that all solves of the search use."""

    class_weight: str | None
    ridge: float
    tol: float
    max_iter: int | None
    multiclass: Multiclass
    intercept: bool

    @property
    def form(self) -> dict[str, Any]:
        """The form of the machines."""
        return {"multiclass": self.multiclass, "intercept": self.intercept}


class _Part(NamedTuple):
    """Rows of a fold, and class codes, ascending costs and ridge of its training rows."""

    train: np.ndarray
    test: np.ndarray
    codes: Codes
    costs: Sequence[FloatArray]
    ridge: FloatArray


#: Decisions on the test rows of a fold, of shape (test rows, costs, two-class problems).
_Decide = Callable[[_Part], FloatArray]


def gram_spread(gram: FloatArray, y: Codes, weight: FloatArray, ridge: float) -> float:
    """Mean squared distance of the rows to their mean in the space of a kernel, ridge included; 1 where it is 0."""
    share = weight / weight.sum()
    size = np.bincount(y, weights=share)
    mean = float(share @ gram.diagonal())
    return _positive(mean - float(share @ gram @ share) + ridge * float(size @ size), mean)


def column_spread(X: Matrix, weight: FloatArray) -> float:
    """The same of the rows themselves."""
    share = weight / weight.sum()
    centre = np.asarray(X.T @ share).ravel()
    mean = float(share @ squared_norms(X))
    return _positive(mean - float(centre @ centre), mean)


def _positive(spread: float, scale: float) -> float:
    return spread if spread > 1e-12 * scale else 1.0


def search_grams(
    widths: Mapping[str, Sequence[float | None]],
    values: Callable[[str, float | None], FloatArray],
    y: Codes,
    weight: FloatArray,
    folds: Sequence[Fold],
    C: float | None,
    rule: Rule,
) -> tuple[list[Candidate], FloatArray]:
    """Accuracy in each fold of every kernel, width and cost, the simplest candidates first.

    `widths` are those of each kernel, largest first ((None,) for a kernel without one), and `values` returns the kernel
    matrix of all rows. Without `C` the costs are :data:`COSTS`, divided by the spread of the rows in the space of the
    kernel. Candidates come in the order of the kernels, then of these costs, then of the widths.
    """
    candidates: list[Candidate] = []
    found: list[FloatArray] = []
    for kernel, sigmas in widths.items():
        paths, accuracy = [], []
        for sigma in sigmas:
            gram = values(kernel, sigma)
            costs = [C] if C is not None else (COSTS / gram_spread(gram, y, weight, rule.ridge)).tolist()
            paths.append([Candidate(kernel, sigma, cost) for cost in costs])
            accuracy.append(_accuracy(partial(_decide_gram, gram, rule), y, folds, costs, rule))
        candidates += [one for same in zip(*paths, strict=True) for one in same]
        found += list(np.stack(accuracy, axis=-1).transpose(1, 2, 0).reshape(-1, len(folds)))
    return candidates, np.array(found).T


def search_columns(
    X: Matrix, y: Codes, weight: FloatArray, folds: Sequence[Fold], rule: Rule
) -> tuple[list[Candidate], FloatArray]:
    """The same for every cost of the linear kernel, solved on the columns."""
    costs = (COSTS / column_spread(X, weight)).tolist()
    candidates = [Candidate("linear", None, cost) for cost in costs]
    return candidates, _accuracy(partial(_decide_columns, X, rule), y, folds, costs, rule)


def _accuracy(decide: _Decide, y: Codes, folds: Sequence[Fold], costs: Sequence[float], rule: Rule) -> FloatArray:
    """Weighted accuracy, or balanced accuracy, on the test part of each fold for each cost."""
    accuracy = np.empty((len(folds), len(costs)))
    for row, fold in enumerate(folds):
        train, test = np.flatnonzero(fold.train), np.flatnonzero(fold.test)
        # A class with fewer rows than folds may be missing from a training part.
        present, codes = np.unique(y[train], return_inverse=True)
        weight = fold.test[test]
        if rule.class_weight is not None:
            weight = weight / np.bincount(y[test], weights=weight)[y[test]]
        if present.shape[0] == 1:
            accuracy[row] = np.average(y[test] == present[0], weights=weight)
            continue
        unit, ridge = row_terms(codes, fold.train[train], class_weight=rule.class_weight, ridge=rule.ridge)
        decisions = decide(_Part(train, test, codes, [cost * unit for cost in costs], ridge))
        for place in range(len(costs)):
            found = decisions[:, place]
            ovr = rule.multiclass == "ovr" and present.shape[0] > 2
            guess = present[(found if ovr else one_vs_one(found, present.shape[0])).argmax(axis=1)]
            accuracy[row, place] = np.average(guess == y[test], weights=weight)
    return accuracy


def _decide_gram(gram: FloatArray, rule: Rule, part: _Part) -> FloatArray:
    train, test, codes, costs, ridge = part
    # The search needs labels, not margins: a solution near the optimum suffices.
    limit = _STEPS if rule.max_iter is None else rule.max_iter
    options: dict[str, Any] = {"tol": rule.tol, "max_iter": limit, **rule.form}
    path = gram_path(gram[np.ix_(train, train)], codes, costs, ridge, work=_REFINE, **options)
    weights, intercepts = _stacked(path)
    outputs: FloatArray = gram[np.ix_(test, train)] @ weights.T
    return outputs.reshape(test.size, *intercepts.shape) + intercepts


def _decide_columns(X: Matrix, rule: Rule, part: _Part) -> FloatArray:
    stored = X.nnz if sp.issparse(X) else X.size
    limit = int(np.clip(_PASSES / max(stored, 1), 20, 1000)) if rule.max_iter is None else rule.max_iter
    options: dict[str, Any] = {"tol": rule.tol, "max_iter": limit, **rule.form}
    weights, intercepts = _stacked(column_path(X[part.train], part.codes, part.costs, **options))
    return inner_products(X[part.test], weights).reshape(part.test.size, *intercepts.shape) + intercepts


def _stacked(path: list[list[Solution]]) -> tuple[FloatArray, FloatArray]:
    """Weights of the two-class problems at every cost, stacked, and intercepts of shape (costs, problems)."""
    weights = np.array([pair.weights for pairs in path for pair in pairs])
    return weights, np.array([[pair.intercept for pair in pairs] for pairs in path])
