"""Write docs/parts.md from the catalog; with --check, only say whether it is up to date."""

import sys
from pathlib import Path

from tamis.compose.catalog import KINDS, catalog
from tamis.compose.chain import as_text

PAGE = Path(__file__).with_name("parts.md")


def text() -> str:
    """The page: one table a kind, one row a part."""
    lines = [
        "# The parts",
        "",
        "Written by `make docs` from the catalog; `tamis list NAME` shows one part in full.",
        "",
    ]
    for kind in KINDS.values():
        chosen = [part for part in catalog().values() if part.kind == kind]
        if not chosen:
            continue
        lines += [
            f"## {kind.capitalize()}s",
            "",
            "| name | what it does | parameters (default) | from |",
            "|---|---|---|---|",
        ]
        for part in sorted(chosen, key=lambda p: p.name):
            parameters = ", ".join(f"{p.name} ({as_text(p.default)})" for p in part.parameters.values())
            lines.append(f"| `{part.name}` | {part.summary} | {parameters} | {part.paper} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PAGE.write_text(text(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != text():
        sys.exit("docs/parts.md is out of date: run 'make docs'")
