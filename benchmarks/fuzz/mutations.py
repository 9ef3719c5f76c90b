"""Damage to bytes, to texts and to the inside of a model file."""

import io
import json
import random
import zipfile
from typing import Any

import numpy as np

#: Numbers at which lengths, indices and counts break.
_EDGES = (0, 1, -1, 2, 3, 7, 127, 255, 256, 65535, 2**31 - 1, 2**31, -(2**31), 2**40, 2**62, -(2**63))
_TOKENS = (
    "(",
    ")",
    "|",
    ",",
    "=",
    "-",
    ".",
    '"',
    "'",
    "[",
    "]",
    "{",
    "}",
    "\\",
    "\n",
    "\0",
    "%",
    "1e999",
    "nan",
    "é",
    " ",
)


def damaged(draw: random.Random, content: bytes, other: bytes) -> bytes:
    """The content with a few bytes changed, swapped, repeated, taken away, or taken from another sample."""
    found = bytearray(content)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 6))):
        at = draw.randrange(len(found) + 1)
        span = min(draw.choice((1, 2, 4, 8, 40)), len(found) - at)
        match draw.randrange(9):
            case 0 | 1 if at < len(found):
                found[at] = draw.randrange(256)
            case 2 if at < len(found):
                found[at] ^= 1 << draw.randrange(8)
            case 3:
                found[at:at] = draw.randbytes(draw.randint(1, 4))
            case 4:
                del found[at : at + span]
            case 5:
                found[at:at] = found[at : at + span] * draw.choice((1, 2, 50))
            case 6:
                found[at : at + 8] = (draw.choice(_EDGES) % 2**64).to_bytes(8, draw.choice(("little", "big")))
            case 7 if other:
                start = draw.randrange(len(other))
                found[at : at + span] = other[start : start + max(1, span)]
            case 8 if draw.random() < 0.3:
                del found[at:]
    return bytes(found)


def mangled(draw: random.Random, text: str, other: str) -> str:
    """A text with a few of its pieces replaced, repeated or lost."""
    for _ in range(draw.choice((1, 1, 2, 3, 5))):
        at = draw.randrange(len(text) + 1)
        span = draw.choice((0, 1, 1, 3, 8))
        start = draw.randrange(len(other) + 1)
        piece = draw.choice(
            (draw.choice(_TOKENS), "", other[start : start + span], text[at : at + span] * 3, str(draw.choice(_EDGES)))
        )
        text = text[:at] + piece + text[at + span :]
    return text * 300 if draw.random() < 0.002 else text


def tampered(draw: random.Random, content: bytes) -> bytes:
    """A model file that was opened and closed again: values of its card, of its schema or of its arrays differ."""
    card, packed = _members(content, "card.json", "model.skops")
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        inner = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        arrays = [name for name in inner if name.endswith(".npy")]
        kind = draw.random()
        if kind < 0.15:
            card = _edited(draw, card)
        elif kind < 0.5 or not arrays:
            inner["schema.json"] = _edited(draw, inner["schema.json"])
        elif kind < 0.6:
            one, two = draw.choice(arrays), draw.choice(arrays)
            inner[one] = inner[two]
        else:
            name = draw.choice(arrays)
            inner[name] = _changed(draw, inner[name])
    return _packed({"card.json": card, "model.skops": _packed(inner)})


def _members(content: bytes, *names: str) -> list[bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [archive.read(name) for name in names]


def _packed(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _edited(draw: random.Random, content: bytes) -> bytes:
    """A JSON document with one value replaced, doubled, taken away or exchanged with another."""
    document = json.loads(content)
    places = list(_places(document))
    if not places:
        return content
    holder, key = draw.choice(places)
    other, place = draw.choice(places)
    match draw.randrange(6):
        case 0:
            holder[key] = _value(draw, holder[key])
        case 1:
            holder[key] = _value(draw, holder[key])
        case 2:
            del holder[key]
        case 3:
            holder[key] = json.loads(json.dumps(other[place]))
        case 4:
            holder[key], other[place] = other[place], holder[key]
        case 5:
            holder[key] = [holder[key]] * draw.choice((0, 2, 3))
    try:
        return json.dumps(document).encode()
    except ValueError:
        # Exchanged with a part of itself.
        return content


def _places(document: Any) -> Any:
    """Every place of a value in a document: what holds it, and the key."""
    waiting = [document]
    while waiting:
        one = waiting.pop()
        for key in list(one) if isinstance(one, dict) else range(len(one)):
            yield one, key
            if isinstance(one[key], dict | list):
                waiting.append(one[key])


def _value(draw: random.Random, old: Any) -> Any:
    if isinstance(old, str):
        # The values of a schema are JSON in JSON.
        try:
            inner = json.loads(old)
        except ValueError:
            return draw.choice((mangled(draw, old, old[::-1]), "", str(draw.choice(_EDGES))))
        if not isinstance(inner, dict | list):
            return (
                json.dumps(_value(draw, inner))
                if not isinstance(inner, str)
                else json.dumps(mangled(draw, inner, inner))
            )
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        return draw.choice((old + 1, old - 1, -old, *_EDGES, None, str(old)))
    if isinstance(old, float):
        return draw.choice((0.0, -old, old * 1e300, float("nan"), float("inf"), 1, None))
    return draw.choice((None, 0, -1, "x", [], {}, True, 1e308, _EDGES[-2]))


def _changed(draw: random.Random, content: bytes) -> bytes:
    """An array with other values, another shape, another type, or damaged bytes."""
    try:
        array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except Exception:  # an array of objects, or one that an earlier mutation broke
        return damaged(draw, content, b"")
    array = array.copy()
    match draw.randrange(7):
        case 0 | 1 if array.size and array.dtype.names is None and array.dtype.kind in "iufb":
            place = draw.randrange(array.size)
            with np.errstate(all="ignore"):
                edge = draw.choice((*_EDGES, float("nan"), float("inf"), 1e308, -0.5))
                flat = array.reshape(-1)
                flat[place : place + 1] = np.array([edge]).astype(array.dtype)
        case 2 if array.size and array.dtype.names:
            field = draw.choice(array.dtype.names)
            flat = array.reshape(-1)
            flat[field][draw.randrange(array.size)] = np.array([draw.choice(_EDGES)]).astype(array.dtype[field])[0]
        case 3 if array.ndim and array.shape[0]:
            axis = draw.randrange(array.ndim)
            size = array.shape[axis]
            array = np.take(
                array, draw.choice((range(size - 1), range(0), [0] * (size + 1), range(1, size))), axis=axis
            )
        case 4:
            array = draw.choice((array.T, array.reshape(-1), array[None], array.reshape(-1, 1)))
        case 5 if array.dtype.names is None and array.dtype.kind in "iufb":
            with np.errstate(all="ignore"):
                array = array.astype(draw.choice(("i1", "i4", "i8", "u8", "f4", "f8", "?", "c16", "S3", ">f8")))
        case _:
            return damaged(draw, content, b"")
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array), allow_pickle=False)
    return buffer.getvalue()
