"""Predictions of a fitted model, from one pass through its steps, and how often predicted labels are right."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from tamis.base.classifier import Classifier
from tamis.base.regressor import Regressor
from tamis.base.types import Codes, FloatArray

#: Smaller probabilities count as this one: few models mean them.
LEAST = 1e-3


class Predicted(NamedTuple):
    """Predictions for rows, in the form in which the model gives them."""

    #: Classes, or the numbers of a regressor.
    labels: np.ndarray
    probabilities: FloatArray | None
    #: None also where it is about pairs of classes.
    decision: FloatArray | None
    #: The classes of the columns, if the classifier has ``classes_``.
    classes: np.ndarray | None


def predict_rows(model: Any, X: Any) -> Predicted:
    """Predictions of a fitted classifier or regressor, or of a pipeline that ends in one.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> predicted = predict_rows(GaussianNB().fit(X, [0, 0, 1, 1]), X)
    >>> predicted.labels, predicted.probabilities.shape, predicted.decision
    (array([0, 0, 1, 1]), (4, 2), None)
    """
    # Labels and evidence are separate calls: the steps before the classifier need to run only once.
    while isinstance(model, Pipeline):
        X = model[:-1].transform(X) if len(model.steps) > 1 else X
        model = model.steps[-1][1]
    probabilities = decision = None
    if hasattr(model, "predict_proba"):
        probabilities = np.asarray(model.predict_proba(X))
    if hasattr(model, "decision_function") and getattr(model, "decision_function_shape", "ovr") == "ovr":
        decision = np.asarray(model.decision_function(X))
    evidence = probabilities if decision is None else decision
    # Where labels are known to follow from the evidence, as for all linear classifiers with the `predict` of
    # scikit-learn's logistic regression, it is not computed twice.
    if isinstance(model, Classifier) and evidence is not None:
        labels = model.labels_from(evidence)
    elif decision is not None and getattr(type(model), "predict", None) is LogisticRegression.predict:
        labels = model.classes_[(decision > 0).astype(np.intp) if decision.ndim == 1 else decision.argmax(axis=1)]
    else:
        labels = np.asarray(model.predict(X))
    return Predicted(labels, probabilities, decision, getattr(model, "classes_", None))


def predict_together(models: Sequence[Any], X: Any) -> list[Predicted]:
    """Predictions of classifiers or regressors that were fitted together (:class:`~tamis.base.shared_fit.Together`).

    Examples
    --------
    >>> from tamis.base.shared_fit import Together
    >>> from tamis.classify import KNN
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> [one.labels.tolist() for one in predict_together(list(Together([KNN(1), KNN(4)], X, [0, 0, 1, 1])), X)]
    [[0, 0, 1, 1], [0, 0, 0, 0]]
    """
    first = models[0]
    rows = first._read(X, reset=False)
    if isinstance(first, Regressor):
        return [Predicted(numbers, None, None, None) for numbers in first._predict_all(models, rows)]
    found = []
    for model, evidence in zip(models, first._decide_all(models, rows), strict=True):
        probabilities, margins = (evidence, None) if model.gives_probabilities else (None, model.margins_from(evidence))
        labels = model.labels_from(evidence if margins is None else margins)
        found.append(Predicted(labels, probabilities, margins, model.classes_))
    return found


def as_probabilities(predicted: Predicted, n_classes: int) -> FloatArray:
    """Predictions of one model as probabilities of the classes.

    They are its probabilities, or the logistic function of its margins, or 1 for the predicted class. Where it has no
    classes, labels are the codes 0, 1, ... of classes.

    Examples
    --------
    >>> as_probabilities(Predicted(np.array([0, 1]), None, np.array([0.0, np.log(3)]), None), 2)
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """
    if predicted.probabilities is not None:
        exact = np.asarray(predicted.probabilities, dtype=np.float64)
        single = np.asarray(predicted.probabilities).dtype != np.float64
        return exact / exact.sum(axis=1, keepdims=True) if single else exact
    if predicted.decision is not None:
        margins = np.asarray(predicted.decision, dtype=np.float64)
        if margins.ndim == 1:
            return np.column_stack([expit(-margins), expit(margins)])
        # Otherwise there is a column per pair of classes, an option of some of scikit-learn's models.
        if margins.shape[1] == n_classes:
            return np.asarray(softmax(margins, axis=1))
    codes = predicted.labels if predicted.classes is None else np.searchsorted(predicted.classes, predicted.labels)
    return np.eye(n_classes)[np.asarray(codes, dtype=np.intp)]


def calibrated(probabilities: FloatArray, parameters: FloatArray) -> FloatArray:
    """Probabilities of class c in proportion to ``exp(s log p_c + b_c)``: Platt's sigmoid, for any number of classes.

    Parameters
    ----------
    probabilities : array of shape (n_rows, n_classes)
        Those below :data:`LEAST` count as that much.
    parameters : array of shape (n_classes,)
        The slope s, and b_c of every class but the first, whose b_c is 0.

    Examples
    --------
    >>> calibrated(np.array([[0.2, 0.8], [0.5, 0.5]]), np.array([0.5, 0.0])).round(3)
    array([[0.333, 0.667],
           [0.5  , 0.5  ]])
    """
    evidence = parameters[0] * np.log(np.clip(probabilities, LEAST, 1.0))
    evidence[:, 1:] += parameters[1:]
    return np.asarray(softmax(evidence, axis=1))


def accuracy(truth: Codes, predicted: Codes) -> float:
    """Share of the rows with the right label."""
    return float(np.mean(truth == predicted))


def class_errors(truth: Codes, predicted: Codes) -> tuple[FloatArray, FloatArray]:
    """Error rate and number of rows of each class that has rows."""
    sizes = np.bincount(truth)
    wrong = np.bincount(truth[predicted != truth], minlength=sizes.size)
    present = sizes > 0
    return wrong[present] / sizes[present], sizes[present].astype(np.float64)


def balanced_accuracy(truth: Codes, predicted: Codes) -> float:
    """Mean accuracy over the classes that have rows; 1 - BER.

    Examples
    --------
    >>> balanced_accuracy(np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 0, 1]))
    0.625
    """
    return 1.0 - float(class_errors(truth, predicted)[0].mean())


#: The measures by the name users type.
RATES: dict[str, Callable[[Codes, Codes], float]] = {"accuracy": accuracy, "balanced_accuracy": balanced_accuracy}
