"""Training rows of support vector machines that are fitted together: kernel matrices and solutions, computed once."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.validation import row_terms
from tamis.margins.kernel import GROUNDS, apply, cosines, inner_products, squared_distances
from tamis.margins.pairs import gram_path
from tamis.margins.solve import Solution


class Problem(NamedTuple):
    """All that a solution depends on beside the rows and the cost: a kernel and its parameters, and the row terms."""

    kernel: str
    sigma: float | None
    degree: int
    coef0: float
    class_weight: str | None
    ridge: float


class SharedRows:
    """Rows, what kernels rest on between them, and the solutions found so far.

    Parameters
    ----------
    X : array or CSR matrix
        Training rows with a weight above zero.
    y, weight : arrays of shape (n_rows,)
    places : array of shape (n_rows,)
        Their numbers among all training rows.
    kernels : set of str
        Those that will be asked for; "auto" stands for linear and gaussian.
    again : bool
        Whether they will be asked for more than once, so that nothing may be used up.
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
        """What a kernel rests on; one pass over the columns serves all kernels."""
        kind = GROUNDS[kernel]
        if kind not in self._grounds:
            products = self._grounds.get("products")
            if products is None:
                products = inner_products(self.X)
                if "products" in self._kinds or len(self._kinds) > 1:
                    self._grounds["products"] = products
            # The norms as the products have them: a row is then at distance exactly 0 from itself.
            norms = products.diagonal()
            if kind == "distances":
                self._grounds[kind] = squared_distances(products, norms, norms)
            elif kind == "cosines":
                self._grounds[kind] = cosines(products, norms, norms)
        return self._grounds[kind]

    def values(self, problem: Problem) -> FloatArray:
        """The kernel matrix; the caller may use it up."""
        p = problem
        width = 1.0 if p.sigma is None else p.sigma
        found = apply(p.kernel, self.ground(p.kernel), sigma=width, degree=p.degree, coef0=p.coef0)
        return found.copy() if self._again and p.kernel == "linear" else found

    def solve(
        self, problem: Problem, C: float, costs: Sequence[float], *, tol: float, max_iter: int | None
    ) -> list[Solution]:
        """Solutions of the pairs of classes at a cost; those at `costs`, of which it may be one, are found with it."""
        path = self._paths.setdefault(problem, {})
        if C not in path:
            wanted = sorted({c for c in costs if np.isfinite(c)}) if C in costs and np.isfinite(C) else [C]
            unit, ridge = row_terms(self.y, self.weight, class_weight=problem.class_weight, ridge=problem.ridge)
            units = [c * unit for c in wanted]
            gram = self.values(problem)
            if not self._again:
                # The last one: what it rests on is as large as itself.
                self._grounds.clear()
            found = gram_path(gram, self.y, units, ridge, tol=tol, max_iter=max_iter)
            path.update(zip(wanted, found, strict=True))
        return path[C]
