"""The precisions of largest marginal likelihood: automatic relevance determination."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize

from tamis.base.types import Codes, FloatArray
from tamis.classify.bayes_logistic.design import Design
from tamis.classify.bayes_logistic.laplace import Mode, laplace
from tamis.classify.bayes_logistic.likelihood import Problem

#: Deviation of the intercept beforehand: the logarithm of odds at the mean of the columns.
INTERCEPT = 10.0

#: A shrinking group is pruned when the data determine less than this of its weights (of 1 for each).
_PRUNED = 1e-6

#: Longest step in units of MacKay's, the shortest that is tried, and the largest logarithm of a factor.
_LONGEST, _SHORTEST, _FAR = 16.0, 2.0**-6, 5.0

#: Gain of a step of MacKay's, in nats, up to which the quasi-Newton method takes over.
_LITTLE = 0.5

#: Most steps to the variance that all columns share at the start.
_COMMON = 10

#: Steps in a round of the quasi-Newton method, the steps it remembers, and the relative gain that ends a round.
_ROUND, _MEMORY, _SMALLEST = 100, 20, 1e-10

#: Most groups for which the maximum is refined, the steps for it, and the change for a difference of slopes.
_REFINED, _TIMES, _CHANGE = 200, 10, 1e-5

#: Largest change of the logarithm of a variance that counts as refining.
_SMALL = 0.1

#: Smallest factor of a variance in a round where none may be 0.
_LEAST = 1e-4

#: What the data determine of the weights of a group, up to which it may be pruned between the rounds.
_HARDLY = 1e-2

#: Most groups that come back at a time.
_WIDENED = 10

#: Largest variance, in units of a column's own: on rows that few columns separate, the likelihood grows without end.
LARGEST = 100.0

#: Numbers in a block of columns.
_BLOCK = 4_000_000


class Prior(NamedTuple):
    """Gamma distribution of a precision, by its shape (0: flat in the logarithm) and its mean."""

    shape: float = 0.0
    mean: float = 1.0

    def log_density(self, variances: FloatArray) -> float:
        """Logarithm of the density of log precision, without its constant."""
        if self.shape == 0:
            return 0.0
        return float(-self.shape / 2 * (np.log(variances) + 1 / (self.mean * variances)).sum())


@dataclass(frozen=True)
class Posterior:
    """Laplace's approximation for all problems, at given variances of the weights beforehand."""

    #: The columns in use, their places among all, and the variances of their weights.
    design: Design
    columns: Codes
    variances: FloatArray
    #: Coordinates of the rows, the last that of the intercept.
    Z: FloatArray
    modes: list[Mode]

    @classmethod
    def at(
        cls,
        design: Design,
        columns: Codes,
        variances: FloatArray,
        problems: list[Problem],
        before: list[Mode] | None = None,
    ) -> "Posterior":
        """The approximation for some columns; Newton's method starts from the modes `before`, at other variances."""
        design = design.take(columns)
        Z = np.column_stack([design.coordinates(variances), np.full(design.shape[0], INTERCEPT)])
        # At the mode the weights are Z' times the pull of the rows.
        starts = [np.zeros(Z.shape[1]) if before is None else Z.T @ before[c].slopes.pull for c in range(len(problems))]
        modes = [laplace(Z, problem, start) for problem, start in zip(problems, starts, strict=True)]
        return cls(design, columns, variances, Z, modes)

    @property
    def log_evidence(self) -> float:
        """Logarithm of the marginal likelihood: the sum over the problems."""
        return sum(mode.log_evidence for mode in self.modes)

    @property
    def weights(self) -> FloatArray:
        """The weights of the columns at the mode: one line a problem."""
        pulls = np.column_stack([mode.slopes.pull for mode in self.modes])
        return (self.design.products(pulls) * self.variances[:, None]).T

    @property
    def intercepts(self) -> FloatArray:
        """The evidence of each problem at the mean of the columns."""
        return INTERCEPT * np.array([mode.weights[-1] for mode in self.modes])

    @property
    def dual(self) -> bool:
        """Whether the coordinates are those of the rows, as there are fewer than columns."""
        return self.design.shape[1] > self.design.shape[0]

    def terms(self) -> tuple[FloatArray, FloatArray]:
        """Twice what the log evidence gains, and what it loses, by a relative growth of each variance.

        The second is the number of weights that the data determine, MacKay's gamma, between 0 and 1 for each problem.
        The first is ``w (w - u) / variance``; u brings in the curvature, which changes with the mode.
        """
        losses: Any
        gains = sum(self._pulls(mode, self.design) for mode in self.modes) * self.variances
        if self.dual:
            losses = sum(self.design.forms(self.data_precision(mode)) for mode in self.modes) * self.variances
        else:
            losses = sum(1 - np.diagonal(mode.covariance)[:-1] for mode in self.modes)
        return np.asarray(gains), np.maximum(losses, np.finfo(np.float64).tiny)

    def terms_of_others(self, others: Design) -> tuple[FloatArray, FloatArray]:
        """The same for columns that are not in use, divided by their variance."""
        gains = sum(self._pulls(mode, others) for mode in self.modes)
        if self.dual:
            losses = sum(others.forms(self.data_precision(mode)) for mode in self.modes)
        else:
            losses = sum(self._forms(mode, others) for mode in self.modes)
        return np.asarray(gains), np.asarray(losses)

    def data_precision(self, mode: Mode) -> FloatArray:
        """The matrix M = B - B F B, for the curvature B of the rows and the covariance F of their evidence.

        x'Mx is the precision with which the data would determine the weight of a column x beside the others.
        """
        bend = mode.slopes.curvature
        bent = self.Z * bend[:, None]
        return np.asarray(np.diag(bend) - bent @ mode.covariance @ bent.T)

    def _pulls(self, mode: Mode, design: Design) -> FloatArray:
        """q (q - r) for the slope q of the log-likelihood by each weight, and r of -log det(H) by way of the mode."""
        spread = self.Z @ mode.covariance
        tilt = mode.slopes.skew * np.einsum("ij,ij->i", spread, self.Z)
        tilt -= mode.slopes.curvature * (spread @ (self.Z.T @ tilt))
        found = design.products(np.column_stack([mode.slopes.pull, tilt]))
        return np.asarray(found[:, 0] * (found[:, 0] - found[:, 1]))

    def _forms(self, mode: Mode, design: Design) -> FloatArray:
        """x'Mx for few coordinates, a block of columns at a time: without a matrix of all pairs of rows."""
        bent = self.Z * mode.slopes.curvature[:, None]
        found = design.squares(mode.slopes.curvature)
        width = max(1, _BLOCK // bent.shape[1])
        for some in np.split(np.arange(found.size), range(width, found.size, width)):
            shared = design.take(some).products(bent)
            found[some] -= np.einsum("ij,ij->i", shared @ mode.covariance, shared)
        return np.maximum(found, np.finfo(np.float64).tiny)


@dataclass
class Relevance:
    """Where the search for the precisions ended."""

    posterior: Posterior
    #: Log marginal likelihood, with the log density of the precisions, at the start and after each step.
    path: list[float]
    settled: bool


def relevance(
    design: Design,
    problems: list[Problem],
    groups: Codes,
    prior: Prior,
    variances: FloatArray,
    *,
    max_iter: int,
    tol: float,
) -> Relevance:
    """Climb the marginal likelihood over one precision for each group of columns, from `variances` of the groups.

    The first steps are those of MacKay (1992) for all groups at once, ``precision = gamma / w^2``, in logarithms and
    with the slope of the curvature; half a step is that of Wipf and Nagarajan (2008). A step is lengthened while the
    marginal likelihood grows, and shortened where it would fall. When such steps gain little, a quasi-Newton method
    takes over. At the end a pruned group comes back where that would gain more than `tol`.
    """
    climb = _Climb(design, problems, groups, prior, variances)
    while climb.steps < max_iter:
        if not climb.step(max(tol, _LITTLE)):
            break
    while climb.steps < max_iter:
        gain = climb.descend(max_iter - climb.steps) + climb.prune()
        if gain <= tol and not climb.widen(tol):
            climb.refine()
            return Relevance(climb.posterior, climb.path, True)
    return Relevance(climb.posterior, climb.path, False)


class _Climb:
    """The state of the search."""

    def __init__(
        self, design: Design, problems: list[Problem], groups: Codes, prior: Prior, variances: FloatArray
    ) -> None:
        self.design, self.problems, self.groups, self.prior = design, problems, groups, prior
        self.variances = variances
        squares = np.bincount(groups, design.squares(design.shares)) / np.bincount(groups)
        self.most = LARGEST / np.maximum(squares, np.finfo(np.float64).tiny)
        self.length = 1.0
        self.steps = 0
        self.posterior, value = self._evaluate(variances, None)
        self.path = [value]

    def step(self, enough: float) -> bool:
        """Take a step of MacKay's; whether it gained more than `enough`."""
        active = np.flatnonzero(self.variances)
        upwards, downwards = self._terms(self.posterior, active)
        direction = np.log(np.maximum(upwards, _LEAST * downwards) / downwards)
        while self.length >= _SHORTEST:
            factor = np.exp(np.clip(self.length * direction, -_FAR, _FAR))
            trial = self.variances.copy()
            trial[active] = np.minimum(factor * self.variances[active], self.most[active])
            if self.prior.shape == 0:
                trial[active[(factor < 1) & (downwards * factor < _PRUNED)]] = 0.0
            before = self.path[-1]
            if self._try(trial):
                self.length = min(2 * self.length, _LONGEST)
                return self.path[-1] - before > enough
            self.length /= 2
        return False

    def descend(self, max_iter: int) -> float:
        """Change the variances in use by L-BFGS-B, which can end at 0; by how much the marginal likelihood grows."""
        before = self.path[-1]
        active = np.flatnonzero(self.variances)
        if active.size == 0:
            return 0.0
        start = self.variances[active]
        best = (before, self.variances, self.posterior)
        modes = self.posterior.modes

        def negative(factor: FloatArray) -> tuple[float, FloatArray]:
            nonlocal best, modes
            trial = self.variances.copy()
            trial[active] = factor * start
            posterior, value = self._evaluate(trial, modes)
            modes = posterior.modes
            if value > best[0]:
                best = value, trial, posterior
            return -value, -self._slope(posterior, trial, active) * start

        def record(_: FloatArray) -> None:
            self.path.append(best[0])
            self.steps += 1

        # With a hyperprior no variance is 0; the next round can go farther down.
        least = 0.0 if self.prior.shape == 0 else _LEAST
        bounds = [(least, most) for most in self.most[active] / start]
        options = {"maxiter": min(max_iter, _ROUND), "ftol": _SMALLEST, "gtol": 0.0, "maxcor": _MEMORY}
        scipy.optimize.minimize(
            negative, np.ones(active.size), jac=True, method="L-BFGS-B", bounds=bounds, callback=record, options=options
        )
        _, self.variances, self.posterior = best
        return self.path[-1] - before

    def refine(self) -> None:
        """Bring the slope to 0 within rounding, by Newton's method on the logarithms of the variances in use.

        The slope has more digits than the value, so that the result forgets the way that led to it.
        """
        active = np.flatnonzero((self.variances > 0) & (self.variances < self.most))
        if not 0 < active.size <= _REFINED:
            return
        start = self.variances

        def at(change: FloatArray) -> tuple[FloatArray, FloatArray, Posterior]:
            variances = start.copy()
            variances[active] *= np.exp(change)
            posterior, _ = self._evaluate(variances, self.posterior.modes)
            gains, losses = self._terms(posterior, active)
            return gains - losses, variances, posterior

        change = np.zeros(active.size)
        slope = at(change)[0]
        slopes = np.array([at(one)[0] for one in _CHANGE * np.eye(active.size)])
        bend = (slopes - slope).T / _CHANGE
        for _ in range(_TIMES):
            step = np.linalg.lstsq(bend, slope)[0]
            if np.abs(step).max() > _SMALL:
                return
            change = change - step
            new, variances, posterior = at(change)
            if np.abs(new).max() > np.abs(slope).max() / 2:
                return
            slope, self.variances, self.posterior = new, variances, posterior

    def prune(self) -> float:
        """Take groups out of use that are hardly determined and do not gain; by how much the likelihood grows."""
        before = self.path[-1]
        active = np.flatnonzero(self.variances)
        if self.prior.shape == 0 and active.size:
            upwards, downwards = self._terms(self.posterior, active)
            out = active[(upwards < downwards) & (downwards < _HARDLY)]
            if out.size:
                trial = self.variances.copy()
                trial[out] = 0.0
                self._try(trial)
        return self.path[-1] - before

    def widen(self, tol: float) -> bool:
        """Take pruned groups back into use that each promise more than `tol`; whether the likelihood grew by it."""
        if self.prior.shape or self.variances.all():
            return False
        out = np.flatnonzero(self.variances == 0)
        gains, losses = self._terms_of_others(self.posterior, out)
        ratio = np.divide(gains, losses, out=np.ones_like(gains), where=gains > losses)
        promise = (ratio - 1 - np.log(ratio)) / 2
        order = np.argsort(-promise, kind="stable")
        before = self.path[-1]
        for number in (_WIDENED, 1):
            some = order[:number][promise[order[:number]] > tol]
            if some.size == 0:
                return False
            trial = self.variances.copy()
            # The best variance of a single column for one problem with a normal likelihood (Tipping and Faul 2003).
            trial[out[some]] = np.minimum((ratio[some] - 1) / losses[some], self.most[out[some]])
            if self._try(trial):
                return self.path[-1] > before
        return False

    def _terms(self, posterior: Posterior, active: Codes) -> tuple[FloatArray, FloatArray]:
        """Twice what the log evidence gains, and what it loses, by a relative growth of the variances in use."""
        used = self.groups[posterior.columns]
        gains, losses = (self._by_group(used, one)[active] for one in posterior.terms())
        variances = np.bincount(used, posterior.variances)[active] / np.bincount(used)[active]
        share = self.prior.shape / (self.prior.mean * variances) if self.prior.shape else 0.0
        return gains + share, losses + self.prior.shape

    def _terms_of_others(self, posterior: Posterior, out: Codes) -> tuple[FloatArray, FloatArray]:
        """The same for groups that are not in use, divided by their variance."""
        columns = np.flatnonzero(np.isin(self.groups, out))
        found = posterior.terms_of_others(self.design.take(columns))
        gains, losses = (self._by_group(self.groups[columns], one)[out] for one in found)
        return gains, losses

    def _by_group(self, groups: Codes, values: FloatArray) -> FloatArray:
        """The sum of the values of columns, by the groups of the columns."""
        return np.bincount(groups, values, self.variances.size).astype(np.float64, copy=False)

    def _slope(self, posterior: Posterior, variances: FloatArray, wanted: Codes) -> FloatArray:
        """Derivatives of the log marginal likelihood by some of the variances."""
        slope = np.zeros_like(variances)
        active = wanted[variances[wanted] > 0]
        if active.size:
            gains, losses = self._terms(posterior, active)
            slope[active] = (gains - losses) / (2 * variances[active])
        if active.size < wanted.size:
            out = wanted[variances[wanted] == 0]
            gains, losses = self._terms_of_others(posterior, out)
            slope[out] = (gains - losses) / 2
        return slope[wanted]

    def _try(self, variances: FloatArray) -> bool:
        """Move to other variances unless the marginal likelihood falls."""
        posterior, value = self._evaluate(variances, self.posterior.modes)
        if not value >= self.path[-1]:
            return False
        self.posterior, self.variances = posterior, variances
        self.path.append(value)
        self.steps += 1
        return True

    def _evaluate(self, variances: FloatArray, before: list[Mode] | None) -> tuple[Posterior, float]:
        each = variances[self.groups]
        columns = np.flatnonzero(each)
        posterior = Posterior.at(self.design, columns, each[columns], self.problems, before)
        return posterior, posterior.log_evidence + self.prior.log_density(variances)


def common_variance(design: Design, problems: list[Problem]) -> float:
    """The variance of largest marginal likelihood among a few steps where all columns share one."""
    n_columns = design.shape[1]
    if n_columns == 0:
        return 1.0
    # The evidence of a row then has a variance of 1.
    start = 1 / float(design.squares(design.shares).sum())
    climb = _Climb(design, problems, np.zeros(n_columns, dtype=np.intp), Prior(), np.full(1, start))
    while climb.steps < _COMMON and climb.step(_LITTLE):
        pass
    # Where the columns together say nothing, single ones still may.
    return max(float(climb.variances[0]), _LEAST * start)
