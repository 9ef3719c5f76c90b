"""Tf-idf: counts of words weighed by how few documents have them."""

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import OneToOneFeatureMixin
from sklearn.preprocessing import normalize

from tamis.base._sklearn import StrOptions
from tamis.base.errors import TamisError
from tamis.base.part import Arguments, Part
from tamis.base.search_range import choice
from tamis.base.transformer import Transformer
from tamis.base.types import Matrix
from tamis.base.validation import canonical


def _phrase(a: Arguments) -> str:
    how = "the logarithm of its count" if a.pop("sublinear") else "its count"
    return f"weighs each word by {how} and by how few documents have it (tf-idf)"


class Tfidf(OneToOneFeatureMixin, Transformer):
    """Weigh the counts of words by how few of the training documents have them.

    The count t of a word in a document becomes tf * idf. tf is t, or 1 + log t with `sublinear` (0 where t is 0). With
    n training documents, df of which have the word, idf is::

        log((1 + n) / (1 + df)) + 1     idf="smooth",
        log(n / df)                     idf="plain",
        1                               idf=None.

    Then each document is divided by its norm.

    Parameters
    ----------
    sublinear : bool, default=False
        Take logarithms of the counts.
    idf : {"smooth", "plain"} or None, default="smooth"
        "smooth" is scikit-learn's; ``sublinear=True, idf="plain"`` is the weighting "ltc" of Salton and Buckley, which
        leaves out words that all documents have.
    norm : {"l2", "l1"} or None, default="l2"
        Divide each document by its length, or by the sum of its weights.

    Attributes
    ----------
    idf_ : float array of shape (n_features,)
        The weight of each word. One that no training document has counts as if one had it.

    Notes
    -----
    The values are those of scikit-learn's ``TfidfTransformer``, which makes dense rows sparse; here the form stays.

    References
    ----------
    Salton and Buckley (1988), "Term-weighting approaches in automatic text retrieval"; Tang, Shepherd, Milios and
    Heywood (2005), "Comparing and combining dimension reduction techniques for efficient text clustering", section
    2.1.2.

    Examples
    --------
    >>> import numpy as np
    >>> from tamis.transform import Tfidf
    >>> counts = np.array([[1.0, 3.0], [1.0, 0.0]])
    >>> Tfidf(idf="plain", norm=None).fit_transform(counts).round(2)
    array([[0.  , 2.08],
           [0.  , 0.  ]])
    """

    part: ClassVar[Part] = Part(
        "tfidf",
        positional=("sublinear",),
        search={
            "sublinear": choice(False, True),
            "idf": choice("smooth", "plain", None),
            "norm": choice("l2", "l1", None),
        },
        paper="Salton and Buckley 1988; Tang et al. 2005, section 2.1.2",
        phrase=_phrase,
        role="word_weighting",
        suits=("counts",),
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "sublinear": ["boolean"],
        "idf": [StrOptions({"smooth", "plain"}), None],
        "norm": [StrOptions({"l2", "l1"}), None],
    }

    def __init__(self, sublinear: bool = False, *, idf: str | None = "smooth", norm: str | None = "l2") -> None:
        self.sublinear = sublinear
        self.idf = idf
        self.norm = norm

    def _learn(self, X: Matrix) -> None:
        n_rows = X.shape[0]
        if sp.issparse(X):
            X = canonical(X)
            frequency = np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
        else:
            frequency = np.count_nonzero(X, axis=0)
        if self.idf == "smooth":
            self.idf_ = np.log((1 + n_rows) / (1 + frequency)) + 1.0
        elif self.idf == "plain":
            self.idf_ = np.log(n_rows / np.maximum(frequency, 1))
        else:
            self.idf_ = np.ones(X.shape[1])

    def _apply(self, X: Matrix) -> Matrix:
        weight = self.idf_.astype(X.dtype)
        if sp.issparse(X):
            out = canonical(X).copy()
            if self.sublinear:
                out.eliminate_zeros()
                out.data = 1 + np.log(out.data)
            out.data *= weight[out.indices]
        else:
            out = X * weight
            if self.sublinear:
                out = np.where(X > 0, (1 + np.log(np.where(X > 0, X, 1))) * weight, X.dtype.type(0))
        return out if self.norm is None else normalize(out, norm=self.norm, copy=False)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        X = super()._checked(X, reset=reset)
        values = X.data if sp.issparse(X) else X
        if values.size and values.min() < 0:
            raise TamisError("Negative values in data passed to tfidf; it takes counts of words")
        return X

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
