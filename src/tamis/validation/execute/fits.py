"""The fits of one step of a plan, and the rows that it transforms."""

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin, clone
from sklearn.feature_selection import SelectorMixin

from tamis.base._sklearn import _get_output_config
from tamis.base.shared_fit import FittedOnce, SharedFit, Together, fit_together, shared_signature, signature
from tamis.validation.execute.rows import Pair
from tamis.validation.plan import Step

#: ``fit`` followed by ``transform``.
_PLAIN = TransformerMixin.fit_transform


class Fits:
    """The fits of one step of the plan: one shared fit for all its estimators, or that of a single one."""

    def __init__(self, step: Step, estimators: list[Any]) -> None:
        self.step, self._estimators = step, estimators
        self._together: Together | FittedOnce | None = None
        self._first: Any = None
        self._fitted: dict[int, Any] = {}

    @property
    def together(self) -> bool:
        """Whether the estimators share one preparation."""
        return self._together is not None

    @property
    def selects(self) -> bool:
        """Whether the estimators only select columns of matrices."""
        return all(
            getattr(type(one), "transform", None) is SelectorMixin.transform
            and _get_output_config("transform", one)["dense"] == "default"
            for one in self._estimators
        )

    @property
    def lasts(self) -> bool:
        """Whether the preparation can be used again on the same rows."""
        return self.step.group.shares_fit and all(
            isinstance(one, SharedFit) and one._reusable for one in self._estimators
        )

    @property
    def prepared(self) -> Any:
        """The preparation, if it can be used again."""
        return self._together.prepared if isinstance(self._together, Together) and self.lasts else None

    @property
    def key(self) -> Hashable:
        """Key of the preparation: equal keys have equal preparations on the same rows."""
        return self.step.place, shared_signature(self._estimators[0])

    def key_at(self, place: int) -> Hashable:
        """Key of the estimator at a place."""
        return self.step.place, signature(self._estimators[place])

    def prepare(self, X: Any, y: np.ndarray, prepared: Any = None) -> None:
        """Do the shared part of the fits, unless it is `prepared`; if one of them fails, each is fitted alone."""
        if self.step.group.shares_fit:
            try:
                self._together = fit_together(self._estimators, X, y, prepared)
            except Exception:
                self._estimators = [clone(one) for one in self._estimators]

    def fitted(self, place: int, X: Any, y: np.ndarray) -> Any:
        """The fitted estimator at a place."""
        if place not in self._fitted:
            if self._together is not None:
                self._fitted[place] = self._together.fitted(place)
            elif self.step.branches[place].steps and hasattr(self._estimators[place], "fit_transform"):
                # As in a pipeline: fit_transform need not return what transform does.
                self._first = self._estimators[place].fit_transform(X, y)
                self._fitted[place] = self._estimators[place]
            else:
                self._fitted[place] = self._estimators[place].fit(X, y)
        return self._fitted[place]

    def forget(self, places: list[int]) -> None:
        """Drop the fitted estimators at some places."""
        for place in places:
            self._fitted.pop(place, None)

    def transform(self, place: int, y: np.ndarray) -> Callable[[Pair], Pair]:
        """The function by which the fitted estimator at a place transforms rows."""

        def make(before: Pair) -> Pair:
            fitted = self._fitted[place]
            train, self._first = self._first, None
            if train is None:
                # The rows were released and come out the same again.
                own_way = getattr(type(fitted), "fit_transform", _PLAIN) is not _PLAIN
                train = clone(fitted).fit_transform(before.train, y) if own_way else fitted.transform(before.train)
            return Pair(train, fitted.transform(before.test))

        return make
