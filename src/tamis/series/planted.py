"""Generated time series in which the classes differ in the correlations of a few variables alone."""

import numpy as np

from tamis.base.seeds import generator
from tamis.base.validation import check_number, check_whole
from tamis.series.series import Series

#: The name under which it is loaded.
NAME = "planted_series"


def planted(
    n_items: int = 120,
    n_variables: int = 12,
    n_times: int = 60,
    *,
    n_relevant: int = 3,
    strength: float = 1.0,
    seed: int = 0,
) -> Series:
    """Items of two classes; the relevant variables share a hidden course, with a sign that differs between the classes.

    Every variable is an autoregression of order 1 with the same law in both classes, so that none by itself tells them
    apart. In class "b" the first relevant variable follows the hidden course with the opposite sign. Names of
    relevant variables are r1, r2, ..., those of others n1, n2, ...; their order is shuffled.

    Parameters
    ----------
    n_items, n_variables, n_times : int
    n_relevant : int, default=3
    strength : float, default=1.0
        Of the hidden course, beside noise of deviation 1.
    seed : int, default=0

    Examples
    --------
    >>> planted(6, 4, 20)
    Series(planted_series: 6 items of 20 time points, 4 variables, 2 classes)
    """
    for what, value, least in (("n_items", n_items, 2), ("n_times", n_times, 1), ("n_relevant", n_relevant, 2)):
        check_whole(what, value, least)
    check_whole("n_variables", n_variables, n_relevant)
    check_number("strength", strength, 0, np.inf)
    rng = generator(seed)
    names = np.array([f"r{i + 1}" if i < n_relevant else f"n{i + 1 - n_relevant}" for i in range(n_variables)])
    order = rng.permutation(n_variables)
    y = np.where(np.arange(n_items) % 2 == 0, "a", "b")
    items = []
    for label in y:
        shocks = rng.normal(size=(n_times, n_variables))
        course = strength * rng.normal(size=n_times)
        sign = np.ones(n_relevant)
        sign[0] = 1.0 if label == "a" else -1.0
        shocks[:, :n_relevant] += course[:, None] * sign
        # The others vary as much.
        shocks[:, n_relevant:] *= np.sqrt(1.0 + strength**2)
        for time in range(1, n_times):
            shocks[time] += 0.5 * shocks[time - 1]
        items.append(shocks[:, order])
    return Series.of(items, y, variables=names[order].tolist(), name=NAME)
