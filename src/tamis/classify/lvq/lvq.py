"""LVQ: the class of the nearest of a few prototypes, which training moves to where they tell the classes apart."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.classifier import Classifier
from tamis.base.errors import TamisError
from tamis.base.part import Arguments, Part
from tamis.base.search_range import choice
from tamis.base.seeds import generator
from tamis.base.types import Codes, FloatArray, Matrix
from tamis.base.validation import canonical
from tamis.classify.lvq.beginning import Prototypes, first_prototypes
from tamis.classify.lvq.generalized import descend, squared_distances
from tamis.kernels.lvq import LVQ1, LVQ3, LVQ21, OLVQ1, dense_lvq, sparse_lvq
from tamis.kernels.sparse import stored_arrays
from tamis.margins.kernel import squared_norms

_CODES = {"lvq1": LVQ1, "olvq1": OLVQ1, "lvq21": LVQ21, "lvq3": LVQ3}

#: The rate at the beginning, by the method.
_RATES = {"lvq1": 0.05, "olvq1": 0.3, "lvq21": 0.02, "lvq3": 0.02}


def _phrase(a: Arguments) -> str:
    count, method = a.pop("n_prototypes"), a.pop("method")
    return f"the nearest of {count} prototype{'s' * (count != 1)} of each class, trained by {str(method).upper()}"


class LVQ(Classifier):
    """Class of the nearest prototype, of a few for each class that training has moved.

    Learning vector quantization moves prototypes m, one row x after another, by ``m + rate (x - m)``:

    "lvq1"
        The nearest prototype, towards rows of its class and, with a rate below zero, away from others. The rate falls
        linearly to 0.
    "olvq1"
        The same, each prototype with a rate of its own, r, which becomes ``r / (1 + r)`` at a row of its class and
        ``r / (1 - r)`` at another, but no larger than at the beginning: all rows so far count alike.
    "lvq21"
        After "olvq1", the two nearest prototypes if one of them is of the row's class, the other is not, and the row
        lies in a window about the middle: their distances have a ratio above ``(1 - window) / (1 + window)``.
    "lvq3"
        The same, and both nearest prototypes at `epsilon` times the rate if both are of the row's class.
    "glvq"
        Generalized LVQ, the smooth form: the prototypes minimise the mean over all rows of
        ``1 / (1 + exp(-beta mu))``, with ``mu = (d+ - d-) / (d+ + d-)`` of the squared distances to the nearest
        prototype of the row's class and of another one. It is minimised by L-BFGS and not row by row.

    Parameters
    ----------
    n_prototypes : int, default=3
        Prototypes of each class; as many as it has rows where these are fewer.
    method : {"glvq", "lvq1", "olvq1", "lvq21", "lvq3"}, default="glvq"
        How the prototypes are trained.
    init : {"kmeans", "rows"}, default="kmeans"
        Where they begin: the centres of k-means in each class, or rows of it drawn at random.
    learning_rate : float or "auto", default="auto"
        The rate at the beginning; "auto" is 0.3 for "olvq1", also where it comes before "lvq21" and "lvq3", 0.05 for
        "lvq1", and 0.02 for "lvq21" and "lvq3".
    window : float, default=0.2
        Width of the window.
    epsilon : float, default=0.2
        Share of the rate for two prototypes of the row's class.
    beta : float, default=10.0
        Slope of the cost of "glvq"; the larger, the more it counts errors alone.
    max_iter : int, default=50
        Passes over all rows, in a new random order each time; of "lvq21" and "lvq3" as many again after those of
        "olvq1". For "glvq" the most steps.
    random_state : int, Generator, RandomState or None, default=None
        Draws the beginning and the orders.

    Attributes
    ----------
    classes_ : array
    prototypes_ : array of shape (n, n_features)
    prototype_classes_ : int array of shape (n,)
        The class of each prototype, by its place in ``classes_``.
    cost_ : float
        With "glvq": the mean cost at the end.
    n_iter_ : int
        Passes, or steps.

    See Also
    --------
    NRBF : With ``prototypes=LVQ(3)`` they vote in place of the rows.
    Centroid : The means of the classes.

    Notes
    -----
    The evidence for class c is ``-d_c / (d_1 + ... + d_k)``, for the squared distance d_c to its nearest prototype: for
    two classes their difference is mu. Columns of different units should be standardised first. Sparse rows are trained
    as they are; the prototypes are dense. Of equally near prototypes the first one counts. "lvq21" and "lvq3" drift if
    they are trained for long, as their author warns; hence the small rates. Sample weights are not taken.

    References
    ----------
    Kohonen (1990), "The self-organizing map", and Kohonen, Hynninen, Kangas, Laaksonen and Torkkola (1996), "LVQ_PAK":
    the first four as described there; Sato and Yamada (1996), "Generalized learning vector quantization".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import LVQ
    >>> X = np.array([[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]])
    >>> model = LVQ(1, method="lvq1").fit(X, ["low", "low", "low", "high", "high", "high"])
    >>> model.predict([[1.5], [6.0]])
    array(['low', 'high'], dtype='<U4')
    >>> model.prototypes_.ravel().round(2), model.classes_[model.prototype_classes_]
    (array([8., 1.]), array(['high', 'low'], dtype='<U4'))
    """

    part: ClassVar[Part] = Part(
        "lvq",
        positional=("n_prototypes", "method"),
        search={"n_prototypes": choice(1, 3, 10), "method": choice("glvq", "olvq1", "lvq3")},
        only={"epsilon": ("method", "lvq3"), "beta": ("method", "glvq")},
        paper="Kohonen 1990; Sato and Yamada 1996 (GLVQ)",
        phrase=_phrase,
        # On MADELON and ARCENE a few prototypes tell no more than all rows: nrbf and knn are tried.
        searched=False,
        boundary="local",
        counterpart="knn",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_prototypes": [integer(1)],
        "method": [StrOptions({"glvq", *_CODES})],
        "init": [StrOptions({"kmeans", "rows"})],
        "learning_rate": [real(0, 1), StrOptions({"auto"})],
        "window": [real(0, 1)],
        "epsilon": [real(0, 1)],
        "beta": [real(0, None)],
        "max_iter": [integer(1)],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_prototypes: int = 3,
        method: str = "glvq",
        *,
        init: str = "kmeans",
        learning_rate: float | str = "auto",
        window: float = 0.2,
        epsilon: float = 0.2,
        beta: float = 10.0,
        max_iter: int = 50,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.n_prototypes = n_prototypes
        self.method = method
        self.init = init
        self.learning_rate = learning_rate
        self.window = window
        self.epsilon = epsilon
        self.beta = beta
        self.max_iter = max_iter
        self.random_state = random_state

    def _fit(self, X: Any, y: Any) -> None:
        X, origin = _moved(X)
        rng = generator(self.random_state)
        begin = first_prototypes(X, y, self.n_prototypes, self.init, rng)
        self.prototype_classes_ = begin.classes
        if self.method == "glvq":
            points, self.cost_, self.n_iter_, _ = descend(X, y, begin, float(self.beta), self.max_iter)
        else:
            points = begin.points
            for method in ("olvq1", self.method) if self.method in ("lvq21", "lvq3") else (self.method,):
                self._train(X, y, Prototypes(points, begin.classes), method, rng)
            self.n_iter_ = self.max_iter
        self.prototypes_ = points if origin is None else points + origin

    def _train(self, X: Matrix, y: Codes, prototypes: Prototypes, method: str, rng: np.random.Generator) -> None:
        """Move the prototypes row by row."""
        given = self.learning_rate if method == self.method else "auto"
        rate = _RATES[method] if given == "auto" else float(given)
        order = np.concatenate([rng.permutation(y.size) for _ in range(self.max_iter)])
        least_ratio = (1.0 - self.window) / (1.0 + self.window)
        rows = stored_arrays(X) if sp.issparse(X) else (X,)
        kernel = sparse_lvq if sp.issparse(X) else dense_lvq
        settings = (_CODES[method], rate, least_ratio, float(self.epsilon))
        kernel(*rows, y, order, prototypes.classes, *settings, prototypes.points)

    def _decision(self, X: Any) -> FloatArray:
        X, origin = _moved(X, self.prototypes_.mean(axis=0))
        points = self.prototypes_ if origin is None else self.prototypes_ - origin
        apart = squared_distances(X, squared_norms(X), points)
        starts = np.searchsorted(self.prototype_classes_, np.arange(self.classes_.size))
        nearest = np.minimum.reduceat(apart, starts, axis=1)
        return -nearest / np.maximum(nearest.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)


def _moved(X: Matrix, origin: FloatArray | None = None) -> tuple[Matrix, FloatArray | None]:
    """Canonical CSR rows as they are, or dense rows less an origin, by default their mean.

    An offset costs the inner products of dense rows digits.
    """
    if sp.issparse(X):
        rows: Matrix = canonical(sp.csr_array(X, dtype=np.float64))
        origin = None
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            origin = X.mean(axis=0, dtype=np.float64) if origin is None else origin
            rows = np.ascontiguousarray(np.subtract(X, origin, dtype=np.float64))
    with np.errstate(over="ignore"):
        largest = squared_norms(rows).max(initial=0.0)
    if not largest < np.finfo(np.float64).max / 8:
        raise TamisError("lvq: squared distances overflow on values this large; scale the columns first")
    return rows, origin
