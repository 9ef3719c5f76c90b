"""The fits of one step of a plan, and the way of the rows through it."""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin, clone
from sklearn.feature_selection import SelectorMixin

from tamis.base._sklearn import _get_output_config
from tamis.base.shared_fit import FittedOnce, SharedFit, Together, fit_together, shared_signature, signature
from tamis.validation.execute.rows import Pair
from tamis.validation.plan import Step

#: Fits and then transforms, and no more.
_PLAIN = TransformerMixin.fit_transform


class Fits:
    """The fits of one step of the plan: together where one fit answers all, else the only one there is."""

    def __init__(self, step: Step, estimators: list[Any]) -> None:
        self.step = step
        self._estimators = estimators
        self._together: Together | FittedOnce | None = None
        self._first: Any = None
        self._fitted: dict[int, Any] = {}

    @property
    def together(self) -> bool:
        """Whether they were fitted with one preparation."""
        return self._together is not None

    @property
    def selects(self) -> bool:
        """Whether they are selectors that take columns of plain matrices and do nothing else."""
        return all(
            getattr(type(one), "transform", None) is SelectorMixin.transform
            and _get_output_config("transform", one)["dense"] == "default"
            for one in self._estimators
        )

    @property
    def lasts(self) -> bool:
        """Whether what they share can be used again on the same rows."""
        return self.step.group.shares_fit and all(
            isinstance(one, SharedFit) and one._reusable() for one in self._estimators
        )

    @property
    def prepared(self) -> Any:
        """What they share, if it can be used again."""
        return self._together.prepared if isinstance(self._together, Together) and self.lasts else None

    @property
    def name(self) -> Hashable:
        """What they have in common: where this is equal, so is what they share on the same rows."""
        return self.step.place, shared_signature(self._estimators[0])

    def name_at(self, place: int) -> Hashable:
        """What the one at a place is."""
        return self.step.place, signature(self._estimators[place])

    def prepare(self, X: Any, y: np.ndarray, prepared: Any = None) -> None:
        """Do what they share, unless it is known; if one of them cannot be fitted at all, each is left to itself."""
        if self.step.group.shares_fit:
            try:
                self._together = fit_together(self._estimators, X, y, prepared)
            except Exception:
                self._estimators = [clone(one) for one in self._estimators]

    def answer(self, place: int, X: Any, y: np.ndarray) -> Any:
        """The fitted estimator at a place."""
        if place not in self._fitted:
            if self._together is not None:
                self._fitted[place] = self._together.fitted(place)
            elif self.step.branches[place].steps and hasattr(self._estimators[place], "fit_transform"):
                # As a pipeline does it: what comes out of fit_transform need not be what transform gives.
                self._first = self._estimators[place].fit_transform(X, y)
                self._fitted[place] = self._estimators[place]
            else:
                self._fitted[place] = self._estimators[place].fit(X, y)
        return self._fitted[place]

    def forget(self, places: list[int]) -> None:
        """Let go of what was fitted at some places."""
        for place in places:
            self._fitted.pop(place, None)

    def through(self, place: int, y: np.ndarray) -> Callable[[Pair], Pair]:
        """How rows pass through the fitted estimator at a place."""

        def make(before: Pair) -> Pair:
            fitted = self._fitted[place]
            train, self._first = self._first, None
            if train is None:
                # Given up in between, the rows come out the same again.
                own_way = getattr(type(fitted), "fit_transform", _PLAIN) is not _PLAIN
                train = clone(fitted).fit_transform(before.train, y) if own_way else fitted.transform(before.train)
            return Pair(train, fitted.transform(before.test))

        return make
