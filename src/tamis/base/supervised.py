"""The contract of a transform that looks at the classes: write `_learn` and `_apply`, inherit everything public."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from tamis.base.labels import encode_labels, forget
from tamis.base.transformer import Transformer


class SupervisedTransformer(Transformer):
    """Base of the transforms of numeric columns that learn from the classes.

    As :class:`~tamis.base.transformer.Transformer`, except that ``_learn(X, y)`` gets class codes 0, 1, ... (None when
    the parameters ask for a method that does without; it then overrides ``_supervised``).

    Attributes
    ----------
    classes_ : array
        The class labels, when supervised.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from rows `X` and their class labels `y`."""
        self._validate_params()
        forget(self)
        self._learn(*self._begin(X, y))
        return self

    def _begin(self, X: Any, y: Any) -> tuple[Any, Any]:
        if not self._supervised():
            return super()._begin(X, y)
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan" if self.accepts_missing else True,
        )
        self.classes_, codes = encode_labels(y, type(self).__name__)
        return X, codes

    @abstractmethod
    def _learn(self, X: Any, y: Any = None) -> None:
        """Learn, on validated input."""

    def _supervised(self) -> bool:
        """Whether the classes are needed."""
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._supervised()
        return tags
