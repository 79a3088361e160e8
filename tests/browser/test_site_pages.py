"""The site that `make site` builds, as a reader finds it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.browser.playground import AXE, ROOT, serious

SITE = ROOT / "build" / "site"
PAGES = ("index", "tutorial", "language", "operators", "solver", "comparison", "guides/why")


@pytest.fixture
def site() -> Path:
    if not os.environ.get("CI") and not ((SITE / "index.html").is_file() and AXE.is_file()):
        pytest.skip("`make site` was not run")
    return SITE


def test_the_playground_is_part_of_it(chromium: Any, site: Path) -> None:
    assert (site / "playground" / "pyodide" / "pyodide.asm.wasm").is_file()
    page = chromium.new_page()
    page.goto((site / "index.html").as_uri())
    target = page.get_attribute("a[href^='playground/']", "href")
    assert (site / target / "index.html").is_file()
    page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(chromium: Any, site: Path, theme: str) -> None:
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, color_scheme=theme)
    page = context.new_page()
    for name in PAGES:
        page.goto((site / f"{name}.html").as_uri())
        assert serious(page) == [], name
    context.close()


def test_pages_fit_a_phone(chromium: Any, site: Path) -> None:
    context = chromium.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    for name in PAGES:
        page.goto((site / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
    context.close()
