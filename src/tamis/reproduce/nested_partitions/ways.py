"""The two ways to draw sets from a region, and the searches that draw so."""

from typing import Any

from tamis.select import NestedPartitions

#: Searches on all columns.
REPLICATIONS = 5

#: The ways to draw, and the words for them.
WAYS: dict[str, dict[str, Any]] = {"tamis": {}, "plain": {"draw": "coin", "keep_best": False}}
WORDS = {"tamis": "all sizes, best kept", "plain": "coin, none kept"}


def selector(way: str, seed: int | None, **options: Any) -> NestedPartitions:
    return NestedPartitions(random_state=seed, **WAYS[way], **options)
