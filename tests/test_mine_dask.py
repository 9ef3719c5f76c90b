"""The search on a cluster: the same leaderboard as in one process, though a worker dies on the way."""

from pathlib import Path

import pytest

from dask_cluster import cluster
from tamis.mining.runner import Standing
from test_mine import board_of, planted, quick

pytest.importorskip("distributed")


def test_a_cluster_finds_the_same_though_a_worker_dies(tmp_path: Path) -> None:
    with cluster(tmp_path) as here:
        workers = [here.worker("--nthreads", "1", "--no-nanny") for _ in range(2)]
        alive = []

        def strike(standing: Standing) -> None:
            if standing.stage == "tune" and standing.done and workers[0].poll() is None:
                alive.append(len([w for w in workers if w.poll() is None]))
                workers[0].kill()

        found = quick(*planted(), engine=f"dask://{here.place}", trials=14, progress=strike)
    assert alive
    same = quick(*planted(), trials=14)
    assert board_of(found) == board_of(same)
    assert found.validation_ == same.validation_
