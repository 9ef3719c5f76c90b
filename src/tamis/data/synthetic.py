"""The generators: data sets made on demand, with the truth about every column in their roles."""

from collections.abc import Callable

from tamis.data.dataset import Dataset
from tamis.data.friedman import friedman, friedman_participation
from tamis.data.madelon import madelon
from tamis.data.xor import xor

__all__ = ["GENERATORS", "friedman", "friedman_participation", "madelon", "xor"]

#: The generators by the name of the data set they make; each takes `n_rows`, `seed` and sizes of its own.
GENERATORS: dict[str, Callable[..., Dataset]] = {"madelon-like": madelon, "friedman": friedman, "xor": xor}
