"""The stages of a search, each a small function that names recipes and asks for folds of them.

What Grabczewski and Jankowski (2006, section 3) did by hand: test base classifiers, test selections for them, try every
classifier behind the best selections, tune, substitute parts of promising models, and build committees of those that
proved themselves. A stage is a generator: it yields an :class:`Ask`, and goes on when the board knows the answers.
Nothing but the board decides what is asked, so that a search takes the same course whoever computes, and again after
it was stopped.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product, zip_longest
from typing import Any

import numpy as np

from tamis.base.space import Range
from tamis.compose.chain import Call
from tamis.compose.parser import parse
from tamis.mine.blending import blend
from tamis.mine.board import Board, Candidate, Tried
from tamis.mine.budget import Pace
from tamis.mine.form import Form, around, filled, grid, slots, spread
from tamis.mine.space import Calls, Space
from tamis.mine.tuner import propose
from tamis.validate.fold import FoldResult
from tamis.validate.nested import Rule, choose

#: Recipes that the first three stages are laid out for when there is no limit.
_PLENTY = 400

#: Share of the trials that each of the first stages may take.
_SHARES = {"base": 0.20, "select": 0.40, "classify": 0.15}

#: Of a batch so many go on from a first look to all folds: this share, and at least so many, which go together.
_SURVIVORS, _FEWEST = 1 / 4, 6

#: Of the time of such a batch the first look may take this share.
_FIRST_SHARE = 0.6

#: Families that are tuned in a round, recipes tried for each, and models whose parts are substituted.
_FAMILIES, _TRIES, _PROMISING = 4, 6, 2

#: Of the trials that are left a family gets no more than one in so many in a round.
_ROUND = 9

#: Selections behind which every classifier is tried.
_BEHIND = 3

#: Rounds of tuning and substitution without a better model after which a search without limit of time ends.
_PATIENCE = 3

#: Models that are judged on all repeats, and those among which a blend may choose.
_SHORTLIST = 16

#: Classifiers that lean on all columns alike, by the border they draw: they show what a selection is worth. What all
#: columns say of the parameters of a straight border holds for fewer columns too; of a curved one it does not.
_STRAIGHT, _CURVED = ("svm linear", "logistic", "centroid", "lda"), (("svm gaussian",), ("knn", "nrbf"))

#: Members of a committee of one model's copies.
_MEMBERS = 9

#: Components tried where a projection is put behind a selection.
_COMPONENTS = (2, 5, 20)


@dataclass(frozen=True)
class Ask:
    """Recipes to be judged on some splits of a search.

    Attributes
    ----------
    stage : str
    recipes : tuple of str
    splits : tuple of int
    share : float
        How much of the time that is left to the stage it may take.
    """

    stage: str
    recipes: tuple[str, ...]
    splits: tuple[int, ...]
    share: float = 1.0


Stage = Generator[Ask, None, None]


@dataclass(eq=False)
class Search:
    """One search: what it may combine, what it knows, and what it may still spend.

    Attributes
    ----------
    board : Board
    space : Space
    pace : Pace
    seed : int
    answers : callable
        ``answers(split, recipes)``: the results that were kept of recipes on a split.
    load : float
        Searches that share one worker.
    """

    board: Board
    space: Space
    pace: Pace
    seed: int
    answers: Callable[[int, Sequence[str]], dict[str, FoldResult]]
    load: float = 1.0

    @property
    def trials_left(self) -> float:
        """Recipes that may still be tried."""
        most = self.pace.budget.trials
        return np.inf if most is None else most - len(self.board.tried)

    def over(self, stage: str) -> bool:
        """Whether a stage has nothing left to spend."""
        return self.trials_left <= 0 or self.pace.over(stage)

    def share(self, stage: str) -> int:
        """Recipes that one of the first stages may try."""
        return max(1, int(_SHARES[stage] * (self.pace.budget.trials or _PLENTY)))

    def few(self, wanted: int) -> int:
        """So many recipes as are wanted for a family in a round, but no more than leaves some for other stages."""
        return int(min(wanted, max(2, self.trials_left // _ROUND)))

    def enter(self, stage: str, candidates: Iterable[Candidate]) -> list[str]:
        """Enter new recipes on the board, as far as the trials reach."""
        found = []
        for candidate in candidates:
            if self.trials_left <= 0:
                break
            text = self.space.text(candidate.closed)
            if self.board.enter(text, stage, candidate):
                found.append(text)
        return found

    def affordable(self, tried: Tried, n_splits: int, end: str, times: float = 1.0) -> bool:
        """Whether so many more splits of a recipe fit in a third of the time that is left to a stage."""
        left = self.pace.left_of(end)
        if left is None or not tried.seconds:
            return True
        return float(np.mean(list(tried.seconds.values()))) * n_splits * times * self.load <= left / 3

    def best(self) -> list[Tried]:
        """The recipes that were judged on all folds, or at least on the first ones, the best first."""
        return [one for one, _ in self.board.standings()]

    def sure(self) -> list[Tried]:
        """Those that were judged on all repeats."""
        return self.board.ranked(self.board.inner.all)


def stages(search: Search) -> Stage:
    """The whole course of a search."""
    if search.space.forms:
        yield from _as_asked(search)
    else:
        yield from base(search)
        yield from select(search)
        yield from classify(search)
    rounds = idle = 0
    while not search.over("tune") and idle < _PATIENCE:
        known, best = len(search.board.tried), _top(search)
        yield from zoom(search)
        yield from tune(search, rounds)
        if not search.space.forms:
            yield from substitute(search)
        rounds += 1
        if len(search.board.tried) == known:
            break
        better = _top(search) > best
        idle = 0 if better or search.pace.budget.seconds is not None else idle + 1
    yield from confirm(search)
    yield from committees(search)


def race(search: Search, stage: str, waves: Iterable[Iterable[Candidate]]) -> Stage:
    """A first look at new recipes, wave after wave while there is time, then all folds of those that do best in it."""
    inner = search.board.inner
    entered: dict[str, None] = {}
    end = search.pace.end_of(stage, _FIRST_SHARE)
    for wave in waves:
        if end is not None and search.pace.now() >= end and search.best():
            break
        new = search.enter(stage, wave)
        entered |= dict.fromkeys(new)
        if new:
            yield Ask(stage, tuple(new), inner.first, _FIRST_SHARE)
    if entered and not search.best():
        # Time was too short for any of them: one at least must get through.
        yield Ask("last", tuple(entered)[:1], inner.first)
    there = [one for one in search.board.ranked(inner.first) if one.recipe in entered]
    going = there[: max(_FEWEST, round(_SURVIVORS * len(there)))]
    yield from judge(search, stage, going, inner.folds)


def judge(search: Search, stage: str, tried: Sequence[Tried], splits: tuple[int, ...]) -> Stage:
    """Recipes on some splits, the most promising first: when time runs out, these are through."""
    for first in range(0, len(tried), _FEWEST):
        going = [one for one in tried[first : first + _FEWEST] if search.affordable(one, len(splits), stage)]
        if going and not search.pace.over(stage):
            yield Ask(stage, tuple(one.recipe for one in going), splits)


def base(search: Search) -> Stage:
    """Every classifier on all columns, with and without scaling."""
    space = search.space
    pairs = list(product(space.heads, space.quick_tails))
    most = max(1, min(3, search.share("base") // len(pairs)))
    grids = [_closed(Form(head, (), tail), 2, most) for head, tail in pairs]
    # One of each first: when time is short, every classifier has had its turn.
    yield from race(
        search, "base", (filter(None, wave) for wave in zip_longest(*_limited(grids, search.share("base"))))
    )


def select(search: Search) -> Stage:
    """Every way to select, for a few classifiers that show what a selection is worth."""
    leaders = _leaders(search)
    picks = [pick for pick in search.space.picks if pick]
    if not leaders or not picks:
        return
    points = max(2, min(5, search.share("select") // (len(leaders) * len(picks))))
    grids = []
    for pick in picks:
        # All that share a selection stand together, so that it is computed once.
        picked = [c.closed.pick for c in _closed(Form((), pick, leaders[0].closed.tail), points, points)]
        grids.append([_with_pick(leader, pick, one) for one in picked for leader in leaders])
    yield from race(search, "select", _limited(grids, search.share("select")))


def classify(search: Search) -> Stage:
    """Every classifier behind the best selections."""
    picked = [one.candidate for one in search.best() if one.candidate is not None and one.candidate.closed.pick]
    behind: dict[str, Candidate] = {}
    for candidate in picked:
        behind.setdefault(candidate.closed.family[0], candidate)
    known = _best_tails(search).values()
    tails = dict.fromkeys([*(_middle(open_) for open_, _ in known), *known])
    found = [_with_tail(candidate, tail) for candidate, tail in product(list(behind.values())[:_BEHIND], tails)]
    yield from race(search, "classify", [found[: search.share("classify")]])


def zoom(search: Search) -> Stage:
    """The ranges of the best families around their best values, one at a time: neighbours share most of the work."""
    if search.over("tune"):
        return
    best = _varied(search.best(), _FAMILIES)
    near = [[Candidate(c.open, form) for form in around(c.open, c.closed)] for c in best]
    yield from race(search, "tune", [one[: search.few(len(one))] for one in near])


def tune(search: Search, rounds: int) -> Stage:
    """New values of the parameters of the best families, by a sampler that has seen all that was tried."""
    inner = search.board.inner
    for family, candidate in enumerate(_varied(search.best(), _FAMILIES)):
        if search.over("tune"):
            return
        told = [
            (known.candidate.closed, value)
            for known, value in search.board.standings()
            if known.candidate is not None and known.candidate.open == candidate.open
        ]
        key = (search.seed, search.board.number, rounds, family)
        proposed = propose(candidate.open, told, search.few(_TRIES), key)
        new = [Candidate(candidate.open, form) for form in proposed]
        entered = search.enter("tune", new)
        if entered:
            yield Ask("tune", tuple(entered), inner.folds)


def substitute(search: Search) -> Stage:
    """Other parts in the best models: another selection, another classifier, a transform more or less."""
    if search.over("substitute"):
        return
    promising = _varied(search.best(), _PROMISING)
    yield from race(search, "substitute", [list(_neighbours(search, candidate)) for candidate in promising])


def confirm(search: Search) -> Stage:
    """The best of every family on all repeats of the folds, the most promising first."""
    yield from judge(search, "confirm", _distinct(search.best(), _SHORTLIST), search.board.inner.all)


def committees(search: Search) -> Stage:
    """The copies of the best model that a cross-validation makes, and a blend of models that differ."""
    inner = search.board.inner
    sure = search.sure()
    if not sure:
        return
    asked = []
    if "committee" in search.space.committees and search.affordable(sure[0], len(inner.all), "committee", _MEMBERS):
        text = str(Call("committee", (("folds", _MEMBERS), ("model", parse(sure[0].recipe)))))
        if search.board.enter(text, "committee", None):
            asked.append(text)
    if asked and not search.pace.over("committee"):
        yield Ask("committee", tuple(asked), inner.all)
    if "blend" in search.space.committees:
        members = [one.recipe for one in sure if one.candidate is not None][:_SHORTLIST]
        found = blend(members, [search.answers(split, members) for split in inner.all], search.board.metric)
        if found is not None:
            search.board.enter(found.recipe, "blend", None)
            for split, result in zip(inner.all, found.results, strict=True):
                search.board.learn(found.recipe, split, result)


def chosen(search: Search, rule: Rule, caution: float) -> Tried | None:
    """The model that the search ends with: by the rule, among those that were judged most often.

    Under a limit of time it is one that can still be fitted and judged, if there is any.

    The deviation that a cautious choice takes off is that over repeats of the folds, if there are any: single folds are
    so small where rows are few that their deviation is chance.
    """
    inner = search.board.inner
    for splits in (inner.all, inner.folds, inner.first):
        judged = search.board.ranked(splits)
        judged = [one for one in judged if search.affordable(one, 1, "end")] or judged
        if judged:
            values = np.array([one.on(splits) for one in judged])
            if rule == "cautious":
                values = inner.repeats(splits, values)
            sizes = np.array([one.size for one in judged])
            return judged[choose(values, sizes, inner.test_to_train, rule=rule, caution=caution)]
    return None


def _as_asked(search: Search) -> Stage:
    """The forms that the user gave, each on a grid."""
    forms = search.space.forms
    most = max(1, int((search.pace.budget.trials or _PLENTY) * 0.6))
    grids = [_closed(form, 5, max(1, most // len(forms))) for form in forms]
    yield from race(search, "as asked", _limited(grids, most))


def _top(search: Search) -> float:
    best = search.board.standings()
    return best[0][1] if best else -np.inf


def _closed(form: Form, points: int, most: int) -> list[Candidate]:
    return [Candidate(form, closed) for closed in grid(form, points, most)]


def _limited(grids: Sequence[Sequence[Candidate]], most: int) -> list[Sequence[Candidate]]:
    """At most so many of several lists: of each as many, from its front."""
    each = max(1, most // max(1, len(grids)))
    return [one[:each] for one in grids]


def _leaders(search: Search) -> list[Candidate]:
    """The best base model of each kind of border that leans on all columns alike; failing these the best of all."""
    best = [one.candidate for one in search.best() if one.candidate is not None]

    def first(names: Sequence[str]) -> list[Candidate]:
        return [candidate for candidate in best if candidate.closed.family[1] in names][:1]

    found = first(_STRAIGHT) + [_with_tail(c, _middle(c.open.tail)) for names in _CURVED for c in first(names)]
    return found or best[:1]


def _middle(tail: Calls) -> tuple[Calls, Calls]:
    """A tail open, and closed in the middle of its ranges."""
    return tail, grid(Form((), (), tail), 1, 1)[0].tail


def _best_tails(search: Search) -> dict[str, tuple[Calls, Calls]]:
    """The best known tail of every family, open and closed; of one that was never judged the middle."""
    found: dict[str, tuple[Calls, Calls]] = {}
    for one in search.best():
        if one.candidate is not None:
            tails = (one.candidate.open.tail, one.candidate.closed.tail)
            found.setdefault(one.candidate.closed.family[1], tails)
    for tail in search.space.tails:
        middle = _middle(tail)
        found.setdefault(Form((), (), middle[1]).family[1], middle)
    return found


def _with_tail(candidate: Candidate, tail: tuple[Calls, Calls]) -> Candidate:
    return Candidate(replace(candidate.open, tail=tail[0]), replace(candidate.closed, tail=tail[1]))


def _with_pick(candidate: Candidate, open_: Calls, closed: Calls) -> Candidate:
    return Candidate(replace(candidate.open, pick=open_), replace(candidate.closed, pick=closed))


def _distinct(tried: Sequence[Tried], most: int) -> list[Tried]:
    """The best of each family, then the second best of each and so on."""
    seen: dict[Any, int] = {}
    turns = []
    for place, one in enumerate(tried):
        family = one.recipe if one.candidate is None else one.candidate.closed.family
        seen[family] = seen.get(family, 0) + 1
        turns.append((seen[family], place))
    return [tried[place] for _, place in sorted(turns)[:most]]


def _varied(tried: Sequence[Tried], most: int) -> list[Candidate]:
    """The best model, the best with another classifier, the best with another selection, and so on in turn."""
    left = [one.candidate for one in _distinct(tried, len(tried)) if one.candidate is not None]
    found: list[Candidate] = []
    while left and len(found) < most:
        part = len(found) % 2
        seen = Counter(candidate.closed.family[part] for candidate in found)
        found.append(min(left, key=lambda candidate: seen[candidate.closed.family[part]]))
        left.remove(found[-1])
    return found


def _neighbours(search: Search, candidate: Candidate) -> Iterator[Candidate]:
    """A model with one part changed."""
    space = search.space
    size = _size(candidate)
    for pick in space.picks:
        if pick != candidate.open.pick:
            yield from (_with_pick(candidate, pick, c.pick) for c in _of_size(Form((), pick, ()), size))
    yield _with_pick(candidate, (), ())
    for tail in _best_tails(search).values():
        yield _with_tail(candidate, tail)
    for head in space.heads:
        closed = grid(Form(head, (), ()), 1, 1)[0].head
        yield Candidate(replace(candidate.open, head=head), replace(candidate.closed, head=closed))
    yield from _projected(candidate)


def _projected(candidate: Candidate) -> Iterator[Candidate]:
    """With a projection before the tail, or without the one that is there."""
    if candidate.closed.tail[0].name == "pca":
        yield Candidate(
            replace(candidate.open, tail=candidate.open.tail[1:]),
            replace(candidate.closed, tail=candidate.closed.tail[1:]),
        )
        return
    for k in _COMPONENTS:
        wide, narrow = Call("pca", (("k", Range("geom", 2, 100, 10)),)), Call("pca", (("k", k),))
        yield _with_tail(candidate, ((wide, *candidate.open.tail), (narrow, *candidate.closed.tail)))


def _size(candidate: Candidate) -> int | None:
    """How many columns the model's own selection keeps, where it says so."""
    sizes = [dict(call.arguments).get("k") for call in candidate.closed.pick]
    return next((size for size in reversed(sizes) if isinstance(size, int)), None)


def _of_size(form: Form, size: int | None) -> list[Form]:
    """Closed forms of a selection that keep about as many columns."""
    if size is None:
        return grid(form, 3, 3)
    values = {}
    for path, domain in slots(form).items():
        if path[-1] == "k" and isinstance(domain, Range):
            values[path] = int(np.clip(size, domain.low, domain.high))
        else:
            values[path] = spread(domain, 1)[0]
    return [filled(form, values)]
