"""What Bayesian networks for classes and for numbers share: parameters, the fit, the relevance of the columns."""

import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.errors import TamisError
from tamis.base.part import Arguments
from tamis.base.seeds import generator
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.validation import column_names, forget
from tamis.bayes.diagnostics import effective_draws, split_r_hat
from tamis.bayes.figure import figure
from tamis.bayes.network import Kind, Network
from tamis.bayes.padding import padded
from tamis.bayes.priors import Priors
from tamis.bayes.sampler import Sampled, Settings, require, sample

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Chains have met when R-hat is at most this.
_MET = 1.05

#: The most values of a table that is made dense for the sampler.
_MOST_VALUES = 2 * 10**8

#: Rows that are predicted at a time.
_ROWS = 4096

#: The ends of intervals, as shares of the draws.
_ENDS = (0.05, 0.95)


def in_words(a: Arguments) -> str:
    """The phrase of both tasks."""
    hidden = a.pop("hidden")
    sizes = hidden if isinstance(hidden, list | tuple) else [hidden]
    if not any(sizes):
        return "a Bayesian linear model with a relevance of each column"
    return f"Bayesian neural networks of {' and '.join(map(str, sizes))} hidden units with a relevance of each column"


def fit_seconds(rows: int, columns: int) -> float:
    """About the processor seconds of a fit at default settings, the import of JAX and the compilation included.

    Measured on 100 x 10, 1000 x 20 and 1000 x 200: 8, 27 and 68 s for the first fit of a process.
    """
    return 6.0 + rows * (0.02 + 0.00022 * columns)


class NotMixedWarning(ConvergenceWarning):
    """Chains have not met or trajectories diverged, so that the draws may not stand for the posterior."""


class BayesianNetwork:
    """First base of a predictor that averages over networks drawn from their posterior."""

    n_features_in_: int

    #: Weights are numbered by column: another order of the columns gives other draws.
    draws_columns: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "hidden": [integer(0), list, tuple],
        "draws": [integer(1)],
        "warmup": [integer(1)],
        "chains": [integer(1)],
        "thin": [integer(1)],
        "sampler": [StrOptions({"hmc", "nuts"})],
        "leapfrog": [integer(1)],
        "groups": ["array-like", None],
        "scale": [real(0, None)],
        "shape": [real(0, None)],
        "ard_shape": [real(0, None)],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        hidden: int | Sequence[int],
        *,
        draws: int,
        warmup: int,
        chains: int,
        thin: int,
        sampler: Literal["hmc", "nuts"],
        leapfrog: int,
        groups: Sequence[Any] | None,
        scale: float,
        shape: float,
        ard_shape: float,
        random_state: Any,
    ) -> None:
        self.hidden = hidden
        self.draws = draws
        self.warmup = warmup
        self.chains = chains
        self.thin = thin
        self.sampler = sampler
        self.leapfrog = leapfrog
        self.groups = groups
        self.scale = scale
        self.shape = shape
        self.ard_shape = ard_shape
        self.random_state = random_state

    def _sample(self, X: Matrix, y: Any, kind: Kind, outputs: int) -> None:
        """Draw networks, and keep them with what they say of the columns; on Ctrl-C keep nothing."""
        hidden = self._layers()
        groups = self._groups(X.shape[1])
        if self.draws < self.thin:
            raise TamisError(f"bayes_net: thin={self.thin} leaves none of draws={self.draws}; lower thin")
        if X.shape[0] * X.shape[1] > _MOST_VALUES:
            raise TamisError(
                f"bayes_net: {X.shape[0]} rows of {X.shape[1]} columns are too many for its dense arrays; "
                "select columns, or take pca, in front of it"
            )
        require()
        X = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
        data = padded(X, y, groups)
        network = Network(data.X.shape[1], hidden, outputs, kind)
        priors = Priors(input_scale=float(self.scale), shape=float(self.shape), ard_shape=float(self.ard_shape))
        settings = Settings(self.chains, self.draws, self.warmup, self.thin, self.sampler, self.leapfrog)
        try:
            found = sample(network, priors, data, settings, int(generator(self.random_state).integers(2**31)))
        except KeyboardInterrupt:
            forget(self)
            raise
        self._keep(found, network, X, groups)

    def _layers(self) -> tuple[int, ...]:
        """The sizes of the hidden layers."""
        given = list(self.hidden) if isinstance(self.hidden, Sequence) else [self.hidden]
        sizes = [] if given == [0] else given
        if len(sizes) > 2 or not all(isinstance(one, int | np.integer) and one > 0 for one in sizes):
            raise TamisError(
                "bayes_net: hidden takes the number of units of one hidden layer, a list of two, or 0; "
                f"got {self.hidden!r}"
            )
        return tuple(int(one) for one in sizes)

    def _groups(self, n_features: int) -> Codes:
        """The number of the group of each column."""
        if self.groups is None:
            return np.arange(n_features)
        given = np.asarray(self.groups)
        if given.shape != (n_features,):
            raise TamisError(
                f"bayes_net: groups takes a label for each of the {n_features} columns; "
                f"got an array of shape {given.shape}"
            )
        return np.unique(given, return_inverse=True)[1].astype(np.intp)

    def _keep(self, found: Sampled, network: Network, X: FloatArray, groups: Codes) -> None:
        weights = network.without_padding(found.weights, X.shape[1])
        self.weights_ = weights.reshape(-1, weights.shape[-1])
        self.hidden_ = list(network.hidden)
        # In units of the columns' deviations, so that a constant has none.
        scales = found.scales[..., groups].reshape(-1, groups.size) * X.std(axis=0)
        self.relevance_ = np.median(scales, axis=0)
        self.relevance_interval_ = np.quantile(scales, _ENDS, axis=0)
        self.feature_importances_ = self.relevance_ / (self.relevance_.sum() or 1.0)
        self.followed_ = list(found.names)
        self.r_hat_ = split_r_hat(found.followed)
        self.ess_ = effective_draws(found.followed)
        self.divergences_ = found.divergent
        self.acceptance_ = found.accepted
        worst = int(np.argmax(self.r_hat_))
        if self.r_hat_[worst] > _MET:
            message = (
                f"bayes_net: the chains have not met (R-hat {self.r_hat_[worst]:.3g} of the {found.names[worst]}); "
                "raise draws and warmup"
            )
            warnings.warn(message, NotMixedWarning, stacklevel=2)
        if found.divergent:
            message = (
                f"bayes_net: {found.divergent} of {found.followed.shape[0] * found.followed.shape[1]} trajectories "
                "diverged; standardise the columns, or raise warmup"
            )
            warnings.warn(message, NotMixedWarning, stacklevel=2)

    def _outputs(self, X: Matrix, kind: Kind, outputs: int) -> Iterator[tuple[slice, Iterator[FloatArray]]]:
        """Blocks of rows, with the outputs of each network for them."""
        network = Network(X.shape[1], tuple(self.hidden_), outputs, kind)
        for start in range(0, X.shape[0], _ROWS):
            rows = slice(start, start + _ROWS)
            block = np.asarray(X[rows].toarray() if sp.issparse(X) else X[rows], dtype=np.float64)
            yield rows, (network.evaluate(weights, block) for weights in self.weights_)

    def plot(self, most: int = 40) -> "Figure":
        """A plotly figure: the relevance of the `most` most relevant columns, with intervals."""
        check_is_fitted(self)
        return figure(column_names(self), self.relevance_, self.relevance_interval_, most)
