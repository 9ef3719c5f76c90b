"""Tuned first: a classifier finds its parameters on all columns, and is then fitted on those of a selector."""

from collections.abc import Sequence
from inspect import signature
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import assert_all_finite, get_tags

from tamis.base._sklearn import HasMethods, _safe_indexing
from tamis.base.classifier import Classifier
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import check_selector, selected_columns, used_features
from tamis.base.meta_estimators import MetaClassifier, check_classifier
from tamis.base.part import Arguments, Part
from tamis.base.predictions import predict_rows
from tamis.base.seeds import generator, places, seeded, spawn
from tamis.base.shared_fit import SharedFit
from tamis.base.types import Codes, FloatArray
from tamis.classify.svm.svm import SVM


class _Tuned(NamedTuple):
    """The rows, the seed, and the classifier with the parameters that it found on all columns, not fitted."""

    X: Any
    y: Codes
    seed: int
    model: Any
    found: dict[str, Any]


def _phrase(a: Arguments) -> str:
    model, selector = a.pop("estimator"), a.pop("selector")
    before = "" if selector is None else f" before a step that [{selector.text}]"
    return f"{model or 'a linear support vector machine'}, tuned on all features{before}"


class TunedFirst(SharedFit, MetaClassifier):
    """Find the parameters of a classifier on all columns, and fit it with them on the columns that a selector selects.

    In a chain, ``fisher(20) | svm(gaussian, C=auto, sigma=auto)``, the classifier finds its parameters on the selected
    columns. Here they are found before: ``tuned_first(svm(gaussian, C=auto, sigma=auto), fisher(20))``. So Lal,
    Chapelle and Schölkopf tune support vector machines before they select features: the parameters are the same for
    all numbers of features, and are not tuned to features that were selected on the same rows.

    Parameters
    ----------
    estimator : estimator, optional
        A classifier that finds parameters itself, or a pipeline that ends in one; by default ``svm(linear, C=auto)``.
        Every parameter ``p`` that is given by a word or by None, and of which the fitted step has the value ``p_``,
        takes that value: `C`, `sigma` and `kernel` of ``svm``, `sigma` of ``nrbf``, `n_neighbors` of ``knn``, ....
    selector : estimator, optional
        A selector, or a pipeline that ends in one; by default all columns are used. It selects among the columns as
        they come in: what its pipeline does to them is not passed on.
    random_state : int, Generator, RandomState or None, default=None
        Seeds a classifier and a selector without a seed.

    Attributes
    ----------
    classes_ : array
    tuned_ : dict
        The parameters that were found, by their names in `estimator`.
    selector_ : fitted selector or None
    estimator_ : fitted classifier
    used_ : bool array of shape (n_features,)
        The columns that the classifier uses.

    See Also
    --------
    SVM : With "auto" a machine that finds its parameters on the columns that it gets.

    Notes
    -----
    All is fitted on the training rows alone, so that an estimate by folds is as honest as that of a chain. One search
    for the parameters serves many selectors. A hard margin (``C=inf``) is no search: with ``sigma=classes`` only the
    width is then found on all columns.

    References
    ----------
    Lal, Chapelle and Schölkopf (2006), "Combining a filter method with SVMs", sections 1 and 3.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import SVM, TunedFirst
    >>> from tamis.select import Ranking
    >>> X = np.random.default_rng(0).normal(size=(40, 30))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> model = TunedFirst(SVM("gaussian", 1.0, sigma="classes"), Ranking("fisher", k=2)).fit(X, y)
    >>> alone = SVM("gaussian", 1.0, sigma="classes").fit(X, y)
    >>> model.tuned_ == {"sigma": alone.sigma_}, model.estimator_.n_features_in_
    (True, 2)
    """

    part: ClassVar[Part] = Part(
        "tuned_first",
        positional=("estimator", "selector"),
        paper="Lal, Chapelle and Schölkopf 2006, sections 1 and 3",
        phrase=_phrase,
        # A chain tunes on the columns that the classifier gets, which is what a search wants.
        searched=False,
        counterpart="svr",
    )
    #: One search for parameters serves every selector.
    shared_parameters = ("selector",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "selector": [HasMethods(["fit", "transform"]), None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        estimator: Any = None,
        selector: Any = None,
        *,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.selector = selector
        self.random_state = random_state

    @property
    def gives_probabilities(self) -> bool:  # type: ignore[override]
        """Whether the classifier gives them."""
        return hasattr(self._models()[0], "predict_proba")

    def _read(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        # Columns are taken from it, which a list of rows has not.
        X = np.array(X, dtype=object if _holds_text(X) else None) if isinstance(X, list | tuple) else X
        found = super()._read(X, y, reset=reset)
        if not reset and getattr(found, "dtype", np.dtype(object)).kind == "f":
            # The classifier sees a part of the columns; the others are checked as it would check them.
            allow = get_tags(self).input_tags.allow_nan
            assert_all_finite(found.data if sp.issparse(found) else found, allow_nan=allow, input_name="X")
        return found

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Codes) -> _Tuned:
        model = self._models()[0]
        check_classifier(model, "tuned_first: estimator")
        seed = int(generator(self.random_state).integers(2**31))
        model = seeded(clone(model), spawn(seed, 0))
        found = _found(model, clone(model).fit(X, self.classes_[y]))
        if not found:
            raise TamisError(
                f"tuned_first: {' '.join(repr(model).split())} finds none of its parameters itself; "
                "give a classifier with 'auto', such as svm(linear, C=auto)"
            )
        return _Tuned(X, y, seed, model.set_params(**found), found)

    def _finish(self, prepared: _Tuned) -> None:
        X, y, seed, model, found = prepared
        labels = self.classes_[y]
        self.tuned_, self.selector_, self._columns = dict(found), None, np.arange(self.n_features_in_)
        if self.selector is not None:
            check_selector(self.selector, "tuned_first: selector")
            self.selector_ = seeded(clone(self.selector), spawn(seed, 1)).fit(X, labels)
            self._columns = np.flatnonzero(selected_columns(self.selector_, self.n_features_in_, "tuned_first").support)
        few = _safe_indexing(X, self._columns, axis=1)
        self.estimator_ = clone(model).fit(few, labels)
        self.used_ = np.zeros(self.n_features_in_, dtype=bool)
        own = used_features(self.estimator_, self._columns.size)
        self.used_[self._columns if own is None else self._columns[own]] = True

    def labels_from(self, evidence: FloatArray) -> np.ndarray:
        """The class that each row of evidence speaks for, as the classifier reads it."""
        last = self.estimator_.steps[-1][1] if isinstance(self.estimator_, Pipeline) else self.estimator_
        return last.labels_from(evidence) if isinstance(last, Classifier) else super().labels_from(evidence)

    def _decision(self, X: Any) -> FloatArray:
        found = predict_rows(self.estimator_, _safe_indexing(X, self._columns, axis=1))
        given = found.decision if found.probabilities is None else found.probabilities
        if given is None:
            return np.eye(self.classes_.size)[np.searchsorted(self.classes_, found.labels)]
        return np.asarray(given, dtype=np.float64)

    def _models(self) -> list[Any]:
        model = SVM("linear", "auto") if self.estimator is None else self.estimator
        return [model] if self.selector is None else [model, self.selector]


def _holds_text(rows: Any) -> bool:
    return any(isinstance(value, str) for row in rows if isinstance(row, list | tuple) for value in row)


def _found(model: Any, fitted: Any) -> dict[str, Any]:
    """The values that the steps of a fitted classifier found for parameters given by a word or by None."""
    found: dict[str, Any] = {}
    for prefix, step, done in zip(_prefixes(model), places(model), places(fitted), strict=True):
        words = {n: v for n, v in _parameters(step).items() if v is None or isinstance(v, str)}
        values = {name: getattr(done, f"{name}_", None) for name in words}
        own = {n: v for n, v in values.items() if isinstance(v, str | Real) and v != words[n]}
        if own:
            # A parameter to find that the step has no use for, such as the width of a linear kernel.
            usual = {name: one.default for name, one in signature(type(step)).parameters.items()}
            own |= {n: usual[n] for n, v in words.items() if v == "auto" and values[n] is None and usual[n] != "auto"}
        found |= {prefix + name: value for name, value in own.items()}
    return found


def _parameters(step: Any) -> dict[str, Any]:
    """The parameters of a step; none of "passthrough"."""
    return dict(step.get_params(deep=False)) if hasattr(step, "get_params") else {}


def _prefixes(model: Any) -> list[str]:
    """What the names of the parameters of each step of a pipeline begin with, in the order of :func:`places`."""
    if type(model) is not Pipeline:
        return [""]
    return [f"{name}__{inner}" for name, step in model.steps for inner in _prefixes(step)]
