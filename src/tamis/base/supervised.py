"""The contract of a transform that looks at the classes: write `_learn` and `_apply`, inherit everything public."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from tamis.base.labels import encode_labels
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
        # What an earlier fit with other parameters learnt must not pass for this one's.
        for name in [n for n in vars(self) if n.endswith("_") and not n.startswith("_")]:
            delattr(self, name)
        self._learn(*self._begin(X, y, ()))
        return self

    def _begin(self, X: Any, y: Any, weight: tuple[Any, ...]) -> tuple[Any, ...]:
        """What `_learn` takes; the classes and columns are kept."""
        codes = None
        if self._supervised():
            options = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}
            finite = "allow-nan" if self.accepts_missing else True
            X, y = validate_data(self, X, y, ensure_all_finite=finite, **options)
            self.classes_, codes = encode_labels(y, type(self).__name__)
        else:
            X = self._checked(X, reset=True)
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
