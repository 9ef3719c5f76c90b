"""``tamis select`` while it searches: the line on a terminal, silence elsewhere, and what Ctrl-C does."""

import _thread
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import polars as pl
import pytest

from tamis.cli import select_progress
from tamis.subsets.evaluations import Evaluations

#: A search that takes longer than any test, by a measure that is quick.
ENDLESS = "random_wrapper(measure=cfs_pearson, n_iter=100000000)"


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    kind = np.arange(80) % 2
    X = rng.normal(size=(80, 12))
    X[:, 4] += 2 * kind
    frame = pl.DataFrame({f"x{j}": X[:, j].round(4) for j in range(12)}).with_columns(
        kind=pl.Series(np.where(kind, "tulip", "rose"))
    )
    frame.write_csv(tmp_path / "flowers.csv")
    return tmp_path / "flowers.csv"


@pytest.fixture
def terminal(monkeypatch):
    """Make standard error a terminal; a function that does, as the command's own capture is set before."""
    written = io.StringIO()
    written.isatty = lambda: True
    monkeypatch.setattr(select_progress, "_PATIENCE", 0.0)
    # The line is as long as it needs to be.
    monkeypatch.setenv("COLUMNS", "200")

    def become() -> io.StringIO:
        monkeypatch.setattr(sys, "stderr", written)
        return written

    return become


@pytest.fixture
def interrupting(monkeypatch):
    """Interrupt this process, as Ctrl-C does, when so many sets were evaluated."""
    main = threading.main_thread()

    def at(*numbers):
        waiting = list(numbers)
        take = Evaluations._take

        def counted(scores, columns, key, score):
            take(scores, columns, key, score)
            if waiting and scores.used == waiting[0] and threading.current_thread() is main:
                waiting.pop(0)
                _thread.interrupt_main()

        monkeypatch.setattr(Evaluations, "_take", counted)

    return at


def test_a_terminal_shows_the_sets_the_best_score_and_the_time(tamis, table, terminal):
    written = terminal()
    code, out, _ = tamis("select", table, "random_wrapper(knn(3), n_iter=40)", "--target", "kind", "--budget", "5m")
    assert code == 0
    line = r"searching: \d+ sets evaluated; best [01][.\d]* with \d+ of 12; 0:\d\d of 5:00"
    assert re.search(line, written.getvalue())
    # What is left in the end is the result alone.
    assert "sets evaluated" not in out
    assert "random_wrapper evaluated" in out


def test_nothing_is_shown_with_json_or_in_a_log(tamis, table, terminal):
    search = ("select", table, "random_wrapper(knn(3), n_iter=40)", "--target", "kind")
    code, _, error = tamis(*search)
    assert (code, error) == (0, "")
    written = terminal()
    code, out, _ = tamis(*search, "--json")
    assert code == 0
    assert json.loads(out)["searches"][0]["complete"]
    # Reading hides the cursor and shows it again.
    assert re.sub(r"\x1b\[[?\d]*\w|\s", "", written.getvalue()) == ""


def test_a_recipe_without_a_search_has_a_line_too(tamis, table, terminal):
    written = terminal()
    assert tamis("select", table, "cc(2) | knn(3)", "--target", "kind")[0] == 0
    assert "fitting; 0:00" in written.getvalue()


def test_ctrl_c_ends_a_search_with_the_best_set_so_far(tamis, table, tmp_path, interrupting):
    run = tmp_path / "a.tamis-subsets"
    before = signal.getsignal(signal.SIGINT)
    interrupting(500)
    code, out, _ = tamis("select", table, ENDLESS, "--target", "kind", "--run", run)
    assert code == 0
    assert "x4" in out
    assert "; the search was ended before it was complete, and the same command resumes it from" in out
    assert run.name in out
    interrupting(3_000)
    code, out, _ = tamis("select", table, ENDLESS, "--target", "kind", "--run", run, "--json")
    (search,) = json.loads(out)["searches"]
    assert code == 0
    assert not search["complete"]
    assert search["evaluations"] >= 3_000
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_within_the_search_of_a_filter_ends_the_outer_search_too(tamis, table, interrupting):
    interrupting(20)
    recipe = "fortal(knn(3), n_iter=100000000)"
    code, out, error = tamis("select", table, recipe, "--target", "kind", "--json")
    assert code == 0, error
    (search,) = json.loads(out)["searches"]
    assert not search["complete"]
    assert search["evaluations"] > 0


def test_a_second_ctrl_c_stops_at_once(tamis, table, tmp_path, interrupting):
    run = tmp_path / "a.tamis-subsets"
    # The second comes before the sets under way are evaluated.
    interrupting(100, 101)
    code, out, error = tamis("select", table, ENDLESS, "--target", "kind", "--run", run)
    assert (code, out) == (130, "")
    assert (
        error == f"tamis: stopped, nothing is selected; the scores so far are in {run}, and the same command resumes\n"
    )
    interrupting(1)
    code, out, error = tamis("select", table, ENDLESS, "--target", "kind")
    assert (code, out) == (130, "")
    assert error == "tamis: stopped, nothing is selected; with --run FILE the scores of a subset search are kept\n"


@pytest.mark.skipif(os.name != "posix", reason="signals to process groups")
def test_ctrl_c_reaches_the_command_and_not_its_workers(table):
    run = table.with_name("a.tamis-subsets")
    command = [sys.executable, "-m", "tamis.cli.main", "select", str(table), "random_wrapper(svm, n_iter=1000000)"]
    process = subprocess.Popen(
        [*command, "--target", "kind", "--engine", "local(2)", "--run", str(run), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        end = time.time() + 60
        while time.time() < end and (not run.exists() or run.stat().st_size < 20_000):
            time.sleep(0.1)
        os.killpg(process.pid, signal.SIGINT)
        out, error = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0, error
    assert not json.loads(out)["searches"][0]["complete"]
    assert "Traceback" not in error
