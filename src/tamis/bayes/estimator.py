"""What Bayesian networks for classes and for numbers share: parameters, the fit, the relevance of the columns."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.errors import TamisError
from tamis.base.part import Arguments
from tamis.base.types import FloatArray, Matrix
from tamis.base.validation import column_names
from tamis.bayes.density import Rows
from tamis.bayes.drawn import FromDraws, Model, check_thin, deviations, group_names, numbered
from tamis.bayes.network import Kind, Network
from tamis.bayes.priors import Priors
from tamis.bayes.sampler import Settings, require

#: Rows that are predicted at a time.
_ROWS = 4096


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


class BayesianNetwork(FromDraws):
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

    def _sample(self, rows: Rows, kind: Kind, outputs: int) -> None:
        """Draw networks, and keep them with what they say of the columns."""
        check_thin("bayes_net", self.draws, self.thin)
        model = Model(kind, outputs, self._layers(), self._priors())
        groups = numbered("bayes_net", self.groups, rows.X.shape[1])
        require(self.sampler)
        settings = Settings(self.chains, self.draws, self.warmup, self.thin, self.sampler, self.leapfrog)
        names = group_names(self.groups, column_names(self))
        self.weights_, scales = self._draw("bayes_net", rows, model, settings, groups, names)
        self.hidden_ = list(model.hidden)
        self._keep_relevance(scales, deviations(rows))
        self.feature_importances_ = self.relevance_ / (self.relevance_.sum() or 1.0)

    def _priors(self) -> Priors:
        return Priors(input_scale=float(self.scale), shape=float(self.shape), ard_shape=float(self.ard_shape))

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

    def _outputs(self, X: Matrix, kind: Kind, outputs: int) -> Iterator[tuple[slice, Iterator[FloatArray]]]:
        """Blocks of rows, with the outputs of each network for them."""
        network = Network(X.shape[1], tuple(self.hidden_), outputs, kind)
        for start in range(0, X.shape[0], _ROWS):
            rows = slice(start, start + _ROWS)
            block = np.asarray(X[rows].toarray() if sp.issparse(X) else X[rows], dtype=np.float64)
            yield rows, (network.evaluate(weights, block) for weights in self.weights_)
