"""Progress is shown where somebody can see it, once at a time, and nowhere else."""

import io
import sys
import threading
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import tamis
from small_results import QUICK, data
from tamis.base.errors import TamisError
from tamis.engines import progress
from tamis.engines.progress import displaying, progress_bar
from tamis.validation import learning_curve, permutation_test, validate_many, validate_nested


def terminal(patch: pytest.MonkeyPatch) -> io.StringIO:
    """Make standard error a terminal that keeps what is written; within a test, as pytest sets it before each."""
    written = io.StringIO()
    written.isatty = lambda: True  # type: ignore[method-assign]
    patch.setattr(sys, "stderr", written)
    patch.setattr(progress, "_PATIENCE", 0.0)
    return written


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A notebook's shell, and everything that was displayed."""
    outputs: list[str] = []

    def put(content: dict[str, str], **options: Any) -> SimpleNamespace:
        outputs.append(content["text/html"])
        return SimpleNamespace(update=put)

    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=None))
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=put))
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_PAUSE", 0.0)
    return outputs


def test_nothing_is_shown_in_a_log(capfd: pytest.CaptureFixture[str]) -> None:
    with progress_bar("x") as step:
        assert step is None
    tamis.mine(data(), trials=2, **QUICK)
    tamis.validate("knn(1)", data(), folds=2)
    assert capfd.readouterr() == ("", "")


def test_a_terminal_has_a_bar_and_false_silences_it(monkeypatch: pytest.MonkeyPatch) -> None:
    written = terminal(monkeypatch)
    with progress_bar("counting", False) as step:
        assert step is None
    assert written.getvalue() == ""
    with progress_bar("counting") as step:
        assert step is not None
        step(1, 2)
    assert "counting" in written.getvalue()


def test_a_search_shows_its_table_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    written = terminal(monkeypatch)
    tamis.mine(data(), trials=2, progress=False, **QUICK)
    assert written.getvalue() == ""
    tamis.mine(data(), trials=2, **QUICK)
    assert "begun in all searches" in written.getvalue()


def test_one_display_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal(monkeypatch)
    with displaying() as place:
        assert place == "terminal"
        with displaying() as inner:
            assert inner is None
    with displaying() as place:
        assert place == "terminal"


def test_a_thread_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal(monkeypatch)
    found: list[Any] = []

    def look() -> None:
        with displaying() as place:
            found.append(place)

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert found == [None]


def test_a_notebook_has_a_bar_that_becomes_a_line(notebook: list[str]) -> None:
    tamis.validate("knn(1)", data(), folds=3)
    assert [ElementTree.fromstring(f"<p>{one}</p>").find("progress").attrib["value"] for one in notebook[:-1]] == [
        "1",
        "2",
        "3",
    ]
    assert notebook[-1].startswith("<small>validating: 0:0")


def test_a_notebook_shows_the_search_and_what_it_took(notebook: list[str]) -> None:
    tamis.mine(data(), trials=3, **QUICK)
    for one in notebook:
        ElementTree.fromstring(f"<div>{one}</div>")
    assert any("cc(" in one and "<table>" in one for one in notebook)
    assert notebook[-1].startswith("<small>searched 0:0")


def test_an_interrupt_ends_the_display(notebook: list[str]) -> None:
    def interrupted() -> None:
        with progress_bar("counting") as step:
            assert step is not None
            step(1, 2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "counting: stopped" in notebook[-1]
    with displaying() as place:
        assert place == "notebook"


def test_an_interrupted_search_can_be_resumed(notebook: list[str], tmp_path: Any) -> None:
    def stop(progress: Any) -> None:
        if progress.stage != "compile" and progress.done > 0:
            raise KeyboardInterrupt

    run = tmp_path / "a.tamis-run"
    with pytest.raises(KeyboardInterrupt):
        tamis.mine(data(), trials=3, run=run, progress=stop, **QUICK)
    found = tamis.mine(data(), trials=3, run=run, **QUICK)
    assert found.recipe_ == tamis.mine(data(), trials=3, progress=False, **QUICK).recipe_


def test_a_function_of_ones_own_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    written = terminal(monkeypatch)
    for function, models in (
        (tamis.validate, "knn(1)"),
        (validate_many, ["knn(1)", "knn(3)"]),
        (validate_nested, ["knn(1)", "knn(3)"]),
        (learning_curve, "knn(1)"),
    ):
        seen: list[tuple[float, float]] = []
        function(models, data(), folds=2, progress=lambda *pair, seen=seen: seen.append(pair))
        assert seen[-1][0] == seen[-1][1] > 1
    counted: list[tuple[float, float]] = []
    permutation_test("knn(1)", data(), n=3, folds=2, progress=lambda *pair: counted.append(pair))
    assert counted == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert written.getvalue() == ""


@pytest.mark.parametrize("wrong", ["yes", 3, []])
def test_anything_else_is_refused(wrong: Any) -> None:
    X, y = np.arange(12.0).reshape(-1, 1), np.repeat([0, 1], 6)
    with pytest.raises(TamisError, match="progress must be a function, True, False or None"):
        tamis.validate("knn(1)", X, y, folds=2, progress=wrong)
    with pytest.raises(TamisError, match="progress must be a function, True, False or None"):
        tamis.mine(X, y, trials=1, progress=wrong)
