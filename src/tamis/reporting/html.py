"""The report as one HTML file that needs nothing else: no network, no other file, no server."""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tamis.data.write import write_text
from tamis.reporting.figures import figures
from tamis.reporting.figures_features import distributions
from tamis.reporting.plotly_json import TEMPLATE, plotly_json
from tamis.trees.figure import COLOURS

_TEMPLATES = Path(__file__).with_name("templates")

#: With more classes than this the confusions are a list of the most frequent ones, as long as this.
_MATRIX_CLASSES, _LISTED = 30, 50

#: Figures that the page shows as tables, and facts that it shows as figures alone.
_TABLES = ("features", "confusion")
_DRAWN = ("curves", "distributions", "projection", "redundancy", "roc", "selectors", "threshold", "calibration")

#: Characters that could end the element that holds the facts, or mean something to an HTML reader.
_UNSAFE = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}


def page(facts: dict[str, Any]) -> str:
    """Draw the facts of a run as one self-contained HTML page.

    Panels whose facts are None are left out. Text of the facts is shown as it is and can do nothing: the template
    escapes it, the script makes text nodes of it, and the page's content-security policy lets run only the two
    scripts it was made with.

    Parameters
    ----------
    facts : dict
        As :mod:`tamis.reporting.facts` makes them.

    Examples
    --------
    >>> from tamis.reporting.html import page
    >>> made = {"versions": {"tamis": "0.1.0"}, "seed": 0, "command": None, "date": None}
    >>> parts = dict.fromkeys(["answer", "models", "features", "rows", "story"])
    >>> honesty = {"leak": None, "permutation": None, "search": None, "warnings": []}
    >>> facts = {"version": 2, "kind": "data", "title": "<b>", "made": made, "data": None, "honesty": honesty, **parts}
    >>> "<title>&lt;b&gt;" in page(facts)
    True
    """
    scripts = {"page": _source("page.js"), "plotly": _plotly()}
    drawings = _figures(facts)
    drawn = (
        _environment()
        .get_template("page.html")
        .render(
            facts=facts,
            figures=drawings,
            sections=_sections(facts),
            confusion=_confusion(facts["rows"]),
            clusters=_clusters(facts["features"]),
            choices=_choices(facts["story"]),
            policy=_policy([str(script) for script in scripts.values()]),
            colours=" ".join(COLOURS),
            css=_source("page.css"),
            json={"facts": _json(_packed(facts)), "figures": _json(drawings)},
            scripts=scripts,
        )
    )
    # A name read from a broken file may hold halves of characters, which no file can hold.
    return drawn.encode("utf-8", "replace").decode("utf-8")


def write_page(facts: dict[str, Any], path: Path) -> Path:
    """Write the page of some facts into a file, whole or not at all."""
    write_text(path, page(facts))
    return path


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": _number, "error": _error, "share": _share, "name": _name}
    return environment


@cache
def _source(name: str) -> Markup:
    return Markup((_TEMPLATES / name).read_text(encoding="utf-8"))


@cache
def _plotly() -> Markup:
    # Half a second that only a page needs.
    from plotly.offline import get_plotlyjs

    return Markup(get_plotlyjs())


def _policy(scripts: Sequence[str]) -> str:
    """What the page may do: run these scripts, style itself, show pictures that it holds; nothing else.

    Plotly writes style elements and style attributes of its own, whose text is not known beforehand, so styles
    cannot be told by their hashes.
    """
    hashes = " ".join(f"'sha256-{b64encode(sha256(s.encode()).digest()).decode()}'" for s in scripts)
    rules = ["default-src 'none'", f"script-src {hashes}", "style-src 'unsafe-inline'", "img-src data: blob:"]
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])


def _json(value: Any) -> Markup:
    """JSON that an HTML reader cannot take for markup; signs beyond ASCII are escaped as well."""
    return Markup(json.dumps(value, separators=(",", ":"), allow_nan=False).translate(_UNSAFE))


def _figures(facts: dict[str, Any]) -> dict[str, Any]:
    """The figures of the page by name; there is a list of distributions, of which one is shown."""
    found = {name: plotly_json(figure) for name, figure in figures(facts).items() if name not in _TABLES}
    spread = [plotly_json(figure) for figure in distributions(facts)]
    return {"template": TEMPLATE, **found, **({"distribution": spread} if spread else {})}


def _packed(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts without what the figures show, the models as columns, and no more digits of them than can be seen."""
    left = {
        panel: {key: None if key in _DRAWN else value for key, value in facts[panel].items()}
        for panel in ("models", "features", "rows")
        if facts[panel] is not None
    }
    if facts["models"] is not None:
        left["models"]["rows"] = _columns(facts["models"]["rows"])
    return {**facts, **left}


def _columns(records: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    return {key: [_rounded(record[key]) for record in records] for key in (records[0] if records else ())}


def _rounded(value: Any) -> Any:
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _sections(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """The panels that there are, in their order: the address within the page and the heading."""
    honesty, models = facts["honesty"] or {}, facts["models"]
    tested = any(honesty.get(key) for key in ("leak", "permutation", "search"))
    there = {
        ("answer", "The answer"): facts["answer"],
        ("comparison", "Beside another run"): facts.get("comparison"),
        ("data", "The data"): facts["data"],
        ("models", "Leaderboard"): models,
        ("sizes", "Error and size"): models and models["curves"],
        ("features", "Features"): facts["features"],
        ("rows", "Rows"): facts["rows"],
        ("honesty", "Honesty" if tested else "Warnings"): honesty,
        ("story", "The search"): facts["story"],
        ("made", "Origin"): True,
    }
    return [section for section, shown in there.items() if shown]


def _choices(story: dict[str, Any] | None) -> list[tuple[str, int]]:
    """What the outer searches chose and how often, where there were several."""
    chosen = [] if story is None else story["choices"]
    return Counter(chosen).most_common() if len(chosen) > 1 else []


def _confusion(rows: dict[str, Any] | None) -> dict[str, Any] | None:
    """The confusion matrix with the share of each true class, or the most frequent confusions of many classes."""
    if not rows or not rows["confusion"]:
        return None
    classes, counts = rows["classes"], rows["confusion"]
    if len(classes) <= _MATRIX_CLASSES:
        lines = [[(count, count / max(1, sum(line))) for count in line] for line in counts]
        return {"matrix": list(zip(classes, lines, strict=True)), "listed": None}
    wrong = [(counts[i][j], i, j) for i in range(len(classes)) for j in range(len(classes)) if i != j and counts[i][j]]
    listed = [(classes[i], classes[j], count) for count, i, j in sorted(wrong, key=lambda w: -w[0])[:_LISTED]]
    return {"matrix": None, "listed": listed}


def _clusters(features: dict[str, Any] | None) -> list[list[str]]:
    """Names of the features that tell the same, for each cluster of two or more, in the order of the heat map."""
    redundancy = features and features["redundancy"]
    if not redundancy:
        return []
    found: dict[int, list[str]] = {}
    for i in redundancy["order"]:
        found.setdefault(redundancy["cluster"][i], []).append(redundancy["names"][i])
    return [names for names in found.values() if len(names) > 1]


def _number(value: float | None) -> str:
    """A count in full, any other number with four digits."""
    if value is None:
        return "unknown"
    return f"{int(value):,}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.4g}"


def _error(value: float | None) -> str:
    """A value of the metric."""
    return "unknown" if value is None else f"{value:z.3f}"


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{100 * value:.1f} %"


def _name(text: Any) -> Markup:
    """A name of the data, whose direction of writing stays its own."""
    shown = str(text)
    return Markup("<bdi>{}</bdi>").format(shown) if shown.strip() else Markup("<i>(no name)</i>")
