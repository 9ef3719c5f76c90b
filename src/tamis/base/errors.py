"""Errors whose message is meant for the person at the keyboard.

The command line prints the message of a :class:`TamisError` as one sentence and ends with exit code 2;
in Python it is an ordinary ``ValueError``.
"""


class TamisError(ValueError):
    """Something the user can put right: the message says what and where."""


class DataError(TamisError):
    """A data file or table that cannot be used; the message names the file, line or column."""


class RecipeError(TamisError):
    """A recipe that cannot be read; the message points at the place."""
