"""Raw texts for transforms of counts: they are taken apart and counted first."""

from typing import Any, ClassVar

import numpy as np
import polars as pl

from tamis.base.errors import DataError
from tamis.base.part import Part
from tamis.base.types import Matrix
from tamis.data.text_columns import counts_of
from tamis.data.word_counts import WordCounts
from tamis.text.corpus import Corpus


class TakesText:
    """First base of a transform of counts of words that also takes texts as they are.

    Texts are a list or a column of them, or the text columns of a data frame, whose other columns are features too.

    Attributes
    ----------
    input_names_ : list of str, or None
        The names of the columns of the counts; None when it was fitted on counts.
    """

    part: ClassVar[Part]
    input_names_: list[str] | None

    def _counted(self, X: Any, *, reset: bool) -> Any:
        """Counts of the words of texts, over the words of `fit` unless `reset`; anything else stays as it is."""
        if not is_text(X):
            if reset:
                self.input_names_ = None
            return X
        frame = _frame_of(X)
        counts = counts_of(frame, [name for name, dtype in frame.schema.items() if dtype == pl.String], self.part.name)
        if reset:
            self.input_names_ = counts.names
        elif self.input_names_ is None:
            raise DataError(f"{self.part.name}: got text, and was fitted on counts of words")
        else:
            counts = counts.aligned(self.input_names_)
        return counts

    def _names_in(self, input_features: Any) -> list[str]:
        """The names of the columns of the counts."""
        if input_features is not None:
            return [str(name) for name in input_features]
        if self.input_names_ is not None:
            return self.input_names_
        return [f"x{j}" for j in range(self.n_features_in_)]  # type: ignore[attr-defined]


def corpus_of(X: Matrix, who: str) -> Corpus | None:
    """The documents of counts as sequences of words; None for plain numbers, and an error where there were too many."""
    if not isinstance(X, WordCounts) or X.vocabulary is None:
        return None
    if not X.vocabulary.has_order:
        raise DataError(f"{who}: the texts have more than fifty million words, of which the order was not kept")
    return Corpus(*X.sequences(), X.shape[1])


def is_text(X: Any) -> bool:
    """Whether rows are texts, or have some among them."""
    if isinstance(X, pl.Series):
        return X.dtype == pl.String
    if isinstance(X, pl.DataFrame):
        return pl.String in X.dtypes
    if isinstance(X, np.ndarray) and X.dtype.kind not in "OU":
        return False
    # The first row tells; a large table is not copied for it.
    first = X.iloc[:1] if hasattr(X, "iloc") else X[:1] if isinstance(X, list | tuple | np.ndarray) else []
    return any(isinstance(value, str) for value in np.asarray(first, dtype=object).ravel().tolist())


def _frame_of(X: Any) -> pl.DataFrame:
    """Texts in any form as a frame."""
    if isinstance(X, pl.DataFrame):
        return X
    if isinstance(X, pl.Series):
        return X.to_frame("text")
    if hasattr(X, "columns"):
        return pl.DataFrame({str(name): X[name].to_list() for name in X.columns}, strict=False)
    values = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X, dtype=object)
    if values.ndim == 1:
        values = values[:, None]
    names = ["text"] if values.shape[1] == 1 else [f"x{j}" for j in range(values.shape[1])]
    return pl.DataFrame({name: column.tolist() for name, column in zip(names, values.T, strict=True)}, strict=False)
