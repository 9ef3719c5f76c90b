"""The search on a cluster: the same leaderboard as in one process, though a worker dies on the way."""

from pathlib import Path

import pytest

from dask_cluster import cluster
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
