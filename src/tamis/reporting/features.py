"""The features: which of them the model uses, how stable the selection is, and what selectors agree on."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tamis.base.task import Task
from tamis.base.types import FloatArray, Mask
from tamis.compose.quick_scores import scores
from tamis.data.dataset import Dataset
from tamis.mining.substitutes import Substitutes
from tamis.reporting.distributions import distributions
from tamis.reporting.effects import effects
from tamis.reporting.importance import Importance
from tamis.reporting.numeric_distributions import numeric_distributions
from tamis.reporting.numeric_effects import numeric_effects
from tamis.reporting.quality import quality
from tamis.reporting.redundancy import redundancy
from tamis.validation.json_values import plain
from tamis.validation.stability import stability

#: Features that are listed for their score alone, and the most that are listed at all.
_BY_SCORE, _LISTED = 1000, 20_000
#: Combinations of selectors that are counted.
_COMBINATIONS = 30

#: What is shown of single features, by task: their effects, and their distributions.
_SHOWN: dict[Task, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "classify": (effects, distributions),
    "regress": (numeric_effects, numeric_distributions),
}


class Ranking(NamedTuple):
    """The columns of a data set in order.

    `score`, `rank`, `chosen` (share of the folds, NaN without folds) and `used` have a value for each column; `order`
    has the columns that are listed, the first first, and `rest` those that were to be.
    """

    score_name: str
    score: FloatArray
    rank: np.ndarray
    chosen: FloatArray
    used: Mask
    order: np.ndarray
    rest: np.ndarray


def ranking(data: Dataset, *, used: np.ndarray | None, kept: Sequence[np.ndarray] | None) -> Ranking:
    """Sort the features: those of the final model first, then by how often they were selected, then by score."""
    n = data.n_features
    score_name, values = scores(data)
    rank = np.empty(n, dtype=np.intp)
    rank[np.argsort(-values, kind="stable")] = np.arange(1, n + 1)
    chosen = np.full(n, np.nan)
    if kept:
        chosen = np.bincount(np.concatenate([_own(columns, n) for columns in kept]), minlength=n) / len(kept)
    often = np.nan_to_num(chosen)
    in_use = np.zeros(n, dtype=bool)
    if used is not None:
        in_use[_own(used, n)] = True
    candidates = np.flatnonzero(in_use | (often > 0) | (rank <= _BY_SCORE))
    order = candidates[np.lexsort((rank[candidates], -often[candidates], ~in_use[candidates]))]
    return Ranking(score_name, values, rank, chosen, in_use, order[:_LISTED], order[_LISTED:])


def features(
    data: Dataset,
    *,
    used: np.ndarray | None = None,
    kept: Sequence[np.ndarray] | None = None,
    sets: Mapping[str, np.ndarray] | None = None,
    substitutes: Substitutes | None = None,
    importance: Importance | None = None,
    ranked: Ranking | None = None,
) -> dict[str, Any]:
    """The entry "features" of the facts, in the order of :func:`ranking`.

    Columns numbered beyond those of the data are probes that validation added: they count for the stability and are
    not listed.

    Parameters
    ----------
    data : Dataset
    used : int array, optional
        Columns of the final model, where they are known.
    kept : sequence of int arrays, optional
        Columns used in each outer fold.
    sets : mapping of str to int array, optional
        The columns that the best model of each kind of selector uses.
    substitutes : Substitutes, optional
        What could stand in for the columns of the final model.
    importance : Importance, optional
        How much worse predictions become when a column is permuted.
    ranked : Ranking, optional
        That of `used` and `kept`, where it is known already.

    Returns
    -------
    dict
        ``n``, ``table`` (its columns as lists, at most 20000 features long), ``left_out`` (selected features that are
        not in the table), ``score_name`` (empty when there is no target to score by), ``stability``, ``selectors``,
        ``redundancy``, ``substitutes``, ``importance``, ``effects`` and ``distributions`` (of the first features of the
        table), ``quality``.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0]])
    >>> data = Dataset(X, np.array(["a", "a", "b", "b"]), np.array(["u", "v"]))
    >>> found = features(data, used=np.array([1]), kept=[np.array([1]), np.array([0, 1])])
    >>> found["table"]["name"], found["table"]["chosen"], found["table"]["score"]
    (['v', 'u'], [1.0, 0.5], [0.0, 1.0])
    """
    n, probes = data.n_features, data.probes
    ranked = ranking(data, used=used, kept=kept) if ranked is None else ranked
    order, rest = ranked.order, ranked.rest
    effects_of, distributions_of = _SHOWN[data.task]
    return {
        "n": n,
        "table": {
            "name": [str(name) for name in data.feature_names[order].tolist()],
            "rank": plain(ranked.rank[order]),
            "score": [_short(value) for value in ranked.score[order].tolist()],
            "chosen": plain(ranked.chosen[order].round(4)),
            "used": [None] * order.size if used is None else plain(ranked.used[order]),
            "role": None if probes is None else ["probe" if probe else "real" for probe in probes[order].tolist()],
        },
        "left_out": int((ranked.used[rest] | (ranked.chosen[rest] > 0)).sum()),
        "score_name": ranked.score_name,
        "stability": None if not kept else _stability(kept, n),
        "selectors": _agreement(sets or {}),
        "redundancy": redundancy(data, order),
        "substitutes": None if substitutes is None else _substitutes(substitutes, data, order),
        "permutation_importance": None if importance is None else _importance(importance, order),
        "effects": _effects(effects_of(data, order)),
        "distributions": distributions_of(data, order),
        "quality": quality(data, order),
    }


def _own(columns: np.ndarray, n: int) -> np.ndarray:
    columns = np.asarray(columns, dtype=np.intp)
    return columns[columns < n]


def _stability(kept: Sequence[np.ndarray], n: int) -> dict[str, float] | None:
    sets = [np.asarray(columns, dtype=np.intp) for columns in kept]
    found = stability(sets, max(n, *(int(columns.max(initial=-1)) + 1 for columns in sets)))
    if np.isnan(found.index):
        return None
    low, high = found.interval
    return {"index": found.index, "low": low, "high": high}


def _agreement(sets: Mapping[str, np.ndarray]) -> dict[str, Any] | None:
    """How many features each combination of selectors selected, and no other selector."""
    if len(sets) < 2:
        return None
    chosen = [np.unique(np.asarray(columns, dtype=np.intp)) for columns in sets.values()]
    every = np.unique(np.concatenate(chosen))
    by = np.column_stack([np.isin(every, columns) for columns in chosen])
    combinations, counts = np.unique(by, axis=0, return_counts=True)
    found = [
        {"members": plain(np.flatnonzero(row)), "size": int(count)}
        for row, count in zip(combinations, counts, strict=True)
    ]
    found.sort(key=lambda one: (-one["size"], one["members"]))
    return {
        "names": [str(name) for name in sets],
        "sets": found[:_COMBINATIONS],
        "sizes": [int(columns.size) for columns in chosen],
    }


def _substitutes(found: Substitutes, data: Dataset, order: np.ndarray) -> dict[str, Any]:
    """What could stand in for features, which are given by their place in the table.

    The redundancy of two columns is their absolute correlation ("r"), or their symmetrical uncertainty ("U") if one is
    nominal.
    """
    places = {column: place for place, column in enumerate(order.tolist())}
    names, nominal = data.feature_names, data.nominal
    examined = [
        {
            "place": places[one.column],
            "name": str(names[one.column]),
            "needed": one.needed,
            "loss": _short(one.loss),
            "se": _short(one.se),
            "by": [
                {
                    "name": str(names[other.column]),
                    "redundancy": other.redundancy,
                    "measure": "U" if nominal[[one.column, other.column]].any() else "r",
                    "difference": _short(other.difference),
                    "se": _short(other.se),
                }
                for other in one.substitutes
            ],
        }
        for one in found.examined
        if one.column in places
    ]
    return {"examined": examined, "note": found.note}


def _importance(found: Importance, order: np.ndarray) -> dict[str, Any]:
    """The loss when a feature is permuted, each given by its place in the table."""
    places = {column: place for place, column in enumerate(order.tolist())}
    known = zip(found.columns.tolist(), found.mean.tolist(), found.sd.tolist(), strict=True)
    loss = [{"place": places[j], "mean": _short(mean), "sd": _short(sd)} for j, mean, sd in known if j in places]
    return {"recipe": found.recipe, "loss": loss, "folds": found.folds, "note": found.note}


def _effects(found: list[dict[str, Any] | None] | None) -> list[dict[str, Any] | None] | None:
    if found is None:
        return None
    return [one and {**one, **{key: _short(one[key]) for key in ("size", "low", "high")}} for one in found]


def _short(value: float) -> float | None:
    """Six digits keep a table of thousands of features small."""
    return float(f"{value:.6g}") if np.isfinite(value) else None
