"""FR-SVM: principal components, a few of them selected for every pair of classes, and a small machine on these."""

import math
import warnings
from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.classifier import Classifier, one_vs_one
from tamis.base.errors import TamisError
from tamis.base.parallel import one_thread
from tamis.base.part import Part
from tamis.base.search_range import choice, geom
from tamis.base.shared_fit import SharedFit
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.validation import class_pairs, row_terms
from tamis.classify.fr_svm.form import Form
from tamis.classify.fr_svm.pairwise import Machine, elected
from tamis.classify.svm.svm import SVM, NotSettled
from tamis.incremental.elimination import Path, eliminate
from tamis.margins.elimination import Machines
from tamis.margins.kernel import squared_norms
from tamis.margins.kernel_width import spread_width
from tamis.margins.pairs import column_path, gram_path, suits_columns
from tamis.margins.solve import Solution
from tamis.transform.pca import PCA

#: How much a margin of 1 may be missed where a solver does not go on to the optimum.
_TOL = 1e-3

#: Numbers of centred rows that are held at a time: few enough to stay in the cache.
_BLOCK = 400_000

#: Squared length of the mean, in variances, up to which it is subtracted after the projection: faster, a digit lost.
_NEAR = 100.0

#: Up to this many classes all pairs vote.
_FEW_CLASSES = 3


class _Pair(NamedTuple):
    """Two classes: their rows, which of these are of the second, and the path of the elimination, if any."""

    rows: np.ndarray
    second: Codes
    path: Path | None


#: The projected rows, fitted attributes of the projection, costs of slack, and the pairs of classes.
_Projected = tuple[FloatArray, dict[str, Any], FloatArray, list[_Pair]]


class FRSVM(SharedFit, Classifier):
    """Separate classes by small machines, each on the best few principal components for a pair of classes.

    Lei and Govindaraju's feature reduced support vector machine, made for fast predictions. All rows are projected on
    P principal components. For every pair of classes recursive elimination by the weights of an SVM leaves F of
    these, and an SVM is fitted on them; the machines of the pairs vote. Distances to support vectors are computed on F
    columns instead of all.

    Parameters
    ----------
    n_components : int, float, "columns" or None, default=50
        P: a number, or strictly between 0 and 1 the share of the variance that the components must reach; at most all.
        None uses all, and then the part of a new row outside the space of the training rows counts too: with
        `n_features` at None the predictions are those of ``svm`` on the columns. With "columns" there is no projection:
        the elimination is among the columns themselves, which must be an array.
    n_features : int, float or None, default=40
        F: a number, or strictly between 0 and 1 a share of the components, rounded up; at most all, as with None.
    step : int or float, default=0.1
        Components that a round of the elimination drops: a whole number, or a share of those that remain, rounded
        down but at least one.
    ranking : {"kernel", "linear"}, default="kernel"
        Weights of the elimination: "kernel" takes a machine with the same kernel, and the change of ``|w|^2`` without a
        component; "linear" the squared weights of a linear machine, which is faster but drops components that a
        machine with another kernel could use.
    kernel : {"gaussian", "linear", "polynomial"}, default="gaussian"
        Of the machines that vote: exp(-d^2 / sigma) with d the distance of two rows, their inner product x.x', or
        (x.x' / sigma + coef0)^degree, for which rows are projected without subtracting their mean.
    C : float or "auto", default=1.0
        Cost of a unit of slack. In a linear elimination before other machines it is divided by the mean squared
        length of the projected rows. "auto" takes the one that ``svm`` selects by cross-validation on all columns.
    sigma : float, "scale" or "auto", default="scale"
        The width of the Gaussian and polynomial kernels. "scale" is the number of columns times the variance of all
        values before the projection, as for ``svm``; "auto" is selected as C is, with it if that is "auto" too.
    degree, coef0 : int and float, default=3 and 0.0
        Of the polynomial kernel.
    cv : int, default=5
        Folds of the cross-validation of "auto".
    random_state : int, Generator, RandomState or None, default=None
        Splits the rows into those folds.
    class_weight : {"balanced"}, optional
        Multiply C by n / (k n_c) for the n_c of n rows in a class, of k classes: every class weighs the same.

    Attributes
    ----------
    classes_ : array
    mean_ : array of shape (n_features,)
    components_ : array of shape (n_components, n_features)
    explained_variance_ : array of shape (n_components,)
    n_components_ : int
        Mean, directions, variances and number of the components; without a projection only the last, the number of
        columns.
    centres_ : array of shape (n_classes, n_components)
        The projected means of the classes.
    features_ : list of int arrays
        For each pair (0, 1), (0, 2), ..., (1, 2), ... of classes the components it uses, in ascending order.
    n_support_ : int array of shape (n_pairs,)
        Support vectors of each machine; not where liblinear solved a pair, because of its many rows.
    intercept_ : array of shape (n_pairs,)
        A decision above zero is for the second class of the pair.
    coef_ : array of shape (n_pairs, n_components)
        Linear kernel only.
    support_vectors_ : list of arrays of shape (n_support, n_used)
    dual_coef_ : list of arrays of shape (n_support,)
        Other kernels: the support vectors of each pair, on its components, and their signed weights.
    C_, sigma_ : float
        The cost and, for the kernels that have one, the width in use.
    evaluation_cost_ : int
        Multiplications for a new row if all pairs vote: columns times components for the projection, and for every
        pair support vectors times components used (components used, for the linear kernel).

    See Also
    --------
    SVM : Machines on all columns.

    Notes
    -----
    ``predict`` finds the class with the most votes without evaluating all pairs: a class that wins all its duels has
    more votes than any other. The class with the nearest mean begins, and meets the others until it loses. Where no
    class wins all its duels, votes are counted. ``decision_function`` evaluates all pairs. There are no class
    probabilities.

    References
    ----------
    Lei and Govindaraju (2005), "Speeding up multi-class SVM evaluation by PCA and feature selection".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import FRSVM
    >>> X = np.array([[0.0, 0.1, 5.0], [0.2, 0.0, 6.0], [3.0, 0.1, 5.1], [3.2, 0.0, 6.1]])
    >>> model = FRSVM(2, 1).fit(X, ["left", "left", "right", "right"])
    >>> model.features_, model.predict([[2.9, 0.0, 5.0]])
    ([array([0])], array(['right'], dtype='<U5'))
    """

    part: ClassVar[Part] = Part(
        "fr_svm",
        positional=("n_components", "n_features"),
        search={
            "n_components": geom(10, 200),
            "n_features": choice(0.5, 0.8),
            "C": geom(1e-1, 1e3),
            "sigma": geom(0.1, 10.0),
            "class_weight": choice("balanced", None),
        },
        paper="Lei and Govindaraju 2005",
        unit_rows=True,
        # It predicts faster than svm, not better.
        searched=False,
        counterpart="svr",
        growth=2.0,
    )
    #: One projection and one elimination serve every number of components that pairs use.
    shared_parameters = ("n_features",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [
            integer(1),
            real(0, 1),
            StrOptions({"columns"}),
            None,
        ],
        "n_features": [integer(1), real(0, 1), None],
        "step": [integer(1), real(0, 1)],
        "ranking": [StrOptions({"kernel", "linear"})],
        "kernel": [StrOptions({"linear", "gaussian", "polynomial"})],
        "C": [real(0, None), StrOptions({"auto"})],
        "sigma": [real(0, None), StrOptions({"scale", "auto"})],
        "degree": [integer(1)],
        "coef0": [real()],
        "class_weight": [StrOptions({"balanced"}), None],
        "cv": [integer(2)],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_components: int | float | Literal["columns"] | None = 50,
        n_features: int | float | None = 40,
        *,
        step: int | float = 0.1,
        ranking: str = "kernel",
        kernel: str = "gaussian",
        C: float | Literal["auto"] = 1.0,
        sigma: float | Literal["scale", "auto"] = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        class_weight: str | None = None,
        cv: int = 5,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_features = n_features
        self.step = step
        self.ranking = ranking
        self.kernel = kernel
        self.C = C
        self.sigma = sigma
        self.degree = degree
        self.coef0 = coef0
        self.class_weight = class_weight
        self.cv = cv
        self.random_state = random_state

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any) -> _Projected:
        # The estimators must stay unfitted, and this may be one of them.
        made = copy(self)
        made._choose(X, y)
        made._fit_components(X)
        Z = made._project(X)
        made.centres_ = np.array([Z[y == code].mean(axis=0) for code in range(self.classes_.shape[0])])
        cost = made.C_ * row_terms(y, np.ones(X.shape[0]), class_weight=self.class_weight, ridge=0.0)[0]
        lighter = float(squared_norms(Z).mean()) or 1.0 if self.ranking == "linear" and self.kernel != "linear" else 1.0
        sizes = {one._size(Z.shape[1]) for one in estimators} - {Z.shape[1]}
        pairs = []
        for a, b in class_pairs(self.classes_.shape[0]):
            rows = np.flatnonzero((y == a) | (y == b))
            second = (y[rows] == b).astype(np.intp)
            pairs.append(_Pair(rows, second, made._path(Z[rows], second, cost[rows] / lighter, sizes)))
        names = (
            "mean_",
            "components_",
            "n_components_",
            "explained_variance_",
            "centres_",
            "C_",
            "sigma_",
            "_mean_outside",
        )
        return Z, {name: vars(made)[name] for name in names if name in vars(made)}, cost, pairs

    def _finish(self, prepared: _Projected) -> None:
        Z, fitted, cost, pairs = prepared
        self.__dict__.update(fitted)
        size = self._size(Z.shape[1])
        self.features_, machines = [], []
        for (a, b), pair in zip(class_pairs(self.classes_.shape[0]), pairs, strict=True):
            used = np.arange(Z.shape[1])
            if size < Z.shape[1] and pair.path is not None:
                used = np.sort(pair.path.down_to(size)[1].columns[:size])
            self.features_.append(used)
            part = Z[pair.rows][:, used]
            by_columns = self.kernel == "linear" and suits_columns(part)
            solved = self._solve(part, pair.second, cost[pair.rows], by_columns=by_columns)
            if not solved.settled:
                first, second = self.classes_[[a, b]].tolist()
                between = f"FRSVM: the margin between classes {first!r} and {second!r} is not settled"
                warnings.warn(f"{between}; scale the columns or lower C", NotSettled, stacklevel=2)
            machines.append((part, solved, by_columns))
        self._store(machines)

    def _choose(self, X: Matrix, y: Codes) -> None:
        """Cost and width, given or selected by cross-validation of a machine on all columns."""
        if "auto" in (self.C, self.sigma) and (self.C == "auto" or self.kernel != "linear"):
            how: dict[str, Any] = {"degree": self.degree, "coef0": self.coef0, "class_weight": self.class_weight}
            sigma = "scale" if self.kernel == "linear" else self.sigma
            found = SVM(self.kernel, self.C, sigma=sigma, cv=self.cv, random_state=self.random_state, **how).fit(X, y)
            self.C_ = found.C_
            if self.kernel != "linear":
                self.sigma_ = found.sigma_
            return
        self.C_ = float(self.C)
        if self.kernel != "linear":
            self.sigma_ = spread_width(X, np.ones(X.shape[0])) if self.sigma == "scale" else float(self.sigma)

    def _fit_components(self, X: Matrix) -> None:
        self._mean_outside: FloatArray | None = None
        if self.n_components == "columns":
            self.n_components_ = X.shape[1]
            return
        found = PCA(X.shape[1] if self.n_components is None else self.n_components).fit(X)
        self.mean_, self.components_, self.n_components_ = found.mean_, found.components_, found.n_components_
        self.explained_variance_ = found.explained_variance_
        if self.kernel == "polynomial" and self.n_components is None:
            # The training rows have this part in common, and inner products with it count.
            self._mean_outside = self.mean_ - self.components_.T @ (self.components_ @ self.mean_)

    def _size(self, most: int) -> int:
        """How many components a pair uses, of `most`."""
        if self.n_features is None:
            return most
        return min(most, math.ceil(self.n_features * most) if self.n_features < 1 else int(self.n_features))

    def _project(self, X: Matrix) -> FloatArray:
        """The rows on the components, in float64."""
        if self.n_components == "columns":
            if sp.issparse(X):
                raise TamisError('fr_svm: n_components="columns" takes an array; give a number of components instead')
            return np.asarray(X, dtype=np.float64)
        axes = self.components_.T
        if self.kernel == "polynomial":
            return np.asarray(X @ axes, dtype=np.float64)
        near = self.mean_ @ self.mean_ <= _NEAR * self.explained_variance_.sum()
        if sp.issparse(X) or (near and X.dtype == np.float64):
            return np.asarray(X @ axes - self.mean_ @ axes)
        found = np.empty((X.shape[0], self.n_components_))
        for some in gen_batches(X.shape[0], max(1, _BLOCK // X.shape[1])):
            np.matmul(X[some] - self.mean_, axes, out=found[some])
        return found

    def _path(self, Z: FloatArray, y: Codes, cost: FloatArray, sizes: set[int]) -> Path | None:
        """The elimination of components for a pair of classes, down to the sizes."""
        if not sizes:
            return None
        return eliminate(Machines(self._form().remaining(Z, y, cost), Z.shape[1]), Z.shape[1], self.step, sizes)

    def _form(self) -> Form:
        return Form(self.kernel, getattr(self, "sigma_", 1.0), int(self.degree), float(self.coef0), self.ranking)

    def _counts_all(self) -> bool:
        """Whether a part of the rows outside the components counts too."""
        return self.n_components is None and self._size(self.n_components_) == self.n_components_

    def _solve(self, Z: FloatArray, y: Codes, cost: FloatArray, *, by_columns: bool) -> Solution:
        if by_columns:
            return column_path(Z, y, [cost], tol=_TOL, max_iter=None)[0][0]
        outside = self._mean_outside if self._counts_all() else None
        gram = self._form().values(Z, 0.0 if outside is None else float(outside @ outside))
        return gram_path(gram, y, [cost], np.zeros(y.shape[0]), tol=_TOL, max_iter=None)[0][0]

    def _store(self, machines: list[tuple[FloatArray, Solution, bool]]) -> None:
        self.intercept_ = np.array([solved.intercept for _, solved, _ in machines])
        used = np.array([columns.shape[0] for columns in self.features_])
        if not any(by_columns for *_, by_columns in machines):
            self.n_support_ = np.array([np.count_nonzero(solved.weights) for _, solved, _ in machines])
        if self.kernel == "linear":
            self.coef_ = np.zeros((used.shape[0], self.n_components_))
            for pair, (Z, solved, by_columns) in enumerate(machines):
                self.coef_[pair, self.features_[pair]] = solved.weights if by_columns else Z.T @ solved.weights
        else:
            self.support_vectors_ = [Z[solved.weights != 0] for Z, solved, _ in machines]
            self.dual_coef_ = [solved.weights[solved.weights != 0] for _, solved, _ in machines]
            used = used * self.n_support_
        self.evaluation_cost_ = (0 if self.n_components == "columns" else self.components_.size) + int(used.sum())

    def predict(self, X: Any) -> np.ndarray:
        """The class with the most votes for each row; of equals the one that wins by more."""
        check_is_fitted(self)
        X = self._read(X, reset=False)
        if self.kernel == "linear" or self.classes_.shape[0] <= _FEW_CLASSES:
            return self.labels_from(self._decision(X))
        Z, beyond = self._project(X), self._beyond(X)
        half = squared_norms(self.centres_) / 2
        favour, nearness = Z @ self.centres_.T - half, self.centres_ @ self.centres_.T - half

        def duel(pair: int, rows: np.ndarray) -> FloatArray:
            return self._machine(pair).decide(Z[rows], None if beyond is None else beyond[rows])

        # Threads would cost more than they save in these small products.
        with one_thread():
            return self.classes_[elected(duel, favour, nearness)]

    def _decision(self, X: Any) -> FloatArray:
        Z = self._project(X)
        if self.kernel == "linear":
            pairs = Z @ self.coef_.T + self.intercept_
        else:
            beyond = self._beyond(X)
            with one_thread():
                pairs = np.column_stack([self._machine(p).decide(Z, beyond) for p in range(self.intercept_.shape[0])])
        return pairs[:, 0] if pairs.shape[1] == 1 else one_vs_one(pairs, self.classes_.shape[0])

    def _machine(self, pair: int) -> Machine:
        vectors, weights = self.support_vectors_[pair], self.dual_coef_[pair]
        return self._form().machine(self.features_[pair], vectors, weights, float(self.intercept_[pair]))

    def _beyond(self, X: Matrix) -> FloatArray | None:
        """What the part of rows outside the space of the training rows adds, if all components are in use.

        To squared distances its squared length, to inner products that with the mean of the training rows.
        """
        if not self._counts_all():
            return None
        if self._mean_outside is not None:
            return np.asarray(X @ self._mean_outside, dtype=np.float64)
        found = np.empty(X.shape[0])
        for some in gen_batches(X.shape[0], max(1, _BLOCK // X.shape[1])):
            rows = X[some]
            if sp.issparse(X):
                length = squared_norms(rows) - 2 * (rows @ self.mean_) + self.mean_ @ self.mean_
            else:
                length = squared_norms(rows - self.mean_)
            found[some] = np.maximum(0.0, length - squared_norms(self._project(rows)))
        return found
