"""What the multilayer perceptrons of scikit-learn share, for classes and for numbers."""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.errors import TamisError
from tamis.base.part import Arguments
from tamis.base.search_range import Choice, Range, choice, geom
from tamis.base.types import FloatArray, Matrix

#: Most values of sparse rows that are made dense.
_FEW = 1_000_000

#: Search ranges of perceptrons.
SEARCH: dict[str, Range | Choice] = {"hidden_layer_sizes": choice(10, 5, 20), "alpha": geom(1e-2, 1e2, 9)}


def phrase(a: Arguments) -> str:
    """A multilayer perceptron in an English sentence."""
    sizes = a.pop("hidden_layer_sizes")
    layers = " and ".join(map(str, sizes)) if isinstance(sizes, list | tuple) else str(sizes)
    return f"a multilayer perceptron of {layers} hidden units"


class Perceptron:
    """First base of the multilayer perceptrons of scikit-learn, with the parameters that they have."""

    #: The weights are drawn column by column: the same columns in another order begin with other weights.
    draws_columns: ClassVar[bool] = True
    #: The class of scikit-learn.
    _network: ClassVar[type[Any]]
    hidden_layer_sizes: int | Sequence[int]
    activation: str
    alpha: float
    tol: float
    max_iter: int
    n_iter_: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "hidden_layer_sizes": [integer(1), list, tuple],
        "activation": [StrOptions({"tanh", "relu", "logistic"})],
        "alpha": [real(0, None, "left")],
        "tol": [real(0, None)],
        "max_iter": [integer(1)],
        "random_state": ["random_state", np.random.Generator],
    }

    def _make(self) -> Any:
        return self._network(
            hidden_layer_sizes=_sizes(self.hidden_layer_sizes),
            activation=self.activation,
            solver="lbfgs",
            alpha=float(self.alpha),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            # It counts as many evaluations of the loss as it may need.
            max_fun=10 * int(self.max_iter),
            random_state=self._seed(),  # type: ignore[attr-defined]
        )

    def _train(self, X: Matrix, y: Any, weight: FloatArray | None) -> Any:
        # Where training ends depends on every rounding, and dense products of few values are as fast as sparse ones.
        X = X.toarray() if sp.issparse(X) and X.shape[0] * X.shape[1] <= _FEW else X
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = super()._train(X.astype(np.float64, copy=False), y, weight)  # type: ignore[misc]
        self.n_iter_ = int(model.n_iter_)
        if any(issubclass(warning.category, ConvergenceWarning) for warning in caught):
            message = f"mlp is not settled after {self.n_iter_} steps; standardize, raise alpha or max_iter"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return model


def _sizes(given: int | Sequence[int]) -> tuple[int, ...]:
    """The number of units of each hidden layer."""
    sizes = tuple(given) if isinstance(given, list | tuple) else (given,)
    if not sizes or not all(isinstance(one, int | np.integer) and one >= 1 for one in sizes):
        raise TamisError(f"'hidden_layer_sizes' of mlp takes numbers of units of 1 or more, one a layer; got {given!r}")
    return tuple(map(int, sizes))
