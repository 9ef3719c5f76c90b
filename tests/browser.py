"""Pages in a real browser: Debian's Chromium, and what it complained of and asked for."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium")

needs_chromium = pytest.mark.skipif(
    CHROMIUM is None and not os.environ.get("TAMIS_BROWSER_REQUIRED"),
    reason="the browser is absent: apt-get install chromium",
)


@dataclass(frozen=True)
class Opened:
    """A page, and all that happened to it."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def draw_all(self) -> list[str]:
        """Scroll past every figure, wait until it is drawn, and name them."""
        names = []
        for figure in self.page.query_selector_all(".plot"):
            figure.scroll_into_view_if_needed()
            figure.wait_for_selector("svg.main-svg", state="attached", timeout=10_000)
            names.append(figure.get_attribute("data-figure"))
        return names


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser, without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Any, file: Path, **context: Any) -> Iterator[Opened]:
    """Open a file; options are those of a playwright context, such as ``color_scheme="dark"``."""
    own = browser.new_context(viewport={"width": 1280, "height": 900}, **context)
    try:
        seen = Opened(own.new_page())

        def dismiss(dialog: Any) -> None:
            seen.dialogs.append(dialog.message)
            dialog.dismiss()

        seen.page.on("console", lambda said: seen.errors.append(said.text) if said.type == "error" else None)
        seen.page.on("pageerror", lambda error: seen.errors.append(str(error)))
        seen.page.on("request", lambda request: seen.requests.append(request.url))
        seen.page.on("dialog", dismiss)
        seen.page.goto(file.as_uri(), wait_until="load")
        yield seen
    finally:
        own.close()
