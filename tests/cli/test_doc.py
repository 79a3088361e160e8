"""`axon doc`: a page about a program."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from tests.shell import axon

PROGRAM = """# Layers <b>.
# Two lines.

import "std/layers.axon" as layers;
type Block(d) = { w : f32 [d,d] };
# An operator that is declared.
op magic : t s -> t s;

# Multiplies `x`.
#
# And a second paragraph with <script>.
dense = fn (p : Block(d), x) { x @ p.w };
_hidden = fn (x) { x };
top = fn (x) { x[0] };
"""


def test_markdown(tmp_path: Path) -> None:
    (tmp_path / "a.axon").write_text(PROGRAM)
    found = axon(["doc", "a.axon"], tmp_path)
    assert found.status == 0
    text = found.stdout
    assert text.startswith("# a.axon\n\nLayers <b>.\nTwo lines.\n")
    assert "- `layers` is `std/layers.axon`" in text
    assert "type Block(d) = { w : f32 [d,d] }" in text
    assert "## `magic`\n\n```text\nop magic : t s -> t s\n```\n\nAn operator that" in text
    assert "Multiplies `x`.\n\nAnd a second" in text
    assert "dense : (p : { w : f32 [d,d] }, x : f32 " in text
    assert "top : (x : t [a]@b) -> t b\n  where a >= 1" in text
    assert "_hidden" not in text
    assert text.count("Parameters:") == 1, "only `dense` has some"
    order = [text.index(f"## `{name}`") for name in ("Block", "magic", "dense", "top")]
    assert order == sorted(order)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.anchors: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            if name == "href" and value:
                self.links.add(value.removeprefix("#"))


def test_html_escapes_and_its_links_lead_somewhere(tmp_path: Path) -> None:
    (tmp_path / "a.axon").write_text(PROGRAM)
    (tmp_path / "b.axon").write_text("f = fn (x) { x };\n")
    found = axon(["doc", "a.axon", "b.axon", "-o", "page.html"], tmp_path)
    assert (found.status, found.stdout) == (0, "page.html\n")
    tags = _Tags()
    tags.feed((tmp_path / "page.html").read_text())
    assert "script" not in tags.seen
    assert "b" not in tags.seen
    assert tags.links <= tags.anchors
    assert len(tags.links) == 7


def test_a_program_with_errors_has_no_page(tmp_path: Path) -> None:
    (tmp_path / "a.axon").write_text("f = fn (x) { y };\n")
    found = axon(["doc", "a.axon", "-o", "page.md"], tmp_path)
    assert found.status == 1
    assert "AX201" in found.stderr
    assert not (tmp_path / "page.md").exists()


def test_the_program_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.axon").write_text("f = fn (x) { x };\n")
    assert axon(["doc", "a.axon", "-o", "a.axon"], tmp_path).status == 2
    assert (tmp_path / "a.axon").read_text() == "f = fn (x) { x };\n"
