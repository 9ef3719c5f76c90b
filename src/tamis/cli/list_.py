"""``tamis list``: the parts, or one of them in full."""

from typing import Annotated, Any

import typer

from tamis.cli.show import Json, print_json, print_line, print_table


def list_parts(
    what: Annotated[
        str | None,
        typer.Argument(help="A kind (transforms, scores, selectors, classifiers, regressors) or the name of a part."),
    ] = None,
    json: Json = False,
) -> None:
    """Show the parts that recipes are made of."""
    from tamis.base.errors import TamisError
    from tamis.compose.catalog import KINDS, entries

    kind = what.removesuffix("s") if what else None
    chosen = [p for p in entries() if what is None or p.kind == kind or p.name == what]
    if not chosen and kind not in KINDS.values():
        raise TamisError(f"{what!r} is neither a kind ({', '.join(k + 's' for k in KINDS.values())}) nor a part")
    if json:
        print_json([_described(part) for part in chosen])
    elif all(part.name == what for part in chosen):
        for part in chosen:
            _print_part(_described(part))
    else:
        for each in KINDS.values():
            rows = [(p.name, p.class_name, p.summary, ", ".join(p.parameters)) for p in chosen if p.kind == each]
            if rows:
                print_table(f"{each}s", ["recipe", "class", "what it does", "parameters"], rows)


def _print_part(part: dict[str, Any]) -> None:
    print_line(f"{part['name']} ({part['kind']}, class {part['class']}): {part['summary']}")
    print_line(f"From: {part['paper']}")
    if part["parameters"]:
        rows = [list(parameter.values()) for parameter in part["parameters"]]
        print_table("", ["parameter", "default", "takes", "search"], rows)


def _described(part: Any) -> dict[str, Any]:
    from tamis.compose.chain import as_text

    return {
        "name": part.name,
        "class": part.class_name,
        "kind": part.kind,
        "summary": part.summary,
        "paper": part.card.paper,
        "positional": list(part.card.positional),
        "parameters": [
            {
                "name": p.name,
                "default": as_text(p.default),
                "takes": p.takes,
                "search": as_text(part.card.search[p.name]) if p.name in part.card.search else None,
            }
            for p in part.parameters.values()
        ],
    }
