"""Bayesian network for numbers: the average of neural networks drawn from their posterior distribution."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from tamis.base.part import Part
from tamis.base.regressor import WeightedRegressor
from tamis.base.search_range import choice
from tamis.base.types import FloatArray
from tamis.base.validation import few_digits, weighted_numbers
from tamis.bayes.drawn import dense_rows
from tamis.bayes.estimator import BayesianNetwork, fit_seconds, in_words


class BayesNetRegressor(BayesianNetwork, WeightedRegressor):
    """Average of neural networks drawn from their posterior, which finds how relevant each column is.

    The model is that of :class:`~tamis.classify.bayes_net.BayesNet` with one linear output, the mean of a normal target
    in units of its deviation. The precision of the noise has a gamma prior of mean 1 / 0.3^2 and shape `shape`.

    **Standardise the columns first**, ``standardize | bayes_net``: the prior is one for columns of deviation 1.
    It needs JAX to fit (and BlackJAX for "nuts"), ``pip install "tamis[bayes]"``, and neither to predict.

    Parameters
    ----------
    hidden : int or list of two int, default=8
        Units of the hidden layers; 0 for none, which is linear regression.
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
    relevance_, relevance_interval_, feature_importances_ : arrays
        As for :class:`~tamis.classify.bayes_net.BayesNet`, and so are the next.
    followed_, r_hat_, ess_, divergences_, acceptance_, weights_, hidden_
    target_zero_, target_unit_ : float
        The outputs of the networks are in units of the second above the first.

    See Also
    --------
    Ridge : The most probable linear model with one penalty for all columns.

    Notes
    -----
    Warns with R-hat above 1.05 or with divergences: more draws are then needed. The same seed gives the same draws on
    the same machine. Sample weights and sparse rows are taken as for classes.

    References
    ----------
    Neal (1996), "Bayesian learning for neural networks".

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from tamis.regress import BayesNetRegressor
    >>> X = np.random.default_rng(0).normal(size=(120, 4))
    >>> model = BayesNetRegressor(4, draws=300, warmup=300, leapfrog=20, random_state=0)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # these chains are too short to meet
    ...     model = model.fit(X, 7 + np.sin(2 * X[:, 2]))
    >>> bool(abs(model.predict([[0.0, 0.0, 0.5, 0.0]])[0] - 7 - np.sin(1)) < 0.1), int(model.relevance_.argmax())
    (True, 2)
    """

    part: ClassVar[Part] = Part(
        "bayes_net",
        positional=("hidden",),
        search={"hidden": choice(0, 4, 8, 16)},
        paper="Neal 1996",
        phrase=in_words,
        slow=True,
        fit_seconds=fit_seconds,
        requires=("jax",),
    )

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
        rows = dense_rows("bayes_net", *weighted_numbers(X, y, sample_weight, "bayes_net")[:3])
        y, self.target_zero_, self.target_unit_ = few_digits(rows.y, rows.weight)
        self._sample(rows._replace(y=y), "gaussian", 1)

    def _predict(self, X: Any) -> FloatArray:
        found = np.zeros(X.shape[0])
        for rows, networks in self._outputs(X, "gaussian", 1):
            for outputs in networks:
                found[rows] += outputs[:, 0]
        return self.target_zero_ + self.target_unit_ * found / self.weights_.shape[0]
