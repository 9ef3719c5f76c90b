"""How many features of a ranking to select."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from tamis.base.errors import TamisError
from tamis.base.part import Arguments, percent
from tamis.base.types import FloatArray, Mask


class NothingPasses(UserWarning):
    """Fewer features met the cut than required; the best ones were selected instead."""


def fit_quietly(selector: Any, X: Any, y: Any, *, reissue: bool = False) -> bool:
    """Fit a selector; whether it warned that nothing passes. That warning is not passed on unless `reissue`."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        selector.fit(X, y)
    nothing = [issubclass(warning.category, NothingPasses) for warning in warned]
    for warning, by_default in zip(warned, nothing, strict=True):
        if reissue or not by_default:
            warnings.warn(str(warning.message), warning.category, stacklevel=3)
    return any(nothing)


@dataclass(frozen=True)
class Cut:
    """One rule: top `k`, top `fraction`, score above `threshold`, or false discovery rate `fdr`.

    Without a rule, every feature that scores above zero is selected.

    Parameters
    ----------
    k : int, optional
        Select the `k` best; all of them when there are fewer.
    fraction : float, optional
        Select this share of the features, rounded up.
    threshold : float, optional
        Select the features that score strictly above it.
    fdr : float, optional
        Select the features that pass the procedure of Benjamini and Hochberg (1995) at this rate. Needs a score with
        p-values.
    at_least : int, default=1
        When fewer pass, this many of the best are selected with a warning: a classifier needs a column. 0 allows an
        empty selection.
    """

    k: int | None = None
    fraction: float | None = None
    threshold: float | None = None
    fdr: float | None = None
    at_least: int = 1

    def __post_init__(self) -> None:
        given = [name for name in ("k", "fraction", "threshold", "fdr") if getattr(self, name) is not None]
        if len(given) > 1:
            raise TamisError(f"a cut takes one of k, fraction, threshold and fdr; got {' and '.join(given)}")

    def apply(self, values: FloatArray, order: np.ndarray, pvalues: FloatArray | None = None) -> Mask:
        """Mask of the selected features, for scores, column numbers from best to worst (:func:`rank`) and p-values."""
        keep = np.zeros(values.shape[0], dtype=bool)
        if self.k is not None:
            keep[order[: self.k]] = True
        elif self.fraction is not None:
            keep[order[: int(np.ceil(self.fraction * values.shape[0]))]] = True
        elif self.fdr is not None:
            if pvalues is None:
                raise TamisError("fdr needs a score with p-values, such as t, f or chi2")
            keep = benjamini_hochberg(pvalues, self.fdr)
        else:
            keep = values > (0.0 if self.threshold is None else self.threshold)
        short = min(self.at_least, values.shape[0])
        if keep.sum() < short:
            warnings.warn(
                f"{int(keep.sum())} of {values.shape[0]} features meet the cut; the best {short} selected instead",
                NothingPasses,
                stacklevel=2,
            )
            keep[order[:short]] = True
        return keep


def rank(values: FloatArray) -> np.ndarray:
    """Column numbers from the highest score to the lowest; equal scores stay in column order.

    Examples
    --------
    >>> rank(np.array([0.1, 0.7, 0.7])).tolist()
    [1, 2, 0]
    """
    falling = -values
    order = np.argsort(falling)
    ordered = falling[order]
    # A stable sort takes four times as long and is needed for ties only, NaN being the last of all.
    unequal = bool((ordered[:-1] < ordered[1:]).all())
    return order if unequal else np.argsort(falling, kind="stable")


def benjamini_hochberg(pvalues: FloatArray, rate: float) -> Mask:
    """Mask of the hypotheses rejected at false discovery rate `rate`."""
    m = pvalues.shape[0]
    ordered = np.sort(pvalues)
    below = np.flatnonzero(ordered <= rate * np.arange(1, m + 1) / m)
    return pvalues <= ordered[below[-1]] if below.size else np.zeros(m, dtype=bool)


def cut_phrase(arguments: Arguments, otherwise: str) -> str:
    """The features a cut selects, in words; pops the rules from the arguments of a part.

    Examples
    --------
    >>> cut_phrase({"k": None, "fraction": 0.1}, "all")
    'the best 10 %'
    """
    k, share, least, rate = (arguments.pop(name, None) for name in ("k", "fraction", "threshold", "fdr"))
    if k is not None:
        return "the best one" if k == 1 else f"the best {k}"
    if share is not None:
        return f"the best {percent(share)}"
    if rate is not None:
        return f"those that pass at a false discovery rate of {percent(rate)}"
    return otherwise if least is None else f"those above {least}"
