"""Records of weights in files: dotted names, rows of stacked tensors, and what does not fit."""

from __future__ import annotations

import json
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import axon
from axon.run import dotted
from tests.budget import QUARTER
from tests.shell import axon as shell

NET = """\
block = fn (p, x : f32 [n,d]) { tanh(matmul(x, p.w) + p.b) };
net = fn (p, x : f32 [n,d]) { fold(layer_norm(x, p.g), fn (x, l) { block(l, x) }, p.layers) };
type Linear(i, o) = { w : f32 [i,o], b : f32 [o] };
mlp = fn (p : { one : Linear(d, h), two : Linear(h, k) }, x : f32 [n,d]) {
  relu(x @ p.one.w + p.one.b) @ p.two.w + p.two.b
};
pair = fn (p : (f32 [d], { w : f32 [d] })) { a, b = p; a + b.w };
both = fn (p : { w : f32 [d] }, q : { w : f32 [d] }) { p.w + q.w };
alone = fn (w : f32 [d], x : f32 [d]) { w * x };
grid = fn (p : { s : { w : f32 [a,b,d] } }) { p.s.w };
sized = fn (p : { heads : dim h, w : f32 [d] }) { reshape(p.w, [h, d / h]) };
anything = fn (p) { p };
"""


def numbers(*shape: int, start: float = 0) -> Any:
    return (np.arange(np.prod(shape), dtype=np.float32) + start).reshape(shape) / 7


def weights(layers: int = 3, d: int = 4) -> dict[str, Any]:
    stacked = {"w": numbers(layers, d, d), "b": numbers(layers, d)}
    return {"g": numbers(d, start=5), "layers": stacked}


def same(found: Any, wanted: Any) -> None:
    if isinstance(wanted, dict):
        assert isinstance(found, dict) and set(found) == set(wanted)
        for name, part in wanted.items():
            same(found[name], part)
    elif isinstance(wanted, tuple):
        assert isinstance(found, tuple) and len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
    else:
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


@pytest.fixture
def net() -> axon.Program:
    return axon.compile(NET)


# --- nested dicts ----------------------------------------------------------------------------


def test_nested_dicts_come_back(tmp_path: Path) -> None:
    made = {"a": {"b": {"c": numbers(2)}, "d": numbers(3, 1)}, "e": (numbers(1), {"f": numbers(2)})}
    axon.save(tmp_path / "w", made)
    same(axon.load_weights(tmp_path / "w"), made)
    same(axon.load_weights(tmp_path / "w", prefix="a.b"), {"c": numbers(2)})
    same(axon.load_weights(tmp_path / "w", prefix="e.0"), numbers(1))


trees = st.recursive(
    st.integers(0, 3),
    lambda inner: (
        st.dictionaries(st.sampled_from("abcé"), inner, min_size=1, max_size=3)
        | st.lists(inner, min_size=1, max_size=3).map(tuple)
    ),
    max_leaves=8,
)


@QUARTER
@given(st.dictionaries(st.sampled_from("xyz"), trees, max_size=3))
def test_structures_and_names_are_one_to_one(tree: dict[str, Any]) -> None:
    flat = dict(dotted.flattened(tree))
    assert dotted.nested(dotted.tree(flat), flat.__getitem__) == tree


def test_other_forms_of_records_are_saved(tmp_path: Path) -> None:
    Pair = namedtuple("Pair", ["w", "b"])
    axon.save(tmp_path / "w", {"p": Pair([1.0, 2.0], 3), "rows": [Pair(1, 2)]})
    found = axon.load_weights(tmp_path / "w")
    same(found["p"], {"w": np.array([1, 2], np.float32), "b": np.array(3)})
    assert set(found["rows"][0]) == {"w", "b"}


def test_arrays_of_jax_and_torch_are_saved(tmp_path: Path) -> None:
    import jax.numpy

    axon.save(tmp_path / "w", {"w": jax.numpy.ones((2, 3))})
    same(axon.load_weights(tmp_path / "w"), {"w": np.ones((2, 3), np.float32)})


def looped() -> dict[str, Any]:
    loop: dict[str, Any] = {}
    loop["again"] = loop
    return loop


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (numbers(3), "weights are a dict"),
        ({1: numbers(3)}, "have names"),
        ({"w": "text"}, "`w` cannot be saved: it is a str"),
        ({"p": {"w": None}}, "`p.w` cannot be saved: it is a NoneType"),
        ({"w": np.ones(2, complex)}, "no element type"),
        ({"w": axon.Ragged.from_rows([np.ones(1), np.ones(2)])}, "only tensors"),
        ({"a.b": numbers(1), "a": {"b": numbers(1)}}, "another tensor named `a.b`"),
        (looped(), "more than 100 parts"),
    ],
)
def test_what_cannot_be_saved(made: Any, told: str, tmp_path: Path) -> None:
    with pytest.raises(axon.ArgumentError, match=told):
        axon.save(tmp_path / "w", made)
    assert list(tmp_path.iterdir()) == []


def raw(header: dict[str, Any], data: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(begin: int, end: int, dtype: str = "F32") -> dict[str, Any]:
    return {"dtype": dtype, "shape": [(end - begin) // 4], "data_offsets": [begin, end]}


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ({"a": entry(0, 4), "a.b": entry(4, 8)}, "`a` is a tensor, and `a.b` is in it"),
        ({"a." * 200 + "b": entry(0, 8)}, "more than 100 parts"),
        ({"a": {**entry(0, 8), "dtype": "F4"}}, "F4 is no element type"),
        ({"a": entry(0, 4)}, "belongs to no tensor"),
    ],
)
def test_files_that_are_not_understood(header: Any, told: str, tmp_path: Path) -> None:
    (tmp_path / "w").write_bytes(raw(header, bytes(8)))
    with pytest.raises(axon.ProgramError, match=told):
        axon.load_weights(tmp_path / "w")


def test_a_prefix_that_is_not_there(tmp_path: Path) -> None:
    axon.save(tmp_path / "w", {"a": {"b": numbers(1)}})
    with pytest.raises(axon.ProgramError, match=r"begins with `c\.`: there are `a`"):
        axon.load_weights(tmp_path / "w", prefix="c")


# --- for the parameters of a function --------------------------------------------------------


def layered(made: dict[str, Any]) -> dict[str, Any]:
    """The same weights, the layers one by one."""
    stacked = made["layers"]
    rows = [{n: v[i] for n, v in stacked.items()} for i in range(len(stacked["w"]))]
    return {**made, "layers": tuple(rows)}


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_stacked_tensors_and_their_rows_are_the_same_weights(backend: str, tmp_path: Path) -> None:
    net = axon.compile(NET, backend=backend)
    made, x = weights(layers=11), numbers(2, 4)
    axon.save(tmp_path / "stacked", made)
    axon.save(tmp_path / "rows", layered(made))
    for name in ("stacked", "rows"):
        found = net.net.load_weights(tmp_path / name)
        same(found, made)
        np.testing.assert_allclose(net.net(found, x), net.net(made, x))


def test_rows_of_rows(net: axon.Program, tmp_path: Path) -> None:
    w = numbers(2, 3, 4)
    wanted = {"s": {"w": w}}
    for made in (
        {"s": tuple({"w": tuple(rows)} for rows in w)},
        {"s": tuple(tuple({"w": row} for row in rows) for rows in w)},
        {"s": {"w": tuple(tuple(rows) for rows in w)}},
        {"s": tuple({"w": rows} for rows in w)},
    ):
        axon.save(tmp_path / "w", made)
        same(net.grid.load_weights(tmp_path / "w"), wanted)


def test_tuples_and_several_records(net: axon.Program, tmp_path: Path) -> None:
    axon.save(tmp_path / "p", {"0": numbers(2), "1": {"w": numbers(2)}})
    same(net.pair.load_weights(tmp_path / "p", params="p"), (numbers(2), {"w": numbers(2)}))
    made = {"p": {"w": numbers(2)}, "q": {"w": numbers(2, start=1)}}
    axon.save(tmp_path / "two", made)
    same(net.both.load_weights(tmp_path / "two"), (made["p"], made["q"]))
    same(net.both.load_weights(tmp_path / "two", params="q", prefix="q"), made["q"])
    axon.save(tmp_path / "one", {"w": numbers(3)})
    same(net.alone.load_weights(tmp_path / "one", params="w"), numbers(3))
    same(net.anything.load_weights(tmp_path / "two", params="p"), made)


def test_a_size_among_weights(net: axon.Program, tmp_path: Path) -> None:
    axon.save(tmp_path / "w", {"heads": 2, "w": numbers(6)})
    found = net.sized.load_weights(tmp_path / "w")
    assert found["heads"] == 2 and net.sized(found).shape == (2, 3)
    axon.save(tmp_path / "w", {"heads": [2], "w": numbers(6)})
    assert "`heads` is dim h" in refused(net.sized, tmp_path / "w")


def refused(function: Any, path: Path, **options: Any) -> str:
    with pytest.raises(axon.ArgumentError) as caught:
        function.load_weights(path, **options)
    return str(caught.value)


def test_missing_and_unused_names_are_listed(net: axon.Program, tmp_path: Path) -> None:
    axon.save(tmp_path / "w", {"one": {"w": numbers(3, 4)}, "more": {"u": numbers(1)}})
    text = refused(net.mlp, tmp_path / "w")
    assert "error[AX405]: there is no `one.b`, `two.b`, `two.w` in " in text
    assert "`more.u` in " in text and "is not used" in text
    assert "mlp = fn (p : " in text  # the place
    many = {f"x{i}": numbers(1) for i in range(20)}
    axon.save(tmp_path / "w", {**weights(), **many})
    assert "and 12 more" in refused(net.net, tmp_path / "w")
    same(net.net.load_weights(tmp_path / "w", strict=False), weights())


def changed(path: str, value: Any) -> dict[str, Any]:
    made = layered(weights())
    at: Any = made
    *parts, last = path.split(".")
    for part in parts:
        at = at[int(part)] if part.isdigit() else at[part]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return made


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (changed("layers.1.w", None), "there is no `layers.1.w` in"),
        (changed("layers.1.w", numbers(4, 5)), "`layers.1.w` is f32 [4,5]: they are rows of one"),
        (changed("g", numbers(4, 4)), "`g` is f32 [4,4] in"),
        (changed("g", np.ones(4)), "`g` is f64 [4] in"),
        ({"g": numbers(4), "layers": {"0": {}, "2": weights()["layers"]}}, "`layers.w`"),
        (
            {"g": numbers(4), "layers": {"0": layered(weights())["layers"][0], "2": {"w": 1}}},
            "there is no `layers.1.b`, `layers.1.w` in",
        ),
    ],
)
def test_what_does_not_fit(net: axon.Program, made: Any, told: str, tmp_path: Path) -> None:
    axon.save(tmp_path / "w", made)
    assert told in refused(net.net, tmp_path / "w")


def test_tensors_that_do_not_fit_each_other(net: axon.Program, tmp_path: Path) -> None:
    one, two = {"w": numbers(3, 4), "b": numbers(4)}, {"w": numbers(5, 2), "b": numbers(2)}
    axon.save(tmp_path / "w", {"one": one, "two": two})
    text = refused(net.mlp, tmp_path / "w")
    assert "error[AX101]: mlp: the sizes differ, 4 and 5" in text


def test_rows_that_differ_in_number(net: axon.Program, tmp_path: Path) -> None:
    rows = numbers(5)
    axon.save(tmp_path / "w", {"s": ({"w": (rows, rows)}, {"w": (rows, rows, rows)})})
    assert "differ in number" in refused(net.grid, tmp_path / "w")


def test_rows_that_are_too_large_together(net: axon.Program, tmp_path: Path) -> None:
    huge = {"dtype": "F32", "shape": [0, 1 << 44], "data_offsets": [0, 0]}
    header = {f"s.{i}.w": huge for i in range(9)}
    (tmp_path / "w").write_bytes(raw(header))
    assert "the most that there can be" in refused(net.grid, tmp_path / "w")


def test_no_parameters(net: axon.Program, tmp_path: Path) -> None:
    axon.save(tmp_path / "w", {})
    assert "alone takes no record: say which" in refused(net.alone, tmp_path / "w")
    assert "has no argument `z`" in refused(net.alone, tmp_path / "w", params="z")
    assert "twice" in refused(net.alone, tmp_path / "w", params=("w", "w"))
    with pytest.raises(axon.ProgramError, match="there is no file"):
        net.net.load_weights(tmp_path / "none")


# --- the command line ------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "net.axon").write_text(NET)
    axon.save(tmp_path / "w.safetensors", layered(weights()))
    axon.save(tmp_path / "both.safetensors", {"p": {"w": numbers(2)}, "q": {"w": numbers(2)}})
    return tmp_path


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    done = shell(["run", "net.axon", *arguments], folder)
    return done.status, done.terminal


def test_a_file_is_an_argument(folder: Path) -> None:
    status, text = run(folder, "net", "p=w.safetensors", "x=rand[2,4]")
    assert status == 0 and text.startswith("f32 [2,4]\n")
    status, text = run(folder, "block", "p=w.safetensors:layers.1", "x=rand[2,4]")
    assert status == 0 and text.startswith("f32 [2,4]\n")
    status, text = run(folder, "alone", "w=w.safetensors:g", "x=rand[4]")
    assert status == 0 and text.startswith("f32 [4]\n")
    status, text = run(folder, "both", "p={w=both.safetensors:p.w}", "q=both.safetensors:q")
    assert status == 0 and text.startswith("f32 [2]\n")
    status, text = run(folder, "anything", "p=both.safetensors")
    assert status == 0 and "q.w =" in text


def test_files_that_are_no_arguments(folder: Path) -> None:
    status, text = run(folder, "net", "p=none.safetensors", "x=rand[2,4]")
    assert status == 2 and text == "axon: p: there is no file none.safetensors\n"
    status, text = run(folder, "net", "p=w.safetensors:layers.0", "x=rand[2,4]")
    assert status == 1 and "w.safetensors does not fit `p` of net" in text and "AX405" in text
    assert "net.axon:2:11" in text
    (folder / "bad.safetensors").write_bytes(b"no such file")
    status, text = run(folder, "net", "p=bad.safetensors", "x=rand[2,4]")
    assert status == 2 and "is not a safetensors file" in text


def test_results_are_saved_as_weights(folder: Path) -> None:
    status, _ = run(folder, "anything", "p=both.safetensors", "--save", "new.safetensors")
    assert status == 0
    same(
        axon.load_weights(folder / "new.safetensors"),
        axon.load_weights(folder / "both.safetensors"),
    )
    status, text = run(folder, "anything", "p=both.safetensors", "--save", "both.safetensors")
    assert status == 2 and "an input of this run" in text
    status, _ = run(folder, "alone", "w=[1,2]", "x=[3,4]", "--save", "x.safetensors")
    assert status == 0
    same(axon.load_weights(folder / "x.safetensors")["result"], np.array([3, 8], np.float32))
