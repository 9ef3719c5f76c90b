"""Parts that draw from a posterior, with few draws: for tests of all parts that are not about how well chains mix."""

from typing import Any

#: Arguments by the recipe word of the part.
FEW_DRAWS: dict[str, dict[str, Any]] = {
    "bayes_net": {"hidden": 3, "draws": 20, "warmup": 20, "chains": 1, "leapfrog": 10},
    "diffusion_tree": {"draws": 2, "warmup": 2},
}


def with_few_draws(name: str) -> str:
    """The recipe of a part: its word alone unless it draws."""
    given = ", ".join(f"{key}={value}" for key, value in FEW_DRAWS.get(name, {}).items())
    return f"{name}({given})" if given else name
