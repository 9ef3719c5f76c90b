"""The honest error of a search from its own predictions: the bootstrap corrects for the choice.

The folds of a search evaluate every model on rows that it has not seen, but the best of many models is better there
than on new rows. Tsamardinos, Greasidou and Borboudakis (2018, BBC-CV) repeat the choice on bootstrap samples of the
rows and evaluate what is chosen on the rows outside of the sample. No model is fitted for it. Models that were dropped
after a few folds do not take part, as in their variant with dropping.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from tamis.base.seeds import generator
from tamis.base.types import FloatArray, Mask
from tamis.mining.library import ClassLibrary, Library
from tamis.mining.offers import Chooser, Prefer
from tamis.validation.bootstrap import drawn
from tamis.validation.metrics import Metric
from tamis.validation.result import Estimate

#: Most and fewest samples, and the entries of all samples together.
_MOST, _LEAST, _ENTRIES = 120, 25, 40_000

#: Draws of a sample before it may lack a class outside.
_TRIES = 20


def bootstrap_estimates(
    chooser: Chooser,
    metrics: Sequence[Metric],
    offers: Sequence[Prefer],
    *,
    evaluated: Mask | None = None,
    seed: int,
) -> dict[Prefer, dict[str, Estimate]]:
    """The estimate of each metric for each offer of a search.

    The mean is that over samples of the rows, each class (and each group) as often as in the data. Its standard error
    is the deviation over the samples, which is somewhat large, plus one row of each class predicted otherwise: errors
    that were not seen may still be there.

    Parameters
    ----------
    chooser : Chooser
        Of the library of the search.
    metrics : sequence of Metric
    offers : sequence of str
    evaluated : bool array of shape (n_entries,), optional
        The entries on which offers may be evaluated; by default all.
    seed : int
    """
    library = chooser.library
    able = np.ones(library.truth.size, dtype=bool) if evaluated is None else evaluated
    values: dict[Prefer, list[list[float]]] = {offer: [] for offer in offers}
    for number, counts in enumerate(_samples(library, seed)):
        outside = np.flatnonzero((counts == 0) & able)
        if not outside.size:
            continue
        found = chooser.choose(counts, number + 1)
        shares = library.shares(counts)
        for offer in offers:
            predictions = found.predictions(offer, outside, shares)
            values[offer].append([m(predictions) if m.possible(predictions) else np.nan for m in metrics])
    every = {offer: np.reshape(own, (-1, len(metrics))) for offer, own in values.items()}
    return {offer: _estimates(own, metrics, library.unseen) for offer, own in every.items()}


def _estimates(values: FloatArray, metrics: Sequence[Metric], unseen: float) -> dict[str, Estimate]:
    found = {}
    for metric, own in zip(metrics, values.T, strict=True):
        known = own[~np.isnan(own)]
        if known.size:
            sd = float(known.std(ddof=1)) if known.size > 1 else float("nan")
            found[metric.name] = Estimate(float(known.mean()), sd, float(np.hypot(sd, unseen)))
    return found


def _samples(library: Library, seed: int) -> Iterator[FloatArray]:
    """How often each entry counts in each sample; entries of one row, or one group, count the same."""
    n_samples = int(np.clip(_ENTRIES // library.truth.size, _LEAST, _MOST))
    strata = library.truth if isinstance(library, ClassLibrary) else library.stratum[library.unit]
    every = np.unique(strata).size
    for number in range(n_samples):
        rng = generator(seed, number)
        for _ in range(_TRIES):
            times = drawn(library.stratum, rng)[library.unit]
            if np.unique(strata[times == 0]).size == every:
                break
        yield times.astype(np.float64)
