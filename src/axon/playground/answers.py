"""What the page asks, and the answers: dicts of plain data, which JSON and JavaScript have.

A request has a `kind`, and mostly the `text` of the program and its `name`. Offsets in requests and
answers are those of JavaScript: they count UTF-16 code units. An answer is `{"error": sentence}` if
there is nothing to say, and has a `bug`, a traceback, if the request failed.

| kind | more in the request | the answer |
|---|---|---|
| `files` | `files`: text by name | nothing: what programs may import from now on |
| `check` | | `diagnostics`, `hints`, `signatures`, `names` |
| `plain` | | `plain`: the plain reading of each definition that has one, by its name |
| `hover` | `at` | `code`, `text`, `from`, `to` |
| `complete` | `at` | `from`, `to`, `options` |
| `derivation` | `definition` | the steps, as `pages/derivation.py` has them |
| `graph` | `definition` | `graph`: the drawings; `styles`: their colours, light and dark |
| `model` | `data`: the bytes of an ONNX or .pt2 file | its signature, diagnostics and graph |
"""

from __future__ import annotations

import base64
import binascii
import traceback
from bisect import bisect_left
from collections.abc import Callable
from os.path import splitext
from typing import Any, TypeVar

from axon.diagnostics import Diagnostic
from axon.diagnostics.text import render
from axon.editor import Document, Workspace
from axon.inference.environment import bound_names
from axon.pages.palette import STYLE
from axon.source import Source
from axon.syntax import ast
from axon.workspace import workspace

Json = dict[str, Any]
T = TypeVar("T")

LARGEST_TEXT = 1_000_000
"""How many characters of a program are looked at."""
LARGEST_MODEL = 256 << 20
MOST_GRAPH = 4_000_000
MOST_DIAGNOSTICS = 200
DEFAULT_NAME = "program.axon"
STYLES = {theme: STYLE[theme] for theme in ("light", "dark")}
"""The colours of graphs."""


class Nothing(Exception):
    """There is no answer; the sentence says why."""


class Answers:
    """The state of one page: the files that programs import, and what is known of the program."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._workspace = Workspace(self._read)
        self._name = ""

    def answer(self, request: Json) -> Json:
        """Every request has an answer; what goes wrong is in it."""
        kind = request.get("kind")
        if not isinstance(kind, str) or kind not in KINDS:
            return {"error": f"a request that is not understood: {kind!r}"}
        try:
            return KINDS[kind](self, request)
        except Nothing as problem:
            return {"error": str(problem)}
        except Exception:  # a bug: what is known may be half made, and is thrown away
            self._workspace, self._name = Workspace(self._read), ""
            return {"error": "This is a bug in Axon.", "bug": traceback.format_exc()}

    def _read(self, name: str) -> str | Exception:
        found = self._files.get(name)
        return FileNotFoundError(f"{name}: there is no such file") if found is None else found

    def _document(self, request: Json) -> Document:
        name, text = str(request.get("name") or DEFAULT_NAME), _field(request, "text", str)
        if len(text) > LARGEST_TEXT:
            raise Nothing("the program is longer than a million characters")
        if self._name == name:
            return self._workspace.change(name, text)
        self._workspace.close(self._name)
        self._name = name
        return self._workspace.open(name, text)

    # --- the kinds of requests ---

    def give_files(self, request: Json) -> Json:
        files = {str(k): str(v) for k, v in _field(request, "files", dict).items()}
        self._files.update(files)
        self._workspace.touch(*files)
        return {}

    def check(self, request: Json) -> Json:
        document = self._document(request)
        units = Units(document.text)
        return {
            "diagnostics": [
                _diagnostic(document, each, units)
                for each in document.diagnostics[:MOST_DIAGNOSTICS]
            ],
            "hints": [
                {
                    "at": units.of(hint.at),
                    "text": hint.text,
                    "full": hint.full,
                    "kind": hint.kind,
                    "name": hint.name,
                }
                for hint in document.hints()
            ],
            "signatures": [
                {
                    "name": signature.name,
                    "signature": signature.signature,
                    "where": [*signature.where, *signature.classes],
                    "guards": list(signature.guards),
                    "params": [list(param) for param in signature.params],
                }
                for signature in document.signatures
            ],
            "names": _names(document),
        }

    def plain(self, request: Json) -> Json:
        from axon.editor.hovers import plain_reading

        document = self._document(request)
        found: dict[str, str] = {}
        for view in document.views:
            for signature in view.signatures:
                reading = plain_reading(view, signature)
                if reading is not None:
                    found[signature.name] = reading
        return {"plain": found}

    def hover(self, request: Json) -> Json:
        document = self._document(request)
        units = Units(document.text)
        found = document.hover(units.back(_field(request, "at", int)))
        if found is None:
            raise Nothing("there is nothing here")
        start, end = units.of(found.place.start), units.of(found.place.end)
        return {"code": found.code, "text": found.text, "from": start, "to": end}

    def complete(self, request: Json) -> Json:
        document = self._document(request)
        units = Units(document.text)
        found = document.completions(units.back(_field(request, "at", int)))
        if not found:
            raise Nothing("there is nothing to complete")
        place = found[0].place
        options = [
            {
                "label": each.label,
                "kind": each.kind,
                "detail": each.detail,
                "insert": each.insert or each.label,
            }
            for each in found
        ]
        return {"from": units.of(place.start), "to": units.of(place.end), "options": options}

    def derivation(self, request: Json) -> Json:
        from axon.driver import check
        from axon.pages.derivation import page_model

        document, name = self._document(request), _field(request, "definition", str)
        source = Source(document.name, document.text)
        checked = check(source, self._workspace.find, reasons=True)
        model = page_model(checked, name)
        if not model["definitions"]:
            raise Nothing(f"there is no definition `{name}`")
        return {**model, "source": None}

    def graph(self, request: Json) -> Json:
        from axon.pages.derivation import Places
        from axon.pages.graph_data import graph_data
        from axon.pages.program import picture_of
        from axon.pages.recorded import Files

        document, name = self._document(request), _field(request, "definition", str)
        source = Source(document.name, document.text)
        recorded = Files(self._workspace.find).recorded(source)
        picture = picture_of(recorded, name)
        if picture is None:
            raise Nothing(f"there is no graph of `{name}`")
        places = Places(source)
        graph = graph_data(picture, places.place, MOST_GRAPH)
        if graph is None:
            raise Nothing("the graph is too large for this page")
        return {"graph": graph, "places": places.table, "styles": STYLES}

    def model(self, request: Json) -> Json:
        from axon.importers.formats import read_bytes
        from axon.importers.operations import NoModel
        from axon.importers.reporting.report import report_on
        from axon.pages.graph_data import graph_data
        from axon.pages.model import picture_of_model

        data = _bytes(request.get("data"))
        if len(data) > LARGEST_MODEL:
            raise Nothing("the model is larger than 256 MB")
        name = str(request.get("name") or "model.onnx")
        try:
            imported = read_bytes(data, name).imported(program=False)
        except NoModel as problem:
            raise Nothing(str(problem)) from None
        with workspace():
            report = report_on(imported, name, suggesting=False)
            picture = picture_of_model(imported, report, splitext(name)[0])
            graph = graph_data(picture, lambda _: None, MOST_GRAPH)
        return {
            "name": name,
            "nodes": len(imported.model.graph.operations),
            "signature": report.signature if report.ok else "",
            "where": list(report.where),
            "guards": list(report.guards),
            "diagnostics": [
                {"severity": d.severity.value, "code": d.code, "text": render(d)}
                for d in report.diagnostics[:MOST_DIAGNOSTICS]
            ],
            "graph": graph,
            "styles": STYLES,
        }


KINDS: dict[str, Callable[[Answers, Json], Json]] = {
    "files": Answers.give_files,
    "check": Answers.check,
    "plain": Answers.plain,
    "hover": Answers.hover,
    "complete": Answers.complete,
    "derivation": Answers.derivation,
    "graph": Answers.graph,
    "model": Answers.model,
}


class Units:
    """Offsets in characters as offsets in UTF-16 code units, and back."""

    def __init__(self, text: str) -> None:
        self._size = len(text)
        # letters of two units, by their offsets
        wide = not text.isascii() and max(text) > "\uffff"
        self._wide = [at for at, letter in enumerate(text) if letter > "\uffff"] if wide else []
        self._units = [at + before for before, at in enumerate(self._wide)]

    def of(self, at: int) -> int:
        return at + bisect_left(self._wide, at)

    def back(self, units: int) -> int:
        """What is inside of a letter is at the letter."""
        return max(0, min(units - bisect_left(self._units, units), self._size))


def _field(request: Json, name: str, kind: type[T]) -> T:
    found = request.get(name)
    if not isinstance(found, kind):
        raise Nothing(f"a request that is not understood: it has no `{name}`")
    return found


def _diagnostic(document: Document, diagnostic: Diagnostic, units: Units) -> Json:
    """With the places that are in this file; the text has all of them."""
    places = []
    for label in diagnostic.labels:
        place = document.place_of(label.span)
        if place.file == document.name:
            found = {"from": units.of(place.start), "to": units.of(place.end)}
            places.append({**found, "text": label.text, "primary": label.primary})
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "text": render(diagnostic),
        "places": sorted(places, key=lambda each: not each["primary"]),
    }


def _names(document: Document) -> list[str]:
    """What can be drawn and explained: the definitions, in order, each once."""
    found: dict[str, None] = {}
    for view in document.views:
        if isinstance(view.item, ast.Binding):
            for name, _ in bound_names(view.item.pattern):
                found[name] = None
        if view.part.program.result is not None:
            found["main"] = None
    return list(found)


def _bytes(data: object) -> bytes:
    """As they are, or in base 64."""
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(data)
    try:
        return base64.b64decode(data if isinstance(data, str) else "", validate=True)
    except binascii.Error:
        raise Nothing("the model is not in base 64") from None
