"""PyTorch's activations, recurrent networks and losses."""

from __future__ import annotations

import math
from typing import Any

import numpy
import pytest

from tests.importers.torch_archives import Exported, Tensor
from tests.importers.torch_calls import Given, call, close, floats, run, types


def name_of(value: object) -> str | None:
    """What a case is called: functions have pytest's names, not those with an address."""
    return None if callable(value) else str(value)[:40]


ROWS = Given("f32 [n,4]")


def sigmoid(x: Any) -> Any:
    return 1 / (1 + numpy.exp(-x))


ACTIVATIONS: list[tuple[str, dict[str, Any], Any]] = [
    ("silu", {}, lambda x: x * sigmoid(x)),
    ("elu", {"alpha": 0.5}, lambda x: numpy.where(x > 0, x, 0.5 * numpy.expm1(x))),
    ("elu", {"alpha": 0.5, "scale": 2.0, "input_scale": 3.0},
     lambda x: 2 * numpy.where(x > 0, x, 0.5 * numpy.expm1(3 * x))),
    ("leaky_relu", {"negative_slope": 0.3}, lambda x: numpy.where(x > 0, x, 0.3 * x)),
    ("hardtanh", {}, lambda x: x.clip(-1, 1)),
    ("relu6", {}, lambda x: x.clip(0, 6)),
    ("hardsigmoid", {}, lambda x: (x / 6 + 0.5).clip(0, 1)),
    ("hardswish", {}, lambda x: x * (x / 6 + 0.5).clip(0, 1)),
    ("mish", {}, lambda x: x * numpy.tanh(numpy.log1p(numpy.exp(x)))),
    ("softplus", {"beta": 2.0, "threshold": 1.0},
     lambda x: numpy.where(2 * x > 1, x, numpy.log1p(numpy.exp(2 * x)) / 2)),
    ("threshold", {"threshold": 0.1, "value": 20.0}, lambda x: numpy.where(x > 0.1, x, 20)),
    ("log_sigmoid", {}, lambda x: numpy.log(sigmoid(x))),
    ("softshrink", {}, lambda x: numpy.sign(x) * (abs(x) - 0.5).clip(0)),
    ("hardshrink", {}, lambda x: numpy.where(abs(x) > 0.5, x, 0)),
    ("rrelu", {}, lambda x: numpy.where(x > 0, x, x * (1 / 8 + 1 / 3) / 2)),
    ("glu", {"dim": 1}, lambda x: x[:, :2] * sigmoid(x[:, 2:])),
    ("gelu", {"approximate": "tanh"}, lambda x: x / 2 * (
        1 + numpy.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "expected"), ACTIVATIONS, ids=name_of)
def test_an_activation(name: str, options: dict[str, Any], expected: Any) -> None:
    p = call(f"aten.{name}.default", self=ROWS, **options)
    assert types(p) == ("f32 [n,2]" if name == "glu" else "f32 [n,4]")
    x = floats(5, 4) * 2
    close(p, [x], expected(x))


def test_one_in_place_is_the_same() -> None:
    p = call("aten.relu_.default", self=ROWS)
    x = numpy.array([[-1, 0, 1, 2]], "f4")
    *_, found = run(p, x)  # behind what is made of the input
    numpy.testing.assert_array_equal(found, x.clip(0))


@pytest.mark.parametrize("shape", [(3, 4), (3, 4, 5, 2)])
def test_a_slope_for_each_channel(shape: tuple[int, ...]) -> None:
    sizes = ",".join(f"a{i}" if i != 1 else "4" for i in range(len(shape)))
    p = call("aten.prelu.default", self=Given(f"f32 [{sizes}]"), weight=Given("f32 [4]"))
    x, w = floats(*shape), floats(4)
    slopes = w.reshape(1, 4, *[1] * (len(shape) - 2))
    close(p, [x, w], numpy.where(x > 0, x, x * slopes))


# --- recurrent -------------------------------------------------------------------------------


def network(kind: str, gates: int, layers: int, sides: int, batch_first: bool) -> Exported:
    """A network of weights that are inputs, as those of a module are."""
    p, count, hidden = Exported(), 0, 4
    x = p.input("x", "f32", ["b", "s", 3] if batch_first else ["s", "b", 3])
    states = [
        p.input(f"h{i}", "f32", [layers * sides, "b", hidden]) for i in range(1 + (gates == 4))
    ]
    params: list[Tensor] = []
    for layer in range(layers):
        for _ in range(sides):
            size = 3 if layer == 0 else hidden * sides
            for shape in (
                [gates * hidden, size],
                [gates * hidden, hidden],
                *[[gates * hidden]] * 2,
            ):
                array = floats(*shape, seed=count)
                params.append(p.weight(f"w{count}", array))
                count += 1
    made = p.call(
        f"aten.{kind}.input", 1 + len(states), input=x, hx=states if gates == 4 else states[0],
        params=params, has_biases=True, num_layers=layers, dropout=0.0, train=False,
        bidirectional=sides == 2, batch_first=batch_first,
    )  # fmt: skip
    p.output(*made)
    return p


def step(kind: str, x: Any, states: list[Any], weights: list[Any]) -> list[Any]:
    """The next states, as PyTorch's documentation has them."""
    w, r, b, c = weights
    h = states[0]
    if kind == "lstm":
        i, f, g, o = numpy.split(x @ w.T + b + h @ r.T + c, 4, axis=-1)
        memory = sigmoid(f) * states[1] + sigmoid(i) * numpy.tanh(g)
        return [sigmoid(o) * numpy.tanh(memory), memory]
    if kind == "gru":
        (a, d, e), (k, m, n) = (
            numpy.split(each, 3, axis=-1) for each in (x @ w.T + b, h @ r.T + c)
        )
        reset, update = sigmoid(a + k), sigmoid(d + m)
        return [(1 - update) * numpy.tanh(e + reset * n) + update * h]
    return [numpy.tanh(x @ w.T + b + h @ r.T + c)]


@pytest.mark.parametrize(("kind", "gates"), [("lstm", 4), ("gru", 3), ("rnn_tanh", 1)])
@pytest.mark.parametrize(("layers", "sides", "batch_first"), [(1, 1, False), (2, 2, True)])
def test_a_network(kind: str, gates: int, layers: int, sides: int, batch_first: bool) -> None:
    p = network(kind, gates, layers, sides, batch_first)
    lead = "b,s" if batch_first else "s,b"
    state = f"f32 [{layers * sides},b,4]"
    assert types(p) == ", ".join([f"f32 [{lead},{4 * sides}]", *[state] * (1 + (gates == 4))])
    x = floats(5, 2, 3)
    before = [floats(layers * sides, 2, 4, seed=9 + i) for i in range(1 + (gates == 4))]
    given = numpy.swapaxes(x, 0, 1) if batch_first else x
    expected, ends, count = x, [[] for _ in before], 0  # type: ignore[var-annotated]
    for layer in range(layers):
        found = []
        for side in range(sides):
            size = 3 if layer == 0 else 4 * sides
            shapes = [[gates * 4, size], [gates * 4, 4], [gates * 4], [gates * 4]]
            weights = [floats(*shape, seed=count + i) for i, shape in enumerate(shapes)]
            count += 4
            states = [each[layer * sides + side] for each in before]
            rows = []
            for row in expected[::-1] if side else expected:
                states = step(kind, row, states, weights)
                rows.append(states[0])
            found.append(numpy.stack(rows[::-1] if side else rows))
            for all_, end in zip(ends, states, strict=True):
                all_.append(end)
        expected = numpy.concatenate(found, axis=-1)
    whole = numpy.swapaxes(expected, 0, 1) if batch_first else expected
    close(p, [given, *before], whole, *(numpy.stack(each) for each in ends))


@pytest.mark.parametrize(("kind", "gates"), [("lstm", 4), ("gru", 3), ("rnn_tanh", 1)])
def test_a_cell(kind: str, gates: int) -> None:
    states = [Given("f32 [b,5]")] * (1 + (gates == 4))
    p = call(
        f"aten.{kind}_cell.default", len(states), input=Given("f32 [b,3]"),
        hx=states if gates == 4 else states[0], w_ih=Given(f"f32 [{gates * 5},3]"),
        w_hh=Given(f"f32 [{gates * 5},5]"), b_ih=Given(f"f32 [{gates * 5}]"),
        b_hh=Given(f"f32 [{gates * 5}]"),
    )  # fmt: skip
    assert types(p) == ", ".join(["f32 [b,5]"] * len(states))
    x, before = floats(2, 3), [floats(2, 5, seed=i) for i in range(len(states))]
    shapes = [(gates * 5, 3), (gates * 5, 5), (gates * 5,), (gates * 5,)]
    weights = [floats(*shape, seed=i) for i, shape in enumerate(shapes)]
    close(p, [x, *before, *weights], *step(kind, x, before, weights))


# --- losses ----------------------------------------------------------------------------------


def logs(x: Any) -> Any:
    return (
        x
        - x.max(1, keepdims=True)
        - numpy.log(numpy.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True))
    )


LOSSES: list[tuple[str, dict[str, Any], Any]] = [
    ("mse_loss", {}, lambda x, y: (x - y) ** 2),
    ("l1_loss", {}, lambda x, y: abs(x - y)),
    ("smooth_l1_loss", {"beta": 0.5},
     lambda x, y: numpy.where(abs(x - y) < 0.5, (x - y) ** 2, abs(x - y) - 0.25)),
    ("huber_loss", {"delta": 0.5},
     lambda x, y: numpy.where(abs(x - y) < 0.5, (x - y) ** 2 / 2, 0.5 * (abs(x - y) - 0.25))),
    ("binary_cross_entropy", {},
     lambda x, y: -(y * numpy.log(x) + (1 - y) * numpy.log(1 - x))),
    ("binary_cross_entropy_with_logits", {},
     lambda x, y: numpy.log1p(numpy.exp(x)) - x * y),
    ("kl_div", {}, lambda x, y: y * (numpy.log(y) - x)),
    ("kl_div", {"log_target": True}, lambda x, y: numpy.exp(y) * (y - x)),
    ("poisson_nll_loss", {"log_input": True, "full": False, "eps": 1e-8},
     lambda x, y: numpy.exp(x) - y * x),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "expected"), LOSSES, ids=name_of)
@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_a_loss(name: str, options: dict[str, Any], expected: Any, reduction: int) -> None:
    first = "input" if name.startswith("poisson") else "self"
    given = {first: ROWS, "target": ROWS}
    p = call(f"aten.{name}.default", **given, **options, reduction=reduction)
    assert types(p) == ("f32 []" if reduction else "f32 [n,4]")
    x, y = sigmoid(floats(3, 4)), sigmoid(floats(3, 4, seed=1))
    each = expected(x, y)
    close(p, [x, y], [each, each.mean(), each.sum()][reduction])


def test_what_is_alike_must_be_nearer() -> None:
    names = ("anchor", "positive", "negative")
    p = call("aten.triplet_margin_loss.default", **dict.fromkeys(names, ROWS), margin=2.0)
    assert types(p) == "f32 []"
    a, b, c = (floats(3, 4, seed=i) for i in range(3))
    near, far = (numpy.linalg.norm(a - other + 1e-6, axis=1) for other in (b, c))
    close(p, [a, b, c], (near - far + 2).clip(0).mean())


def test_angles_of_what_is_alike() -> None:
    p = call("aten.cosine_embedding_loss.default", input1=ROWS, input2=ROWS,
             target=Given("f32 [n]"), margin=0.1, reduction=0)  # fmt: skip
    assert types(p) == "f32 [n]"
    a, b, y = floats(3, 4), floats(3, 4, seed=1), numpy.array([1, -1, 1], "f4")
    cosine = (a * b).sum(1) / numpy.sqrt((a * a).sum(1) * (b * b).sum(1))
    close(p, [a, b, y], numpy.where(y == 1, 1 - cosine, (cosine - 0.1).clip(0)))


def test_classes_some_of_which_do_not_count() -> None:
    p = call("aten.cross_entropy_loss.default", self=Given("f32 [n,c,h]"),
             target=Given("i64 [n,h]"), ignore_index=1)  # fmt: skip
    assert types(p) == "f32 []"
    x, classes = floats(2, 3, 4), numpy.array([[0, 1, 2, 1], [2, 2, 0, 1]])
    each = -numpy.take_along_axis(logs(x), classes[:, None], axis=1)[:, 0]
    close(p, [x, classes], each[classes != 1].mean())


def test_classes_by_how_likely_they_are() -> None:
    p = call("aten.cross_entropy_loss.default", self=ROWS, target=ROWS, reduction=0)
    assert types(p) == "f32 [n]"
    x, y = floats(3, 4), sigmoid(floats(3, 4, seed=1))
    close(p, [x, y], -(logs(x) * y).sum(1))


def test_of_an_unknown_rank_a_loss_may_be_of_one_example() -> None:
    given = {"self": Given("f32 [n,c]"), "target": Given("i64 [n]")}
    assert types(call("aten.nll_loss_nd.default", **given), forget=True) == "f32 []"
    each = call("aten.nll_loss_nd.default", **given, reduction=0)
    assert types(each, forget=True) == "f32 ?"
    each = call("aten.multi_margin_loss.default", **given, reduction=0)
    assert types(each, forget=True) == "f32 ?"
    assert types(each) == "f32 [n]"


def test_one_example() -> None:
    p = call("aten.nll_loss_nd.default", self=Given("f32 [c]"), target=Given("i64 []"))
    assert types(p) == "f32 []"
    x = floats(5)
    assert run(p, x, numpy.int64(2))[0] == pytest.approx(-x[2])
