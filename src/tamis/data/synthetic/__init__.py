"""The generators: synthetic data sets with known roles of all columns."""

from collections.abc import Callable

from tamis.data.dataset import Dataset
from tamis.data.synthetic.friedman import friedman, friedman_participation
from tamis.data.synthetic.infection import infection
from tamis.data.synthetic.madelon import madelon, madelon_fresh
from tamis.data.synthetic.messy import messy
from tamis.data.synthetic.xor import xor

__all__ = [
    "GENERATORS",
    "TEXT_GENERATORS",
    "friedman",
    "friedman_participation",
    "infection",
    "madelon",
    "madelon_fresh",
    "messy",
    "xor",
]

#: The generators by the name of their data set; each takes `n_rows`, `seed` and sizes of its own.
GENERATORS: dict[str, Callable[..., Dataset]] = {
    "madelon-like": madelon,
    "madelon-fresh": madelon_fresh,
    "friedman": friedman,
    "xor": xor,
    "infection": infection,
}

#: Generators of tables whose values are text, to be written to a file and read from it.
TEXT_GENERATORS: dict[str, Callable[..., Dataset]] = {"messy": messy}

#: Rows of a file that is made without a wish for its size; 2000 of those that are not named.
USUAL_ROWS = {"messy": 300, "infection": 32}
