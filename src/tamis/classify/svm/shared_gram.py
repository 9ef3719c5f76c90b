"""Kernel matrices and solutions that support vector machines fitted together share."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.validation import row_terms
from tamis.margins.kernel import GROUNDS, apply, cosines, inner_products, squared_distances
from tamis.margins.pairs import Multiclass, gram_path
from tamis.margins.solve import Solution


class Problem(NamedTuple):
    """What a solution depends on beside the rows and the cost."""

    kernel: str
    sigma: float | None
    degree: int
    coef0: float
    class_weight: str | None
    ridge: float
    multiclass: Multiclass
    intercept: bool


class SharedRows:
    """Training rows with a weight above zero, their inner products or distances, and the solutions found so far.

    `places` are the numbers of the rows among all training rows. `kernels` are those in use; "auto" stands for linear
    and gaussian. With `again` they are used more than once, and no array may be overwritten.
    """

    def __init__(
        self, X: Matrix, y: Codes, weight: FloatArray, places: np.ndarray, kernels: set[str], *, again: bool
    ) -> None:
        self.X, self.y, self.weight, self.places = X, y, weight, places
        every = kernels if "auto" not in kernels else kernels - {"auto"} | {"linear", "gaussian"}
        self._kinds = {GROUNDS[kernel] for kernel in every}
        self._again = again
        self._grounds: dict[str, FloatArray] = {}
        self._paths: dict[Problem, dict[float, list[Solution]]] = {}

    def ground(self, kernel: str) -> FloatArray:
        """The inner products, distances or cosines of a kernel; one pass over the columns serves all kernels."""
        kind = GROUNDS[kernel]
        if kind not in self._grounds:
            products = self._grounds.get("products")
            if products is None:
                products = inner_products(self.X)
                if "products" in self._kinds or len(self._kinds) > 1:
                    self._grounds["products"] = products
            # Norms from the products: the distance of a row to itself is then exactly 0.
            norms = products.diagonal()
            if kind == "distances":
                self._grounds[kind] = squared_distances(products, norms, norms)
            elif kind == "cosines":
                self._grounds[kind] = cosines(products, norms, norms)
        return self._grounds[kind]

    def values(self, problem: Problem) -> FloatArray:
        """The kernel matrix; the caller may overwrite it."""
        kernel, sigma, degree, coef0, *_ = problem
        width = 1.0 if sigma is None else sigma
        found = apply(kernel, self.ground(kernel), sigma=width, degree=degree, coef0=coef0)
        return found.copy() if self._again and kernel == "linear" else found

    def solve(
        self, problem: Problem, C: float, costs: Sequence[float], *, tol: float, max_iter: int | None
    ) -> list[Solution]:
        """Solutions of the two-class problems at cost `C`; all of `costs` are solved with it if it is one of them."""
        path = self._paths.setdefault(problem, {})
        if C not in path:
            wanted = sorted({c for c in costs if np.isfinite(c)}) if C in costs and np.isfinite(C) else [C]
            unit, ridge = row_terms(self.y, self.weight, class_weight=problem.class_weight, ridge=problem.ridge)
            gram = self.values(problem)
            if not self._again:
                # They are as large as the kernel matrix.
                self._grounds.clear()
            every = [c * unit for c in wanted]
            how: dict[str, Any] = {"multiclass": problem.multiclass, "intercept": problem.intercept}
            found = gram_path(gram, self.y, every, ridge, tol=tol, max_iter=max_iter, **how)
            path.update(zip(wanted, found, strict=True))
        return path[C]
