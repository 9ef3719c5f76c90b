"""Vote: several selectors choose independently, and the features that most of them select are selected."""

import warnings
from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import clone

from tamis.base._sklearn import StrOptions, integer
from tamis.base.cut import NothingPasses
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import check_selector, selected_columns
from tamis.base.meta_estimators import EstimatorList, needs_classes, restricted, settled_task, with_task
from tamis.base.parallel import run_all
from tamis.base.part import Arguments, Part, enumerated
from tamis.base.seeds import generator, seeded, spawn
from tamis.base.selector import Selection, Selector
from tamis.base.shared_fit import SharedFit, fit_together, grouped, signature
from tamis.base.task import BOTH, WantedTask, is_numeric
from tamis.base.types import Target
from tamis.select.ranking import Ranking

#: The scores of the default members, for classes and for numbers.
_BY_CLASS, _BY_NUMBER = ("cc", "fisher", "s2n"), ("cc", "spearman", "mi")


class _Member(NamedTuple):
    """A fitted member and its warnings."""

    fitted: Any
    warned: list[tuple[type[Warning], str]]


def _phrase(a: Arguments) -> str:
    members, needed = a.pop("estimators"), a.pop("at_least")
    if not members:
        return "keeps the features that most of several rankings keep"
    least = len(members) // 2 + 1 if needed is None else needed
    return f"keeps the features that at least {least} of {len(members)} selections keep {enumerated(members)}"


class Vote(EstimatorList, SharedFit, Selector):
    """A committee of selectors: select the features that at least `at_least` of its members select.

    In a recipe the members are written one after another: ``vote(cc(30), fisher(30), standardize | variance(100),
    at_least=2)``.

    Parameters
    ----------
    estimators : list of estimators, optional
        Selectors, or pipelines that end in one. Their steps may rescale columns, drop and repeat them, but not mix
        them. By default the best tenth by ``cc``, by ``fisher`` and by ``s2n``, and for numbers by ``cc``, by
        ``spearman`` and by ``mi``.
    at_least : int, optional
        Votes a feature needs: 1 gives the union of the members' selections, the number of members the intersection. By
        default more than half of the members.
    n_jobs : int, optional
        Processes among which the members are divided; the result does not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seeds the members without a seed of their own.
    task : {"auto", "classify", "regress"}, default="auto"
        Whether the target holds classes or numbers: by the members, or else numbers with fractions are numbers.

    Attributes
    ----------
    estimators_ : list of fitted estimators
    votes_ : int array of shape (n_features,)
        Number of members that select the feature; also its score.
    order_ : int array
        By votes; equal ones by mean place in the members' rankings (last for a feature that did not reach a member's
        selector), then in column order.

    Notes
    -----
    When no feature has enough votes, those with the most are selected, with the warning
    :class:`~tamis.base.cut.NothingPasses`; without any vote, the first of `order_`. The parameters of the members are
    ``estimators_1__k``, ``estimators_2__k``, ....

    References
    ----------
    Grabczewski and Jankowski (2006), "Mining for complex models comprising feature selection and classification",
    section 2.2.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.select import Ranking, Vote
    >>> X = np.array([[1.0, 0.0, 5.0], [2.0, 0.1, 5.0], [1.0, 1.0, 6.0], [2.0, 1.2, 6.0]])
    >>> vote = Vote([Ranking("cc", k=2), Ranking("fisher", k=1), Ranking("variance", k=1)], at_least=2)
    >>> vote.fit(X, [0, 0, 1, 1]).votes_
    array([0, 2, 2])
    """

    part: ClassVar[Part] = Part(
        "vote",
        positional=("*estimators",),
        paper="Grabczewski and Jankowski 2006, section 2.2",
        phrase=_phrase,
        templates=("vote(ssv({k}), ssv_tree({k}), cc({k}), at_least={1, 2})",),
    )
    #: As far as the members do.
    accepts_missing = True
    tasks = BOTH
    #: A member of several votes is fitted once.
    shared_parameters = ("estimators", "at_least")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimators": [list, tuple, None],
        "at_least": [integer(1), None],
        "n_jobs": [integer(), None],
        "random_state": ["random_state", np.random.Generator],
        "task": [StrOptions({"auto", "classify", "regress"})],
    }

    def __init__(
        self,
        estimators: Sequence[Any] | None = None,
        *,
        at_least: int | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        task: WantedTask = "auto",
    ) -> None:
        self.estimators = estimators
        self.at_least = at_least
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.task = task

    def _prepare(self, estimators: Sequence[Self], X: Any, y: Any) -> dict[Hashable, list[_Member]]:
        """The fitted members of each vote, by its signature."""
        seeded_members = {signature(one): one._seeded_members(y) for one in estimators}
        every = [member for members in seeded_members.values() for member in members]
        labels = y if y is None or is_numeric(y) else self.classes_[y]
        groups = grouped(every)
        fitted = run_all(_fit_group, [(group.estimators, group.shares_fit, X, labels) for group in groups], self.n_jobs)
        found: dict[int, _Member] = {}
        for group, members in zip(groups, fitted, strict=True):
            for places, member in zip(group.members, members, strict=True):
                found.update(dict.fromkeys(places, member))
        fits = (found[place] for place in range(len(every)))
        return {vote: [next(fits) for _ in members] for vote, members in seeded_members.items()}

    def _finish(self, prepared: dict[Hashable, list[_Member]]) -> Selection:
        members = prepared[signature(self)]
        needed = len(members) // 2 + 1 if self.at_least is None else self.at_least
        if needed > len(members):
            raise TamisError(f"vote: at_least must be at most the number of members, {len(members)}; got {needed}")
        for category, message in dict.fromkeys(warning for member in members for warning in member.warned):
            warnings.warn(message, category, stacklevel=2)
        self.estimators_ = [member.fitted for member in members]
        found = [
            selected_columns(m, self.n_features_in_, f"vote: member {i}") for i, m in enumerate(self.estimators_, 1)
        ]
        self.votes_ = np.sum([one.support for one in found], axis=0)
        places = [one.places for one in found if one.order is not None]
        order = np.lexsort((np.mean(places, axis=0) if places else np.zeros(self.n_features_in_), -self.votes_))
        return Selection(_elected(self.votes_, order, needed), self.votes_.astype(np.float64), order)

    def _seeded_members(self, y: Target) -> list[Any]:
        seed = int(generator(self.random_state).integers(2**31))
        members = self._checked_members(_BY_NUMBER if is_numeric(y) else _BY_CLASS)
        return [seeded(clone(with_task(member, y)), spawn(seed, i)) for i, member in enumerate(members)]

    def _checked_members(self, usual: Sequence[str] = ("cc",)) -> list[Any]:
        """The members, or rankings by the `usual` scores; before the target is known ``cc`` stands for them."""
        if self.estimators is None:
            return [Ranking(by, fraction=0.1) for by in usual]
        if not self.estimators:
            raise TamisError("vote needs at least one member; got none")
        for number, member in enumerate(self.estimators, 1):
            check_selector(member, f"vote: member {number}")
        return list(self.estimators)

    def _input_key(self) -> Hashable:
        tags = self.__sklearn_tags__().input_tags
        return self._supervised(), self._settled_task(), tags.allow_nan, tags.positive_only

    def _settled_task(self) -> WantedTask:
        return settled_task(self.task, self._checked_members(), "vote")

    def _supervised(self) -> bool:
        return any(needs_classes(member) for member in self._checked_members())

    def __sklearn_tags__(self) -> Any:
        return restricted(super().__sklearn_tags__(), self._checked_members())


def _fit_group(members: Sequence[Any], shares_fit: bool, X: Any, y: Any) -> list[_Member]:
    """Fit members that share a fit, each with the warnings that concern it."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        together = fit_together(members, X, y) if shares_fit else None
        before = len(warned)
        found = []
        for place, member in enumerate(members):
            start = len(warned)
            fitted = member.fit(X, y) if together is None else together.fitted(place)
            found.append(_Member(fitted, [(w.category, str(w.message)) for w in (*warned[:before], *warned[start:])]))
    return found


def _elected(votes: np.ndarray, order: np.ndarray, needed: int) -> np.ndarray:
    """Mask of the features with enough votes; if there are none, of those with the most."""
    selected = votes >= needed
    if not selected.any():
        most = int(votes.max())
        if most:
            selected = votes == most
        else:
            selected[order[0]] = True
        message = f"no feature has {needed} votes; the best {int(selected.sum())}, with {most}, selected instead"
        warnings.warn(message, NothingPasses, stacklevel=2)
    return selected
