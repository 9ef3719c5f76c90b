"""Pieces of Markdown in which any text stays text: words, names, lists, tables and lines of code."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from tamis.reporting.names import shown

__all__ = ["cell", "fence", "listed", "name", "prose", "table"]

#: Where a sign would be taken for markup: marks of emphasis, code, links, cells and formulas anywhere but within a
#: word; addresses; and what begins a list or a line under a heading.
_MARKUP = re.compile(r"[\\`*\[\]|~$#]|(?<![^\W_])_|_(?![^\W_])|:(?=//)|(?<=[wW]{3})\.|^[-+=](?=[-+= ]|$)")
_NUMBERED = re.compile(r"^(\d{1,9})([.)])(?= |$)")

#: Written otherwise, so that no reader takes them for HTML, not even one that knows no backslashes.
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}

#: What may not stand between backticks as it is.
_NOT_CODE = frozenset("`\\" + "".join(_HTML))

#: Direction of letters that turn what stands beside them, and the marks that keep it in its place.
_LEFTWARD, _ISOLATED = frozenset(("R", "AL")), ("\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}")


def prose(words: Any, letters: int = 120) -> str:
    r"""Words on one line that are no markup, whatever signs are in them.

    Examples
    --------
    >>> print(prose("<b>a|b</b> *c* g_1 [d](http://e.f)"))
    &lt;b&gt;a\|b&lt;/b&gt; \*c\* g_1 \[d\](http\://e.f)
    """
    parts = re.split("(@+)", shown(words, letters))
    # Readers make an address of what is around an @, however it is written, but not of code.
    return _isolated("".join(f"`{part}`" if part.startswith("@") else _escaped(part) for part in parts))


def name(given: Any, letters: int = 60, *, bar: str = "|") -> str:
    """A name that stands for itself: between backticks, where readers look for nothing in it, or escaped.

    Parameters
    ----------
    given : object
    letters : int, default=60
        The longest name that is not shortened.
    bar : str
        How a bar is written.

    Examples
    --------
    >>> name("chr1:100:200"), name("a<b")
    ('`chr1:100:200`', 'a&lt;b')
    """
    line = shown(given, letters)
    return prose(given, letters) if _NOT_CODE & set(line) else _isolated(f"`{line.replace('|', bar)}`")


def cell(given: Any, letters: int = 60) -> str:
    """A name in a table, where bars part the columns."""
    return name(given, letters, bar="\\|")


def listed(lines: Iterable[str]) -> str:
    """Lines as a list."""
    return "\n".join(f"- {line}" for line in lines)


def fence(code: Any, language: str = "") -> str:
    """Lines that are shown as they are, between fences longer than any in them."""
    longest = max((len(run) for run in re.findall("`+", str(code))), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}{language}\n{code}\n{marks}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], sides: str) -> str:
    """A table whose columns are in line in the text too.

    Parameters
    ----------
    head : sequence of str
    rows : sequence of sequences of str
        Cells, already escaped.
    sides : str
        For each column "l" or "r", the side to which it is set.

    Examples
    --------
    >>> print(table(["feature", "n"], [["`a`", "12"]], "lr"))
    | feature |   n |
    | ------- | --: |
    | `a`     |  12 |
    """
    widths = [max(3, *(_width(row[i]) for row in (head, *rows))) for i in range(len(head))]
    rule = ["-" * (width - 1) + (":" if side == "r" else "-") for width, side in zip(widths, sides, strict=True)]
    lines = []
    for row in (head, rule, *rows):
        cells = []
        for text, width, side in zip(row, widths, sides, strict=True):
            space = " " * (width - _width(text))
            cells.append(space + text if side == "r" else text + space)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _width(text: str) -> int:
    """Columns that a text takes in a terminal, about: wide letters two, marks none."""
    return sum(
        0
        if unicodedata.category(letter) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(letter) in "WF"
        else 1
        for letter in text
    )


def _escaped(words: str) -> str:
    marked = _NUMBERED.sub(r"\1\\\2", _MARKUP.sub(lambda found: "\\" + found[0], words))
    return "".join(_HTML.get(letter, letter) for letter in marked)


def _isolated(line: str) -> str:
    """Letters written from right to left turn themselves alone."""
    if any(unicodedata.bidirectional(letter) in _LEFTWARD for letter in line):
        return line.join(_ISOLATED)
    return line
