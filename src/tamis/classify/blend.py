"""Blend: the mean of what several different models say."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from tamis.base._sklearn import Interval
from tamis.base.errors import TamisError
from tamis.base.meta_estimators import EstimatorList, MetaClassifier, check_classifier
from tamis.base.parallel import run_all
from tamis.base.part import Arguments, Part, enumerated
from tamis.base.predictions import Predicted, as_probabilities, predict_rows
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.types import FloatArray
from tamis.classify.knn.knn import KNN
from tamis.classify.svm.svm import SVM


def _phrase(a: Arguments) -> str:
    models, weights = a.pop("estimators"), a.pop("weights")
    if not models:
        return "the mean of what a linear support vector machine and the nearest neighbours say"
    counted = f", weighted {' to '.join(map(str, weights))}," if weights else ""
    return f"the mean of what {len(models)} models say{counted} {enumerated(models)}"


class Blend(EstimatorList, MetaClassifier):
    """Mean of the class probabilities of several models, each fitted on all rows.

    With w_m the weight of model m and p_m(c | x) what it says of class c,

        p(c | x) = sum_m w_m p_m(c | x) / sum_m w_m.

    A model that gives margins instead of probabilities is put through the logistic function: 1 / (1 + exp(-d)) of its
    margin d for the second of two classes, exp(d_c) / sum_b exp(d_b) with several. One that names classes and no more
    counts as 1 for the class it names. In a recipe the models are written one after another:
    ``blend(cc(50) | svm, knn(3), weights=[2, 1])``.

    Parameters
    ----------
    estimators : list of estimators, optional
        Classifiers, or pipelines that end in one; they get the rows as they come: data frames, text, missing values and
        sparse matrices are their own affair. By default a linear ``SVM()`` and a ``KNN()``.
    weights : list of float, optional
        A number of zero or more for each model, not all of them zero. A model of weight 0 is not fitted. By default all
        count the same.
    n_jobs : int, optional
        Processes that fit models side by side; the result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the models that have no seed of their own, each by its place in the list.

    Attributes
    ----------
    classes_ : array
    estimators_ : list of fitted estimators
        The models of a weight above zero, in order.
    weights_ : array of shape (n_members,)
        Their weights.

    Notes
    -----
    Margins are no log odds, so that what the logistic function makes of them is a probability in name only: a margin of
    1 counts as 0.73 whatever the share of such rows that is right. Among equal classes the first is named. What a
    blend says follows from what its members say (:func:`blended`): nothing else is learnt. The parameters of the
    models are reached as ``estimators_1__C``, ``estimators_2__k``, ....

    References
    ----------
    Kittler, Hatef, Duin and Matas (1998), "On combining classifiers" (the sum rule); Caruana, Niculescu-Mizil, Crew and
    Ksikes (2004), "Ensemble selection from libraries of models".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import KNN, Blend
    >>> X = np.array([[0.0], [1.0], [2.0], [7.0], [8.0]])
    >>> model = Blend([KNN(1), KNN(5)], weights=[3, 1]).fit(X, ["low", "low", "low", "high", "high"])
    >>> model.predict_proba([[1.5]])
    array([[0.1, 0.9]])
    """

    part: ClassVar[Part] = Part(
        "blend",
        positional=("*estimators",),
        paper="Kittler, Hatef, Duin and Matas 1998; Caruana, Niculescu-Mizil, Crew and Ksikes 2004",
        phrase=_phrase,
        role="weighted_ensemble",
    )
    gives_probabilities = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimators": [list, tuple, None],
        "weights": ["array-like", None],
        "n_jobs": [Interval(Integral, None, None, closed="neither"), None],
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
        weights = _checked_weights(self.weights, len(models))
        seed = int(generator(self.random_state).integers(2**31))
        labels = self.classes_[y]
        heard = [(i, model) for i, model in enumerate(models) if weights[i] > 0]
        tasks = [(seeded(clone(model), spawn(seed, i)), X, labels) for i, model in heard]
        self.estimators_ = run_all(_fitted, tasks, self.n_jobs)
        self.weights_ = weights[weights > 0]

    def _decision(self, X: Any) -> FloatArray:
        said = [predict_rows(member, X) for member in self.estimators_]
        # Not every classifier of others' making tells its classes.
        told = [one if one.classes is not None else one._replace(classes=self.classes_) for one in said]
        return blended(told, self.weights_, self.classes_.shape[0])

    def _models(self) -> list[Any]:
        if self.estimators is None:
            return [SVM(), KNN()]
        if not self.estimators:
            raise TamisError("blend needs at least one model; got none")
        for number, model in enumerate(self.estimators, 1):
            check_classifier(model, f"blend: model {number}")
        return list(self.estimators)


def blended(said: Sequence[Predicted], weights: Sequence[float] | FloatArray | None, n_classes: int) -> FloatArray:
    """Probabilities of a blend, from the answers of its members.

    Parameters
    ----------
    said : sequence of Predicted
        What each member says of the same rows.
    weights : sequence of float or None
        One a member, zero or more and not all zero; None counts all the same. Their sum does not matter.
    n_classes : int
        Each member knows so many classes.

    Returns
    -------
    array of shape (n_rows, n_classes)

    Examples
    --------
    >>> sure = Predicted(np.array([1]), np.array([[0.0, 1.0]]), None, None)
    >>> doubting = Predicted(np.array([0]), None, np.array([0.0]), None)
    >>> blended([sure, doubting], None, 2)
    array([[0.25, 0.75]])
    """
    shares = _checked_weights(weights, len(said))
    heard = [i for i in range(len(said)) if shares[i] > 0]
    return np.average([as_probabilities(said[i], n_classes) for i in heard], axis=0, weights=shares[heard])


def _checked_weights(weights: Sequence[float] | FloatArray | None, n_models: int) -> FloatArray:
    """The weights as numbers, refused where they are not one a model, of zero or more and not all zero."""
    if weights is None:
        return np.ones(n_models)
    try:
        found = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (n_models,) or not np.isfinite(found).all() or (found < 0).any() or not found.any():
        raise TamisError(
            f"blend: weights takes a number of zero or more for each of {n_models} models, not all of them zero; "
            f"got {weights!r}"
        )
    return found


def _fitted(model: Any, X: Any, y: np.ndarray) -> Any:
    return model.fit(X, y)
