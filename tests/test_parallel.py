"""Tasks run side by side: in order, each warning once, on one thread."""

import os
import time

import numpy as np
import pytest

from tamis.base.parallel import one_thread, run_all


def test_run_all_says_warnings_once() -> None:
    with pytest.warns(UserWarning, match="twice") as said:
        assert run_all(warning_of, [(1,), (2,)]) == [1, 2]
    assert len(said) == 1


def warning_of(number: int) -> int:
    import warnings

    warnings.warn("said twice", UserWarning, stacklevel=1)
    return number


def test_one_thread_within() -> None:
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    with one_thread():
        assert all(pool["num_threads"] == 1 for pool in threadpool_info())


_HELD: list[np.ndarray] = []


def holding(number: int) -> int:
    _HELD.append(np.ones(10_000_000))
    time.sleep(0.3)
    return number


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core")
def test_a_process_that_grows_is_replaced_without_a_word() -> None:
    # The pool replaces it after 300 MB, and warns: with warnings as errors that would end the pool.
    pytest.importorskip("psutil")
    assert run_all(holding, [(i,) for i in range(16)], n_jobs=2) == list(range(16))
