"""Makes the pictures of the README from the report of the demo: ``make demo``, then ``make screenshots``.

Needs Debian's Chromium and playwright.
"""

import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

#: Where the picture begins, by the panel that stands at its top.
PICTURES = {"answer": None, "sizes": "#sizes", "features": "#features"}

BROWSER = "/usr/bin/chromium"


def main(report: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1180, "height": 760}, color_scheme="light")
        page.goto(report.absolute().as_uri())
        for name, panel in PICTURES.items():
            shoot(page, panel, folder / f"report-{name}.png")
        browser.close()


def shoot(page: Page, panel: str | None, path: Path) -> None:
    """A picture of what a reader sees who goes to a panel."""
    if panel is not None:
        page.locator(panel).evaluate("element => element.scrollIntoView()")
        page.locator(f"{panel} .plot svg.main-svg").first.wait_for()
    page.wait_for_timeout(500)
    page.screenshot(path=path)
    print(path)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
