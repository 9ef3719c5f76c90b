"""Errors whose message is meant for the user.

The command line prints the message of a :class:`TamisError` as one sentence and ends with exit code 2;
in Python it is an ordinary ``ValueError``.
"""


class TamisError(ValueError):
    """Something the user can correct: the message says what and where."""


class DataError(TamisError):
    """A data file or table that cannot be used; the message names the file, line or column."""


class RecipeError(TamisError):
    """A recipe that cannot be parsed; the message points at the place."""


def quoted(text: str) -> str:
    """A name or value for a message: in quotes, on one line, cut when long.

    >>> print(quoted("two\\nlines"))
    'two\\nlines'
    """
    return repr(text if len(text) <= 40 else text[:37] + "...")
