"""Whatever stands in a document where something else should: the message says where that is. A bug
of ours is not taken for a mistake in the document.
"""

from __future__ import annotations

import json
import random
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from axon.importers.formats import read_archive
from axon.importers.operations import NoModel
from axon.importers.torch import read
from axon.importers.torch.document import Document, WrongDocument
from axon.importers.torch.rules.registry import RULES
from tests.importers.test_torch_hostile import changed, good, lacking, places
from tests.importers.torch_archives import Exported, Tensor, subgraph, zipped
from tests.shell import axon

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "torch").glob("*.pt2"))
OF_EACH_TYPE: tuple[Any, ...] = (None, True, 7, 2.5, "text", ["text"], {"key": 7})
MOST = 400
"""Changes of a document that are tried."""
WHERE = re.compile(r"(?:`([^`]+)` in )?(?:models|data)/\S+\.json (.+)", re.DOTALL)
OTHER_TYPE = re.compile(r"is not (?:text|a list|an object|a whole number|a number|true or false)$")


def of_a_loop() -> Exported:
    """A program with graphs for arguments, symbols among its arguments, and writes in place."""
    made = Exported()
    x = made.input("x", "f32", ["s0", 4])
    test, body = subgraph([Tensor("i")]), subgraph([Tensor("i")])
    test.output(test.call("aten.lt.Scalar", "t", self=Tensor("i"), other=9.0))
    body.output(body.call("aten.add.Tensor", "j", self=Tensor("i"), other=1.0))
    y = made.call("higher_order.while_loop", arguments=[test, body, [x], []], listed=True)
    z = made.call("aten.permute.default", self=y, dims=[1, 0])
    made.call("aten.add_.Tensor", self=z, other=x)
    moved = made.call("aten.movedim.int", self=y, source=0, destination=1)
    made.call("aten.mul_.Tensor", self=moved, other=complex(1, 2))
    made.output(y)
    return made


def documents() -> dict[str, tuple[Any, Callable[[Any], bytes]]]:
    """Documents, each with what makes an archive of it again."""

    def made(exported: Exported) -> tuple[Any, Callable[[Any], bytes]]:
        return exported.document(), lambda document: zipped(exported.entries(document)).getvalue()

    found = {"made": made(good()), "loop": made(of_a_loop())}
    for path in EXAMPLES:
        with zipfile.ZipFile(path) as archive:
            entries = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
        program = next(name for name in entries if re.fullmatch(r"models/.*\.json", name))

        def again(document: Any, entries: dict[str, bytes] = entries, at: str = program) -> bytes:
            return zipped({**entries, at: json.dumps(document).encode()}).getvalue()

        found[path.stem] = json.loads(entries[program]), again
    return found


DOCUMENTS = documents()


def path_of(steps: tuple[Any, ...]) -> str:
    document = Document({}, "document")
    for step in steps:
        document = Document({}, step, document)
    return str(document.wrong("")).partition("`")[2].partition("`")[0]


def read_as(data: bytes, folder: Path) -> str:
    """Why an archive cannot be read; empty if it can be."""
    file = folder / "m.pt2"
    file.write_bytes(data)
    try:
        read_archive(str(file), "m.pt2")
    except NoModel as problem:
        return str(problem)
    return ""


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_message_says_where(name: str, tmp_path: Path) -> None:
    document, archived = DOCUMENTS[name]
    assert read_as(archived(document), tmp_path) == ""
    chance = random.Random(name)
    every = list(places(document))[1:]
    for steps in chance.sample(every, min(MOST, len(every))):
        value = document
        for step in steps:
            value = value[step]
        others = [each for each in OF_EACH_TYPE if type(each) is not type(value)]
        for made in (
            lacking(document, steps),
            changed(document, steps, chance.choice(others)),
        ):
            why = read_as(archived(made), tmp_path)
            if not why:
                continue
            found = WHERE.search(why)
            assert found is not None, why
            place, what = found.groups()
            if OTHER_TYPE.search(what):
                assert related(place or "", path_of(steps)), (steps, why)


def related(one: str, other: str) -> bool:
    """Whether one place of a document is in the other."""
    return one.startswith(other) or other.startswith(one)


@pytest.mark.parametrize("value", [*OF_EACH_TYPE[1:], []])
def test_a_document_of_any_type(value: Any, tmp_path: Path) -> None:
    data = zipped(good().entries(value)).getvalue()
    assert read_as(data, tmp_path).startswith(
        "m.pt2 is not a program of torch.export: models/model.json "
    )


def test_the_messages(tmp_path: Path) -> None:
    document = good().document()
    graph = document["graph_module"]["graph"]
    node = graph["nodes"][0]
    before = "m.pt2 is not a program of torch.export: "
    nodes = "`graph_module.graph.nodes[0]"
    cases: tuple[tuple[tuple[str | int, ...], object, str], ...] = (
        (("target",), 3, f"{nodes}.target` in models/model.json is not text"),
        (("inputs", 0, "arg"), {}, "inputs[0].arg` in models/model.json has 0 keys; it must"),
        (("inputs", 1, "arg", "as_tensor"), {}, f"{nodes}.inputs[1].arg.as_tensor` in"),
        (("metadata", "stack_trace"), [], f"{nodes}.metadata.stack_trace` in"),
    )
    for steps, value, why in cases:
        made = changed(node, steps, value)
        whole = changed(document, ("graph_module", "graph", "nodes", 0), made)
        found = read_as(zipped(good().entries(whole)).getvalue(), tmp_path)
        assert found.startswith(before) and why in found, found


def test_keys_of_any_text_are_shown_as_json() -> None:
    inner = Document({"net.w\x1b": {}}, "table.json")["net.w\x1b"]
    with pytest.raises(WrongDocument) as problem:
        inner["path_name"].text()
    assert str(problem.value) == '`["net.w\\u001b"]` in table.json has no path_name'


def test_numbers_that_are_none() -> None:
    for value in ("1", None, True, [0], 10**400):
        with pytest.raises(WrongDocument):
            Document(value, "document").number()
    assert Document("-Infinity", "document").number() == float("-inf")


def test_a_bug_of_the_reader_is_no_mistake_of_the_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good().save(tmp_path / "m.pt2")
    for problem in (TypeError("oops"), KeyError("oops"), ValueError("oops"), IndexError("oops")):

        def broken(value: Document, problem: Exception = problem) -> None:
            raise problem

        monkeypatch.setitem(read.PLAIN, "as_int", broken)
        with pytest.raises(type(problem)):
            read_archive(str(tmp_path / "m.pt2"), "m.pt2")
        found = axon(["infer", "m.pt2"], tmp_path)
        assert found.status == 3
        assert f"a bug in Axon, please report it: {type(problem).__name__}" in found.stderr


def test_a_bug_of_a_rule_is_no_mistake_of_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(node: Any) -> Any:
        raise TypeError("oops")

    monkeypatch.setitem(RULES, ("aten", "relu"), broken)
    good().save(tmp_path / "m.pt2")
    found = axon(["infer", "m.pt2"], tmp_path)
    assert found.status == 3
    assert "a bug in Axon, please report it: TypeError: oops" in found.stderr
