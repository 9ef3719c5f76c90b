"""The contract of a classifier: write `_fit` and `_decision`, inherit everything public."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tamis.base.predictor import Predictor, WeightedPredictor
from tamis.base.types import FloatArray
from tamis.base.validation import class_pairs, encode_labels


def _gives_probabilities(classifier: "Classifier") -> bool:
    return classifier.gives_probabilities


def _gives_margins(classifier: "Classifier") -> bool:
    return not classifier.gives_probabilities


class Classifier(ClassifierMixin, Predictor):
    """Base of every classifier.

    A subclass writes ``__init__``, ``_parameter_constraints``, its `part` card, ``_fit(X, y)`` and
    ``_decision(X)``. `X` arrives as float64 or float32, dense or CSR; `y` as class codes 0, 1, ....
    ``_decision`` returns an array of shape (n_rows, n_classes), the largest entry of a row naming its class;
    with two classes it may return shape (n_rows,), above zero for the second class. Labels, ``predict``,
    ``predict_proba`` or ``decision_function`` and all checks are inherited. A method that takes sample weights
    derives from :class:`WeightedClassifier` instead.
    """

    #: True when `_decision` returns class probabilities; there is then `predict_proba`, else `decision_function`.
    gives_probabilities: ClassVar[bool] = False

    @abstractmethod
    def _decision(self, X: Any) -> FloatArray:
        """Evidence for each class, on validated input."""

    def predict(self, X: Any) -> np.ndarray:
        """The class of each row; among equals the first in the order of ``classes_``."""
        return self.labels_from(self._checked_decision(X))

    def labels_from(self, evidence: FloatArray) -> np.ndarray:
        """The class that each row of evidence speaks for: what ``predict`` says, without computing it again."""
        codes = (evidence > 0).astype(np.intp) if evidence.ndim == 1 else evidence.argmax(axis=1)
        return self.classes_[codes]

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class, in the order of ``classes_``."""
        return self._checked_decision(X)

    @available_if(_gives_margins)
    def decision_function(self, X: Any) -> FloatArray:
        """Evidence: shape (n_rows,) for two classes, above zero for the second; else (n_rows, n_classes)."""
        return self.margins_from(self._checked_decision(X))

    def margins_from(self, evidence: FloatArray) -> FloatArray:
        """What ``decision_function`` says, from evidence that is there already."""
        two = self.classes_.shape[0] == 2 and evidence.ndim == 2
        return evidence[:, 1] - evidence[:, 0] if two else evidence

    @classmethod
    def _decide_all(cls, models: Sequence[Self], X: Any) -> Iterator[FloatArray]:
        """Evidence of models that were fitted together, on validated rows; one that can shares work between them."""
        return (model._decision(X) for model in models)

    def _begin(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Validated rows and class codes; the classes and columns are kept."""
        X, y = self._read(X, y, reset=True)
        self.classes_, codes = encode_labels(y, type(self).__name__)
        return X, codes

    def _checked_decision(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self._decision(self._read(X, reset=False))


class WeightedClassifier(WeightedPredictor, Classifier):
    """Base of a classifier that takes sample weights: ``_fit`` gets them, or None, as a third argument."""


def one_vs_one(pair_decisions: FloatArray, n_classes: int) -> FloatArray:
    """Turn decisions on pairs of classes into one number per class.

    Parameters
    ----------
    pair_decisions : array of shape (n_rows, n_pairs)
        In the order of :func:`~tamis.base.validation.class_pairs`; above zero speaks for the second class of the pair.
    n_classes : int

    Returns
    -------
    array of shape (n_rows, n_classes)
        Votes won, plus the summed decisions squeezed into (-1/3, 1/3): confidence breaks ties between equal
        votes and never overturns a vote.
    """
    votes = np.zeros((pair_decisions.shape[0], n_classes))
    confidence = np.zeros_like(votes)
    for pair, (a, b) in enumerate(class_pairs(n_classes)):
        d = pair_decisions[:, pair]
        votes[:, b] += d > 0
        votes[:, a] += d <= 0
        confidence[:, b] += d
        confidence[:, a] -= d
    return votes + confidence / (3 * (np.abs(confidence) + 1))
