"""The search space: templates of recipes from the catalog and its ranges, narrowed by the data and edited by the user.

A recipe of the search prepares the columns (scaling), selects among them and classifies, or predicts numbers: what is
said of classifiers here holds for regressors where the target holds numbers. The space holds what each of
the three may be, with open arguments; the stages combine them. Every score, selector and classifier of the catalog is
searched unless the data rules it out, so that no part is named here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from typing import Any

from tamis.base.errors import TamisError
from tamis.base.part import Part, Role
from tamis.base.search_range import Choice, Range, choice, geom
from tamis.compose.catalog import Entry, entries, entry, part_for
from tamis.compose.chain import Call, Chain, as_text
from tamis.compose.parser import parse
from tamis.compose.recipe import behind, completed
from tamis.mining.data_traits import DataTraits
from tamis.mining.edits import Edits
from tamis.mining.template import Template

Calls = tuple[Call, ...]

#: Roles of the classifiers that are made of others; the last stage builds them.
_ENSEMBLES: tuple[Role, ...] = ("fold_ensemble", "weighted_ensemble")

#: Columns above which slow classifiers are tried behind a selection only.
_MANY_COLUMNS = 2_000

#: Columns that a selection is taken to leave, and the largest share of the budget that one fit of a part may take which
#: says on its card how long it takes. A search without a limit of time has the seconds of a short one here.
_FEW_COLUMNS, _ONE_FIT, _SHORT = 20, 1 / 40, 120.0


@dataclass(frozen=True)
class Space:
    """What the search may combine.

    Attributes
    ----------
    preparations, selections, classifiers : tuples of tuples of Call
        Open calls.
    templates : tuple of Template
        The only templates to try, if the user gave some.
    committees : tuple of str
        The names of the committees that may be built.
    traits : DataTraits
    first : tuple of str, or None
        Recipes to try first, instead of those of the portfolio.
    seconds : float, or None
        The time of the search, if there is a limit.
    """

    preparations: tuple[Calls, ...]
    selections: tuple[Calls, ...]
    classifiers: tuple[Calls, ...]
    templates: tuple[Template, ...]
    committees: tuple[str, ...]
    traits: DataTraits
    first: tuple[str, ...] | None = None
    seconds: float | None = None

    @property
    def bases(self) -> list[tuple[Calls, Calls]]:
        """Preparations, each with the classifiers to try on all columns behind it."""
        pairs = [pair for pair in product(self.preparations, self.classifiers) if not self._in_vain(*pair)]
        return [pair for pair in pairs if self._serves_all_columns(self.entry(pair[1][-1].name).card)] or pairs

    def entry(self, name: str) -> Entry:
        """The part that a word stands for on this data."""
        return entry(name).serving(self.traits.task)

    @property
    def parts(self) -> set[str]:
        """The names of all parts that its recipes may have."""
        chains = tuple(template.chain for template in self.templates)
        return _names((self.preparations, self.selections, self.classifiers, chains)).union(
            self.committees,
            [_name_for("vocabulary")] if self.traits.text else [],
            [_name_for("imputation")] if self.traits.missing else [],
            [_name_for("encoding")] if self.traits.nominal else [],
            _names(parse(self.traits.prefilter)) if self.traits.prefilter else [],
        )

    def text(self, template: Template) -> str:
        """The recipe of a closed template, completed by what the data needs."""
        traits = self.traits
        needs = completed(
            template.chain, nominal=traits.nominal, missing=traits.missing, text=traits.text, task=traits.task
        )
        return str(behind(traits.prefilter, needs) if traits.prefilter else needs)

    def _serves_all_columns(self, card: Part) -> bool:
        """Whether a classifier is quick enough to be tried on all columns."""
        few = self.traits.n_features <= _MANY_COLUMNS
        return (few or not card.slow) and _affordable(card, self.traits, self.traits.n_features, self.seconds)

    def _in_vain(self, preparation: Calls, classifier: Calls) -> bool:
        """Whether columns are scaled for a classifier to which their scale makes no difference."""
        roles = [entry(call.name).card.role for call in preparation]
        return self.entry(classifier[-1].name).card.scale_invariant and roles == ["feature_scaling"]


def space(traits: DataTraits, edits: Edits | None = None, seconds: float | None = None) -> Space:
    """The space for data with some traits and a limit of time, changed by the user's edits."""
    edits = edits or Edits()
    maker = _Maker(traits, edits, seconds)
    ensembles = [part_for(role).serving(traits.task) for role in _ENSEMBLES]
    committees = tuple(one.name for one in ensembles if one.name not in edits.without and maker.suits(one.card))
    if edits.only:
        templates = tuple(template for text in edits.only for template in maker.templates(text))
        return Space((), (), (), templates, committees, traits)
    classifiers = tuple(maker.classifiers())
    if not classifiers:
        raise TamisError(f"without these parts no {maker.last} is left to try")
    preparations, selections = tuple(maker.preparations()), tuple(maker.selections())
    return Space(preparations, selections, classifiers, (), committees, traits, edits.first, seconds)


def _affordable(card: Part, traits: DataTraits, columns: int, seconds: float | None) -> bool:
    """Whether a fit on this number of columns takes a small share of the time."""
    if card.fit_seconds is None:
        return True
    return card.fit_seconds(traits.n_rows, columns) <= _ONE_FIT * (_SHORT if seconds is None else seconds)


class _Maker:
    """Opens parts of the catalog for some data."""

    def __init__(self, traits: DataTraits, edits: Edits, seconds: float | None) -> None:
        self._traits = traits
        self._edits = edits
        self._seconds = seconds
        #: The kind of part that ends a recipe.
        self.last = "classifier" if traits.task == "classify" else "regressor"

    def preparations(self) -> Iterator[Calls]:
        by_columns, by_rows = _name_for("feature_scaling"), _name_for("sample_scaling")
        texts = ["", by_rows, by_columns] if self._traits.sparse else [by_columns, ""]
        if self._traits.non_negative and not self._traits.sparse:
            texts.append(by_rows)
        if self._traits.text:
            weighted = _name_for("word_weighting")
            texts = [weighted, f"{weighted}(true)", "", by_rows]
        for text in texts:
            yield from self._allowed(text)

    def selections(self) -> Iterator[Calls]:
        if self._traits.n_features < 3:
            return
        for part in self._suitable("score", "selector"):
            domain = self._narrowed(part.name, "k", geom(1, 10_000))
            texts = [text.replace("{k}", as_text(domain)) for text in part.card.templates]
            for text in [one for one in texts if self._serves(one)] or [part.name]:
                yield from self._allowed(text)

    def classifiers(self) -> Iterator[Calls]:
        for part in self._suitable(self.last):
            if part.card.role not in _ENSEMBLES:
                yield from self._allowed(part.name)

    def templates(self, text: str) -> Iterator[Template]:
        """The templates of a recipe that the user wants tried; arguments that it does not set are open."""
        for chain in _single_parts(parse(text)):
            if self._entry(chain.parts[-1].name).kind != self.last:  # type: ignore[union-attr]
                raise TamisError(f"a template to try must end in a {self.last}; got {text!r}")
            for calls in self._opened(chain):
                yield Template.of(Chain(calls))

    def _suitable(self, *kinds: str) -> list[Entry]:
        """The parts of some kinds that the data does not rule out; slow ones last, because time may run out."""
        serving = [part for part in entries() if part.kind in kinds and self._traits.task in part.tasks]
        parts = [part for part in serving if self.suits(part.card)]
        return sorted(parts, key=lambda part: part.card.slow)

    def _entry(self, name: str) -> Entry:
        return entry(name).serving(self._traits.task)

    def _serves(self, text: str) -> bool:
        """Whether every part of a recipe, with its arguments, serves the task."""
        try:
            next(parse(text).variants()).build(self._traits.task)
        except TamisError:
            return False
        return True

    def suits(self, card: Part) -> bool:
        """Whether the data, the time and what is installed do not rule a part out."""
        traits = self._traits
        if not card.searched or (card.ranks_like and traits.have(card.ranks_like_on)):
            return False
        if not _affordable(card, traits, min(_FEW_COLUMNS, traits.n_features), self._seconds):
            return False
        if any(find_spec(package) is None for package in card.requires):
            return False
        return traits.have(card.suits) and card.limits.allow(traits.n_rows, traits.n_features, traits.largest)

    def _allowed(self, text: str) -> Iterator[Calls]:
        """The open calls of a chain, unless it has a part that the user does not want."""
        if not text:
            yield ()
            return
        chain = parse(text)
        if not _names(chain) & set(self._edits.without):
            yield from self._opened(chain)

    def _opened(self, chain: Chain) -> Iterator[Calls]:
        """The chain with every argument open that has a search range and is not set."""
        options = [list(self._open_call(call)) for call in chain.parts if isinstance(call, Call)]
        for calls in product(*options):
            last = calls[-1]
            scale = _name_for("unit_rows")
            if self._entry(last.name).card.unit_rows and all(call.name != scale for call in calls):
                calls = (*calls[:-1], Call(scale), last)
            yield tuple(calls)

    def _open_call(self, call: Call) -> Iterator[Call]:
        part = self._entry(call.name)
        given = dict(call.arguments)
        cut = part.score is not None and any(name in given for name in ("k", "fraction", "threshold", "fdr"))
        own = {parameter: domain for (name, parameter), domain in self._edits.ranges.items() if name == call.name}
        domains: dict[str, Any] = {
            name: self._narrowed(call.name, name, domain)
            for name, domain in {**part.card.search, **own}.items()
            if name not in given and not (cut and name == "k") and self._opens(part, name, domain)
        }
        if not self._traits.uneven:
            domains.pop("class_weight", None)
        if self._traits.n_classes == 2:
            domains.pop("multiclass", None)
        # A parameter that decides whether another one matters is set first: each value gives its own template.
        deciding = {other for name, (other, _) in part.card.only.items() if name in domains and other in domains}
        choices = [[(name, value) for value in domains[name].values()] for name in sorted(deciding)]
        for settled in product(*choices):
            fixed = {**given, **dict(settled)}
            open_ = {
                name: domain for name, domain in domains.items() if name not in fixed and part.matters(name, fixed)
            }
            bound = {**open_, **fixed}
            yield Call(call.name, tuple((name, bound[name]) for name in part.parameters if name in bound))

    def _opens(self, part: Entry, name: str, domain: Choice | Range) -> bool:
        """Of a transform only ranges are open, unless the user gave others: its choices are other transforms."""
        return part.kind != "transform" or isinstance(domain, Range) or (part.name, name) in self._edits.ranges

    def _narrowed(self, name: str, parameter: str, domain: Choice | Range) -> Choice | Range:
        """A range within what the data allows."""
        part = self._entry(name)
        refused = part.card.numbers_only.get(parameter, ()) if self._traits.nominal or self._traits.missing else ()
        if self._traits.sparse:
            refused = (*refused, *part.card.dense_only.get(parameter, ()))
        if not (self._traits.sparse and self._traits.counts):
            refused = (*refused, *part.card.counts_only.get(parameter, ()))
        if refused:
            return choice(*(value for value in domain.values() if value not in refused))
        rows = part.kind == self.last
        if parameter not in ("k", "n_neighbors" if rows else "n_components") or not isinstance(domain, Range):
            return domain
        traits = self._traits
        most = traits.n_rows // max(3, traits.n_classes) if rows else int(0.75 * traits.n_features)
        low = domain.low if rows or domain.low > 1 else 2
        high = max(1, min(domain.high, most))
        return Range(domain.spacing, min(low, high), high, domain.count)


def _name_for(role: Role) -> str:
    return part_for(role).name


def _single_parts(chain: Chain) -> Iterator[Chain]:
    """The chains that sets of parts stand for, with their open arguments."""
    options: list[list[Any]] = [
        [inner for option in part.options for inner in _single_parts(option)] if isinstance(part, Choice) else [part]
        for part in chain.parts
    ]
    for parts in product(*options):
        yield Chain(tuple(call for part in parts for call in (part.parts if isinstance(part, Chain) else (part,))))


def _names(value: Any) -> set[str]:
    """The names of all parts in a recipe, recipes within it included."""
    if isinstance(value, Chain):
        return set().union(*(_names(part) for part in value.parts))
    if isinstance(value, Call):
        return {value.name}.union(*(_names(argument) for _, argument in value.arguments))
    if isinstance(value, Choice):
        return set().union(*(_names(option) for option in value.options))
    return set().union(*(_names(inner) for inner in value)) if isinstance(value, tuple) else set()
