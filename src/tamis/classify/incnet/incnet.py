"""IncNet: a radial network that grows and is pruned while a Kalman filter trains it."""

import math
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import expit
from sklearn.utils import gen_batches

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.classifier import WeightedClassifier
from tamis.base.errors import TamisError
from tamis.base.inner_cv import row_copies
from tamis.base.part import Limits, Part
from tamis.base.search_range import choice
from tamis.base.seeds import generator
from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import bearing_rows, dense_rows
from tamis.classify.incnet.network import FILTERS, FUNCTIONS, Filter, GrowingNetwork, Rules, covariances, output

#: Covariances up to which "auto" takes a filter, and the most that a filter may hold.
_QUICK, _MOST = 300_000, 30_000_000

#: The steepness with which outputs of one-against-rest networks become probabilities.
_STEEPNESS = 10.0

#: Values of rows that are predicted at a time.
_BLOCK = 4_000_000


class IncNet(WeightedClassifier):
    """Network of radial functions that grows where a Kalman filter is surprised, and is pruned where it is not needed.

    The output of a network with the threshold w_0 and neurons of weight w_k and centre t_k is::

        f(x) = w_0 + sum_k w_k G_k(x).

    ========= ============================================================================================
    gaussian  ``G(x) = exp(-|x - t|^2 / b^2)``
    biradial  ``G(x) = prod_j s(e_j (x_j - t_j + b_j)) s(-e_j (x_j - t_j - b_j))``, with s the logistic function, widths
              b_j and slopes e_j; divided by its value at t
    ========= ============================================================================================

    Weights, centres, widths and slopes are the state of an extended Kalman filter, which takes one row after another.
    With the error e = y - f(x), the derivatives d of f by the parameters and their covariances P, the variance of the
    error is R = noise + d'Pd. A neuron is added on the row, with its error as weight, where e^2 / R is above the
    quantile `grow` of chi-square with one degree of freedom. Else the parameters move by Pde / R and P shrinks by
    Pdd'P / R. Then the neuron with the smallest w^2 / P_ww is removed if that, over R, is below the quantile `prune`.
    After each pass two neurons become one where their sum changes by less than `merge` of its square on the rows.

    There is one network for each class, which tells it from the others; with two classes one, whose mirror image would
    be the other. The probability of a class is its share in s(10 (f_c - 1/2)).

    Parameters
    ----------
    width : float, default=1.0
        Width of a new Gaussian, in units of the root mean square distance of a row from the mean. A new biradial
        function has the same curvature at its centre.
    function : {"gaussian", "biradial"}, default="gaussian"
        The function of a neuron. A biradial one has three parameters a column.
    filter : {"auto", "full", "neuron", "diagonal"}, default="auto"
        The covariances that the filter holds: of all parameters, of those within a neuron, or variances alone. A step
        takes as long as there are covariances: with "full" the square of the parameters. "auto" takes the first that
        holds at most 300,000 for `max_neurons` neurons.
    max_neurons : int, default=50
        Most neurons of a network.
    epochs : int, default=5
        Passes over the rows.
    noise : float, default=0.2
        Variance of the noise, as a share of the variance of the class indicator. More makes fewer neurons: above 0.26
        (one over the quantile `grow`) the errors of balanced classes are hardly ever a surprise.
    grow, prune : float, default=0.95, 0.05
        Levels of the chi-square bounds for growing and pruning; ``prune=0`` does not prune.
    merge : float, default=0.01
        Share of the squared output by which a merged pair may differ; 0 does not merge.
    prior : float, default=1.0
        Variance of a new parameter.
    process : float, default=1e-5
        Variance added to every parameter at each row, which keeps the filter from coming to rest.
    random_state : int, Generator, RandomState or None, default=None
        Draws the order of the rows in each pass.

    Attributes
    ----------
    classes_ : array
    filter_ : str
        The covariances in use.
    n_neurons_, added_, pruned_, merged_ : int arrays of shape (n_networks,)
        Neurons at the end, and how many were added, pruned and lost by merging.

    See Also
    --------
    NRBF : A radial function on every training row, without training.
    FSM : A growing network of separable functions, which are read as rules.

    Notes
    -----
    The columns should be standardised. Distances are in units of their root mean square, so that a common scale of all
    columns does not matter. A row of weight 2 counts as the row twice, in the random order as well; with weights that
    are not whole numbers it divides the row's noise. Sparse rows are made dense, up to 10^8 values. A filter that would
    hold more than 3 x 10^7 covariances is refused.

    Jankowski's papers were not at hand. What is built follows what their abstracts and later surveys say of it (the
    filter and its faster form by neurons, the two chi-square tests, the saliency w^2 / P as in the Optimal Brain
    Surgeon, merging, biradial functions, one network a class, the steepness of 10). Decided here: targets of mean 0 and
    variance 1; logarithms of widths and slopes, held within a factor of 20 of their first values; a pruned weight is
    set to zero as the full filter would have it, so that the other neurons take over; merging is measured on
    the training rows and not by an integral, and only of neurons whose weights have one sign.

    References
    ----------
    Kadirkamanathan and Niranjan (1993), "A function estimation approach to sequential learning with neural networks";
    Jankowski and Kadirkamanathan (1997), "Statistical control of RBF-like networks for classification"; Jankowski
    (1999), "Approximation and classification in medicine with IncNet neural networks".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import IncNet
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = IncNet(random_state=0).fit(X[:200], y[:200])
    >>> bool(model.score(X[200:], y[200:]) > 0.85), bool(model.n_neurons_[0] < 50)
    (True, True)
    """

    part: ClassVar[Part] = Part(
        "incnet",
        positional=("width",),
        search={"width": choice(0.5, 1.0, 2.0), "max_neurons": choice(50, 150)},
        paper="Jankowski and Kadirkamanathan 1997",
        phrase="a growing network of radial functions trained by a Kalman filter",
        searched=False,
        limits=Limits(rows=10_000),
        slow=True,
        boundary="local",
        counterpart="knn",
    )
    gives_probabilities = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "width": [real(0, None)],
        "function": [StrOptions(set(FUNCTIONS))],
        "filter": [StrOptions({"auto", *FILTERS})],
        "max_neurons": [integer(1)],
        "epochs": [integer(1)],
        "noise": [real(0, 1)],
        "grow": [real(0, 1)],
        "prune": [real(0, 1, "left")],
        "merge": [real(0, 1, "left")],
        "prior": [real(0, None)],
        "process": [real(0, None, "left")],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        width: float = 1.0,
        *,
        function: str = "gaussian",
        filter: Literal["auto", "full", "neuron", "diagonal"] = "auto",
        max_neurons: int = 50,
        epochs: int = 5,
        noise: float = 0.2,
        grow: float = 0.95,
        prune: float = 0.05,
        merge: float = 0.01,
        prior: float = 1.0,
        process: float = 1e-5,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.width = width
        self.function = function
        self.filter = filter
        self.max_neurons = max_neurons
        self.epochs = epochs
        self.noise = noise
        self.grow = grow
        self.prune = prune
        self.merge = merge
        self.prior = prior
        self.process = process
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: FloatArray | None = None) -> None:
        X, y, weight, _ = bearing_rows(X, y, sample_weight, self.classes_, "incnet")
        rules = self._rules(X.shape[1])
        rows = dense_rows(X, "incnet")
        rows = self._learn_units(rows, weight)
        # Copies of a row are rows like any other, whatever their order.
        copies, each = row_copies(np.einsum("ij,ij->i", rows, rows), weight)
        rng = generator(self.random_state)
        orders = [copies[rng.permutation(copies.size)] for _ in range(self.epochs)]
        each = each / np.average(each, weights=np.bincount(copies, minlength=each.size))
        self._networks = []
        counts = []
        for c in range(1 if self.classes_.size == 2 else 0, self.classes_.size):
            share = float(np.average(y == c, weights=weight))
            spread = math.sqrt(share * (1 - share))
            network = GrowingNetwork(rules, rows.shape[1])
            for order in orders:
                network.train(rows, ((y == c) - share) / spread, each, order)
            self._networks.append(network.scaled(spread, share))
            counts.append([*network.counts.tolist(), network.merged])
        self.n_neurons_, self.added_, self.pruned_, self.merged_ = np.array(counts).T

    def _rules(self, n_columns: int) -> Rules:
        """The rules of growing, with the filter that is used."""
        most = int(self.max_neurons)
        cost = {kind: covariances(self.function, kind, n_columns, most) for kind in FILTERS}  # type: ignore[arg-type]
        kind: Any = self.filter
        if kind == "auto":
            kind = next((one for one in ("full", "neuron") if cost[one] <= _QUICK), "diagonal")
        self.filter_: Filter = kind
        if cost[kind] > _MOST:
            raise TamisError(
                f"incnet: filter={kind!r} would hold {cost[kind]} covariances for {n_columns} columns and "
                f"{most} neurons; select columns, lower max_neurons or take another filter"
            )
        return Rules(
            self.function, kind, most, self.noise, self.grow, self.prune, self.merge, self.width, self.prior,  # type: ignore[arg-type]
            self.process,
        )  # fmt: skip

    def _learn_units(self, rows: FloatArray, weight: FloatArray) -> FloatArray:
        """Rows less their mean, in units of their root mean square distance from it."""
        with np.errstate(over="ignore", invalid="ignore"):
            self._mean = (weight / weight.sum()) @ rows
            moved = rows - self._mean
            largest = float(np.abs(moved).max())
            if not np.isfinite(largest):
                raise TamisError("incnet: differences overflow on values this large; scale the columns first")
            moved /= largest or 1.0
            self._unit = (
                float(np.sqrt(np.average(np.einsum("ij,ij->i", moved, moved), weights=weight))) * largest or 1.0
            )
        return np.ascontiguousarray((rows - self._mean) / self._unit)

    def _decision(self, X: Matrix) -> FloatArray:
        outputs = np.empty((X.shape[0], len(self._networks)))
        for some in gen_batches(X.shape[0], max(1, _BLOCK // X.shape[1])):
            rows = (dense_rows(X[some], "incnet") - self._mean) / self._unit
            for k, parameters in enumerate(self._networks):
                outputs[some, k] = output(parameters, rows, self.function)  # type: ignore[arg-type]
        if self.classes_.size == 2:
            outputs = np.column_stack([1.0 - outputs, outputs])
        shares = expit(_STEEPNESS * (outputs - 0.5))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))
