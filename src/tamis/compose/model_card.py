"""The card of a saved model: its recipe, its training data, the columns it needs and its error."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Self

import numpy as np
import polars as pl
import scipy.sparse as sp
from sklearn.base import is_regressor
from sklearn.impute import KNNImputer
from sklearn.preprocessing import Normalizer

from tamis.base.errors import TamisError
from tamis.base.feature_tracking import used_features
from tamis.base.mixed_columns import columns_of, only_numbers
from tamis.base.part import Part
from tamis.base.task import BOTH, Task
from tamis.compose.chain import to_text
from tamis.compose.versions import made_with
from tamis.data.column_plan import ColumnPlan
from tamis.data.dataset import Dataset
from tamis.data.fingerprint import fingerprint
from tamis.data.parsing.matrices import numbered
from tamis.data.word_counts import WordCounts

#: The version of this layout of a card; a file with another is refused.
LAYOUT = 1

#: One-to-one transforms of scikit-learn whose output depends on the whole row.
_WHOLE_ROWS = (Normalizer, KNNImputer)


class CardError(Exception):
    """Why a card cannot be read: the end of a sentence about its file."""


@dataclass(frozen=True)
class Card:
    """The description of a saved model.

    Attributes
    ----------
    recipe : str
    columns : mapping of str to str
        The input columns in order, by name: "numeric" or "nominal"; "word" for counts of a word, or of a level, that
        rows may lack.
    levels : mapping of str to list of str
        The values of each nominal column.
    uses : list of str, or None
        The columns that the model uses (:func:`tamis.base.feature_tracking.used_features`); None where unknown.
    needs_all : bool
        Whether its predictions depend on every column anyway, as when rows are divided by their length.
    classes : list of str, int or float
        In the order of the model's own; empty for a model that predicts numbers or nothing.
    target, data : str
        The names of the target's column and of the training data.
    rows : int
    fingerprint : str
        Of the training data (:func:`tamis.data.fingerprint.fingerprint`).
    error : dict, or None
        The honest error: metric, estimate, standard error and the splits. None when there is none.
    task : {"classify", "regress"}
        Whether it predicts classes or numbers.
    plan : mapping
        What is done to the columns of a table before (:class:`tamis.data.column_plan.ColumnPlan`, as a dict).
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
    task: Task = "classify"
    plan: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=made_with)
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def needs(self) -> set[str]:
        """The columns on which predictions depend."""
        return set(self.columns if self.needs_all or self.uses is None else self.uses)

    @property
    def nominal(self) -> set[str]:
        """The nominal columns."""
        return {name for name, kind in self.columns.items() if kind == "nominal"}

    def to_json(self) -> str:
        """The card as a JSON document."""
        fields = {"layout": LAYOUT, **asdict(self), "error": _plain(self.error)}
        try:
            return json.dumps(fields, indent=1, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError):
            raise TamisError("the card of a model takes numbers, text, lists and mappings only") from None

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a card; raises :class:`CardError`."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            raise CardError("its card is not JSON") from None
        if not isinstance(found, dict) or "layout" not in found:
            raise CardError("its card is not that of a model")
        if found["layout"] != LAYOUT:
            raise CardError(
                f"its card has another layout than {LAYOUT}, the one read here; use the tamis that wrote it"
            )
        # Earlier cards had no plan, and were of classifiers.
        found.setdefault("plan", {})
        found.setdefault("task", "classify")
        for name, accepts in _FIELDS.items():
            if name not in found or not accepts(found[name]):
                raise CardError(f"its card has no usable {name!r}")
        return cls(**{name: found[name] for name in _FIELDS})


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
        The names of the labels and of the data.
    recipe : str, optional
        By default the text of the model.
    error : dict, optional
        The honest error, of plain values: ``metric``, ``estimate``, ``standard_error`` and ``split``.

    Returns
    -------
    Card

    See Also
    --------
    tamis.compose.model_file.save_model : Writes the model with its card.
    """
    data_fingerprint = fingerprint(X, y, feature_names=feature_names)
    plan = X.plan.to_dict() if isinstance(X, Dataset) and X.plan != ColumnPlan() else {}
    if isinstance(X, Dataset):
        feature_names, target, data, X = X.feature_names, X.target, X.name, X.X
    X = X if hasattr(X, "shape") else np.asarray(X)
    if feature_names is None:
        feature_names = getattr(X, "columns", numbered(X.shape[1]))
    names = [str(name) for name in feature_names]
    levels = _levels(X)
    columns = {name: "nominal" if place in levels else "numeric" for place, name in enumerate(names)}
    if isinstance(X, WordCounts) and X.vocabulary is not None:
        columns |= dict.fromkeys(names[X.vocabulary.n_numbers :], "word")
    if len(columns) < len(names):
        raise TamisError("a model is saved with the names of its columns, and two columns have one name")
    mask = used_features(model, len(names))
    return Card(
        recipe=to_text(model) if recipe is None else recipe,
        columns=columns,
        levels={names[place]: found for place, found in levels.items()},
        uses=None if mask is None else [name for name, used in zip(names, mask, strict=True) if used],
        needs_all=_needs_whole_rows(model),
        classes=np.asarray(getattr(model, "classes_", []) if hasattr(model, "predict") else []).tolist(),
        target=target,
        data=data,
        rows=int(X.shape[0]),
        fingerprint=data_fingerprint,
        error=error,
        task="regress" if is_regressor(model) else "classify",
        plan=plan,
    )


def _levels(X: Any) -> dict[int, list[str]]:
    """The values of each nominal column, by its place."""
    if sp.issparse(X) or only_numbers(X):
        return {}
    columns = enumerate(columns_of(X, "a model card"))
    return {j: column.drop_nulls().unique().sort().to_list() for j, column in columns if column.dtype == pl.String}


def _needs_whole_rows(model: Any) -> bool:
    """Whether the output of any estimator inside, fitted or not, depends on whole rows."""
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
    """numpy's values as Python's, and NaN as None."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and value != value else value


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_mapping_of_text(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text, value.values()))


def _is_plan(value: Any) -> bool:
    try:
        ColumnPlan.from_dict(value)
    except TamisError:
        return False
    return True


#: Which values each entry accepts.
_FIELDS: dict[str, Callable[[Any], bool]] = {
    "recipe": _is_text,
    "columns": lambda value: _is_mapping_of_text(value) and set(value.values()) <= {"numeric", "nominal", "word"},
    "levels": lambda value: isinstance(value, dict) and all(map(_is_list_of_text, value.values())),
    "uses": lambda value: value is None or _is_list_of_text(value),
    "needs_all": lambda value: isinstance(value, bool),
    "classes": lambda value: isinstance(value, list) and all(isinstance(one, str | int | float) for one in value),
    "target": _is_text,
    "data": _is_text,
    "rows": lambda value: isinstance(value, int),
    "fingerprint": _is_text,
    "plan": lambda value: value == {} or _is_plan(value),
    "error": lambda value: value is None or isinstance(value, dict),
    "task": lambda value: value in BOTH,
    "versions": _is_mapping_of_text,
    "created": _is_text,
}
