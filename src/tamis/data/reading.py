"""How a table is to be read, where the file does not tell or tells it wrong."""

import codecs
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, get_args

from tamis.base.errors import TamisError
from tamis.base.task import WantedTask

#: Words for delimiters that are hard to type.
_DELIMITERS = {"tab": "\t", "\\t": "\t", "space": " ", "blank": " ", "comma": ",", "semicolon": ";", "bar": "|"}

#: The attributes that are lists.
_LISTS = ("na", "drop", "keep", "id", "text")


@dataclass(frozen=True)
class Reading:
    """How a table is to be read; what is left out is found in the file.

    The options of the command line have the same names.

    Attributes
    ----------
    decimal : {".", ","}, optional
        The decimal mark of numbers.
    na : tuple of str
        Spellings of a missing value beside the usual ones. A number means every value equal to it.
    encoding : str, optional
        A codec of Python, such as "cp1252" or "mac-roman".
    delimiter : str, optional
        One character, or "tab", "space", "comma", "semicolon" or "bar". A space means a run of blanks.
    transpose : bool
        Whether the columns of the file are the rows of the table, as where genes are rows.
    labels : path, optional
        A second file with the classes.
    on : str, optional
        The column that links the rows of both files; it is not a feature.
    drop, keep, id : tuple of str
        Columns, by name or pattern (``date_*``), to leave out, to keep whatever the rules say, and to leave out as
        identifiers (:func:`tamis.data.column_sense.sense`).
    text : tuple of str
        Columns of text, by name or pattern, whose words become features.
    kinds : mapping of str to str
        What columns are, by name or pattern: "numeric", "nominal", "date", "id" or "text".
    task : {"auto", "classify", "regress"}
        Whether the target holds classes or numbers; by default its values tell
        (:func:`tamis.data.target_task.guess_task`).

    Examples
    --------
    >>> from tamis.data import Reading
    >>> Reading(decimal=",", na=["unknown"]).na
    ('unknown',)
    >>> Reading(decimal=";")
    Traceback (most recent call last):
    ...
    tamis.base.errors.TamisError: decimal must be '.' or ','; got ';'
    """

    decimal: str | None = None
    na: tuple[str, ...] = ()
    encoding: str | None = None
    delimiter: str | None = None
    transpose: bool = False
    labels: str | os.PathLike[str] | None = None
    on: str | None = None
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)
    task: WantedTask = "auto"

    def __post_init__(self) -> None:
        for name in _LISTS:
            given = getattr(self, name)
            object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(map(str, given)))
        if self.decimal not in (None, ".", ","):
            raise TamisError(f"decimal must be '.' or ','; got {self.decimal!r}")
        if self.task not in get_args(WantedTask):
            raise TamisError(f"task must be auto, classify or regress; got {self.task!r}")
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", _DELIMITERS.get(self.delimiter, self.delimiter))
            if len(str(self.delimiter)) != 1 or not self.delimiter.isascii() or self.delimiter in '"\n\r\x00':
                raise TamisError(f"delimiter must be one character or a word such as tab; got {self.delimiter!r}")
            if self.delimiter == self.decimal:
                raise TamisError(f"delimiter and decimal cannot both be {self.decimal!r}")
        if self.encoding is not None:
            try:
                "".encode(self.encoding)
                codecs.lookup(self.encoding)
            except (LookupError, UnicodeError, ValueError):
                raise TamisError(
                    f"encoding {self.encoding!r} is unknown; cp1252, utf-16 and mac-roman are examples"
                ) from None
        if self.on is not None and self.labels is None:
            raise TamisError("on names the column that links a file of labels, so it goes with labels")

    def given(self) -> list[str]:
        """The names of the attributes that were set."""
        return [one.name for one in fields(self) if getattr(self, one.name) not in (one.default, {})]

    @property
    def chooses_columns(self) -> bool:
        """Whether it says which columns are features, or what they are."""
        return bool(self.drop or self.keep or self.id or self.text or self.kinds)

    @property
    def all_kinds(self) -> dict[str, str]:
        """The kinds of columns, those of `text` included."""
        return {**dict.fromkeys(self.text, "text"), **self.kinds}

    def words(self) -> str:
        """The same as options of a command, with a blank in front; empty when nothing was set."""
        options: list[Any] = []
        for name in self.given():
            value = getattr(self, name)
            if name == "kinds":
                value = [f"{column}={kind}" for column, kind in value.items()]
            for each in value if name in (*_LISTS, "kinds") else [value]:
                options += [f"--{name}"] if each is True else [f"--{name}", str(each)]
        return "".join(f" {shlex.quote(word)}" for word in options)
