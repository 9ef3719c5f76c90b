"""Predictions of a fitted model, from one pass through its steps, and how often predicted labels are right."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from tamis.base.classifier import Classifier
from tamis.base.types import Codes, FloatArray


class Said(NamedTuple):
    """A model's answers, in the form in which the classifier gives them.

    Attributes
    ----------
    labels : array of shape (n_rows,)
    probabilities : array of shape (n_rows, n_classes), or None
    decision : array of shape (n_rows,) or (n_rows, n_classes), or None
        None also where it speaks of pairs of classes.
    classes : array or None
        What the columns stand for, when the classifier tells.
    """

    labels: np.ndarray
    probabilities: FloatArray | None
    decision: FloatArray | None
    classes: np.ndarray | None


def ask(model: Any, X: Any) -> Said:
    """Let a fitted classifier, or a pipeline that ends in one, answer for rows.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> said = ask(GaussianNB().fit(X, [0, 0, 1, 1]), X)
    >>> said.labels, said.probabilities.shape, said.decision
    (array([0, 0, 1, 1]), (4, 2), None)
    """
    # Classes and evidence are asked for separately: the steps before the classifier need to run but once.
    while isinstance(model, Pipeline):
        X = model[:-1].transform(X) if len(model.steps) > 1 else X
        model = model.steps[-1][1]
    probabilities = decision = None
    if hasattr(model, "predict_proba"):
        probabilities = np.asarray(model.predict_proba(X))
    if hasattr(model, "decision_function") and getattr(model, "decision_function_shape", "ovr") == "ovr":
        decision = np.asarray(model.decision_function(X))
    evidence = probabilities if decision is None else decision
    # Where it is known how evidence names the class, as for all linear classifiers that predict as scikit-learn's
    # logistic regression does, it need not be computed a second time.
    if isinstance(model, Classifier) and evidence is not None:
        labels = model.labels_from(evidence)
    elif decision is not None and getattr(type(model), "predict", None) is LogisticRegression.predict:
        labels = model.classes_[(decision > 0).astype(np.intp) if decision.ndim == 1 else decision.argmax(axis=1)]
    else:
        labels = np.asarray(model.predict(X))
    return Said(labels, probabilities, decision, getattr(model, "classes_", None))


def ask_together(models: Sequence[Any], X: Any) -> list[Said]:
    """Let classifiers that were fitted together (:class:`~tamis.base.shared_fit.Together`) answer for the same rows.

    Examples
    --------
    >>> from tamis.base.shared_fit import Together
    >>> from tamis.classify import KNN
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> [said.labels.tolist() for said in ask_together(list(Together([KNN(1), KNN(4)], X, [0, 0, 1, 1])), X)]
    [[0, 0, 1, 1], [0, 0, 0, 0]]
    """
    first = models[0]
    rows = first._read(X, reset=False)
    found = []
    for model, evidence in zip(models, first._decide_all(models, rows), strict=True):
        sure = model.gives_probabilities
        margins = None if sure else model.margins_from(evidence)
        labels = model.labels_from(evidence if sure else margins)
        found.append(Said(labels, evidence if sure else None, margins, model.classes_))
    return found


def as_probabilities(said: Said, n_classes: int) -> FloatArray:
    """What one model says as numbers for the classes that sum to one in each row.

    Its probabilities; failing these the logistic function of its margins; failing these 1 for the class it names.

    Parameters
    ----------
    said : Said
        Where it does not tell its classes, labels are the codes 0, 1, ... of classes.
    n_classes : int

    Examples
    --------
    >>> as_probabilities(Said(np.array([0, 1]), None, np.array([0.0, np.log(3)]), None), 2)
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """
    if said.probabilities is not None:
        exact = np.asarray(said.probabilities, dtype=np.float64)
        single = np.asarray(said.probabilities).dtype != np.float64
        return exact / exact.sum(axis=1, keepdims=True) if single else exact
    if said.decision is not None:
        margins = np.asarray(said.decision, dtype=np.float64)
        if margins.ndim == 1:
            return np.column_stack([expit(-margins), expit(margins)])
        # Otherwise there is a column per pair of classes, as some of scikit-learn's models can be told to give.
        if margins.shape[1] == n_classes:
            return np.asarray(softmax(margins, axis=1))
    codes = said.labels if said.classes is None else np.searchsorted(said.classes, said.labels)
    return np.eye(n_classes)[np.asarray(codes, dtype=np.intp)]


def accuracy(truth: Codes, said: Codes) -> float:
    """Share of the rows answered rightly."""
    return float(np.mean(truth == said))


def class_errors(truth: Codes, said: Codes) -> tuple[FloatArray, FloatArray]:
    """Share of each class that has rows that was answered wrongly, and the class's number of rows."""
    sizes = np.bincount(truth)
    wrong = np.bincount(truth[said != truth], minlength=sizes.size)
    present = sizes > 0
    return wrong[present] / sizes[present], sizes[present].astype(np.float64)


def balanced_accuracy(truth: Codes, said: Codes) -> float:
    """Mean, over the classes that have rows, of the share of the class answered rightly; 1 - BER.

    Examples
    --------
    >>> balanced_accuracy(np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 0, 1, 0, 1]))
    0.625
    """
    return 1.0 - float(class_errors(truth, said)[0].mean())


#: The measures by the name users type.
RATES: dict[str, Callable[[Codes, Codes], float]] = {"accuracy": accuracy, "balanced_accuracy": balanced_accuracy}
