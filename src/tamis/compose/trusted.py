"""Which types a model file may hold: checked in the text of the file, before any object is made."""

import inspect
import json
import math
from collections.abc import Iterator
from io import BytesIO
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np

from tamis.base._sklearn import loss_types
from tamis.compose.catalog import entries
from tamis.compose.each_label import EachLabel
from tamis.margins.boosted_lasso.growing import GrowingColumns
from tamis.margins.boosted_lasso.online import KeptRows
from tamis.margins.boosted_lasso.path import Path
from tamis.neighbours.mixed_space import MixedSpace
from tamis.select.ranking import Ranking
from tamis.trees.tree import Tree

#: Classes of this library that are in model files and are not parts themselves.
_HELPERS = (EachLabel, GrowingColumns, KeptRows, MixedSpace, Path, Tree)

_SPARSE = {f"scipy.sparse._{form}.{form}_{kind}" for form in ("csr", "csc") for kind in ("array", "matrix")}
_SKLEARN_TREE = "sklearn.tree._tree.Tree"
#: Types that skops does not trust itself. Trees and sparse matrices are checked again once they are made
#: (:mod:`tamis.compose.sound`), since compiled code follows the indices in them unchecked.
_TREE_PREDICTOR = "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"
_LEFT_TO_US = {*_SPARSE, _SKLEARN_TREE, _TREE_PREDICTOR, "numpy.dtype"}
_SCALARS = {f"numpy.{kind.__name__}" for kind in np.sctypeDict.values()} - {"numpy.object_"}

#: The nodes of skops that are allowed, and their types. Nodes that call a function named in the file are not.
_NODES: dict[str, set[str]] = {
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
#: Nodes for which skops itself knows the harmless types of scikit-learn.
_OF_SKLEARN = ("ObjectNode", "LossNode")

#: Unpacked, a model may have this many times the size of its file, or this many bytes.
_MOST_TIMES, _ALWAYS = 100, 2**28


class RefusedError(Exception):
    """Why a model is not loaded or saved: the end of a sentence about its file."""


def trusted_types() -> list[str]:
    """The types that may be loaded beside those that skops trusts itself.

    They are the estimators of the catalog, registered ones included, what fitted ones hold, and a few of scipy and
    scikit-learn.
    """
    return sorted(_own_types() | _LEFT_TO_US)


def _own_types() -> set[str]:
    parts = {part.make for part in entries() if inspect.isclass(part.make)} | {Ranking, *_HELPERS}
    return {f"{cls.__module__}.{cls.__qualname__}" for cls in parts}


def _losses() -> set[str]:
    """The losses of boosting by the module that they name, which is "_loss" in scikit-learn 1.7.

    With other versions that name is refused: Python would look for such a module outside scikit-learn.
    """
    return {f"{loss.__module__}.{loss.__qualname__}" for loss in loss_types()}


def check_types(packed: bytes) -> None:
    """Refuse the bytes of a skops file with a type or a node that models do not need.

    skops checks types too. This check comes first, before a module named in the file is imported, and depends neither
    on the version of skops nor, outside scikit-learn, on what skops trusts.
    """
    with ZipFile(BytesIO(packed)) as archive:
        _check_size(archive, len(packed))
        schema = json.loads(archive.read("schema.json"))
        shapes = {name: _shape(archive.read(name)) for name in archive.namelist()}
    nodes = list(_nodes(schema))
    named = {**_NODES, "ObjectNode": _own_types(), "LossNode": _losses()}
    for node, kind in sorted({_type_of(one) for one in nodes}):
        known = kind in named.get(node, ())
        if not known and not (node in _OF_SKLEARN and kind.startswith("sklearn.")):
            raise RefusedError(f"holds {kind[:100]!r} (as {node[:40]!r}), which is no part of a model")
    _check_trees(nodes, shapes)


def _check_trees(nodes: list[dict[str, Any]], shapes: dict[str, tuple[int, ...] | None]) -> None:
    """Refuse a tree of scikit-learn whose arrays have other shapes than it takes for granted when it is made."""
    same: dict[Any, set[Any]] = {}
    for one in nodes:
        # Of objects with one number only the first is made.
        same.setdefault(one.get("__id__"), set()).add(str(one.get("file")))

    def shape(one: Any) -> tuple[int, ...]:
        found = shapes.get(str(one["file"])) if len(same[one.get("__id__")]) == 1 else None
        return () if found is None else found

    for tree in nodes:
        if tree["__loader__"] != "TreeNode":
            continue
        try:
            _, n_classes, n_outputs = tree["__reduce__"]["args"]["content"]
            content = tree["content"]["content"]
            sizes, values = shape(n_classes), shape(content["values"])
            fits = len(shape(content["nodes"])) == 1 and len(values) == 3 and sizes == (int(n_outputs["content"]),)
        except (KeyError, TypeError, ValueError):
            fits = False
        if not fits:
            raise RefusedError("holds a tree whose arrays have shapes that no tree has")


def _shape(content: bytes) -> tuple[int, ...] | None:
    """The shape of an array in a file; None for other content."""
    if not content.startswith(b"\x93NUMPY"):
        return None
    return _head(BytesIO(content))[0]


def _type_of(node: dict[str, Any]) -> tuple[str, str]:
    return str(node["__loader__"]), f"{node.get('__module__')}.{node.get('__class__')}"


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """The nodes of all objects, anywhere in the schema."""
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if "__loader__" in one:
                yield one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)


def _check_size(archive: ZipFile, size: int) -> None:
    """Refuse what is small as a file and large in memory."""
    members = archive.infolist()
    if len({member.filename for member in members}) < len(members):
        raise RefusedError("holds two entries of one name")
    total = sum(member.file_size for member in members)
    if any(member.compress_type != ZIP_STORED for member in members) or total > size:
        raise RefusedError("is packed in another way than models are")
    for member in members:
        content = archive.read(member)
        if content.startswith(b"\x93NUMPY"):
            _check_array(BytesIO(content), len(content))
        # scipy's sparse matrices are archives of their own, and packed.
        if content.startswith(b"PK"):
            with ZipFile(BytesIO(content)) as arrays:
                total += sum(array.file_size for array in arrays.infolist())
                if total <= max(_ALWAYS, _MOST_TIMES * size):
                    for array in arrays.infolist():
                        with arrays.open(array) as start:
                            _check_array(start, array.file_size)
    if total > max(_ALWAYS, _MOST_TIMES * size):
        raise RefusedError(f"would take {total / 2**20:.0f} MB of memory, too much for its {size / 2**20:.2g} MB")


def _check_array(file: IO[bytes], size: int) -> None:
    """Refuse an array whose head asks for more memory than its bytes fill."""
    shape, dtype = _head(file)
    if (asked := math.prod(shape) * dtype.itemsize) > size and not dtype.hasobject:
        raise RefusedError(f"would take {asked / 2**20:.3g} MB of memory for an array of {size / 2**20:.2g} MB")


def _head(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """The shape and the type in the head of an array."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    return shape, dtype
