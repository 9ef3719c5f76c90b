"""One seed in, one independent seed per task out, whatever the number of workers.

All randomness of the library starts here. The seed of a task depends on the seed of the run and the number of the task
only, never on the order in which workers finish.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from sklearn.pipeline import Pipeline

Estimator = TypeVar("Estimator")


def spawn(seed: int, *task: int) -> int:
    """The seed of a task identified by whole numbers (repeat, fold, ...).

    Examples
    --------
    >>> spawn(0, 1, 2) == spawn(0, 1, 2), spawn(0, 1, 2) == spawn(0, 2, 1)
    (True, False)
    """
    return int(np.random.SeedSequence(seed, spawn_key=task).generate_state(1)[0])


def generator(seed: int | np.random.Generator | np.random.RandomState | None, *task: int) -> np.random.Generator:
    """A random generator for a task; ``None`` draws fresh entropy, as in scikit-learn."""
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, np.random.RandomState):
        seed = int(seed.randint(np.iinfo(np.int32).max))
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=task))


def seeded(estimator: Estimator, seed: int) -> Estimator:
    """Set every ``random_state`` of an estimator that is None (nested ones too) to a seed of its own.

    The seeds of a pipeline's step depend on `seed` and its place only: models with equal first steps seed them equally.
    """
    for place, step in enumerate(places(estimator)):
        seeded_at(step, seed, place)
    return estimator


def seeded_at(step: Estimator, seed: int, place: int) -> Estimator:
    """Seed one step of a model, at a place in its chain."""
    return seeded_states(step, open_states(step), seed, place)


def open_states(step: Any) -> tuple[tuple[int, str], ...]:
    """The ``random_state`` parameters of a step (nested ones too) that are not set, with their numbers among all.

    They are numbered by name. A part's own comes after those of a classifier that it holds as its ``estimator``, and
    before those of a selector.
    """
    if not hasattr(step, "get_params"):
        return ()
    parameters = step.get_params(deep=True)
    names = [name for name in parameters if name.split("__")[-1] == "random_state"]
    names.sort(key=lambda name: _sort_name(name, parameters))
    return tuple((i, name) for i, name in enumerate(names) if parameters[name] is None)


def _sort_name(name: str, parameters: Mapping[str, Any]) -> str:
    """The name of a parameter, ``selector`` in it for an ``estimator`` that selects."""
    words = name.split("__")
    held = [parameters.get("__".join(words[: end + 1])) for end in range(len(words))]
    return "__".join(
        "selector" if word == "estimator" and hasattr(one, "transform") and not hasattr(one, "predict") else word
        for word, one in zip(words, held, strict=True)
    )


def seeded_states(step: Estimator, states: tuple[tuple[int, str], ...], seed: int, place: int) -> Estimator:
    """Seed the given ``random_state`` parameters of a step."""
    if states:
        target: Any = step
        own = spawn(seed, place)
        target.set_params(**{name: spawn(own, i) for i, name in states})
    return step


def places(model: Any) -> list[Any]:
    """The steps of a pipeline, flattened, "passthrough" included; a subclass of scikit-learn's pipeline is one step."""
    return [p for _, step in model.steps for p in places(step)] if type(model) is Pipeline else [model]
