"""EachLabel: one classifier a label, for rows that have several labels each."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import _safe_indexing
from tamis.base.cut import Cut, rank
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import Track, mask_of
from tamis.base.inner_cv import inner_folds as folds_within
from tamis.base.meta_estimators import needs_classes
from tamis.base.predictions import Predicted, predict_rows
from tamis.base.seeds import places
from tamis.base.selector import Selection
from tamis.base.types import FloatArray, Mask
from tamis.base.validation import check_whole, forget
from tamis.compose.chain import to_text
from tamis.data.label_sets import LabelSets
from tamis.select.ranking import Ranking


class EachLabel(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Fit one classifier a label, which predicts whether a row has the label (binary relevance).

    The first steps of a pipeline that do not use the classes, such as words and scaling, are fitted once for all
    labels. A label that all training rows have, or none, gets no classifier: it is predicted for all rows, or for none.

    Parameters
    ----------
    estimator : estimator
        A classifier, or a pipeline that ends in one. A copy is fitted for each label.
    shared_selection : bool, default=False
        Select the features once for all labels: the scores of the ranking in `estimator` are averaged over the labels,
        weighted by the shares of the rows that have them, and cut once. Takes a pipeline in which rankings are the only
        steps before the classifier that use the classes.
    threshold : {"f1"}, optional
        "f1" chooses for each label the threshold on the scores that has the highest F1 in inner folds of the training
        rows. By default the classifier decides.
    inner_folds : int, default=5
        Folds of the choice of thresholds, stratified by the rarest label of a row.
    random_state : int, Generator, RandomState or None, default=None
        Shuffles those folds.

    Attributes
    ----------
    classes_ : array of str of shape (n_labels,)
        The labels.
    mark_ : str
        Divides the labels of a row in :meth:`predict_joined`.
    front_ : list of fitted transforms
        What all labels share.
    estimators_ : list of fitted estimators
        One a label, for the rows behind `front_`; None for a label without a classifier.
    always_ : bool array of shape (n_labels,)
        Whether all training rows have the label.
    thresholds_ : array of shape (n_labels,), or None
        Smallest score of a row with the label; None when the classifiers decide.
    selected_ : list of int arrays
        Columns that the model of each label uses; None where they cannot be traced.

    See Also
    --------
    tamis.validation.several.labels.validate_labels : The estimate of such a model on new data.

    References
    ----------
    Eyheramendy and Madigan (2005), "A novel feature selection score for text categorization", for the weights of the
    shared selection. Yang (2001), "A study on thresholding strategies for text categorization", for the choice of
    thresholds (SCut).

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.array([[0.0, 1.0], [0.1, 0.0], [1.0, 0.9], [1.1, 0.1]])
    >>> model = EachLabel(GaussianNB()).fit(X, ["up", "", "right;up", "right"])
    >>> model.predict_joined([[1.0, 0.0], [0.9, 1.1]]).tolist()
    ['right', 'right;up']
    """

    def __init__(
        self,
        estimator: Any,
        *,
        shared_selection: bool = False,
        threshold: str | None = None,
        inner_folds: int = 5,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.shared_selection = shared_selection
        self.threshold = threshold
        self.inner_folds = inner_folds
        self.random_state = random_state

    def fit(self, X: Any, labels: Any) -> Self:
        """Learn from rows and their labels.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
        labels : LabelSets, array of str, list of lists or indicator of shape (n_rows, n_labels)
            As for :meth:`tamis.data.label_sets.LabelSets.of`.
        """
        check_parameters(self.threshold, self.inner_folds)
        X = X if hasattr(X, "shape") else np.asarray(X)
        labels = LabelSets.of(labels)
        if labels.n_rows != X.shape[0]:
            raise TamisError(f"{labels.n_rows} sets of labels for {X.shape[0]} rows")
        if not labels.indicator.nnz:
            raise TamisError(f"none of the {labels.n_rows} rows has a label")
        forget(self)
        self.classes_, self.mark_, self.n_features_in_ = labels.names, labels.mark, int(X.shape[1])
        thresholds = None if self.threshold is None else self._thresholds(X, labels)
        front, rest = divided(self.estimator, self.shared_selection)
        self.front_: list[Any] = []
        rows, track = X, Track(np.arange(X.shape[1]))
        for step in front:
            if needs_classes(step):
                fitted = shared_ranking(step, rows, labels)
                rows = fitted.transform(rows)
            else:
                fitted = clone(step)
                rows = fitted.fit_transform(rows)
            self.front_.append(fitted)
            track = track.after(fitted)
        self.always_ = labels.sizes == labels.n_rows
        idle = self.always_ | (labels.sizes == 0)
        self.estimators_ = [
            None if idle[label] else clone(rest).fit(rows, labels.has(label).astype(np.intp))
            for label in range(labels.n_labels)
        ]
        self.thresholds_ = thresholds
        found = [None if one is None else track.after(one).origins for one in self.estimators_]
        self.selected_ = [
            np.empty(0, dtype=np.intp) if one is None else None if columns is None else np.unique(columns)
            for one, columns in zip(self.estimators_, found, strict=True)
        ]
        known = [columns for columns in self.selected_ if columns is not None]
        if len(known) == len(self.selected_):
            self.used_ = mask_of(np.concatenate(known).astype(np.intp), self.n_features_in_)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Evidence for each label, of shape (n_rows, n_labels): margins, or probabilities of a model without them.

        It is infinite for a label that all training rows have, or none.
        """
        return self.decide(X)[1]

    def predict(self, X: Any) -> np.ndarray:
        """Which row has which label: 0 and 1, of shape (n_rows, n_labels)."""
        return self.decide(X)[0].astype(np.intp)

    def predict_joined(self, X: Any) -> np.ndarray:
        """The labels of each row as one text."""
        return self.joined(self.decide(X)[0])

    def joined(self, decided: Mask) -> np.ndarray:
        """The labels of each row as one text, from what :meth:`decide` returns."""
        return LabelSets(self.classes_, sp.csr_array(decided), self.mark_).joined()

    def decide(self, X: Any) -> tuple[Mask, FloatArray]:
        """Which row has which label, and the evidence for it, both of shape (n_rows, n_labels)."""
        check_is_fitted(self)
        rows = X if hasattr(X, "shape") else np.asarray(X)
        if rows.shape[1] != self.n_features_in_:
            raise TamisError(f"the model takes {self.n_features_in_} columns; got {rows.shape[1]}")
        for step in self.front_:
            rows = step.transform(rows)
        shape = (rows.shape[0], self.classes_.size)
        scores = np.broadcast_to(np.where(self.always_, np.inf, -np.inf), shape).copy()
        decided = np.broadcast_to(self.always_, shape).copy()
        for label, model in enumerate(self.estimators_):
            if model is not None:
                output = predict_rows(model, rows)
                scores[:, label], decided[:, label] = _evidence(output), output.labels == 1
                if self.thresholds_ is not None:
                    decided[:, label] = scores[:, label] >= self.thresholds_[label]
        return decided, scores

    def _thresholds(self, X: Any, labels: LabelSets) -> FloatArray:
        """The best threshold of each label for rows that its classifier was not fitted on."""
        strata = np.unique(labels.strata(), return_inverse=True)[1]
        scores = np.empty((labels.n_rows, labels.n_labels))
        for train, test in folds_within(strata, self.inner_folds, self.random_state, "threshold"):
            inner = EachLabel(self.estimator, shared_selection=self.shared_selection)
            inner.fit(_safe_indexing(X, train), labels.rows(train))
            scores[test] = inner.decision_function(_safe_indexing(X, test))
        return np.array([best_threshold(labels.has(j), scores[:, j]) for j in range(labels.n_labels)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags


def check_parameters(threshold: str | None, inner_folds: int) -> None:
    """Refuse an unknown rule of thresholds, and fewer than two inner folds."""
    if threshold not in (None, "f1"):
        raise TamisError(f"threshold must be 'f1' or None, for the decision of the classifier; got {threshold!r}")
    check_whole("inner_folds", inner_folds, 2)


def divided(model: Any, shared_selection: bool = False) -> tuple[list[Any], Any]:
    """The steps of a model that all labels share, and the estimator that is fitted for each label.

    Shared are the first steps that do not use the classes; with `shared_selection` all before the classifier, of which
    rankings alone may use the classes.
    """
    steps = [step for step in places(model) if step is not None and step != "passthrough"]
    *front, last = steps
    needing = [number for number, step in enumerate(front) if needs_classes(step)]
    if shared_selection:
        if not needing or not all(isinstance(front[number], Ranking) for number in needing):
            raise TamisError(
                "shared_selection takes a recipe with a ranking before its classifier, such as chi2(100) | svm, and "
                f"no other part that uses the labels in between; got {to_text(model)}"
            )
        return front, last
    shared = needing[0] if needing else len(front)
    rest = steps[shared:]
    return steps[:shared], last if len(rest) == 1 else Pipeline([(f"step {i}", step) for i, step in enumerate(rest)])


def shared_ranking(ranking: Ranking, X: Any, labels: LabelSets) -> Ranking:
    """The ranking fitted to all labels at once: ``sum over labels of P(label) score(label)``, cut once.

    The weights P are the shares of the rows, divided by their sum. Labels that all rows have, or none, do not count.
    """
    if ranking.fdr is not None:
        raise TamisError("shared_selection averages scores, which have no p-values: cut by k, a share or a threshold")
    counted = np.flatnonzero((labels.sizes > 0) & (labels.sizes < labels.n_rows))
    if not counted.size:
        raise TamisError("shared_selection needs a label that some training rows have and some do not")
    weights = labels.sizes[counted] / labels.sizes[counted].sum()
    total: Any = 0.0
    for label, weight in zip(counted.tolist(), weights, strict=True):
        one = clone(ranking).set_params(k=1, fraction=None, threshold=None)
        one.fit(X, labels.has(label).astype(np.intp))
        total = total + weight * one.scores_
    order = rank(total)
    cut = Cut(ranking.k, ranking.fraction, ranking.threshold, None, ranking.at_least)
    one.set_params(k=ranking.k, fraction=ranking.fraction, threshold=ranking.threshold)
    one._take(Selection(cut.apply(total, order, None), total, order))
    return one


def best_threshold(truth: Mask, scores: FloatArray) -> float:
    """The smallest score to predict the label for, so that F1 is highest; of equals the one with the fewest rows.

    It lies half-way to the next lower score. It is infinite when no row has the label.

    Examples
    --------
    >>> best_threshold(np.array([True, False, True, False]), np.array([4.0, 3.0, 2.0, 1.0]))
    1.5
    """
    if not truth.any():
        return float("inf")
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    ends = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))
    f1 = 2.0 * np.cumsum(truth[order])[ends] / (ends + 1 + truth.sum())
    best = ends[int(f1.argmax())]
    least = float(falling[best])
    if best + 1 == falling.size or not np.isfinite(falling[best + 1]) or not np.isfinite(least):
        return least
    middle = (least + float(falling[best + 1])) / 2
    return middle if middle > falling[best + 1] else least


def _evidence(output: Predicted) -> FloatArray:
    """Evidence for the second of two classes."""
    if output.decision is not None:
        return output.decision if output.decision.ndim == 1 else output.decision[:, 1] - output.decision[:, 0]
    if output.probabilities is not None:
        return output.probabilities[:, 1]
    return output.labels.astype(np.float64)
