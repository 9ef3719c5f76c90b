"""The search space: forms of recipes from the catalog and its ranges, narrowed by the data and edited by the user.

A recipe of the search has a head (scaling), a pick (the selection of columns) and a tail (what ends in the
classifier). The space holds what each of the three may be, with open arguments; the stages combine them. Every score,
selector and classifier of the catalog takes part unless the data rules it out, so that a new part is searched without
being named here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from tamis.base.errors import TamisError
from tamis.base.search_range import Choice, Range, choice, geom
from tamis.compose.catalog import Entry, catalog, entry
from tamis.compose.chain import Call, Chain, as_text
from tamis.compose.parser import parse
from tamis.compose.recipe import completed
from tamis.mining.data_traits import Facts
from tamis.mining.edits import Edits
from tamis.mining.template import ROW_SCALE, Form

Calls = tuple[Call, ...]

#: Scores that rank columns as another one does, or as it does but worse.
_TWINS = {"f": "cc", "t": "cc", "relief": "relieff"}

#: Scores that rank columns nearly as ``cc`` does between two classes of about the same size.
_ALIKE = ("fisher", "s2n")

#: Parts that take long on large data, and up to which rows, columns, values (rows times columns) or differences of
#: values (of all pairs of rows) they are affordable. Those limited by values go over all columns many times.
_AFFORDABLE: dict[str, dict[str, int]] = {
    "sfs": {"columns": 60},
    "sffs": {"columns": 60},
    "pta": {"columns": 60},
    "sbs": {"columns": 40},
    "wrapper": {"columns": 200},
    "importance": {"columns": 200, "values": 3_000_000},
    "contrasts": {"values": 3_000_000},
    "esnb": {"values": 3_000_000},
    "stability_selection": {"values": 10_000_000},
    "with_probes": {"values": 10_000_000},
    "relieff": {"differences": 5_000_000_000},
    "convex_net": {"rows": 2_000},
}

#: Criteria of mRMR that take neither text nor missing values.
_OF_NUMBERS = ("fcd", "fcq")

#: Parts that are made of others: what they are made of here. {k} stands for the range of the number of columns.
_COMPOSED = {
    "vote": ("vote(ssv({k}), ssv_tree({k}), cc({k}), at_least={{1, 2}})",),
    "repeat": ("repeat(ssv_tree({k}), times={{2, 3}})",),
    "from_model": ("from_model(extra_trees, k={k})", "from_model(forest(balance=true), k={k})"),
    "importance": ("importance(extra_trees(50), k={k}, values=10, rows=100, step=0.5)",),
    "with_probes": ("with_probes(cc, fdr={{0.05, 0.1, 0.2, 0.4}})", "with_probes(ssv, fdr={{0.05, 0.1, 0.2, 0.4}})"),
    "stability_selection": ("stability_selection(cc({k}), times=25, threshold={{0.6, 0.75, 0.9}})",),
}

#: Classifiers that no search tries: one that is made to answer faster, not better, and one that esnb enhances.
_SPARED = ("fr_svm", "snb")

#: Classifiers that are made of others; the last stage builds them.
COMMITTEES = ("committee", "blend")

#: Classifiers that take longest, and do not care how columns are scaled; they come last, where time may run out.
_TREES = ("tree", "forest", "extra_trees", "boost", "mdl_histogram")

#: Other classifiers that do not care how columns are scaled.
_BY_COLUMNS = ("nb", "esnb")

#: Columns above which they are tried behind a selection alone.
_MANY_COLUMNS = 2_000


@dataclass(frozen=True)
class Space:
    """What the search may combine.

    Attributes
    ----------
    heads, picks, tails : tuples of tuples of Call
        Open calls; the empty pick keeps all columns.
    forms : tuple of Form
        The only forms there are, when the user gave some; else empty.
    committees : tuple of str
        The names of the committees that may be built.
    facts : Facts
    """

    heads: tuple[Calls, ...]
    picks: tuple[Calls, ...]
    tails: tuple[Calls, ...]
    forms: tuple[Form, ...]
    committees: tuple[str, ...]
    facts: Facts

    @property
    def bases(self) -> list[tuple[Calls, Calls]]:
        """Heads and the tails that can be tried on all columns behind them."""
        pairs = [(head, tail) for head, tail in product(self.heads, self.tails) if not _in_vain(head, tail)]
        if self.facts.n_features <= _MANY_COLUMNS:
            return pairs
        return [(head, tail) for head, tail in pairs if tail[-1].name not in _TREES] or pairs

    def text(self, form: Form) -> str:
        """The recipe of a closed form, completed by what the data needs."""
        return str(completed(form.chain, nominal=self.facts.nominal, missing=self.facts.missing))


def space(facts: Facts, edits: Edits | None = None) -> Space:
    """The space for some data.

    Parameters
    ----------
    facts : Facts
    edits : Edits, optional
    """
    edits = edits or Edits()
    maker = _Maker(facts, edits)
    committees = tuple(name for name in COMMITTEES if name not in edits.without)
    if edits.only:
        forms = tuple(form for text in edits.only for form in maker.forms(text))
        return Space((), (), (), forms, committees, facts)
    heads, picks, tails = tuple(maker.heads()), tuple(maker.picks()), tuple(maker.tails())
    if not tails:
        raise TamisError("without these parts no classifier is left to try")
    return Space(heads, picks, tails, (), committees, facts)


class _Maker:
    """Opens parts of the catalog for some data."""

    def __init__(self, facts: Facts, edits: Edits) -> None:
        self._facts = facts
        self._edits = edits

    def heads(self) -> Iterator[Calls]:
        texts = ["", "normalize", "standardize"] if self._facts.sparse else ["standardize", ""]
        if self._facts.non_negative and not self._facts.sparse:
            texts.append("normalize")
        for text in texts:
            yield from self._kept(text)

    def picks(self) -> Iterator[Calls]:
        if self._facts.n_features < 3:
            return
        # What takes long comes last, where time may run out.
        for part in sorted(catalog().values(), key=lambda part: "values" in _AFFORDABLE.get(part.name, ())):
            if part.kind in ("score", "selector") and self._suits(part):
                for text in self._made_of(part.name):
                    yield from self._kept(text)

    def tails(self) -> Iterator[Calls]:
        parts = [p for p in catalog().values() if p.kind == "classifier" and p.name not in COMMITTEES]
        for part in sorted(parts, key=lambda part: part.name in _TREES):
            if self._suits(part):
                yield from self._kept(part.name)

    def forms(self, text: str) -> Iterator[Form]:
        """The forms of a recipe that the user wants tried, what it leaves open opened."""
        for chain in _single_parts(parse(text)):
            if entry(chain.parts[-1].name).kind != "classifier":  # type: ignore[union-attr]
                raise TamisError(f"what is to be tried must end in a classifier; got {text!r}")
            for calls in self._opened(chain):
                yield Form.of(Chain(calls))

    def _made_of(self, name: str) -> tuple[str, ...]:
        domain = self._narrowed(name, "k", geom(1, 10_000))
        return tuple(text.format(k=as_text(domain)) for text in _COMPOSED.get(name, (name,)))

    def _suits(self, part: Entry) -> bool:
        """Whether the data rules a part out."""
        facts = self._facts
        if part.name in _TWINS or part.name in _SPARED or not self._affordable(part.name):
            return False
        if part.name in _ALIKE and facts.n_classes == 2 and not facts.uneven:
            return False
        if part.name == "ig":
            return facts.sparse
        if part.name in ("chi2", "count", "variance"):
            return facts.counts and facts.sparse
        if part.name == "rfe":
            return facts.n_rows <= facts.n_features
        if part.name in ("lda", "boost"):
            return not facts.sparse
        return True

    def _affordable(self, name: str) -> bool:
        rows, columns = self._facts.n_rows, self._facts.n_features
        sizes = {"rows": rows, "columns": columns, "values": rows * columns, "differences": rows**2 * columns}
        return all(sizes[what] <= most for what, most in _AFFORDABLE.get(name, {}).items())

    def _kept(self, text: str) -> Iterator[Calls]:
        """The open calls of a chain, unless it has a part that the user does not want."""
        if not text:
            yield ()
            return
        chain = parse(text)
        if not _names(chain) & set(self._edits.without):
            yield from self._opened(chain)

    def _opened(self, chain: Chain) -> Iterator[Calls]:
        """The chain with every argument open that the catalog has a range for and that is not written."""
        options = [list(self._open_call(call)) for call in chain.parts if isinstance(call, Call)]
        for calls in product(*options):
            last = calls[-1]
            scaled = any(call.name == ROW_SCALE for call in calls)
            if entry(last.name).unit_rows and not scaled:
                calls = (*calls[:-1], Call(ROW_SCALE), last)
            yield tuple(calls)

    def _open_call(self, call: Call) -> Iterator[Call]:
        part = entry(call.name)
        given = dict(call.arguments)
        cut = part.score is not None and any(name in given for name in ("k", "fraction", "threshold", "fdr"))
        domains: dict[str, Any] = {
            name: self._narrowed(call.name, name, self._edits.ranges.get((call.name, name), domain))
            for name, domain in {**part.search, **self._own_ranges(call.name)}.items()
            if name not in given and not (cut and name == "k") and self._opens(part, name, domain)
        }
        if not self._facts.uneven:
            domains.pop("balance", None)
        # What decides whether another parameter matters is settled first: each value is a form of its own.
        deciding = {other for name, (other, _) in part.only.items() if name in domains and other in domains}
        choices = [[(name, value) for value in domains[name].values()] for name in sorted(deciding)]
        for settled in product(*choices):
            fixed = {**given, **dict(settled)}
            open_ = {
                name: domain
                for name, domain in domains.items()
                if name not in fixed and (name not in part.only or _matters(part, name, fixed))
            }
            bound = {**open_, **fixed}
            yield Call(call.name, tuple((name, bound[name]) for name in part.parameters if name in bound))

    def _opens(self, part: Entry, name: str, domain: Choice | Range) -> bool:
        """Of a transform only ranges are opened, unless the user asked for more: its choices are other transforms."""
        return part.kind != "transform" or isinstance(domain, Range) or (part.name, name) in self._edits.ranges

    def _own_ranges(self, name: str) -> dict[str, Choice | Range]:
        return {parameter: domain for (part, parameter), domain in self._edits.ranges.items() if part == name}

    def _narrowed(self, name: str, parameter: str, domain: Choice | Range) -> Choice | Range:
        """A range within what the data allows."""
        if (name, parameter) == ("mrmr", "criterion") and (self._facts.nominal or self._facts.missing):
            return choice(*(value for value in domain.values() if value not in _OF_NUMBERS))
        if parameter != "k" or not isinstance(domain, Range):
            return domain
        rows = entry(name).kind == "classifier"
        most = self._facts.n_rows // 3 if rows else int(0.75 * self._facts.n_features)
        low = domain.low if rows or domain.low > 1 else 2
        high = max(1, min(domain.high, most))
        return Range(domain.spacing, min(low, high), high, domain.count)


def _in_vain(head: Calls, tail: Calls) -> bool:
    """Whether a head scales columns for a classifier that does not care."""
    return tail[-1].name in (*_TREES, *_BY_COLUMNS) and [call.name for call in head] == ["standardize"]


def _matters(part: Entry, name: str, fixed: dict[str, Any]) -> bool:
    other, value = part.only[name]
    return bool(fixed.get(other, part.parameters[other].default) == value)


def _single_parts(chain: Chain) -> Iterator[Chain]:
    """The chains that sets of parts stand for; open arguments stay open."""
    options: list[list[Any]] = [
        [inner for option in part.options for inner in _single_parts(option)] if isinstance(part, Choice) else [part]
        for part in chain.parts
    ]
    for parts in product(*options):
        yield Chain(tuple(call for part in parts for call in (part.parts if isinstance(part, Chain) else (part,))))


def _names(value: Any) -> set[str]:
    """The names of all parts in a recipe, those of recipes within it too."""
    if isinstance(value, Chain):
        return set().union(*(_names(part) for part in value.parts))
    if isinstance(value, Call):
        return {value.name}.union(*(_names(argument) for _, argument in value.arguments))
    if isinstance(value, Choice):
        return set().union(*(_names(option) for option in value.options))
    return set().union(*(_names(inner) for inner in value)) if isinstance(value, tuple) else set()
