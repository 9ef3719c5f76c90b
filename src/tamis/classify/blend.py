"""Blend: the mean class probabilities of several models."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from tamis.base._sklearn import integer
from tamis.base.errors import TamisError
from tamis.base.meta_estimators import EstimatorList, MetaClassifier, check_classifier, model_weights
from tamis.base.parallel import run_all
from tamis.base.part import Arguments, Part, enumerated
from tamis.base.predictions import Predicted, as_probabilities, calibrated, predict_rows
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.types import FloatArray
from tamis.classify.knn import KNN
from tamis.classify.svm.svm import SVM


def _phrase(a: Arguments) -> str:
    models, weights = a.pop("estimators"), a.pop("weights")
    kind = "calibrated probability" if a.pop("calibration") else "prediction"
    level = ", with the share of each class as its threshold" if a.pop("balanced") else ""
    if not models:
        return f"the mean {kind} of a linear support vector machine and the nearest neighbours{level}"
    counted = f", weighted {' to '.join(map(str, weights))}," if weights else ""
    return f"the mean {kind} of {len(models)} models{counted} {enumerated(models)}{level}"


class Blend(EstimatorList, MetaClassifier):
    """Mean of the class probabilities of several models, each fitted on all rows.

    With w_m the weight of model m and p_m(c | x) its probability of class c,

        p(c | x) = sum_m w_m p_m(c | x) / sum_m w_m.

    The margins of a model without probabilities are put through the logistic function: 1 / (1 + exp(-d)) of its margin
    d for the second of two classes, exp(d_c) / sum_b exp(d_b) with several. A model that only predicts classes counts
    as 1 for the class it predicts. With `calibration` the p_m are corrected first. In a recipe the models are written
    one after another: ``blend(cc(50) | svm, knn(3), weights=[2, 1])``.

    Parameters
    ----------
    estimators : list of estimators, optional
        Classifiers, or pipelines that end in one, by default a linear ``SVM()`` and a ``KNN()``. They get the rows
        unchanged: data frames, text, missing values and sparse matrices included.
    weights : list of float, optional
        A non-negative number for each model, not all zero; by default equal. A model of weight 0 is not fitted.
    calibration : list of lists of float, optional
        For each model a slope s, and a number b_c for every class but the first, whose b_c is 0: its probabilities
        become p_m(c | x)^s exp(b_c), divided by their sum (Platt's sigmoid). The search learns these numbers from
        predictions for rows that the model has not seen.
    balanced : bool, default=False
        The mean is that of probabilities for classes of equal size (which `calibration` provides), and its largest
        entry is the predicted class: this minimizes the balanced error rate. ``predict_proba`` multiplies it by the
        share of each class in the training rows.
    n_jobs : int, optional
        Processes that fit models side by side; the result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the models without a seed, each by its place in the list.

    Attributes
    ----------
    classes_ : array
    estimators_ : list of fitted estimators
        The models of a weight above zero, in order.
    weights_ : array of shape (n_members,)
        Their weights.
    calibration_ : array of shape (n_members, n_classes) or None
        Their calibration.
    shares_ : array of shape (n_classes,)
        The share of each class in the training rows.

    See Also
    --------
    Committee : Vote of copies of one model, each fitted without one fold.

    Notes
    -----
    Margins are not log odds, so without `calibration` their logistic function is a probability in name only. Of equal
    classes the first is predicted. The parameters of the models are ``estimators_1__C``, ``estimators_2__k``, ....

    References
    ----------
    Kittler, Hatef, Duin and Matas (1998), "On combining classifiers" (the sum rule); Caruana, Niculescu-Mizil, Crew and
    Ksikes (2004), "Ensemble selection from libraries of models"; Platt (1999), "Probabilistic outputs for support
    vector machines and comparisons to regularized likelihood methods".

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
        "calibration": ["array-like", None],
        "balanced": ["boolean"],
        "n_jobs": [integer(), None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        estimators: Sequence[Any] | None = None,
        *,
        weights: Sequence[float] | None = None,
        calibration: Sequence[Sequence[float]] | None = None,
        balanced: bool = False,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.calibration = calibration
        self.balanced = balanced
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, y: Any) -> None:
        models = self._models()
        weights = model_weights(self.weights, len(models), "blend")
        calibration = _checked_calibration(self.calibration, len(models), self.classes_.shape[0])
        seed = int(generator(self.random_state).integers(2**31))
        labels = self.classes_[y]
        used = np.flatnonzero(weights).tolist()
        tasks = [(seeded(clone(models[place]), spawn(seed, place)), X, labels) for place in used]
        self.estimators_ = run_all(_fitted, tasks, self.n_jobs)
        self.weights_ = weights[weights > 0]
        self.shares_ = np.bincount(y) / y.shape[0]
        self.calibration_ = None if calibration is None else calibration[used]

    def labels_from(self, evidence: FloatArray) -> np.ndarray:
        """The class of each row of probabilities."""
        return super().labels_from(evidence / self.shares_ if self.balanced else evidence)

    def _decision(self, X: Any) -> FloatArray:
        predictions = [predict_rows(member, X) for member in self.estimators_]
        # Some third-party classifiers have no `classes_`.
        known = [one if one.classes is not None else one._replace(classes=self.classes_) for one in predictions]
        found = blended(known, self.weights_, self.classes_.shape[0], self.calibration_)
        if not self.balanced:
            return found
        weighted = found * self.shares_
        return weighted / weighted.sum(axis=1, keepdims=True)

    def _models(self) -> list[Any]:
        if self.estimators is None:
            return [SVM(), KNN()]
        if not self.estimators:
            raise TamisError("blend needs at least one model; got none")
        for number, model in enumerate(self.estimators, 1):
            check_classifier(model, f"blend: model {number}")
        return list(self.estimators)


def blended(
    predictions: Sequence[Predicted],
    weights: Sequence[float] | FloatArray | None,
    n_classes: int,
    calibration: FloatArray | None = None,
) -> FloatArray:
    """Probabilities of a blend, from the predictions of its members.

    Parameters
    ----------
    predictions : sequence of Predicted
        Of each member, on the same rows and all classes.
    weights : sequence of float or None
        One a member, non-negative and not all zero; None is equal weights. Their sum does not matter.
    n_classes : int
    calibration : array of shape (n_members, n_classes), optional
        As in :class:`Blend`.

    Returns
    -------
    array of shape (n_rows, n_classes)

    Examples
    --------
    >>> sure = Predicted(np.array([1]), np.array([[0.0, 1.0]]), None, None)
    >>> undecided = Predicted(np.array([0]), None, np.array([0.0]), None)
    >>> blended([sure, undecided], None, 2)
    array([[0.25, 0.75]])
    """
    shares = model_weights(weights, len(predictions), "blend")
    used = [place for place, share in enumerate(shares) if share > 0]
    probabilities = [as_probabilities(predictions[i], n_classes) for i in used]
    if calibration is not None:
        probabilities = [calibrated(own, calibration[i]) for i, own in zip(used, probabilities, strict=True)]
    return np.average(probabilities, axis=0, weights=shares[used])


def _checked_calibration(calibration: Any, n_models: int, n_classes: int) -> FloatArray | None:
    """The calibration as an array: finite, with a positive slope, a row a model."""
    if calibration is None:
        return None
    try:
        found = np.asarray(calibration, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.empty(0)
    if found.shape != (n_models, n_classes) or not np.isfinite(found).all() or (found[:, 0] <= 0).any():
        raise TamisError(
            f"blend: calibration takes {n_classes} numbers for each of {n_models} models, the first above zero; "
            f"got {calibration!r}"
        )
    return found


def _fitted(model: Any, X: Any, y: np.ndarray) -> Any:
    return model.fit(X, y)
