"""A function as HTML, as notebooks show it."""

from __future__ import annotations

from typing import Any, Protocol

from axon.diagnostics.html import escape
from axon.inference.program import Definition
from axon.inference.report.signature import Signature
from axon.run.html import folded, framed, signatures_html, text_html
from axon.run.parameter_table import Parameters
from axon.syntax.comments import comment_above

MOST_EXPLAINED = 4_000
"""A program with more characters is not drawn and explained without being asked to: that checks it
again, which takes seconds for a whole model.
"""


class Shown(Protocol):
    """What is shown of a function."""

    __name__: str
    definition: Definition
    _program: Any

    @property
    def described(self) -> Signature: ...
    @property
    def plain(self) -> str | None: ...
    def parameters(self) -> Parameters: ...
    def explain(self) -> str: ...


def function_html(function: Shown) -> str:
    """Its signature, the tensors in its records, and its derivation."""
    comment = comment_above(function.definition.span)
    pieces = [f'<div class="axon-doc">{escape(comment)}</div>'] if comment else []
    pieces.append(signatures_html([function.described], [function.plain]))
    table = function.parameters()
    if len(table):
        pieces.append(folded("parameters", table.as_html()))
    if len(function.definition.span.source.text) <= MOST_EXPLAINED:
        picture = graph_html(function)
        pieces += [folded("graph", picture)] if picture else []
        pieces.append(folded("derivation", text_html(function.explain())))
    return framed(*pieces)


def graph_html(function: Shown) -> str:
    """Its graph as a picture. It is an image of its own: what is in it is no part of the page."""
    from base64 import b64encode

    from axon.pages.program import picture_of
    from axon.pages.recorded import Files
    from axon.pages.svg import svg_of

    program = function._program
    recorded = Files(program._finder).recorded(program._module.program.source)
    picture = picture_of(recorded, function.__name__)
    if picture is None:
        return ""
    data = b64encode(svg_of(picture, theme="light").encode()).decode()
    return (
        f'<img class="axon-picture" alt="the graph of {escape(function.__name__)}" '
        f'src="data:image/svg+xml;base64,{data}">'
    )
