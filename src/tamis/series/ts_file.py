"""Files of the UEA and UCR archive, ``.ts``: a header of lines with @, then a line for each item.

Its variables stand between colons, the class behind the last one.
A value that is ``?`` or ``NaN`` is missing. Files with a time stamp for each value are not read.
"""

import numpy as np

from tamis.base.errors import DataError, quoted
from tamis.base.task import WantedTask
from tamis.base.types import FloatArray
from tamis.data.parsing.reader import Source
from tamis.series.series import Series

_YES = {"true": True, "false": False}


def read_ts(source: Source) -> Series:
    """The items of a file, with their classes or numbers; without either in the header, items to predict."""
    lines = source.text.split("\n")
    known, first = _header(lines, source)
    items: list[list[FloatArray]] = []
    labels: list[str] = []
    for number, line in enumerate(lines[first:], first + 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        where = f"{source.path}, line {number}"
        if "(" in line:
            raise DataError(f"{where}: has time stamps in brackets; write the values at equal steps instead")
        parts = line.split(":")
        if known["labelled"]:
            labels.append(parts.pop().strip())
            if labels[-1] in ("", "?"):
                raise DataError(f"{where}: the class after the last colon is missing")
        items.append([_values(part, place, where) for place, part in enumerate(parts, 1)])
        if len(parts) != len(items[0]):
            raise DataError(f"{where}: has {len(parts)} variables, the first item {len(items[0])}")
        sizes = {one.size for one in items[-1]}
        if len(sizes) > 1:
            raise DataError(f"{where}: its variables have {min(sizes)} to {max(sizes)} values; all need as many")
    if not items:
        raise DataError(f"{source.path}: has no items after @data")
    y = None
    if known["labelled"]:
        y = _numbers(labels, source) if known["numeric"] else _classes(labels)
    task: WantedTask = "auto" if y is None else "regress" if known["numeric"] else "classify"
    stacked = [np.column_stack(item) for item in items]
    return Series.of(stacked, y, name=source.stem, task=task)


def _header(lines: list[str], source: Source) -> tuple[dict[str, bool], int]:
    """Whether items have labels and whether these are numbers, and the number of the first line of data."""
    known = {"labelled": False, "numeric": False}
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        tag, where = words[0].lower(), f"{source.path}, line {number}"
        if tag == "@data":
            return known, number
        if not tag.startswith("@"):
            raise DataError(f"{where}: a line of the header begins with @; got {quoted(line)}")
        if tag in ("@timestamps", "@classlabel", "@targetlabel"):
            yes = _YES.get(words[1].lower()) if len(words) > 1 else None
            if yes is None:
                raise DataError(f"{where}: {words[0]} must be true or false; got {quoted(line)}")
            if tag == "@timestamps" and yes:
                raise DataError(f"{where}: files with time stamps are not read; write the values at equal steps")
            if tag != "@timestamps" and yes:
                known = {"labelled": True, "numeric": tag == "@targetlabel"}
    raise DataError(f"{source.path}: has no line @data, so it is no .ts file or was cut short")


def _values(text: str, place: int, where: str) -> FloatArray:
    words = text.split(",")
    try:
        return np.array([np.nan if word.strip() == "?" else float(word) for word in words])
    except ValueError:
        bad = next(word for word in words if not _is_number(word))
        raise DataError(f"{where}, variable {place}: {quoted(bad.strip())} is not a number") from None


def _is_number(word: str) -> bool:
    try:
        float(word.replace("?", "nan"))
    except ValueError:
        return False
    return True


def _numbers(labels: list[str], source: Source) -> np.ndarray:
    if (bad := next((label for label in labels if not _is_number(label)), None)) is not None:
        raise DataError(f"{source.path}: the target {quoted(bad)} is not a number")
    return np.array([float(label) for label in labels])


def _classes(labels: list[str]) -> np.ndarray:
    """Whole numbers where all labels are written so, else words."""
    if all(label.removeprefix("-").isdecimal() and str(int(label)) == label for label in labels):
        return np.array([int(label) for label in labels])
    return np.array(labels)
