"""The stages of a search, each a small function that names recipes and requests their evaluation.

First come recipes that did well on other data. The stages after them do what Grabczewski and Jankowski (2006, section
3) did by hand: test base classifiers, test selections for them, try every classifier behind the best selections, tune,
substitute parts of promising models, and build committees of the best. A stage is a generator: it yields a
:class:`Request` and goes on when the trials have the results. Nothing but the trials decides what is requested, so that
a search goes the same way on every engine, and again after it was stopped.
"""

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from itertools import chain, islice, product, repeat, zip_longest

import numpy as np

from tamis.base.part import Boundary
from tamis.compose.catalog import part_for
from tamis.compose.parser import parse
from tamis.mining.portfolio import portfolio_candidates
from tamis.mining.racing import soonest
from tamis.mining.search_state import PLENTY, Request, SearchState, distinct
from tamis.mining.space import Calls
from tamis.mining.template import Template, around, boundary, grid, slots
from tamis.mining.trials import Trial
from tamis.mining.tuner import propose
from tamis.mining.variation import (
    Candidate,
    covering,
    middle,
    neighbours,
    with_classifier,
    with_fewer_columns,
    with_preparation,
    with_selection,
)

#: Share of a batch that goes on from a first look to all folds; the fewest that do, and that are evaluated together.
_SURVIVORS, _FEWEST = 1 / 4, 6

#: Models that are evaluated on all repeats together. This takes long, so the best ones must finish first.
_CONFIRMED = 3

#: Share of the time of such a batch that the first look may take.
_FIRST_SHARE = 0.6

#: Families that are tuned in a round, those among which they are, recipes tried for each, and models whose parts are
#: substituted.
_FAMILIES, _AMONG, _TRIES, _PROMISING = 4, 12, 6, 2

#: Selections behind which every classifier is tried, and the values of each of its parameters where these cost little.
_BEHIND, _POINTS = 3, 3

#: Rounds of tuning and substitution without a better model after which a search without limit of time ends.
_PATIENCE = 3

#: Recipes of the portfolio that are tried together: few at first, so that soon there is something to go on with.
_WAVES = (2, 4, 6, 8)

#: Boundaries of the classifiers that use all columns alike, and so show how good a selection is. For a linear boundary
#: the parameters and the scaling that suit all columns suit fewer columns too; for a curved one they do not.
_LINEAR: Boundary = "linear"
_CURVED: tuple[Boundary, ...] = ("kernel", "local")

#: Families of which the best model is tried with fewer columns, and the shares of its columns in turn.
_NARROWED, _NARROWER = 8, (0.5, 0.75)

#: Members of a committee of one model's copies.
_MEMBERS = 9


Stage = Generator[Request, None, None]


def stages(state: SearchState) -> Stage:
    """All stages of a search."""
    if state.space.templates:
        yield from given_templates(state)
    else:
        yield from portfolio(state)
        yield from base(state)
        yield from select(state)
        yield from classify(state)
    rounds = idle = 0
    while not state.over("tune") and idle < _PATIENCE:
        known, best = len(state.trials.by_recipe), _top(state)
        yield from zoom(state)
        yield from tune(state, rounds)
        if not state.space.templates:
            yield from substitute(state)
        rounds += 1
        if len(state.trials.by_recipe) == known:
            break
        better = _top(state) > best
        idle = 0 if better or state.clock.budget.seconds is not None else idle + 1
    yield from narrow(state)
    # The best of every family on all repeats of the folds, the most promising first.
    yield from evaluate(state, "confirm", state.shortlist(), state.trials.inner.all, _CONFIRMED)
    yield from committees(state)


def race(state: SearchState, stage: str, waves: Iterable[Iterable[Candidate]]) -> Stage:
    """A first look at new recipes, wave after wave while there is time, then all folds of the best of them.

    Those that are too far behind the best model of all go no further. The first wave has one of every kind, and gets a
    look even if the time of the stage is over.
    """
    inner = state.trials.inner
    added: dict[str, None] = {}
    end = state.clock.end_of(stage, _FIRST_SHARE)
    for number, wave in enumerate(waves):
        if number and end is not None and state.clock.now() >= end and state.best():
            break
        new = state.add(stage, wave)
        added |= dict.fromkeys(new)
        if new:
            yield Request(stage, tuple(new), inner.first, _FIRST_SHARE, "first look" if number == 0 else None)
    if added and not state.best():
        # Time was too short for any of them, but the search needs one.
        yield Request("last", tuple(added)[:1], inner.first)
    seen = [one for one in state.trials.ranked(inner.first) if one.recipe in added]
    survivors = seen[: max(_FEWEST, round(_SURVIVORS * len(seen)))]
    yield from evaluate(state, stage, state.trials.within_reach(survivors), inner.folds)


def evaluate(
    state: SearchState, stage: str, trials: Sequence[Trial], splits: tuple[int, ...], together: int = _FEWEST
) -> Stage:
    """Trials on some splits, a few together, the most promising first: they are complete if time runs out.

    The most promising model of all goes first. It may take longer than the stage has, or a search would end with the
    best of the quick models.
    """
    waiting = list(trials)
    if waiting and _leads(state, waiting[0]) and state.affordable(waiting[0], splits, "tune"):
        yield Request(stage, (waiting.pop(0).recipe,), splits, beyond="tune")
    while waiting and not state.clock.over(stage):
        going = [one for one in waiting[:together] if state.affordable(one, splits, stage)]
        going = going[: _fitting(state, going, splits, stage)]
        waiting = waiting[waiting.index(going[-1]) + 1 :] if going else waiting[together:]
        if going:
            yield Request(stage, tuple(one.recipe for one in going), splits)


def _leads(state: SearchState, trial: Trial) -> bool:
    """Whether a trial that was not evaluated on all folds is the most promising of all."""
    return trial is state.best()[0] and not trial.has(state.trials.inner.folds)


def _fitting(state: SearchState, trials: Sequence[Trial], splits: Sequence[int], stage: str) -> int:
    """How many of the first trials fit together into the time that is left to a stage, one at least."""
    left = state.clock.left_of(stage)
    seconds = np.cumsum([state.seconds_on(one, splits) for one in trials])
    return len(trials) if left is None else max(1, int(np.searchsorted(seconds, left, side="right")))


def given_templates(state: SearchState) -> Stage:
    """The templates that the user gave, each on a grid."""
    templates = state.space.templates
    most = max(1, int((state.clock.budget.trials or PLENTY) * 0.6))
    grids = [covering(template, 5, max(1, most // len(templates))) for template in templates]
    yield from race(state, "templates", _limited(grids, most))


def portfolio(state: SearchState) -> Stage:
    """Recipes that did well on other data, a few at a time, the most useful first."""
    found = islice(portfolio_candidates(state.space), state.share("portfolio"))
    sizes = chain(_WAVES, repeat(_WAVES[-1]))
    yield from race(state, "portfolio", iter(lambda: list(islice(found, next(sizes))), []))


def base(state: SearchState) -> Stage:
    """Every classifier on all columns, with and without scaling."""
    bases, share = state.space.bases, state.share("base")
    most = max(1, min(3, share // len(bases)))
    grids = [covering(Template(prepare, (), classifier), 2, most) for prepare, classifier in bases]
    # One of each first: if time is short, every classifier is tried once.
    yield from race(state, "base", (filter(None, wave) for wave in zip_longest(*_limited(grids, share))))


def select(state: SearchState) -> Stage:
    """Every selection, for a few classifiers that show how good a selection is."""
    leaders = _leaders(state)
    selections = [selection for selection in state.space.selections if selection]
    if not leaders or not selections:
        return
    points = max(2, min(5, state.share("select") // (len(leaders) * len(selections))))
    grids = []
    # If time is short the slow ones are left out, and not the last in the alphabet.
    for selection in sorted(
        selections, key=lambda calls: any(state.space.entry(call.name).card.slow for call in calls)
    ):
        # Recipes that share a selection stand together, so that it is computed once.
        covered = covering(Template((), selection, leaders[0].closed.classify), points, points)
        middle_first = sorted(covered, key=lambda one: abs(covered.index(one) - len(covered) // 2))
        grids.append(
            [with_selection(leader, selection, one.closed.select) for one in middle_first for leader in leaders]
        )
    limited = _limited(grids, state.share("select"))
    # One size of every selection first; then the other sizes, selection by selection.
    looks = [own[: len(leaders)] for own in limited]
    yield from race(state, "select", [list(chain(*looks)), *(own[len(leaders) :] for own in limited)])


def classify(state: SearchState) -> Stage:
    """Every classifier behind the best selections."""
    behind: dict[str, Candidate] = {}
    for one in state.best():
        if one.candidate is not None and one.candidate.closed.select:
            behind.setdefault(one.candidate.closed.family[0], one.candidate)
    known = _best_classifiers(state).values()
    classifiers = dict.fromkeys([*known, *(setting for open_, _ in known for setting in _settings(state, open_))])
    found = [with_classifier(*pair) for pair in product(list(behind.values())[:_BEHIND], classifiers)]
    yield from race(state, "classify", [found[: state.share("classify")]])


def zoom(state: SearchState) -> Stage:
    """The ranges of the best families around their best values, one at a time: neighbours share most of the work."""
    if state.over("tune"):
        return
    best = _going_on(state)
    near = [[Candidate(c.open, closed) for closed in around(c.open, c.closed)] for c in best]
    yield from race(state, "tune", [one[: state.few(len(one))] for one in near])


def tune(state: SearchState, rounds: int) -> Stage:
    """New values of the parameters of the best families, from a sampler that knows all trials of the family."""
    for family, candidate in enumerate(_going_on(state)):
        if state.over("tune"):
            return
        known = [
            (one.candidate.closed, value)
            for one, value in state.trials.estimates()
            if one.candidate is not None and one.candidate.open == candidate.open
        ]
        key = (state.seed, state.trials.number, rounds, family)
        proposed = propose(candidate.open, known, state.few(_TRIES), key)
        added = state.add("tune", [Candidate(candidate.open, closed) for closed in proposed])
        if added:
            yield Request("tune", tuple(added), state.trials.inner.folds)


def substitute(state: SearchState) -> Stage:
    """Other parts in the best models: another selection, another classifier, a transform more or less."""
    if state.over("substitute"):
        return
    promising, classifiers = _varied(state.best(), _PROMISING), list(_best_classifiers(state).values())
    yield from race(state, "substitute", [list(neighbours(c, state.space, classifiers)) for c in promising])


def narrow(state: SearchState) -> Stage:
    """Fewer columns in the best model of each family, half of them as long as that is better.

    Some classifiers lose so little by useless columns that nothing else drops them, and families that were found late
    have only sizes that suited others.
    """
    tried: set[tuple[str, float]] = set()
    while not state.over("narrow"):
        families: dict[tuple[str, str], Trial] = {}
        for one in state.best():
            if one.candidate is not None:
                families.setdefault(one.candidate.closed.family, one)
        best = list(families.values())[:_NARROWED]
        turns = [(one, next((s for s in _NARROWER if (one.recipe, s) not in tried), None)) for one in best]
        fewer = [with_fewer_columns(one.candidate, share) for one, share in turns if one.candidate and share]
        if not fewer:
            return
        tried |= {(one.recipe, share) for one, share in turns if share}
        added = state.add("narrow", filter(None, fewer))
        if added:
            yield Request("narrow", tuple(added), state.trials.inner.folds)


def committees(state: SearchState) -> Stage:
    """A committee of copies of the best model made by cross-validation."""
    trials, every = state.trials, state.trials.inner.all
    confirmed = state.confirmed()
    if not confirmed:
        return
    copies = part_for("fold_ensemble").name
    if copies in state.space.committees and state.affordable(confirmed[0], every, "ensemble", _MEMBERS):
        text = str(parse(f"{copies}({_MEMBERS}, {confirmed[0].recipe})"))
        if trials.add(text, "ensemble", None) and not state.clock.over("ensemble"):
            yield Request("ensemble", (text,), every)


def _top(state: SearchState) -> float:
    best = state.trials.estimates()
    return best[0][1] if best else -np.inf


def _limited(grids: Sequence[Sequence[Candidate]], most: int) -> list[Sequence[Candidate]]:
    """The first candidates of each list, equally many of each and at most `most` in all."""
    each = max(1, most // max(1, len(grids)))
    return [one[:each] for one in grids]


def _leaders(state: SearchState) -> list[Candidate]:
    """A base model for each kind of boundary that uses all columns alike; failing these the best of all."""
    best = [one.candidate for one in state.best() if one.candidate is not None]

    def first(kind: Boundary) -> list[Candidate]:
        return [candidate for candidate in best if boundary(candidate.closed.classify[-1]) == kind][:1]

    curved = [found.open.classify for kind in _CURVED for found in first(kind)]
    usual = state.space.preparations[0]
    found = first(_LINEAR) + [with_preparation(with_classifier(best[0], middle(one)), usual) for one in curved]
    return found or best[:1]


def _going_on(state: SearchState) -> list[Candidate]:
    """The best model, and others of different families that are expected to be better soonest."""
    among = _varied(_quick_enough(state), _AMONG)
    return [*among[:1], *soonest(state, among[1:], _FAMILIES - 1)]


def _quick_enough(state: SearchState) -> list[Trial]:
    """The best trials of which a round of tuning takes a part of the time that is left; all if none does."""
    best, folds = state.best(), state.trials.inner.folds
    return [one for one in best if state.affordable(one, folds, "tune", _TRIES)] or best


def _settings(state: SearchState, classifier: Calls) -> list[tuple[Calls, Calls]]:
    """A classifier in the middle of its ranges, or all over them if one fit serves many values."""
    made = state.space.entry(classifier[-1].name).make
    template, swept = Template((), (), classifier), getattr(made, "shared_parameters", ())
    points = _POINTS if any(path[-1] in swept for path in slots(template)) else 1
    return [(classifier, one.classify) for one in grid(template, points, points**2)]


def _best_classifiers(state: SearchState) -> dict[str, tuple[Calls, Calls]]:
    """The best classifier of every family, open and closed; in the middle of its ranges if it was never evaluated."""
    found: dict[str, tuple[Calls, Calls]] = {}
    for one in state.best():
        if one.candidate is not None:
            pair = (one.candidate.open.classify, one.candidate.closed.classify)
            found.setdefault(one.candidate.closed.family[1], pair)
    for classifier in state.space.classifiers:
        open_, closed = middle(classifier)
        found.setdefault(Template((), (), closed).family[1], (open_, closed))
    return found


def _varied(trials: Sequence[Trial], most: int) -> list[Candidate]:
    """The best model, the best with another classifier, the best with another selection, and so on in turn."""
    left = [one.candidate for one in distinct(trials, len(trials)) if one.candidate is not None]
    found: list[Candidate] = []
    while left and len(found) < most:
        part = len(found) % 2
        seen = Counter(candidate.closed.family[part] for candidate in found)
        found.append(min(left, key=lambda candidate: seen[candidate.closed.family[part]]))
        left.remove(found[-1])
    return found
