"""What a search offers: an ensemble, the best single model, and the smallest that does about as well."""

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from tamis.base.types import Codes, FloatArray, Mask
from tamis.mining.calibration import fit_calibration, log_losses
from tamis.mining.ensembles import CANDIDATES, entry_weights, select_ensemble
from tamis.mining.library import ClassLibrary, Library, NumberLibrary
from tamis.mining.number_ensembles import row_losses, select_numbers
from tamis.mining.shrinkage import shrunk
from tamis.validation.metrics import AnyPredictions, Metric
from tamis.validation.nested import Rule as InnerRule
from tamis.validation.nested import choose

#: The names of the offers.
Prefer = Literal["best", "single", "small"]

#: How the best single model is chosen.
Rule = Literal["shrunk", "best", "cautious", "simplest"]

#: Metrics of which every class has the same share.
_BALANCED = ("ber", "balanced_accuracy")

#: A member of an ensemble may use up to this multiple of the columns of the best single model, or this share of all
#: columns: an ensemble must not undo the selection.
_MORE_COLUMNS, _FEW_COLUMNS = 1.25, 0.05

#: Metrics of absolute errors.
_ABSOLUTE = ("mae",)

#: What an unsure prediction counts, in errors.
_UNSURE = 1e-3

#: Models with the fewest errors among which the offers are chosen.
_NEAR = 60

#: Rows up to which a sample of the rows learns its own calibration: of more rows it hardly depends on the sample.
_FEW_ROWS = 500


@dataclass(frozen=True)
class Wishes:
    """What a user wants of the offers.

    Attributes
    ----------
    prefer : {"best", "single", "small"}
        The offer that becomes the model.
    rule : {"shrunk", "best", "cautious", "simplest"}
        How the best single model is chosen: by the shrunk log loss or error, or as in
        :func:`tamis.validation.nested.choose`.
    caution : float
        For "cautious".
    max_features : int or None
        Most columns of any offer.
    """

    prefer: Prefer = "best"
    rule: Rule = "shrunk"
    caution: float = 1.0
    max_features: int | None = None


@dataclass(frozen=True, eq=False)
class Offers:
    """The offers of a search, as places in its library.

    Attributes
    ----------
    library : Library
    ensemble : Ensemble, NumberEnsemble or None
        None where no two models may be combined.
    single, small : int
    """

    library: Library
    ensemble: Any
    single: int
    small: int

    def text(self, prefer: Prefer) -> str:
        """The recipe of an offer."""
        if prefer == "best" and self.ensemble is not None:
            return self.ensemble.text(self.library)
        return self.library.recipes[self.small if prefer == "small" else self.single]

    def predictions(self, prefer: Prefer, entries: np.ndarray, shares: FloatArray) -> AnyPredictions:
        """The predictions of an offer for some entries; `shares` are those of the classes."""
        if prefer != "best" or self.ensemble is None:
            return self.library.predictions(self.small if prefer == "small" else self.single, entries)
        found: AnyPredictions = self.ensemble.predictions(self.library, shares, entries)
        return found


@dataclass(eq=False)
class Chooser:
    """Chooses the offers of a library, for all its rows and for samples of them, by a loss of every row.

    :class:`ClassChooser` and :class:`NumberChooser` have the losses, and the ensembles that go with them.

    Attributes
    ----------
    library : Library
    metric : Metric
    wishes : Wishes
    seed : int
    seconds : float
        Most seconds of an offer, those of its models added up.
    test_to_train : float
        Test rows per training row.
    combines : bool
        Whether there may be an ensemble.
    """

    #: Whether all members of an ensemble together may use no more columns than one of them.
    limits_union: ClassVar[bool] = False

    library: Any
    metric: Metric
    wishes: Wishes = field(default_factory=Wishes)
    seed: int = 0
    seconds: float = np.inf
    test_to_train: float = 0.25
    combines: bool = True

    #: The errors of every model on every row by which it is decided which of them are looked at.
    _wrong: FloatArray = field(init=False)

    @abstractmethod
    def __post_init__(self) -> None:
        """Compute the errors of all models."""

    @abstractmethod
    def _weights(self, counts: FloatArray) -> FloatArray:
        """The weight of each entry when it counts that often."""

    @abstractmethod
    def _losses(self, near: np.ndarray, part: Any, weight: FloatArray, *, sampled: bool) -> tuple[Any, FloatArray]:
        """What an ensemble of some models needs of each of them, and the losses of the models on every entry."""

    @abstractmethod
    def _combined(self, part: Any, fitted: Any, losses: FloatArray, weight: FloatArray, seed: int) -> Any:
        """The ensemble of some models."""

    def choose(self, counts: FloatArray | None = None, sample: int = 0) -> Offers:
        """The offers when each entry counts that often; the number of the sample is part of the seed."""
        library = self.library
        every = np.ones(library.truth.size) if counts is None else counts
        weight = self._weights(every)
        near = self._near(weight)
        part = library.models(near)
        fitted, losses = self._losses(near, part, weight, sampled=counts is not None)
        order = np.argsort(losses @ weight, kind="stable")
        near, part, fitted, losses = near[order], part.models(order), fitted[order], losses[order]
        single, small = self._single(part, losses, weight, every)
        ensemble = self._ensemble(part, single, fitted, losses, weight, every, sample)
        if ensemble is not None:
            ensemble = ensemble.with_members(near[ensemble.members])
        return Offers(library, ensemble, int(near[single]), int(near[small]))

    def _near(self, weight: FloatArray) -> np.ndarray:
        """The models with the smallest errors, which need no calibration to be counted."""
        possible = np.flatnonzero(self._possible())
        errors = self._wrong[possible] @ weight
        return possible[np.argsort(errors, kind="stable")[:_NEAR]]

    def _possible(self) -> Mask:
        """The models within the limits; failing these those with the fewest columns."""
        most = np.inf if self.wishes.max_features is None else self.wishes.max_features
        few = self.library.sizes <= most
        few = few if few.any() else self.library.sizes == self.library.sizes.min()
        quick = few & (self.library.seconds <= self.seconds)
        return quick if quick.any() else few

    def _single(self, part: Library, losses: FloatArray, weight: FloatArray, counts: FloatArray) -> tuple[int, int]:
        """The best model, and the one with the fewest columns within a standard error of it."""
        if self.wishes.rule != "shrunk":
            return self._by_rule(part, counts, self.wishes.rule), self._by_rule(part, counts, "simplest")
        values = shrunk(losses, weight, part.families)
        best = int(values.argmin())
        error = float(_standard_errors(losses[[best]], weight, counts)[0])
        within = np.flatnonzero((values <= values[best] + error) & (part.sizes >= 1))
        return best, min(within.tolist(), key=lambda i: (part.sizes[i], values[i]), default=best)

    def _by_rule(self, part: Library, counts: FloatArray, rule: InnerRule) -> int:
        """The choice of a rule by the values of the metric, over the splits or, where rows are few, the repeats."""
        several = rule == "cautious" and np.ptp(part.repeat) > 0
        parts = part.repeat if several else part.split
        sign = 1.0 if self.metric.better == "high" else -1.0
        entries = [np.repeat(np.flatnonzero(own), counts[own].astype(np.intp)) for own in _masks(parts)]
        values = np.array(
            [[sign * self.metric(part.predictions(m, own)) for own in entries] for m in range(part.sizes.size)]
        )
        sizes = np.where(part.sizes >= 1, part.sizes, np.inf)
        return choose(values, sizes, self.test_to_train, rule=rule, caution=self.wishes.caution)

    def _ensemble(
        self,
        part: Library,
        single: int,
        fitted: Any,
        losses: FloatArray,
        weight: FloatArray,
        counts: FloatArray,
        sample: int,
    ) -> Any:
        """The ensemble that is within the limits; None where no two models may be combined."""
        most = max(_MORE_COLUMNS * part.sizes[single], _FEW_COLUMNS * part.n_features)
        able = np.flatnonzero((part.sizes <= most) & ~_surpassed(part, losses, weight, counts))[:CANDIDATES]
        if able.size < 2 or not self.combines:
            return None
        found = self._combined(part.models(able), fitted[able], losses[able], weight, self.seed + sample)
        members = able[found.members]
        while members.size > 1 and not self._within(part, members, most if self.limits_union else np.inf):
            members = members[:-1]
        return found.with_members(members)

    def _within(self, part: Library, members: np.ndarray, most: float) -> bool:
        """Whether an ensemble of these members is within the limits, and uses at most some number of columns."""
        if part.seconds[members].sum() > self.seconds:
            return False
        wanted = self.wishes.max_features
        most = most if wanted is None else min(most, wanted)
        return most == np.inf or part.union_size(members) <= most


class ClassChooser(Chooser):
    """Chooses among models of classes, by the log loss of their calibrated predictions.

    It changes less from sample to sample than an error rate, and the models that it chooses have a lower error rate on
    new rows. Where the metric gives every class the same share, so does the loss.
    """

    library: ClassLibrary

    def __post_init__(self) -> None:
        library = self.library
        self.balanced = is_balanced(self.metric)
        self._weight = self._weights(np.ones(library.truth.size))
        # Of equal numbers of errors the surer model comes first, and not the first in the library, whose order is that
        # of all rows.
        unsure = 1.0 - library.probabilities[:, np.arange(library.truth.size), library.truth]
        self._wrong = (library.labels != library.truth) + _UNSURE * unsure
        self._recalibrates = library.stratum.size <= _FEW_ROWS
        self._known = np.zeros(library.labels.shape[0], dtype=bool)
        self._calibration = np.empty((self._known.size, library.n_classes))

    def _weights(self, counts: FloatArray) -> FloatArray:
        return entry_weights(self.library.truth, counts, balanced=self.balanced)

    def _losses(self, near: np.ndarray, part: Any, weight: FloatArray, *, sampled: bool) -> tuple[Any, FloatArray]:
        calibration = self._calibrated(near)
        if sampled and self._recalibrates:
            calibration = fit_calibration(part.probabilities, part.truth, weight, calibration)
        return calibration, log_losses(part.probabilities, part.truth, calibration)

    def _combined(self, part: Any, fitted: Any, losses: FloatArray, weight: FloatArray, seed: int) -> Any:
        return select_ensemble(fitted, losses, weight, balanced=self.balanced, seed=seed)

    def _calibrated(self, models: np.ndarray) -> FloatArray:
        """The calibration of models on all rows, computed when it is first needed."""
        new = models[~self._known[models]]
        if new.size:
            library = self.library
            self._calibration[new] = fit_calibration(library.probabilities[new], library.truth, self._weight)
            self._known[new] = True
        return self._calibration[models]


class NumberChooser(Chooser):
    """Chooses among models of numbers, by squared errors, or absolute ones where the metric is of these.

    Squared errors gain from the mean of models that differ in useless columns, so that these would add up: all members
    together have the limit of one.
    """

    limits_union = True
    library: NumberLibrary

    def __post_init__(self) -> None:
        self.absolute = self.metric.name in _ABSOLUTE
        self._wrong = row_losses(self.library.truth - self.library.values, absolute=self.absolute)

    def _weights(self, counts: FloatArray) -> FloatArray:
        return counts

    def _losses(self, near: np.ndarray, part: Any, weight: FloatArray, *, sampled: bool) -> tuple[Any, FloatArray]:
        return part.truth - part.values, self._wrong[near]

    def _single(self, part: Library, losses: FloatArray, weight: FloatArray, counts: FloatArray) -> tuple[int, int]:
        """The fewest columns that do as well as the best model, within a standard error of the difference.

        Models that differ in useless columns alone have nearly the same errors: the best of them is so by luck.
        """
        best, small = super()._single(part, losses, weight, counts)
        if self.wishes.rule != "shrunk":
            return best, small
        more = losses - losses[best]
        mean = more @ (weight / weight.sum())
        within = np.flatnonzero((mean <= _standard_errors(more, weight, counts)) & (part.sizes >= 1))
        single = min(within.tolist(), key=lambda i: (part.sizes[i], mean[i]), default=best)
        return single, small if part.sizes[small] <= part.sizes[single] else single

    def _combined(self, part: Any, fitted: Any, losses: FloatArray, weight: FloatArray, seed: int) -> Any:
        return select_numbers(fitted, weight, absolute=self.absolute, seed=seed)


def _surpassed(part: Library, losses: FloatArray, weight: FloatArray, counts: FloatArray) -> Mask:
    """The models of which a smaller one of the same family has a loss that is less by a standard error or more.

    As members they would bring in useless columns and nothing else.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> part = SimpleNamespace(families=("cc", "cc", "cc", "ig"), sizes=np.array([9.0, 5.0, 2.0, 9.0]))
    >>> losses = np.array([[3.0, 3.0], [2.0, 2.0], [4.0, 4.0], [5.0, 5.0]])
    >>> _surpassed(part, losses, np.ones(2), np.ones(2))
    array([ True, False, False, False])
    """
    codes = np.unique([repr(one) for one in part.families], return_inverse=True)[1]
    smaller = (codes[:, None] == codes) & (part.sizes < part.sizes[:, None])
    share = weight / weight.sum()
    rivals = np.where(smaller, losses @ share, np.inf).argmin(axis=1)
    more = losses - losses[rivals]
    found: Mask = smaller.any(axis=1) & (more @ share >= _standard_errors(more, weight, counts))
    return found


def chooser_of(library: Library, metric: Metric, wishes: Wishes, **options: Any) -> Chooser:
    """The chooser of a library; the options are attributes of :class:`Chooser`."""
    kind = NumberChooser if isinstance(library, NumberLibrary) else ClassChooser
    return kind(library, metric, wishes, **options)


def _standard_errors(values: FloatArray, weight: FloatArray, counts: FloatArray) -> FloatArray:
    """Standard errors of the weighted means of values, one line of `values` each, over entries that count that often.

    An entry that counts twice is two of a sample, as it was drawn twice.

    Examples
    --------
    >>> values = np.array([[1.0, 2.0, 4.0, 5.0]])
    >>> _standard_errors(values, np.ones(4), np.ones(4)).round(3)
    array([0.791])
    >>> drawn = np.array([2.0, 0.0, 0.0, 2.0])
    >>> _standard_errors(values, drawn, drawn), _standard_errors(values[:, [0, 0, 3, 3]], np.ones(4), np.ones(4))
    (array([1.]), array([1.]))
    """
    share = weight / weight.sum()
    each = np.divide(share**2, counts, out=np.zeros_like(share), where=counts > 0)
    found: FloatArray = np.sqrt((values - (values @ share)[:, None]) ** 2 @ each)
    return found


def is_balanced(metric: Metric) -> bool:
    """Whether every class has the same share of a metric."""
    return metric.name in _BALANCED


def _masks(codes: Codes) -> list[Mask]:
    return [codes == one for one in np.unique(codes)]
