"""A picture in the format that a file's name asks for."""

from __future__ import annotations

from axon.pages.drawing import Picture
from axon.pages.svg import drawn


def in_format(picture: Picture, suffix: str, depth: int = 0, theme: str = "") -> str | bytes:
    """`.svg`, `.dot`, `.png` or `.html`; a picture alone has a page without a derivation."""
    match suffix:
        case ".svg":
            return drawn(picture, depth, theme).text
        case ".dot":
            from axon.pages.dot import dot_of

            return dot_of(picture, depth)
        case ".png":
            from axon.pages.png import png_of

            found = drawn(picture, depth, theme or "light")
            return png_of(found.text, found.width, found.height)
        case ".html":
            from axon.pages.page import model_page

            return model_page(picture, picture.title)
        case _:
            raise ValueError(f"a picture can be .svg, .png, .html or .dot, not {suffix!r}")
