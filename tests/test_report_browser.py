"""Reports of three real searches in a real browser: made soon, painted soon, drawn whole, and they ask for nothing.

The searches take minutes each, so that these tests are slow.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from browser import Opened, chromium, needs_chromium, opened
from tamis.data.named import names
from tamis.reporting.html import page
from tamis.reporting.run_report import report

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800), needs_chromium]

SECTIONS = ["answer", "data", "models", "sizes", "features", "rows", "honesty", "story", "made"]

#: Figures that the report of every search has, and those of two classes with scores.
ALWAYS = {"error_size", "error_features", "distribution", "redundancy", "heat", "pairs", "projection", "stages"}
TWO_CLASSES = {"roc", "precision_recall", "threshold"}


@pytest.fixture(scope="module")
def browser() -> Any:
    pytest.importorskip("playwright", reason="playwright is absent: pip install playwright")
    with chromium() as found:
        yield found


@pytest.fixture(
    scope="module",
    params=[("madelon", "official", 2), ("dorothea", "official", 2), ("lymphoma_mrmr", "folds", 9)],
    ids=lambda given: given[0],
)
def searched(request: pytest.FixtureRequest, shared_data: Path, folder: Path) -> tuple[Path, int]:
    """The run that a search of a real data set leaves, its report beside it, and the number of classes."""
    name, split, classes = request.param
    environment = {**os.environ, "TAMIS_DATA": str(shared_data)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAMIS_DATA", str(shared_data))
        if name not in names():
            pytest.skip(f"the data set {name} is absent")
    command = [sys.executable, "-m", "tamis.cli.main", "mine", name, "--split", split, "--trials", "25"]
    command += ["--without", "boost", "--without", "forest"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / f"{name}.tamis-run", classes


def report_of(run: Path) -> Path:
    """The page that the search wrote."""
    return run.with_suffix(".tamis-report.html")


def column(seen: Opened, table: str, number: int) -> list[str]:
    """The texts of one column as they are shown."""
    return list(seen.page.locator(f"[data-table={table}] tbody tr > :nth-child({number})").all_inner_texts())


def sort(seen: Opened, table: str, title: str) -> str:
    """Press the head of a column and say which way the table is sorted now."""
    button = seen.page.locator(f"[data-table={table}] thead button", has_text=title)
    button.click()
    return str(button.locator("..").get_attribute("aria-sort"))


def test_it_is_small_and_soon_made_and_painted(browser: Any, searched: tuple[Path, int]) -> None:
    run, _ = searched
    facts = report(run).facts
    begin = time.perf_counter()
    text = page(facts)
    built = time.perf_counter() - begin
    file = report_of(run)
    assert file.read_text(encoding="utf-8") == text
    with opened(browser, file) as seen:
        paints = dict(seen.page.evaluate("performance.getEntriesByType('paint').map(p => [p.name, p.startTime])"))
    measured = {"bytes": file.stat().st_size, "built": built, "painted": paints["first-contentful-paint"] / 1000}
    print(f"{file.name}: {', '.join(f'{what} {value:.4g}' for what, value in measured.items())}")
    assert measured["bytes"] < 6_000_000
    assert measured["built"] < 10
    assert measured["painted"] < 2


def test_every_panel_is_drawn_and_nothing_is_asked_for(browser: Any, searched: tuple[Path, int]) -> None:
    run, classes = searched
    file = report_of(run)
    facts = report(run).facts
    with opened(browser, file) as seen:
        figures = set(seen.draw_all())
        assert figures >= ALWAYS | (TWO_CLASSES if classes == 2 and facts["rows"]["roc"] else set())
        assert ("selectors" in figures) == (facts["features"]["selectors"] is not None)
        assert seen.page.locator("section").evaluate_all("all => all.map(e => e.id)") == SECTIONS
        assert seen.page.locator(".confusion td").count() == classes**2
        empty = "all => all.filter(e => !e.querySelector('svg.main-svg').children.length).length"
        assert seen.page.locator(".plot").evaluate_all(empty) == 0
        assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert (seen.errors, seen.dialogs, seen.requests) == ([], [], [file.as_uri()])


def test_the_leaderboard_sorts(browser: Any, searched: tuple[Path, int]) -> None:
    rows = report(searched[0]).facts["models"]["rows"]
    known = sorted(row["features"] for row in rows if row["features"] is not None)
    with opened(browser, report_of(searched[0])) as seen:
        assert column(seen, "models", 1) == [str(i + 1) for i in range(min(20, len(rows)))]
        for way, expected in (("ascending", known), ("descending", known[::-1])):
            assert sort(seen, "models", "Features") == way
            shown = [float(text.replace(",", "")) for text in column(seen, "models", 5) if text[0].isdigit()]
            assert shown == pytest.approx(expected[: len(shown)], abs=0.051)
            assert len(shown) == min(20, len(known))
        assert seen.errors == []


def test_search_finds_a_feature_and_a_click_shows_its_distribution(browser: Any, searched: tuple[Path, int]) -> None:
    panel = report(searched[0]).facts["features"]
    table, known = panel["table"], [one["name"] for one in panel["distributions"]]
    with opened(browser, report_of(searched[0])) as seen:
        search = seen.page.get_by_label("Search features")
        search.fill(table["name"][-1].upper())
        assert table["name"][-1] in column(seen, "features", 2)
        assert all(table["name"][-1] in name for name in column(seen, "features", 2))
        search.fill(known[1])
        drawing = seen.page.locator("#distribution .plot")
        drawing.scroll_into_view_if_needed()
        drawing.locator("svg.main-svg").first.wait_for()
        before = drawing.locator(".cartesianlayer").inner_html()
        seen.page.get_by_role("button", name=known[1], exact=True).click()
        assert seen.page.locator("#distribution-name").inner_text() == known[1]
        assert drawing.locator(".cartesianlayer").inner_html() != before
        search.fill("")
        assert sort(seen, "features", "Rank") == "ascending"
        assert column(seen, "features", 1) == [str(rank) for rank in sorted(table["rank"])[:20]]
        assert seen.errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_read_by_all(browser: Any, searched: tuple[Path, int], scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python", reason="axe-core is absent: pip install axe-playwright-python")
    # The checker needs to run in the page, which the policy would forbid. A figure is one picture to it.
    with opened(browser, report_of(searched[0]), color_scheme=scheme, bypass_csp=True) as seen:
        seen.draw_all()
        seen.page.evaluate(Path(axe.__file__).with_name("axe.min.js").read_text(encoding="utf-8"))
        found = seen.page.evaluate("axe.run({exclude: ['.plot svg']}, {resultTypes: ['violations']})")
    assert found["passes"]
    bad = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in bad] == []
