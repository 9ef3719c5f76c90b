"""The row groups of a Parquet file, read from its footer.

The footer is a structure of Thrift's compact protocol: each field has a byte with its type and the distance of its
number from the one before, and ends with a zero byte. Numbers are written in groups of seven bits, signed ones zigzag.
"""

import numpy as np

from tamis.kernels.compiler import helper, kernel

#: Types of the protocol; 1 and 2 are true and false.
_BYTE, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 3, 6, 7, 8, 9, 10, 11, 12

#: How deep structures may lie within each other.
_DEEPEST = 32

#: What is returned instead of a place or a number where the bytes are no footer.
BROKEN = -1


@helper
def varint(data, at):
    """An unsigned number and the place behind it; the place is below 0 where there is none."""
    value, shift = np.int64(0), 0
    while 0 <= at < data.shape[0] and shift < 63:
        byte = np.int64(data[at])
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    return np.int64(0), BROKEN


@helper
def field(data, at, number):
    """Type and number of the next field of a structure, and the place behind its head; type 0 ends the structure."""
    if not 0 <= at < data.shape[0]:
        return 0, 0, BROKEN
    head = np.int64(data[at])
    at += 1
    if head == 0:
        return 0, 0, at
    if head >> 4:
        return head & 15, number + (head >> 4), at
    value, at = varint(data, at)
    return head & 15, (value >> 1) ^ -(value & 1), at


@helper
def listed(data, at):
    """Number and type of the elements of a list, and the place behind its head."""
    if not 0 <= at < data.shape[0]:
        return np.int64(0), 0, BROKEN
    head = np.int64(data[at])
    at += 1
    count = head >> 4
    if count == 15:
        count, at = varint(data, at)
    # An element takes a byte or more.
    return count, head & 15, at if count <= data.shape[0] else BROKEN


@helper
def behind(data, at, kind):
    """The place behind a value of a type."""
    left, element, second = np.empty(_DEEPEST, np.int64), np.empty(_DEEPEST, np.int64), np.empty(_DEEPEST, np.int64)
    depth = 0
    while at >= 0:
        if kind == _BYTE:
            at += 1
        elif _BYTE < kind <= _I64:
            _, at = varint(data, at)
        elif kind == _DOUBLE:
            at += 8
        elif kind == _BINARY:
            size, at = varint(data, at)
            at = at + size if 0 <= at <= data.shape[0] - size else BROKEN
        elif _LIST <= kind <= _STRUCT:
            if depth == _DEEPEST:
                return BROKEN
            if kind == _STRUCT:
                left[depth] = -1
            elif kind == _MAP:
                left[depth], at = varint(data, at)
                left[depth] *= 2
                if left[depth] and 0 <= at < data.shape[0]:
                    element[depth], second[depth] = data[at] & 15, data[at] >> 4
                    at += 1
            else:
                left[depth], element[depth], at = listed(data, at)
                second[depth] = element[depth]
            depth += 1
        elif not 1 <= kind <= 2:
            return BROKEN
        kind = 0
        while depth and kind == 0 and at >= 0:
            top = depth - 1
            if left[top] == 0:
                depth -= 1
            elif left[top] > 0:
                kind = second[top] if left[top] % 2 == 0 else element[top]
                left[top] -= 1
                if kind <= 2:
                    # Truth values take a byte in a list, and none in a structure.
                    kind = _BYTE
            else:
                kind, _, at = field(data, at, 0)
                if kind == 0:
                    depth -= 1
        if kind == 0:
            break
    return at if at <= data.shape[0] else BROKEN


@helper
def number(data, at):
    """A signed number and the place behind it."""
    value, at = varint(data, at)
    return (value >> 1) ^ -(value & 1), at


@helper
def column_extent(data, at):
    """Where the pages of a column of a row group begin in the file, their bytes, and the place behind its structure."""
    begin, size = np.int64(-1), np.int64(-1)
    kind, name = 1, 0
    while kind and at >= 0:
        kind, name, at = field(data, at, name)
        if name == 3 and kind == _STRUCT:
            inner, part = 1, 0
            while inner and at >= 0:
                inner, part, at = field(data, at, part)
                if inner == _I64 and part == 7:
                    size, at = number(data, at)
                elif inner == _I64 and part in (9, 11):
                    # Pages of data, or of the dictionary in front of them.
                    place, at = number(data, at)
                    begin = place if begin < 0 else min(begin, place)
                elif inner:
                    at = behind(data, at, inner)
        elif kind:
            at = behind(data, at, kind)
    return begin, size, at


@kernel("int64(uint8[::1], int64, int64[::1], int64[::1])", reads=1)
def row_groups(data, end, rows, sizes):
    """Write rows and bytes of each row group, and return how many there are; :data:`BROKEN` where it is no footer.

    `end` is where the pages of the file end: none may lie behind. The outputs hold an element for each byte.
    """
    at, kind, name = 0, 1, 0
    total, found = np.int64(-1), np.int64(0)
    while kind and at >= 0:
        kind, name, at = field(data, at, name)
        if name == 3 and kind == _I64:
            total, at = number(data, at)
        elif name == 4 and kind == _LIST:
            found, element, at = listed(data, at)
            if element != _STRUCT:
                return BROKEN
            for group in range(found):
                rows[group], sizes[group] = -1, 0
                inner, part = 1, 0
                while inner and at >= 0:
                    inner, part, at = field(data, at, part)
                    if part == 1 and inner == _LIST:
                        columns, each, at = listed(data, at)
                        if each != _STRUCT:
                            return BROKEN
                        for _ in range(columns):
                            begin, size, at = column_extent(data, at)
                            if at < 0 or begin < 0 or size < 0 or begin > end - size:
                                return BROKEN
                            sizes[group] += size
                    elif part == 3 and inner == _I64:
                        rows[group], at = number(data, at)
                    elif inner:
                        at = behind(data, at, inner)
                if at < 0 or rows[group] < 0:
                    return BROKEN
        elif kind:
            at = behind(data, at, kind)
    if at < 0 or rows[:found].sum() != total:
        return BROKEN
    return found
