"""The examples of the gallery and the commands of the tutorial run, and the site builds without a warning."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs(example, tmp_path):
    setting = os.environ | {"MPLBACKEND": "agg", "PYTHONWARNINGS": "error::DeprecationWarning:__main__"}
    done = subprocess.run(
        [sys.executable, example], cwd=tmp_path, env=setting, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    pytest.importorskip("sphinx_gallery")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-D", "sphinx_gallery_conf.plot_gallery=0"]
    done = subprocess.run(
        [*command, ROOT / "docs", tmp_path / "site", "-d", tmp_path / "doctrees"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "reference" / "index.html").read_text(encoding="utf-8")
    assert "KNN" in page
    assert "knn" in page


@pytest.mark.slow
def test_the_commands_of_the_tutorial_run_one_after_the_other(tmp_path):
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    tamis (.*)$", page, flags=re.MULTILINE)
    assert len(commands) >= 7
    start = [sys.executable, "-m", "tamis.cli.main"]
    for command in commands:
        done = subprocess.run(
            [*start, *shlex.split(command)], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (command, done.stderr)
    made = {path.name for path in tmp_path.iterdir()}
    assert made >= {"clinic.csv", "clinic.tamis-run", "clinic.tamis-model", "clinic.tamis-report.html"}
