"""Chromium, driven by playwright: that of the system, since playwright's own is not installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path, "the tests of pages need Chromium: apt install chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    """A page whose errors, and requests to anywhere, fail the test."""
    context = chromium.new_context(viewport={"width": 1300, "height": 900})
    found = context.new_page()
    wrong: list[str] = []
    found.on("pageerror", lambda error: wrong.append(str(error)))
    found.on("console", lambda m: wrong.append(m.text) if m.type == "error" else None)
    found.on(
        "request",
        lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else wrong.append(r.url),
    )
    yield found
    context.close()
    assert not wrong
