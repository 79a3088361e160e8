"""One page about a program or a model: its graph, and its derivation to step through.

Nothing is loaded from anywhere. The page is the files next to this one, put together with the data
as JSON. Python decides what there is to show; the scripts show it, and write text as text only.
"""

from __future__ import annotations

import html
from pathlib import Path

from axon.driver import Checked, FindFile
from axon.pages import derivation
from axon.pages.derivation import Places, page_model
from axon.pages.drawing import Picture
from axon.pages.embedding import Json, cleaned, embedded, hashed
from axon.pages.graph_data import graph_data
from axon.pages.palette import STYLE
from axon.pages.program import picture_of
from axon.pages.recorded import Files

SHARE = 3
"""A derivation leaves the graph at least one part in so many."""


def explain_page(
    checked: Checked,
    name: str | None = None,
    paper: bool = False,
    find_file: FindFile | None = None,
    view: str = "derivation",
) -> str:
    """The page about a program, or about one of its definitions, which was checked with reasons."""
    most = derivation.MOST_BYTES
    model = page_model(checked, name, paper, most - most // SHARE)
    places = Places(checked.program.source, model["places"])
    recorded = Files(find_file).recorded(checked.program.source)
    graphs: list[Json | None] = []
    left = most - len(embedded(model))
    for definition in model["definitions"]:
        picture = picture_of(recorded, definition["name"], definition["at"])
        data = None if picture is None else graph_data(picture, places.place, left)
        left -= len(embedded(data))
        graphs.append(data)
    return _written({**model, "graphs": graphs, "view": view})


def model_page(picture: Picture, file: str) -> str:
    """The page about an imported model: its graph."""
    data = graph_data(picture, lambda _: None, derivation.MOST_BYTES)
    notes = [] if data is not None else ["The graph is too large for a page."]
    return _written(
        {
            "file": cleaned(file),
            "source": {"lines": [], "tokens": {}},
            "places": [],
            "origins": [],
            "problems": [],
            "definitions": [],
            "notes": notes,
            "graphs": [data],
            "view": "graph",
        }
    )


def _written(model: Json) -> str:
    here = Path(__file__).parent
    style = STYLE[""] + (here / "page.css").read_text(encoding="utf-8")
    script = "\n".join(
        (here / name).read_text(encoding="utf-8") for name in ("graph.js", "page.js")
    )
    parts = {
        "TITLE": html.escape(cleaned(f"{model['file']} · axon")),
        "STYLE_HASH": hashed(style),
        "SCRIPT_HASH": hashed(script),
        "STYLE": style,
        "SCRIPT": script,
        "DATA": embedded(model),
    }
    pieces = (here / "page.html").read_text(encoding="utf-8").split("%%")
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))
