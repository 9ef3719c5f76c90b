"""The errors of a model in each fold, with some of its columns exchanged or dropped."""

from collections.abc import Mapping, Sequence
from time import monotonic

import numpy as np

from tamis.base.types import FloatArray
from tamis.mining.fixed_columns import FixedModel
from tamis.validation.comparison.paired import CorrectedT, corrected_t
from tamis.validation.execute.driver import Driver
from tamis.validation.fold_result import FoldResult
from tamis.validation.folds import Split
from tamis.validation.metrics import Metric
from tamis.validation.plan import plan

#: Level of one-sided tests.
_LEVEL = 0.05


class ColumnSwaps:
    """Errors of a model with some of its columns exchanged, in each fold; larger is worse.

    Parameters
    ----------
    driver : Driver
        On the data of the `columns` alone.
    fixed : FixedModel
    columns : int array
        Numbers of these columns in the data of the model, in order.
    splits : sequence of Split
    metric : Metric
    until : float or None
        The ``time.monotonic()`` at which to stop.
    """

    def __init__(
        self,
        driver: Driver,
        fixed: FixedModel,
        columns: np.ndarray,
        splits: Sequence[Split],
        metric: Metric,
        until: float | None,
    ) -> None:
        self._driver, self._fixed, self._splits, self._metric, self._until = driver, fixed, splits, metric, until
        self._places = {column: place for place, column in enumerate(columns.tolist())}
        self.test_to_train = sum(s.test.size for s in splits) / sum(s.train.size for s in splits)
        #: Why the model itself could not be evaluated.
        self.error = ""

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return self._until is not None and monotonic() > self._until

    def errors(self, changes: Sequence[Mapping[int, int | None]]) -> list[FloatArray | None]:
        """The errors after each change of columns; None where a fold failed or the time was up."""
        if not changes:
            return []
        merged = plan([self._fixed.on(self._places, change) for change in changes])
        tasks = [self._driver.task(merged, split, metrics=(self._metric,)) for split in self._splits]
        values = np.full((len(changes), len(tasks)), np.nan)
        known = np.zeros(values.shape, dtype=bool)
        for number, results in self._driver.execute(tasks, until=self._until, hard=self._until):
            for i, result in results.items():
                if isinstance(result, FoldResult):
                    values[i, number], known[i, number] = result.metrics[self._metric.name], True
                elif not changes[i]:
                    self.error = str(result)
        signed = values if self._metric.better == "low" else -values
        return [row if done.all() else None for row, done in zip(signed, known, strict=True)]

    def difference(self, errors: FloatArray, base: FloatArray) -> CorrectedT:
        """The mean difference and its standard error."""
        return corrected_t(errors - base, self.test_to_train, level=2 * _LEVEL)
