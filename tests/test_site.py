"""The documentation as a site: it is built without a warning, and every page is in its contents."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from axon.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
ELSEWHERE = {"errors/README"}  # its text is in error-codes.md


def test_the_site(tmp_path: Path) -> None:
    """One test, since the site is built once: it takes most of the time."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    finished = subprocess.run(
        [*command, "-d", str(tmp_path / "doctrees"), str(DOCS), str(tmp_path / "site")],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert finished.returncode == 0, finished.stderr
    _every_page_is_found(tmp_path / "site")
    _pictures_and_downloads_are_there(tmp_path / "site")
    _programs_are_in_colour(tmp_path / "site")
    assert (tmp_path / "site" / "schema.json").is_file()


def _every_page_is_found(site: Path) -> None:
    """From the first, by links alone, as a reader goes."""
    found, waiting = set[Path](), [site / "index.html"]
    while waiting:
        page = waiting.pop()
        if page in found:
            continue
        found.add(page)
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r'href="([^"#:]+\.html)[#"]', text):
            linked = (page.parent / target).resolve()
            assert linked.is_file(), f"{page.relative_to(site)} links {target}"
            waiting.append(linked)
    names = {page.relative_to(site).with_suffix("").as_posix() for page in found}
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
    assert pages - ELSEWHERE <= names


def _pictures_and_downloads_are_there(site: Path) -> None:
    for page in site.rglob("*.html"):
        for target in re.findall(r'(?:src|download href)="([^":?]+)', page.read_text("utf-8")):
            assert (page.parent / target).is_file(), f"{page.relative_to(site)} shows {target}"


def _programs_are_in_colour(site: Path) -> None:
    """Those with an error too."""
    assert '<span class="k">fn</span>' in (site / "tutorial.html").read_text(encoding="utf-8")
    page = (site / "errors" / "AX101.html").read_text(encoding="utf-8")
    assert "highlight-axon-error" in page
    assert '<span class="k">fn</span>' in page


def test_every_command_is_on_the_page_of_commands() -> None:
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"`axon {name}" not in page] == []


def test_the_pictures_of_the_readme_are_in_the_repository() -> None:
    """By paths that GitHub and the source distribution can follow."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r'!\[[^\]]*\]\(([^)]+)\)|<img[^>]* src="([^"]+)"', readme)
    assert shown
    for path in map("".join, shown):
        assert (ROOT / path).is_file(), path


def test_what_the_readme_links_is_in_the_repository() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", readme):
        assert (ROOT / target).exists(), target
