"""Diffusion tree: a new row gets the class of its kin, over family trees drawn from their posterior."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from tamis.base._sklearn import StrOptions, integer
from tamis.base.classifier import Classifier
from tamis.base.errors import TamisError
from tamis.base.part import Limits, Part
from tamis.base.seeds import generator
from tamis.base.types import FloatArray
from tamis.classify.diffusion_tree.chain import Divergence, chain
from tamis.classify.diffusion_tree.tree import Messages, Rates, Rows, Tree

#: The most values of the training rows; the messages of their trees are eight times as many.
_MOST_VALUES = 10**7

#: Rows times nodes that are predicted together.
_ROWS = 10**6

#: Places at which a new row may leave a branch: the middle quantiles of the time at which a row leaves it.
_PLACES = 4


class DiffusionTree(Classifier):
    """Draw the family tree of the rows from its posterior; the kin of a row say its class.

    In a Dirichlet diffusion tree (Neal 2003) all rows start at the origin at time 0 and move until time 1, every column
    by a Brownian motion of its own variance, and end with normal noise. A row keeps to the path of the rows before it.
    Where m rows went it leaves them for a path of its own at time t with the hazard a(t) / m. Where their paths part it
    follows either side by the number of rows there. With ``divergence="inverse"`` and ``"inverse_square"``::

        a(t) = c / (1 - t),        a(t) = b + d / (1 - t)^2.

    The class travels along: at a rate that is the same everywhere it is drawn anew from the shares of the classes, and
    once more with some probability at the end. So a new row has the class probabilities of the place where it
    would join a tree, averaged over all places by their posterior given its columns, and over all drawn trees by the
    density of the row in each. That is its exact predictive distribution, but for the number of draws.

    Put few columns in front of it, ``contrasts | pca(5) | diffusion_tree``: columns move independently of each other,
    so that many alike ones count many times.

    Parameters
    ----------
    draws : int, default=20
        Trees to keep.
    warmup : int, default=20
        Sweeps before the first of them. A sweep moves every subtree once, and then every rate.
    thin : int, default=1
        Sweeps for each tree that is kept.
    divergence : {"inverse", "inverse_square"}, default="inverse"
        The law of a(t); its coefficients are drawn too.
    random_state : int, Generator, RandomState or None, default=None
        Draws the trees.

    Attributes
    ----------
    classes_ : array
    log_density_ : array of shape (warmup + draws * thin,)
        Log of the joint density of tree, rates and rows after each sweep: while it still rises, raise `warmup`.
    links_ : array of shape (draws, 2 n_rows - 1, 3)
        Parent and children of each node; the first n_rows nodes are the training rows. -1 is the origin, or none.
    times_ : array of shape (draws, 2 n_rows - 1)
        Times of the nodes.
    rates_ : array of shape (draws, 3)
        Coefficients of a(t): of 1, 1 / (1 - t) and 1 / (1 - t)^2.
    spread_, noise_ : arrays of shape (draws, n_columns)
        Variances by diffusion and by noise, for columns of variance 1, without constant columns.
    flips_ : array of shape (draws, 2)
        Rate at which classes are drawn anew on the way, and that number at the end.

    See Also
    --------
    NRBF : Every row votes, the nearer the more.
    BayesNet : Neural networks drawn from their posterior.

    Notes
    -----
    Neal moved a subtree to where a new draw of the prior would put it, and accepted that by the ratio of likelihoods.
    Here a subtree compares all branches at once. Candidates are every branch, at the share of sooner leavers that its
    place has now and at a new one, and one is drawn by its posterior. That leaves the posterior as it is, and no move
    is refused. Locations are integrated out by messages between nodes. The logs of the rates have normal priors, and
    are drawn by slice sampling. A sweep takes time in proportion to rows^2 times columns.

    Columns are centred, divided by their deviation, and dropped if constant. A missing value says nothing.
    Sparse rows are made dense. There are no sample weights: a row has one path. How Neal and Zhang (2006) told classes
    from their trees in the challenge is not in the papers at hand; the class that travels along is this part's own.

    References
    ----------
    Neal (2003), "Density modeling and clustering using Dirichlet diffusion trees"; Neal and Zhang (2006), "High
    dimensional classification with Bayesian neural networks and Dirichlet diffusion trees".

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.classify import DiffusionTree
    >>> X = np.random.default_rng(0).normal(size=(80, 2)) + 6 * (np.arange(80) % 4 // [[2], [1]] % 2).T
    >>> y = np.where(np.isin(np.arange(80) % 4, [0, 3]), "even", "odd")
    >>> model = DiffusionTree(draws=5, warmup=5, random_state=0).fit(X[:60], y[:60])
    >>> bool(model.score(X[60:], y[60:]) > 0.95)
    True
    """

    part: ClassVar[Part] = Part(
        "diffusion_tree",
        paper="Neal 2003; Neal and Zhang 2006",
        phrase="{draws} Dirichlet diffusion trees",
        searched=False,
        limits=Limits(rows=3000, columns=200),
        slow=True,
        scale_invariant=True,
        counterpart="knn",
    )
    gives_probabilities = True
    accepts_missing = True
    #: Variances are drawn column by column: another order of the columns gives other draws.
    draws_columns: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "draws": [integer(1)],
        "warmup": [integer(0)],
        "thin": [integer(1)],
        "divergence": [StrOptions({"inverse", "inverse_square"})],
        "random_state": ["random_state", np.random.Generator],
    }

    def __init__(
        self,
        *,
        draws: int = 20,
        warmup: int = 20,
        thin: int = 1,
        divergence: Divergence = "inverse",
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.draws = draws
        self.warmup = warmup
        self.thin = thin
        self.divergence = divergence
        self.random_state = random_state

    def _fit(self, X: Any, y: Any) -> None:
        if X.shape[0] * X.shape[1] > _MOST_VALUES:
            raise TamisError(
                f"diffusion_tree: {X.shape[0]} rows of {X.shape[1]} columns are too many for it; "
                "select columns, or take pca, in front of it"
            )
        X = _dense(X)
        known = np.maximum((~np.isnan(X)).sum(axis=0), 1)
        self._mean = np.nansum(X, axis=0) / known
        self._scale = np.sqrt(np.nansum((X - self._mean) ** 2, axis=0) / known)
        # A scatter smaller than the rounding error of the mean is none.
        self._scale[self._scale <= 1e-12 * np.abs(self._mean)] = 0.0
        frequency = np.bincount(y) / y.size
        rows = Rows(self._scaled(X), y.astype(np.int64), frequency)
        sweeps = chain(rows, self.divergence, generator(self.random_state))
        kept, densities = [], []
        for number, (tree, rates, log_density) in enumerate(islice(sweeps, self.warmup + self.draws * self.thin), 1):
            densities.append(log_density)
            if number > self.warmup and (number - self.warmup) % self.thin == 0:
                kept.append((tree.links.copy(), tree.times.copy(), tree.sizes.copy(), tree.top, rates))
        self._values, self._codes, self._frequency = rows
        self.log_density_ = np.array(densities)
        self.links_ = np.stack([one[0] for one in kept])
        self.times_ = np.stack([one[1] for one in kept])
        self._sizes = np.stack([one[2] for one in kept])
        self._tops = np.array([one[3] for one in kept])
        drawn = [one[4] for one in kept]
        self.rates_ = np.stack([one.rate for one in drawn])
        self.spread_ = np.stack([one.spread for one in drawn])
        self.noise_ = np.stack([one.noise for one in drawn])
        self.flips_ = np.array([[one.flip, one.slip] for one in drawn])

    def _scaled(self, X: FloatArray) -> FloatArray:
        """Columns that vary, centred and of variance 1."""
        varies = self._scale > 0.0
        return np.ascontiguousarray((X[:, varies] - self._mean[varies]) / self._scale[varies])

    def _decision(self, X: Any) -> FloatArray:
        X = self._scaled(_dense(X))
        messages = Messages(Rows(self._values, self._codes, self._frequency))
        densities = np.empty((len(self._tops), X.shape[0]))
        classes = np.empty((len(self._tops), X.shape[0], self.classes_.shape[0]))
        for number, (tree, rates) in enumerate(self._drawn()):
            messages.send_up(tree, rates)
            block = max(1, _ROWS // tree.times.size)
            for start in range(0, X.shape[0], block):
                rows = slice(start, start + block)
                densities[number, rows], classes[number, rows] = messages.join(tree, rates, X[rows], _PLACES)
        weight = np.exp(densities - logsumexp(densities, axis=0))
        found: FloatArray = np.einsum("di,dic->ic", weight, classes)
        return found

    def _drawn(self) -> Iterator[tuple[Tree, Rates]]:
        """The trees that were kept, with their rates."""
        for number, top in enumerate(self._tops):
            tree = Tree(self.links_[number], self.times_[number], self._sizes[number], int(top))
            flip, slip = self.flips_[number]
            yield tree, Rates(self.rates_[number], self.spread_[number], self.noise_[number], float(flip), float(slip))

    def is_sound(self) -> bool:
        """Whether all it holds fits together, for a model that comes from a file."""
        if not hasattr(self, "links_"):
            return True
        (draws, nodes), (n, columns) = self.times_.shape, self._values.shape
        k = self.classes_.shape[0]
        shapes = {
            "links_": (draws, nodes, 3),
            "_sizes": (draws, nodes),
            "_tops": (draws,),
            "rates_": (draws, 3),
            "spread_": (draws, columns),
            "noise_": (draws, columns),
            "flips_": (draws, 2),
            "_codes": (n,),
            "_frequency": (k,),
            "_mean": (self.n_features_in_,),
            "_scale": (self.n_features_in_,),
        }
        if nodes != 2 * n - 1 or any(getattr(self, name).shape != shape for name, shape in shapes.items()):
            return False
        codes_fit = ((self._codes >= 0) & (self._codes < k)).all() and np.count_nonzero(self._scale > 0.0) == columns
        return bool(codes_fit) and all(tree.is_sound() for tree, _ in self._drawn())


def _dense(X: Any) -> FloatArray:
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
