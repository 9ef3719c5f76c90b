"""Write what is derived: docs/parts.md, the table of docs/reproduce.md, and the stubs that editors read.

With --check, only say whether they are up to date.
"""

import re
import sys
from importlib import import_module
from pathlib import Path

from tamis import scores
from tamis.compose.catalog import KINDS, entries
from tamis.compose.chain import as_text
from tamis.reproduce import studies

ROOT = Path(__file__).parents[1]

#: The rooms of parts, whose names are found when they are first used.
ROOMS = ("classify", "discretize", "regress", "select", "transform")


def parts() -> str:
    """The page of parts: one table a kind, one row a part."""
    lines = [
        "# The parts",
        "",
        "Written by `make docs` from the catalog; `tamis list NAME` shows one part in full.",
        "",
    ]
    for kind in KINDS.values():
        chosen = [part for part in entries() if part.kind == kind]
        if not chosen:
            continue
        lines += [
            f"## {kind.capitalize()}s",
            "",
            "| recipe | class | what it does | parameters (default) | from |",
            "|---|---|---|---|---|",
        ]
        for part in sorted(chosen, key=lambda p: p.name):
            parameters = ", ".join(f"{p.name} ({as_text(p.default)})" for p in part.parameters.values())
            lines.append(f"| `{part.name}` | `{part.class_name}` | {part.summary} | {parameters} | {part.card.paper} |")
        lines.append("")
    return "\n".join(lines)


def reproduced() -> str:
    """The page of reproduced papers, with its table of studies made anew."""
    lines = ["| name | paper | what is run | data |", "|---|---|---|---|"]
    for name, study in studies().items():
        data = ", ".join(study.data) or "its own"
        lines.append(f"| `{name}` | {study.title}: {study.paper} | {study.summary} | {data} |")
    page = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
    return re.sub("(?s)<!-- studies -->.*<!-- end -->", "\n".join(["<!-- studies -->", *lines, "<!-- end -->"]), page)


def stub(room: str) -> str:
    """What a room exports, for editors and type checkers."""
    package = import_module(f"tamis.{room}")
    imports = sorted(f"from {getattr(package, name).__module__} import {name} as {name}" for name in dir(package))
    return "\n".join(["# Written by `make docs` from what is found in the room.\n", *imports]) + "\n"


def scores_stub() -> str:
    """The same for the scores, each of which is an object of one class."""
    lines = [
        "# Written by `make docs` from what is found in the room.\n",
        "from collections.abc import Iterable, Mapping",
        "from typing import Any\n",
        "from tamis.base.score import Score",
        "from tamis.base.types import FloatArray\n",
        "all_scores: dict[str, Score]\n",
        "def get(name: str) -> Score: ...",
        "def many(",
        "    X: Any, y: Any = None, *, by: Iterable[str | tuple[str, Mapping[str, Any]]], sample_weight: Any = None",
        ") -> FloatArray: ...\n",
        *(f"{name}: Score" for name in sorted(scores.all_scores)),
    ]
    return "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    """Every derived file and its text."""
    source = ROOT / "src" / "tamis"
    return {
        ROOT / "docs" / "parts.md": parts(),
        ROOT / "docs" / "reproduce.md": reproduced(),
        source / "scores" / "__init__.pyi": scores_stub(),
        **{source / room / "__init__.pyi": stub(room) for room in ROOMS},
    }


if __name__ == "__main__":
    for page, text in pages().items():
        if "--check" not in sys.argv:
            page.write_text(text, encoding="utf-8")
        elif not page.exists() or page.read_text(encoding="utf-8") != text:
            sys.exit(f"{page.relative_to(ROOT)} is out of date: run 'make docs'")
