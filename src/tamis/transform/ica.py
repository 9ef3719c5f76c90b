"""Independent component analysis by FastICA, behind a whitening that leaves sparse rows sparse."""

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.errors import TamisError
from tamis.base.moments import ClassMoments
from tamis.base.part import Arguments, Part
from tamis.base.search_range import choice, geom
from tamis.base.seeds import generator
from tamis.base.shared_fit import SharedFit
from tamis.base.transformer import Transformer
from tamis.base.types import FloatArray, Matrix
from tamis.margins.principal_axes import CentredRows, leading_axes, signed

#: Starts of FastICA that are tried until one settles: with all components at once, then one after the other.
_STARTS = ("parallel",) * 3 + ("deflation",) * 8


#: Decimals of the whitened rows.
_DIGITS = 6


def _phrase(a: Arguments) -> str:
    k = a.pop("n_components")
    return f"replaces the features by {'one independent component' if k == 1 else f'{k} independent components'}"


class ICA(SharedFit, ClassNamePrefixFeaturesOutMixin, Transformer):
    """Replace the columns by components that are as independent of each other as possible.

    The rows are centred and whitened on their leading principal components; FastICA then turns these axes so that the
    components depart as far as they can from the normal distribution. Each component has variance 1 on the training
    rows, and its largest loading (the first of equals) is positive. There are no more components than the centred rows
    have directions with variance.

    Parameters
    ----------
    n_components : int, default=20
        Largest number of components.
    fun : {"logcosh", "exp", "cube"}, default="logcosh"
        The function that measures the distance from the normal distribution.
    tol : float, default=1e-3
        Largest change of a direction in the last iteration.
    max_iter : int, default=300
        Limit of iterations from one start. FastICA may run in a circle: up to three starts with all components at once
        and eight with one after the other are tried, and a warning reports when none settled.
    random_state : int, Generator, RandomState or None, default=None
        Draws the axes from which FastICA starts.

    Attributes
    ----------
    components_ : float array of shape (n_components, n_features)
        The unmixing: a centred row times its transpose gives the components.
    mean_ : float array of shape (n_features,)
    n_components_ : int
    n_iter_ : int
        Iterations from the last start.

    See Also
    --------
    LSI : Uncorrelated components, without centring.

    Notes
    -----
    Sparse rows stay sparse: they are centred inside the products of the whitening, and FastICA sees the
    whitened rows alone. Normal components have no independent axes to be found: any turn of them is as good.

    References
    ----------
    Hyvärinen and Oja (2000), "Independent component analysis: algorithms and applications"; Tang, Shepherd, Milios and
    Heywood (2005), "Comparing and combining dimension reduction techniques for efficient text clustering", section
    2.2.3.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.transform import ICA
    >>> sources = np.random.default_rng(0).uniform(-1, 1, (500, 2))
    >>> X = sources @ np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]])
    >>> found = ICA(2, random_state=0).fit_transform(X)
    >>> np.abs(np.corrcoef(found.T, sources.T)[:2, 2:]).max(axis=0).round(2)
    array([1., 1.])
    """

    part: ClassVar[Part] = Part(
        "ica",
        positional=("n_components",),
        search={"n_components": geom(2, 200), "fun": choice("logcosh", "exp", "cube")},
        paper="Hyvärinen and Oja 2000; Tang et al. 2005, section 2.2.3",
        phrase=_phrase,
        slow=True,
    )
    #: One whitening serves every number of components.
    shared_parameters = ("n_components",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [integer(1)],
        "fun": [StrOptions({"logcosh", "exp", "cube"})],
        "tol": [real(0, None)],
        "max_iter": [integer(1)],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        n_components: int = 20,
        *,
        fun: str = "logcosh",
        tol: float = 1e-3,
        max_iter: int = 300,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.fun = fun
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _learn(self, X: Matrix) -> None:
        self._finish(self._prepare([self], X))

    def _prepare(self, estimators: Sequence[Self], X: Matrix, y: None = None) -> "_Whitened":
        if X.shape[0] < 2:
            raise TamisError("ica needs at least 2 rows to estimate a variance; got 1 sample")
        moments = ClassMoments.of(X, np.zeros(X.shape[0], dtype=np.intp))
        mean = moments.mean[0]
        rows = CentredRows(X, mean)
        scatter, axes = leading_axes(rows, float(moments.scatter.sum()), [one.n_components for one in estimators])
        axes = signed(axes) / np.sqrt(np.where(scatter > 0, scatter / (X.shape[0] - 1), 1.0))[:, None]
        # Rounded, so that rows in another form, or columns in another order, take the same way through the iterations:
        # where columns are not independent these are chaotic.
        return _Whitened(mean, axes, np.round(rows.times(axes.T), _DIGITS))

    def _finish(self, prepared: "_Whitened") -> None:
        axes = prepared.axes[: self.n_components]
        self.mean_ = prepared.mean
        self.n_components_ = self._n_features_out = axes.shape[0]
        self.components_ = signed(self._rotation(prepared.rows[:, : self.n_components]) @ axes)

    def _rotation(self, white: FloatArray) -> FloatArray:
        """The turn of whitened rows that makes their columns independent."""
        size = white.shape[1]
        if size == 1:
            self.n_iter_ = 0
            return np.ones((1, 1))
        rng = generator(self.random_state, 0)
        options = {"whiten": False, "fun": self.fun, "tol": self.tol, "max_iter": self.max_iter}
        for algorithm in _STARTS:
            solver = FastICA(algorithm=algorithm, w_init=rng.standard_normal((size, size)), **options)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                solver.fit(white)
            self.n_iter_ = int(solver.n_iter_)
            # One after the other, FastICA does not warn.
            if self.n_iter_ < self.max_iter:
                return np.asarray(solver.components_)
        message = f"ica is not settled after max_iter={self.max_iter} iterations; raise max_iter or tol"
        warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return np.asarray(solver.components_)

    def _apply(self, X: Matrix) -> FloatArray:
        axes = self.components_.T
        if isinstance(X, np.ndarray):
            return np.asarray((X - self.mean_.astype(X.dtype)) @ axes.astype(X.dtype))
        return np.asarray(X @ axes - self.mean_ @ axes, dtype=X.dtype)


class _Whitened(NamedTuple):
    """The mean of the columns, the leading axes as rows, scaled to variance 1, and the rows on these axes."""

    mean: FloatArray
    axes: FloatArray
    rows: FloatArray
