"""An entry's predictions for one data set, scored by the measures of the NIPS 2003 challenge."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import numpy as np

from tamis.base.errors import DataError, TamisError
from tamis.base.types import Mask
from tamis.base.validation import check_whole
from tamis.data.dataset import Dataset
from tamis.data.parsing.matrices import MOST_COLUMNS, PARTS
from tamis.validation.metrics import FoldPredictions, all_metrics, standard_error


@dataclass(frozen=True, eq=False)
class Submission:
    """An entry's predictions for one data set.

    Attributes
    ----------
    name : str
        The data set's name, and the start of the files' names.
    labels : mapping of part to array of -1 and +1
        By "train", "valid" and "test".
    confidences : mapping of part to array
        Zero and above; for any of the parts with labels.
    features : int array, optional
        Columns used, from 0, the most important first; None for all.
    """

    name: str
    labels: Mapping[str, np.ndarray]
    confidences: Mapping[str, np.ndarray] = field(default_factory=dict)
    features: np.ndarray | None = None

    def __post_init__(self) -> None:
        if not self.name or PurePath(self.name).name != self.name:
            raise TamisError(f"name must be a plain file name; got {self.name!r}")
        strange = [part for part in (*self.labels, *self.confidences) if part not in PARTS]
        if strange or not self.labels:
            raise TamisError(f"labels must be of {', '.join(PARTS)}; got {', '.join(map(repr, strange)) or 'none'}")
        for part, signs in self.labels.items():
            _as_signs(f"labels of {part}", signs)
        for part, given in self.confidences.items():
            _as_confidences(f"confidences of {part}", given, np.size(self.labels.get(part, ())))
        if self.features is not None:
            _as_features("features", self.features, MOST_COLUMNS)


@dataclass(frozen=True, eq=False)
class EntryScore:
    """The score of an entry on one data set.

    Attributes
    ----------
    ber, ber_error : float
        Balanced error rate, and its standard error.
    auc : float
        Area under the ROC curve; 1 - BER when the entry came without confidences.
    wrong : bool array of shape (n_rows,)
        The rows with a wrong label.
    n_used, n_features : int
        Features used, and all features.
    n_probes : int or None
        Probes among the features used; None when the probes are not known.
    """

    ber: float
    ber_error: float
    auc: float
    wrong: Mask
    n_used: int
    n_features: int
    n_probes: int | None = None

    @property
    def f_feat(self) -> float:
        """F_feat, the share of the features that are used."""
        return self.n_used / self.n_features

    @property
    def f_probe(self) -> float | None:
        """F_probe, the share of probes among the features used; None when the probes are not known."""
        return None if self.n_probes is None else self.n_probes / self.n_used

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON, with the numbers of rows and of errors in place of the rows."""
        return {
            "rows": self.wrong.size,
            "errors": int(self.wrong.sum()),
            "ber": self.ber,
            "ber_error": self.ber_error,
            "auc": self.auc,
            "f_feat": self.f_feat,
            "f_probe": self.f_probe,
            "features_used": self.n_used,
            "features": self.n_features,
            "probes_used": self.n_probes,
        }


def score_entry(
    truth: Any, labels: Any, confidences: Any = None, features: Any = None, *, n_features: int, probes: Any = None
) -> EntryScore:
    """Score predictions for one data set by the rules of the NIPS 2003 challenge.

    BER = 1/2 (fn / (tp + fn) + fp / (tn + fp)), with sd(BER) = 1/2 sqrt(p+ (1 - p+) / n+ + p- (1 - p-) / n-);
    AUC ranks the rows by label times confidence, and is 1 - BER without confidences; F_feat = used / all;
    F_probe = probes used / features used.

    Parameters
    ----------
    truth, labels : arrays of -1 and +1 of shape (n_rows,)
        The true classes, both of which must occur, and the predicted ones.
    confidences : array of shape (n_rows,), optional
        Zero and above; larger means more certain of the label.
    features : array of int, optional
        Columns used, from 0. By default all.
    n_features : int
        Columns of the data.
    probes : bool array of shape (n_features,), optional
        The columns known to be useless.

    Returns
    -------
    EntryScore

    See Also
    --------
    score_submission : Scores a :class:`Submission` against a data set.
    tamis.challenge.tournament.tournament : Compares entries.

    References
    ----------
    Guyon, Gunn, Ben-Hur and Dror, "Result Analysis of the NIPS 2003 Feature Selection Challenge", NIPS 17 (2004).

    Examples
    --------
    >>> found = score_entry([1, 1, -1, -1], [1, -1, -1, -1], [3.0, 0.1, 0.2, 2.0], [0, 4], n_features=8)
    >>> found.ber, found.auc, found.f_feat, found.f_probe
    (0.25, 1.0, 0.25, None)
    """
    check_whole("n_features", n_features, 1)
    true, predicted = _as_signs("truth", truth), _as_signs("labels", labels)
    if predicted.size != true.size:
        raise TamisError(f"labels must be one for each of the {true.size} rows; got {predicted.size}")
    if np.unique(true).size < 2:
        raise TamisError("truth must hold both -1 and +1: the balanced error rate needs rows of both classes")
    scores = None if confidences is None else predicted * _as_confidences("confidences", confidences, predicted.size)
    outcome = FoldPredictions((true > 0).astype(np.intp), (predicted > 0).astype(np.intp), 2, scores)
    used = _as_features("features", np.arange(n_features) if features is None else features, n_features)
    known = None if probes is None else np.asarray(probes)
    if known is not None and (known.dtype != bool or known.shape != (n_features,)):
        raise TamisError(f"probes must be a mask of {n_features} features; got shape {known.shape} of {known.dtype}")
    ber = all_metrics["ber"]
    return EntryScore(
        ber=ber(outcome),
        ber_error=standard_error(ber, outcome),
        auc=all_metrics["auc"](outcome),
        wrong=true != predicted,
        n_used=used.size,
        n_features=int(n_features),
        n_probes=None if known is None else int(known[used].sum()),
    )


def score_submission(submission: Submission, dataset: Dataset, part: str = "valid") -> EntryScore:
    """Score the predictions for one part, "train", "valid" or "test", of a data set; see :func:`score_entry`."""
    truth = true_labels(dataset, part)
    if part not in submission.labels:
        raise TamisError(f"the entry has no labels for the {part} rows of {dataset.name}")
    return score_entry(
        truth,
        submission.labels[part],
        submission.confidences.get(part),
        submission.features,
        n_features=dataset.n_features,
        probes=dataset.probes,
    )


def average(scores: Mapping[str, EntryScore]) -> dict[str, float | None]:
    """Means over data sets: F_probe if known for all, and the standard error of a mean of independent BERs."""
    if not scores:
        raise TamisError("scores is empty: there is no data set to average over")
    each = list(scores.values())
    shares = [s.f_probe for s in each if s.f_probe is not None]
    return {
        "ber": float(np.mean([s.ber for s in each])),
        "ber_error": float(np.sqrt(np.sum([s.ber_error**2 for s in each])) / len(each)),
        "auc": float(np.mean([s.auc for s in each])),
        "f_feat": float(np.mean([s.f_feat for s in each])),
        "f_probe": float(np.mean(shares)) if len(shares) == len(each) else None,
    }


def _as_signs(what: str, values: Any) -> np.ndarray:
    """Labels as an int array of -1 and +1 only; `what` names them in the error message."""
    signs = np.asarray(values)
    if signs.ndim != 1 or signs.size == 0:
        raise TamisError(f"{what} must be a list of -1 and +1; got an array of shape {signs.shape}")
    strange = np.flatnonzero(~np.isin(signs, (-1, 1)))
    if strange.size:
        raise TamisError(f"{what} must be -1 and +1; got {signs[strange[0]]!s} in place {strange[0] + 1}")
    return signs.astype(np.int64)


def _as_confidences(what: str, values: Any, size: int) -> np.ndarray:
    """Confidences as a float array of `size` finite values of zero or above."""
    given = np.asarray(values, dtype=np.float64)
    if given.shape != (size,):
        raise TamisError(f"{what} must be one for each of the {size} rows; got an array of shape {given.shape}")
    strange = np.flatnonzero(~np.isfinite(given) | (given < 0))
    if strange.size:
        raise TamisError(f"{what} must be finite and not below 0; got {given[strange[0]]} in place {strange[0] + 1}")
    return given


def _as_features(what: str, values: Any, n_features: int) -> np.ndarray:
    """Column numbers as an int array of one or more distinct columns from 0."""
    columns = np.asarray(values)
    if columns.ndim != 1 or columns.size == 0 or columns.dtype.kind not in "iu":
        got = f"shape {columns.shape} of {columns.dtype}"
        raise TamisError(f"{what} must be a list of at least one column number; got {got}")
    if columns.min() < 0 or columns.max() >= n_features:
        bad = columns.min() if columns.min() < 0 else columns.max()
        raise TamisError(f"{what} must be columns from 0 to {n_features - 1}; got {bad}")
    if np.unique(columns).size < columns.size:
        raise TamisError(f"{what} must be distinct columns; got {columns.size - np.unique(columns).size} of them again")
    return columns.astype(np.intp)


def official_parts(dataset: Dataset) -> np.ndarray:
    """The official part of each labelled row; "train" without an official split."""
    return np.full(dataset.n_rows, "train") if dataset.split is None else dataset.split


def scorable_parts(dataset: Dataset) -> list[str]:
    """The official parts with rows of both classes, on which entries can be scored."""
    parts = official_parts(dataset)
    return [part for part in PARTS if np.unique(dataset.y[parts == part]).size == 2]


def true_labels(dataset: Dataset, part: str) -> np.ndarray:
    """The classes of one official part as -1 and +1; the first in sorted order is -1."""
    classes, parts = dataset.classes, official_parts(dataset)
    if classes.size != 2:
        raise DataError(f"{dataset.name}: has {classes.size} classes, the challenge is about two")
    rows = parts == part
    if not rows.any():
        known = ", ".join(dict.fromkeys(parts.tolist()))
        raise DataError(f"{dataset.name}: has no {part} rows whose classes are known, only {known}")
    if np.unique(dataset.y[rows]).size < 2:
        raise DataError(f"{dataset.name}: its {part} rows are all of class {dataset.y[rows][0]!s}, both are needed")
    return np.where(dataset.y[rows] == classes[1], 1, -1)
