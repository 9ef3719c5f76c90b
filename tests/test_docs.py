"""The documentation keeps up with the code."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]


def test_the_table_of_parts_is_up_to_date():
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "make_tables.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if not link.startswith("http"):
            assert (page.parent / link).exists(), link


def test_the_readme_names_commands_that_exist():
    from tamis.cli.main import app

    known = {c.name for c in app.registered_commands} | {g.name for g in app.registered_groups}
    used = set(re.findall(r"^ *(?:TAMIS_DATA=\S+ )?tamis (\w+)", (ROOT / "README.md").read_text(), flags=re.MULTILINE))
    assert used
    assert used <= known


def test_the_oldest_versions_that_are_tested_are_the_lower_bounds():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = [line for line in (ROOT / "tests" / "oldest-constraints.txt").read_text().splitlines() if line[0] != "#"]
    own = [line for line in pinned if not line.startswith("click")]
    assert own == [f"{bound.replace('>=', '==')}.*" for bound in project["dependencies"]]


def test_every_dependency_has_a_line():
    declared = re.findall(r'^    "([a-z0-9-]+)[>=]', (ROOT / "pyproject.toml").read_text(), flags=re.MULTILINE)
    page = (ROOT / "docs" / "dependencies.md").read_text()
    words = set(re.findall(r"[a-z0-9-]+", page))
    names = {"pytest-xdist": "xdist", "pytest-timeout": "timeout"}
    assert [d for d in declared if names.get(d, d) not in words] == []
