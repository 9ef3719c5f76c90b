"""Two reports side by side: what differs, what both found, and whether the difference is significant."""

from collections.abc import Mapping
from math import erfc, hypot, sqrt
from typing import Any

from tamis.base.errors import TamisError
from tamis.reporting.metric_text import metric_text

#: Level below which a difference is significant.
_LEVEL = 0.05

#: Features in common that are named.
_NAMED = 50


def comparison(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Compare the facts of one run with those of another; both must have a model.

    The two errors are compared as independent estimates, which they are unless the runs share rows; where they do, the
    test is conservative.

    Returns
    -------
    dict
        ``titles``; ``rows``, each with ``what`` and two ``values`` as text; ``verdict``, a sentence; ``p`` (None when
        the metrics differ or an error is not known); ``shared``: the features that both models use, by name;
        ``n_shared``, ``n_either``.

    Examples
    --------
    >>> def run(name, mean):
    ...     metric = {"name": "ber", "title": "BER", "better": "low"}
    ...     honest = {"mean": mean, "se": 0.01, "low": mean - 0.0196, "high": mean + 0.0196}
    ...     answer = {"recipe": "knn", "metric": metric, "honest": honest, "inner_estimate": None, "optimism": None}
    ...     answer |= {"n_used": 2, "n_features": 9}
    ...     return {"title": name, "answer": answer, "features": None, "made": {"seed": 0}}
    >>> comparison(run("first", 0.10), run("second", 0.20))["verdict"]
    'first is better: BER 0.100 against 0.200 (p < 0.001).'
    """
    both = [one, other]
    answers = [facts["answer"] for facts in both if facts.get("answer") is not None]
    if len(answers) < 2:
        raise TamisError("only runs with a model can be compared, not data alone")
    titles = [str(facts["title"]) for facts in both]
    if titles[0] == titles[1]:
        titles = [f"{titles[0]} (1)", f"{titles[1]} (2)"]
    ours, theirs = (_used(facts) for facts in both)
    known = ours is not None and theirs is not None
    shared = [name for name in ours or () if name in set(theirs or ())]
    verdict, p = _verdict(titles, *answers)
    inner = ["-" if x["inner_estimate"] is None else _number(x, x["inner_estimate"]["mean"]) for x in answers]
    used = [f"{'?' if x['n_used'] is None else x['n_used']} of {x['n_features']}" for x in answers]
    rows = {
        "error on unseen rows": [_error(x) for x in answers],
        "inner estimate of the search": inner,
        "features used": used,
        "model": [x["recipe"] for x in answers],
        "seed": [str(facts["made"]["seed"]) for facts in both],
    }
    return {
        "titles": titles,
        "rows": [{"what": what, "values": values} for what, values in rows.items()],
        "verdict": verdict,
        "p": p,
        "shared": shared[:_NAMED] if known else None,
        "n_shared": len(shared) if known else None,
        "n_either": len({*(ours or ()), *(theirs or ())}) if known else None,
    }


def _verdict(titles: list[str], a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[str, float | None]:
    metric = a["metric"]
    if metric["name"] != b["metric"]["name"]:
        return f"{metric['title']} and {b['metric']['title']} cannot be compared.", None
    if any(x["honest"][key] is None for x in (a, b) for key in ("mean", "se")):
        return "They cannot be compared: an error is not known.", None
    gap, spread = a["honest"]["mean"] - b["honest"]["mean"], hypot(a["honest"]["se"], b["honest"]["se"])
    p = erfc(abs(gap) / spread / sqrt(2)) if spread > 0 else float(gap == 0)
    means = [_number(x, x["honest"]["mean"]) for x in (a, b)]
    if p >= _LEVEL:
        return f"No significant difference: {metric['title']} {means[0]} and {means[1]} (p = {p:.2f}).", p
    better = int((gap > 0) == (metric["better"] == "low"))
    level = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    return f"{titles[better]} is better: {metric['title']} {means[better]} against {means[1 - better]} ({level}).", p


def _used(facts: Mapping[str, Any]) -> list[str] | None:
    table = None if facts.get("features") is None else facts["features"]["table"]
    if table is None or None in table["used"]:
        return None
    return [name for name, used in zip(table["name"], table["used"], strict=True) if used]


def _error(answer: Mapping[str, Any]) -> str:
    mean, low, high = (_number(answer, answer["honest"][key]) for key in ("mean", "low", "high"))
    return f"{answer['metric']['title']} {mean} ({low} to {high})"


def _number(answer: Mapping[str, Any], value: float | None) -> str:
    return metric_text(answer["metric"]["name"], value, unknown="?")
