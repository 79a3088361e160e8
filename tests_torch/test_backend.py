"""Programs on PyTorch's tensors. `make torch` runs tests of `tests`, too, for values like NumPy's;
here is what only PyTorch has: gradients, devices and dtypes, nested tensors, `torch.compile`,
modules.
"""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import torch

import axon

# PyTorch's compiler warns of itself
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*:UserWarning")

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def program(text: str, compiled: bool = False) -> axon.Program:
    return axon.compile(text, backend="torch", compiled=compiled)


def close(found: Any, expected: Any, within: float = 1e-5) -> None:
    torch.testing.assert_close(found, expected, rtol=within, atol=within)


# --- what goes in comes out ----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_a_tensor_keeps_its_dtype(dtype: torch.dtype) -> None:
    x = torch.randn(2, 3, 4).to(dtype)
    found = program("f = fn (x) { softmax(layer_norm(gelu(x))) };").f(x)
    gelu = torch.nn.functional.gelu(x.double())
    expected = torch.softmax(torch.nn.functional.layer_norm(gelu, (4,)), -1)
    assert found.dtype == dtype and found.device == x.device
    close(found.double(), expected, {2: 2e-2, 4: 1e-5, 8: 1e-12}[dtype.itemsize])


def test_arrays_come_back_as_they_went_in() -> None:
    x = np.ones((2, 3), "float32")
    for backend in ("numpy", "torch"):
        f = axon.compile("f = fn (x) { x + x };", backend=backend).f
        for _ in range(2):
            assert type(f(x)) is np.ndarray
            assert isinstance(f(jax.numpy.asarray(x)), jax.Array)
            assert isinstance(f(torch.from_numpy(x)), torch.Tensor)
    record = axon.compile("f = fn (p : {w : t s}) { {y = p.w} };", backend="torch").f
    assert type(record({"w": x})["y"]) is np.ndarray


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch"])
def test_libraries_are_not_mixed(backend: str) -> None:
    f = axon.compile("f = fn (p : {w : t s}, x : t s) { p.w + x };", backend=backend).f
    with pytest.raises(axon.ArgumentError) as said:
        f({"w": np.ones(2, "f4")}, torch.ones(2))
    for words in ("`p.w` is an array of NumPy", "`x` is one of PyTorch", "one library"):
        assert words in str(said.value)
    with pytest.raises(axon.ArgumentError, match="`x` is one of JAX"):
        f({"w": torch.ones(2)}, jax.numpy.ones(2))


@pytest.mark.parametrize("scores", [[0.1, 0.9, 0.8], [-np.inf, -np.inf, -np.inf]])
def test_boxes_are_chosen_as_on_numpy(scores: list[float]) -> None:
    """Also where every score is the least there is."""
    net = axon.compile("""
        f = fn (b : f32 [n,k,4], s : f32 [n,c,k], m : i64) { non_max_suppression(b, s, m, 0.5) };
    """)
    boxes = np.array([[[0, 0, 2, 2], [1, 1, 3, 3], [0, 0, 2, 2.1]]], np.float32)
    args = boxes, np.array([[scores]], np.float32), np.int64(2)
    expected = net.f(*args).tolist()
    assert len(expected) == 2
    assert net.on("torch").f(*args).tolist() == expected


def test_a_result_is_the_callers() -> None:
    x = torch.ones(2, 3)
    net = program(
        "f = fn (x) { x }; g = fn (x : t [n,m]) { transpose(x), x[0] }; k = fn (x) { 1f };"
    )
    found = [net.f(x), *net.g(x)]
    for each in found:
        each.zero_()
    net.k(x).add_(1)
    assert x.eq(1).all() and net.k(x) == 1


def test_sizes_are_checked() -> None:
    net = program("f = fn (x : f32 [n,d], w : f32 [d,e]) { x @ w };")
    with pytest.raises(axon.ArgumentError, match="should be d = 3"):
        net.f(torch.ones(2, 3), torch.ones(4, 2))
    with pytest.raises(axon.RunError, match="out of range"):
        program("f = fn (x : f32 [n], i : i64 [k]) { x[i] };").f(torch.ones(2), torch.tensor([7]))


def test_torch_is_not_imported_for_nothing() -> None:
    run = "axon.compile('f = fn (x) { x + x }').f([1.0])"
    code = f"import sys, axon; {run}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_without_torch_it_is_said_what_to_install() -> None:
    use = "import axon; axon.compile('f = 1', backend='torch')"
    code = f"import sys; sys.modules['torch'] = None; {use}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'axon-shapes[torch]'" in done.stderr


# --- gradients -----------------------------------------------------------------------------------

LOSSES = [
    "mean(square(gelu(x @ w)))",
    "sum(softmax(x @ w) * (x @ w))",
    "sum(log_softmax(layer_norm(x @ w)))",
    "mean(max(x @ w, axis=1)) + logsumexp(w)",
    "sum(sort(x @ w) * sigmoid(x @ w))",
    "sum(cumsum(x @ w, axis=1)) + norm(w)",
    "sum(fold(x[0], fn (h, r) { tanh(h * r) }, x)) + sum(w)",
    "sum(map(fn (r) { silu(r) * sum(r) }, x)) + sum(w)",
    "sum(variance(w, axis=0)) + sum(clip(x, min=-0.5, max=0.5))",
    'sum(pad(x, before=1, after=2, mode="reflect") * 2f) + sum(w[[0, 0, 1]])',
]


@pytest.mark.parametrize("loss", LOSSES)
def test_gradients_are_those_of_jax(loss: str) -> None:
    text = f"f = fn (x : f32 [n,d], w : f32 [d,e]) {{ {loss} }};"
    random = np.random.default_rng(0)
    x, w = (random.normal(size=size).astype("f4") for size in ((4, 3), (3, 5)))
    expected = jax.grad(axon.compile(text).f.jax, argnums=(0, 1))(x, w)
    args = [torch.tensor(each, requires_grad=True) for each in (x, w)]
    program(text).f(*args).backward()
    for arg, each in zip(args, expected, strict=True):
        close(arg.grad, torch.tensor(np.asarray(each)), 1e-4)


def test_gradients_of_images() -> None:
    text = """f = fn (x : f32 [n,c,h,w], k : f32 [o,c,3,3], t : f32 [o,c,2,2]) where h = 6, w = 6 {
      y = relu(conv(x, k, pad=1));
      sum(square(conv_transpose(max_pool(y, window=2), t, stride=2))) + sum(avg_pool(y, window=3))
    };"""
    random = np.random.default_rng(0)
    sizes = (2, 3, 6, 6), (4, 3, 3, 3), (4, 3, 2, 2)
    arrays = [random.normal(size=size).astype("f4") for size in sizes]
    expected = jax.grad(axon.compile(text).f.jax, argnums=(0, 1, 2))(*arrays)
    args = [torch.tensor(each, requires_grad=True) for each in arrays]
    program(text).f(*args).backward()
    for arg, each in zip(args, expected, strict=True):
        close(arg.grad, torch.tensor(np.asarray(each)), 2e-3)


# --- ragged tensors ------------------------------------------------------------------------------


def nested(*lengths: int) -> Any:
    rows = [torch.randn(n, 2, requires_grad=True) for n in lengths]
    return torch.nested.as_nested_tensor(rows, layout=torch.jagged)


def test_nested_tensors_go_in_and_come_out() -> None:
    x = nested(3, 0, 2)
    found = program("f = fn (x : f32 [n,*,d]) { gelu(x) * 2f };").f(x)
    assert found.is_nested and found.layout is torch.jagged
    close((found + x).values(), torch.nn.functional.gelu(x.values()) * 2 + x.values())
    found.values().sum().backward()


def test_rows_are_reduced_on_their_own() -> None:
    x = nested(3, 1, 2)
    found = program(
        "f = fn (x : f32 [n,*,d]) { map(fn (r) { softmax(r @ transpose(r)) @ r }, x) };"
    ).f(x)
    for row, each in zip(x.unbind(), found.unbind(), strict=True):
        close(each, torch.softmax(row @ row.T, -1) @ row)
    sums = program("f = fn (x : f32 [n,*,d]) { sum(x, axis=1) };").f(x)
    close(sums, torch.stack([row.sum(0) for row in x.unbind()]))


def test_deeper_ones_are_axons() -> None:
    rows = [[torch.ones(2), torch.ones(1)], [torch.ones(3)]]
    x = axon.Ragged.from_rows([axon.Ragged.from_rows(row) for row in rows])
    found = program("f = fn (x : f32 [n,*,*]) { x + 1f };").f(x)
    assert isinstance(found, axon.Ragged)
    assert [[v.tolist() for v in row] for row in found] == [[[2, 2], [2]], [[2, 2, 2]]]


# --- compiled ------------------------------------------------------------------------------------


def test_compiled_once_for_all_sizes_that_are_open() -> None:
    text = """f = fn (x : f32 [b,n,4], w : f32 [4,e], c : f32 [e]) {
      layer_norm(gelu(project(x, w) + c)) + 1f
    };"""
    eager, net = program(text).f, program(text, compiled=True).f
    w, c = torch.randn(4, 6), torch.randn(6)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    for b, n in ((3, 3), (3, 5), (7, 2), (9, 11)):
        x = torch.randn(b, n, 4)
        close(net(x, w, c), eager(x, w, c))
        assert net.compilations == 1
    x, w, c = torch.randn(2, 3, 4), torch.randn(4, 3), torch.randn(3)
    close(net(x, w, c), eager(x, w, c))
    assert net.compilations == 1
    close(net(x[:1], w, c), eager(x[:1], w, c))
    assert net.compilations == 2  # a size of one is a case of its own
    assert not torch._dynamo.utils.counters["graph_break"]


def test_sizes_that_depend_on_values_are_not_compiled() -> None:
    net = program("f = fn (x : f32 [n]) { x[nonzero(x > 0f)] };", compiled=True)
    assert net.f(torch.tensor([1.0, -1.0, 2.0])).tolist() == [1, 2]


# --- modules -------------------------------------------------------------------------------------

CLASSIFIER = """
type Dense(n, m) = { w : f32 [n,m], b : f32 [m] };
dense = fn (p : Dense(n, m), x : f32 [batch,n]) { x @ p.w + p.b };
net = fn (p : { hidden : Dense(d, h), out : Dense(h, k) }, x : f32 [batch,d]) {
  dense(p.out, tanh(dense(p.hidden, x)))
};
"""


def classifier(compiled: bool = False) -> Any:
    net = program(CLASSIFIER, compiled).net
    return net.module(net.init(0, d=2, h=16, k=2))


def test_a_module_has_the_names_of_the_record() -> None:
    module = classifier()
    assert list(module.state_dict()) == ["hidden.b", "hidden.w", "out.b", "out.w"]
    assert all(isinstance(p, torch.nn.Parameter) for p in module.parameters())
    x = torch.randn(5, 2)
    other = copy.deepcopy(module)
    with torch.no_grad():
        other.out.b += 1
    close(other(x), module(x) + 1)
    other.load_state_dict(module.state_dict())
    close(other(x), module(x))
    assert all(p.dtype == torch.float64 for p in other.to(torch.float64).parameters())
    assert not other.eval().training
    zeros = {name: torch.zeros_like(p) for name, p in module.named_parameters()}
    assert not torch.func.functional_call(module, zeros, (x,)).any()


@pytest.mark.parametrize("compiled", [False, True])
def test_a_module_learns_inside_another(compiled: bool) -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(classifier(compiled), torch.nn.Linear(2, 2))
    x = torch.randn(200, 2)
    y = (x[:, 0] * x[:, 1] > 0).long()
    optimizer = torch.optim.Adam(model.parameters(), 0.05)
    losses = []
    for _ in range(60):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


def test_statistics_and_integers_are_buffers() -> None:
    record = "{running_mean : t [c], w : t [c], k : i64 []}"
    net = program(f"f = fn (p : {record}, x : t [n,c]) {{ (x - p.running_mean) * p.w }};")
    ones = torch.ones(2)
    module = net.f.module({"running_mean": ones, "w": ones, "k": torch.tensor(3)})
    assert [name for name, _ in module.named_parameters()] == ["w"]
    assert sorted(name for name, _ in module.named_buffers()) == ["k", "running_mean"]
    close(module(torch.ones(3, 2)), torch.zeros(3, 2))


def test_what_a_module_is_told() -> None:
    module = classifier()
    with pytest.raises(axon.ArgumentError, match="should be d = 2"):
        module(torch.ones(5, 3))
    with pytest.raises(axon.ArgumentError, match="the module takes 1: x"):
        module(torch.ones(5, 2), 3)
    with pytest.raises(axon.ArgumentError, match="`p` cannot be a weight"):
        program(CLASSIFIER).net.module(3)


def test_a_model_with_heads_is_compiled_once() -> None:
    gpt2 = axon.load(EXAMPLES / "models" / "gpt2.axon", backend="torch", compiled=True).gpt2
    like = """{a | transformer : {b | wte : {c | weight : f32 [11,12]},
      wpe : {d | weight : f32 [9,12]}, h : {e | mlp : {g | c_fc : {i | bias : f32 [1,20]}}}}}"""
    plain = axon.load(EXAMPLES / "models" / "gpt2.axon").gpt2
    weights = plain.init(0, params="p", like={"p": like})
    module = gpt2.module(weights, params="p")
    with torch.no_grad():
        for b, s in ((2, 7), (3, 5)):
            x = torch.randint(0, 11, (b, s))
            expected = plain(weights, x.numpy(), heads=4)
            close(module(x, heads=4), torch.tensor(expected), 1e-4)
    assert module._function.compilations == 1


def test_a_compiler_around_a_module_leaves_it_alone() -> None:
    model = torch.nn.Sequential(classifier(), torch.nn.Linear(2, 2))
    around: Callable[..., Any] = torch.compile(model)
    for rows in (3, 5):
        x = torch.randn(rows, 2)
        close(around(x), model(x))
