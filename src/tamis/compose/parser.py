"""The parser of recipes: Python's own grammar for expressions, and nothing is evaluated."""

import ast
import difflib
import math
import warnings
from collections.abc import Iterable
from typing import Any

from tamis.base.errors import RecipeError
from tamis.base.search_range import Choice, Range
from tamis.compose.catalog import Entry, catalog, entry
from tamis.compose.chain import CONSTANTS, Call, Chain, as_text, variants_of

_RANGES = ("geom", "lin")
_CUTS = ("k", "fraction", "threshold", "fdr")


def parse(text: str) -> Chain:
    """Parse a recipe without building it; an error points at its place in the text.

    Examples
    --------
    >>> [str(chain) for chain in parse("cc({50, 500})").variants()]
    ['cc(50)', 'cc(500)']
    """
    if not text.strip():
        raise RecipeError("the recipe is empty")
    return _Parser(text).chain()


def _last_calls(part: Call | Choice) -> list[Call]:
    """The last call of a part of a chain, or of each option of a set."""
    if isinstance(part, Call):
        return [part]
    return [call for option in part.options for call in _last_calls(option.parts[-1])]


def _nearest(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def _count(number: int) -> str:
    return "no argument" if number == 0 else "one argument" if number == 1 else f"{number} arguments"


class _Parser:
    """Parses one recipe; every error points at its place in the text."""

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.split())

    def chain(self) -> Chain:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SyntaxWarning)
                tree = ast.parse(self.text, mode="eval")
        except SyntaxError as error:
            place = max((error.offset or 1) - 1, 0)
            raise self._error("the recipe cannot be read here", place, place + 1) from None
        except (ValueError, RecursionError, MemoryError):
            raise RecipeError("the recipe cannot be read: it is nested too deeply or is not text") from None
        try:
            return self._chain(tree.body)
        except RecursionError:
            raise RecipeError("the recipe cannot be read: it is nested too deeply") from None

    def _chain(self, node: ast.expr) -> Chain:
        nodes: list[ast.expr] = []
        while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            nodes.append(node.right)
            node = node.left
        nodes = [node, *reversed(nodes)]
        parts = tuple(self._part(n) for n in nodes)
        for place, part in zip(nodes[:-1], parts[:-1], strict=True):
            for last in _last_calls(part):
                known = entry(last.name)
                if known.kind in ("classifier", "regressor") and not known.selects:
                    raise self._at(place, f"{last.name} is a {known.kind}: it can only come last in a chain")
        return Chain(parts)

    def _part(self, node: ast.expr) -> Call | Choice:
        if isinstance(node, ast.Set):
            return Choice(tuple(self._chain(n) for n in node.elts))
        if isinstance(node, ast.Name):
            return self._bind(node, node.id, [], [])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return self._bind(node.func, node.func.id, node.args, node.keywords)
        raise self._at(node, "a part is a name, a name with arguments in parentheses, or a set of parts")

    def _bind(self, place: ast.expr, name: str, args: list[ast.expr], keywords: list[ast.keyword]) -> Call:
        if name not in catalog():
            raise self._at(place, f"no part is called {name!r}{_nearest(name, catalog())}")
        part = entry(name)
        bound: dict[str, Any] = {}
        for index, node in enumerate(args):
            parameter = part.positional_name(index, self._value(node))
            if parameter is None:
                raise self._at(node, f"{name} takes {_count(len(part.card.positional))} without a name")
            if parameter.startswith("*"):
                self._set(bound, part, parameter[1:], tuple(self._recipe(n, part) for n in args[index:]), node)
                break
            self._set(bound, part, parameter, self._value(node, recipe=part.takes_recipes(parameter)), node)
        for item in keywords:
            if item.arg is None or item.arg not in part.parameters:
                known = f"; it takes: {', '.join(part.parameters)}" if part.parameters else ""
                nearest = _nearest(item.arg or "", part.parameters)
                raise self._at(item, f"{name} has no parameter {item.arg!r}{nearest or known}")
            value = self._value(item.value, recipe=part.takes_recipes(item.arg))
            self._set(bound, part, item.arg, value, item)
        cuts = [cut for cut in _CUTS if part.score is not None and cut in bound]
        if len(cuts) > 1:
            raise self._at(place, f"{name} takes one cut; got {' and '.join(cuts)}")
        return Call(name, tuple((p, bound[p]) for p in part.parameters if p in bound))

    def _set(self, bound: dict[str, Any], part: Entry, parameter: str, value: Any, place: ast.AST) -> None:
        if parameter in bound:
            raise self._at(place, f"{part.name} gets {parameter} twice")
        for single in variants_of(value):
            if refusal := self._refused(part, parameter, single):
                raise self._at(place, refusal)
        bound[parameter] = value

    def _refused(self, part: Entry, parameter: str, value: Any) -> str | None:
        """Why a value without sets and ranges is refused, or None when it is accepted."""
        if f"*{parameter}" in part.card.positional and value is not None:
            wrong = [v for v in value if not isinstance(v, Chain)] if isinstance(value, tuple) else [value]
            return f"{part.name}: {parameter} takes a list of recipes; got {as_text(wrong[0])}" if wrong else None
        known = part.parameters[parameter]
        if isinstance(value, Chain):
            refused = known.refusal(value.build(), part.name)
            return refused and f"{part.name}: {parameter} takes {known.takes}; got {value}"
        return known.refusal(list(value) if isinstance(value, tuple) else value, part.name)

    def _recipe(self, node: ast.expr, part: Entry) -> Any:
        """The recipe, or set of recipes, at a place where nothing else is allowed."""
        value = self._value(node, recipe=True)
        for single in variants_of(value):
            if isinstance(single, str):
                raise self._at(node, f"no part is called {single!r}{_nearest(single, catalog())}")
            if not isinstance(single, Chain):
                raise self._at(node, f"{part.name} takes recipes here; got {as_text(single)}")
        return value

    def _value(self, node: ast.expr, *, recipe: bool = False) -> Any:
        """The value at a place; with `recipe` a bare word that names a part is a recipe."""
        if isinstance(node, ast.Constant) and type(node.value) in (int, float, str, bool, type(None)):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            value = self._value(node.operand)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.Name):
            return self._chain(node) if recipe and node.id in catalog() else CONSTANTS.get(node.id, node.id)
        if isinstance(node, ast.Set):
            return Choice(tuple(self._value(n, recipe=recipe) for n in node.elts))
        if isinstance(node, ast.List):
            return tuple(self._value(n, recipe=recipe) for n in node.elts)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _RANGES:
            return self._range(node, node.func.id)
        if isinstance(node, (ast.Call, ast.BinOp)):
            return self._chain(node)
        raise self._at(
            node, "a value is a number, a word, quoted text, true, false, none, inf, a list, a set, a range or recipe"
        )

    def _range(self, node: ast.Call, spacing: str) -> Range:
        values = [self._value(n) for n in node.args]
        numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
        if node.keywords or not 2 <= len(values) <= 3 or not numbers:
            raise self._at(node, f"{spacing} takes two numbers and how many values: {spacing}(50, 5000, 10)")
        low, high, count = [*values, 10][:3]
        if not isinstance(count, int) or count < 1 or not math.isfinite(low) or not math.isfinite(high):
            raise self._at(node, f"{spacing} needs finite ends and at least one value")
        if spacing == "geom" and not (low > 0 and high > 0):
            raise self._at(node, "geom needs both ends above zero")
        return Range(spacing, low, high, count)

    def _at(self, node: Any, message: str) -> RecipeError:
        raw = self.text.encode()
        start = len(raw[: node.col_offset].decode(errors="ignore"))
        end = len(raw[: node.end_col_offset].decode(errors="ignore"))
        return self._error(message, start, end)

    def _error(self, message: str, start: int, end: int) -> RecipeError:
        return RecipeError(f"{message}\n  {self.text}\n  {' ' * start}{'^' * max(end - start, 1)}")
