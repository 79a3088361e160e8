"""Programs and functions among Python's own tools: pickle, inspect, help, and arrays in place."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
from pathlib import Path
from typing import Any

import numpy
import pytest

import axon
from axon import save

TEXT = """# A dense layer.
#
# Its weights are given.
dense = fn (x : f32 [b,n], w : f32 [n,m]) { x @ w };

first = fn (pair, x') { a, _ = pair; a + x' };
op scaled : t s -> t s;
uses = fn (x) { scaled(x) };
"""

VIEWS = """same = fn (x) { x };
turned = fn (x) { transpose(x) };
flat = fn (x : f32 [2,3]) { reshape(x, [6]) };
back = fn (x) { reverse(x) };
more = fn (x) { x, (x + 1, transpose(x)) };
wider = fn (x) { expand_dims(x, axis=0) };
inside = fn (p) { a, b = p; a, b };
record = fn (p) { { p | b = transpose(p.b) } };
"""


def twice(x: Any) -> Any:
    return 2 * x


@pytest.fixture(scope="module")
def net() -> axon.Program:
    return axon.compile(TEXT, ops={"scaled": twice})


def leaves(value: Any) -> list[Any]:
    if isinstance(value, tuple):
        return [leaf for item in value for leaf in leaves(item)]
    return [value.values] if isinstance(value, axon.Ragged) else [value]


def helped(thing: object) -> str:
    """What `help` prints, without the characters that make it bold."""
    return pydoc.plain(pydoc.render_doc(thing))


@pytest.mark.parametrize("name", ["same", "turned", "flat", "back", "more", "wider"])
def test_results_do_not_share_memory_with_arguments(name: str) -> None:
    function = axon.compile(VIEWS)[name]
    for _ in range(2):  # the second call is ready
        x = numpy.arange(6, dtype="float32").reshape(2, 3)
        before = x.copy()
        for part in leaves(function(x)):
            assert not numpy.may_share_memory(part, x)
            part[...] = 7
        assert numpy.array_equal(x, before)


def test_nor_with_parts_of_arguments() -> None:
    x, rows = numpy.ones(3, "float32"), axon.Ragged.from_rows([numpy.ones(1), numpy.ones(2)])
    for part in axon.compile(VIEWS).inside((x, x[1:])):
        assert not numpy.may_share_memory(part, x)
    found = axon.compile(VIEWS).record({"a": x, "b": x[None]})
    assert not any(numpy.may_share_memory(part, x) for part in found.values())
    (values,) = leaves(axon.compile("f = fn (x : f64 [n,*]) { x };").f(rows))
    assert not numpy.may_share_memory(values, rows.values)


def test_nor_with_constants() -> None:
    net = axon.compile(
        "c = ones([2]); f = fn (_x) { ones([2]) }; g = fn (_x) { transpose(ones([2,2])) };"
        "h = fn (_x) { 1f };"
    )
    for name, arguments in (("c", ()), ("f", (1,)), ("g", (1,)), ("h", (1,))):
        function = net.function(name)
        assert function is not None
        function(*arguments)[...] = 7
        assert numpy.all(function(*arguments) == 1)


def test_programs_and_functions_pickle(net: axon.Program) -> None:
    x = numpy.eye(2, dtype="float32")
    for again in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
        assert repr(again) == repr(net)
        assert numpy.array_equal(again.uses(x), 2 * x)
    function = pickle.loads(pickle.dumps(net.dense))
    assert repr(function) == repr(net.dense)
    assert numpy.array_equal(function(x, x), x)


def test_imports_and_weights_pickle_with_a_program(tmp_path: Path) -> None:
    (tmp_path / "a.axon").write_text('import "b.axon" as b;\nf = fn (x) { b.f(x) };\n')
    (tmp_path / "b.axon").write_text("op w : () -> f32 [2];\nf = fn (x : f32 [2]) { x + w() };\n")
    save(tmp_path / "w.safetensors", {"w": numpy.ones(2, "float32")})
    data = pickle.dumps(axon.load(tmp_path / "a.axon", weights=tmp_path / "w.safetensors"))
    for path in tmp_path.iterdir():
        path.unlink()
    again = pickle.loads(data)
    assert again.f([1.0, 2.0]).tolist() == [2.0, 3.0]
    assert pickle.loads(pickle.dumps(again)).f([1.0, 2.0]).tolist() == [2.0, 3.0]


def test_errors_pickle(net: axon.Program) -> None:
    with pytest.raises(axon.ArgumentError) as caught:
        net.dense(numpy.ones((2, 3), "float32"), numpy.ones((2, 3), "float32"))
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert [d.code for d in again.diagnostics] == [d.code for d in caught.value.diagnostics]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"x": "f32 [8,64]"}, "(f32 [8,64], f32 [64,m]) -> f32 [8,m]"),
        ({"x": numpy.zeros((8, 64), "float32")}, "(f32 [8,64], f32 [64,m]) -> f32 [8,m]"),
        ({"x": (8, 64)}, "(f32 [8,64], f32 [64,m]) -> f32 [8,m]"),
        ({"x": (8, "k")}, "(f32 [8,k], f32 [k,m]) -> f32 [8,m]"),
        (
            {"x": (8, 64), "w": numpy.zeros((64, 2), "float32")},
            "(f32 [8,64], f32 [64,2]) -> f32 [8,2]",
        ),
    ],
)
def test_specialize_takes_types_sizes_and_arrays(
    net: axon.Program, given: dict[str, Any], expected: str
) -> None:
    assert net.dense.specialize(**given).signature == expected


def test_specialize_takes_arguments_by_place(net: axon.Program) -> None:
    by_name = net.dense.specialize(x="f32 [8,3]", w=(3, 5)).signature
    assert net.dense.specialize("f32 [8,3]", (3, 5)).signature == by_name
    assert net.dense.specialize("f32 [8,3]", w=(3, 5)).signature == by_name
    with pytest.raises(axon.ArgumentError, match="`x` is given twice"):
        net.dense.specialize((8, 3), x=(8, 3))
    with pytest.raises(axon.ArgumentError, match="takes 2 arguments, 3 are given"):
        net.dense.specialize((8, 3), (3, 5), (5,))


def test_specialize_takes_tuples(net: axon.Program) -> None:
    found = net.first.specialize(pair=(numpy.zeros(3, "float32"), "i64 [n]"), **{"x'": "f32"})
    assert found.signature == "((f32 [3], i64 [n]), f32) -> f32 [3]"
    record = axon.compile("f = fn (p, x : f32 [b,n]) { x @ p.w };").f
    expected = "({ w : f32 [4,5] }, f32 [b,4]) -> f32 [b,5]"
    for given in ({"w": "f32 [4,5]"}, {"w": numpy.zeros((4, 5), "float32")}):
        assert record.specialize(p=given).signature == expected
    shaped = axon.compile("f = fn (k : shape s, n : dim m) { zeros(k), zeros([n]) };")
    assert shaped.f.specialize(k=(3, 4), n=5).type == "(shape [3,4], dim 5) -> (f32 [3,4], f32 [5])"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"y": 1}, "has no argument `y`"),
        ({"x": object()}, "must be a type"),
        ({"x": "f32 ["}, "is not a type"),
        ({"x": (1, (2,))}, "is not a type"),
        ({"x": numpy.array(["a"])}, "no element type of Axon"),
        ({"x": (8, 64), "w": (3, 2)}, "cannot be called with x : f32 [8,64], w : f32 [3,2]"),
    ],
)
def test_specialize_refuses_others(net: axon.Program, given: dict[str, Any], says: str) -> None:
    with pytest.raises(axon.ArgumentError, match="dense") as caught:
        net.dense.specialize(**given)
    assert says in str(caught.value)


def test_names_of_parameters_are_shown(net: axon.Program) -> None:
    assert repr(net.dense) == "dense : (x : f32 [b,n], w : f32 [n,m]) -> f32 [b,m]"
    assert repr(net).splitlines()[0] == repr(net.dense)
    assert net.dense.signature == "(f32 [b,n], f32 [n,m]) -> f32 [b,m]"
    shown = str(inspect.signature(net.dense))
    assert shown == "(x: 'f32 [b,n]', w: 'f32 [n,m]') -> 'f32 [b,m]'"
    inspect.signature(net.dense).bind(1, w=2)


def test_defaults_are_shown() -> None:
    net = axon.compile(
        "norm = fn (x : f32 [n], eps = 1e-5, k = ones([2])) { x + eps, k }; g = norm;"
    )
    shown = "(x: 'f32 [n]', eps: 'f32 a' = 1e-5, k: 'b' = …) -> '(f32 c, b)'"
    assert str(inspect.signature(net.norm)) == shown
    assert [*inspect.signature(net.g).parameters] == ["x", "eps", "k"]
    inspect.signature(net.norm).bind([1.0])
    assert not net.warnings


def test_names_that_python_cannot_write(net: axon.Program) -> None:
    odd = axon.compile("f = fn (x', _, _, async) { x', async };").f
    assert [*inspect.signature(odd).parameters] == ["x_", "_", "__", "async_"]
    assert [*inspect.signature(axon.compile("g = relu;").g).parameters] == ["arg0"]


def test_help_has_the_comment_and_the_signature(net: axon.Program) -> None:
    shown = helped(net.dense)
    assert "dense : (x : f32 [b,n], w : f32 [n,m]) -> f32 [b,m]" in shown
    assert "A dense layer.\n    \n    Its weights are given." in shown
    assert "dense : (x : f32 [b,n]" in helped(net)
    assert "A definition that can be called" in (type(net.dense).__doc__ or "")
    assert "A checked program" in (axon.Program.__doc__ or "")


def test_dir_lists_what_there_is(net: axon.Program) -> None:
    assert {"dense", "first", "uses", "implement", "warnings"} <= set(dir(net))
    assert not [name for name in dir(net) if name.startswith("_") and not name.startswith("__")]
    assert set(axon.__all__) <= set(dir(axon))
    assert {name for name in dir(axon) if not name.startswith("__")} == set(axon.__all__)


def test_explain_is_what_the_command_prints(net: axon.Program) -> None:
    shown = net.dense.explain()
    assert shown.startswith("dense\n\nconstraints\n")
    assert shown.endswith("dense : (f32 [b,n], f32 [n,m]) -> f32 [b,m]")
    assert net.dense.explain(all=True) == shown


def test_a_model_is_no_program(tmp_path: Path) -> None:
    with pytest.raises(axon.ProgramError, match=r"net\.onnx is a model.*axon\.from_onnx"):
        axon.load(tmp_path / "net.onnx")
