"""Tasks run side by side: in order, in other processes only where that pays."""

import os
import time

import numpy as np
import pytest

from tamis.base import parallel as workers
from tamis.base.parallel import one_thread, run_all, stream


def slowly(number: int, seconds: float) -> tuple[int, int]:
    time.sleep(seconds)
    return number, os.getpid()


def failing(number: int) -> int:
    if number == 3:
        raise ValueError("three")
    return number


@pytest.mark.parametrize("n_jobs", [1, 2, 4, -1])
@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_results_come_in_order(n_jobs: int, count: int) -> None:
    found = list(stream(slowly, [(i, 0.0) for i in range(count)], n_jobs))
    assert [number for number, _ in found] == list(range(count))


def test_short_work_stays_here() -> None:
    found = list(stream(slowly, [(i, 0.001) for i in range(20)], 2))
    assert {pid for _, pid in found} == {os.getpid()}


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core")
def test_long_work_is_shared_out_once_workers_are_up(monkeypatch) -> None:
    monkeypatch.setattr(workers, "_STARTING", 0.0)
    monkeypatch.setattr(workers, "_LONG", 0.01)
    found = list(stream(slowly, [(i, 0.25) for i in range(60)], 2))
    assert [number for number, _ in found] == list(range(60))
    assert found[0][1] == os.getpid()
    assert len({pid for _, pid in found}) >= 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_comes_out_where_it_belongs(n_jobs: int, monkeypatch) -> None:
    monkeypatch.setattr(workers._Crew, "there", True)
    found = []
    with pytest.raises(ValueError, match="three"):
        found.extend(stream(failing, [(i,) for i in range(6)], n_jobs))
    assert found == list(range(len(found)))


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
