"""Options of the command line as parameters."""

import math

from tamis.base.errors import TamisError


def row_numbers(text: str) -> list[int]:
    """Numbers of rows with commas between them, and ranges of them.

    >>> row_numbers("17, 20,31-33")
    [17, 20, 31, 32, 33]
    """
    found: list[int] = []
    for word in text.split(","):
        first, dash, last = (part.strip() for part in word.partition("-"))
        if not first.isdecimal() or (dash and not last.isdecimal()) or (dash and int(last) < int(first)):
            raise TamisError(f"--rows takes numbers from 1, such as 17,20,31-35; got {text!r}")
        found += range(int(first), int(last or first) + 1)
    return found


def size_of(text: str) -> int | str | None:
    """The parameter `max_features`.

    >>> size_of("3"), size_of("auto"), size_of("all")
    (3, 'auto', None)
    """
    if text in ("auto", "all"):
        return None if text == "all" else text
    if not text.isdecimal() or int(text) < 1:
        raise TamisError(f"--max-features takes a number from 1, auto or all; got {text!r}")
    return int(text)


def threshold_of(text: str) -> float | str:
    """The parameter `threshold`.

    >>> threshold_of("2.5"), threshold_of("level")
    (2.5, 'level')
    """
    if text in ("auto", "level"):
        return text
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 < found < math.inf:
        raise TamisError(f"--threshold takes a number above 0, auto or level; got {text!r}")
    return found
