"""Which types a model file may hold: told from what the file says, before anything in it is made."""

import inspect
import json
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np

from tamis.classify.knn.symbols import MixedSpace
from tamis.compose.catalog import catalog
from tamis.select.ranking import Ranking
from tamis.trees.tree import Tree

#: Classes of this library that fitted parts hold and that are no parts themselves.
_HELPERS = (MixedSpace, Tree)

_SPARSE = {f"scipy.sparse._{form}.{form}_{kind}" for form in ("csr", "csc") for kind in ("array", "matrix")}
_SKLEARN_TREE = "sklearn.tree._tree.Tree"
#: What skops leaves to us. Trees and sparse matrices are looked at again once they are made
#: (:mod:`tamis.compose.sound`), since compiled code follows the indices in them without looking.
_LEFT_TO_US = {
    *_SPARSE,
    _SKLEARN_TREE,
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
    "numpy.dtype",
}
_SCALARS = {f"numpy.{kind.__name__}" for kind in np.sctypeDict.values()} - {"numpy.object_"}

#: Ways in which skops makes a thing, and of what types. Whatever calls a function that the file names is no such way.
_WAYS: dict[str, set[str]] = {
    "JsonNode": {"builtins.str"},
    "DictNode": {"builtins.dict"},
    "ListNode": {"builtins.list"},
    "TupleNode": {"builtins.tuple"},
    "SetNode": {"builtins.set"},
    "SliceNode": {"builtins.slice"},
    "TypeNode": {"builtins.str", "builtins.int", "builtins.float", "builtins.bool", *_SCALARS},
    "NdArrayNode": {"numpy.ndarray", *_SCALARS},
    "DTypeNode": {"numpy.dtype"},
    "RandomStateNode": {"numpy.random.mtrand.RandomState"},
    "RandomGeneratorNode": {"numpy.random._generator.Generator"},
    "SparseMatrixNode": _SPARSE,
    "TreeNode": {_SKLEARN_TREE},
}
#: Ways in which skops itself knows which of scikit-learn's types are harmless.
_OF_SKLEARN = ("ObjectNode", "LossNode")

#: Unpacked, a model may be so many times the size of its file, and so many bytes at any rate.
_MOST_TIMES, _ALWAYS = 100, 2**28


class RefusedError(Exception):
    """Why a model is not to be loaded or saved: the end of a sentence about its file."""


def trusted_types() -> list[str]:
    """The types that may be loaded beside those that skops itself takes for harmless.

    They are the estimators of the catalog, those registered in this process included, what fitted ones hold, and a few
    of scipy's and scikit-learn's.
    """
    return sorted(_own_types() | _LEFT_TO_US)


def _own_types() -> set[str]:
    parts = {part.make for part in catalog().values() if inspect.isclass(part.make)} | {Ranking, *_HELPERS}
    return {f"{cls.__module__}.{cls.__qualname__}" for cls in parts}


def check_types(packed: bytes) -> None:
    """Refuse the bytes of a skops file that names a type, or a way to make a thing, that models have no use for.

    skops looks at the types too. This comes first, before a module is imported because a file names it, and depends
    neither on skops' version nor, outside scikit-learn, on what it trusts of its own accord.
    """
    with ZipFile(BytesIO(packed)) as archive:
        _check_size(archive, len(packed))
        told = json.loads(archive.read("schema.json"))
    own = _own_types()
    for way, kind in sorted(set(_nodes(told))):
        known = kind in _WAYS.get(way, ()) or (way == "ObjectNode" and kind in own)
        if not known and not (way in _OF_SKLEARN and kind.startswith("sklearn.")):
            raise RefusedError(f"holds {kind[:100]!r} (as {way[:40]}), which is nothing that models are made of")


def _nodes(told: Any) -> Iterator[tuple[str, str]]:
    """How each thing is made, and of what type it is; what is told of a thing may lie anywhere in what is told."""
    waiting = [told]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if "__loader__" in one:
                yield str(one["__loader__"]), f"{one.get('__module__')}.{one.get('__class__')}"
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)


def _check_size(archive: ZipFile, size: int) -> None:
    """Refuse what is small as a file and large in memory."""
    members = archive.infolist()
    if len({member.filename for member in members}) < len(members):
        raise RefusedError("holds two things of one name")
    total = sum(member.file_size for member in members)
    if any(member.compress_type != ZIP_STORED for member in members) or total > size:
        raise RefusedError("is packed in another way than models are")
    for member in members:
        content = archive.read(member)
        # scipy's sparse matrices are archives of their own, and packed.
        if content.startswith(b"PK"):
            with ZipFile(BytesIO(content)) as arrays:
                total += sum(array.file_size for array in arrays.infolist())
    if total > max(_ALWAYS, _MOST_TIMES * size):
        raise RefusedError(f"would take {total / 2**20:.0f} MB of memory, too much for its {size / 2**20:.2g} MB")
