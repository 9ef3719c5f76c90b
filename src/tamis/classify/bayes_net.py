"""Bayesian network for classes: the average of neural networks drawn from their posterior distribution."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import expit, softmax

from tamis.base.classifier import WeightedClassifier
from tamis.base.part import Part
from tamis.base.search_range import choice
from tamis.base.types import FloatArray
from tamis.base.validation import bearing_rows
from tamis.bayes.drawn import dense_rows
from tamis.bayes.estimator import BayesianNetwork, fit_seconds, in_words


class BayesNet(BayesianNetwork, WeightedClassifier):
    """Average of neural networks drawn from their posterior, which finds how relevant each column is.

    Columns reach one or two layers of tanh units, and these the outputs: a logistic one for two classes, a softmax for
    more. The weights have normal priors, those from column j with a precision t_j of its own (automatic relevance
    determination). A precision of mean m and shape a has the density proportional to

        t^(a/2 - 1) exp(-t a / (2 m)),

    with mean t_0 and shape `ard_shape` for t_j, and mean 1 / scale^2 and shape `shape` for t_0. Weights are drawn by
    Hamiltonian Monte Carlo, precisions by Gibbs steps in between, and the class probabilities of all draws averaged.

    **Standardise the columns first**, ``standardize | bayes_net``: the prior is one for columns of deviation 1.
    It needs JAX to fit (and BlackJAX for "nuts"), ``pip install "tamis[bayes]"``, and neither to predict.

    Parameters
    ----------
    hidden : int or list of two int, default=8
        Units of the hidden layers; 0 for none, which is logistic regression.
    draws : int, default=1000
        Rounds of each chain after warm-up, each a draw.
    warmup : int, default=500
        Rounds before, in which the step size is adapted.
    chains : int, default=2
    thin : int, default=10
        Of this many draws one is used for the predictions.
    sampler : {"hmc", "nuts"}, default="hmc"
        Trajectories of random length up to `leapfrog`, or those that end where they turn back.
    leapfrog : int, default=60
        Most steps of a trajectory of "hmc"; at least half of them are made.
    groups : array-like of shape (n_features,), optional
        A label for each column: columns with one label share a precision.
    scale : float, default=0.2
        Typical deviation of the weights from the columns.
    shape : float, default=2.0
        Shape of the prior of all precisions but t_j: the smaller, the vaguer.
    ard_shape : float, default=1.0
        Shape of the prior of t_j around t_0: the smaller, the more columns may differ in relevance.
    random_state : int, Generator, RandomState or None, default=None
        Starts the chains.

    Attributes
    ----------
    classes_ : array
    relevance_ : array of shape (n_features,)
        Posterior median of 1 / sqrt(t_j), times the deviation of the column.
    relevance_interval_ : array of shape (2, n_features)
        Between these are nine draws of ten.
    feature_importances_ : array of shape (n_features,)
        The relevances, which sum to 1: ``from_model(bayes_net, k=20)`` selects by them.
    followed_ : list of str
        What is followed along the chains: the logarithms of the posterior density and of the likelihood, precisions,
        outputs for ten training rows, and the scale of each column. Hidden units can change places and signs, so that
        single weights have no common meaning in two chains; these quantities have.
    r_hat_, ess_ : arrays
        For each of them R-hat, near 1 where chains have met, and the effective number of draws.
    divergences_ : int
        Trajectories after warm-up that left the true path.
    acceptance_ : float
        Mean probability of acceptance.
    weights_ : array of shape (n_networks, n_weights)
        The thinned draws of all chains.
    hidden_ : list of int

    See Also
    --------
    Logistic : The most probable linear model with one penalty for all columns.

    Notes
    -----
    Warns with R-hat above 1.05 or with divergences: more draws are then needed. Weights above a hidden layer have a
    prior precision in proportion to the number of its units. The same seed gives the same draws on the same machine.

    A sample weight multiplies the log likelihood of its row. Equal rows are merged and rows sorted before chains begin,
    so that a row of weight 2 gives the very draws of the row twice, and the order of rows does not matter; another
    order of the columns gives other draws. Sparse rows are made dense, which is refused above 3.2 GB: put a selection
    in front.

    References
    ----------
    Neal (1996), "Bayesian learning for neural networks"; Neal and Zhang (2006), "High dimensional classification with
    Bayesian neural networks and Dirichlet diffusion trees".

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from tamis.classify import BayesNet
    >>> X = np.random.default_rng(5).normal(size=(250, 6))
    >>> y = X[:, 1] * X[:, 4] > 0
    >>> model = BayesNet(6, draws=400, warmup=300, leapfrog=20, random_state=0)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # these chains are too short to meet
    ...     model = model.fit(X[:200], y[:200])
    >>> bool(model.score(X[200:], y[200:]) > 0.85), sorted(np.argsort(model.relevance_)[-2:].tolist())
    (True, [1, 4])
    """

    part: ClassVar[Part] = Part(
        "bayes_net",
        positional=("hidden",),
        search={"hidden": choice(0, 4, 8, 16)},
        paper="Neal 1996; Neal and Zhang 2006",
        phrase=in_words,
        slow=True,
        fit_seconds=fit_seconds,
        requires=("jax",),
    )
    gives_probabilities = True

    def __init__(
        self,
        hidden: int | Sequence[int] = 8,
        *,
        draws: int = 1000,
        warmup: int = 500,
        chains: int = 2,
        thin: int = 10,
        sampler: Literal["hmc", "nuts"] = "hmc",
        leapfrog: int = 60,
        groups: Sequence[Any] | None = None,
        scale: float = 0.2,
        shape: float = 2.0,
        ard_shape: float = 1.0,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            hidden,
            draws=draws,
            warmup=warmup,
            chains=chains,
            thin=thin,
            sampler=sampler,
            leapfrog=leapfrog,
            groups=groups,
            scale=scale,
            shape=shape,
            ard_shape=ard_shape,
            random_state=random_state,
        )

    def _fit(self, X: Any, y: Any, sample_weight: FloatArray | None = None) -> None:
        two = self.classes_.shape[0] == 2
        X, y, weight, _ = bearing_rows(X, y, sample_weight, self.classes_, "bayes_net")
        rows = dense_rows("bayes_net", X, y.astype(np.float64) if two else y, weight)
        self._sample(rows, "logistic" if two else "softmax", self._n_outputs)

    @property
    def _n_outputs(self) -> int:
        return 1 if self.classes_.shape[0] == 2 else int(self.classes_.shape[0])

    def _decision(self, X: Any) -> FloatArray:
        two = self.classes_.shape[0] == 2
        found = np.zeros((X.shape[0], self.classes_.shape[0]))
        for rows, networks in self._outputs(X, "logistic" if two else "softmax", self._n_outputs):
            for outputs in networks:
                found[rows] += expit(np.hstack([-outputs, outputs])) if two else softmax(outputs, axis=1)
        return found / self.weights_.shape[0]
