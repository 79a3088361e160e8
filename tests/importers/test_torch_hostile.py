"""Archives that are none, or that were made to do harm: a sentence, in time, and nothing is run."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import random
import struct
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from axon.importers.formats import read_archive, read_bytes
from axon.importers.operations import NoModel
from axon.importers.reporting.why import NoSuchSize
from axon.importers.torch import archive as archives
from axon.importers.writing.program import write_program
from tests.importers.torch_archives import (
    DTYPES,
    Exported,
    SymInt,
    Tensor,
    infer,
    subgraph,
    tensor_meta,
    zipped,
)
from tests.shell import Outcome, axon

SLOWEST = 20.0
SOME = 16
"""One in so many changed documents is asked why its sizes are what they are, which takes longer."""
LARGEST = 400 << 20
"""Bytes of memory that a small archive may take."""


def good() -> Exported:
    """A program with most of what the format has: a weight, a buffer, sizes, lists, a graph."""
    made = Exported()
    x = made.input("x", "f32", ["s0", 4])
    w = made.weight("net.w", numpy.ones((4,), "f4"))
    sizes = made.weight("net.sizes", numpy.array([2, 2]), kind="buffer")
    y = made.call("aten.add.Tensor", self=x, other=w, line=3, text="x + self.w", module="net")
    n = made.call("aten.sym_size.int", kind=SymInt, self=y, dim=0)
    m = made.call("_operator.mul", kind=SymInt, a=n, b=2)
    z = made.call("aten.view.default", self=y, size=[m, 2], line=4, text="x.view(-1, 2)")
    made.said(z, "f32", ["Mul(Integer(2), Symbol('s0'))", 2])
    inner = subgraph([Tensor("a")])
    inner.graph["outputs"] = [{"as_tensor": {"name": "b"}}]
    inner.call("aten.relu.default", "b", self=Tensor("a"))
    grad = "higher_order.wrap_with_set_grad_enabled"
    r = made.call(grad, arguments=[False, inner, z])
    made.mutates("net.sizes", sizes)
    made.output(r)
    made.ranges = {"s0": {"min_val": 0, "max_val": None}}
    made.guards = ["L['x'].size()[0] >= 2"]
    return made


def survives(folder: Path, name: str = "m.pt2") -> Outcome:
    """Run on a file: as text with the inputs' sizes, as JSON without, and as a program."""
    before = sorted(str(path) for path in folder.rglob("*"))
    begun = time.monotonic()
    found = axon(["infer", name], folder)
    others = (
        ["infer", name, "--json", "--forget-inputs"], ["import", name], ["graph", name],
        ["infer", name, "--dynamic"], ["explain", name, "--why", "x"],
    )  # fmt: skip
    for outcome in (found, *(axon(arguments, folder) for arguments in others)):
        assert outcome.status in (0, 1, 2)
        assert "Traceback" not in outcome.terminal
        assert "a bug in Axon" not in outcome.terminal
        if outcome.status == 2:
            assert outcome.stdout == ""
            assert outcome.stderr.startswith("axon: ")
            assert len(outcome.stderr) < 2000
    assert time.monotonic() - begun < SLOWEST
    assert sorted(str(path) for path in folder.rglob("*")) == before
    return found


def refused(data: bytes, tmp_path: Path) -> str:
    """Why an archive is none."""
    (tmp_path / "m.pt2").write_bytes(data)
    found = survives(tmp_path)
    assert found.status == 2
    return found.stderr


def test_the_good_one_is_good(tmp_path: Path) -> None:
    good().save(tmp_path / "m.pt2")
    found = survives(tmp_path)
    assert found.status == 0
    assert found.stdout.startswith("model : f32 [s0,4] -> ")


# --- bytes ---------------------------------------------------------------------------------------

BYTES: dict[str, bytes] = {
    "empty": b"",
    "text": b"this is not a model\n",
    "zeros": bytes(1000),
    "json": b'{"graph_module": {}}',
    "pickle": b"\x80\x04\x95\x00",
    "beginning of a zip": b"PK\x03\x04",
    "empty zip": b"PK\x05\x06" + bytes(18),
    **{f"noise {n}": b"PK\x03\x04" + random.Random(n).randbytes(n) for n in (1, 30, 1000, 65_536)},
}


@pytest.mark.parametrize("kind", BYTES)
def test_bytes_that_are_no_archive(kind: str, tmp_path: Path) -> None:
    refused(BYTES[kind], tmp_path)


@pytest.mark.parametrize("part", range(12))
def test_an_archive_that_is_cut_off(part: int, tmp_path: Path) -> None:
    whole = good().archive().getvalue()
    refused(whole[: len(whole) * part // 12], tmp_path)


@pytest.mark.parametrize("seed", range(25))
def test_an_archive_with_wrong_bytes(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    whole = bytearray(good().archive().getvalue())
    for _ in range(chance.randint(1, 8)):
        whole[chance.randrange(len(whole))] = chance.randrange(256)
    (tmp_path / "m.pt2").write_bytes(bytes(whole))
    survives(tmp_path)


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "m.pt2").mkdir()
    assert survives(tmp_path).status == 2


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.pt2")
    assert survives(tmp_path).status == 2


@pytest.mark.parametrize("name", ["m.pt2", "no/such/m.pt2", "\0.pt2", "x" * 5000 + ".pt2"])
def test_a_file_that_is_not_there(name: str, tmp_path: Path) -> None:
    before = axon(["infer", name], tmp_path)
    assert before.status == 2 and "Traceback" not in before.terminal


# --- the zip file --------------------------------------------------------------------------------


def without(name: str) -> dict[str, bytes]:
    return {key: data for key, data in good().entries().items() if key != name}


def with_(**changed: bytes) -> dict[str, bytes]:
    return {**good().entries(), **{name.replace("__", "/"): data for name, data in changed.items()}}


PROGRAM = "models/model.json"
DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
ENTRIES: dict[str, tuple[Callable[[], dict[str, bytes]], str]] = {
    "no format": (lambda: without("archive_format"), "not what torch.export.save writes"),
    "other format": (lambda: with_(archive_format=b"zip"), "not what torch.export.save writes"),
    "what torch.save writes": (
        lambda: {"data.pkl": b"\x80\x02", "version": b"3"},
        "it looks like what torch.save writes",
    ),
    "big-endian": (lambda: with_(byteorder=b"big"), "order of bytes"),
    "no program": (lambda: without(PROGRAM), "no program"),
    "two programs": (lambda: {**good().entries(), "models/b.json": b"{}"}, "2 programs"),
    "no JSON": (lambda: {**good().entries(), PROGRAM: b"{'a': 1}"}, "not JSON"),
    "deep JSON": (lambda: {**good().entries(), PROGRAM: DEEP}, "not JSON"),
    "long number": (lambda: {**good().entries(), PROGRAM: b"[" + b"9" * 10_000 + b"]"}, "not JSON"),
    "not UTF-8": (lambda: {**good().entries(), PROGRAM: b'{"a": "\xff"}'}, "not JSON"),
    "half a letter": (lambda: {**good().entries(), PROGRAM: b'{"a": "\\udc00"}'}, "not JSON"),
    "surrogates as bytes": (
        lambda: {**good().entries(), PROGRAM: b'{"a": "\xed\xb0\x80"}'},
        "not JSON",
    ),
    "a list": (lambda: {**good().entries(), PROGRAM: b"[]"}, "not a program"),
    "a number": (lambda: {**good().entries(), PROGRAM: b"NaN"}, "not a program"),
    "wrong table of weights": (
        lambda: {**good().entries(), "data/weights/model_weights_config.json": b"[]"},
        "not a program",
    ),
}


@pytest.mark.parametrize("kind", ENTRIES)
def test_entries_that_make_no_sense(kind: str, tmp_path: Path) -> None:
    make, why = ENTRIES[kind]
    assert why in refused(zipped(make()).getvalue(), tmp_path)


def bomb(name: str, size: int) -> bytes:
    """An archive with an entry of zeros, compressed."""
    data = zipped({**good().entries(), name: b" " * size}, compression=zipfile.ZIP_DEFLATED)
    return data.getvalue()


@pytest.mark.parametrize("name", [PROGRAM, "data/weights/weight_0", "archive_format", "more"])
def test_a_bomb_is_not_unpacked(name: str, tmp_path: Path) -> None:
    data = bomb(name, 100 << 20)
    assert len(data) < 1 << 20
    tracemalloc.start()
    assert "compressed so much" in refused(data, tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 50 << 20
    tracemalloc.stop()


def test_a_bomb_that_lies_about_its_size(tmp_path: Path) -> None:
    """The directory says that the entry is small, and its data goes on."""
    data = bytearray(bomb(PROGRAM, 100 << 20))
    at = data.rindex(b"PK\x01\x02", 0, data.rindex(PROGRAM.encode()))
    struct.pack_into("<I", data, at + 24, 1000)
    tracemalloc.start()
    refused(bytes(data), tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 50 << 20
    tracemalloc.stop()


def test_a_large_compressed_program_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archives, "LARGEST_COMPRESSED", 1000)
    data = zipped(good().entries(), compression=zipfile.ZIP_DEFLATED).getvalue()
    assert "is larger than" in refused(data, tmp_path)


def test_a_compressed_archive_is_read(tmp_path: Path) -> None:
    data = zipped(good().entries(), compression=zipfile.ZIP_DEFLATED).getvalue()
    (tmp_path / "m.pt2").write_bytes(data)
    assert survives(tmp_path).status == 0


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compressions_are_refused(kind: int, tmp_path: Path) -> None:
    data = zipped(good().entries(), compression=kind).getvalue()
    assert "in a way that Axon does not read" in refused(data, tmp_path)


def test_two_entries_of_one_name(tmp_path: Path) -> None:
    file = good().archive()
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr(f"m/{PROGRAM}", b"{}")
    assert "two entries" in refused(file.getvalue(), tmp_path)


def test_many_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_ENTRIES", 5)
    assert "more than 5 entries" in refused(good().archive().getvalue(), tmp_path)


def test_an_encrypted_entry(tmp_path: Path) -> None:
    data = bytearray(good().archive().getvalue())
    for begins, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(begins)
        while at >= 0:
            data[at + flags] |= 1
            at = data.find(begins, at + 1)
    refused(bytes(data), tmp_path)


def test_a_wrong_checksum(tmp_path: Path) -> None:
    data = bytearray(good().archive().getvalue())
    at = data.find(b'"graph_module"')
    data[at + 2] ^= 1
    assert "damaged" in refused(bytes(data), tmp_path)


@pytest.mark.parametrize("root", ["..", "../..", "/", "/etc", "C:\\x", "", ".", "a/b/c"])
def test_names_that_lead_elsewhere(root: str, tmp_path: Path) -> None:
    """Nothing is ever extracted: such names are names."""
    (tmp_path / "m.pt2").write_bytes(zipped(good().entries(), root).getvalue())
    survives(tmp_path)


# --- the document --------------------------------------------------------------------------------

WRONG: tuple[Any, ...] = (
    None, True, -1, 3, 1e308, 10**30, "", "x", "as_tensor", [], [[]], [None], {}, {"": 0},
    {"as_int": -1}, {"as_tensor": {"name": "x"}}, "\x1b[2J\n\u202e" + "y" * 300,
)  # fmt: skip


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all that is in a document."""
    yield path
    if isinstance(document, dict):
        for key, value in document.items():
            yield from places(value, (*path, key))
    elif isinstance(document, list):
        for i, value in enumerate(document):
            yield from places(value, (*path, i))


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The document with another value in a place."""
    if not path:
        return value
    made = copy.copy(document)
    made[path[0]] = changed(document[path[0]], path[1:], value)
    return made


def lacking(document: Any, path: tuple[Any, ...]) -> Any:
    """The document without what is in a place."""
    made = copy.copy(document)
    if len(path) == 1:
        del made[path[0]]
    else:
        made[path[0]] = lacking(document[path[0]], path[1:])
    return made


def bears(document: Any, asks: bool) -> None:
    """Read, infer, report, explain and write a document: only our own exceptions may come of it."""
    data = zipped(good().entries(document)).getvalue()
    with contextlib.suppress(NoModel, NoSuchSize):
        model = read_bytes(data, "m.pt2")
        model.report()
        write_program(model.imported())
        if asks:
            model.dynamic()
            model.why("x")


def test_anything_may_be_missing() -> None:
    document = good().document()
    for i, path in enumerate(list(places(document))[1:]):
        bears(lacking(document, path), asks=i % SOME == 0)


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_anything_may_be_anything(number: int) -> None:
    document = good().document()
    for i, path in enumerate(places(document)):
        bears(changed(document, path, WRONG[number]), asks=i % SOME == number % SOME)


@given(st.data())
def test_anything_may_be_anything_else(data: st.DataObject) -> None:
    """Several places at once: other parts of the document, numbers and texts stand there."""
    document: Any = good().document()
    for _ in range(data.draw(st.integers(1, 4))):
        paths = list(places(document))
        path = data.draw(st.sampled_from(paths))
        scalars = st.one_of(
            st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10)
        )
        if data.draw(st.booleans()):
            other = data.draw(st.sampled_from(paths))
            value = copy.deepcopy(document)
            for step in other:
                value = value[step]
        else:
            value = data.draw(scalars)
        document = changed(document, path, value)
    bears(document, asks=data.draw(st.integers(0, SOME)) == 0)


# --- sizes ---------------------------------------------------------------------------------------

SIZES: dict[str, Any] = {
    "negative": {"as_int": -1},
    "huge": {"as_int": 1 << 70},
    "a truth value": {"as_int": True},
    "a fraction": {"as_int": 2.5},
    "infinite": {"as_int": float("inf")},
    "nothing": {},
    "two cases": {"as_int": 1, "as_expr": {"expr_str": "Integer(1)"}},
}


@pytest.mark.parametrize("kind", SIZES)
def test_sizes_that_are_none(kind: str) -> None:
    made = good()
    made.meta("x")["sizes"][1] = SIZES[kind]
    bears(made.document(), asks=True)


def test_very_many_dimensions(tmp_path: Path) -> None:
    made = good()
    made.meta("x")["sizes"] = [{"as_int": (1 << 62) - 1}] * 100_000
    assert "dimensions" in refused(made.archive().getvalue(), tmp_path)


PWNED = "open('pwned','w').write('x')"
EXPRESSIONS = (
    f"__import__('os').system({PWNED!r})",
    PWNED,
    f"[{PWNED} for _ in (1,)][0]",
    f"Symbol('s0', positive={PWNED})",
    f"Add(Symbol('s0'), {PWNED})",
    f"(lambda: {PWNED})()",
    f'Symbol("s0"); {PWNED}',
    "Symbol('s0').__class__.__mro__",
    f"Symbol('{{x!r}}' .format(x={PWNED}))",
    "Integer(" + "9" * 5000 + ")",
    "Pow(Integer(10), Pow(Integer(10), Integer(10)))",
    "Mul(" * 5000 + "Integer(2)" + ")" * 5000,
    "Mul(" + "Integer(9999999999), " * 900 + "Symbol('s0'))",
    "Add(" + ", ".join(f"Symbol('s{i}')" for i in range(700)) + ")",
    "FloorDiv(Symbol('s0'), Integer(0))",
    "Mod(Symbol('s0'), Integer(0))",
    "FloorDiv(Symbol('s0'), Integer(-3))",
    "FloorDiv(Symbol('s0'), Symbol('s0'))",
    "Symbol('')",
    "Symbol('s0\\x1b[2J')",
    "Symbol('import')",
    "Symbol(" * 3,
    "((((((((((" * 1000,
    "Integer(1))))",
    "s0" * 1_000_000,
    "",
    " " * 100_000,
    "\0",
    "Integer(-5)",
    "Max()",
    "Add(Symbol('s0'))",
)


@pytest.mark.parametrize("number", range(len(EXPRESSIONS)))
def test_expressions_are_never_run(number: int, tmp_path: Path) -> None:
    made = good()
    size = {"as_expr": {"expr_str": EXPRESSIONS[number], "hint": None}}
    made.meta("x")["sizes"][0] = size
    made.graph["sym_int_values"]["sym_size_1"] = size
    made.ranges[EXPRESSIONS[number]] = {"min_val": 0, "max_val": None}
    made.guards.append(EXPRESSIONS[number])
    made.save(tmp_path / "m.pt2")
    survives(tmp_path)
    assert not (tmp_path / "pwned").exists() and not Path("pwned").exists()


def test_places_are_only_text(tmp_path: Path) -> None:
    made = Exported()
    x = made.input("x", "f32", [2, 3])
    w = made.weight("w", numpy.ones((7,), "f4"))
    hostile = "/etc/passwd\x1b[2J\u202e"
    y = made.call(
        "aten.add.Tensor", self=x, other=w, line=999_999_999, file=hostile,
        text="\x1b]0;x\x07\r\u2028x + w" + "(" * 300, module="a\x1b[31m,b",
    )  # fmt: skip
    made.output(y)
    made.save(tmp_path / "m.pt2")
    found = survives(tmp_path)
    assert found.status == 1 and "7" in found.stderr
    assert not any(sign in found.terminal for sign in "\x1b\x07\u202e\u2028")


# --- weights -------------------------------------------------------------------------------------


def stored(**changed: Any) -> Exported:
    """A weight whose entry in the table is changed."""
    made = Exported()
    x = made.input("x", "f32", [2, 2])
    w = made.weight("w", numpy.arange(4, dtype="f4").reshape(2, 2))
    made.output(made.call("aten.add.Tensor", self=x, other=w))
    entry = made.stored["weights"]["w"] = copy.deepcopy(made.stored["weights"]["w"])
    for name, value in changed.items():
        (entry if name in entry else entry["tensor_meta"])[name] = value
    return made


def ints(*values: int) -> list[Any]:
    return [{"as_int": value} for value in values]


TABLES: dict[str, tuple[dict[str, Any], str]] = {
    "a pickle": ({"use_pickle": True}, "pickle"),
    "another entry": ({"path_name": "weight_9"}, "not all there"),
    "outside": ({"path_name": "../../../etc/passwd"}, "not all there"),
    "an absolute path": ({"path_name": "/etc/passwd"}, "not all there"),
    "no path": ({"path_name": 3}, "damaged"),
    "negative strides": ({"strides": ints(-2, 1)}, "damaged"),
    "huge strides": ({"strides": ints(1 << 62, 1)}, "not all there"),
    "strides beyond the end": ({"strides": ints(3, 1)}, "not all there"),
    "too few strides": ({"strides": ints(1)}, "damaged"),
    "a negative offset": ({"storage_offset": {"as_int": -1}}, "damaged"),
    "an offset beyond the end": ({"storage_offset": {"as_int": 1}}, "not all there"),
    "a huge offset": ({"storage_offset": {"as_int": 1 << 80}}, "not all there"),
    "a fraction": ({"storage_offset": {"as_int": 0.5}}, "damaged"),
    "other sizes": ({"sizes": ints(4)}, "damaged"),
    "sizes of no kind": ({"sizes": 3}, "damaged"),
    "an expression": ({"sizes": [{"as_expr": {"expr_str": "Integer(2)"}}] * 2}, "damaged"),
    "no table": ({"tensor_meta": None}, "damaged"),
    "another element type": ({"dtype": DTYPES["f64"]}, "damaged"),
}


@pytest.mark.parametrize("kind", TABLES)
def test_weights_that_are_not_as_they_say(kind: str, tmp_path: Path) -> None:
    """The types do not rest on the values: only what needs them says what is wrong."""
    changed, why = TABLES[kind]
    stored(**changed).save(tmp_path / "m.pt2")
    assert survives(tmp_path).status == 0
    ran = axon(["run", "m.pt2", "x=ones[2,2]"], tmp_path)
    written = axon(["import", "m.pt2", "--weights", "w.safetensors"], tmp_path)
    for outcome, status in ((ran, 1), (written, 2)):
        assert outcome.status == status and why in outcome.stderr, outcome.stderr
        assert "Traceback" not in outcome.terminal
    assert not (tmp_path / "w.safetensors").exists()


def test_an_expanded_weight_is_not_made_of_memory(tmp_path: Path) -> None:
    made = stored(strides=ints(0, 0), sizes=ints(1 << 20, 1 << 20))
    made.graph["tensor_values"]["p_w"] = tensor_meta("f32", [1 << 20, 1 << 20])
    made.graph["tensor_values"]["x"] = tensor_meta("f32", [1])
    made.save(tmp_path / "m.pt2")
    tracemalloc.start()
    ran = axon(["run", "m.pt2", "x=ones[1]"], tmp_path)
    assert tracemalloc.get_traced_memory()[1] < LARGEST
    tracemalloc.stop()
    assert ran.status == 1 and "far more elements" in ran.stderr


def test_a_weight_without_elements_has_any_strides() -> None:
    made = stored(strides=ints(1 << 62, 1 << 62), sizes=ints(0, 2))
    made.graph["tensor_values"]["p_w"] = tensor_meta("f32", [0, 2])
    model = read_archive(made.archive(), "m")
    assert model.read(model.model.graph.constants[0]).shape == (0, 2)


def test_a_size_of_one_has_any_stride() -> None:
    made = stored(strides=ints((1 << 63) + 1, 1), sizes=ints(1, 2))
    made.graph["tensor_values"]["p_w"] = tensor_meta("f32", [1, 2])
    model = read_archive(made.archive(), "m")
    assert model.read(model.model.graph.constants[0]).tolist() == [[0.0, 1.0]]


# --- graphs --------------------------------------------------------------------------------------


def undefined() -> Exported:
    made = Exported()
    made.output(made.call("aten.relu.default", self=Tensor("nowhere")))
    return made


def cycle() -> Exported:
    made = Exported()
    made.call("aten.relu.default", "a", self=Tensor("b"))
    made.output(made.call("aten.relu.default", "b", self=Tensor("a")))
    return made


def own_input() -> Exported:
    made = Exported()
    made.output(made.call("aten.relu.default", "a", self=Tensor("a")))
    return made


def made_twice() -> Exported:
    made = Exported()
    x = made.input("x", "f32", [2])
    made.call("aten.relu.default", "a", self=x)
    made.output(made.call("aten.neg.default", "a", self=x))
    return made


def input_made_again() -> Exported:
    made = Exported()
    x = made.input("x", "f32", [2])
    made.output(made.call("aten.relu.default", "x", self=x))
    return made


def two_inputs() -> Exported:
    made = Exported()
    made.input("x", "f32", [2])
    made.output(made.input("x", "f32", [3]))
    return made


def no_output() -> Exported:
    made = Exported()
    made.output(Tensor("nowhere"))
    return made


def nested(depth: int) -> Exported:
    inner = subgraph([Tensor("a")])
    inner.graph["outputs"] = [{"as_tensor": {"name": "a"}}]
    for _ in range(depth):
        outer = subgraph([Tensor("a")])
        call = "higher_order.wrap_with_set_grad_enabled"
        outer.call(call, "b", arguments=[False, inner, Tensor("a")])
        outer.graph["outputs"] = [{"as_tensor": {"name": "b"}}]
        inner = outer
    made = Exported()
    x = made.input("x", "f32", [2])
    made.output(made.call(call, arguments=[False, inner, x]))
    return made


def wrapped(given: int, inputs: int) -> Exported:
    """A graph that is applied to too few or too many operands."""
    inner = subgraph([Tensor(f"a{i}") for i in range(inputs)])
    inner.graph["outputs"] = [{"as_tensor": {"name": "a0"}}]
    made = Exported()
    x = made.input("x", "f32", [2])
    made.output(made.call("higher_order.wrap", arguments=[inner, *[x] * given]))
    return made


GRAPHS: dict[str, tuple[Callable[[], Exported], int, str]] = {
    "undefined": (undefined, 1, "nowhere"),
    "cycle": (cycle, 1, "later"),
    "own input": (own_input, 1, ""),
    "made twice": (made_twice, 2, "two values"),
    "input made again": (input_made_again, 2, "two values"),
    "two inputs": (two_inputs, 2, "two values"),
    "no output": (no_output, 2, "nothing makes"),
    "nested": (lambda: nested(100), 2, "nested"),
    "too few operands": (lambda: wrapped(1, 2), 0, ""),
    "too many operands": (lambda: wrapped(5, 1), 0, ""),
    "no such size": (
        lambda: changed_sizes([-5, 3]),
        1,
        "",
    ),
}


def changed_sizes(sizes: list[int]) -> Exported:
    made = Exported()
    x = made.input("x", "f32", [2, 2])
    made.output(made.call("aten.view.default", self=x, size=sizes, line=1, text="x.view()"))
    return made


@pytest.mark.parametrize("kind", GRAPHS)
def test_graphs_that_make_no_sense(kind: str, tmp_path: Path) -> None:
    make, status, why = GRAPHS[kind]
    make().save(tmp_path / "m.pt2")
    found = survives(tmp_path)
    assert found.status == status, found.stderr
    assert why in found.terminal


def test_many_nodes_take_time_in_proportion() -> None:
    def seconds(count: int) -> float:
        made = Exported()
        x = made.input("x", "f32", ["s0", 4])
        for _ in range(count):
            x = made.call("aten.relu.default", self=x)
        made.output(x)
        begun = time.process_time()
        assert infer(made).ok
        return time.process_time() - begun

    seconds(10)
    small = max(seconds(1000), 0.02)
    assert seconds(8000) < 25 * small


def test_a_symbol_that_is_squared_again_and_again() -> None:
    """Sizes that grow without end are given up, and not computed."""
    made = Exported()
    x = made.input("x", "f32", ["s0"])
    n: Any = made.call("aten.sym_size.int", kind=SymInt, self=x, dim=0)
    for _ in range(200):
        n = made.call("_operator.mul", kind=SymInt, a=n, b=n)
    made.output(made.call("aten.view.default", self=x, size=[n]))
    begun = time.monotonic()
    infer(made)
    assert time.monotonic() - begun < SLOWEST


def test_json_is_not_python() -> None:
    """Names that Python treats as special are names."""
    made = good()
    text = json.dumps(made.document()).replace('"x"', '"__class__"')
    infer_text(text)


def infer_text(text: str) -> None:
    data = zipped({**good().entries(), PROGRAM: text.encode()})
    with contextlib.suppress(NoModel):
        read_archive(io.BytesIO(data.getvalue()), "m").report()


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("aten.pad.default", "pad"),
        ("aten.flip.default", "dims"),
        ("aten.fft_fftn.default", "dim"),
        ("aten._fft_c2c.default", "dim"),
        ("aten.fft_fftshift.default", "dim"),
        ("aten.sum.dim_IntList", "dim"),
    ],
)
def test_very_many_axes(target: str, name: str) -> None:
    made = Exported()
    x = made.input("x", "f32", [2, 3])
    given: dict[str, Any] = {name: [0] * 60_000}
    made.output(made.call(target, self=x, **given))
    assert infer(made).diagnostics
