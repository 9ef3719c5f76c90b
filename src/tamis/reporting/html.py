"""The report as one HTML file that needs nothing else: no network, no other file, no server."""

import json
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup

from tamis.compose.plural import counted
from tamis.data.write import write_text
from tamis.reporting.display_names import shown
from tamis.reporting.figures import figures
from tamis.reporting.figures_features import distributions
from tamis.reporting.figures_numbers import along_features
from tamis.reporting.metric_text import in_units, metric_text, significant
from tamis.reporting.plotly_json import TEMPLATE, plotly_json, rounded
from tamis.reporting.redundancy import clusters
from tamis.reporting.rows import confusions
from tamis.reporting.task_words import words_of
from tamis.trees.figure import COLOURS

_TEMPLATES = Path(__file__).with_name("templates")

#: Most classes with a confusion matrix; of more there is a list of the most frequent confusions, as long as this.
_MATRIX_CLASSES, _LISTED = 30, 50

#: Figures that the page shows as tables, and facts that it shows as figures alone.
_TABLES = ("features", "confusion")
_DRAWN: tuple[str, ...] = ("curves", "distributions", "redundancy", "selectors", "heat", "pairs", "projection")
_DRAWN += ("roc", "precision_recall", "threshold", "calibration", "predicted")

#: Names of features on the first screen, and columns that were left out by name.
_NAMED, _LEFT_OUT = 20, 100


def page(facts: dict[str, Any]) -> str:
    """Draw the facts of a run as one self-contained HTML page; panels that are None are left out.

    Text of the facts is never markup: the template escapes it, the script makes text nodes of it, and the page's
    content-security policy allows no other scripts than its own two.

    Examples
    --------
    >>> made = {"versions": {"tamis": "0.1.0"}, "seed": 0, "command": None, "date": None}
    >>> facts = dict.fromkeys(["answer", "models", "features", "rows", "honesty", "story", "data"])
    >>> "<title>&lt;b&gt;" in page({**facts, "version": 2, "kind": "data", "title": "<b>", "made": made})
    True
    """
    scripts = {"page": source("page.js"), "plotly": plotly_source()}
    drawings, metric = _figures(facts), _metric(facts)
    drawn = (
        environment()
        .get_template("page.html")
        .render(
            facts=facts,
            figures=drawings,
            sections=_sections(facts),
            confusion=_confusion(facts["rows"]),
            clusters=clusters(facts["features"]),
            choices=_choices(facts["story"]),
            used=_used(facts["features"]),
            left_out=((facts["data"] or {}).get("not_features") or ())[:_LEFT_OUT],
            named=_NAMED,
            rates=_rates(facts["rows"]),
            task=words_of(facts),
            metric_name=metric,
            in_units=in_units(metric),
            policy=policy([str(script) for script in scripts.values()]),
            colours=" ".join(COLOURS),
            css=source("page.css"),
            json={"facts": escaped_json(_packed(facts)), "figures": escaped_json(drawings)},
            scripts=scripts,
        )
    )
    # A name from a broken file may hold halves of characters, which cannot be encoded.
    return drawn.encode("utf-8", "replace").decode("utf-8")


def write_page(facts: dict[str, Any], path: Path) -> Path:
    """Write the page to a file, whole or not at all."""
    write_text(path, page(facts))
    return path


@cache
def environment() -> Environment:
    """The templates, which escape all text of the data."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": _number, "error": _error, "share": _share, "name": _name, "counted": _counted}
    environment.filters |= {"shown": shown, "metric": _metric_text, "significant": significant}
    return environment


@cache
def source(name: str) -> Markup:
    """A style sheet or script of the pages."""
    return Markup((_TEMPLATES / name).read_text(encoding="utf-8"))


@cache
def plotly_source() -> Markup:
    """The script that draws figures."""
    # The import takes half a second, and only a page needs it.
    from plotly.offline import get_plotlyjs

    return Markup(get_plotlyjs())


def policy(scripts: Sequence[str]) -> str:
    """What the page may do: run these scripts, style itself and show pictures that it holds.

    Styles have no hashes, as plotly writes style elements whose text is not known beforehand. Nothing may be fetched:
    a style, a picture, a frame or a script of another place is refused by the browser, whatever a name smuggles in.
    """
    hashes = " ".join(f"'sha256-{b64encode(sha256(s.encode()).digest()).decode()}'" for s in scripts) or "'none'"
    rules = ["default-src 'none'", f"script-src {hashes}", "style-src 'unsafe-inline'", "img-src data: blob:"]
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])


def escaped_json(value: Any) -> Markup:
    """JSON without signs that are markup in HTML; signs beyond ASCII are escaped as well."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return Markup(text.translate({ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}))


def _figures(facts: dict[str, Any]) -> dict[str, Any]:
    """The figures of the page by name; "distribution" is a list, of which the page shows one."""
    found = {name: plotly_json(figure) for name, figure in figures(facts).items() if name not in _TABLES}
    spread = [plotly_json(figure) for figure in (*distributions(facts), *along_features(facts))]
    return {"template": TEMPLATE, **found, **({"distribution": spread} if spread else {})}


def _packed(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts without what the figures show, and the models as columns of rounded numbers."""
    left = {
        panel: {key: None if key in _DRAWN else value for key, value in facts[panel].items()}
        for panel in ("models", "features", "rows")
        if facts[panel] is not None
    }
    if facts["models"] is not None:
        rows = facts["models"]["rows"]
        left["models"]["rows"] = {key: rounded([row[key] for row in rows]) for key in (rows[0] if rows else ())}
    # The page has the words in its text, and its script does not read them.
    return {**facts, **left, "words": None}


def _sections(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """The panels with facts, in order: the address within the page and the heading."""
    honesty, models = facts["honesty"] or {}, facts["models"]
    tested = any(honesty.get(key) for key in ("leak", "permutation", "search"))
    there = {
        ("answer", "The answer"): facts["answer"],
        ("comparison", "Beside another run"): facts.get("comparison"),
        ("data", "The data"): facts["data"],
        ("models", "Leaderboard"): models,
        ("sizes", "Error and size"): models and models["curves"],
        ("features", "Features"): facts["features"],
        ("words", "Words"): facts.get("words"),
        ("rows", "Rows"): facts["rows"],
        ("honesty", "Honesty" if tested else "Warnings"): honesty,
        ("story", "The search"): facts["story"],
        ("made", "Origin"): True,
    }
    return [section for section, known in there.items() if known]


def _used(features: dict[str, Any] | None) -> list[str]:
    """The names of the features that the model uses, the best first; none where it is not known."""
    table = {"name": (), "used": ()} if features is None else features["table"]
    return [name for name, used in zip(table["name"], table["used"], strict=True) if used]


def _choices(story: dict[str, Any] | None) -> list[tuple[str, int]]:
    """The models that the outer searches chose and how often, where there were several searches."""
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
    return {"matrix": None, "listed": confusions(rows)[:_LISTED]}


def _rates(rows: dict[str, Any] | None) -> list[dict[str, Any]]:
    """How often predictions are right; of many classes there are too many rates to read."""
    known = (rows or {}).get("rates") or []
    return known if len((rows or {"classes": ()})["classes"]) <= _MATRIX_CLASSES else []


def _number(value: float | None) -> str:
    """A whole number in full, any other with four digits."""
    if value is None:
        return "unknown"
    return f"{int(value):,}" if float(value).is_integer() and abs(value) < 1e15 else f"{value:.4g}"


def _metric(facts: dict[str, Any]) -> str:
    """The name of the main metric; empty where there is none."""
    known = facts["answer"] or facts["models"]
    return str(known["metric"]["name"]) if known else ""


@pass_context
def _metric_text(context: Context, value: float | None, name: str | None = None) -> str:
    """A value of the main metric, or of another one."""
    return metric_text(context["metric_name"] if name is None else name, value)


def _error(value: float | None) -> str:
    return "unknown" if value is None else f"{value:z.3f}"


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{100 * value:.1f} %"


def _counted(value: float | None, one: str, many: str = "") -> str:
    return f"an unknown number of {many or one + 's'}" if value is None else counted(value, one, many)


def _name(text: Any) -> Markup:
    """A name of the data, in its own direction of writing."""
    given = str(text)
    return Markup("<bdi>{}</bdi>").format(given) if given.strip() else Markup("<i>(no name)</i>")
