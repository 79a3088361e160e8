"""The documentation as a site: `make site`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from pygments import token

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
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_extra_path = ["../src/axon/cli/schema.json"]  # of what commands print with --json
html_copy_source = False
html_show_sphinx = False
pygments_style = "default"
pygments_dark_style = "github-dark"


class WrongProgramLexer(AxonLexer):
    """Of programs that show a mistake, one in their characters too: that is no bug of the page."""

    name = "Axon, with an error"
    aliases: ClassVar = ["axon-error"]

    def get_tokens_unprocessed(self, text: str, *stack: Any) -> Iterator[tuple[int, Any, str]]:
        for at, kind, value in super().get_tokens_unprocessed(text, *stack):
            yield at, token.Generic.Error if kind is token.Error else kind, value


def setup(app: Any) -> None:
    app.add_lexer("axon", AxonLexer)
    app.add_lexer("axon-error", WrongProgramLexer)
