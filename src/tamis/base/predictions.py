"""What a fitted model says of rows: classes and evidence, from one pass through the steps before its classifier."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.pipeline import Pipeline

from tamis.base.classifier import Classifier
from tamis.base.types import FloatArray


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
    # Where it is known how evidence names the class, it need not be computed a second time.
    if isinstance(model, Classifier) and evidence is not None:
        labels = model.labels_from(evidence)
    elif decision is not None and getattr(type(model), "predict", None) is LinearClassifierMixin.predict:
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
