"""The functions at the door: real signatures, types that a user's script is checked against, and a quick import."""

import inspect
import pydoc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tamis
from tamis.base.errors import TamisError

ROOT = Path(__file__).parents[1]
DOORS = ("load", "mine", "predict", "rank", "recipe", "report", "validate")


@pytest.mark.parametrize("name", DOORS)
def test_help_and_signature_show_the_function(name: str) -> None:
    function = getattr(tamis, name)
    assert inspect.isfunction(function)
    assert "args" not in inspect.signature(function).parameters
    assert "Parameters" in pydoc.plain(pydoc.render_doc(function)) or name == "recipe"
    assert name in dir(tamis)


def test_the_script_that_make_lint_type_checks_uses_every_door() -> None:
    script = (ROOT / "examples" / "doors.py").read_text()
    assert all(f"tamis.{name}(" in script for name in DOORS)
    assert "mypy --strict examples/doors.py" in (ROOT / "Makefile").read_text()


def test_the_script_runs() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "examples" / "doors.py")], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


def test_importing_tamis_imports_nothing_heavy() -> None:
    code = "import sys, tamis; print([name for name in ('numpy', 'sklearn', 'polars', 'numba') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_rank_takes_rows_and_names() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 30)
    X = rng.normal(size=(60, 5)) + 3 * (y == "b")[:, None] * (np.arange(5) == 3)
    table = tamis.rank(X, y, by="t(2)")
    assert table["column"][0] == 3
    assert table["rank"].to_list() == [1, 2, 3, 4, 5]
    assert table["selected"].to_list() == [True, True, False, False, False]
    assert "role" in tamis.rank("madelon-like").columns
    with pytest.raises(TamisError, match="svm is not a selector"):
        tamis.rank(X, y, by="svm")
    with pytest.raises(TamisError, match="y is missing"):
        tamis.rank(X)
