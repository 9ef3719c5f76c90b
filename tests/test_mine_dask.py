"""The search on a cluster: the same leaderboard as in one process, though a worker dies on the way."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dask_cluster import cluster
from tamis.base.errors import TamisError
from tamis.mining.runner import Progress
from tamis.validation import validate_many
from test_mine import leaderboard_of, planted, quick

pytest.importorskip("distributed")


# `make test` holds both halves of this: a cluster gives what one process gives though a worker is killed, and a search
# with processes of its own finds what it finds in one.
@pytest.mark.slow
def test_a_cluster_finds_the_same_though_a_worker_dies(tmp_path: Path) -> None:
    with cluster(tmp_path) as here:
        workers = [here.worker("--nthreads", "1", "--no-nanny") for _ in range(2)]
        alive = []

        def strike(progress: Progress) -> None:
            if progress.stage == "tune" and progress.done and workers[0].poll() is None:
                alive.append(len([w for w in workers if w.poll() is None]))
                workers[0].kill()

        engine = f"dask://{here.place}"
        found = quick(*planted(), engine=engine, trials=14, progress=strike)
        validated = validate_many("cc({1, 5}) | {knn(3), svm(linear)}", *planted(), folds=3, engine=engine)
    assert alive
    same = quick(*planted(), trials=14)
    assert leaderboard_of(found) == leaderboard_of(same)
    assert found.validation_ == same.validation_
    assert validated == validate_many("cc({1, 5}) | {knn(3), svm(linear)}", *planted(), folds=3)


class Count:
    """The tasks of all rounds of a search, and what is to happen when so many of them are done."""

    def __init__(self, **events: Callable[[], object]) -> None:
        self._rounds: dict[object, int] = {}
        self._events = sorted((int(name.removeprefix("at_")), event) for name, event in events.items())

    def __call__(self, progress: Progress) -> None:
        if progress.stage != "compile":
            self._rounds[progress.phase, progress.stage, progress.number] = progress.done
            while self._events and self.done >= self._events[0][0]:
                self._events.pop(0)[1]()

    @property
    def done(self) -> int:
        return sum(self._rounds.values())


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_thousand_tasks_survive_a_death_a_restart_and_workers_that_join_late(tmp_path: Path) -> None:
    options = {"trials": 60, "inner_folds": 22, "run": tmp_path / "run"}
    nobody = ("--nthreads", "1", "--no-nanny")
    with cluster(tmp_path / "first") as here:
        workers = [here.worker(*nobody) for _ in range(2)]
        first = Count(at_100=workers[0].kill, at_200=lambda: here.worker(*nobody), at_400=here.kill_scheduler)
        with pytest.raises(TamisError, match=r"the connection to the Dask scheduler at .* is lost"):
            quick(*planted(), engine=f"dask://{here.place}", progress=first, **options)
    assert first.done < 800
    with cluster(tmp_path / "second") as here:
        here.worker(*nobody)
        second = Count(at_100=lambda: here.worker(*nobody))
        found = quick(*planted(), engine=f"dask://{here.place}", progress=second, **options)
    whole = Count()
    same = quick(*planted(), progress=whole, **{**options, "run": None})
    assert whole.done >= 1000
    assert second.done <= whole.done - 390
    assert leaderboard_of(found) == leaderboard_of(same)
    assert found.validation_ == same.validation_
