"""What a warning of a report is made of."""

from collections.abc import Sequence
from typing import TypeAlias

#: What was found, why it matters, and its level: "warning" when a number cannot be trusted, else "note".
Remark: TypeAlias = tuple[str, str, str]

#: Names in a sentence.
_NAMED = 5


def some(names: Sequence[str]) -> str:
    """The first names, and how many more there are.

    Examples
    --------
    >>> some(list("abcdefg"))
    'a, b, c, d, e and 2 more'
    """
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
