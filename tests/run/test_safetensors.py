"""Weights in files: what is written is read again, what is no such file is refused at once."""

from __future__ import annotations

import json
import mmap
import os
import random
import time
import weakref
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import axon
from axon import save
from axon.files import Unreadable, Unwritable
from axon.run.safetensors import LONGEST_HEADER, ToStore, read, written
from axon.types.elements import ELEMENTS
from tests.shell import axon as shell

DTYPES = {
    "bool": bool, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip


def every_kind() -> dict[str, Any]:
    made: dict[str, Any] = {}
    for elem, dtype in DTYPES.items():
        made[elem] = np.arange(6).reshape(2, 3).astype(dtype)
        made[f"{elem}, one"] = np.array(1).astype(dtype)
        made[f"{elem}, none"] = np.zeros((0, 3), dtype)
    made["other order"] = np.arange(3).astype(">i4")
    made["turned"] = np.arange(6, dtype=np.float32).reshape(2, 3).T
    made['über "quotes" {}'] = np.ones(1, np.float32)
    return made


def raw(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(shape: Any, begin: Any, end: Any, dtype: Any = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


# --- the format ------------------------------------------------------------------------------


def test_all_element_types_come_back(tmp_path: Path) -> None:
    assert set(DTYPES) == set(ELEMENTS)
    arrays = every_kind()
    save(tmp_path / "w.safetensors", arrays)
    stored = read(str(tmp_path / "w.safetensors"))
    assert set(stored.places) == set(arrays)
    for name, array in arrays.items():
        found = stored.values(name)()
        assert found.dtype == array.dtype.newbyteorder("="), name
        assert found.shape == array.shape
        assert found.flags.aligned
        np.testing.assert_array_equal(found, array)


def test_a_file_is_what_the_format_says(tmp_path: Path) -> None:
    save(tmp_path / "w", {"b": np.array([1], np.int8), "a": np.array([[1.5, 2]], np.float32)})
    header = (
        b'{"a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]},'
        b'"b":{"dtype":"I8","shape":[1],"data_offsets":[8,9]}}'
    )
    header += b" " * (-len(header) % 8)
    data = np.array([1.5, 2], "<f4").tobytes() + b"\1"
    assert (tmp_path / "w").read_bytes() == raw(header, data)


def test_the_data_is_not_read_before_it_is_used(tmp_path: Path) -> None:
    save(tmp_path / "w", {"w": np.arange(4, dtype=np.float32)})
    values = read(str(tmp_path / "w")).values("w")
    found = values()
    base = found
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base, mmap.mmap)
    assert not found.flags.writeable
    assert values() is found


def test_what_others_write_is_read(tmp_path: Path) -> None:
    """Notes, another order, spaces, unaligned data, element types that Axon does not have."""
    header = (
        b'{ "__metadata__" : {"format":"pt", "config":"{\\"a\\":[{}]}"},\n'
        b'"w":{"shape":[2],"data_offsets":[3,11],"dtype":"F32"} ,'
        b'"small":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]},'
        b'"\\u0062":{"dtype":"BOOL","shape":[],"data_offsets":[2,3]}}   '
    )
    header += b" " * (len(header) % 2)
    (tmp_path / "w").write_bytes(raw(header, b"\0\0\2" + np.array([1, 2], "<f4").tobytes()))
    stored = read(str(tmp_path / "w"))
    assert stored.values("w")().tolist() == [1, 2]
    assert stored.values("w")().flags.aligned
    assert stored.values("b")().tolist() is True  # a byte that is 2 is no truth value of NumPy's
    assert stored.places["small"].elem is None
    for empty in (b"{}", b" { } ", b'{"__metadata__":{}}'):
        (tmp_path / "w").write_bytes(raw(empty))
        assert read(str(tmp_path / "w")).places == {}


DEEP = b"[" * 2000
FAR = 1 << 62
ONE = json.dumps(entry([1], 0, 4)).encode()
HOSTILE: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "shorter than its header states"),
    "seven bytes": (b"\1\0\0\0\0\0\0", "shorter than its header states"),
    "a header beyond the end": (raw(b"{}")[:9], "shorter than its header states"),
    "a header beyond everything": (b"\xff" * 8 + b"{}", "shorter than its header states"),
    "no header": (raw(b""), "not understood"),
    "no JSON": (raw(b"hello"), "not understood"),
    "zeros": (raw(b"\0" * 64), "not understood"),
    "a list": (raw([1, 2]), "not understood"),
    "a list of tensors": (raw({"w": [entry([1], 0, 4)]}, b"1234"), "not understood"),
    "half of it": (raw(b'{"w":{"dtype":"F32"'), "not understood"),
    "a comma too many": (raw(b'{"__metadata__":{},}'), "not understood"),
    "something behind it": (raw(b"{}{}"), "not understood"),
    "deep lists": (raw(b'{"w":{"dtype":"F32","shape":' + DEEP + b"}}"), "`w` is not understood"),
    "deeper lists": (raw(b'{"w":' + DEEP * 100), "not understood"),
    "deep objects": (raw(b'{"w":' * 50_000), "not understood"),
    "a name without end": (raw(b'{"' + b"\\\\" * 500_000), "not understood"),
    "a name that is not UTF-8": (raw(b'{"\xff":{}}'), "no text"),
    "half a character": (raw(b'{"\\ud800":{}}'), "no text"),
    "a strange escape": (raw(b'{"\\x":{}}'), "no text"),
    "no dtype": (raw({"w": {"shape": [1], "data_offsets": [0, 4]}}, b"1234"), "not understood"),
    "a dtype that is a number": (raw({"w": entry([1], 0, 4, 7)}, b"1234"), "not understood"),
    "a shape that is a number": (raw({"w": entry(1, 0, 4)}, b"1234"), "not understood"),
    "three offsets": (
        raw({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 2, 4]}}, b"1234"),
        "not understood",
    ),
    "a key twice": (
        raw(b'{"w":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}}', b"1"),
        "not understood",
    ),
    "a name twice": (raw(b'{"w":%b,"w":%b}' % (ONE, ONE), b"1234"), "twice"),
    "a name twice, written otherwise": (
        raw(b'{"w":%b,"\\u0077":%b}' % (ONE, ONE), b"1234"), "twice",
    ),
    "notes twice": (raw(b'{"__metadata__":{},"__metadata__":{}}'), "twice"),
    "notes that are no texts": (raw({"__metadata__": {"a": 1}}), "not understood"),
    "a negative size": (raw({"w": entry([-1], 0, 4)}, b"1234"), "are no sizes"),
    "two negative sizes": (raw({"w": entry([-1, -1], 0, 4)}, b"1234"), "are no sizes"),
    "a size that is a fraction": (raw({"w": entry([1.0], 0, 4)}, b"1234"), "are no sizes"),
    "a size that is true": (raw({"w": entry([True], 0, 4)}, b"1234"), "are no sizes"),
    "a size that is a list": (raw({"w": entry([[1]], 0, 4)}, b"1234"), "are no sizes"),
    "a size of many digits": (raw({"w": entry([10**4000], 0, 4)}, b"1234"), "are no sizes"),
    "many sizes": (raw({"w": entry([1] * 65, 0, 4)}, b"1234"), "are no sizes"),
    "far too many sizes": (raw({"w": entry([1] * 10_000, 0, 4)}, b"1234"), "not understood"),
    "a huge shape": (raw({"w": entry([FAR, FAR], 0, 4)}, b"1234"), "not what"),
    "a huge shape of nothing": (raw({"w": entry([FAR, FAR, 0], 0, 0)}), "not what"),
    "a shape that overflows to right": (raw({"w": entry([FAR, 4, 1], 0, 0)}), "not what"),
    "too few bytes": (raw({"w": entry([2], 0, 4)}, b"1234"), "not what"),
    "too many bytes": (raw({"w": entry([1], 0, 8)}, b"12345678"), "not what"),
    "a place that ends first": (raw({"w": entry([1], 4, 0)}, b"1234"), "are no sizes"),
    "a place before the data": (raw({"w": entry([1], -4, 0)}, b"1234"), "are no sizes"),
    "a place past the end": (raw({"w": entry([1], 0, 4)}, b"12"), "not all there"),
    "a place far past the end": (raw({"w": entry([1 << 40], 0, 1 << 42)}, b""), "not all there"),
    "places that overlap": (
        raw({"a": entry([2], 0, 8), "b": entry([2], 4, 12)}, b"0" * 12), "`a` and `b` overlap",
    ),
    "places that are the same": (
        raw({"a": entry([1], 0, 4), "b": entry([1], 0, 4)}, b"0" * 4), "overlap",
    ),
    "a hole": (raw({"a": entry([1], 0, 4), "b": entry([1], 8, 12)}, b"0" * 12), "belongs to no"),
    "a hole at the beginning": (raw({"a": entry([1], 4, 8)}, b"0" * 8), "belongs to no"),
    "more at the end": (raw({"a": entry([1], 0, 4)}, b"0" * 8), "belongs to no"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_a_broken_file_is_refused(case: str, tmp_path: Path) -> None:
    data, said = HOSTILE[case]
    (tmp_path / "w").write_bytes(data)
    began = time.process_time()
    with pytest.raises(Unreadable, match="not a safetensors file") as problem:
        read(str(tmp_path / "w"))
    assert said in str(problem.value)
    assert len(str(problem.value)) < 5000
    assert time.process_time() - began < 5
    with pytest.raises(axon.AxonError, match="not a safetensors file"):
        axon.compile("op w : () -> f32 [1];", weights=tmp_path / "w")


def test_a_header_may_not_be_too_long(tmp_path: Path) -> None:
    with open(tmp_path / "w", "wb") as file:
        file.write((LONGEST_HEADER + 1).to_bytes(8, "little"))
        file.truncate(LONGEST_HEADER + 100)  # takes no room on the disk
    with pytest.raises(Unreadable, match="are the most"):
        read(str(tmp_path / "w"))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, said in {
        tmp_path: "is not a file",
        tmp_path / "pipe": "is not a file",
        tmp_path / "none": "there is no file",
        "/dev/zero": "is not a file",
        "a\0b": "there is no file",
    }.items():
        with pytest.raises(Unreadable, match=said):
            read(str(path))


def test_a_damaged_file_is_read_or_refused(tmp_path: Path) -> None:
    save(tmp_path / "whole", every_kind())
    whole = (tmp_path / "whole").read_bytes()
    header = 8 + int.from_bytes(whole[:8], "little")
    chance = random.Random(0)
    refused = 0
    for _ in range(300):
        broken = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            broken[chance.randrange(header)] = chance.choice(b'{}[]",:-0189eE\\ \x00\xff')
        cut = chance.choice([len(broken), chance.randrange(len(broken))])
        (tmp_path / "w").write_bytes(broken[:cut])
        try:
            stored = read(str(tmp_path / "w"))
        except Unreadable:
            refused += 1
            continue
        for name, place in stored.places.items():
            if place.elem is not None:
                assert stored.values(name)().shape == place.shape
    assert refused > 200


# --- writing ---------------------------------------------------------------------------------


def test_one_tensor_at_a_time_is_in_memory(tmp_path: Path) -> None:
    made: list[weakref.ref[Any]] = []
    most = 0
    told: list[tuple[int, int]] = []

    def values() -> Any:
        nonlocal most
        array = np.ones(1000, np.float32)
        made.append(weakref.ref(array))
        most = max(most, sum(each() is not None for each in made))
        return array

    tensors = [ToStore(f"w{i}", "f32", (1000,), values) for i in range(5)]
    with written(str(tmp_path / "w"), tensors, lambda done, total: told.append((done, total))):
        assert not (tmp_path / "w").exists()
    assert most == 1
    assert told == [(i, 5) for i in range(1, 6)]
    assert len(read(str(tmp_path / "w")).places) == 5


def test_nothing_is_left_when_something_fails(tmp_path: Path) -> None:
    def fails() -> Any:
        raise RuntimeError("no values")

    (tmp_path / "old").write_bytes(b"as before")
    fine = ToStore("a", "f32", (2,), lambda: np.ones(2, np.float32))
    other = ToStore("b", "f32", (2,), lambda: np.ones(3, np.float32))
    for tensors, problem in {
        (fine, ToStore("b", "f32", (2,), fails)): RuntimeError,
        (fine, other): Unwritable,
        (fine, fine): Unwritable,
        (ToStore("__metadata__", "f32", (2,), fine.values),): Unwritable,
        (ToStore("\ud800", "f32", (2,), fine.values),): Unwritable,
    }.items():
        with pytest.raises(problem), written(str(tmp_path / "old"), tensors):
            pass
    with pytest.raises(KeyboardInterrupt), written(str(tmp_path / "old"), [fine]):
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == ["old"]
    assert (tmp_path / "old").read_bytes() == b"as before"


def test_where_it_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "target").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    for path in ("folder", "none/w", "a\0b"):
        with pytest.raises(axon.ArgumentError):
            save(tmp_path / path, {})
    with pytest.raises(axon.ArgumentError, match="not a regular file"):
        save("/dev/null", {})
    with pytest.raises(axon.ArgumentError, match="no element type"):
        save(tmp_path / "w", {"w": np.ones(1, complex)})
    save(tmp_path / "link", {"w": np.ones(1)})
    assert (tmp_path / "link").is_symlink()
    assert set(read(str(tmp_path / "target")).places) == {"w"}


# --- programs --------------------------------------------------------------------------------

NET = """\
op w : () -> f32 [3,2];
op c : () -> f32 [2];
layer = fn (x : f32 [b,3]) { relu(x @ w() + c()) };
"""
W = np.arange(6, dtype=np.float32).reshape(3, 2)
C = np.array([1, -100], np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "net.axon").write_text(NET)
    save(tmp_path / "net.safetensors", {"w": W, "c": C, "unused": np.ones(1, np.int8)})
    return tmp_path


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_a_program_gets_its_weights(folder: Path, backend: str) -> None:
    if backend == "jax":
        pytest.importorskip("jax")
    net = axon.load(folder / "net.axon", backend=backend, weights=folder / "net.safetensors")
    x = np.ones((4, 3), np.float32)
    np.testing.assert_allclose(net.layer(x), np.maximum(x @ W + C, 0))
    save(folder / "next.safetensors", {"w": W * 2, "c": C})
    net.load_weights(folder / "next.safetensors")
    np.testing.assert_allclose(net.layer(x), np.maximum(x @ (W * 2) + C, 0))


def test_operators_that_are_given_come_first(folder: Path) -> None:
    save(folder / "part.safetensors", {"w": W})
    x = np.ones((1, 3), np.float32)
    for file in ("part", "net"):
        net = axon.load(
            folder / "net.axon",
            ops={"c": lambda: np.zeros(2, np.float32)},
            weights=folder / f"{file}.safetensors",
        )
        np.testing.assert_allclose(net.layer(x), x @ W)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"w": W}, "there is no `c` in"),
        ({"w": W, "c": C.astype(np.float64)}, "`c` is f64 [2] in"),
        ({"w": W, "c": np.ones(3, np.float32)}, "`c` is f32 [3] in"),
        ({"w": W, "c": np.ones((1, 2), np.float32)}, "`c` is f32 [1,2] in"),
        ({"w": W, "c": np.float32(1)}, "`c` is f32 in"),
    ],
)
def test_a_weight_that_does_not_fit_is_shown(
    folder: Path, arrays: dict[str, Any], said: str
) -> None:
    save(folder / "bad.safetensors", arrays)
    with pytest.raises(axon.ArgumentError) as problem:
        axon.load(folder / "net.axon", weights=folder / "bad.safetensors")
    (found,) = problem.value.diagnostics
    assert found.code == "AX405"
    assert said in found.message
    assert found.span is not None
    assert (found.span.line, found.span.column) == (2, 4)
    command = ["run", "net.axon", "layer", "x=ones[1,3]", "--weights", "bad.safetensors"]
    outcome = shell(command, folder)
    assert outcome.status == 1
    assert "error[AX405]" in outcome.stderr
    assert "op c : () -> f32 [2];" in outcome.stderr


def test_an_element_type_that_axon_does_not_have(folder: Path) -> None:
    header = {"c": entry([2], 0, 2, "F8_E5M2"), "w": entry([3, 2], 2, 26)}
    (folder / "odd").write_bytes(raw(header, bytes(26)))
    with pytest.raises(axon.ArgumentError, match="F8_E5M2 is no element type of Axon"):
        axon.load(folder / "net.axon", weights=folder / "odd")


def test_many_wrong_weights_are_not_all_shown(folder: Path) -> None:
    text = "".join(f"op w{i} : () -> f32 [2];\n" for i in range(50))
    with pytest.raises(axon.ArgumentError, match="45 more are wrong") as problem:
        axon.compile(text + "f = fn (x) { x };", weights=folder / "net.safetensors")
    assert len(problem.value.diagnostics) == 5


def test_what_a_declaration_leaves_open_is_no_mistake(folder: Path) -> None:
    """And operators with arguments, or of tuples, are none of the file's business."""
    save(folder / "w", {"a": W, "b": W, "c": W, "d": W, "e": C})
    text = """
op a : () -> f32 [n,2];
op b : () -> t [3,2];
op c : () -> f32 s;
op d : () -> f32 s@[2];
op e : f32 [n] -> f32 [n];
op f : () -> (f32 [1], f32 [2]);
all = fn (x : f32 [3,2]) { x + a() + b() + c() + d() };
"""
    net = axon.compile(text, weights=folder / "w")
    np.testing.assert_allclose(net.all(W), 5 * W)
    for wrong in ("f32 [n,3]", "f32 [n,m,2]", "f32 s@[3]", "f32 [a]"):
        with pytest.raises(axon.ArgumentError, match="does not fit"):
            axon.compile(f"op a : () -> {wrong};", weights=folder / "w")


def test_weights_of_an_imported_file(folder: Path) -> None:
    (folder / "top.axon").write_text('import "net.axon" as net;\ntop = fn (x) { net.layer(x) };\n')
    net = axon.load(folder / "top.axon", weights=folder / "net.safetensors")
    x = np.ones((1, 3), np.float32)
    np.testing.assert_allclose(net.top(x), np.maximum(x @ W + C, 0))
    save(folder / "none.safetensors", {})
    with pytest.raises(axon.ArgumentError, match=r"net\.axon:1:4"):
        axon.load(folder / "top.axon", weights=folder / "none.safetensors")


def test_from_the_command_line(folder: Path) -> None:
    command = ["run", "net.axon", "layer", "x=ones[1,3]", "--weights"]
    outcome = shell([*command, "net.safetensors"], folder)
    assert (outcome.status, outcome.stdout) == (0, "f32 [1,2]\n[[7. 0.]]\n")
    (folder / "broken").write_bytes(b"broken file")
    for path in ("none", ".", "broken", "net.axon"):
        outcome = shell([*command, path], folder)
        assert outcome.status == 2
        assert outcome.stderr.startswith("axon: ")
