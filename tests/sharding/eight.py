"""What holds on eight devices, which the processor plays: run as a process of its own, since JAX
counts devices when it is imported.

    python -m tests.sharding.eight

prints a line of JSON for each function here that is named `on_…`: its name, and what went wrong.
"""

from __future__ import annotations

import json
import pickle
import re
import traceback
from typing import Any

import numpy as np

import axon
from axon.backends.buckets import Buckets, Policy
from axon.run.errors import ArgumentError
from tests.sharding.operators import PROGRAMS

MESH = {"data": 4, "model": 2}
RULES = {"b": "data", "f": "model"}
CLOSE = 1e-5
"""Sums over what is cut are added in another order than on one device."""

PROGRAM = """
type Mlp(d, f) = { up : f32 [d,f], down : f32 [f,d] };

layer = fn (p : Mlp(d, f), x : f32 [n,d]) { relu(x @ p.up) @ p.down };
mlp = fn (p : Mlp(d, f), x : f32 [b,d]) { layer(p, x) + x };
loss = fn (p : Mlp(d, f), x : f32 [b,d], y : f32 [b,d]) { mean(square(mlp(p, x) - y)) };
rows = fn (p : Mlp(d, f), x : f32 [b,n,d]) { map(fn (row) { layer(p, row) }, x) };
deep = fn (p : { up : f32 [l,d,f], down : f32 [l,f,d] }, x : f32 [b,d]) {
  fold(x, fn (x, p) { tanh(layer(p, x)) }, p)
};
sums = fn (x : f32 [b,n,f]) { scan(fn (s, v) { s + v }, 0f, x) };
pair = fn (x : f32 [b,f], k : i64) { { top = x[:2], rest = (x * 2, sum(x, axis=0)) } };
square_ = fn (x : f32 [f,f]) { x + transpose(x) };
fused = fn (x : f32 [b,d], w : f32 [d,3*f]) { split(x @ w, parts=3, axis=-1) };
heads = fn (x : f32 [b,n,h*k], h : dim h) { reshape(x, [b,n,h,k]) * 2 };
convolved1 = fn (x : f32 [b,c,h,w], k : f32 [o,c,3,3]) { conv(x, k, pad="same") };
convolved4 = fn (x : f32 [b,c,h,w], k : f32 [o,c/4,3,3]) { conv(x, k, pad="same", groups=4) };
spectrum = fn (x : f32 [b,n,2]) { dft(x, axis=1) };
chosen = fn (x : f32 [f]) { select(x, x > 0) };
plain = fn (x : f32 [k]) { x + 1 };
block = fn (p : Mlp(d, f), x : f32 [n,d]) { y = tanh(layer(p, x)); y, mean(y) };
line = fn (p : Mlp(d, f), q : Mlp(d, f), x : f32 [b,d]) {
  x1, m1 = block(p, x); x2, m2 = block(q, x1); x3, m3 = block(p, x2); x3, m1 + m3
};
"""
NET = axon.compile(PROGRAM)
RANDOM = np.random.default_rng(0)


def normal(*shape: int) -> Any:
    return RANDOM.normal(size=shape).astype("float32")


WEIGHTS = {"up": normal(16, 32), "down": normal(32, 16)}
STACKED = {"up": normal(3, 16, 32) / 8, "down": normal(3, 32, 16) / 8}
X, Y = normal(8, 16), normal(8, 16)


def sharded(rules: Any = RULES, mesh: Any = MESH) -> axon.Program:
    return NET.on("jax", mesh=mesh, shard=rules)


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=CLOSE, atol=CLOSE)


def close_enough(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)


def spec(array: Any) -> tuple[Any, ...]:
    """The axes that cut each dimension of an array."""
    found = [*array.sharding.spec, *[None] * array.ndim]
    return tuple(found[: array.ndim])


def same(name: str, *args: Any, rules: Any = RULES) -> Any:
    """The result of a function on the mesh, which is that of one device."""
    import jax

    found = sharded(rules)[name](*args)
    jax.tree.map(close, found, NET[name](*args))
    return found


def message(call: Any) -> str:
    try:
        call()
    except (ArgumentError, ValueError) as problem:
        return str(problem)
    raise AssertionError("this should be refused")


# --- values, and where they lie ----------------------------------------------------------------


def on_a_call_with_records() -> None:
    assert spec(same("mlp", WEIGHTS, X)) == ("data", None)


def on_functions_that_are_called_with_other_names() -> None:
    """`n` of `layer` is `b` where `mlp` calls it; called itself, it has no `b`."""
    assert spec(same("layer", WEIGHTS, X)) == (None, None)


def on_map_fold_and_scan() -> None:
    assert spec(same("rows", WEIGHTS, normal(8, 4, 16))) == ("data", None, None)
    assert spec(same("deep", STACKED, X)) == ("data", None)
    same("sums", normal(8, 4, 6))


def on_layers_that_are_stacked() -> None:
    import jax

    other = {"up": normal(16, 32), "down": normal(32, 16)}
    want = NET.line(WEIGHTS, other, X)
    plain = NET.on("jax").line.jax
    gradient = jax.grad(lambda p: plain(p, other, X)[0].sum())(WEIGHTS)
    for buckets in (None, {"b": "pow2"}):
        net = NET.on("jax", mesh=MESH, shard=RULES, buckets=buckets, stack_layers=True)
        found = net.line(WEIGHTS, other, X)
        jax.tree.map(close, found, want)
        assert spec(found[0]) == ("data", None)
        slope = jax.grad(lambda p, f=net.line.jax: f(p, other, X)[0].sum())(WEIGHTS)
        jax.tree.map(close_enough, slope, gradient)
        assert [text.partition(": ")[2] for text in net.line.stacked_layers] == [
            "block: 3 calls in one loop"
        ]


def on_structures_and_sizes() -> None:
    found = same("pair", normal(8, 4), 3)
    assert spec(found["rest"][0]) == ("data", "model")
    assert spec(found["rest"][1]) == ("model",)


def on_an_axis_that_cuts_a_tensor_once() -> None:
    assert spec(same("square_", normal(4, 4))) == ("model", None)


def on_a_multiple_only_if_it_is_said() -> None:
    x, w = normal(8, 4), normal(4, 12)
    for rules, cut in (({"f": "model"}, None), ({"3*f": "model"}, "model")):
        _, placed = sharded(rules).fused.placed(x, w)
        assert spec(placed) == (None, cut), rules
        same("fused", x, w, rules=rules)


def on_parts_of_a_size() -> None:
    x = normal(8, 2, 16)
    assert spec(same("heads", x, 4, rules={"h": "model", "b": "data"}))[2] == "model"
    assert spec(same("heads", x, 4, rules={"k": "model"}))[3] == "model"


def on_two_axes_that_cut_one_size() -> None:
    assert spec(same("mlp", WEIGHTS, X, rules={"b": ("data", "model")})) == (
        ("data", "model"),
        None,
    )


def on_a_function_without_these_sizes() -> None:
    assert spec(same("plain", normal(5))) == (None,)


def on_gradients() -> None:
    import jax

    given = (WEIGHTS, X, Y)
    wanted = jax.grad(NET.on("jax").loss.jax)(*given)
    loss = sharded().loss
    for slopes in (jax.grad(loss.jax)(*given), jax.jit(jax.grad(loss.jax))(*loss.placed(*given))):
        assert spec(slopes["up"]) == (None, "model")
        assert spec(slopes["down"]) == ("model", None)
        for name, slope in slopes.items():
            close(slope, wanted[name])


def on_convolutions() -> None:
    """XLA's own division of these is wrong: along a window, beside features that are cut, and in
    derivatives by filters in groups.
    """
    import jax

    x = normal(4, 8, 4, 8)
    for groups in (1, 4):
        filters = normal(8, 8 // groups, 3, 3)
        name = f"convolved{groups}"

        def slopes(function: Any, *args: Any) -> Any:
            loss = lambda *args: jax.numpy.mean(function.jax(*args) ** 2)  # noqa: E731
            return jax.jit(jax.grad(loss, argnums=(0, 1)))(*args)

        wanted = slopes(NET.on("jax")[name], x, filters)
        for rules in (
            {"h": "data", "o": "model"},
            {"h": "model", "o": "data"},
            {"b": "data", "o": "model"},
            {"w": "data", "b": "model"},
        ):
            same(name, x, filters, rules=rules)
            there = sharded(rules)[name]
            jax.tree.map(close, slopes(there, *there.placed(x, filters)), wanted)


def on_fourier_transforms() -> None:
    """XLA ends the process where it divides one."""
    same("spectrum", normal(4, 8, 2), rules={"n": "data", "b": "model"})


def on_arguments_that_are_placed_before() -> None:
    mlp = sharded().mlp
    weights, x = mlp.placed(WEIGHTS, x=X)
    assert (spec(weights["up"]), spec(weights["down"])) == ((None, "model"), ("model", None))
    assert spec(x) == ("data", None)
    (again,) = mlp.placed(WEIGHTS, x)[1:]
    assert again is x, "nothing is moved twice"
    close(mlp(weights, x), NET.mlp(WEIGHTS, X))


def on_a_model_whose_sizes_are_numbers() -> None:
    """With a number of heads the graph is made for its sizes; the types say what they are."""
    net = axon.load("examples/models/gpt2.axon")
    like = {"tokens": (4, 6), "heads": 2}
    weights = net.gpt2.init(0, like=like, a=2, c=2, d=4, f=16, i=8, j=12)
    tokens = RANDOM.integers(0, 12, (4, 6))
    rules = {"b": "data", "f": "model", "j": "model", "3*c*d": "model"}
    there = net.on("jax", mesh=MESH, shard=rules).gpt2
    found = there(weights, tokens, heads=2)
    close(found, net.gpt2(weights, tokens, heads=2))
    assert spec(found) == ("data", None, "model")
    placed, words, _ = there.placed(weights, tokens, heads=2)
    close(there(placed, words, heads=2), found)
    placed = placed["transformer"]
    assert spec(placed["h"]["mlp"]["c_fc"]["weight"]) == (None, None, "model")
    assert spec(placed["h"]["attn"]["c_attn"]["bias"]) == (None, "model")
    assert spec(placed["wpe"]["weight"]) == (None, None)


def on_a_pickled_program() -> None:
    again = pickle.loads(pickle.dumps(sharded()))
    assert spec(again.mlp(WEIGHTS, X)) == ("data", None)


def on_a_size_that_comes_again() -> None:
    net = sharded()
    for x in (X, X + 1, normal(16, 16), X):
        net.mlp(WEIGHTS, x)
    assert net.mlp.compilations == 2


def on_operators() -> None:
    """Whatever is cut, the values are those of one device."""
    import jax

    for i, (params, body) in enumerate(PROGRAMS):
        net = axon.compile(f"f = fn ({params}) {{ {body} }};")
        args, letters = [], dict[str, None]()
        for elem, shape in re.findall(r"(f32|i64) \[([^]]*)\]", params):
            letters |= dict.fromkeys(re.findall("[a-z]", shape))
            sizes = [eval(size, {}, dict.fromkeys(letters, 8)) for size in shape.split(",")]
            args.append(normal(*sizes) if elem == "f32" else RANDOM.integers(0, 8, sizes))
        first, second = (list(letters) * 2)[i % len(letters) :][:2]
        rules = {first: "data", second: "model"} if second != first else {first: "data"}
        found = net.on("jax", mesh=MESH, shard=rules).f(*args)
        try:
            jax.tree.map(close_enough, found, net.f(*args))
        except AssertionError as wrong:
            raise AssertionError(f"{body} with {rules}") from wrong


# --- in buckets --------------------------------------------------------------------------------


def in_buckets(buckets: Any, rules: Any = RULES, mesh: Any = MESH) -> axon.Program:
    return NET.on("jax", mesh=mesh, shard=rules, buckets=buckets)


def harmful(name: str, parts: int) -> Any:
    """Buckets of one dimension whose padding is NaN."""
    return Buckets({name: Policy(multiple=parts)}, float("nan"), float("nan"))


def on_uneven_sizes_in_buckets() -> None:
    """Values are those of one device; a size of 1 is not padded, and lies whole on each."""
    net = in_buckets({"b": "pow2"})
    for b in (6, 1, 0, 3, 8, 7, 13):
        x = normal(b, 16)
        found = net.mlp(WEIGHTS, x)
        close(found, NET.mlp(WEIGHTS, x))
        if b == 8:
            assert spec(found) == ("data", None)
    report = net.mlp.report()
    assert (report.calls, report.compilations, report.exact) == (7, 5, 2)
    assert str(report.dimensions[2]).startswith("b: padded to powers of two, rounded up to what 4")


def on_buckets_that_devices_do_not_divide() -> None:
    """They are rounded up to what they divide."""
    for buckets, mesh in (
        ({"b": 6}, {"data": 4, "model": 2}),
        ({"b": [5, 10]}, {"data": 4, "model": 2}),
        ("auto", {"data": 3, "model": 2}),
        ({"b": "pow2"}, {"data": 5}),
    ):
        rules = {"b": "data", "f": "model"} if "model" in mesh else {"b": "data"}
        net = in_buckets(buckets, rules, mesh)
        for b in (2, 5, 7, 9, 11):
            x = normal(b, 16)
            close(net.mlp(WEIGHTS, x), NET.mlp(WEIGHTS, x))


def on_nothing_of_the_padding_on_several_devices() -> None:
    for name, buckets, shapes in (
        ("mlp", harmful("b", 4), [(6, 16), (3, 16)]),
        ("rows", harmful("n", 3), [(8, 4, 16), (4, 2, 16)]),
        ("rows", harmful("b", 8), [(6, 4, 16), (3, 2, 16)]),
        ("deep", harmful("b", 4), [(6, 16), (5, 16)]),
    ):
        weights = STACKED if name == "deep" else WEIGHTS
        for shape in shapes:
            x = normal(*shape)
            close(in_buckets(buckets)[name](weights, x), NET[name](weights, x))


def on_gradients_in_buckets() -> None:
    """They are exact, and lie as what they are taken by."""
    import jax

    for buckets in ({"b": "pow2"}, harmful("b", 4)):
        loss = in_buckets(buckets).loss
        for b in (6, 3, 1, 8):
            x, y = normal(b, 16), normal(b, 16)
            exact = NET.on("jax").loss
            wanted = jax.grad(exact.jax, (0, 1))(WEIGHTS, x, y)
            found = jax.grad(loss.jax, (0, 1))(WEIGHTS, x, y)
            jax.tree.map(close, found, wanted)
            assert spec(found[0]["up"]) == (None, "model")
            along = [jax.jvp(each.jax, (WEIGHTS, x, y), (WEIGHTS, y, x)) for each in (loss, exact)]
            jax.tree.map(close, *along)


def on_operators_in_buckets() -> None:
    """Whatever is cut and padded, the values are those of one device."""
    import jax

    for i, (params, body) in enumerate(PROGRAMS[::3]):
        net = axon.compile(f"f = fn ({params}) {{ {body} }};")
        args, letters = [], dict[str, None]()
        for elem, shape in re.findall(r"(f32|i64) \[([^]]*)\]", params):
            letters |= dict.fromkeys(re.findall("[a-z]", shape))
            sizes = [eval(size, {}, dict.fromkeys(letters, 6)) for size in shape.split(",")]
            args.append(normal(*sizes) if elem == "f32" else RANDOM.integers(0, 6, sizes))
        cut = (list(letters) * 2)[i % len(letters)]
        try:
            wanted = net.f(*args)
        except axon.AxonError:
            continue
        there = net.on("jax", mesh={"data": 4}, shard={cut: "data"}, buckets=harmful(cut, 4))
        try:
            found = there.f(*args)
        except ArgumentError:  # it cannot be padded, and is refused as without buckets
            padded = [d.bucketed for d in there.f.report().dimensions if d.name == cut]
            assert padded == [False], body
            continue
        try:
            jax.tree.map(close_enough, found, wanted)
        except AssertionError as wrong:
            raise AssertionError(f"{body} along {cut}") from wrong


def on_arguments_that_are_placed_in_buckets() -> None:
    """Weights are cut; what is padded at the call lies whole until then."""
    mlp = in_buckets({"b": 8}).mlp
    weights, x = mlp.placed(WEIGHTS, X[:6])
    assert (spec(weights["up"]), spec(x)) == ((None, "model"), (None, None))
    close(mlp(weights, x), NET.mlp(WEIGHTS, X[:6]))


def on_what_cannot_be_padded_on_a_mesh() -> None:
    """It runs at its exact sizes, which must be divided."""
    net = axon.compile(
        "op own : t s -> t s; f = fn (x : f32 [b,d]) { own(x) };", ops={"own": lambda x: x + 1}
    )
    there = net.on("jax", mesh={"data": 4}, shard={"b": "data"}, buckets={"b": 4})
    x = normal(8, 2)
    close(there.f(x), x + 1)
    assert "`b` is 6, which the 4 devices along `data` do not divide" in message(
        lambda: there.f(x[:6])
    )
    assert "of the caller" in str(there.f.report())


# --- what is refused ---------------------------------------------------------------------------


def on_sizes_that_are_not_divided() -> None:
    says = message(lambda: sharded().mlp(WEIGHTS, X[:6]))
    assert says == "mlp cannot be sharded: `b` is 6, which the 4 devices along `data` do not divide"
    import jax

    assert message(lambda: jax.jit(sharded().mlp.jax)(WEIGHTS, X[:6])) == says
    rules = {"b": ("data", "model")}
    says = message(lambda: sharded(rules).mlp(WEIGHTS, X[:4]))
    assert "`b` is 4, which the 8 devices along `data` and `model` do not divide" in says


def on_sizes_that_depend_on_values() -> None:
    says = message(lambda: sharded().chosen(normal(8)))
    assert says.startswith("chosen cannot be sharded: its sizes depend on values")


def on_wrong_meshes() -> None:
    assert "has 16 devices, and there are 8" in message(
        lambda: sharded(mesh={"data": 8, "model": 2})
    )


# --- costs -------------------------------------------------------------------------------------


def on_costs() -> None:
    found = NET.mlp.sharding({"model": 2}, b=8, d=16, f=32)
    by_size = {str(cost): cost for cost in found}
    assert set(by_size) == {"b -> model", "d -> model", "f -> model", "nothing"}
    assert by_size["nothing"].arguments == (("p", 4096), ("x", 512))
    assert by_size["nothing"].counts == by_size["b -> model"].counts == {}
    assert by_size["f -> model"].arguments == (("p", 2048), ("x", 512))
    assert by_size["f -> model"].counts == {"all-reduce": 1}
    assert by_size["f -> model"].sent == 8 * 16 * 4
    assert found.suggested == min(found, key=lambda cost: (cost.bytes, cost.sent))
    assert repr(found).endswith('suggested: shard={"d": "model"}')


def on_the_costs_of_what_is_chosen() -> None:
    """It is listed, however many others are cheaper, or if a size is cut twice."""
    rules = {"b": ("data", "model")}
    found = sharded(rules).mlp.sharding(MESH, b=8, d=16, f=32)
    own = [cost for cost in found if str(cost) == "b -> data and model"]
    assert [cost.arguments for cost in own] == [(("p", 4096), ("x", 64))]


def on_costs_of_what_is_not_divided() -> None:
    assert [str(cost) for cost in NET.mlp.sharding({"m": 8}, b=7, d=9, f=16)] == [
        "f -> m",
        "nothing",
    ]


def on_costs_where_no_size_is_divided() -> None:
    says = repr(NET.mlp.sharding({"m": 8}, b=7, d=9, f=15))
    assert says.endswith("with buckets= beside shard= sizes are padded")


def on_costs_of_what_is_not_compiled_as_a_whole() -> None:
    net = axon.compile(
        "some = fn (x : f32 [n]) { x[x > 0] };"
        "means = fn (x : f32 [n,*,d]) { map(fn (r) { mean(r, axis=0) }, x) };"
    )
    assert "depend on values" in message(lambda: net.some.sharding({"m": 8}, n=8))
    assert "vary in size" in message(lambda: net.means.sharding({"m": 8}, n=8, d=8))


def on_costs_without_sizes() -> None:
    assert "are open; give them by name" in message(lambda: NET.mlp.sharding({"model": 2}, b=8))
    says = message(lambda: NET.mlp.sharding({"model": 16}, b=8, d=16, f=32))
    assert "has 16 devices, and there are 8" in says


def main() -> None:
    for name, check in list(globals().items()):
        if name.startswith("on_"):
            try:
                check()
                problem = None
            except Exception:
                problem = traceback.format_exc()
            print(json.dumps({"name": name, "problem": problem}), flush=True)


if __name__ == "__main__":
    main()
