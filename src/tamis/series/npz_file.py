"""numpy archives of items of equal length: ``X`` of three dimensions with ``y``, whole or in parts.

The arrays are ``X`` and ``y``, or ``X_train``, ``y_train``, ``X_test`` and so on; ``n_train`` is the number of first
items that are the official training set, and ``channels``, ``variables`` or ``channel_names`` hold names. Axes are
items, variables and time unless the layout says otherwise, or the number of names fits the last axis alone.
"""

import zipfile
import zlib
from io import BytesIO

import numpy as np

from tamis.base.errors import DataError
from tamis.data.parsing.matrices import PARTS
from tamis.data.parsing.reader import Source
from tamis.series.series import Layout, Series

_NAMES = ("variables", "channels", "channel_names")


def read_npz(source: Source, layout: Layout | None) -> Series:
    """The items of an archive, with their official parts."""
    arrays = _arrays(source)
    parts = {part: f"X_{part}" for part in PARTS if f"X_{part}" in arrays} or {"": "X"}
    for name in parts.values():
        X = arrays.get(name)
        if X is None or X.ndim != 3 or X.dtype.kind not in "biuf":
            raise DataError(f"{source.path}: has no array {name} of numbers in three dimensions")
    labels = [arrays.get(f"y_{part}" if part else "y") for part in parts]
    names = next((arrays[name].astype(str).tolist() for name in _NAMES if name in arrays), None)
    items = [item for name in parts.values() for item in arrays[name]]
    if layout is None:
        fits_last = names is not None and items[0].shape[1] == len(names) != items[0].shape[0]
        layout = "time-variables" if fits_last else "variables-time"
    split = None
    if "" not in parts:
        split = np.repeat([*parts], [len(arrays[name]) for name in parts.values()])
    elif "n_train" in arrays:
        split = np.where(np.arange(len(items)) < int(arrays["n_train"]), "train", "test")
    if any(label is None for label in labels) and not all(label is None for label in labels):
        raise DataError(f"{source.path}: some parts have labels y and others have none")
    y = None if labels[0] is None else np.concatenate([np.asarray(label).reshape(-1) for label in labels])
    return Series.of(items, y, variables=names, layout=layout, split=split, name=source.stem)


def _arrays(source: Source) -> dict[str, np.ndarray]:
    try:
        with np.load(BytesIO(source.content), allow_pickle=False) as found:
            if not hasattr(found, "files"):
                raise ValueError
            return {name: found[name] for name in found.files}
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error):
        raise DataError(f"{source.path}: is damaged, or no .npz archive of plain arrays") from None
