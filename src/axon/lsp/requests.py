"""The requests and notifications of the protocol, one function each."""

from __future__ import annotations

import os
from collections.abc import Callable

from axon import __version__
from axon.diagnostics import Diagnostic
from axon.editor import TOKEN_KINDS, Action, Document, Edit, Lines, Place, Refusal, Workspace
from axon.files import Unreadable, read_source
from axon.lsp import convert
from axon.lsp.convert import Json
from axon.lsp.messages import INVALID_PARAMS, REQUEST_FAILED, Params, Wrong
from axon.lsp.texts import changed

WHY = "axon.why"
MOST_FILES = 500
MOST_FOLDERS = 5_000

Notify = Callable[..., None]


class Files:
    """The workspace, and what the client knows of it. `dirty` are the open files whose diagnostics
    are to be sent, the one edited last first.
    """

    def __init__(self, notify: Notify) -> None:
        self.notify = notify
        self.workspace = Workspace(self._read)
        self.dirty: dict[str, None] = {}
        self.hard: dict[str, tuple[str, str]] = {}
        self.folders: list[str] = []
        self.options: Json = {}
        self.can_refresh = False
        self._uris: dict[str, str] = {}
        self._versions: dict[str, object] = {}
        self._lines: dict[str, Lines] = {}
        self._kept: dict[str, tuple[float, int, str]] = {}
        self._asked = 0

    def _read(self, name: str) -> str | Exception:
        """A file on the disk, read again if it has changed."""
        try:
            found = os.stat(name)
            known = self._kept.get(name)
            if known is not None and known[:2] == (found.st_mtime, found.st_size):
                return known[2]
            text = read_source(name).text
        except OSError:
            self._kept.pop(name, None)
            return Unreadable(f"{name}: there is no such file")
        except (Unreadable, ValueError) as problem:
            return problem
        self._kept[name] = found.st_mtime, found.st_size, text
        return text

    # --- the open files ---

    def document(self, params: Params) -> Document:
        uri = params["textDocument"]["uri"].text
        name = convert.name_of(uri)
        found = self.workspace.document(name) if self.workspace.is_open(name) else None
        if found is None:
            raise Wrong(INVALID_PARAMS, f"{uri[:300]} is not open")
        if name in self.hard and self.hard[name][0] == found.text:
            raise Wrong(REQUEST_FAILED, self.hard[name][1])
        return found

    def offset(self, document: Document, params: Params, key: str = "position") -> int:
        return self.lines_of(document.name, document.text).offset(*params[key].position)

    def range(self, document: Document, params: Params) -> tuple[int, int]:
        lines = self.lines_of(document.name, document.text)
        start = lines.offset(*params["range"]["start"].position)
        end = lines.offset(*params["range"]["end"].position)
        return min(start, end), max(start, end)

    def lines_of(self, name: str, text: str | None = None) -> Lines:
        if text is None:
            text = self.workspace.text(name) or ""
        known = self._lines.get(name)
        if known is None or known.text is not text:
            known = self._lines[name] = Lines(text)
        return known

    def lines(self, uri: str) -> int:
        """How long a file is, for how long work on it may take."""
        text = self.workspace.text(convert.name_of(uri)) if uri else None
        return text.count("\n") if text is not None else 0

    def uri(self, name: str) -> str:
        return self._uris.get(name) or convert.uri_of(name)

    def location(self, place: Place) -> Json:
        return convert.location(self.uri(place.file), self.lines_of(place.file), place)

    def opened(self, uri: str, text: str, version: object) -> None:
        name = convert.name_of(uri)
        self._uris[name], self._versions[name] = uri, version
        self.workspace.open(name, text)
        if name in self.hard and not self.hard[name][0]:
            self.hard[name] = text, self.hard[name][1]
        self.edited(name)

    def closed(self, uri: str) -> None:
        name = convert.name_of(uri)
        self.workspace.close(name)
        self._uris.pop(name, None)
        self.hard.pop(name, None)
        self.dirty.pop(name, None)
        self.notify("textDocument/publishDiagnostics", {"uri": uri, "diagnostics": []})
        self.edited(name)

    def edited(self, name: str) -> None:
        """The diagnostics of a file, and of those that import it, may be others."""
        first = {name: None} if self.workspace.is_open(name) else {}
        self.dirty = {**first, **self.dirty}
        for other in self.workspace.documents:
            if other.name != name and other.has_imports:
                self.dirty.setdefault(other.name)

    def changed(self, uri: str, version: object, changes: Params) -> None:
        name = convert.name_of(uri)
        document = self.workspace.document(name) if self.workspace.is_open(name) else None
        if document is None:
            raise Wrong(INVALID_PARAMS, f"{uri[:300]} is not open")
        self.workspace.change(name, changed(document.text, changes))
        self._versions[name] = version
        if name in self.hard and self.hard[name][0] != document.text:
            del self.hard[name]
        self.edited(name)

    # --- diagnostics ---

    def next_dirty(self) -> str | None:
        name = next(iter(self.dirty), None)
        return None if name is None else self.uri(name)

    def publish(self, uri: str) -> None:
        name = convert.name_of(uri)
        self.dirty.pop(name, None)
        if not self.workspace.is_open(name):
            return
        document = self.workspace.document(name)
        assert document is not None
        hard = self.hard.get(name)
        if hard is not None and hard[0] == document.text:
            place = convert.range_(Lines(""), 0, 0)
            found: list[Json] = [{"range": place, "severity": 3, "source": "axon"}]
            found[0]["message"] = f"not checked: {hard[1]}"
        else:
            found = [self._diagnostic(document, each) for each in document.diagnostics]
        params: Json = {"uri": uri, "diagnostics": found}
        if isinstance(self._versions.get(name), int):
            params["version"] = self._versions[name]
        self.notify("textDocument/publishDiagnostics", params)
        if document.has_imports and self.can_refresh and not self.dirty:
            self._asked += 1
            self.notify("workspace/inlayHint/refresh", None, f"axon-{self._asked}")

    def _diagnostic(self, document: Document, found: Diagnostic) -> Json:
        lines = self.lines_of(document.name, document.text)
        span = found.span
        place = document.place_of(span) if span is not None else Place(document.name, 0, 0)
        if place.file != document.name:
            place = Place(document.name, 0, 0)
        related = []
        for label in found.labels:
            if label.span != span and label.text:
                at = self.location(document.place_of(label.span))
                related.append({"location": at, "message": label.text})
        made: Json = {
            "range": convert.range_(lines, place.start, place.end),
            "severity": convert.SEVERITY[found.severity],
            "code": found.code,
            "source": "axon",
            "message": convert.message(found),
        }
        if related:
            made["relatedInformation"] = related
        if found.code == "AX305":
            made["tags"] = [1]
        return made

    # --- files that are not open ---

    def look_around(self) -> None:
        """Get to know the programs in the folders of the workspace."""
        names: list[str] = []
        seen = 0
        for folder in self.folders:
            for place, folders, files in os.walk(folder):
                folders[:] = sorted(f for f in folders if not f.startswith((".", "node_modules")))
                names += [os.path.join(place, f) for f in sorted(files) if f.endswith(".axon")]
                seen += 1
                if seen > MOST_FOLDERS or len(names) >= MOST_FILES:
                    break
        self.workspace.touch(*(n.replace(os.sep, "/") for n in names[:MOST_FILES]))


# --- the life of the server ------------------------------------------------------------------


def initialize(files: Files, params: Params) -> object:
    folders = params.get("workspaceFolders")
    uris = (
        [f.get("uri") for f in folders if isinstance(f, dict)] if isinstance(folders, list) else []
    )
    uris = uris or [params.get("rootUri")]
    files.folders = [
        convert.name_of(uri) for uri in uris if isinstance(uri, str) and uri.startswith("file:")
    ]
    options = params.get("initializationOptions")
    files.options = options if isinstance(options, dict) else {}
    refresh = params.get("capabilities", "workspace", "inlayHint", "refreshSupport")
    files.can_refresh = refresh is True
    full = {"legend": {"tokenTypes": list(TOKEN_KINDS), "tokenModifiers": ["declaration"]}}
    return {
        "capabilities": {
            "positionEncoding": "utf-16",
            "textDocumentSync": {"openClose": True, "change": 2, "save": False},
            "hoverProvider": True,
            "inlayHintProvider": True,
            "definitionProvider": True,
            "referencesProvider": True,
            "documentHighlightProvider": True,
            "renameProvider": {"prepareProvider": True},
            "completionProvider": {"triggerCharacters": ["."], "resolveProvider": True},
            "signatureHelpProvider": {"triggerCharacters": ["(", ","]},
            "documentSymbolProvider": True,
            "workspaceSymbolProvider": True,
            "semanticTokensProvider": {**full, "full": True, "range": True},
            "foldingRangeProvider": True,
            "selectionRangeProvider": True,
            "codeActionProvider": {"codeActionKinds": ["quickfix", "refactor.rewrite", "empty"]},
            "executeCommandProvider": {"commands": [WHY]},
            "documentFormattingProvider": True,
        },
        "serverInfo": {"name": "axon", "version": __version__},
    }


def initialized(files: Files, params: Params) -> None:
    files.look_around()


def did_open(files: Files, params: Params) -> None:
    document = params["textDocument"]
    files.opened(document["uri"].text, document["text"].text, document.get("version"))


def did_change(files: Files, params: Params) -> None:
    document = params["textDocument"]
    files.changed(document["uri"].text, document.get("version"), params["contentChanges"])


def did_close(files: Files, params: Params) -> None:
    files.closed(params["textDocument"]["uri"].text)


def did_change_watched_files(files: Files, params: Params) -> None:
    names = [convert.name_of(each["uri"].text) for each in params["changes"].items]
    files.workspace.touch(*(n for n in names if not files.workspace.is_open(n)))
    for name in names:
        files.edited(name)


def too_hard(files: Files, params: Params) -> None:
    """The text of a file, as it is opened next, took too long before."""
    files.hard[convert.name_of(params["uri"].text)] = "", params["why"].text


# --- questions about a place -----------------------------------------------------------------


def hover(files: Files, params: Params) -> object:
    document = files.document(params)
    found = document.hover(files.offset(document, params))
    if found is None:
        return None
    place = files.location(found.place)["range"]
    return {"contents": convert.markdown(found.markdown), "range": place}


def inlay_hint(files: Files, params: Params) -> object:
    document = files.document(params)
    lines = files.lines_of(document.name, document.text)
    return [convert.hint(lines, each) for each in document.hints(*files.range(document, params))]


def definition(files: Files, params: Params) -> object:
    document = files.document(params)
    return [files.location(p) for p in document.definition(files.offset(document, params))]


def references(files: Files, params: Params) -> object:
    document = files.document(params)
    declaration = params.get("context", "includeDeclaration") is not False
    offset = files.offset(document, params)
    return [files.location(place) for place in document.references(offset, declaration)]


def document_highlight(files: Files, params: Params) -> object:
    document = files.document(params)
    lines = files.lines_of(document.name, document.text)
    return [
        {"range": convert.range_(lines, place.start, place.end), "kind": 1}
        for place in document.highlights(files.offset(document, params))
    ]


def prepare_rename(files: Files, params: Params) -> object:
    document = files.document(params)
    place = document.can_rename(files.offset(document, params))
    if isinstance(place, Refusal):
        raise Wrong(REQUEST_FAILED, place.text)
    return {
        "range": files.location(place)["range"],
        "placeholder": document.text[place.start : place.end],
    }


def rename(files: Files, params: Params) -> object:
    document = files.document(params)
    found = document.rename(files.offset(document, params), params["newName"].text)
    if isinstance(found, Refusal):
        raise Wrong(REQUEST_FAILED, found.text)
    return _workspace_edit(files, found)


def _workspace_edit(files: Files, edits: list[Edit] | tuple[Edit, ...]) -> Json:
    changes: dict[str, list[Json]] = {}
    for edit in edits:
        lines = files.lines_of(edit.place.file)
        made: dict[str, object] = {
            "range": convert.range_(lines, edit.place.start, edit.place.end),
            "newText": edit.text,
        }
        changes.setdefault(files.uri(edit.place.file), []).append(made)
    return {"changes": changes}


def completion(files: Files, params: Params) -> object:
    document = files.document(params)
    lines = files.lines_of(document.name, document.text)
    found = document.completions(files.offset(document, params))
    items = [convert.completion(lines, each, at) for at, each in enumerate(found)]
    return {"isIncomplete": False, "items": items}


def resolve_completion(files: Files, params: Params) -> object:
    """An item with its documentation, if it is an operator."""
    from axon.editor.reference import operator_text
    from axon.ops import OPERATORS

    if not isinstance(params.value, dict):
        raise Wrong(INVALID_PARAMS, "an item is an object")
    operator = OPERATORS.get(params["label"].text)
    if operator is None or params.get("data") != "operator":
        return params.value
    return {**params.value, "documentation": convert.markdown(operator_text(operator))}


def signature_help(files: Files, params: Params) -> object:
    document = files.document(params)
    found = document.signature_help(files.offset(document, params))
    if found is None:
        return None
    label = Lines(found.label)
    signature: Json = {
        "label": found.label,
        "parameters": [
            {"label": [label.position(a)[1], label.position(b)[1]]} for a, b in found.parameters
        ],
        "documentation": convert.markdown(found.text),
    }
    return {"signatures": [signature], "activeSignature": 0, "activeParameter": found.active}


# --- questions about a text ------------------------------------------------------------------


def document_symbol(files: Files, params: Params) -> object:
    document = files.document(params)
    lines = files.lines_of(document.name, document.text)
    return [convert.symbol(lines, each) for each in document.symbols()]


def workspace_symbol(files: Files, params: Params) -> object:
    return [
        {"name": s.name, "kind": convert.SYMBOL[s.kind], "location": files.location(s.place)}
        for s in files.workspace.symbols(params["query"].text)
    ]


def semantic_full(files: Files, params: Params) -> object:
    document = files.document(params)
    lines = files.lines_of(document.name, document.text)
    return {"data": convert.semantic(lines, document.tokens())}


def semantic_range(files: Files, params: Params) -> object:
    document = files.document(params)
    lines = files.lines_of(document.name, document.text)
    return {"data": convert.semantic(lines, document.tokens(*files.range(document, params)))}


def folding_range(files: Files, params: Params) -> object:
    document = files.document(params)
    lines = files.lines_of(document.name, document.text)
    found: dict[tuple[int, int], Json] = {}
    for start, end in document.folds():
        first, last = lines.position(start)[0], lines.position(end)[0]
        if last > first:
            kind = {"kind": "comment"} if document.text[start] == "#" else {}
            found[first, last] = {"startLine": first, "endLine": last, **kind}
    return list(found.values())


def selection_range(files: Files, params: Params) -> object:
    document = files.document(params)
    lines = files.lines_of(document.name, document.text)
    found: list[Json] = []
    for each in params["positions"].items:
        chain: Json | None = None
        for start, end in reversed(document.selections(lines.offset(*each.position))):
            chain = {
                "range": convert.range_(lines, start, end),
                **({} if chain is None else {"parent": chain}),
            }
        assert chain is not None
        found.append(chain)
    return found


def code_action(files: Files, params: Params) -> object:
    document = files.document(params)
    only = params.get("context", "only")
    found: list[Json] = []
    for action in document.actions(*files.range(document, params)):
        made = _action(files, document, action)
        kind = str(made.get("kind"))
        if not isinstance(only, list) or any(kind == k or kind.startswith(f"{k}.") for k in only):
            found.append(made)
    return found


def _action(files: Files, document: Document, action: Action) -> Json:
    match action.kind:
        case "question":
            lines = files.lines_of(document.name, document.text)
            at = convert.position(lines, action.at)
            arguments = [files.uri(document.name), at, action.question]
            command = {"title": action.title, "command": WHY, "arguments": arguments}
            return {"title": action.title, "kind": "empty", "command": command}
        case "quickfix":
            edit = _workspace_edit(files, action.edits)
            return {"title": action.title, "kind": "quickfix", "edit": edit, "isPreferred": True}
        case _:
            edit = _workspace_edit(files, action.edits)
            return {"title": action.title, "kind": "refactor.rewrite", "edit": edit}


def execute_command(files: Files, params: Params) -> object:
    """Why is this 16? The answer and its places; also shown as a message, unless the client has
    `"showAnswers": false` among its options and shows it itself.
    """
    command = params["command"].text
    if command != WHY:
        raise Wrong(INVALID_PARAMS, f"there is no command `{command[:100]}`")
    arguments = params["arguments"].items
    if len(arguments) != 3:
        raise Wrong(INVALID_PARAMS, f"`{WHY}` takes a URI, a position and a question")
    uri, at, question = arguments
    document = files.document(Params({"textDocument": {"uri": uri.value}}))
    lines = files.lines_of(document.name, document.text)
    found = document.why(lines.offset(*at.position), question.text)
    if found is None:
        raise Wrong(REQUEST_FAILED, "there is no answer: the definition has no type")
    places = [{"location": files.location(place), "text": text} for place, text in found.places]
    if files.options.get("showAnswers") is not False:
        said = [found.text]
        for place, text in found.places:
            line = files.lines_of(place.file).position(place.start)[0] + 1
            said.append(f"line {line}: {text}")
        files.notify("window/showMessage", {"type": 3, "message": "\n".join(said)})
    return {"answer": found.text, "places": places}


def formatting(files: Files, params: Params) -> object:
    document = files.document(params)
    found = document.formatted()
    if isinstance(found, Refusal):
        raise Wrong(REQUEST_FAILED, found.text)
    if found == document.text:
        return []
    lines = files.lines_of(document.name, document.text)
    return [{"range": convert.range_(lines, 0, len(document.text)), "newText": found}]


REQUESTS: dict[str, Callable[[Files, Params], object]] = {
    "initialize": initialize,
    "textDocument/hover": hover,
    "textDocument/inlayHint": inlay_hint,
    "textDocument/definition": definition,
    "textDocument/references": references,
    "textDocument/documentHighlight": document_highlight,
    "textDocument/prepareRename": prepare_rename,
    "textDocument/rename": rename,
    "textDocument/completion": completion,
    "completionItem/resolve": resolve_completion,
    "textDocument/signatureHelp": signature_help,
    "textDocument/documentSymbol": document_symbol,
    "workspace/symbol": workspace_symbol,
    "textDocument/semanticTokens/full": semantic_full,
    "textDocument/semanticTokens/range": semantic_range,
    "textDocument/foldingRange": folding_range,
    "textDocument/selectionRange": selection_range,
    "textDocument/codeAction": code_action,
    "workspace/executeCommand": execute_command,
    "textDocument/formatting": formatting,
}

NOTIFICATIONS: dict[str, Callable[[Files, Params], None]] = {
    "initialized": initialized,
    "textDocument/didOpen": did_open,
    "textDocument/didChange": did_change,
    "textDocument/didClose": did_close,
    "workspace/didChangeWatchedFiles": did_change_watched_files,
    "$axon/hard": too_hard,
}
