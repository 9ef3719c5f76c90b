"""Multilayer perceptron: layers of units between the columns and the classes, trained by the log loss."""

from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np
from sklearn.neural_network import MLPClassifier

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.classifier import WeightedClassifier
from tamis.base.meta_estimators import LibraryClassifier
from tamis.base.part import Limits, Part
from tamis.base.search_range import choice
from tamis.base.seeds import generator, spawn
from tamis.base.types import FloatArray, Matrix
from tamis.margins.perceptron import SEARCH, Perceptron, phrase


class MLP(Perceptron, LibraryClassifier, WeightedClassifier):
    """Neural network of one or more layers of units between the columns and the classes.

    A unit takes a function of a weighted sum of the units before it; the outputs are the logistic function or the
    softmax of such sums. The weights W and thresholds of all layers minimise::

        sum_i -log P(y_i | x_i) + alpha |W|^2 / 2.

    It is scikit-learn's ``MLPClassifier``, trained by L-BFGS on all rows at once, or by backpropagation.

    Parameters
    ----------
    hidden_layer_sizes : int or list of int, default=10
        Units of the hidden layer, or of each of several.
    units_per_class : int, optional
        Units of the one hidden layer for each class, in place of `hidden_layer_sizes`.
    activation : {"tanh", "relu", "logistic"}, default="tanh"
        The function of the hidden units.
    alpha : float, default=1.0
        The penalty on squared weights, or weight decay. scikit-learn's default of 0.0001 is for many rows.
    class_weight : {"balanced"}, optional
        Weigh a row of a class with n_c of the n rows by n / (k n_c), of k classes: every class weighs the same.
    solver : {"lbfgs", "sgd"}, default="lbfgs"
        How weights are found: L-BFGS, or backpropagation with momentum 0.9 on 200 rows at a time.
    learning_rate : float, default=0.1
        The step of "sgd".
    trainings : int, default=1
        Networks that are trained from different starts. The one that predicts most of the training rows correctly is
        taken; of equals the first.
    tol : float, default=1e-4
        Largest slope of the mean loss of a row at which the training ends; for "sgd" the least that ten passes must
        lower the loss by.
    max_iter : int, default=1000
        Most steps, or passes over the rows. A warning reports when they were not enough.
    random_state : int, Generator, RandomState or None, default=None
        Draws the weights at the start, and the order of the rows for "sgd".

    Attributes
    ----------
    classes_ : array
    model_ : sklearn.neural_network.MLPClassifier
    n_iter_ : int
        Steps of the training.

    See Also
    --------
    Logistic : The same without hidden units.

    Notes
    -----
    The columns should be standardised: weights begin small and of one size, and are penalised alike. The loss has many
    minima, so that another seed, or another order of the columns, gives another network; ``committee`` averages some.
    A row of weight 2 counts like the row twice, and sparse rows like dense ones, as far as training up to a tolerance
    shows. Up to a million values sparse rows are trained as dense.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import MLP
    >>> X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    >>> model = MLP(4, alpha=0.01, random_state=0).fit(X, ["same", "other", "other", "same"])
    >>> model.predict([[2.0, 2.0], [-2.0, 2.0]])
    array(['same', 'other'], dtype='<U5')
    """

    part: ClassVar[Part] = Part(
        "mlp",
        positional=("hidden_layer_sizes",),
        search={**SEARCH, "class_weight": choice("balanced", None)},
        paper="Rumelhart, Hinton and Williams 1986",
        phrase=phrase,
        limits=Limits(rows=5_000),
        slow=True,
    )
    _network = MLPClassifier
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Perceptron._parameter_constraints,
        "units_per_class": [integer(1), None],
        "class_weight": [StrOptions({"balanced"}), None],
        "solver": [StrOptions({"lbfgs", "sgd"})],
        "learning_rate": [real(0, None)],
        "trainings": [integer(1)],
    }

    def __init__(
        self,
        hidden_layer_sizes: int | Sequence[int] = 10,
        *,
        units_per_class: int | None = None,
        activation: str = "tanh",
        alpha: float = 1.0,
        class_weight: str | None = None,
        solver: str = "lbfgs",
        learning_rate: float = 0.1,
        trainings: int = 1,
        tol: float = 1e-4,
        max_iter: int = 1_000,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.units_per_class = units_per_class
        self.activation = activation
        self.alpha = alpha
        self.class_weight = class_weight
        self.solver = solver
        self.learning_rate = learning_rate
        self.trainings = trainings
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _make(self) -> Any:
        network = super()._make()
        if self.units_per_class is not None:
            network.set_params(hidden_layer_sizes=(int(self.units_per_class) * self.classes_.size,))
        if self.solver == "sgd":
            network.set_params(solver="sgd", learning_rate_init=float(self.learning_rate))
        return network

    def _train(self, X: Matrix, y: Any, weight: FloatArray | None) -> Any:
        if self.trainings == 1:
            return super()._train(X, y, weight)
        seed = int(generator(self.random_state).integers(2**31))
        starts = []
        for number in range(self.trainings):
            one = copy(self)
            one.trainings, one.random_state = 1, spawn(seed, number)
            starts.append(one)
        models = [one._train(X, y, weight) for one in starts]
        best = int(np.argmax([np.average(model.predict(X) == y, weights=weight) for model in models]))
        self.n_iter_ = starts[best].n_iter_
        return models[best]

    def _decision(self, X: Any) -> Any:
        return super()._decision(X.astype(np.float64, copy=False))
