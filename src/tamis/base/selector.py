"""The contract of a selector: write `_select`, inherit everything public."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tamis.base.cut import rank
from tamis.base.task import TakesTarget
from tamis.base.types import FloatArray, Mask
from tamis.base.validation import check_weights


@dataclass(frozen=True)
class Selection:
    """What a selector found.

    Attributes
    ----------
    support : bool array of shape (n_features,)
        The features to keep.
    scores : float array of shape (n_features,)
        The score of each feature, larger is better; 1 and 0 for a method that only says yes or no.
    order : int array, optional
        Column numbers from best to worst. By default by score, equal scores in column order.
    """

    support: Mask
    scores: FloatArray
    order: np.ndarray | None = None

    @classmethod
    def first(cls, order: np.ndarray, size: int) -> "Selection":
        """The first columns of an order, for a method that gives no scores: a score is how many rank below."""
        support = np.zeros(order.shape[0], dtype=bool)
        support[order[:size]] = True
        scores = np.empty(order.shape[0])
        scores[order] = np.arange(order.shape[0])[::-1]
        return cls(support, scores, order)


class Selector(TakesTarget, SelectorMixin, BaseEstimator):
    """Base of every selector.

    A subclass writes ``__init__``, ``_parameter_constraints``, its `part` card and ``_select(X, y)``. `X`
    arrives as float64 or float32, dense or CSR/CSC; `y` as class codes 0, 1, ... (None when unsupervised), or as
    float64 where the selector serves numeric targets too (:attr:`tasks`) and has one. Validation, ``transform``,
    ``inverse_transform``, ``get_support``, feature names and ``set_output`` are inherited. A method that takes sample
    weights derives from :class:`WeightedSelector` instead.

    Attributes
    ----------
    support_ : bool array of shape (n_features,)
    scores_ : float array of shape (n_features,)
    order_ : int array of shape (n_features,)
        Column numbers from best to worst; equal scores stay in column order.
    ranking_ : int array of shape (n_features,)
        Place of each feature in `order_`; 1 is the best.
    classes_ : array
        The class labels, when the target holds classes.
    """

    #: Whether missing values (NaN) may reach `_select`.
    accepts_missing: ClassVar[bool] = False

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the features to keep.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
        y : array of shape (n_rows,)
            Class labels.
        """
        self._validate_params()
        self._take(self._select(*self._begin(X, y)))
        return self

    @abstractmethod
    def _select(self, X: Any, y: Any) -> Selection:
        """Find the features to keep, on validated input."""

    def _begin(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Validated rows and class codes or numbers; the classes and columns are kept."""
        X, y = self._read(X, y, reset=True)
        return X, self._target(y) if self._supervised() else None

    def _take(self, found: Selection) -> None:
        """Keep what was found."""
        self.support_ = found.support
        self.scores_ = found.scores
        self.order_ = rank(found.scores) if found.order is None else found.order

    def _read(self, X: Any, y: Any = None, *, reset: bool) -> tuple[Any, Any]:
        """Validated rows and classes; a selector that takes more than numbers reads them its own way."""
        found = validate_data(
            self,
            X,
            y if self._supervised() else "no_validation",
            reset=reset,
            accept_sparse=("csr", "csc"),
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan" if self.__sklearn_tags__().input_tags.allow_nan else True,
        )
        return found if self._supervised() else (found, None)

    @property
    def ranking_(self) -> np.ndarray:
        """Place of each feature in ``order_``; 1 is the best."""
        check_is_fitted(self)
        places = np.empty_like(self.order_)
        places[self.order_] = np.arange(1, self.order_.shape[0] + 1)
        return places

    def _get_support_mask(self) -> Mask:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.accepts_missing
        tags.target_tags.required = self._supervised()
        return tags


class WeightedSelector(Selector):
    """Base of a selector that takes sample weights: ``_select`` gets them, or None, as a third argument."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the features to keep, each row counting as much as its weight.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
        y : array of shape (n_rows,)
            Class labels.
        sample_weight : array of shape (n_rows,), optional
            Weights of zero and above; None counts every row once.
        """
        self._validate_params()
        X, y = self._begin(X, y)
        self._take(self._select(X, y, check_weights(sample_weight, X)))
        return self

    @abstractmethod
    def _select(self, X: Any, y: Any, sample_weight: FloatArray | None = None) -> Selection:
        """Find the features to keep, on validated input."""
