"""Committee: the mean of the models of a cross-validation."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from tamis.base._sklearn import HasMethods, _safe_indexing, integer
from tamis.base.errors import TamisError
from tamis.base.inner_cv import inner_folds
from tamis.base.meta_estimators import MetaRegressor, check_regressor
from tamis.base.parallel import run_all
from tamis.base.part import Arguments, Part
from tamis.base.search_range import choice
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.types import FloatArray
from tamis.regress.ridge.ridge import Ridge


def _phrase(a: Arguments) -> str:
    folds = a.pop("cv")
    what = a.pop("estimator") or "ridge regression"
    return f"the mean prediction of {folds} copies, each fitted without one of {folds} folds, of {what}"


class CommitteeRegressor(MetaRegressor):
    """Mean of one model per fold, each fitted on the rows outside its fold.

    The folds are stratified by the size of the target. In a recipe: ``committee(9, cc(50) | ridge)``.

    Parameters
    ----------
    cv : int, default=9
        Number of members; at most the number of rows.
    estimator : estimator, optional
        A regressor, or a pipeline that ends in one, by default ``Ridge()``. It gets the rows unchanged: data frames,
        text, missing values and sparse matrices included.
    n_jobs : int, optional
        Processes that fit members side by side; the result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Splits the rows into folds, and seeds a model without a seed, differently for each member.

    Attributes
    ----------
    estimators_ : list of fitted estimators
    cv_rmse_ : array of shape (n_members,)
        Root mean squared error of each member on its unseen rows.
    cv_estimate_ : dict
        ``{"rmse": {"mean": ..., "sd": ...}}`` over the members.

    See Also
    --------
    BlendRegressor : Mean of different models, each fitted on all rows.

    Notes
    -----
    ``cv_estimate_`` is that of single members, not of the committee, which is usually a little better: use
    ``tamis.validate`` for it. Rows that belong together (groups) may lie in different folds.

    References
    ----------
    Krogh and Vedelsby (1995), "Neural network ensembles, cross validation, and active learning"; Grabczewski and
    Jankowski (2006), "Mining for complex models comprising feature selection and classification", section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.regress import CommitteeRegressor, KNNRegressor
    >>> X = np.array([[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]])
    >>> model = CommitteeRegressor(3, KNNRegressor(1), random_state=0).fit(X, [1.0, 1.0, 1.0, 5.0, 5.0, 5.0])
    >>> model.predict([[1.5], [7.5]])
    array([1., 5.])
    >>> model.cv_estimate_
    {'rmse': {'mean': 0.0, 'sd': 0.0}}
    """

    part: ClassVar[Part] = Part(
        "committee",
        positional=("cv", "estimator"),
        search={"cv": choice(5, 9, 15)},
        paper="Krogh and Vedelsby 1995; Grabczewski and Jankowski 2006, section 3",
        phrase=_phrase,
        role="fold_ensemble",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "cv": [integer(2)],
        "estimator": [HasMethods(["fit", "predict"]), None],
        "n_jobs": [integer(), None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        cv: int = 9,
        estimator: Any = None,
        *,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.cv = cv
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, y: Any) -> None:
        (model,) = self._models()
        check_regressor(model, "committee: estimator")
        if y.size < 2:
            raise TamisError("committee needs at least two rows to split into folds; got 1 sample")
        seed = int(generator(self.random_state).integers(2**31))
        parts = inner_folds(y, self.cv, seed, "committee")
        tasks = [(seeded(clone(model), spawn(seed, fold)), X, y, *part) for fold, part in enumerate(parts)]
        found = run_all(_member, tasks, self.n_jobs)
        self.estimators_ = [member for member, _ in found]
        self.cv_rmse_ = np.array([error for _, error in found])
        self.cv_estimate_ = {"rmse": {"mean": float(self.cv_rmse_.mean()), "sd": float(self.cv_rmse_.std(ddof=1))}}

    def _predict(self, X: Any) -> FloatArray:
        return np.mean([np.asarray(member.predict(X), dtype=np.float64) for member in self.estimators_], axis=0)

    def _models(self) -> list[Any]:
        return [Ridge() if self.estimator is None else self.estimator]


def _member(model: Any, X: Any, y: FloatArray, train: np.ndarray, test: np.ndarray) -> tuple[Any, float]:
    """The model fitted on some rows, and its root mean squared error on others."""
    model.fit(_safe_indexing(X, train), y[train])
    errors = y[test] - np.asarray(model.predict(_safe_indexing(X, test)))
    return model, float(np.sqrt(np.mean(errors**2)))
