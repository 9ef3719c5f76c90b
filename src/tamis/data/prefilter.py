"""A selection that was made on a file, before its columns were read: what keeps estimates on these columns honest."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from tamis.base.errors import TamisError


@dataclass(frozen=True)
class Prefilter:
    """The selection by which the columns of a data set were read.

    The data set has the columns that the selection keeps on some training rows, so that they tell something of all
    rows. A recipe must therefore begin with the selection, and may be evaluated on these splits alone.

    Attributes
    ----------
    recipe : str
        The selection, such as ``ig(5000)``.
    trained_on : frozenset of str
        Digests of the training rows for which it was made.

    Examples
    --------
    >>> made = Prefilter.of("ig(5000)", [np.arange(8), np.arange(4, 12)])
    >>> made.check(np.arange(4, 12))
    >>> made.check(np.arange(5))
    Traceback (most recent call last):
    ...
    tamis.base.errors.TamisError: the columns were selected by ig(5000) for other folds: read the file for these
    """

    recipe: str
    trained_on: frozenset[str]

    @classmethod
    def of(cls, recipe: str, trains: Iterable[np.ndarray]) -> "Prefilter":
        """The selection for some sets of training rows."""
        return cls(recipe, frozenset(map(_digest, trains)))

    def check(self, train: np.ndarray) -> None:
        """Refuse training rows for which the selection was not made."""
        if _digest(train) not in self.trained_on:
            raise TamisError(f"the columns were selected by {self.recipe} for other folds: read the file for these")


def _digest(rows: np.ndarray) -> str:
    return blake2b(np.sort(rows).astype(np.int64).tobytes(), digest_size=16).hexdigest()
