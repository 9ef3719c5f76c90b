"""Repeat: run a selector, take its best features, and run it again on the others."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from tamis.base._sklearn import HasMethods, StrOptions, integer
from tamis.base.cut import fit_quietly
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import SelectedColumns, selected_columns
from tamis.base.meta_estimators import MetaSelector, in_words
from tamis.base.part import Arguments, Part
from tamis.base.search_range import choice, geom
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.selector import Selection, Selector
from tamis.base.shared_fit import SharedFit
from tamis.base.task import WantedTask
from tamis.select.ranking import Ranking

#: The features taken in each round so far, and those left, in the order of the last round.
_After = tuple[tuple[np.ndarray, ...], np.ndarray]


def _phrase(a: Arguments) -> str:
    selector, times, k = a.pop("estimator"), a.pop("times"), a.pop("k")
    most = "" if k is None else f", at most {k} at a time"
    what = "ranks the features and keeps the best" if selector is None else selector.text
    return f"{times} times over, each time without the features taken before{most}, [{what}]"


class Repeat(SharedFit, MetaSelector, Selector):
    """Run a selector several times, each time without the features that it has selected before.

    A selector that evaluates features together drops an informative one that adds nothing to those already selected; a
    later round selects it. Grabczewski and Jankowski call this sequential feature selection.

    Parameters
    ----------
    estimator : estimator, optional
        A selector, or a pipeline that ends in one and does not mix columns. By default the best tenth by ``cc``.
    times : int, default=3
        Number of rounds.
    k : int, optional
        Features to take in each round: the best of those that the selector selects. Needs a selector that ranks. By
        default all that it selects.
    random_state : int, Generator, RandomState or None, default=None
        Seeds a selector without a seed of its own, differently in each round.
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers: by the selector, or else numbers with fractions are numbers.

    Attributes
    ----------
    rounds_ : list of int arrays
        The features taken in each round, best first.
    scores_ : float array of shape (n_features,)
        ``times - r - q / c`` for the feature at place q = 0, 1, ... of the c taken in round r = 0, 1, ...; 0 for one
        that was not taken.
    order_ : int array
        The features in the order in which they were taken; then the others, as the last round ranks them.

    Notes
    -----
    It stops early when nothing is left, when the selector selects nothing, and when it warns that nothing passes
    (:class:`~tamis.base.cut.NothingPasses`). A round with that warning does not count unless it is the first, since a
    model needs a column.

    References
    ----------
    Grabczewski and Jankowski (2006), "Mining for complex models comprising feature selection and classification",
    section 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import Ranking, Repeat
    >>> X = np.array([[1.0, 0.0, 5.0], [2.0, 0.1, 5.0], [1.0, 1.0, 6.0], [2.0, 1.2, 6.0]])
    >>> [taken.tolist() for taken in Repeat(Ranking("fisher"), times=2, k=1).fit(X, [0, 0, 1, 1]).rounds_]
    [[2], [1]]
    """

    part: ClassVar[Part] = Part(
        "repeat",
        positional=("estimator",),
        search={"times": choice(2, 3, 5, 10), "k": geom(1, 100, 5)},
        paper="Grabczewski and Jankowski 2006, section 2.2",
        phrase=_phrase,
        templates=("repeat(ssv_tree({k}), times={2, 3})",),
    )
    #: The rounds of a longer run begin with those of a shorter one.
    shared_parameters = ("times",)
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "transform"]), None],
        "times": [integer(1)],
        "k": [integer(1), None],
        "random_state": ["random_state", np.random.Generator],
        "task": [StrOptions({"auto", "classify", "regress"})],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        times: int = 3,
        k: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        task: WantedTask = "auto",
    ) -> None:
        self.estimator = estimator
        self.times = times
        self.k = k
        self.random_state = random_state
        self.task = task

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any) -> list[_After]:
        """The state after 0, 1, ... rounds, until nothing more can be taken."""
        seed = int(generator(self.random_state).integers(2**31))
        model, target = self._told(y)
        # Of the sparse formats only CSC drops columns quickly.
        rest, left = X.tocsc() if sp.issparse(X) else X, np.arange(X.shape[1])
        after: list[_After] = [((), left)]
        for number in range(max(one.times for one in estimators)):
            selector = seeded(clone(model), spawn(seed, number))
            if fit_quietly(selector, rest, target, reissue=number == 0) and number:
                break
            found = selected_columns(selector, rest.shape[1], "repeat")
            order = found.full_order
            taken = self._best(found, order)
            tail = left[order[~np.isin(order, taken)]]
            rounds = after[-1][0]
            after.append(((*rounds, left[taken]) if taken.size else rounds, tail))
            if not taken.size or not tail.size:
                break
            stay = np.setdiff1d(order, taken)
            rest, left = rest[:, stay], left[stay]
        return after

    def _finish(self, prepared: list[_After]) -> Selection:
        rounds, tail = prepared[min(self.times, len(prepared) - 1)]
        self.rounds_ = list(rounds)
        scores = np.zeros(self.n_features_in_)
        for number, taken in enumerate(rounds):
            scores[taken] = self.times - number - np.arange(taken.size) / taken.size
        return Selection(scores > 0, scores, np.concatenate([*rounds, tail]))

    def _best(self, found: SelectedColumns, order: np.ndarray) -> np.ndarray:
        """The best `k` of the selected features, in order."""
        if self.k is not None and found.order is None:
            raise TamisError(f"repeat: k needs a selector that ranks; {in_words(self.estimator)} gives only a mask")
        return order[found.support[order]][: self.k]

    def _usual(self) -> Any:
        return Ranking("cc", fraction=0.1)
