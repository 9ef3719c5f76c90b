"""One seed in, one independent seed per task out, whatever the number of workers.

Randomness anywhere in the library starts here. A task's seed depends on the run's seed and the task's
own number only, never on the order in which workers finish.
"""

from typing import Any, TypeVar

import numpy as np
from sklearn.pipeline import Pipeline

Estimator = TypeVar("Estimator")


def spawn(seed: int, *task: int) -> int:
    """The seed of a task named by whole numbers (repeat, fold, ...).

    Examples
    --------
    >>> spawn(0, 1, 2) == spawn(0, 1, 2), spawn(0, 1, 2) == spawn(0, 2, 1)
    (True, False)
    """
    return int(np.random.SeedSequence(seed, spawn_key=task).generate_state(1)[0])


def generator(seed: int | np.random.Generator | np.random.RandomState | None, *task: int) -> np.random.Generator:
    """A random generator for a task; ``None`` draws fresh entropy, as everywhere in scikit-learn."""
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, np.random.RandomState):
        seed = int(seed.randint(np.iinfo(np.int32).max))
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=task))


def seeded(estimator: Estimator, seed: int) -> Estimator:
    """Give every open ``random_state`` of an estimator (nested ones too) a seed of its own.

    A step of a pipeline gets its seeds from `seed` and its place in the chain, whatever comes after it: models that
    begin alike are seeded alike there. A ``random_state`` that the user has set is left as it is.
    """
    for place, step in enumerate(places(estimator)):
        seeded_at(step, seed, place)
    return estimator


def seeded_at(step: Estimator, seed: int, place: int) -> Estimator:
    """The same for one step of a model, at a place in its chain."""
    return seeded_states(step, open_states(step), seed, place)


def open_states(step: Any) -> tuple[tuple[int, str], ...]:
    """The ``random_state`` parameters of a step (nested ones too) that are not set, with their numbers among all."""
    if not hasattr(step, "get_params"):
        return ()
    parameters = step.get_params(deep=True)
    names = sorted(name for name in parameters if name.split("__")[-1] == "random_state")
    return tuple((i, name) for i, name in enumerate(names) if parameters[name] is None)


def seeded_states(step: Estimator, states: tuple[tuple[int, str], ...], seed: int, place: int) -> Estimator:
    """The same where it is known which parameters are open."""
    if states:
        target: Any = step
        own = spawn(seed, place)
        target.set_params(**{name: spawn(own, i) for i, name in states})
    return step


def places(model: Any) -> list[Any]:
    """The steps of a pipeline in order, those of pipelines within it in their place, empty ones too.

    A pipeline of another kind than scikit-learn's own may treat its steps in ways of its own: it counts as one step.
    """
    return [p for _, step in model.steps for p in places(step)] if type(model) is Pipeline else [model]
