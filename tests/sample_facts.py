"""Made-up facts of a run, every panel filled, to draw reports without making a run first."""

import json
from typing import Any

import numpy as np

from tamis.trees.figure import figure
from tamis.trees.rules import Wording, rules
from tamis.trees.tree import Tree

#: Names that a view may take for markup, a script, a template, a formula or a key of its own.
HOSTILE = (
    "<script>window.__hit=1</script>",
    '"><img src=x onerror=window.__hit=1>',
    "</script><script>window.__hit=1</script>",
    "<!--",
    "long " + "name" * 74 + "!",
    "\u0627\u0644\u0636\u063a\u0637 \u0627\u0644\u0634\u0631\u064a\u0627\u0646\u064a",
    "\u05dc\u05d7\u05e5 \u05d3\u05dd < 5 > 3",
    "\U0001f9ec gene \U0001f469\u200d\U0001f52c",
    "two\nlines\r\nor\tthree",
    "{{7*7}}",
    "${7*7}",
    "a | b | c",
    "`code` ``` fence",
    "$x^2$ \\frac{1}{0} $",
    "[link](javascript:window.__hit=1)",
    "__proto__",
    "constructor",
    "![img](http://127.0.0.1/hit.png) <http://127.0.0.1/hit>",
    "&lt;b&gt; &amp; &#36; \\u003c",
    "=1+1",
    "\u202eturned\u202c \u2028 \x07",
    "*bold* _under_ ~~gone~~ # head",
    "%{x}<br>%{text}<extra></extra>",
    "'; DROP TABLE features; --",
    "",
)

SELECTORS = ("ssv", "cc", "relief", "rfe", "forest")
CLASSIFIERS = {
    "svm(gaussian)": "a support vector machine with Gaussian kernel",
    "svm(linear)": "a linear support vector machine",
    "knn(5)": "the 5 nearest neighbours",
}
STAGES = ("base", "select", "classify", "tune", "substitute", "narrow", "confirm", "ensemble")
SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000)
METRIC = {"name": "ber", "title": "BER", "better": "low"}
FOLDS = 10
#: Standard error of the honest estimate.
SE = 0.0123


def sample(
    n_features: int = 500,
    n_models: int = 60,
    n_classes: int = 2,
    hostile: bool = False,
    seed: int = 0,
    kind: str = "mine",
) -> dict[str, Any]:
    """Facts of a run that was never made; names, sizes and errors agree with each other.

    Parameters
    ----------
    n_features : int
        Columns of the data.
    n_models : int
        Rows of the leaderboard.
    n_classes : int
        With more than two there is a ROC curve for each, and no threshold.
    hostile : bool
        Whether names are such that a careless view would run or break on them.
    seed : int
    kind : {"mine", "validate", "data"}
    """
    rng = np.random.default_rng(seed)
    classes = _classes(n_classes, hostile)
    names = _names(n_features, hostile)
    title = 'blood <b>"tests"</b> & {{7*7}} \U0001f9ea | `2`' if hostile else "blood tests"
    rows = _rows(rng, classes, hostile)
    confusion = np.array(rows["confusion"])
    ber = float(1 - np.mean(np.diag(confusion) / confusion.sum(axis=1)))
    models = _models(rng, n_models, n_features, 0.8 * ber)
    best = models["rows"][models["best"]]
    used = rng.permutation(min(n_features, 60))[: round(best["features"])]
    null = rng.normal(1 - 1 / n_classes, 0.035, 200).clip(0, 1)
    facts = {
        "version": 2,
        "kind": kind,
        "title": title,
        "made": _made(kind, hostile),
        "data": _data(title, rows, classes, n_features),
        "answer": _answer(models, best, ber, n_features, hostile, inner_estimate=kind == "mine"),
        "models": models,
        "features": _features(rng, names, used, classes, hostile),
        "rows": rows,
        "honesty": {
            "leak": {
                "nested": {"mean": ber, "se": SE},
                "leaky": {"mean": ber / 2, "se": 0.8 * SE},
                "optimism": ber / 2,
            },
            "permutation": {"value": ber, "p": 1 / 201, "null": null.tolist()},
            "search": {"inner_estimate": best["mean"], "honest": ber, "optimism": ber - best["mean"]},
            "warnings": _warnings(names, classes),
        },
        "story": _story(rng, models, names, classes, n_classes),
    }
    if kind == "validate":
        facts["models"] = facts["story"] = None
        facts["honesty"]["search"] = None
    if kind == "data":
        facts["answer"] = facts["models"] = facts["story"] = None
        facts["honesty"] |= {"leak": None, "permutation": None, "search": None}
        facts["rows"] |= {"confusion": None, "roc": None, "threshold": None, "calibration": None}
        facts["rows"] |= {"rates": None, "precision_recall": None, "heat": None, "pairs": None}
        _forget_folds(facts["features"])
    return json.loads(json.dumps(facts, allow_nan=False))


def _forget_folds(features: dict[str, Any]) -> None:
    """Data alone has scores, and nothing that was chosen."""
    table = features["table"]
    table["chosen"], table["used"] = [None] * len(table["name"]), [False] * len(table["name"])
    features["score_name"], features["stability"], features["selectors"] = "cc", None, None
    features["substitutes"] = features["permutation_importance"] = None


def _names(n: int, hostile: bool) -> list[str]:
    if not hostile:
        width = max(4, len(str(n)))
        return [f"g{i:0{width}d}" for i in range(n)]
    return [HOSTILE[i % len(HOSTILE)] + (f" {i}" if i >= len(HOSTILE) else "") for i in range(n)]


def _classes(n: int, hostile: bool) -> list[str]:
    if hostile:
        return [HOSTILE[i % len(HOSTILE)] + (f" {i}" if i >= len(HOSTILE) else "") for i in range(n)]
    return ["healthy", "ill"] if n == 2 else [f"type {chr(65 + i)}" if i < 26 else f"type {i}" for i in range(n)]


def _made(kind: str, hostile: bool) -> dict[str, Any]:
    path = "data/<script>window.__hit=1</script> `a|b`.csv" if hostile else "data/blood.csv"
    command = {
        "mine": f"tamis mine '{path}' --target state --budget 10m --seed 3 --run blood.tamis",
        "validate": f"tamis validate 'ssv(20) | svm(gaussian)' '{path}' --target state --seed 3",
        "data": f"tamis data describe '{path}' --html blood.html",
    }[kind]
    versions = {
        "tamis": "0.1.0",
        "python": "3.11.2",
        "numpy": "2.4.0",
        "scipy": "1.16.1",
        "scikit-learn": "1.9.0",
        "polars": "2.1.0",
    }
    return {"versions": versions, "seed": 3, "command": command, "date": "2026-11-15 20:00"}


def _data(title: str, rows: dict[str, Any], classes: list[str], n_features: int) -> dict[str, Any]:
    counts = np.bincount(rows["projection"]["class"], minlength=len(classes)).tolist()
    return {
        "name": title,
        "target": "state",
        "rows": sum(counts),
        "features": n_features,
        "kind": "dense" if n_features < 50_000 else "sparse",
        "dtype": "float64",
        "numeric": n_features - n_features // 10,
        "nominal": n_features // 10,
        "density": None if n_features < 50_000 else 0.0123,
        "missing": 417,
        "columns_with_missing": min(n_features, 23),
        "infinite": 0,
        "constant_columns": 2,
        "duplicate_columns": 1,
        "duplicate_rows": 3,
        "range": [-4.25, 873.5],
        "classes": dict(zip(classes, counts, strict=True)),
        "smallest_class": min(counts),
        "split": None,
        "unlabelled": None,
        "groups": 40,
        "group_sizes": [1, 6.5, 12],
        "not_features": [{"name": name, "why": "every row has a value of its own"} for name in classes[:2]],
        "reading": ["'?' was read as missing"],
        "roles": {"feature": n_features - n_features // 20, "probe": n_features // 20},
        "notes": ["duplicates were not looked for among more than 200,000,000 values"] if n_features > 50_000 else [],
    }


def _answer(
    models: dict[str, Any], best: dict[str, Any], ber: float, n_features: int, hostile: bool, *, inner_estimate: bool
) -> dict[str, Any]:
    model = "<img src=x onerror=window.__hit=1>.tamis" if hostile else "blood.model"
    _, selection, classifier = best["recipe"].partition(" #")[0].split(" | ")
    selector, _, size = selection.removesuffix(")").partition("(")
    honest = {"mean": ber, "se": SE, "low": max(0.0, ber - 1.96 * SE), "high": min(1.0, ber + 1.96 * SE)}
    return {
        "recipe": best["recipe"],
        "sentence": f"ranks the features by {selector} and keeps {size}, then {CLASSIFIERS[classifier]}",
        "members": [{"share": 0.75, "sentence": "one model"}, {"share": 0.25, "sentence": "<b>another</b> model"}],
        "metric": models["metric"],
        "about": "balanced error rate: the mean of the error rates of the classes",
        "chance": 0.5,
        "groups": 0,
        "honest": {**honest, "how": "5 stratified folds, corrected for the choice by the bootstrap"},
        "offers": [
            {"name": name, "what": f"the {name} one", "recipe": best["recipe"], "chosen": name == "best"}
            | {"n_used": n_used, "honest": honest}
            for name, n_used in (("best", round(best["features"])), ("single", 12), ("small", 3))
        ]
        if inner_estimate
        else [],
        "inner_estimate": {"mean": best["mean"], "se": best["se"]} if inner_estimate else None,
        "optimism": ber - best["mean"] if inner_estimate else None,
        "n_used": round(best["features"]),
        "n_features": n_features,
        "false_features": {"expected": 1.4, "probes": n_features // 20, "how": "one probe among the selected features"},
        "commands": [
            {"what": "Predict the classes of new rows", "command": f"tamis predict '{model}' new.csv"},
            {"what": "Validate the model again", "command": f"tamis validate '{best['recipe']}' data.csv --seed 4"},
        ],
    }


def _models(rng: np.random.Generator, n_models: int, n_features: int, lowest: float) -> dict[str, Any]:
    """A leaderboard: the error falls with the first features and rises again with too many."""
    rows, seen = [], set()
    sizes = [size for size in SIZES if size <= n_features]
    while len(rows) < n_models:
        selector, classifier = rng.choice(SELECTORS), rng.choice(list(CLASSIFIERS))
        size = int(rng.choice(sizes)) if len(seen) < 150 else int(rng.integers(1, n_features + 1))
        recipe = f"standardize | {selector}({size}) | {classifier}"
        if recipe in seen:
            # Few features make few recipes.
            recipe += f" #{len(seen)}"
        seen.add(recipe)
        lack = 0.004 * (SELECTORS.index(selector) + 2 * list(CLASSIFIERS).index(classifier))
        mean = lowest + lack + 0.035 * (np.log10(size) - np.log10(20)) ** 2 + rng.normal(0, 0.004)
        sd = float(rng.uniform(0.015, 0.04))
        rows.append(
            {
                "recipe": recipe,
                "family": f"{selector} | {classifier.partition('(')[0]}",
                "stage": STAGES[len(rows) * len(STAGES) // n_models],
                "mean": float(np.clip(mean, 0.02, 0.9)),
                "sd": sd,
                "se": sd / np.sqrt(FOLDS),
                "cautious": float(np.clip(mean, 0.02, 0.9)) + sd,
                "features": float(size) if len(rows) % 9 else None,
                "seconds": float(rng.gamma(2, 0.8)),
                "folds": int(rng.choice([2, FOLDS])),
            }
        )
    rows.sort(key=lambda row: row["cautious"])
    rows[0]["features"] = float(rows[0]["recipe"].partition("(")[2].partition(")")[0])
    for row in rows:
        row["same"] = bool(row["mean"] - rows[0]["mean"] < 1.5 * rows[0]["se"])
    same = [i for i, row in enumerate(rows) if row["same"] and row["features"] is not None]
    smallest = min(same, key=lambda i: rows[i]["features"])
    return {
        "metric": dict(METRIC),
        "rows": rows,
        "n": len(rows),
        "best": 0,
        "chosen": 0,
        "smallest": smallest,
        "curves": _curves(rng, rows),
    }


def _curves(rng: np.random.Generator, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    curves = []
    for family in dict.fromkeys(row["family"] for row in rows):
        best: dict[float, dict[str, Any]] = {}
        for row in rows:
            known = row["family"] == family and row["features"] is not None
            if known and row["mean"] < best.get(row["features"], {"mean": 2.0})["mean"]:
                best[row["features"]] = row
        points = [
            {**{key: best[size][key] for key in ("features", "mean", "se", "recipe")}, "stability": float(rng.random())}
            for size in sorted(best)
        ]
        if points:
            points[0]["stability"] = None
            curves.append({"family": family, "points": points})
    return curves


def _features(
    rng: np.random.Generator, names: list[str], used: np.ndarray, classes: list[str], hostile: bool
) -> dict[str, Any]:
    n, top = len(names), min(len(names), 1000)
    also = np.sort(rng.choice(np.arange(top, n), min(37, n - top), replace=False)) if n > top else np.arange(0)
    # Rank r is held by feature order[r], so that names are not sorted by rank.
    order = rng.permutation(n) if not hostile else np.arange(n)
    ranks = np.concatenate([np.arange(top), also])
    score = 8.5 * np.exp(-ranks / 60) + 0.02 * np.arange(ranks.size, 0, -1) / ranks.size
    chosen = np.where(ranks < 90, np.round(FOLDS * np.exp(-ranks / 30)) / FOLDS, 0.0)
    chosen[top:] = 1 / FOLDS
    is_used = np.isin(ranks, used)
    chosen[is_used] = np.maximum(chosen[is_used], 0.2)
    table = {
        "name": [names[order[r]] for r in ranks],
        "rank": (ranks + 1).tolist(),
        "score": score.tolist(),
        "chosen": chosen.tolist(),
        "used": is_used.tolist(),
        "role": ["probe" if r % 20 == 19 else "feature" for r in ranks.tolist()],
    }
    return {
        "n": n,
        "table": table,
        "left_out": 0,
        "score_name": "ssv",
        "stability": {"index": 0.71, "low": 0.64, "high": 0.78},
        "selectors": _selectors(rng, n),
        "redundancy": _redundancy(rng, table["name"][:40]),
        "substitutes": _substitutes(rng, table["name"], np.flatnonzero(is_used).tolist()),
        "permutation_importance": _importance(np.flatnonzero(is_used).tolist()[:20]),
        "effects": [_effect(i, classes) for i in range(min(60, ranks.size))],
        "distributions": [_distribution(rng, i, name, classes) for i, name in enumerate(table["name"][:60])],
        "quality": _quality(table["name"][:30], n),
    }


def _importance(places: list[int]) -> dict[str, Any]:
    loss = [{"place": place, "mean": 0.1 / (1 + place), "sd": 0.01} for place in places]
    return {"recipe": "standardize | ssv(20) | knn(5)", "loss": loss, "folds": 5, "note": ""}


def _effect(number: int, classes: list[str]) -> dict[str, Any] | None:
    """Of every ninth feature nothing is known, and the next one is nominal."""
    if number % 9 == 3:
        return None
    level = "middle" if number % 9 == 4 else None
    size = 0.4 if level else (1.503 - number / 40) * (-1) ** number
    return {
        "class": classes[number % len(classes)],
        "level": level,
        "size": size,
        "low": size - 0.2,
        "high": size + 0.2,
    }


def _quality(names: list[str], n: int) -> dict[str, Any]:
    """Every fifth column has missing values, the second is constant, the third a copy of the first."""
    size = len(names)
    return {
        "n": n,
        "remarked": -(-size // 5),
        "compared": True,
        "table": {
            "name": names,
            "kind": ["numeric"] * size,
            "missing": [0.1 if i % 5 == 0 else 0.0 for i in range(size)],
            "levels": [1 if i == 1 else 140 + i for i in range(size)],
            "outliers": [None if i == 1 else i / 1000 for i in range(size)],
            "constant": [i == 1 for i in range(size)],
            "copy_of": [names[0] if i == 2 else None for i in range(size)],
        },
    }


def _selectors(rng: np.random.Generator, n: int) -> dict[str, Any]:
    names = list(SELECTORS[:4])
    chosen = rng.random((min(n, 60), len(names))) < np.array([0.4, 0.35, 0.2, 0.5])
    chosen[: min(n, 9)] = True
    found, counts = np.unique(chosen[chosen.any(axis=1)], axis=0, return_counts=True)
    sets = [
        {"members": np.flatnonzero(found[i]).tolist(), "size": int(counts[i])}
        for i in np.argsort(-counts, kind="stable")
    ]
    return {"names": names, "sets": sets, "sizes": chosen.sum(axis=0).tolist()}


def _redundancy(rng: np.random.Generator, names: list[str]) -> dict[str, Any]:
    k = len(names)
    cluster = np.minimum(rng.integers(0, max(1, k // 4), k), rng.integers(0, max(1, k // 3), k))
    _, cluster = np.unique(cluster, return_inverse=True)
    near = cluster[:, None] == cluster[None, :]
    noise = rng.uniform(0, 1, (k, k))
    correlation = np.where(near, 0.75 + 0.2 * (noise + noise.T) / 2, 0.35 * (noise + noise.T) / 2)
    np.fill_diagonal(correlation, 1.0)
    return {
        "names": names,
        "correlation": correlation.tolist(),
        "cluster": cluster.tolist(),
        "order": np.argsort(cluster, kind="stable").tolist(),
    }


def _substitutes(rng: np.random.Generator, names: list[str], used: list[int]) -> dict[str, Any]:
    """Of the features used every third is dispensable, and every second has substitutes."""
    examined = [
        {
            "place": place,
            "name": names[place],
            "needed": number % 3 > 0,
            "loss": 0.02,
            "se": 0.01,
            "by": [
                {"name": names[-1 - i], "redundancy": 0.9 - i / 10, "measure": "rU"[i], "difference": 0.0, "se": 0.01}
                for i in range(2 * (number % 2))
            ],
        }
        for number, place in enumerate(used)
    ]
    return {"examined": examined, "note": ""}


def _distribution(rng: np.random.Generator, number: int, name: str, classes: list[str]) -> dict[str, Any]:
    if number % 9 == 4:
        levels = ["low", "middle", name]
        mixes = rng.dirichlet([3.0, 2.0, 1.0], len(classes))
        counts = [rng.multinomial(140, mix).tolist() for mix in mixes]
        edges = None
    else:
        values = [rng.normal(0.9 * c * np.exp(-number / 30), 1.0, 140) for c in range(len(classes))]
        low, high = np.percentile(np.concatenate(values), [1, 99])
        inner = np.linspace(low, high, 25)
        counts = [np.histogram(v.clip(low, high), inner)[0].tolist() for v in values]
        levels, edges = None, inner.tolist()
    return {
        "name": name,
        "kind": "nominal" if edges is None else "numeric",
        "classes": [{"class": c, "counts": own} for c, own in zip(classes, counts, strict=True)],
        "edges": edges,
        "levels": levels,
        "missing": int(rng.integers(0, 12)),
        "boxes": None if edges is None else [[low, low / 2, 0.0, high / 2, high] for _ in classes],
    }


def _rows(rng: np.random.Generator, classes: list[str], hostile: bool) -> dict[str, Any]:
    k = len(classes)
    values = np.random.default_rng(k)
    truth = np.sort(rng.choice(k, 280, p=np.arange(k + 1, 1, -1) / np.arange(k + 1, 1, -1).sum()))
    truth[:k] = np.arange(k)
    angle = 2 * np.pi * truth / k
    x, y = (2.2 * f(angle) + rng.normal(0, 1.1, truth.size) for f in (np.cos, np.sin))
    evidence = rng.normal(0, 1, (truth.size, k))
    evidence[np.arange(truth.size), truth] += 1.75
    probability = np.exp(1.6 * evidence)
    probability /= probability.sum(axis=1, keepdims=True)
    confusion = np.zeros((k, k), dtype=int)
    np.add.at(confusion, (truth, evidence.argmax(axis=1)), 1)
    positive = range(1, 2) if k == 2 else range(k)
    named = [HOSTILE[i % len(HOSTILE)] if hostile else f"patient {i + 1}" for i in range(truth.size)]
    return {
        "projection": {
            "x": x.tolist(),
            "y": y.tolist(),
            "class": truth.tolist(),
            "row": named,
            "explained": [0.41, 0.17],
            "shown": truth.size,
            "of": truth.size,
        },
        "heat": {
            "names": [HOSTILE[i] if hostile else f"g{i}" for i in range(6)],
            "values": values.uniform(-3, 3, (6, 60)).round(2).tolist(),
            "class": np.sort(truth[:: max(1, truth.size // 60)][:60]).tolist(),
            "row": list(range(1, 61)),
            "shown": 60,
            "of": truth.size,
        },
        "pairs": {
            "names": [HOSTILE[i] if hostile else f"g{i}" for i in range(4)],
            "values": values.normal(size=(4, truth.size)).round(3).tolist(),
            "class": truth.tolist(),
            "row": list(range(1, truth.size + 1)),
            "shown": truth.size,
            "of": truth.size,
        },
        "classes": classes,
        "confusion": confusion.tolist(),
        "rates": _rates(confusion, classes),
        "roc": {
            "curves": [
                _roc(classes[c], truth == c, evidence[:, c] - np.delete(evidence, c, 1).max(1)) for c in positive
            ]
        },
        "precision_recall": {
            "curves": [
                {
                    "class": classes[c],
                    "recall": [1.0, 0.6, 0.0],
                    "precision": [0.3, 0.8, 1.0],
                    "area": 0.77,
                    "share": 0.3,
                }
                for c in positive
            ]
        },
        "threshold": _threshold(truth == 1, evidence[:, 1] - evidence[:, 0]) if k == 2 else None,
        "calibration": {"curves": [_calibration(classes[c], truth == c, probability[:, c]) for c in positive]},
    }


def _rates(confusion: np.ndarray, classes: list[str]) -> list[dict[str, Any]]:
    found = []
    for c, name in enumerate(classes):
        right, of = int(confusion[c, c]), int(confusion[c].sum())
        found.append({"what": "recall", "class": name, "right": right, "of": of, "share": right / max(1, of)})
        found[-1] |= {"low": 0.9 * found[-1]["share"], "high": min(1.0, 1.1 * found[-1]["share"])}
    return found


def _along(truth: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shares of the false and of the true that are called positive, one row more at a time."""
    order = truth[np.argsort(-score, kind="stable")]
    return tuple(np.concatenate([[0.0], np.cumsum(v) / v.sum()]) for v in (~order, order))


def _roc(label: str, truth: np.ndarray, score: np.ndarray) -> dict[str, Any]:
    fpr, tpr = _along(truth, score)
    some = np.unique(np.linspace(0, fpr.size - 1, 200).astype(int))
    return {"class": label, "fpr": fpr[some].tolist(), "tpr": tpr[some].tolist(), "auc": float(np.trapezoid(tpr, fpr))}


def _threshold(truth: np.ndarray, score: np.ndarray) -> dict[str, Any]:
    fpr, tpr = _along(truth, score)
    ber = (fpr + 1 - tpr) / 2
    share = np.linspace(0, 1, ber.size)
    cut = np.append(np.sort(score), np.inf)[::-1]
    cut[0] = cut[1] + 1.0
    some = np.unique(np.linspace(0, ber.size - 1, 200).astype(int))
    at = (some[ber[some].argmin()], some[np.abs(share[some] - (score > 0).mean()).argmin()])
    best, used = ({"score": float(cut[i]), "share": float(share[i]), "ber": float(ber[i])} for i in at)
    lists = {"score": cut[some].tolist(), "share": share[some].tolist(), "ber": ber[some].tolist()}
    return {**lists, "best": best, "used": used}


def _calibration(label: str, truth: np.ndarray, probability: np.ndarray) -> dict[str, Any]:
    bins = np.array_split(np.argsort(probability, kind="stable"), 10)
    return {
        "class": label,
        "predicted": [float(probability[own].mean()) for own in bins],
        "observed": [float(truth[own].mean()) for own in bins],
        "count": [int(own.size) for own in bins],
    }


def _warnings(names: list[str], classes: list[str]) -> list[dict[str, str]]:
    return [
        {
            "what": f"{names[0]} alone tells the classes apart.",
            "why": f"Its values part {classes[0]} from {classes[1]} without an error; does it hold the answer?",
            "level": "warning",
        },
        {
            "what": "3 rows occur more than once.",
            "why": "Copies in training and test rows make the error look small.",
            "level": "warning",
        },
        {"what": "2 columns are constant.", "why": "They can tell nothing.", "level": "note"},
        {"what": f"Class {classes[-1]} is the smallest.", "why": "Its error is the least certain.", "level": "note"},
    ]


def _story(
    rng: np.random.Generator, models: dict[str, Any], names: list[str], classes: list[str], k: int
) -> dict[str, Any]:
    ends = np.cumsum(rng.uniform(20, 120, len(STAGES)))
    begins = np.concatenate([[0.5], ends[:-1]])
    best, stages = None, []
    for stage, begin, end in zip(STAGES, begins, ends, strict=True):
        own = [row["mean"] for row in models["rows"] if row["stage"] == stage]
        best = min([*own, *([] if best is None else [best])], default=None)
        known = {"begin": float(begin), "end": float(end), "recipes": len(own), "best": best}
        stages.append({"stage": stage, **known})
    recipes = [row["recipe"] for row in models["rows"]]
    return {
        "stages": stages,
        "choices": [recipes[i % min(3, len(recipes))] for i in range(5)],
        "trees": [_tree(names, classes, k)],
        "members": [{"recipe": recipe, "weight": 1 / (i + 2)} for i, recipe in enumerate(recipes[:3])],
        "failed": [{"recipe": "lda", "why": f"{names[0]}: the columns of class {classes[0]} do not vary"}],
    }


def _tree(names: list[str], classes: list[str], k: int) -> dict[str, Any]:
    """Two splits: the first on the first feature, the other on the second."""
    weight = np.ones((5, k))
    for leaf, c in ((1, 0), (3, 1), (4, min(2, k - 1))):
        weight[leaf, c] = 60.0
    weight[2] = weight[3] + weight[4]
    weight[0] = weight[1] + weight[2]
    tree = Tree(
        feature=np.array([0, -1, min(1, len(names) - 1), -1, -1]),
        split=np.array([2.5, np.nan, 0.25, np.nan, np.nan]),
        left=np.array([1, -1, 3, -1, -1]),
        right=np.array([2, -1, 4, -1, -1]),
        missing_left=np.zeros(5, dtype=bool),
        subset=np.zeros(6, dtype=np.int64),
        inside=np.zeros(0, dtype=bool),
        weight=weight,
        priors=np.ones(k),
    )
    wording = Wording(names, classes, tree.split)
    drawn = json.loads(figure(tree, wording).to_json())
    return {
        "title": "the whole data",
        "rules": [str(rule) for rule in rules(tree, wording)],
        "figure": drawn,
        "leaves": 3,
    }
