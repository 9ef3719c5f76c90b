"""Networks drawn for the rows of a table, what they say of its columns, and whether they stand for the posterior."""

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from tamis.base.errors import TamisError
from tamis.base.seeds import generator
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.validation import column_names, forget
from tamis.bayes.density import Rows
from tamis.bayes.diagnostics import effective_draws, split_r_hat
from tamis.bayes.figure import figure
from tamis.bayes.network import Kind, Network
from tamis.bayes.padding import padded
from tamis.bayes.priors import Priors
from tamis.bayes.rows import merged
from tamis.bayes.sampler import OUTPUTS, Settings, sample

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Chains have met when R-hat is at most this.
_MET = 1.05

#: The most values of a table that is made dense for the sampler, which holds it four times: 3.2 GB.
_MOST_VALUES = 10**8

#: The ends of intervals, as shares of the draws.
_ENDS = (0.05, 0.95)


class NotMixedWarning(ConvergenceWarning):
    """Chains have not met or trajectories diverged, so that the draws may not stand for the posterior."""


class Model(NamedTuple):
    """What the outputs stand for, how many there are, the sizes of hidden layers, and the priors."""

    kind: Kind
    outputs: int
    hidden: tuple[int, ...]
    priors: Priors


def check_thin(who: str, draws: int, thin: int) -> None:
    """Refuse to keep no draw."""
    if draws < thin:
        raise TamisError(f"{who}: thin={thin} leaves none of draws={draws}; lower thin")


def dense_rows(who: str, X: Matrix, y: Any, weight: FloatArray) -> Rows:
    """Dense rows, equal ones merged; refused where they would take too much memory."""
    if X.shape[0] * X.shape[1] > _MOST_VALUES:
        raise TamisError(
            f"{who}: the sampler makes rows dense, and {X.shape[0]:,} rows of {X.shape[1]:,} columns would take "
            f"{X.shape[0] * X.shape[1] * 4 * 8 / 1e9:.0f} GB; select columns, or take pca, in front of it"
        )
    return Rows(*merged(np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64), y, weight))


class FromDraws:
    """First base of an estimator that draws its weights from their posterior."""

    random_state: Any

    def _draw(
        self, who: str, rows: Rows, model: Model, settings: Settings, groups: Codes, names: Sequence[str]
    ) -> tuple[FloatArray, FloatArray]:
        """Thinned draws of all chains, weights and the scale of each column; on Ctrl-C keep nothing.

        Keeps how well the chains mixed, and warns. `names` are those of the groups.
        """
        data = padded(rows.X, rows.y, groups, rows.weight)
        network = Network(data.X.shape[1], model.hidden, model.outputs, model.kind)
        try:
            found = sample(network, model.priors, data, settings, int(generator(self.random_state).integers(2**31)))
        except KeyboardInterrupt:
            forget(self)
            raise
        self.followed_ = [*found.names, *(f"log scale of {names[one]}" for one in found.groups)]
        self.r_hat_ = split_r_hat(found.followed)
        self.ess_ = effective_draws(found.followed)
        self.divergences_ = found.divergent
        self.acceptance_ = found.accepted
        worst = int(np.argmax(self.r_hat_))
        if self.r_hat_[worst] > _MET:
            outputs = max(r_hat for name, r_hat in zip(found.names, self.r_hat_, strict=False) if name in OUTPUTS)
            message = (
                f"{who}: the chains have not met (R-hat {self.r_hat_[worst]:.3g} of the {self.followed_[worst]}, at "
                f"most {outputs:.3g} of outputs); raise draws and warmup"
            )
            warnings.warn(message, NotMixedWarning, stacklevel=2)
        if found.divergent:
            message = (
                f"{who}: {found.divergent} of {found.followed.shape[0] * found.followed.shape[1]} trajectories "
                "diverged; standardise the columns, or raise warmup"
            )
            warnings.warn(message, NotMixedWarning, stacklevel=2)
        weights = network.without_padding(found.weights, rows.X.shape[1])
        return weights.reshape(-1, weights.shape[-1]), found.scales[..., groups].reshape(-1, groups.size)

    def _keep_relevance(self, scales: FloatArray, deviations: FloatArray) -> None:
        """The scales of the columns in units of their deviations, of which a constant has none."""
        self.relevance_ = np.median(scales, axis=0) * deviations
        self.relevance_interval_ = np.quantile(scales, _ENDS, axis=0) * deviations

    def plot(self, most: int = 40) -> "Figure":
        """A plotly figure: the relevance of the `most` most relevant columns, with intervals."""
        check_is_fitted(self)
        return figure(column_names(self), self.relevance_, self.relevance_interval_, most)


def deviations(rows: Rows) -> FloatArray:
    """The standard deviation of each column; exactly 0 for a constant."""
    share = rows.weight / rows.weight.sum()
    variance = share @ (rows.X - share @ rows.X) ** 2
    return np.where(np.ptp(rows.X, axis=0) > 0, np.sqrt(variance), 0.0)


def numbered(who: str, groups: Sequence[Any] | None, n_features: int) -> Codes:
    """The number of the group of each column; without groups each has its own."""
    if groups is None:
        return np.arange(n_features)
    given = np.asarray(groups)
    if given.shape != (n_features,):
        raise TamisError(
            f"{who}: groups takes a label for each of the {n_features} columns; got an array of shape {given.shape}"
        )
    return np.unique(given, return_inverse=True)[1].astype(np.intp)


def group_names(groups: Sequence[Any] | None, columns: Sequence[str]) -> list[str]:
    """The name of the column of each group, or of the label that its columns share."""
    return list(columns) if groups is None else [f"group {one}" for one in np.unique(np.asarray(groups))]
