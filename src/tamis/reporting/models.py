"""The models that a search tried: their order, which are as good as the best, and error against number of features."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from tamis.compose.recipe import parse
from tamis.mining.mined import Mined
from tamis.mining.template import Template
from tamis.reporting.answer import metric_facts
from tamis.validation.comparison.paired import corrected_t
from tamis.validation.fold_result import FoldResult
from tamis.validation.metrics import Metric
from tamis.validation.plain import plain
from tamis.validation.stability import stability

__all__ = ["family", "models"]

#: Rows of the table at most, rows that are held against the best, families drawn, and points with their stability.
_ROWS, _COMPARED, _FAMILIES, _STABLE = 2000, 200, 12, 60

#: Points of a curve between a number of features and ten times that.
_PER_DECADE = 6

#: Level of the test.
_LEVEL = 0.05

#: Values that differ by rounding alone are equal.
_DECIMALS = 12

#: The results of a recipe by repeat and fold.
Folds: TypeAlias = Mapping[tuple[int, int], FoldResult]

#: The value of a measure and the number of test rows, by repeat, fold and number of training rows. All that a test
#: needs: the columns that hundreds of models use in every fold would fill the memory.
Judged: TypeAlias = Mapping[tuple[int, int, int], tuple[float, int]]


def models(found: Mined, results: Callable[[str], Sequence[FoldResult]]) -> dict[str, Any]:
    """Put all models of a search in order and mark those that cannot be told from the best.

    Models that were judged on the most folds come first, and among those judged on as many the one with the best
    cautious value: the mean less one deviation over the folds, in the direction that is good (Grabczewski and Jankowski
    2006, eq. 25). A model is the same as the best when the corrected resampled t-test does not tell them apart at 5 %.

    Parameters
    ----------
    found : Mined
    results : callable
        Gives what is known of a recipe on the folds within the search: a list of FoldResult, empty where nothing is.

    Returns
    -------
    dict
        The entry "models" of the facts. Beside what the contract names it has "chosen", the number of the row of the
        model that the search chose, by its own rule; None where it is not among the rows.
    """
    metric = found.validation_.metrics[0]

    def folds(recipe: str) -> Folds:
        return _folds(results(recipe))

    rows = _rows(found, metric)
    best = _judged(folds(rows[0]["recipe"]), metric)
    for row in rows[:_COMPARED]:
        enough = row["folds"] >= rows[0]["folds"]
        row["same"] = row is rows[0] or (enough and _is_same(_judged(folds(row["recipe"]), metric), best))
    # A model that uses no column at all is nobody's choice.
    same = [i for i, row in enumerate(rows) if row["same"] and (row["features"] or 0) >= 1]
    recipes = [row["recipe"] for row in rows]
    facts: dict[str, Any] = plain(
        {
            "metric": metric_facts(metric),
            "rows": rows,
            "best": 0,
            "smallest": min(same, key=lambda i: rows[i]["features"], default=None),
            "chosen": recipes.index(found.recipe_) if found.recipe_ in recipes else None,
            "curves": _curves(rows, folds),
        }
    )
    return facts


def family(recipe: str) -> str:
    """What kind of model a recipe is: the parts that select, and the classifier.

    Examples
    --------
    >>> family("standardize | cc(50) | svm(gaussian, C=10)"), family("knn(3)"), family("committee(9, cc(5) | knn)")
    ('cc | svm gaussian', 'knn', 'committee')
    """
    return " | ".join(filter(None, Template.of(parse(recipe)).family))


def _rows(found: Mined, metric: Metric) -> list[dict[str, Any]]:
    """The leaderboard in order."""
    way = 1.0 if metric.better == "high" else -1.0
    rows = []
    for tried in found.leaderboard_.iter_rows(named=True):
        mean, sd = tried[metric.name], tried["sd"]
        rows.append(
            {
                "recipe": tried["recipe"],
                "family": family(tried["recipe"]),
                "stage": tried["stage"],
                "mean": mean,
                "sd": sd,
                "se": tried["se"],
                "cautious": mean - way * (sd or 0.0),
                "features": tried["features"],
                "seconds": tried["seconds"],
                "folds": tried["folds"],
                "same": False,
            }
        )

    def place(row: Mapping[str, Any]) -> tuple[int, float, float]:
        worth = way * row["cautious"]
        size = np.inf if row["features"] is None else row["features"]
        return -row["folds"], np.inf if np.isnan(worth) else -round(worth, _DECIMALS), size

    return sorted(rows, key=place)[:_ROWS]


def _folds(results: Sequence[FoldResult]) -> Folds:
    """Results by fold. A first look may have had fewer rows of a fold: all of its rows count for more."""
    found: dict[tuple[int, int], FoldResult] = {}
    for one in results:
        key = one.repeat, one.fold
        if key not in found or one.n_train > found[key].n_train:
            found[key] = one
    return found


def _judged(folds: Folds, metric: Metric) -> Judged:
    return {
        (*key, one.n_train): (round(one.metrics[metric.name], _DECIMALS), one.rows.size) for key, one in folds.items()
    }


def _is_same(one: Judged, best: Judged) -> bool:
    """Whether the corrected t-test leaves a model and the best together, on the folds on which both were judged."""
    both = [fold for fold in best if fold in one]
    if not both:
        return False
    test_to_train = sum(best[fold][1] for fold in both) / sum(n_train for *_, n_train in both)
    found = corrected_t([one[fold][0] - best[fold][0] for fold in both], test_to_train)
    # Without a p-value, for want of folds, nothing was tested.
    return bool(found.pvalue >= _LEVEL)


def _curves(rows: Sequence[Mapping[str, Any]], folds: Callable[[str], Folds]) -> list[dict[str, Any]]:
    """The first model for about every number of features, by family; the families in the order of their best models.

    Numbers that lie close together are one: else a curve would go up and down with what happened to be tried.
    """
    best: dict[str, dict[int, Mapping[str, Any]]] = {}
    taken: set[tuple[str, int]] = set()
    for row in rows:
        if row["features"] is None or np.isnan(row["mean"]):
            continue
        size = round(row["features"])
        place = row["family"], round(_PER_DECADE * np.log10(max(size, 1)))
        if place not in taken:
            taken.add(place)
            best.setdefault(row["family"], {})[size] = row
    drawn = {
        name: points
        for name, points in best.items()
        if len(points) > 1 or any(row is rows[0] for row in points.values())
    }
    drawn = dict(list(drawn.items())[:_FAMILIES])
    shown = {row["recipe"] for points in drawn.values() for row in points.values()}
    looked_at = [row["recipe"] for row in rows if row["recipe"] in shown][:_STABLE]
    agreement = {recipe: _stability(folds(recipe)) for recipe in looked_at}
    return [
        {
            "family": name,
            "points": [
                {
                    "features": size,
                    "mean": row["mean"],
                    "se": row["se"],
                    "recipe": row["recipe"],
                    "stability": agreement.get(row["recipe"]),
                }
                for size, row in sorted(points.items())
            ],
        }
        for name, points in drawn.items()
    ]


def _stability(folds: Folds) -> float | None:
    sets = [one.selected for one in folds.values() if one.selected is not None]
    if not sets or len(sets) < len(folds):
        return None
    return stability(sets, next(iter(folds.values())).n_features).index
