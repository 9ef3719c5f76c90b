"""The models that were tried: their order, which are as good as the best, and error against number of features."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

import numpy as np

from tamis.compose.recipe import parse
from tamis.mining.mined import Mined
from tamis.mining.template import Template
from tamis.reporting.answer import metric_facts
from tamis.validation.comparison.paired import corrected_t
from tamis.validation.fold_result import FoldResult
from tamis.validation.json_values import plain
from tamis.validation.metrics import Metric
from tamis.validation.stability import stability

#: Most rows of the table, rows compared with the best, families drawn, and points with their stability.
_ROWS, _COMPARED, _FAMILIES, _STABLE = 2000, 200, 12, 60

#: Points of a curve between a number of features and ten times that.
_PER_DECADE = 6

#: Level of the test.
_LEVEL = 0.05

#: Values that differ by rounding alone are equal.
_DECIMALS = 12

#: The results of a recipe by repeat and fold.
Folds: TypeAlias = Mapping[tuple[int, int], FoldResult]

#: The value of a metric and the number of test rows, by repeat, fold and number of training rows. A test needs no
#: more, and the columns that hundreds of models use in every fold would fill the memory.
Evaluated: TypeAlias = Mapping[tuple[int, int, int], tuple[float, int]]


def models(found: Mined, results: Callable[[str], Sequence[FoldResult]]) -> dict[str, Any]:
    """The entry "models" of the facts: all models of a search in order, and which are as good as the best.

    Models with the most folds come first, among those the best cautious value: the mean less one standard deviation
    over the folds, in the direction that is good (Grabczewski and Jankowski 2006, eq. 25). A model is the same as the
    best when the corrected resampled t-test finds no difference at 5 %. `results` returns the results of a recipe on
    the folds of the search. "n" is the number of models that were evaluated, of which the first 2000 are rows. "chosen"
    is the row of the model that the search chose; None where it has none.
    """
    metric = found.validation_.metrics[0]

    def folds(recipe: str) -> Folds:
        return _folds(results(recipe))

    rows = _rows(found, metric)
    best = _evaluated(folds(rows[0]["recipe"]), metric)
    for row in rows[:_COMPARED]:
        enough = row["folds"] >= rows[0]["folds"]
        row["same"] = row is rows[0] or (enough and _is_same(_evaluated(folds(row["recipe"]), metric), best))
    # A model that uses no column is of no use.
    same = [i for i, row in enumerate(rows) if row["same"] and (row["features"] or 0) >= 1]
    recipes = [row["recipe"] for row in rows]
    facts: dict[str, Any] = plain(
        {
            "metric": metric_facts(metric),
            "rows": rows,
            "n": found.run_.n_tried,
            "best": 0,
            "smallest": min(same, key=lambda i: rows[i]["features"], default=None),
            "chosen": recipes.index(found.recipe_) if found.recipe_ in recipes else None,
            "curves": _curves(rows, folds),
        }
    )
    return facts


def compared_models(metric: Metric, rows: Sequence[Mapping[str, Any]], chosen: int | None = None) -> dict[str, Any]:
    """The same of models that were not searched: their error against their number of features.

    A row has "recipe", "family", "mean", "se", "features" and "stability"; the best comes first. `chosen` is the number
    of a row.
    """
    curves: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        if row["features"] is not None and not np.isnan(row["mean"]):
            curves.setdefault(row["family"], []).append(row)
    shown: list[dict[str, Any]] = [
        {"family": name, "points": sorted(own, key=itemgetter("features"))}
        for name, own in list(curves.items())[:_FAMILIES]
    ]
    found: dict[str, Any] = plain(
        {"metric": metric_facts(metric), "rows": rows, "best": 0, "smallest": None, "chosen": chosen, "curves": shown}
    )
    return found


def family(recipe: str) -> str:
    """The kind of model of a recipe: the parts that select, and the classifier.

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
                **{key: tried[key] for key in ("features", "seconds", "folds")},
                "same": False,
            }
        )

    def place(row: Mapping[str, Any]) -> tuple[int, float, float]:
        value = way * row["cautious"]
        size = np.inf if row["features"] is None else row["features"]
        return -row["folds"], np.inf if np.isnan(value) else -round(value, _DECIMALS), size

    return sorted(rows, key=place)[:_ROWS]


def _folds(results: Sequence[FoldResult]) -> Folds:
    """Results by fold; of several the one with the most training rows, as a first look may have had fewer."""
    found: dict[tuple[int, int], FoldResult] = {}
    for one in results:
        key = one.repeat, one.fold
        if key not in found or one.n_train > found[key].n_train:
            found[key] = one
    return found


def _evaluated(folds: Folds, metric: Metric) -> Evaluated:
    return {
        (*key, one.n_train): (round(one.metrics[metric.name], _DECIMALS), one.rows.size) for key, one in folds.items()
    }


def _is_same(one: Evaluated, best: Evaluated) -> bool:
    """Whether the corrected t-test finds no difference between a model and the best, on the folds that both have."""
    both = [fold for fold in best if fold in one]
    if not both:
        return False
    test_to_train = sum(best[fold][1] for fold in both) / sum(n_train for *_, n_train in both)
    found = corrected_t([one[fold][0] - best[fold][0] for fold in both], test_to_train)
    # The p-value is NaN when there are too few folds.
    return bool(found.pvalue >= _LEVEL)


def _curves(rows: Sequence[Mapping[str, Any]], folds: Callable[[str], Folds]) -> list[dict[str, Any]]:
    """The best model for about every number of features, by family, with the family of the best model first.

    Numbers close together count as one: otherwise a curve would depend on which numbers happened to be tried.
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
    curves = [one for one in best.items() if len(one[1]) > 1 or any(row is rows[0] for row in one[1].values())]
    curves = curves[:_FAMILIES]
    shown = {row["recipe"] for _, points in curves for row in points.values()}
    first = [row["recipe"] for row in rows if row["recipe"] in shown][:_STABLE]
    agreement = {recipe: _stability(folds(recipe)) for recipe in first}

    def point(size: int, row: Mapping[str, Any]) -> dict[str, Any]:
        own = {key: row[key] for key in ("mean", "se", "recipe")}
        return {"features": size, **own, "stability": agreement.get(row["recipe"])}

    return [{"family": name, "points": [point(*one) for one in sorted(points.items())]} for name, points in curves]


def _stability(folds: Folds) -> float | None:
    sets = [one.selected for one in folds.values() if one.selected is not None]
    if not sets or len(sets) < len(folds):
        return None
    return stability(sets, next(iter(folds.values())).n_features).index
