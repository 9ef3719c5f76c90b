"""Where the data sets of the papers come from, for those who do not have them yet."""

from collections.abc import Iterable

_CHALLENGE = "the UCI repository, NIPS 2003 feature selection challenge"
_MRMR = "the authors of mRMR, in three states"

#: Sets that OpenML has by the same name.
_OPENML = ("diabetes", "glass", "ionosphere", "iris", "segment", "sonar", "spambase", "vehicle", "wdbc")

_PLACES = {
    **dict.fromkeys(("arcene", "dexter", "dorothea", "madelon"), _CHALLENGE),
    "gisette_surrogate": "made from MNIST after the description of GISETTE",
    **dict.fromkeys(("leukemia_mrmr", "colon_mrmr", "lymphoma_mrmr", "nci60_mrmr", "lung_mrmr"), _MRMR),
    "leukemia": "Golub and others 1999",
    "colon": "Alon and others 1999",
    "lymphoma": "Alizadeh and others 2000",
    "lung": "Garber and others 2001",
    "nci60": "Ross and others 2000",
    "child_leukemia": "Yeoh and others 2002",
    "mnist": "LeCun and others 1998",
    **dict.fromkeys(("20newsgroups", "r52"), "A. Cardoso-Cachopo, Datasets for single-label text categorization"),
    "reuters21578": "the UCI repository, Reuters-21578, Distribution 1.0",
    "webkb4": "the WebKB project of Carnegie Mellon University, four classes as JSON lines",
    **dict.fromkeys(_OPENML, "OpenML: tamis data fetch NAME"),
}


def places(names: Iterable[str]) -> str:
    """The names of data sets, those of one place together, each with that place.

    Examples
    --------
    >>> places(["arcene", "iris", "madelon"])
    'arcene, madelon (the UCI repository, NIPS 2003 feature selection challenge); iris (OpenML: tamis data fetch NAME)'
    """
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(_PLACES.get(name, "the UCI repository"), []).append(name)
    return "; ".join(f"{', '.join(own)} ({place})" for place, own in found.items())
