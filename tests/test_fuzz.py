"""Mutated inputs are used or refused in a sentence: no traceback, no crash, none that takes long or much memory."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from benchmarks.bench_fuzz import _hangs, run, table
from benchmarks.fuzz.attempts import kinds
from benchmarks.fuzz.samples import rows
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from tamis.classify import KNN, SSVTree
from tamis.compose.model_file import card_of, save_model


def assert_clean(results: list) -> None:
    assert not any(one["findings"] for one in results), table(results)
    # Some inputs survive their mutation, and most do not: else nothing was tried.
    assert all(one["used"] and one["refused"] for one in results), table(results)


def test_tampered_models(tmp_path: Path) -> None:
    X, y = rows()
    (tmp_path / "models").mkdir()
    quick = KNN(3), SSVTree(), GaussianNB(), SVC(), RandomForestClassifier(2, random_state=0)
    for model in quick:
        save_model(tmp_path / "models" / type(model).__name__, model.fit(X, y), card_of(model, X, y))
    assert_clean(run(["model"], 60, 1, tmp_path))


@pytest.mark.slow
def test_many_tampered_models(tmp_path: Path) -> None:
    assert_clean(run(["model"], 10_000, 3, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted({*kinds()} - {"model"}))
def test_many_mutated_inputs(kind: str, tmp_path: Path) -> None:
    assert_clean(run([kind], 2000, 2, tmp_path))


def test_a_finding_is_shown_and_results_are_kept(tmp_path: Path) -> None:
    done = {"kind": "csv", "seed": 1, "first": 0, "last": 3, "tried": 3, "used": 1, "refused": 1, "slowest": 0.1}
    results = tmp_path / "results.jsonl"
    results.write_text('{"peak": 0, "findings": [[2, "KeyError: x"]], ' + str(done).replace("'", '"')[1:] + "\n")
    kept = run(["csv"], 3, 1, tmp_path, results)
    assert "1 x csv [2]: KeyError: x" in table(kept)
    with pytest.raises(AssertionError, match="KeyError: x"):
        assert_clean(kept)


def test_a_worker_that_computes_has_time_of_the_processor(tmp_path: Path) -> None:
    code = "import sys; print(flush=True); sys.stdin.read() if sys.argv[1] == 'waits' else None\nwhile True: pass"
    for what in ("computes", "waits"):
        with subprocess.Popen(
            [sys.executable, "-c", code, what], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as worker:
            assert worker.stdout is not None
            worker.stdout.readline()
            time.sleep(0.1)
            # Less than it has used is too long, whatever it does.
            assert _hangs(worker.pid, -1.0)
            assert _hangs(worker.pid, 60.0) is (what == "waits")
            worker.kill()
