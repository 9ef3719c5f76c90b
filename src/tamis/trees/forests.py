"""What the forests of scikit-learn share, for classes and for numbers."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from tamis.base._sklearn import StrOptions, integer, real
from tamis.base.errors import TamisError
from tamis.base.feature_tracking import mask_of
from tamis.base.types import FloatArray, Mask


class MissingInDense:
    """First base of a part that takes missing values in dense data, and refuses them in sparse data."""

    accepts_missing: ClassVar[bool] = True

    def _read(self, X: Any, y: Any = None, *, reset: bool) -> Any:
        found = super()._read(X, y, reset=reset)  # type: ignore[misc]
        rows = found[0] if reset else found
        if sp.issparse(rows) and np.isnan(rows.data).any():
            name = type(self).part.name  # type: ignore[attr-defined]
            raise TamisError(f"{name} takes missing values in dense data only, X is sparse; put impute in front")
        return found


class Trees(MissingInDense):
    """First base of the forests of scikit-learn, with the parameters that forests for classes and numbers have."""

    #: The same columns in another order give other trees.
    draws_columns: ClassVar[bool] = True
    #: The class of scikit-learn.
    _forest: ClassVar[type[Any]]
    model_: Any
    n_estimators: int
    max_features: float | str
    min_samples_leaf: int

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_estimators": [integer(1)],
        "max_features": [StrOptions({"sqrt", "log2"}), real(0, 1, "right")],
        "min_samples_leaf": [integer(1)],
        "random_state": ["random_state", np.random.Generator],
    }

    @property
    def feature_importances_(self) -> FloatArray:
        """Share of each column in the gain of the splits."""
        return np.asarray(self.model_.feature_importances_)

    def _make(self) -> Any:
        # A whole number would be a number of columns.
        share = self.max_features if isinstance(self.max_features, str) else float(self.max_features)
        return self._forest(
            n_estimators=self.n_estimators,
            max_features=share,
            min_samples_leaf=int(self.min_samples_leaf),
            random_state=self._seed(),  # type: ignore[attr-defined]
        )


def split_columns(model: Any, n_features: int) -> Mask:
    """Mask of the columns that any tree of a forest splits."""
    splits = [tree.tree_.feature for tree in model.estimators_]
    return mask_of(np.concatenate([columns[columns >= 0] for columns in splits]), n_features)
