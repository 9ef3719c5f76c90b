"""The stages of a search, each a small function that names recipes and asks for folds of them.

What Grabczewski and Jankowski (2006, section 3) did by hand: test base classifiers, test selections for them, try every
classifier behind the best selections, tune, substitute parts of promising models, and build committees of those that
proved themselves. A stage is a generator: it yields an :class:`Ask`, and goes on when the board knows the answers.
Nothing but the board decides what is asked, so that a search takes the same course whoever computes, and again after
it was stopped.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from itertools import product, zip_longest

import numpy as np

from tamis.base.part import Boundary
from tamis.compose.catalog import entry, part_for
from tamis.compose.parser import parse
from tamis.mining.ensembles import blend
from tamis.mining.search_state import PLENTY, SHORTLIST, Ask, Search, distinct
from tamis.mining.space import Calls
from tamis.mining.template import Form, around, boundary, grid, slots
from tamis.mining.trials import Tried
from tamis.mining.tuner import propose
from tamis.mining.variation import Candidate, covering, middle, neighbours, with_head, with_pick, with_tail
from tamis.validation.nested import Rule, choose

#: Of a batch so many go on from a first look to all folds: this share, and at least so many, which go together.
_SURVIVORS, _FEWEST = 1 / 4, 6

#: Models that are judged on all repeats together, which takes long: the first of them are to be through.
_CONFIRMED = 3

#: Of the time of such a batch the first look may take this share.
_FIRST_SHARE = 0.6

#: Families that are tuned in a round, recipes tried for each, and models whose parts are substituted.
_FAMILIES, _TRIES, _PROMISING = 4, 6, 2

#: Selections behind which every classifier is tried, and the values of each of its parameters where these cost little.
_BEHIND, _POINTS = 3, 3

#: Rounds of tuning and substitution without a better model after which a search without limit of time ends.
_PATIENCE = 3

#: Boundaries of the classifiers that use all columns alike, and so show how good a selection is. For a linear boundary
#: the parameters and the scaling that suit all columns suit fewer columns too; for a curved one they do not.
_LINEAR: Boundary = "linear"
_CURVED: tuple[Boundary, ...] = ("kernel", "local")

#: Members of a committee of one model's copies.
_MEMBERS = 9


Stage = Generator[Ask, None, None]


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


def judge(
    search: Search, stage: str, tried: Sequence[Tried], splits: tuple[int, ...], together: int = _FEWEST
) -> Stage:
    """Recipes on some splits, a few together, the most promising first: when time runs out, these are through."""
    for first in range(0, len(tried), together):
        going = [one for one in tried[first : first + together] if search.affordable(one, len(splits), stage)]
        if going and not search.pace.over(stage):
            yield Ask(stage, tuple(one.recipe for one in going), splits)


def base(search: Search) -> Stage:
    """Every classifier on all columns, with and without scaling."""
    space = search.space
    most = max(1, min(3, search.share("base") // len(space.bases)))
    grids = [covering(Form(head, (), tail), 2, most) for head, tail in space.bases]
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
        picked = [c.closed.pick for c in covering(Form((), pick, leaders[0].closed.tail), points, points)]
        grids.append([with_pick(leader, pick, one) for one in picked for leader in leaders])
    yield from race(search, "select", _limited(grids, search.share("select")))


def classify(search: Search) -> Stage:
    """Every classifier behind the best selections."""
    picked = [one.candidate for one in search.best() if one.candidate is not None and one.candidate.closed.pick]
    behind: dict[str, Candidate] = {}
    for candidate in picked:
        behind.setdefault(candidate.closed.family[0], candidate)
    known = _best_tails(search).values()
    tails = dict.fromkeys([*known, *(tail for open_, _ in known for tail in _settings(open_))])
    found = [with_tail(candidate, tail) for candidate, tail in product(list(behind.values())[:_BEHIND], tails)]
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
    promising, tails = _varied(search.best(), _PROMISING), list(_best_tails(search).values())
    yield from race(search, "substitute", [list(neighbours(c, search.space, tails)) for c in promising])


def confirm(search: Search) -> Stage:
    """The best of every family on all repeats of the folds, the most promising first."""
    yield from judge(search, "confirm", search.shortlist(), search.board.inner.all, _CONFIRMED)


def committees(search: Search) -> Stage:
    """The copies of the best model that a cross-validation makes, and a blend of models that differ."""
    inner = search.board.inner
    sure = search.sure()
    if not sure:
        return
    asked = []
    copies, mean = part_for("fold_ensemble").name, part_for("weighted_ensemble").name
    if copies in search.space.committees and search.affordable(sure[0], len(inner.all), "ensemble", _MEMBERS):
        text = str(parse(f"{copies}({_MEMBERS}, {sure[0].recipe})"))
        if search.board.enter(text, "ensemble", None):
            asked.append(text)
    if asked and not search.pace.over("ensemble"):
        yield Ask("ensemble", tuple(asked), inner.all)
    if mean in search.space.committees:
        members = [one.recipe for one in sure if one.candidate is not None][:SHORTLIST]
        found = blend(members, [search.answers(split, members) for split in inner.all], search.board.metric)
        if found is not None:
            search.board.enter(found.recipe, "ensemble", None)
            for split, result in zip(inner.all, found.results, strict=True):
                search.keep(split, {found.recipe: result})
                search.board.learn(found.recipe, split, result)


def chosen(search: Search, rule: Rule, caution: float) -> Tried | None:
    """The model that the search ends with: by the rule, among those that were judged (nearly) most often.

    Under a limit of time it is one that can still be fitted and judged without breaking it by much, if there is any.

    The deviation that a cautious choice takes off is that over repeats of the folds, if there are any: single folds are
    so small where rows are few that their deviation is chance. That of the few folds of a first look says nothing.
    """
    inner, left = search.board.inner, search.pace.left_with_grace
    for splits in search.board.rounds():
        judged = search.board.ranked(splits)
        judged = [one for one in judged if left is None or search.ending(one) <= left] or judged
        if judged:
            values = np.array([one.on(splits) for one in judged])
            if rule == "cautious":
                values = inner.repeats(splits, values)
            sizes = np.array([one.size for one in judged])
            caution = 0.0 if splits == inner.first else caution
            return judged[choose(values, sizes, inner.test_to_train, rule=rule, caution=caution)]
    return None


def _as_asked(search: Search) -> Stage:
    """The forms that the user gave, each on a grid."""
    forms = search.space.forms
    most = max(1, int((search.pace.budget.trials or PLENTY) * 0.6))
    grids = [covering(form, 5, max(1, most // len(forms))) for form in forms]
    yield from race(search, "as asked", _limited(grids, most))


def _top(search: Search) -> float:
    best = search.board.standings()
    return best[0][1] if best else -np.inf


def _limited(grids: Sequence[Sequence[Candidate]], most: int) -> list[Sequence[Candidate]]:
    """At most so many of several lists: of each as many, from its front."""
    each = max(1, most // max(1, len(grids)))
    return [one[:each] for one in grids]


def _leaders(search: Search) -> list[Candidate]:
    """A base model for each kind of boundary that uses all columns alike; failing these the best of all."""
    best = [one.candidate for one in search.best() if one.candidate is not None]

    def first(kind: Boundary) -> list[Candidate]:
        return [candidate for candidate in best if boundary(candidate.closed.tail[-1]) == kind][:1]

    curved = [found.open.tail for kind in _CURVED for found in first(kind)]
    usual = search.space.heads[0]
    found = first(_LINEAR) + [with_head(with_tail(best[0], middle(tail)), usual) for tail in curved]
    return found or best[:1]


def _settings(tail: Calls) -> list[tuple[Calls, Calls]]:
    """A tail in the middle of its ranges, or all over them where one fit answers many values."""
    form, swept = Form((), (), tail), getattr(entry(tail[-1].name).make, "shared_parameters", ())
    points = _POINTS if any(path[-1] in swept for path in slots(form)) else 1
    return [(tail, one.tail) for one in grid(form, points, points**2)]


def _best_tails(search: Search) -> dict[str, tuple[Calls, Calls]]:
    """The best known tail of every family, open and closed; of one that was never judged the middle."""
    found: dict[str, tuple[Calls, Calls]] = {}
    for one in search.best():
        if one.candidate is not None:
            tails = (one.candidate.open.tail, one.candidate.closed.tail)
            found.setdefault(one.candidate.closed.family[1], tails)
    for tail in search.space.tails:
        open_, closed = middle(tail)
        found.setdefault(Form((), (), closed).family[1], (open_, closed))
    return found


def _varied(tried: Sequence[Tried], most: int) -> list[Candidate]:
    """The best model, the best with another classifier, the best with another selection, and so on in turn."""
    left = [one.candidate for one in distinct(tried, len(tried)) if one.candidate is not None]
    found: list[Candidate] = []
    while left and len(found) < most:
        part = len(found) % 2
        seen = Counter(candidate.closed.family[part] for candidate in found)
        found.append(min(left, key=lambda candidate: seen[candidate.closed.family[part]]))
        left.remove(found[-1])
    return found
