"""Parameters: which they are, their table, and the values that `init` makes."""

from __future__ import annotations

import json
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import axon
from axon.driver import graph
from axon.graph.graph import Graph
from axon.graph.uses import Kind, uses
from axon.ops import OPERATORS
from axon.run.parameters import unsettled
from axon.types.type import Fn
from axon.types.variables import ElemVar, ShapeVar
from tests.shell import axon as shell

NET = """\
type Linear(i, o) = { w : f32 [i,o], b : f32 [o] };
mlp = fn (p : { one : Linear(d, h), two : Linear(h, k) }, x : f32 [n,d]) {
  relu(x @ p.one.w + p.one.b) @ p.two.w + p.two.b
};
dense = fn (p, x : f32 [n,d]) { matmul(x, p.w) + p.b };
deep = fn (p, x : f32 [n,d]) {
  fold(layer_norm(x, p.g, p.shift), fn (x, l) { tanh(dense(l, x)) }, p.layers)
};
text = fn (p, i : i64 [n]) { x = gather(p.words, i) + p.place; x @ transpose(p.words) };
image = fn (p, x : f32 [n,c,h,w]) { conv(x, p.f, p.b, pad=1) * p.s };
both = fn (p : { a : f32 [d] }, q : { b : f32 [d,2*h] }) { sum(p.a) + sum(q.b) };
plain = fn (x : f32 [n,d], w : f32 [d,k]) { x @ w };
poly = fn (p : { w : t [d,d], n : i32 [d] }, x : t [d,d]) { x @ p.w };
sized = fn (p : { heads : dim h, w : f32 [d] }) { reshape(p.w, [h, d / h]) };
acts = fn (p : { f : f32 -> f32, w : f32 [d] }) { map(p.f, p.w) };
ragged = fn (p : { rows : f32 [n,*] }) { p.rows };
free = fn (p) { p.anything };
either = fn (p, x) { p.w + x };
number = 3;
"""


@pytest.fixture(scope="module")
def net() -> axon.Program:
    return axon.compile(NET)


def shapes(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: shapes(part) for name, part in value.items()}
    return tuple(map(shapes, value)) if isinstance(value, tuple) else value.shape


# --- values ----------------------------------------------------------------------------------


def is_normal(array: Any, deviation: float) -> None:
    """The moments of so many numbers, within five standard errors."""
    n = array.size
    assert abs(float(array.mean())) < 5 * deviation / sqrt(n)
    assert abs(float(array.std()) / deviation - 1) < 5 / sqrt(2 * n)


def test_matrices_have_the_variance_of_their_fan_in(net: axon.Program) -> None:
    p = net.mlp.init(0, d=300, h=200, k=10)
    linear = {"b": (200,), "w": (300, 200)}
    assert shapes(p) == {"one": linear, "two": {"b": (10,), "w": (200, 10)}}
    is_normal(p["one"]["w"], 1 / sqrt(300))
    is_normal(p["two"]["w"], 1 / sqrt(200))
    assert not p["one"]["b"].any() and not p["two"]["b"].any()
    assert all(v.dtype == np.float32 for part in p.values() for v in part.values())


def test_a_network_takes_what_init_makes(net: axon.Program) -> None:
    x = np.ones((2, 5), np.float32)
    p = net.mlp.init(1, d=5, h=7, k=3)
    found = [net.on(backend).mlp(p, x) for backend in ("numpy", "jax")]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)


def test_layers_that_are_stacked_count_as_layers(net: axon.Program) -> None:
    sizes = {"d": 64, "a": 20, "b": (64,), "c": 64}
    p = net.deep.init(0, **sizes)
    assert shapes(p["layers"]) == {"b": (20, 64), "w": (20, 64, 64)}
    is_normal(p["layers"]["w"], 1 / 8)
    assert not p["layers"]["b"].any()
    assert (p["g"] == 1).all() and not p["shift"].any()
    y = net.deep(p, np.ones((2, 64), np.float32))
    assert y.shape == (2, 64)


def test_tables_filters_and_scales(net: axon.Program) -> None:
    like: Any = {"words": np.ones((500, 40), "f4"), "place": np.ones((6, 40), "f4")}
    p = net.text.init(0, like={"p": like, "i": "i64 [6]"})
    is_normal(p["words"], 0.02)
    is_normal(p["place"], 0.02)
    like = {
        "f": np.ones((32, 16, 3, 3), "f4"),
        "b": np.ones(32, "f4"),
        "s": np.ones((32, 1, 1), "f4"),
    }
    p = net.image.init(0, like={"p": like, "x": "f32 [n,16,h,w]"})
    is_normal(p["f"], 1 / sqrt(16 * 9))
    assert not p["b"].any() and (p["s"] == 1).all()


def test_names_tell_what_uses_do_not() -> None:
    """The rank of `x` is open, so that there is no graph."""
    net = axon.compile(
        "f = fn (p : { emb : f32 [a,b], w : f32 [a,b], gamma : f32 [b], bias : f32 [b,b],"
        " filters : f32 [a,b,3,3], other : f32 [b] }, x) { x, x + 1 };"
    )
    p = net.f.init(0, a=100, b=50)
    is_normal(p["emb"], 0.02)
    is_normal(p["w"], 1 / 10)
    is_normal(p["filters"], 1 / sqrt(450))
    assert (p["gamma"] == 1).all()
    assert not p["bias"].any() and not p["other"].any()


def test_element_types(net: axon.Program) -> None:
    p = net.poly.init(0, d=40)
    assert p["w"].dtype == np.float32 and p["n"].dtype == np.int32 and not p["n"].any()
    for elem, name in (("f16", "float16"), ("bf16", "bfloat16"), ("f64", "float64")):
        made = net.poly.init(0, d=40, t=elem)["w"]
        assert made.dtype.name == name
        is_normal(made.astype(np.float64), 1 / sqrt(40))
    assert net.poly.init(0, like={"x": np.ones((3, 3))})["w"].dtype == np.float64


def test_sizes_among_parameters(net: axon.Program) -> None:
    p = net.sized.init(0, h=2, d=6)
    assert p["heads"] == 2 and net.sized(p).shape == (2, 3)


# --- the seed --------------------------------------------------------------------------------


def test_the_numbers_depend_on_seed_name_and_shape_alone(net: axon.Program) -> None:
    other = axon.compile("g = fn (p : { one : { w : f32 [d,h] } }, x : f32 [n,d]) { x @ p.one.w };")
    p = net.mlp.init(7, d=5, h=6, k=2)
    again = net.on("jax").mlp.init(7, d=5, h=6, k=2)
    np.testing.assert_array_equal(p["one"]["w"], again["one"]["w"])
    np.testing.assert_array_equal(p["one"]["w"], other.g.init(7, d=5, h=6)["one"]["w"])
    assert (p["one"]["w"] != net.mlp.init(8, d=5, h=6, k=2)["one"]["w"]).all()
    square = net.mlp.init(7, d=5, h=5, k=5)
    assert (square["one"]["w"] != square["two"]["w"]).any()


def test_the_numbers_stay_what_they_are(net: axon.Program) -> None:
    """Weights of a seed are a promise."""
    found = net.mlp.init(0, d=2, h=2, k=1)["one"]["w"]
    np.testing.assert_allclose(found, FIRST, rtol=1e-5)


FIRST = [[0.8603424, -0.7154112], [-0.5473706, 1.1314238]]


# --- rules -----------------------------------------------------------------------------------


def test_rules_by_name(net: axon.Program) -> None:
    seen: list[Any] = []

    def rule(key: Any, shape: tuple[int, ...], dtype: Any) -> Any:
        seen.append((tuple(key), shape, dtype))
        return np.full(shape, 2, dtype)

    p = net.mlp.init(0, d=3, h=4, k=2, rules={"two.w": rule, "*.w": 0.5, "one.?": -1})
    assert (p["two"]["w"] == 2).all() and (p["one"]["w"] == 0.5).all()
    assert (p["one"]["b"] == -1).all() and not p["two"]["b"].any()
    ((key, shape, dtype),) = seen
    assert len(key) == 2 and shape == (4, 2) and dtype == np.float32


def test_initializers_of_jax_are_rules(net: axon.Program) -> None:
    import jax

    p = net.mlp.init(0, d=300, h=200, k=2, rules={"one.w": jax.nn.initializers.he_normal()})
    assert abs(float(p["one"]["w"].std()) / sqrt(2 / 300) - 1) < 0.05


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ({"*.v": 1}, "the rule `*.v` is for no parameter: there are `one.b`, `one.w`, `two.b`"),
        ({"*.w": "zeros"}, "is a str, and not a number or a function"),
        ({"*.w": lambda key, shape, dtype: np.ones(2, dtype)}, "makes float32 [2], and float32 [3"),
        ({"*.w": lambda key, shape, dtype: np.ones(shape)}, "makes float64 [3, 4], and float32"),
    ],
)
def test_rules_that_cannot_be(net: axon.Program, rules: Any, told: str) -> None:
    assert told in refused(net.mlp, d=3, h=4, k=2, rules=rules)
    assert "does not fit into `n`" in refused(net.poly, d=2, rules={"n": 1 << 40})


# --- what is open ----------------------------------------------------------------------------


def refused(function: Any, **options: Any) -> str:
    with pytest.raises(axon.ArgumentError) as caught:
        function.init(0, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("mlp", {}, "the sizes h, d, k are open in `one.b : f32 [h]`, `one.w : f32 [d,h]`, "),
        ("mlp", {}, 'init(seed, h=…, d=…, k=…), or the type of an argument: like={"x": "f32 […]"}'),
        ("mlp", {"d": 2, "h": 3}, "the size k is open in `two.b : f32 [k]`, `two.w : f32 [3,k]`; "),
        ("mlp", {"z": 2}, "mlp has no size `z`: its sizes are h, d, k, n"),
        ("mlp", {"d": 2.5}, "`d` is a size, and a float is given"),
        ("mlp", {"d": -1}, "`d` is a size, and cannot be -1"),
        ("mlp", {"d": 10**30}, "`d` is a size, and cannot be about 10**30"),
        ("either", {"s": (2,), "a": (2,)}, "either has no size `a`: its sizes are s, t"),
        ("either", {}, "the size s is open in `w : f32 s`; give it by name: init(seed, s=(…))"),
        ("dense", {"a": 3}, "`a` is a shape: give a tuple of sizes"),
        ("dense", {"d": 2, "b": 3, "a": (4,)}, "error[AX110]: +: sizes 3 and 4 do not broadcast"),
        ("poly", {"d": 2, "t": "i33"}, "`t` is an element type"),
        ("poly", {"d": 2, "t": 3}, "`t` is an element type"),
        ("plain", {}, "plain takes no record: say which of its arguments (x, w) are parameters"),
        ("plain", {"params": "v"}, "plain has no argument `v`: its arguments are x, w"),
        ("acts", {"d": 2}, "`f : f32 -> f32` is no tensor"),
        ("ragged", {}, "the sizes of `rows : f32 [n,*]` are known only to the run"),
        ("free", {}, "is no tensor; values cannot be made for it"),
        ("mlp", {"like": {"x": "f32 [2"}}, "`f32 [2` is not a type"),
        ("mlp", {"like": {"x": None}}, "`x` must be a type, such as"),
        ("mlp", {"like": {"y": "f32"}}, "has no argument `y`"),
        ("mlp", {"like": {"x": "f32 [2]"}}, "mlp cannot be called with"),
        ("both", {"d": 1 << 45, "h": 1 << 9}, "the most that there can be"),
    ],
)
def test_what_init_needs(net: axon.Program, name: str, options: Any, told: str) -> None:
    assert told in refused(net.function(name), **options)


def test_seeds(net: axon.Program) -> None:
    with pytest.raises(axon.ArgumentError, match="a seed is an integer"):
        net.mlp.init(1.5, d=1, h=1, k=1)
    assert net.mlp.init(-1, d=1, h=1, k=1)


def test_sizes_follow_from_arguments(net: axon.Program) -> None:
    x = np.ones((8, 5), np.float32)
    assert shapes(net.mlp.init(0, h=3, k=2, like={"x": x}))["one"]["w"] == (5, 3)
    assert shapes(net.mlp.init(0, sizes={"h": 3}, k=2, like={"x": "f32 [n,4]"}))["one"]["w"] == (
        4,
        3,
    )


def test_ranks_that_are_open_are_read_plainly(net: axon.Program) -> None:
    assert shapes(net.dense.init(0, d=2, b=3)) == {"b": (3,), "w": (2, 3)}
    assert shapes(net.dense.init(0, d=2, b=3, a=(1,))) == {"b": (1,), "w": (2, 3)}
    assert shapes(net.either.init(0, s=(2, 3))) == {"w": (2, 3)}
    assert shapes(net.either.init(0, a=(2, 3), c=(3,))) == {"w": (2, 3)}
    types = [(p.name, p.type) for p in net.dense.parameters()]
    assert types == [("b", "f32 [b]"), ("w", "f32 [d,b]")]


def test_where_the_reading_does_not_fit_the_type_decides() -> None:
    net = axon.compile("f = fn (p, x) { x @ p.w + p.b }")
    assert net.f.plain == "({ b : t [d], w : t [c,d] }, t [g,c]) -> t [g,d]"
    batch = {"x": np.ones((5, 4, 3), np.float32), "p": {"w": (7, 3, 2), "b": (2,)}}
    with pytest.raises(axon.ArgumentError):
        net.f.init(0, like=batch)
    batch["p"] = {"w": (5, 3, 2), "b": (2,)}
    assert shapes(net.f.init(0, like=batch)) == {"w": (5, 3, 2), "b": (2,)}


def test_several_parameters_are_a_tuple(net: axon.Program) -> None:
    assert shapes(net.both.init(0, d=3, h=2)) == ({"a": (3,)}, {"b": (3, 4)})
    assert shapes(net.both.init(0, d=3, h=2, params="q")) == {"b": (3, 4)}
    assert shapes(net.plain.init(0, d=3, k=2, params="w")) == (3, 2)
    assert shapes(net.plain.init(0, n=1, d=3, k=2, params=("w", "x"))) == ((3, 2), (1, 3))


GOLDEN = Path(__file__).parents[1] / "golden"
FOLDERS = ("records", "structures", "plain", "indexing", "attention", "norms", "recurrent")


@pytest.mark.parametrize("folder", FOLDERS)
def test_functions_take_what_init_makes(folder: str) -> None:
    """All arguments of all functions, with all sizes four; what a function refuses is an error of
    ours only if it is no `AxonError`.
    """
    calls = 0
    for path in sorted((GOLDEN / folder).glob("*.axon")):
        if not path.with_suffix(".types").exists():
            continue
        net = axon.load(path)
        for function in filter(None, map(net.function, net)):
            open_ = unsettled(function.definition, function._reading).variables
            sizes = {
                name: (4,) if isinstance(var, ShapeVar) else 4
                for name, var in open_.items()
                if not isinstance(var, ElemVar)
            }
            try:
                made = function.init(0, params=function.params, sizes=sizes)
                function(*(made if len(function.params) > 1 else (made,)))
                calls += 1
            except axon.AxonError:
                assert function.parameters() is not None
    assert calls >= 5


# --- the table -------------------------------------------------------------------------------


def test_a_table(net: axon.Program) -> None:
    assert repr(net.mlp.parameters(d=784, h=128, k=10)) == (
        "parameter  type             count    bytes\n"
        "one.b      f32 [128]          128      512\n"
        "one.w      f32 [784,128]  100,352  401,408\n"
        "two.b      f32 [10]            10       40\n"
        "two.w      f32 [128,10]     1,280    5,120\n"
        "total                     101,770  407,080"
    )
    rows = list(net.mlp.parameters(d=784, h=128, k=10))
    assert [row.name for row in rows] == ["one.b", "one.w", "two.b", "two.w"]
    assert (rows[1].type, rows[1].count, rows[1].bytes) == ("f32 [784,128]", 100352, 401408)


def test_open_sizes_are_formulas(net: axon.Program) -> None:
    found = net.both.parameters()
    assert [(p.name, p.type, p.count, p.bytes) for p in found] == [
        ("p.a", "f32 [d]", "d", "4*d"),
        ("q.b", "f32 [d,2*h]", "2*d*h", "8*d*h"),
    ]
    assert (found.count, found.bytes) == ("2*d*h+d", "8*d*h+4*d")
    poly = net.poly.parameters(d=3)
    assert [(p.type, p.count, p.bytes) for p in poly] == [("i32 [3]", 3, 12), ("t [3,3]", 9, None)]
    assert (poly.count, poly.bytes) == (12, None)
    assert len(net.plain.parameters()) == 0
    assert [p.name for p in net.plain.parameters(params="w")] == ["w"]
    assert [(p.name, p.count) for p in net.sized.parameters(d=4)] == [("heads", 0), ("w", 4)]


def test_the_table_counts_what_init_makes(net: axon.Program) -> None:
    given: dict[str, dict[str, Any]] = {
        "mlp": {"d": 3, "h": 5, "k": 2},
        "deep": {"d": 3, "a": 2, "b": (3,), "c": 3},
    }
    for name, sizes in given.items():
        function: Any = net.function(name)
        made = dict(axon.run.dotted.flattened(function.init(0, **sizes)))
        table = function.parameters(**sizes)
        assert {p.name: p.bytes for p in table} == {n: a.nbytes for n, a in made.items()}
        assert table.count == sum(a.size for a in made.values())


def test_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "net.axon").write_text(NET)
    done = shell(["infer", "net.axon", "--params"], tmp_path)
    assert done.status == 0
    assert "\n  p.a        f32 [d]            d        4*d\n" in done.stdout
    lines = done.stdout.splitlines()
    assert lines[-1] == "number : i64"
    found = json.loads(shell(["infer", "net.axon", "--params", "--json"], tmp_path).stdout)
    by_name = {d["name"]: d["parameters"] for d in found["definitions"]}
    assert by_name["both"] == {
        "tensors": [
            {"name": "p.a", "type": "f32 [d]", "count": "d", "bytes": "4*d"},
            {"name": "q.b", "type": "f32 [d,2*h]", "count": "2*d*h", "bytes": "8*d*h"},
        ],
        "count": "2*d*h+d",
        "bytes": "8*d*h+4*d",
    }
    assert by_name["plain"]["tensors"] == []
    found = json.loads(shell(["infer", "net.axon", "--json"], tmp_path).stdout)
    assert "parameters" not in found["definitions"][0]
    done = shell(["infer", "model.onnx", "--params"], tmp_path)
    assert done.status == 2 and "--params is for programs" in done.stderr


# --- uses ------------------------------------------------------------------------------------

USES = """\
turned = fn (p : f32 [k,d], x : f32 [n,d]) { x @ transpose(p * 2) };
summed = fn (p : f32 [k,d], x : f32 [n,d]) { einsum(x, p, equation="nd,kd->nk") };
groups = fn (p : f32 [8,2,3,3], x : f32 [n,4,h,w]) { conv(x, p, groups=2) };
back = fn (p : f32 [c,k,3,3], x : f32 [n,c,h,w]) { conv_transpose(x, p) };
recurrent = fn (p : f32 [1,4*h,h], w : f32 [1,4*h,i], x : f32 [s,b,i]) { lstm(x, w, p) };
halves = fn (p : f32 [d,2*k], x : f32 [n,d]) { a, b = split(p, parts=2, axis=1); x @ a + x @ b };
shaped = fn (p : f32 [d,6], x : f32 [n,d]) { reshape(x @ reshape(p, [d, 6]), [n, 2, 3]) };
mapped = fn (p : f32 [l,d,k], x : f32 [n,d]) { map(fn (w) { x @ w }, p) };
twice = fn (p : f32 [l,m,d,d], x : f32 [n,d]) {
  fold(x, fn (x, ws) { fold(x, fn (x, w) { x @ w }, ws) }, p)
};
chosen = fn (p : f32 [v,d], i : i64 [n]) { gather(p, i) };
tied = fn (p : f32 [v,d], i : i64 [n]) { gather(p, i) @ transpose(p) };
scaled = fn (p : f32 [d], x : f32 [n,d]) { rms_norm(x, p) };
divided = fn (p : f32 [d], x : f32 [n,d]) { x / p };
added = fn (p : f32 [d], x : f32 [n,d]) { x + p };
statistics = fn (p : f32 [c], x : f32 [n,c,h,w]) { batch_norm(x, p, p, p, p) };
inner = fn (w, x) { x @ w };
called = fn (p : { a : f32 [d,d] }, x : f32 [n,d]) { inner(p.a, inner(p.a, x)) };
"""


@pytest.mark.parametrize(
    ("name", "kind", "axes", "summed"),
    [
        ("turned", Kind.FACTOR, (1, 0), (1,)),
        ("summed", Kind.FACTOR, (0, 1), (1,)),
        ("groups", Kind.FACTOR, (0, 1, 2, 3), (1, 2, 3)),
        ("back", Kind.FACTOR, (0, 1, 2, 3), (0, 2, 3)),
        ("recurrent", Kind.FACTOR, (0, 1, 2), (2,)),
        ("halves", Kind.FACTOR, (0, None), (0,)),
        ("shaped", Kind.FACTOR, (None, None), (None,)),
        ("mapped", Kind.FACTOR, (1, 2), (1,)),
        ("twice", Kind.FACTOR, (2, 3), (2,)),
        ("chosen", Kind.TABLE, (0, 1), ()),
        ("tied", Kind.TABLE, (0, 1), ()),
        ("scaled", Kind.SCALE, (0,), ()),
        ("divided", Kind.SCALE, (0,), ()),
        ("added", Kind.OTHER, (0,), ()),
        ("statistics", Kind.SCALE, (0,), ()),
        ("called", Kind.FACTOR, (0, 1), (0,)),
    ],
)
def test_uses(name: str, kind: Kind, axes: Any, summed: Any) -> None:
    net = axon.compile(USES)
    function = net.function(name)
    assert function is not None
    type_ = function.definition.scheme.type
    assert isinstance(type_, Fn)
    made = graph(net._module, name, type_.params)
    assert isinstance(made, Graph)
    found = next(us for path, us in uses(made).items() if path[0] == "p")
    first = min(found, key=lambda use: use.kind.value)
    assert (first.kind, first.axes, first.summed) == (kind, axes, summed)


def test_following_takes_no_exponential_time() -> None:
    """Each function calls the one before it twice."""
    lines = ["f0 = fn (p, x : f32 [d,d]) { x @ p };"]
    lines += [f"f{i} = fn (p, x) {{ f{i - 1}(p, f{i - 1}(p, x)) }};" for i in range(1, 40)]
    net = axon.compile("\n".join([*lines, "f = fn (p : { w : f32 [d,d] }, x) { f39(p.w, x) };"]))
    assert shapes(net.f.init(0, d=3)) == {"w": (3, 3)}


def test_scales_are_operands_that_there_are() -> None:
    """A scale is multiplied with: ones in its place change nothing."""
    stated = {name: op.traits.scales for name, op in OPERATORS.items() if op.traits.scales}
    assert set(stated) == {
        "*",
        "/",
        "batch_norm",
        "group_norm",
        "instance_norm",
        "layer_norm",
        "rms_norm",
    }
    net = axon.compile(
        "a = fn (x : f32 [n,c,h], s : f32 [h]) { layer_norm(x, s), layer_norm(x) };"
        "b = fn (x : f32 [n,c,h], s : f32 [h]) { rms_norm(x, s), rms_norm(x) };"
        "c = fn (x : f32 [n,c,h], s : f32 [c]) { instance_norm(x, s), instance_norm(x) };"
        "d = fn (x : f32 [n,c,h], s) { group_norm(x, s, groups=2), group_norm(x, groups=2) };"
        "e = fn (x : f32 [n,c,h], s : f32 [c]) { batch_norm(x, s, s - 1, s - 1, s), x };"
        "f = fn (x : f32 [n,c,h], s : f32 [h]) { x * s / s, x };"
    )
    x = np.random.default_rng(0).normal(size=(2, 4, 6)).astype(np.float32)
    for name in net:
        size = 4 if name in "cde" else 6
        scaled, whole = net[name](x, np.ones(size, np.float32))
        np.testing.assert_allclose(scaled, whole, rtol=1e-4, atol=1e-5)
