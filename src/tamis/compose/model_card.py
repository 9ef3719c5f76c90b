"""The card of a saved model: what it is, what it was learnt from, what it needs and how well it does."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Self

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.impute import KNNImputer
from sklearn.preprocessing import Normalizer

from tamis.base.errors import TamisError
from tamis.base.feature_tracking import kept
from tamis.base.mixed_columns import columns_of, only_numbers
from tamis.base.part import Part
from tamis.compose.chain import to_text
from tamis.compose.versions import made_with
from tamis.data.dataset import Dataset
from tamis.data.fingerprint import fingerprint
from tamis.data.parsing.matrices import numbered

#: The number of this way to write a card; a file with another is refused.
LAYOUT = 1

#: Steps of scikit-learn that give a column for a column and yet look at the whole row.
_WHOLE_ROWS = (Normalizer, KNNImputer)


class CardError(Exception):
    """Why a card cannot be read: the end of a sentence about its file."""


@dataclass(frozen=True)
class Card:
    """What is known of a saved model.

    Attributes
    ----------
    recipe : str
    columns : mapping of str to str
        The input columns in order, by name: "numeric" or "nominal".
    levels : mapping of str to list of str
        For each nominal column the words that occur in it.
    uses : list of str, or None
        The columns that the model uses (:func:`tamis.base.feature_tracking.kept`); None where that cannot be said.
    needs_all : bool
        Whether its answers depend on every column all the same, as they do when rows are divided by their length.
    classes : list of str, int or float
        In the order of the model's own; empty for a model that does not predict.
    target : str
        What the classes are called.
    data : str
        What the training data is called.
    rows : int
    fingerprint : str
        Of the training data (:func:`tamis.data.fingerprint.fingerprint`).
    error : dict, or None
        The honest error: metric, estimate, standard error and how they were found. None when there is none.
    versions : mapping of str to str
        Of tamis, Python and the libraries.
    created : str
        Day and time, in UTC.
    """

    recipe: str
    columns: Mapping[str, str]
    levels: Mapping[str, list[str]]
    uses: list[str] | None
    needs_all: bool
    classes: list[Any]
    target: str
    data: str
    rows: int
    fingerprint: str
    error: Mapping[str, Any] | None = None
    versions: Mapping[str, str] = field(default_factory=made_with)
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def needs(self) -> set[str]:
        """The columns on which answers depend."""
        return set(self.columns if self.needs_all or self.uses is None else self.uses)

    @property
    def nominal(self) -> set[str]:
        """The columns that hold words."""
        return {name for name, kind in self.columns.items() if kind == "nominal"}

    def to_json(self) -> str:
        """The card as a JSON document."""
        told = {"layout": LAYOUT, **asdict(self), "error": _plain(self.error)}
        try:
            return json.dumps(told, indent=1, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError):
            raise TamisError("the card of a model takes numbers, words, lists and mappings only") from None

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a card; raises :class:`CardError`."""
        try:
            told = json.loads(text)
        except (ValueError, RecursionError):
            raise CardError("its card is not JSON") from None
        if not isinstance(told, dict) or "layout" not in told:
            raise CardError("its card is not that of a model")
        if told.pop("layout") != LAYOUT:
            raise CardError(
                f"its card has another layout than {LAYOUT}, the one read here; use the tamis that wrote it"
            )
        for name, takes in _FIELDS.items():
            if name not in told or not takes(told[name]):
                raise CardError(f"its card has no usable {name!r}")
        return cls(**{name: told[name] for name in _FIELDS})


def card_of(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    feature_names: Any = None,
    target: str = "class",
    data: str = "data",
    recipe: str | None = None,
    error: Mapping[str, Any] | None = None,
) -> Card:
    """The card of a model that was fitted on these rows.

    Parameters
    ----------
    model : fitted estimator
    X : Dataset, array, sparse matrix or data frame
        A data set brings `y`, `feature_names`, `target` and `data` with it.
    y : array of labels, optional
    feature_names : array of str, optional
        By default those of a data frame, else x1, x2, ....
    target, data : str
        What the labels and the data are called.
    recipe : str, optional
        By default what the model prints as.
    error : dict, optional
        The honest error, of plain values: ``metric``, ``estimate``, ``standard_error`` and ``split``, how it was found.
    """
    made_of = fingerprint(X, y, feature_names=feature_names)
    if isinstance(X, Dataset):
        feature_names, target, data, X = X.feature_names, X.target, X.name, X.X
    X = X if hasattr(X, "shape") else np.asarray(X)
    if feature_names is None:
        feature_names = getattr(X, "columns", numbered(X.shape[1]))
    names = [str(name) for name in feature_names]
    words = _levels(X)
    columns = {name: "nominal" if place in words else "numeric" for place, name in enumerate(names)}
    if len(columns) < len(names):
        raise TamisError("a model is saved with the names of its columns, and two columns have one name")
    mask = kept(model, len(names))
    return Card(
        recipe=to_text(model) if recipe is None else recipe,
        columns=columns,
        levels={names[place]: found for place, found in words.items()},
        uses=None if mask is None else [name for name, used in zip(names, mask, strict=True) if used],
        needs_all=_looks_at_whole_rows(model),
        classes=_classes(model).tolist(),
        target=target,
        data=data,
        rows=int(X.shape[0]),
        fingerprint=made_of,
        error=error,
    )


def _levels(X: Any) -> dict[int, list[str]]:
    """The words of each nominal column, by its place."""
    if sp.issparse(X) or only_numbers(X):
        return {}
    columns = enumerate(columns_of(X, "a model card"))
    return {j: column.drop_nulls().unique().sort().to_list() for j, column in columns if column.dtype == pl.String}


def _classes(model: Any) -> np.ndarray:
    return np.asarray(getattr(model, "classes_", []) if hasattr(model, "predict") else [])


def _looks_at_whole_rows(model: Any) -> bool:
    """Whether any estimator inside, fitted or not, looks at whole rows."""
    waiting, seen = [model], set()
    while waiting:
        held = waiting.pop()
        part = getattr(held, "part", None)
        if isinstance(held, _WHOLE_ROWS) or (isinstance(part, Part) and part.role == "sample_scaling"):
            return True
        if id(held) in seen:
            continue
        seen.add(id(held))
        if hasattr(held, "get_params") and not isinstance(held, type):
            waiting.extend(vars(held).values())
        elif isinstance(held, list | tuple):
            waiting.extend(held)
    return False


def _plain(value: Any) -> Any:
    """Values of numpy as Python's own, and None for a number that does not exist."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and value != value else value


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _is_mapping_of_words(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(word, str) for word in value.values())


#: What each entry must be.
_FIELDS: dict[str, Callable[[Any], bool]] = {
    "recipe": lambda value: isinstance(value, str),
    "columns": lambda value: _is_mapping_of_words(value) and set(value.values()) <= {"numeric", "nominal"},
    "levels": lambda value: isinstance(value, dict) and all(_is_words(words) for words in value.values()),
    "uses": lambda value: value is None or _is_words(value),
    "needs_all": lambda value: isinstance(value, bool),
    "classes": lambda value: isinstance(value, list) and all(isinstance(one, str | int | float) for one in value),
    "target": lambda value: isinstance(value, str),
    "data": lambda value: isinstance(value, str),
    "rows": lambda value: isinstance(value, int),
    "fingerprint": lambda value: isinstance(value, str),
    "error": lambda value: value is None or isinstance(value, dict),
    "versions": _is_mapping_of_words,
    "created": lambda value: isinstance(value, str),
}
