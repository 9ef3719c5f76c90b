"""The contract of a classifier made of other models: rows come to them as they are."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length, validate_data

from tamis.base._sklearn import _check_y, _num_samples
from tamis.base.classifier import Classifier
from tamis.base.errors import TamisError
from tamis.base.nested import takes_missing, takes_no_negative


class AroundModels(Classifier):
    """Base of a classifier that leaves the rows to models inside it.

    As :class:`~tamis.base.classifier.Classifier`, except that `X` arrives as it came - an array, a CSR matrix or a data
    frame - in a form of which rows can be taken: text, missing values and sparse matrices are the models' own affair.
    A subclass also writes ``_models``.
    """

    #: As far as the models do, like nominal columns.
    accepts_missing = True
    takes_nominal: ClassVar[bool] = True

    @abstractmethod
    def _models(self) -> list[Any]:
        """The models inside, not fitted."""

    def _read(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        who = self.part.name
        if sp.issparse(X):
            X = X.tocsr()
        elif not hasattr(X, "shape") and hasattr(X, "__array__"):
            X = np.asarray(X)
        if _num_samples(X) < 1:
            raise TamisError(f"{who} got {_num_samples(X)} rows; at least one is needed")
        if len(getattr(X, "shape", (0, 0))) != 2:
            raise TamisError(f"{who} takes rows and columns; got {len(X.shape)} dimension(s). Reshape your data.")
        if not reset:
            validate_data(self, X, reset=False, skip_check_array=True)
            return X
        validate_data(self, X, y, reset=True, skip_check_array=True)
        y = _check_y(y, estimator=self)
        check_consistent_length(X, y)
        return X, y

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        models = self._models()
        tags.input_tags.sparse = all(get_tags(model).input_tags.sparse for model in models)
        tags.input_tags.allow_nan = all(takes_missing(model) for model in models)
        tags.input_tags.positive_only = any(takes_no_negative(model) for model in models)
        return tags


def check_classifier(model: Any, who: str) -> None:
    """Refuse what is neither a classifier nor a pipeline that ends in one; `who` begins the message.

    Examples
    --------
    >>> check_classifier("knn", "blend: model 1")
    Traceback (most recent call last):
        ...
    tamis.base.errors.TamisError: blend: model 1 must be a classifier; got 'knn'
    """
    if isinstance(model, type) or not hasattr(model, "fit") or not is_classifier(model):
        raise TamisError(f"{who} must be a classifier; got {in_words(model)}")


def in_words(model: Any) -> str:
    """A model on one line."""
    return " ".join(repr(model).split())
