"""A pass over a file on a cluster: the same sums though a worker dies and the scheduler is restarted."""

from pathlib import Path

import numpy as np
import pytest

from dask_cluster import cluster
from tamis import scores
from tamis.base.errors import TamisError
from tamis.data.chunks.formats import open_chunked
from tamis.streaming import kept_sums, memory
from tamis.streaming.scores import streamed_scores
from tamis.streaming.target import StreamedTarget
from test_streaming import write_parquet

pytest.importorskip("distributed")


@pytest.mark.slow
def test_a_worker_dies_and_the_scheduler_is_restarted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.data.chunks.parquet._SMALL", 1)
    monkeypatch.setattr(memory, "_TASK", 1.0)
    monkeypatch.setattr(kept_sums, "_PAUSE", 0.0)
    monkeypatch.setattr(kept_sums, "_TIMES", 0.0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6000, 50)).astype(np.float32), rng.integers(0, 2, 6000)
    table = open_chunked(write_parquet(tmp_path / "table", X, y, rows=100))
    target, f = StreamedTarget.of(table), scores.get("f")
    alone = streamed_scores(table, target, f, limit=4e9, engine="serial", resume=False).whole.values
    seen: list[float] = []

    with cluster(tmp_path / "first") as here:
        workers = [here.worker("--nthreads", "1", "--no-nanny") for _ in range(2)]

        def strike(done: float, total: float) -> None:
            seen.append(done)
            if len(seen) == 5:
                workers[0].kill()
            if len(seen) == 20:
                raise KeyboardInterrupt

        engine = f"dask://{here.place}"
        with pytest.raises(KeyboardInterrupt):
            streamed_scores(table, target, f, limit=4e9, engine=engine, progress=strike)
        whole = streamed_scores(table, target, f, limit=4e9, engine=engine, resume=False)
        np.testing.assert_array_equal(whole.whole.values, alone)
    with pytest.raises(TamisError, match="no Dask scheduler found"):
        streamed_scores(table, target, f, limit=4e9, engine=engine)
    with cluster(tmp_path / "second") as here:
        here.worker("--nthreads", "1", "--no-nanny")
        again = streamed_scores(table, target, f, limit=4e9, engine=f"dask://{here.place}")
    assert again.scanned.kept >= 15
    assert again.scanned.kept + again.scanned.read == len(table.pieces)
    np.testing.assert_array_equal(again.whole.values, alone)
