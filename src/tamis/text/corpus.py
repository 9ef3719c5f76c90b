"""Documents as codes of words."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tamis.base.errors import TamisError
from tamis.base.types import Codes, FloatArray
from tamis.base.validation import check_whole

#: The code of a token that is no word of the vocabulary, or of a border between sentences. No n-gram contains it.
OUTSIDE = -1

#: Codes, documents and n-grams are numbered with 32 bits.
_MOST = 2**31 - 1


@dataclass(frozen=True)
class Corpus:
    """The words of documents, in order.

    Parameters
    ----------
    offsets : array of int64, shape (n_documents + 1,)
        Document d has the tokens ``offsets[d]`` up to, not including, ``offsets[d + 1]``. It may have none.
    codes : array of int32 or uint32, shape (n_tokens,)
        The word of each token, from 0, or :data:`OUTSIDE`, which as uint32 is 2**32 - 1.
    n_words : int
        Number of words in the vocabulary.

    Examples
    --------
    >>> corpus = Corpus(np.array([0, 3, 3]), np.array([1, 0, OUTSIDE]), n_words=2)
    >>> corpus.n_documents
    2
    """

    offsets: NDArray[np.int64]
    codes: NDArray[np.int32]
    n_words: int

    def __post_init__(self) -> None:
        check_whole("n_words", self.n_words, 0)
        offsets, codes = _whole_numbers("offsets", self.offsets), _whole_numbers("codes", self.codes)
        if codes.dtype == np.uint32:
            codes = codes.view(np.int32)
        if not offsets.size or offsets[0] != 0 or offsets[-1] != codes.size or (offsets[1:] < offsets[:-1]).any():
            raise TamisError(f"offsets must ascend from 0 to the number of tokens, {codes.size}")
        if max(self.n_words, offsets.size) > _MOST:
            raise TamisError(f"a corpus has at most {_MOST} words and documents")
        if codes.size and not (codes.min() >= OUTSIDE and codes.max() < self.n_words):
            raise TamisError(
                f"codes must be {OUTSIDE} or those of {self.n_words} words, from 0; got {codes.min()} to {codes.max()}"
            )
        object.__setattr__(self, "offsets", np.ascontiguousarray(offsets, dtype=np.int64))
        object.__setattr__(self, "codes", np.ascontiguousarray(codes, dtype=np.int32))

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return int(self.offsets.size) - 1


def check_documents(corpus: Corpus, y: Any, weight: Any = None) -> tuple[Codes, FloatArray, int]:
    """The class codes and weights of documents as arrays, and the number of classes; no weights are ones."""
    y = np.asarray(y)
    if y.shape != (corpus.n_documents,) or (y.size and y.dtype.kind not in "iu"):
        raise TamisError(f"y must have the code of a class for each of the {corpus.n_documents} documents")
    if y.size and y.min() < 0:
        raise TamisError(f"class codes begin with 0; got {y.min()}")
    weight = np.ones(y.size) if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
    if weight.shape != y.shape or not (np.isfinite(weight) & (weight >= 0.0)).all():
        raise TamisError(f"weights must be {y.size} finite numbers, none below 0: one for each document")
    return np.ascontiguousarray(y, dtype=np.intp), weight, int(y.max(initial=-1)) + 1


def _whole_numbers(name: str, values: Any) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TamisError(f"{name} must be whole numbers in one dimension; got {array.dtype} of shape {array.shape}")
    return array
