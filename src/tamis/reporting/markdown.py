"""The facts of a run as text that reads well as it is and that GitHub draws as a page."""

from collections.abc import Callable, Sequence
from typing import Any

from tamis.reporting.markup import cell, fence, listed, name, prose, table
from tamis.reporting.names import shown

__all__ = ["text"]

#: The most models, features, sets, clusters, classes and rules that are written down, and names in a cluster.
_MODELS, _FEATURES, _SETS, _CLUSTERS, _CLASSES, _RULES, _FAILED, _TOGETHER = 20, 50, 10, 10, 12, 30, 10, 8

Section = Callable[[dict[str, Any]], list[str]]


def text(facts: dict[str, Any]) -> str:
    """Write the facts of a run in Markdown: the answer first, then models, features, rows, and how far to trust them.

    Parameters
    ----------
    facts : dict
        As :mod:`tamis.reporting.facts` makes it. Panels that are None are left out.

    Returns
    -------
    str
        Names of the data are written so that they stay text: they break no table, make no link and no HTML.

    Examples
    --------
    >>> made = {"versions": {"tamis": "0.1.0"}, "seed": 3, "command": None, "date": None}
    >>> facts = dict.fromkeys(["data", "answer", "models", "features", "rows", "story"])
    >>> facts |= {"kind": "data", "title": "<b>blood</b>", "made": made}
    >>> facts["honesty"] = {"leak": None, "permutation": None, "search": None, "warnings": []}
    >>> print(text(facts))
    # &lt;b&gt;blood&lt;/b&gt;
    <BLANKLINE>
    What is in the data, by tamis 0.1.0.
    <BLANKLINE>
    ## How it was made
    <BLANKLINE>
    - tamis 0.1.0
    - seed 3
    <BLANKLINE>
    """
    sections: tuple[Section, ...] = (
        _head,
        _answer,
        _comparison,
        _data,
        _models,
        _features,
        _rows,
        _honesty,
        _story,
        _made,
    )
    blocks = [block for section in sections for block in section(facts)]
    return "\n\n".join(blocks) + "\n"


def _head(facts: dict[str, Any]) -> list[str]:
    what = {"mine": "A search for the best model", "validate": "A model, validated", "data": "What is in the data"}
    made = facts["made"]
    on = f", {prose(made['date'])}" if made["date"] else ""
    return [f"# {prose(facts['title'])}", f"{what[facts['kind']]}, by tamis {made['versions']['tamis']}{on}."]


def _answer(facts: dict[str, Any]) -> list[str]:
    answer = facts["answer"]
    if answer is None:
        return []
    title, honest, used = prose(answer["metric"]["title"]), answer["honest"], answer["n_used"]
    kept = f"uses {used} of {answer['n_features']} features" if used is not None else "keeps no list of features"
    blocks = [
        "## The answer",
        f"**{title} {_give(honest)}** on rows that the model has not seen{_interval(honest)}.",
        f"The model: {prose(answer['sentence'], 2000)}. It {kept}.{_false(answer['false_features'])}",
        fence(answer["recipe"]),
    ]
    if answer["inner_estimate"] is not None:
        blocks.append(
            f"The inner estimate, of the folds that chose the model, is {_give(answer['inner_estimate'])}"
            f"{_by(answer['optimism'])}. Quote the first figure."
        )
    for one in answer["commands"]:
        blocks += [f"{prose(one['what'], 200)}:", fence(one["command"], "sh")]
    return blocks


def _false(known: dict[str, Any] | None) -> str:
    if known is None:
        return ""
    return f" About {_number(known['expected'], '.2g')} of them are expected to be false ({prose(known['how'], 600)})."


def _by(optimism: float | None) -> str:
    if optimism is None:
        return ""
    return f", {_number(abs(optimism))} {'too good' if optimism > 0 else 'worse than it is'}"


def _comparison(facts: dict[str, Any]) -> list[str]:
    beside = facts.get("comparison")
    if beside is None:
        return []
    rows = [[row["what"], *(cell(value) for value in row["values"])] for row in beside["rows"]]
    blocks = [
        "## Beside another run",
        prose(beside["verdict"], 400),
        table(["", *(cell(title) for title in beside["titles"])], rows, "lll"),
    ]
    if beside["n_shared"] is not None:
        shared = f"{beside['n_shared']} of the {beside['n_either']} features that either model uses are in both"
        named = [name(one) for one in beside["shared"]]
        blocks.append(f"{shared}: {_some(named, _FEATURES)}." if named else f"{shared}.")
    return blocks


def _data(facts: dict[str, Any]) -> list[str]:
    data = facts["data"]
    if data is None:
        return []
    kind = " ".join(part for part in (data["kind"], data["dtype"]) if part)
    types = f"{data['numeric']:,} numeric, {data['nominal']:,} nominal; {kind}"
    gaps = f"missing values {data['missing']:,}, in {data['columns_with_missing']:,} columns"
    same = f"copies of other columns {_count(data['duplicate_columns'])}, of rows {_count(data['duplicate_rows'])}"
    lines = [
        f"{data['rows']:,} rows, {data['features']:,} features ({types})",
        f"{gaps}; infinite {data['infinite']:,}",
        f"constant columns {data['constant_columns']:,}; {same}",
    ]
    if data["density"] is not None:
        lines.append(f"{_share(data['density'])} of the values are not zero")
    classes = data["classes"]
    if classes is not None:
        told = [f"{name(label)} {rows:,}" for label, rows in classes.items()]
        lines.append(f"rows of the classes: {_some(told, _CLASSES)}")
    return ["## The data", listed([*lines, *(prose(note, 300) for note in data["notes"])])]


def _models(facts: dict[str, Any]) -> list[str]:
    models = facts["models"]
    if models is None:
        return []
    rows, others = models["rows"], sum(row["same"] for row in models["rows"]) - 1
    same = f"{others:,} cannot be told from the best (=)" if others > 0 else "the best can be told from all others"
    blocks = ["## Models", f"{len(rows):,} models were judged; {same}."]
    if models["smallest"] is not None and others > 0:
        smallest = rows[models["smallest"]]
        size = _size(smallest["features"])
        blocks[1] += f" The smallest as good uses {size} features: {name(smallest['recipe'], 400)}."
    title = prose(models["metric"]["title"])
    head = ["", "=", "model", "stage", title, "s.e.", "cautious", "features", "seconds", "folds"]
    lines = [
        [
            str(number + 1),
            "=" if row["same"] else "",
            cell(row["recipe"], 90),
            prose(row["stage"]),
            *(_number(row[key]) for key in ("mean", "se", "cautious")),
            _size(row["features"]),
            _number(row["seconds"], ".2f"),
            str(row["folds"]),
        ]
        for number, row in enumerate(rows[:_MODELS])
    ]
    blocks.append(table(head, lines, "rlllrrrrrr"))
    return [*blocks, *_more(len(rows) - _MODELS, "models")]


def _features(facts: dict[str, Any]) -> list[str]:
    features = facts["features"]
    if features is None:
        return []
    known, n = features["table"], len(features["table"]["name"])
    used = [i for i in range(n) if known["used"][i]]
    listed = used or [i for i in range(n) if known["chosen"][i]] or range(n)
    order = sorted(listed, key=lambda i: (-(known["chosen"][i] or 0.0), known["rank"][i]))
    role, folds = known["role"], any(share is not None for share in known["chosen"])
    said = (
        f"{len(used):,} of {features['n']:,} features are used."
        if used
        else f"The first of {features['n']:,} features."
    )
    blocks = ["## Features", said]
    if features["score_name"]:
        blocks[1] += f" The score is {name(features['score_name'])}."
    if features["stability"] is not None:
        index, interval = _number(features["stability"]["index"]), _interval(features["stability"])
        blocks[1] += f" Over the folds the choice has a stability of {index}{interval}: 1 is always the same, 0 chance."
    rows = [
        [
            str(known["rank"][i]),
            cell(known["name"][i]),
            _number(known["score"][i], ".4g"),
            *([_share(known["chosen"][i])] if folds else []),
            *([prose(role[i]) if role[i] else "-"] if role else []),
        ]
        for i in order[:_FEATURES]
    ]
    head = ["rank", "feature", "score", *(["chosen"] if folds else []), *(["role"] if role else [])]
    blocks.append(table(head, rows, "rlr" + "r" * folds + "l" * bool(role)))
    blocks += _more(len(order) - _FEATURES, "features")
    return [*blocks, *_selectors(features["selectors"]), *_redundancy(features["redundancy"])]


def _selectors(known: dict[str, Any] | None) -> list[str]:
    if known is None:
        return []
    rows = [
        [" ".join(cell(known["names"][i]) for i in one["members"]), str(one["size"])] for one in known["sets"][:_SETS]
    ]
    said = "How many features the best models of the selectors share, each feature counted once:"
    return [said, table(["chosen by", "features"], rows, "lr"), *_more(len(known["sets"]) - _SETS, "sets")]


def _redundancy(known: dict[str, Any] | None) -> list[str]:
    if known is None:
        return []
    members: dict[int, list[str]] = {}
    for i in known["order"]:
        members.setdefault(known["cluster"][i], []).append(name(known["names"][i]))
    groups = sorted((names for names in members.values() if len(names) > 1), key=lambda names: -len(names))
    if not groups:
        return ["No two of the first features say nearly the same."]
    lines = [_some(names, _TOGETHER) for names in groups[:_CLUSTERS]]
    return ["Features that say nearly the same:", listed(lines), *_more(len(groups) - _CLUSTERS, "groups")]


def _rows(facts: dict[str, Any]) -> list[str]:
    rows = facts["rows"]
    if rows is None or rows["confusion"] is None:
        return []
    blocks = ["## Rows", *_confusion(rows["classes"], rows["confusion"])]
    if rows["roc"] is not None:
        told = [f"{name(one['class'])} {_number(one['auc'])}" for one in rows["roc"]["curves"]]
        blocks.append(f"Area under the ROC curve: {_some(told, _CLASSES)}.")
    if rows["threshold"] is not None:
        used, best = rows["threshold"]["used"], rows["threshold"]["best"]
        blocks.append(
            f"{_share(used['share'])} of the rows were called {name(rows['classes'][1])}, with a BER of "
            f"{_number(used['ber'])}; the best threshold, known only afterwards, would have called "
            f"{_share(best['share'])} so, with {_number(best['ber'])}."
        )
    return blocks


def _confusion(classes: list[str], counts: list[list[int]]) -> list[str]:
    """The matrix, or of many classes the mistakes that are made most often."""
    if len(classes) <= _CLASSES:
        lines = [[cell(label), *map(str, own)] for label, own in zip(classes, counts, strict=True)]
        head = ["truth, answer:", *(cell(label, 30) for label in classes)]
        return ["Rows of each class by what they were taken for:", table(head, lines, "l" + "r" * len(classes))]
    wrong = [(n, i, j) for i, own in enumerate(counts) for j, n in enumerate(own) if i != j and n > 0]
    wrong.sort(key=lambda one: (-one[0], *one[1:]))
    lines = [[cell(classes[i]), cell(classes[j]), str(n)] for n, i, j in wrong[:_MODELS]]
    right = sum(own[i] for i, own in enumerate(counts))
    said = f"{right:,} of {sum(map(sum, counts)):,} rows of {len(classes)} classes were answered rightly."
    return [
        f"{said} The mistakes made most often:",
        table(["truth", "answer", "rows"], lines, "llr"),
        *_more(len(wrong) - _MODELS, "pairs of classes"),
    ]


def _honesty(facts: dict[str, Any]) -> list[str]:
    known = facts["honesty"]
    if known is None:
        return []
    lines = []
    if known["leak"] is not None:
        leak = known["leak"]
        lines.append(
            f"Selection on all rows would have claimed {_give(leak['leaky'])}{_by(leak['optimism'])}; within the folds "
            f"it is {_give(leak['nested'])}."
        )
    if known["permutation"] is not None:
        test = known["permutation"]
        lines.append(
            f"With classes dealt out at random {len(test['null'])} times: p = {_number(test['p'], '.3g')} for "
            f"{_number(test['value'])}."
        )
    if known["search"] is not None:
        search = known["search"]
        lines.append(
            f"The inner estimate of the search is {_number(search['inner_estimate'])}, the honest one "
            f"{_number(search['honest'])}: an optimism of {_number(search['optimism'])}."
        )
    warned = [f"**{prose(w['level'])}**: {prose(w['what'], 600)} {prose(w['why'], 1000)}" for w in known["warnings"]]
    return [
        *(["## How far to trust it", listed(lines)] if lines else []),
        *(["## Warnings", listed(warned)] if warned else []),
    ]


def _story(facts: dict[str, Any]) -> list[str]:
    story = facts["story"]
    if story is None:
        return []
    blocks = ["## How the search went"]
    rows = [
        [
            prose(one["stage"]),
            f"{_number(one['begin'], '.1f')} to {_number(one['end'], '.1f')}",
            str(one["recipes"]),
            _number(one["best"]),
        ]
        for one in story["stages"]
    ]
    blocks.append(table(["stage", "seconds", "recipes", "best"], rows, "lrrr"))
    if story["choices"]:
        blocks += ["The searches within the outer folds chose:", listed(name(one, 400) for one in story["choices"])]
    if story["members"]:
        told = [f"{name(one['recipe'], 400)}, weight {_number(one['weight'], '.3g')}" for one in story["members"]]
        blocks += ["The members of the committee:", listed(told)]
    for tree in story["trees"]:
        lines = [shown(rule, 500) for rule in tree["rules"][:_RULES]]
        blocks += [f"The tree {name(tree['title'])} as rules:", fence("\n".join(lines))]
        blocks += _more(len(tree["rules"]) - _RULES, "rules")
    if story["failed"]:
        told = [f"{name(one['recipe'], 400)}: {prose(one['why'], 600)}" for one in story["failed"][:_FAILED]]
        blocks += ["Recipes that failed:", listed(told), *_more(len(story["failed"]) - _FAILED, "recipes")]
    return blocks


def _made(facts: dict[str, Any]) -> list[str]:
    made = facts["made"]
    lines = [f"{library} {version}" for library, version in made["versions"].items()]
    if made["seed"] is not None:
        lines.append(f"seed {made['seed']}")
    command = [] if made["command"] is None else [fence(made["command"], "sh")]
    return ["## How it was made", listed(lines), *command]


def _give(known: dict[str, Any]) -> str:
    """A mean, and its standard error where there is one."""
    error = "" if known["se"] is None else f" \N{PLUS-MINUS SIGN} {_number(known['se'])}"
    return f"{_number(known['mean'])}{error}"


def _interval(known: dict[str, Any]) -> str:
    if known["low"] is None or known["high"] is None:
        return ""
    return f" (95 % interval {_number(known['low'])} to {_number(known['high'])})"


def _number(value: float | None, form: str = "z.3f") -> str:
    return "-" if value is None else format(value, form)


def _size(value: float | None) -> str:
    """Features: a number of them, or a mean over folds."""
    return "-" if value is None else f"{value:,.1f}".removesuffix(".0")


def _count(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.3g} %"


def _more(left: int, what: str) -> list[str]:
    return [f"And {left:,} {what} more."] if left > 0 else []


def _some(told: Sequence[str], most: int) -> str:
    return ", ".join(told[:most]) + (f" and {len(told) - most:,} more" if len(told) > most else "")
