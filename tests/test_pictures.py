"""The pictures in docs/images are those that `make pictures` writes."""

from __future__ import annotations

from xml.etree import ElementTree

from axon.pages.terminal import terminal_svg
from scripts.pictures import IMAGES, pictures


def test_the_pictures_are_up_to_date() -> None:
    made = pictures()
    assert sorted(path.name for path in IMAGES.glob("*.svg")) == sorted(made)
    for name, text in made.items():
        assert (IMAGES / name).read_text(encoding="utf-8") == text, f"{name}: run `make pictures`"
        ElementTree.fromstring(text)


def test_a_terminal_has_the_colours_and_the_text_of_what_is_printed() -> None:
    text = terminal_svg("axon check <x>", "\x1b[1;31merror\x1b[0m: a & b\n  <c>", "t")
    root = ElementTree.fromstring(text)
    lines = ["".join(each.itertext()) for each in root.iter("{http://www.w3.org/2000/svg}text")]
    assert lines == ["$ axon check <x>", "error: a & b", "  <c>"]
    assert '<tspan class="bold red">error</tspan>' in text
