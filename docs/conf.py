"""The documentation as a site: `make site`."""

from __future__ import annotations

from typing import Any

from axon import __version__
from axon.highlight.pygments_lexer import AxonLexer

project = "Axon"
author = "The Axon authors"
copyright = author  # Sphinx asks for this name
version = release = __version__

extensions = ["myst_parser", "sphinx_copybutton"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "errors/README.md"]  # error-codes.md is its page here
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"Axon {version}"
html_static_path: list[str] = []
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "github-dark"


def setup(app: Any) -> None:
    """Programs are in colour, those with an error too."""
    for tag in ("axon", "axon-error"):
        app.add_lexer(tag, AxonLexer)
