"""Names of columns: those that a parameter means, those that a fitted estimator saw."""

from numbers import Integral
from typing import Any

from tamis.base.errors import TamisError


def named_columns(given: Any, n_features: int, names: list[str], what: str) -> list[int]:
    """The numbers of columns that are given by number, counted from 0, or by name.

    Parameters
    ----------
    given : int, str, sequence of these, or None
        None names no column.
    n_features : int
    names : list of str
        Of the columns; empty when they have none.
    what : str
        The parameter, for messages.

    Examples
    --------
    >>> named_columns(["size", 0], 3, ["age", "weight", "size"], "wrapper: base")
    [2, 0]
    """
    if given is None:
        return []
    asked = [given] if isinstance(given, str | Integral) else list(given)
    found = []
    for one in asked:
        if isinstance(one, str) and one in names:
            found.append(names.index(one))
        elif isinstance(one, Integral) and not isinstance(one, bool) and 0 <= int(one) < n_features:
            found.append(int(one))
        else:
            raise TamisError(f"{what} names columns or numbers them 0 to {n_features - 1}; got {one!r}")
    if len(set(found)) < len(found):
        raise TamisError(f"{what} names a column twice: {asked}")
    return found


def column_names(fitted: Any) -> list[str]:
    """The names of the columns that an estimator was fitted on, or x0, x1, ... when they had none."""
    named = getattr(fitted, "feature_names_in_", None)
    return [f"x{j}" for j in range(fitted.n_features_in_)] if named is None else [str(name) for name in named]
