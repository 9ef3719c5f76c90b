"""The tournament of the NIPS 2003 challenge: every entry against every other, on every data set."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import rankdata

from tamis.base.errors import TamisError
from tamis.base.types import FloatArray
from tamis.challenge.score import EntryScore
from tamis.validation.comparison.mcnemar import Test, mcnemar

#: The rules in the order in which they are applied.
RULES = ("mcnemar", "features", "probes", "draw")

#: Significance level of a difference in errors.
_LEVEL = 0.05

#: Shares of features or of probes decide when they differ by more.
_APART = Fraction(1, 20)

#: BERs closer than this differ by rounding alone: with n+ and n- rows the least difference is 1 / (2 n+ n-).
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Match:
    """The result of two entries against each other on one data set.

    Attributes
    ----------
    result : int
        +1 when the first wins, -1 when the second does, 0 for a draw.
    rule : {"mcnemar", "features", "probes", "draw"}
        The rule that decided.
    """

    result: int
    rule: str


def match(first: EntryScore, second: EntryScore, *, test: Test = "exact") -> Match:
    """Compare two entries on one data set.

    1. If McNemar's test finds their errors different at 5 %, the lower BER wins. The test counts errors and the BER
       weighs them by class, so with uneven classes the winner may have more errors. Equal BERs decide nothing.
    2. Else, if their shares of features used differ by more than 0.05, the lower wins.
    3. Else, if their shares of probes are known and differ by more than 0.05, the lower wins.
    4. Else it is a draw.

    Shares are compared as exact fractions: a difference of exactly 0.05 is not more than 0.05.

    Parameters
    ----------
    first, second : EntryScore
        On the same rows in the same order.
    test : {"exact", "chi2"}, default="exact"
        The form of McNemar's test, see :func:`tamis.validation.comparison.mcnemar.mcnemar`.

    Returns
    -------
    Match

    Examples
    --------
    Neither has errors; one uses 1 feature of 10 and the other all.

    >>> from tamis.challenge.score import score_entry
    >>> few = score_entry([-1, 1], [-1, 1], features=[3], n_features=10)
    >>> match(few, score_entry([-1, 1], [-1, 1], n_features=10))
    Match(result=1, rule='features')
    """
    if first.n_features != second.n_features:
        raise TamisError(f"the entries are about {first.n_features} and {second.n_features} features of one data set")
    difference = mcnemar(first.wrong, second.wrong, test=test)
    if difference.significant(_LEVEL) and abs(first.ber - second.ber) > _ROUNDING:
        return Match(1 if first.ber < second.ber else -1, "mcnemar")
    shares = [("features", Fraction(first.n_used, first.n_features), Fraction(second.n_used, second.n_features))]
    if first.n_probes is not None and second.n_probes is not None:
        shares.append(("probes", Fraction(first.n_probes, first.n_used), Fraction(second.n_probes, second.n_used)))
    for rule, a, b in shares:
        if abs(a - b) > _APART:
            return Match(1 if a < b else -1, rule)
    return Match(0, "draw")


@dataclass(frozen=True, eq=False)
class Standings:
    """The result of a tournament.

    Attributes
    ----------
    entries : tuple of str
    data : tuple of str
        The data sets.
    results : mapping of data set to int array of shape (n_entries, n_entries)
        +1 where the entry of the row beats that of the column, -1 where it loses, 0 for a draw and on the diagonal.
    rules : mapping of data set to str array of shape (n_entries, n_entries)
        The rule that decided each match; "" on the diagonal.
    """

    entries: tuple[str, ...]
    data: tuple[str, ...]
    results: Mapping[str, np.ndarray]
    rules: Mapping[str, np.ndarray]

    @property
    def points(self) -> dict[str, np.ndarray]:
        """Matches won less matches lost, by data set and entry."""
        return {name: result.sum(axis=1) for name, result in self.results.items()}

    @property
    def scores(self) -> dict[str, FloatArray]:
        """Points scaled to 100 for winning every match: 100 * points / (n_entries - 1)."""
        return {name: 100.0 * points / (len(self.entries) - 1) for name, points in self.points.items()}

    @property
    def overall(self) -> FloatArray:
        """The mean of each entry's scores over the data sets."""
        return 100.0 * self._total() / ((len(self.entries) - 1) * len(self.data))

    @property
    def ranks(self) -> np.ndarray:
        """Ranks by the overall score, from 1; equals share the better rank."""
        return rankdata(-self._total(), method="min").astype(np.intp)

    def decided(self) -> dict[str, int]:
        """Number of matches that each rule decided, over all data sets."""
        upper = np.triu_indices(len(self.entries), 1)
        all_rules = np.concatenate([rules[upper] for rules in self.rules.values()])
        return {rule: int((all_rules == rule).sum()) for rule in RULES}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON: the standings from the first rank down, and every match."""
        order = np.argsort(self.ranks, kind="stable")
        return {
            "standings": [
                {
                    "rank": int(self.ranks[i]),
                    "entry": self.entries[i],
                    "score": float(self.overall[i]),
                    "data": {
                        name: {"points": int(self.points[name][i]), "score": float(self.scores[name][i])}
                        for name in self.data
                    },
                }
                for i in order
            ],
            "decided": self.decided(),
            "matches": [
                {
                    "data": name,
                    "first": self.entries[i],
                    "second": self.entries[j],
                    "result": int(self.results[name][i, j]),
                    "rule": str(self.rules[name][i, j]),
                }
                for name in self.data
                for i, j in combinations(range(len(self.entries)), 2)
            ],
        }

    def _total(self) -> np.ndarray:
        # Whole numbers, so that ties do not depend on the order of the data sets.
        return np.sum(list(self.points.values()), axis=0)


def tournament(entries: Mapping[str, Mapping[str, EntryScore]], *, test: Test = "exact") -> Standings:
    """Compare every entry with every other on every data set.

    The winner of a match (see :func:`match`) gets a point, the loser loses one. On each data set the points of N
    entries are scaled, 100 * points / (N - 1); the overall score is the mean over the data sets.

    Parameters
    ----------
    entries : mapping of entry's name to mapping of data set's name to EntryScore
        Every entry must have all the data sets that any of them has.
    test : {"exact", "chi2"}, default="exact"
        The form of McNemar's test.

    Returns
    -------
    Standings

    Examples
    --------
    >>> from tamis.challenge.score import score_entry
    >>> truth = [1] * 10 + [-1] * 10
    >>> good = {"toy": score_entry(truth, truth, n_features=5)}
    >>> bad = {"toy": score_entry(truth, [-1] * 20, n_features=5)}
    >>> found = tournament({"good": good, "also good": good, "bad": bad})
    >>> found.overall.tolist(), found.ranks.tolist()
    ([50.0, 50.0, -100.0], [1, 1, 3])
    """
    if len(entries) < 2:
        raise TamisError(f"a tournament needs at least two entries; got {len(entries)}")
    data = tuple(dict.fromkeys(name for scores in entries.values() for name in scores))
    if not data:
        raise TamisError("entries must hold at least one data set; got none")
    for entry, scores in entries.items():
        if lacking := [name for name in data if name not in scores]:
            raise TamisError(f"entry {entry!r} has no score on {lacking[0]!r}: all entries need the same data sets")
    results, rules = {}, {}
    for name in data:
        results[name] = np.zeros((len(entries), len(entries)), dtype=np.intp)
        rules[name] = np.full(results[name].shape, "", dtype=f"U{max(map(len, RULES))}")
        for (i, first), (j, second) in combinations(enumerate(entries.values()), 2):
            met = match(first[name], second[name], test=test)
            results[name][i, j], results[name][j, i] = met.result, -met.result
            rules[name][i, j] = rules[name][j, i] = met.rule
    return Standings(tuple(entries), data, results, rules)
