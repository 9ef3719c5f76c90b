"""How a model was found: the stages of its search, which recipes failed, and what the model is made of."""

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from tamis.compose.catalog import entry, entry_of
from tamis.compose.chain import Call, Chain
from tamis.compose.recipe import parse, to_text
from tamis.mining.mined import Mined
from tamis.trees.figure import figure
from tamis.trees.rules import HasTree, rules
from tamis.validation.json_values import plain

#: Most failures, trees, rules of a tree, and leaves of a tree that is drawn.
_FAILED, _TREES, _RULES, _LEAVES = 200, 6, 60, 60


class _Tree(NamedTuple):
    """A tree inside a model: its place, the steps that end in it, and the names of its columns."""

    place: str
    steps: tuple[Any, ...]
    names: np.ndarray


def story(found: Mined, stages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The entry "story" of the facts: how a search went and what the model it chose is made of.

    `stages` have the name of each ("stage") and when it began in seconds ("begin"). A search may return to a stage:
    "recipes" and "best" are those of all visits. "best" is among the recipes of the stage with the most folds.
    """
    ends = [*(one["begin"] for one in stages[1:]), found.run_.seconds]
    facts: dict[str, Any] = {
        "stages": [
            {"stage": one["stage"], "begin": one["begin"], "end": max(one["begin"], end), **_tried(found, one["stage"])}
            for one, end in zip(stages, ends, strict=False)
        ],
        "choices": found.run_.choices,
        "trees": [_tree_facts(one) for one in islice(_trees_of(found), _TREES)],
        "members": _members(found),
        "failed": [{"recipe": text, "why": why} for text, why in list(found.run_.failed.items())[:_FAILED]],
    }
    return dict(plain(facts))


def _tried(found: Mined, stage: str) -> dict[str, Any]:
    """How many recipes a stage tried, and the best value among those with the most folds."""
    metric = found.validation_.metrics[0]
    rows = found.leaderboard_.filter(pl.col("stage") == stage)
    values = rows.filter(pl.col("folds") == pl.col("folds").max())[metric.name].drop_nans().drop_nulls()
    return {"recipes": rows.height, "best": values.min() if metric.better == "low" else values.max()}


def _members(found: Mined) -> list[dict[str, Any]]:
    """The members of the ensemble that ends the model, or of the one that selects for it."""
    steps = _steps(found.model)
    number = next((i for i in (len(steps) - 1, *range(len(steps))) if hasattr(steps[i], "estimators_")), None)
    if number is None:
        return []
    ensemble = steps[number]
    call = [part for part in parse(found.recipe_).parts if isinstance(part, Call)][number]
    known, given = entry(call.name), dict(call.arguments)
    written = next((given[name] for name in known.parameters if name in given and known.takes_recipes(name)), None)
    if isinstance(written, Chain):
        texts = [str(written)] * len(ensemble.estimators_)
    elif written is not None and len(written) == len(ensemble.estimators_):
        texts = [str(one) for one in written]
    else:
        texts = [_recipe(one) for one in ensemble.estimators_]
    weights = getattr(ensemble, "weights_", [None] * len(texts))
    return [{"recipe": text, "weight": weight} for text, weight in zip(texts, weights, strict=True)]


def _trees_of(found: Mined) -> Iterator[_Tree]:
    names = getattr(found, "feature_names_in_", None)
    if names is None:
        names = np.array([f"x{j}" for j in range(found.n_features_in_)])
    return _trees(found.model, "", np.asarray(names, dtype=object))


def _trees(model: Any, place: str, names: np.ndarray) -> Iterator[_Tree]:
    """The trees of a fitted model, from its first step to its last."""
    steps = _steps(model)
    for number, step in enumerate(steps):
        if isinstance(step, HasTree):
            yield _Tree(place, tuple(steps[: number + 1]), names)
        elif hasattr(step, "estimators_"):
            for member, one in enumerate(step.estimators_, 1):
                yield from _trees(one, f"{place}member {member} of {step.part.name}: ", names)
        if number + 1 < len(steps):
            names = step.get_feature_names_out(names)


def _tree_facts(found: _Tree) -> dict[str, Any]:
    tree = found.steps[-1]
    nodes, wording = tree.tree_, tree.wording(found.names)
    leaves = int(nodes.is_leaf.sum())
    return {
        "title": found.place + " | ".join(_recipe(step) for step in found.steps) + _scale(found.steps[:-1]),
        "rules": [str(rule) for rule in rules(nodes, wording)[:_RULES]],
        "figure": _unpacked(figure(nodes, wording).to_plotly_json()) if leaves <= _LEAVES else None,
        "leaves": leaves,
    }


def _scale(steps: Sequence[Any]) -> str:
    """The transforms before the tree, where its splits are not in values of the data."""
    known = [one for one in map(entry_of, steps) if one is not None and one.kind == "transform"]
    # These do not change values, or name their output.
    changed = [
        one.name for one in known if one.card.role not in ("vocabulary", "class_vocabulary", "imputation", "encoding")
    ]
    return f" (in values after {', '.join(changed)})" if changed else ""


def _unpacked(value: Any) -> Any:
    """A figure with arrays of numbers, which plotly packs into text."""
    if isinstance(value, dict):
        if value.keys() >= {"dtype", "bdata"}:
            packed = b64decode(value["bdata"])
            return np.frombuffer(packed, dtype=np.dtype(value["dtype"]).newbyteorder("<"))
        return {key: _unpacked(inner) for key, inner in value.items()}
    return [_unpacked(inner) for inner in value] if isinstance(value, list | tuple) else value


def _steps(model: Any) -> list[Any]:
    return [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]


def _recipe(estimator: Any) -> str:
    """A part as a recipe, without the seeds that were set for its fit."""
    bare = clone(estimator)
    seeds = [name for name in bare.get_params(deep=True) if name.split("__")[-1] == "random_state"]
    return to_text(bare.set_params(**dict.fromkeys(seeds)))
