"""The facts of a run as Markdown, in which any text stays text: it breaks no table, makes no link and no HTML."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template, pass_context
from jinja2.runtime import Context

from tamis.compose.plural import counted
from tamis.reporting.display_names import shown
from tamis.reporting.metric_text import metric_text, significant
from tamis.reporting.redundancy import clusters
from tamis.reporting.rows import confusions
from tamis.reporting.task_words import words_of

#: Where a sign would be taken for markup: marks of emphasis, code, links, cells and formulas anywhere but within a
#: word; addresses; and what begins a list or a line under a heading.
_MARKUP = re.compile(r"[\\`*\[\]|~$#]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=[wW]{3})\.|^[-+=](?=[-+= ]|$)")
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?= |$)")

#: Replaced, so that no viewer takes them for HTML, not even one that knows no backslashes.
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def text(facts: dict[str, Any]) -> str:
    """Write the facts of a run in Markdown; panels that are None are left out.

    Examples
    --------
    >>> made = {"versions": {"tamis": "0.1.0"}, "seed": 3, "command": None, "date": None}
    >>> facts = dict.fromkeys(["data", "answer", "models", "features", "rows", "honesty", "story"])
    >>> print(text({**facts, "kind": "data", "title": "<b>blood</b>", "made": made}))
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
    features, rows = facts["features"], facts["rows"]
    known: dict[str, Any] = {"facts": facts, "clusters": sorted(clusters(features), key=len, reverse=True), "used": []}
    measured = facts["answer"] or facts["models"]
    known |= {"task": words_of(facts), "metric_name": measured["metric"]["name"] if measured else ""}
    if features is not None:
        known["losses"] = {
            one["place"]: one for one in (features.get("permutation_importance") or {"loss": ()})["loss"]
        }
        table = features["table"]
        known["used"] = [i for i, used in enumerate(table["used"]) if used]
        listed = known["used"] or [i for i, share in enumerate(table["chosen"]) if share] or range(len(table["name"]))
        known["listed"] = sorted(listed, key=lambda i: (-(table["chosen"][i] or 0.0), table["rank"][i]))
    if rows is not None:
        known["mistakes"] = confusions(rows)
        known["areas"] = [(one["class"], one["auc"]) for one in (rows["roc"] or {"curves": ()})["curves"]]
    return _template().render(known).rstrip("\n") + "\n"


@cache
def _template() -> Template:
    folder = Path(__file__).with_name("templates")
    environment = Environment(
        loader=FileSystemLoader(folder), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    own = (align, cell, counted, fence, name, prose, shown, significant)
    ours = (_count, _effect, _entry, _estimated, _metric, _number, _share, _size, _some)
    environment.filters |= {function.__name__.removeprefix("_"): function for function in (*own, *ours)}
    return environment.get_template("page.md", globals={"counted": _counted, "stand_ins": _stand_ins})


def prose(words: Any, letters: int = 120) -> str:
    r"""Words on one line that are no markup, whatever signs are in them.

    Examples
    --------
    >>> print(prose("<b>a|b</b> *c* g_1 [d](http://e.f)"))
    &lt;b&gt;a\|b&lt;/b&gt; \*c\* g_1 \[d\](http\://e.f)
    """
    parts = re.split("(@+)", shown(words, letters))
    # Viewers make an address of what is around an @, however it is written, but not of code.
    return _isolated("".join(f"`{part}`" if part.startswith("@") else _escaped(part) for part in parts))


def name(given: Any, letters: int = 60, *, bar: str = "|") -> str:
    """A name between backticks, where nothing is markup, or escaped; a `|` in it is written as `bar`.

    Examples
    --------
    >>> name("chr1:100:200"), name("a<b")
    ('`chr1:100:200`', 'a&lt;b')
    """
    line = shown(given, letters)
    return prose(given, letters) if set("`\\&<>") & set(line) else _isolated(f"`{line.replace('|', bar)}`")


def cell(given: Any, letters: int = 60) -> str:
    """A name in a table, where bars separate the columns."""
    return name(given, letters, bar="\\|")


def fence(code: Any, language: str = "") -> str:
    """Lines that are shown as they are, between fences longer than any in them."""
    longest = max((len(run) for run in re.findall("`+", str(code))), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language}\n{code}\n{marks}"


def align(table: str) -> str:
    """Pad the cells of a table, so that its columns are aligned in the text too.

    Examples
    --------
    >>> print(align("| feature | n |\\n|---|--:|\\n| `a` | 12 |\\n"), end="")
    | feature |   n |
    | ------- | --: |
    | `a`     |  12 |
    """
    head, rule, *rows = ([part.strip() for part in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines())
    widths = [max(3, *map(_width, column)) for column in zip(head, *rows, strict=True)]
    right = [side.endswith(":") for side in rule]
    rule = ["-" * (width - 1) + "-:"[side] for width, side in zip(widths, right, strict=True)]
    lines = []
    for row in (head, rule, *rows):
        spaces = [" " * (width - _width(part)) for part, width in zip(row, widths, strict=True)]
        cells = [s + part if side else part + s for part, s, side in zip(row, spaces, right, strict=True)]
        lines.append(f"| {' | '.join(cells)} |\n")
    return "".join(lines)


def _width(words: str) -> int:
    """About how many columns a text takes in a terminal: wide letters two, marks none."""
    seen = (letter for letter in words if unicodedata.category(letter) not in ("Mn", "Me", "Cf"))
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in seen)


def _escaped(words: str) -> str:
    return _NUMBERED.sub(r"\1\\\2", _MARKUP.sub(lambda found: "\\" + found[0], words)).translate(_HTML)


def _isolated(line: str) -> str:
    """Keep letters written from right to left from turning what stands beside them."""
    turns = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in line)
    return f"\N{FIRST STRONG ISOLATE}{line}\N{POP DIRECTIONAL ISOLATE}" if turns else line


def _number(value: float | None, form: str = "z.3f") -> str:
    return "-" if value is None else format(value, form)


def _size(value: float | None) -> str:
    """A number of features, or a mean of them over folds."""
    return "-" if value is None else f"{value:,.1f}".removesuffix(".0")


def _count(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.3g} %"


def _entry(place: int, names: Sequence[str]) -> str:
    return name(names[place])


@pass_context
def _metric(context: Context, value: float | None, name: str | None = None) -> str:
    """A value of the main metric, or of another one."""
    return metric_text(context["metric_name"] if name is None else name, value, unknown="-")


@pass_context
def _estimated(context: Context, known: Mapping[str, Any]) -> str:
    """A loss of the main metric, with its deviation."""
    spread = "" if known["sd"] is None else f" \N{PLUS-MINUS SIGN} {_metric(context, known['sd'])}"
    return f"{_metric(context, known['mean'])}{spread}"


def _effect(known: Mapping[str, Any] | None) -> str:
    """In which class a feature is higher or a level more frequent, or where the target is, in a cell of a table."""
    if known is None:
        return "-"
    if known["class"] is None:
        return _target_effect(known)
    way = 1.0 if known["size"] >= 0 else -1.0
    size, (low, high) = way * known["size"], sorted(way * known[key] for key in ("low", "high"))
    if known["level"] is None:
        words = f"{'higher' if way > 0 else 'lower'} in {cell(known['class'], 30)}"
        return f"{words} by {size:.2f} sd ({low:.2f} to {high:.2f})"
    words = f"{cell(known['level'], 30)} {'more' if way > 0 else 'less'} often in {cell(known['class'], 30)}"
    return f"{words} by {100 * size:.0f} points ({100 * low:.0f} to {100 * high:.0f})"


def _target_effect(known: Mapping[str, Any]) -> str:
    """Whether the target rises with a feature, or is higher at a level of it."""
    size, low, high = (known[key] for key in ("size", "low", "high"))
    if known["level"] is None:
        return f"{'rises' if size >= 0 else 'falls'} with it: r = {size:.2f} ({low:.2f} to {high:.2f})"
    where = f"{'higher' if size >= 0 else 'lower'} at {cell(known['level'], 30)}"
    low, high = (low, high) if size >= 0 else (-high, -low)
    return f"{where} by {abs(size):.2f} sd ({low:.2f} to {high:.2f})"


def _counted(pairs: Iterable[tuple[str, float | None]], form: str) -> list[str]:
    return [f"{name(label)} {'-' if value is None else form.format(value)}" for label, value in pairs]


def _stand_ins(substitutes: Iterable[Mapping[str, Any]]) -> list[str]:
    return [f"{name(one['name'])} ({one['measure']} = {one['redundancy']:.2f})" for one in substitutes]


def _some(parts: Iterable[str], most: int) -> str:
    every = list(parts)
    return ", ".join(every[:most]) + (f" and {len(every) - most:,} more" if len(every) > most else "")
