"""Wrapper: rank single features by a classifier, then extend a base set while it helps."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.base import clone, is_classifier
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from tamis.base.choice import CAUTION, inner_folds, worth
from tamis.base.cut import rank
from tamis.base.errors import TamisError
from tamis.base.nested import takes_missing, takes_no_negative
from tamis.base.part import Part
from tamis.base.rates import RATES
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.selector import Selection, Selector
from tamis.base.space import geom
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.workers import run_all

#: Worths that differ by less are equal: rounding must not decide.
_EQUAL = 1e-12

#: Columns that are judged in one task: enough to outweigh its cost, few enough to copy.
_CHUNK = 256


class Wrapper(Selector):
    """Keep the features with which a classifier does best: rank them one by one, then add those that help.

    The worth of a set of features is the mean accuracy of the classifier on them over the folds of an internal
    stratified cross-validation on the training rows, less `caution` deviations. First every feature is judged alone,
    which gives the ranking. Then, beginning with `base`, the features are tried in that order, each once, and one is
    added when it raises the worth of the set by more than `gain`.

    Parameters
    ----------
    model : estimator, optional
        A classifier, or a pipeline that ends in one. By default scikit-learn's ``GaussianNB()``. The wrapper suits the
        classifier it is run with: take the one that follows.
    k : int, optional
        The most features to keep, those of `base` counted; with ``extend=False`` how many to keep.
    base : column, list of columns, optional
        Numbers (from 0) or names of features to begin with; they are always kept. By default the best single feature.
    extend : bool, default=True
        False stops after the ranking and keeps its `k` best (`base` first).
    gain : float, default=0.0
        A feature must raise the worth by more than this.
    measure : {"accuracy", "balanced_accuracy"}, default="accuracy"
        What is averaged over the folds; balanced accuracy is the mean over classes.
    caution : float, default=0.0
        How many deviations over the folds count against a set (Grabczewski and Jankowski, eq. 25).
    folds : int, default=5
        Folds of the internal cross-validation; fewer when the largest class has fewer rows.
    n_jobs : int, optional
        Processes that judge features side by side; the result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Deals the rows into folds, and seeds a classifier that has no seed of its own: all sets meet the same folds
        and seeds.

    Attributes
    ----------
    scores_ : float array of shape (n_features,)
        Worth of each feature alone.
    ranking_ : int array
        In the order of the scores.
    chosen_ : int array
        The features kept, in the order in which they came in.
    path_ : float array
        With ``extend=True``: worth of the first set (`base`, or the best feature), then after each feature added.

    Notes
    -----
    The worth is no honest estimate of accuracy on new data: it is the best of many, seen by the choice. Validate
    the whole model instead (``tamis.validate``). The cost is up to two fits per feature and fold.

    A feature that is constant in the training rows of a fold tells nothing: alone it is judged as if it named the
    commonest class there.

    Sparse columns are handed to the classifier as they are if it takes them; if not, the columns of one set at a time
    are made dense.

    References
    ----------
    Grabczewski and Jankowski (2006), "Mining for complex models comprising feature selection and classification",
    section 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import Wrapper
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = rng.normal(size=(100, 4))
    >>> X[:, [1, 3]] += 2 * y[:, None]
    >>> Wrapper(random_state=0).fit(X, y).chosen_
    array([1, 3])
    """

    part: ClassVar[Part] = Part(
        "wrapper",
        positional=("model",),
        search={"k": geom(1, 100, 5)},
        paper="Grabczewski and Jankowski 2006, section 2.2",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "model": [HasMethods(["fit", "predict"]), None],
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "base": [Interval(Integral, 0, None, closed="left"), str, "array-like", None],
        "extend": ["boolean"],
        "gain": [Interval(Real, 0, None, closed="left")],
        "measure": [StrOptions(set(RATES))],
        "caution": CAUTION,
        "folds": [Interval(Integral, 2, None, closed="left")],
        "n_jobs": [Interval(Integral, None, None, closed="neither"), None],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        model: Any = None,
        *,
        k: int | None = None,
        base: Any = None,
        extend: bool = True,
        gain: float = 0.0,
        measure: str = "accuracy",
        caution: float = 0.0,
        folds: int = 5,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.model = model
        self.k = k
        self.base = base
        self.extend = extend
        self.gain = gain
        self.measure = measure
        self.caution = caution
        self.folds = folds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _select(self, X: Any, y: Any, *weight: Any) -> Selection:
        base = self._base(X.shape[1])
        trial = self._trial(y)
        X = X.tocsc() if sp.issparse(X) else X
        # A few tasks for each worker, so that none waits long for the last.
        size = int(np.clip(X.shape[1] // (4 * effective_n_jobs(self.n_jobs)), 1, _CHUNK))
        chunks = [(trial, X[:, start : start + size]) for start in range(0, X.shape[1], size)]
        scores = np.concatenate(run_all(_each_alone, chunks, self.n_jobs))
        ranking = rank(scores)
        if self.extend:
            chosen = self._extended(trial, X, scores, ranking, base)
        else:
            chosen = [*base, *(int(j) for j in ranking if j not in base)][: self.k]
        self.chosen_ = np.array(chosen, dtype=np.intp)
        support = np.zeros(X.shape[1], dtype=bool)
        support[self.chosen_] = True
        return Selection(support, scores, ranking)

    def _extended(
        self, trial: "_Trial", X: Matrix, scores: FloatArray, ranking: np.ndarray, base: list[int]
    ) -> list[int]:
        """The first set, then every feature in the order of the ranking that helps."""
        chosen = base or [int(ranking[0])]
        path = [_together(trial, X[:, chosen]) if base else float(scores[ranking[0]])]
        waiting = [int(j) for j in ranking if j not in chosen]
        # Workers look at the next few at once; what was tried beside the one that helps is tried again with it.
        ahead = effective_n_jobs(self.n_jobs)
        # No set is worth more than 1.
        while waiting and path[-1] + self.gain + _EQUAL < 1 and (self.k is None or len(chosen) < self.k):
            sets = [(trial, X[:, [*chosen, j]]) for j in waiting[:ahead]]
            worths = run_all(_together, sets, self.n_jobs)
            helps = [i for i, value in enumerate(worths) if value > path[-1] + self.gain + _EQUAL]
            if helps:
                chosen = [*chosen, waiting[helps[0]]]
                path.append(worths[helps[0]])
            waiting = waiting[helps[0] + 1 if helps else len(sets) :]
        self.path_ = np.array(path)
        return chosen

    def _trial(self, y: Codes) -> "_Trial":
        model = self._model()
        if not is_classifier(model):
            raise TamisError(f"wrapper: model must be a classifier; got {' '.join(repr(model).split())}")
        if not self.extend and self.k is None:
            raise TamisError("wrapper: extend=False needs k, the number of features to keep")
        if np.bincount(y).max() < 2:
            raise TamisError("wrapper needs a class with at least two rows to cross-validate")
        seed = int(generator(self.random_state).integers(2**31))
        parts = inner_folds(y, self.folds, seed, "wrapper")
        models = [seeded(clone(model), spawn(seed, fold)) for fold in range(len(parts))]
        sparse = bool(get_tags(model).input_tags.sparse)
        return _Trial(models, parts, self.classes_, y, self.measure, float(self.caution), sparse)

    def _base(self, n_features: int) -> list[int]:
        """The columns meant by `base`."""
        if self.base is None:
            return []
        given = [self.base] if isinstance(self.base, str | Integral) else list(self.base)
        names = list(getattr(self, "feature_names_in_", []))
        found = []
        for one in given:
            if isinstance(one, str) and one in names:
                found.append(names.index(one))
            elif isinstance(one, Integral) and not isinstance(one, bool) and 0 <= int(one) < n_features:
                found.append(int(one))
            else:
                raise TamisError(f"wrapper: base names columns or numbers them 0 to {n_features - 1}; got {one!r}")
        if len(set(found)) < len(found):
            raise TamisError(f"wrapper: base names a column twice: {given}")
        if self.k is not None and len(found) > self.k:
            raise TamisError(f"wrapper: base has {len(found)} columns, more than k={self.k}")
        return found

    def _model(self) -> Any:
        return GaussianNB() if self.model is None else self.model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = takes_missing(self._model())
        tags.input_tags.positive_only = takes_no_negative(self._model())
        return tags


@dataclass(frozen=True, eq=False)
class _Trial:
    """All that is needed to judge a set of features: a seeded classifier per fold, the folds and the classes."""

    models: list[Any]
    parts: list[tuple[np.ndarray, np.ndarray]]
    classes: np.ndarray
    codes: Codes
    measure: str
    caution: float
    takes_sparse: bool

    def accuracy(self, fold: int, learn: Matrix, judged: Matrix) -> float:
        """How well the classifier of a fold, taught on the training rows, answers for the test rows."""
        train, test = self.parts[fold]
        if sp.issparse(learn) and not self.takes_sparse:
            learn, judged = learn.toarray(), judged.toarray()
        known = self.codes[train]
        if known.min() == known.max() or _is_constant(learn):
            # A small class may lie in the test rows alone, and not every classifier bears to learn nothing.
            said = np.full(test.size, np.bincount(known).argmax())
        else:
            model = clone(self.models[fold]).fit(learn, self.classes[known])
            said = np.searchsorted(self.classes, model.predict(judged))
        return RATES[self.measure](self.codes[test], said)


def _each_alone(trial: _Trial, columns: Matrix) -> FloatArray:
    """Worth of every column by itself; rows are taken apart once for all of them."""
    accuracy = np.empty((len(trial.parts), columns.shape[1]))
    for fold, rows in enumerate(trial.parts):
        learn, judged = (_by_column(columns, part) for part in rows)
        for j in range(columns.shape[1]):
            accuracy[fold, j] = trial.accuracy(fold, learn[:, [j]], judged[:, [j]])
    return worth(accuracy, trial.caution)


def _together(trial: _Trial, columns: Matrix) -> float:
    """Worth of the columns as one set."""
    columns = columns.tocsr() if sp.issparse(columns) else columns
    found = [trial.accuracy(f, columns[train], columns[test]) for f, (train, test) in enumerate(trial.parts)]
    return float(worth(np.array(found), trial.caution))


def _is_constant(rows: Matrix) -> bool:
    """Whether a lone column has one value in all rows."""
    return rows.shape[1] == 1 and bool(rows.min() == rows.max())


def _by_column(columns: Matrix, rows: np.ndarray) -> Matrix:
    """Some rows, stored so that a column is cheap to take."""
    return columns.tocsr()[rows].tocsc() if sp.issparse(columns) else np.asfortranarray(columns[rows])
