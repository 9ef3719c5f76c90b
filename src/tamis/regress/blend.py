"""Blend: the mean of the predictions of several models."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from tamis.base._sklearn import integer
from tamis.base.errors import TamisError
from tamis.base.meta_estimators import EstimatorList, MetaRegressor, check_regressor, model_weights
from tamis.base.parallel import run_all
from tamis.base.part import Arguments, Part, enumerated
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.types import FloatArray
from tamis.regress.knn import KNNRegressor
from tamis.regress.ridge.ridge import Ridge


def _phrase(a: Arguments) -> str:
    models, weights = a.pop("estimators"), a.pop("weights")
    if not models:
        return "the mean prediction of ridge regression and the nearest neighbours"
    counted = f", weighted {' to '.join(map(str, weights))}," if weights else ""
    return f"the mean prediction of {len(models)} models{counted} {enumerated(models)}"


class BlendRegressor(EstimatorList, MetaRegressor):
    """Mean of the predictions of several models, each fitted on all rows.

    With w_m the weight of model m and f_m(x) its prediction,

        f(x) = sum_m w_m f_m(x) / sum_m w_m.

    In a recipe the models are written one after another: ``blend(cc(50) | ridge, knn(3), weights=[2, 1])``.

    Parameters
    ----------
    estimators : list of estimators, optional
        Regressors, or pipelines that end in one, by default ``Ridge()`` and ``KNNRegressor()``. They get the rows
        unchanged: data frames, text, missing values and sparse matrices included.
    weights : list of float, optional
        A non-negative number for each model, not all zero; by default equal. A model of weight 0 is not fitted.
    n_jobs : int, optional
        Processes that fit models side by side; the result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the models without a seed, each by its place in the list.

    Attributes
    ----------
    estimators_ : list of fitted estimators
        The models of a weight above zero, in order.
    weights_ : array of shape (n_members,)
        Their weights.

    See Also
    --------
    CommitteeRegressor : Mean of copies of one model, each fitted without one fold.

    Notes
    -----
    The parameters of the models are ``estimators_1__alpha``, ``estimators_2__n_neighbors``, ....

    References
    ----------
    Bates and Granger (1969), "The combination of forecasts"; Caruana, Niculescu-Mizil, Crew and Ksikes (2004),
    "Ensemble selection from libraries of models".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.regress import BlendRegressor, KNNRegressor
    >>> X = np.array([[0.0], [1.0], [2.0], [7.0], [8.0]])
    >>> model = BlendRegressor([KNNRegressor(1), KNNRegressor(5)], weights=[3, 1]).fit(X, [1.0, 1.0, 1.0, 6.0, 6.0])
    >>> model.predict([[1.5]])
    array([1.5])
    """

    part: ClassVar[Part] = Part(
        "blend",
        positional=("*estimators",),
        paper="Bates and Granger 1969; Caruana, Niculescu-Mizil, Crew and Ksikes 2004",
        phrase=_phrase,
        role="weighted_ensemble",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimators": [list, tuple, None],
        "weights": ["array-like", None],
        "n_jobs": [integer(), None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        estimators: Sequence[Any] | None = None,
        *,
        weights: Sequence[float] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, y: Any) -> None:
        models = self._models()
        weights = model_weights(self.weights, len(models), "blend")
        seed = int(generator(self.random_state).integers(2**31))
        used = np.flatnonzero(weights).tolist()
        tasks = [(seeded(clone(models[place]), spawn(seed, place)), X, y) for place in used]
        self.estimators_ = run_all(_fitted, tasks, self.n_jobs)
        self.weights_ = weights[used]

    def _predict(self, X: Any) -> FloatArray:
        found = [np.asarray(member.predict(X), dtype=np.float64) for member in self.estimators_]
        return np.average(found, axis=0, weights=self.weights_)

    def _models(self) -> list[Any]:
        if self.estimators is None:
            return [Ridge(), KNNRegressor()]
        if not self.estimators:
            raise TamisError("blend needs at least one model; got none")
        for number, model in enumerate(self.estimators, 1):
            check_regressor(model, f"blend: model {number}")
        return list(self.estimators)


def _fitted(model: Any, X: Any, y: FloatArray) -> Any:
    return model.fit(X, y)
