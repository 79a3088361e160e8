"""A conversation of more than 200 messages with the real server. Every answer is read with the
types of the protocol (`lsprotocol`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import converters, types

from tests.lsp.client import Client, Message, span

CONVERTER = converters.get_converter()

TEXT = """\
# 😀 a comment, and a layer 😀
type Linear(i, o) = { w : t [i,o], b : t [o] };
layer = fn (p : Linear(i, o), x : f32 [n,i]) {
  h = x @ p.w;
  relu(h + p.b)
};
é😀wrong = 1;
net = fn (p, x : f32 [n,3]) { softmax(layer(p, x), axis=-1) };
out = net({ w = ones([3,4]), b = ones([4]) }, ones([5,3]));
""".replace("é😀wrong", "width")

NN = "dense = fn (x, w) { relu(x @ w) };\n"
MAIN = 'import "nn.axon" as nn;\ny = nn.dense(ones([2,3]), ones([3,4]));\n'


def position(text: str, place: str) -> Message:
    """The position of `|` in a piece of a text, in UTF-16 units."""
    at = text.index(place.replace("|", "")) + place.index("|")
    line = text.count("\n", 0, at)
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return {"line": line, "character": len(before.encode("utf-16-le")) // 2}


REQUESTS = (
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/completion",
    "textDocument/signatureHelp",
    "textDocument/selectionRange",
    "textDocument/codeAction",
)
PLACES = (
    "# 😀 a| comment", "type Lin|ear", "layer| = fn", "fn (p| :", "p : Linear(i|", "x : f32| [n",
    "h| = x", "x @ p.|w", "re|lu(h", "h + p.b|", "width| = 1", "softm|ax(", "layer(p, |x)",
    "axis|=-1", "type| Linear", "x @| p", "p.b|)", "lay|er(p", "axis=-|1", "out| = net",
    "w = on|es([3", "ones([5,|3", ");|\n",
)  # fmt: skip


def params(method: str, uri: str, at: Message) -> Message:
    found: Message = {"textDocument": {"uri": uri}, "position": at}
    match method:
        case "textDocument/references":
            found["context"] = {"includeDeclaration": True}
        case "textDocument/selectionRange":
            found["positions"] = [found.pop("position")]
        case "textDocument/codeAction":
            found["range"] = {"start": at, "end": at}
            found["context"] = {"diagnostics": []}
        case _:
            pass
    return found


def structured(method: str, answer: Message) -> Any:
    """An answer as the protocol's own types have it; an error in it raises."""
    kind = types.METHOD_TO_TYPES[method][1]
    assert kind is not None
    return CONVERTER.structure(answer, kind).result


def test_a_conversation(tmp_path: Path) -> None:
    uri = (tmp_path / "net.axon").as_uri()
    whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    with Client() as client:
        told = client.begin(rootUri=tmp_path.as_uri())
        structured("initialize", {"jsonrpc": "2.0", "id": 1, "result": told})
        client.open(uri, TEXT)
        assert client.diagnostics(uri, 1) == []
        filled = dict.fromkeys(REQUESTS, 0)
        for place in PLACES:
            at = position(TEXT, place)
            for method in REQUESTS:
                answer = client.ask(method, params(method, uri, at))
                filled[method] += bool(structured(method, answer))
        assert all(count >= 4 for count in filled.values()), filled
        text = {"textDocument": {"uri": uri}}
        for method, more in (
            ("textDocument/inlayHint", {"range": whole}),
            ("textDocument/documentSymbol", {}),
            ("textDocument/semanticTokens/full", {}),
            ("textDocument/semanticTokens/range", {"range": whole}),
            ("textDocument/foldingRange", {}),
        ):
            assert structured(method, client.ask(method, {**text, **more}))
        found = structured("workspace/symbol", client.ask("workspace/symbol", {"query": "lay"}))
        assert [symbol.name for symbol in found] == ["layer"]

        # edits, with columns behind pairs of surrogates
        at = position(TEXT, "a layer |😀")
        client.change(uri, 2, {"range": {"start": at, "end": at}, "text": "1😀"})
        end = {"line": 0, "character": at["character"] + 3}
        client.change(uri, 3, {"range": {"start": at, "end": end}, "text": ""})
        row = position(TEXT, "  h = x @ p.|w")
        client.change(uri, 4, {"range": span(row["line"], row["character"], 13), "text": "ww"})
        (wrong,) = client.diagnostics(uri, 4)
        assert wrong["code"] == "AX217"
        assert wrong["range"]["start"]["line"] == row["line"]
        client.change(uri, 5, {"text": TEXT})
        assert client.diagnostics(uri, 5) == []
        for number in range(6, 26):  # a word typed letter by letter, and taken back
            letters = "  k = relu"[: number - 5] if number < 16 else ""
            client.change(uri, number, {"text": TEXT.replace("  relu(h", f"{letters}\n  relu(h")})
        assert client.diagnostics(uri, 25) == []
        asked = [p for p in client.everything if p.get("method", "").endswith("Diagnostics")]
        assert len(asked) < 25  # not one for each key

        renamed = client.ask(
            "textDocument/rename",
            {**text, "position": position(TEXT, "layer| ="), "newName": "lin"},
        )
        edit = structured("textDocument/rename", renamed)
        assert len(edit.changes[uri]) == 2
        refused = client.ask(
            "textDocument/rename",
            {**text, "position": position(TEXT, "layer| ="), "newName": "net"},
        )
        assert refused["error"]["code"] == -32803
        prepared = client.ask(
            "textDocument/prepareRename", {**text, "position": position(TEXT, "layer| =")}
        )
        assert prepared["result"]["placeholder"] == "layer"
        item = client.result(
            "textDocument/completion", {**text, "position": position(TEXT, "softm|ax(")}
        )
        (softmax,) = [each for each in item["items"] if each["label"] == "softmax"]
        resolved = client.ask("completionItem/resolve", softmax)
        assert "Attributes" in structured("completionItem/resolve", resolved).documentation.value
        assert client.sent > 200
        assert client.end() == 0


def test_why_is_answered_with_places(tmp_path: Path) -> None:
    uri = (tmp_path / "net.axon").as_uri()
    text = "f = fn (x : f32 [n,3], w : f32 [3,16]) {\n  h = x @ w;\n  relu(h)\n};\n"
    with Client() as client:
        client.begin(initializationOptions={"showAnswers": False})
        client.open(uri, text)
        at = position(text, "h| =")
        actions = client.result(
            "textDocument/codeAction", params("textDocument/codeAction", uri, at)
        )
        (action,) = [a for a in actions if a["title"] == "Why is `h[1]` 16?"]
        answer = client.result("workspace/executeCommand", action["command"])
        assert answer["answer"] == "h[1] is 16"
        assert {place["location"]["range"]["start"]["line"] for place in answer["places"]} == {0, 1}


def test_every_other_place_of_a_conflict_is_related(tmp_path: Path) -> None:
    uri = (tmp_path / "net.axon").as_uri()
    text = "f = fn (x : f32 [n,3], y : f32 [4,m]) {\n  z = relu(x);\n  matmul(z, y)\n};\n"
    with Client() as client:
        client.begin()
        client.open(uri, text)
        (wrong,) = client.diagnostics(uri, 1)
        others = [each["location"]["range"] for each in wrong["relatedInformation"]]
        places = [wrong["range"], *others]
        said = {(p["start"]["line"], p["start"]["character"]) for p in places}
        assert {(2, 9), (2, 12), (1, 11)} <= said
        assert len(said) == len(places)


def test_files_that_import_each_other(tmp_path: Path) -> None:
    """An edit of one file changes the diagnostics of those that import it."""
    (tmp_path / "nn.axon").write_text(NN, encoding="utf-8")
    main, nn = (tmp_path / "main.axon").as_uri(), (tmp_path / "nn.axon").as_uri()
    with Client() as client:
        client.begin(rootUri=tmp_path.as_uri())
        client.open(main, MAIN)
        assert client.diagnostics(main, 1) == []
        at = {"textDocument": {"uri": main}, "position": position(MAIN, "nn.den|se")}
        (found,) = client.result("textDocument/definition", at)
        assert found["uri"] == nn
        places = client.result(
            "textDocument/references", {**at, "context": {"includeDeclaration": True}}
        )
        assert {place["uri"] for place in places} == {main, nn}
        edit = client.result("textDocument/rename", {**at, "newName": "linear"})
        assert set(edit["changes"]) == {main, nn}
        client.open(nn, NN.replace("x @ w", "w @ x"))
        assert [d["code"] for d in client.diagnostics(main, 1)] == ["AX101"]
        client.change(nn, 2, {"text": NN})
        assert client.diagnostics(main, 1) == []
        (tmp_path / "nn.axon").write_text("other = 1;\n", encoding="utf-8")
        client.tell("textDocument/didClose", {"textDocument": {"uri": nn}})
        client.tell("workspace/didChangeWatchedFiles", {"changes": [{"uri": nn, "type": 2}]})
        assert [d["code"] for d in client.diagnostics(main, 1)] == ["AX201"]


def test_the_standard_library_is_a_file(tmp_path: Path) -> None:
    from axon import stdlib

    name = next(iter(stdlib.files()))
    uri = (tmp_path / "net.axon").as_uri()
    with Client() as client:
        client.begin()
        client.open(uri, f"f = {name};\n")
        at = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 5}}
        (found,) = client.result("textDocument/definition", at)
        assert found["uri"].endswith(stdlib.files()[name].removeprefix("std/"))
        assert found["uri"].startswith("file:///")


def test_requests_can_be_cancelled(tmp_path: Path) -> None:
    uri = (tmp_path / "net.axon").as_uri()
    with Client() as client:
        client.begin()
        client.open(uri, "".join(TEXT.replace("layer", f"layer{i}") for i in range(100)))
        at = {"textDocument": {"uri": uri}, "position": {"line": 3, "character": 3}}
        for number in range(20):
            id = f"h{number}"
            client.send({"jsonrpc": "2.0", "id": id, "method": "textDocument/hover", "params": at})
        client.tell("$/cancelRequest", {"id": "h19"})
        answers = [client.wait(lambda m, n=n: m.get("id") == f"h{n}") for n in range(20)]  # type: ignore[misc]
        assert answers[19]["error"]["code"] == -32800
        assert "result" in answers[0]


COUNT = 2_000
HARD = (
    f"f = fn (x, {', '.join(f'w{i}' for i in range(COUNT))}) {{ x0 = x @ w0; "
    + "".join(f"x{i} = x{i - 1} @ concat(w{i}, w{i - 1}) + w{i}; " for i in range(1, COUNT))
    + f"x{COUNT - 1} }};\n"
)
"""A definition whose check takes several seconds."""


def test_a_text_that_takes_too_long_is_left_alone(tmp_path: Path) -> None:
    """The others keep their answers, and it has some again when it is edited."""
    hard, fine = (tmp_path / "hard.axon").as_uri(), (tmp_path / "fine.axon").as_uri()
    with Client("--limit", "1") as client:
        client.begin()
        client.open(fine, TEXT)
        assert client.diagnostics(fine, 1) == []
        client.open(hard, HARD)
        (said,) = client.diagnostics(hard, 1)
        assert said["message"] == "not checked: this took longer than 1 s"
        at = {"textDocument": {"uri": hard}, "position": {"line": 0, "character": 0}}
        assert client.ask("textDocument/hover", at)["error"]["code"] == -32803
        symbols = client.result("textDocument/documentSymbol", {"textDocument": {"uri": fine}})
        assert len(symbols) == 5
        client.change(hard, 2, {"text": TEXT})
        assert client.diagnostics(hard, 2) == []
        assert client.result("textDocument/hover", {**at, "position": {"line": 2, "character": 0}})
        assert client.end() == 0


@pytest.mark.parametrize("port", ["x", "99999999", "host:"])
def test_a_port_is_a_number(port: str) -> None:
    with Client("--tcp", port) as client:
        assert client.process.wait(60) == 2
