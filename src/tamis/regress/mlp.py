"""Multilayer perceptron: layers of units between the columns and a number, trained by the squared error."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.neural_network import MLPRegressor as Network

from tamis.base.meta_estimators import LibraryRegressor
from tamis.base.part import Limits, Part
from tamis.base.regressor import WeightedRegressor
from tamis.margins.perceptron import SEARCH, Perceptron, phrase


class MLPRegressor(Perceptron, LibraryRegressor, WeightedRegressor):
    """Neural network of one or more layers of units between the columns and a number.

    A unit takes a function of a weighted sum of the units before it, the output such a sum itself. For the target in
    units of about its deviation, the weights W and thresholds of all layers minimise::

        sum_i (y_i - f(x_i))^2 / 2 + alpha |W|^2 / 2.

    It is scikit-learn's ``MLPRegressor``, trained by L-BFGS on all rows at once.

    Parameters
    ----------
    hidden_layer_sizes : int or list of int, default=10
        Units of the hidden layer, or of each of several.
    activation : {"tanh", "relu", "logistic"}, default="tanh"
        The function of the hidden units.
    alpha : float, default=1.0
        The penalty on squared weights, or weight decay. scikit-learn's default of 0.0001 is for many rows.
    tol : float, default=1e-4
        Largest slope of the mean loss of a row at which the training ends.
    max_iter : int, default=1000
        Most steps. A warning reports when they were not enough.
    random_state : int, Generator, RandomState or None, default=None
        Draws the weights at the start.

    Attributes
    ----------
    model_ : sklearn.neural_network.MLPRegressor
        It predicts in units of `target_unit_` above `target_zero_`.
    target_zero_, target_unit_ : float
    n_iter_ : int
        Steps of the training.

    See Also
    --------
    Ridge : The same without hidden units.

    Notes
    -----
    As for :class:`~tamis.classify.mlp.MLP`: standardise the columns; another seed gives another network; a row of
    weight 2 counts like the row twice, as far as training up to a tolerance shows.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.regress import MLPRegressor
    >>> X = np.linspace(-2.0, 2.0, 40)[:, None]
    >>> model = MLPRegressor(5, alpha=0.01, random_state=0).fit(X, 100.0 + X[:, 0] ** 2)
    >>> model.predict([[0.0], [1.5]]).round(1)
    array([100. , 102.3])
    """

    part: ClassVar[Part] = Part(
        "mlp",
        positional=("hidden_layer_sizes",),
        search=SEARCH,
        paper="Rumelhart, Hinton and Williams 1986",
        phrase=phrase,
        limits=Limits(rows=5_000),
        slow=True,
    )
    _network = Network

    def __init__(
        self,
        hidden_layer_sizes: int | Sequence[int] = 10,
        *,
        activation: str = "tanh",
        alpha: float = 1.0,
        tol: float = 1e-4,
        max_iter: int = 1_000,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _predict(self, X: Any) -> Any:
        return super()._predict(X.astype(np.float64, copy=False))
