"""What a parameter takes, in words: scikit-learn's constraints as text."""

from numbers import Integral
from typing import Any

import numpy as np

from tamis.base._sklearn import HasMethods, Interval, Options, make_constraint


def in_words(constraints: list[Any]) -> str:
    """What the constraints of one parameter allow.

    Examples
    --------
    >>> in_words([Interval(Integral, 1, None, closed="left"), None])
    'a whole number of 1 or more, or none'
    """
    texts = sorted({_one(c) for c in constraints}, key=lambda t: (t == "none", t))
    if len(texts) > 1 and texts[-1] == "none":
        return f"{' or '.join(texts[:-1])}, or none"
    return " or ".join(texts)


def _one(constraint: Any) -> str:
    if constraint is None:
        return "none"
    if isinstance(constraint, str):
        return {"boolean": "true or false", "random_state": "a seed"}.get(constraint, constraint)
    if isinstance(constraint, Interval):
        return _interval(constraint)
    if isinstance(constraint, Options):
        return " or ".join(sorted(str(option) for option in constraint.options))
    if constraint is callable:
        return "a function"
    if constraint is np.random.Generator:
        return "a seed"
    if isinstance(constraint, HasMethods):
        return "a recipe " + ("that ends in" if "predict" in constraint.methods else "without") + " a classifier"
    return "text" if constraint is str else str(make_constraint(constraint)).removeprefix("an instance of ")


def _interval(interval: Interval) -> str:
    number = "a whole number" if interval.type is Integral else "a number"
    ends = []
    if (low := interval.left) is not None:
        ends.append(f"of {low:g} or more" if interval.closed in ("left", "both") else f"above {low:g}")
    if (high := interval.right) is not None:
        ends.append(f"up to {high:g}" if interval.closed in ("right", "both") else f"below {high:g}")
    return " ".join([number, " and ".join(ends)]).strip()
