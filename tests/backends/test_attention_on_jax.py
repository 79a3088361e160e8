"""Attention on JAX: in half precision nothing as large as its operands is converted to f32, and
cuDNN computes it where it can.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import axon
from axon.backends import jax_meanings
from tests.backends.padded import poisoned

MODELS = Path(__file__).resolve().parents[2] / "examples" / "models"
BF16 = ml_dtypes.bfloat16

FORMS = {
    "plain": ("", False),
    "causal": (", causal=true", False),
    "grouped": (", groups=2", False),
    "masked": ("", True),
    "masked and grouped": (", groups=2", True),
    "a window": (", before=2, causal=true", False),
}


def form(name: str) -> tuple[str, list[Any]]:
    options, masked = FORMS[name]
    random = np.random.default_rng(0)
    heads = 2 if "groups" in options else 4
    shapes = [(2, 4, 9, 16), (2, heads, 9, 16), (2, heads, 9, 16)]
    args: list[Any] = [random.normal(size=shape).astype("f4") for shape in shapes]
    if masked:
        mask = random.random((2, 1, 9, 9)) > 0.4
        mask[0, 0, 3] = False
        args.append(mask)
    params = "q, k, v, m" if masked else "q, k, v"
    return f"f = fn ({params}) {{ dot_product_attention({params}{options}) }};", args


def halved(args: list[Any]) -> list[Any]:
    return [x.astype(BF16) if x.dtype == np.float32 else x for x in args]


@pytest.mark.parametrize("name", FORMS)
def test_half_precision_on_all_backends(name: str) -> None:
    program, args = form(name)
    exact = axon.compile(program).f(
        *[x if x.dtype == bool else x.astype("f4") for x in halved(args)]
    )
    for backend in ("numpy", "jax"):
        found = axon.compile(program, backend=backend).f(*halved(args))
        assert found.dtype == BF16
        np.testing.assert_allclose(np.asarray(found, "f4"), exact, rtol=2e-2, atol=1e-2)
        if "masked" in name:
            assert not np.asarray(found, "f4")[0, :, 3].any()


@pytest.mark.parametrize("name", ["causal", "masked and grouped"])
def test_gradients_in_half_precision(name: str) -> None:
    program, args = form(name)
    f = axon.compile(program).f.jax
    rest = args[3:]

    def total(q: Any, k: Any, v: Any) -> Any:
        return (f(q, k, v, *rest).astype(jnp.float32) ** 2).sum()

    exact = jax.grad(total, argnums=(0, 1, 2))(
        *(jnp.asarray(x, BF16).astype("f4") for x in args[:3])
    )
    found = jax.grad(total, argnums=(0, 1, 2))(*(jnp.asarray(x, BF16) for x in args[:3]))
    for mine, other in zip(found, exact, strict=True):
        assert mine.dtype == BF16
        scale = float(jnp.abs(other).max())
        np.testing.assert_allclose(np.asarray(mine, "f4"), other, atol=2e-2 * scale)


def equations(jaxpr: Any) -> list[Any]:
    found = []
    for equation in jaxpr.eqns:
        found.append(equation)
        for param in equation.params.values():
            for part in param if isinstance(param, tuple | list) else (param,):
                inside = getattr(part, "jaxpr", part)
                if hasattr(inside, "eqns"):
                    found += equations(inside)
    return found


def test_the_products_of_gpt2_are_of_half_precision() -> None:
    like = """{a | transformer : {b | wte : {c | weight : bf16 [11,16]},
      wpe : {d | weight : bf16 [9,16]}, h : {e | mlp : {g | c_fc : {i | bias : bf16 [2,20]}}}}}"""
    gpt2 = axon.load(MODELS / "gpt2.axon", backend="jax").gpt2
    weights = gpt2.init(0, params="p", like={"p": like})
    with jax.enable_x64(True):
        jaxpr = jax.make_jaxpr(lambda p, t: gpt2.jax(p, t, 4))(weights, np.zeros((2, 7), "i8"))
    products = [e for e in equations(jaxpr.jaxpr) if e.primitive.name == "dot_general"]
    assert len(products) == 7
    assert {v.aval.dtype for e in products for v in e.invars} == {np.dtype(BF16)}


def chosen(program: str, args: list[Any], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether cuDNN would be asked on a GPU."""
    monkeypatch.setattr(jax_meanings, "has_cudnn", lambda: True)
    monkeypatch.setattr(jax_meanings, "by_cudnn", lambda causal, scale, q, *_, **__: q)
    f = axon.compile(program, backend="jax").f
    found = jax.make_jaxpr(f.jax)(*(jnp.asarray(x) for x in args))
    usual = axon.compile(program).f(*args)
    np.testing.assert_allclose(
        np.asarray(f(*args), "f4"), np.asarray(usual, "f4"), rtol=2e-2, atol=1e-2
    )
    return any(e.primitive.name == "platform_index" for e in equations(found.jaxpr))


@pytest.mark.parametrize("name", FORMS)
def test_when_cudnn_is_asked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program, args = form(name)
    assert chosen(program, halved(args), monkeypatch) == (name != "a window")
    assert not chosen(program, args, monkeypatch)


def test_heads_that_cudnn_does_not_take(monkeypatch: pytest.MonkeyPatch) -> None:
    for size, wide in ((12, 12), (136, 136), (16, 8)):
        args = [np.ones((1, 2, 4, n), BF16) for n in (size, size, wide)]
        assert not chosen(form("plain")[0], args, monkeypatch)
    longer = [np.ones((1, 2, n, 16), BF16) for n in (4, 6, 6)]
    assert chosen(form("plain")[0], longer, monkeypatch)
    assert not chosen(form("causal")[0], longer, monkeypatch)


@pytest.mark.parametrize("name", [name for name in FORMS if name != "a window"])
def test_what_cudnn_is_asked_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same function of JAX on what there is here."""
    real = jax.nn.dot_product_attention

    def elsewhere(*args: Any, implementation: str, **options: Any) -> Any:
        assert implementation == "cudnn"
        return real(*args, **options)

    monkeypatch.setattr(jax.nn, "dot_product_attention", elsewhere)
    program, args = form(name)
    asked = partial(jax_meanings.by_cudnn, name == "causal", None)
    found = asked(*(jnp.asarray(x) for x in args))
    np.testing.assert_allclose(found, axon.compile(program).f(*args), rtol=1e-4, atol=1e-5)


STD = 'import "std/attention.axon" as att;\n'

WRITTEN = {
    "std": "fn (Q, K, V) { att.attention(Q, K, V) }",
    "std causal": "fn (Q : t s@[n,d], K, V) { att.causal_attention(Q, K, V) }",
    "std masked": "fn (Q, K, V, m) { att.masked_attention(Q, K, V, m) }",
    "paper": "fn (Q, K, V) { matmul(softmax(matmul(Q, transpose(K))), V) }",
    "factor": "fn (Q, K, V) { matmul(softmax(matmul(Q, transpose(K)) * max(V)), V) }",
}


@pytest.mark.parametrize("batch", [(), (3,), (2, 3), (2, 1, 3)])
@pytest.mark.parametrize("name", WRITTEN)
def test_attention_that_is_written_out(
    name: str, batch: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cuDNN would compute, with the same function of JAX on what there is here."""
    real, asked = jax.nn.dot_product_attention, []

    def elsewhere(*args: Any, implementation: str, **options: Any) -> Any:
        asked.append(options["is_causal"])
        return real(*args, **options)

    monkeypatch.setattr(jax_meanings, "has_cudnn", lambda: True)
    monkeypatch.setattr(jax.nn, "dot_product_attention", elsewhere)
    monkeypatch.setattr(jax.lax, "platform_dependent", lambda *args, cuda, default: cuda(*args))
    random = np.random.default_rng(0)
    args: list[Any] = [random.normal(size=(*batch, 6, 16)).astype(BF16) for _ in range(3)]
    if name == "std masked":
        args.append(random.random((6, 6)) > 0.5)
        args[3][2] = False
    program = f"{STD}f = {WRITTEN[name]};"
    found = np.asarray(axon.compile(program, backend="jax").f(*args), "f4")
    assert asked == [name == "std causal"]
    exact = axon.compile(program).f(*[x if x.dtype == bool else x.astype("f4") for x in args])
    np.testing.assert_allclose(found, exact, rtol=5e-2, atol=3e-2)
    assert np.isnan(found).any() == (name == "std masked")


def test_written_out_in_f32_it_is_not_for_cudnn(monkeypatch: pytest.MonkeyPatch) -> None:
    args: list[Any] = [np.ones((2, 4, 16), "f4")] * 3
    assert not chosen(f"{STD}f = {WRITTEN['std']};", args, monkeypatch)


def test_without_a_gpu_there_is_no_cudnn() -> None:
    assert jax_meanings.has_cudnn() == any(d.platform == "gpu" for d in jax.devices())


@pytest.mark.parametrize("name", FORMS)
def test_what_cudnn_is_asked_for_in_buckets(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told how many of the keys are no padding."""
    real, counts = jax.nn.dot_product_attention, []

    def elsewhere(*args: Any, implementation: str, **options: Any) -> Any:
        counts.append(options["key_value_seq_lengths"])
        return real(*args, **options)

    monkeypatch.setattr(jax_meanings, "has_cudnn", lambda: True)
    monkeypatch.setattr(jax.nn, "dot_product_attention", elsewhere)
    monkeypatch.setattr(jax.lax, "platform_dependent", lambda *args, cuda, default: cuda(*args))
    program, args = form(name)
    typed = "(q : t [b,h,m,16], k : t [b,g,n,16], v : t [b,g,n,16]"
    program = program.replace("(q, k, v", typed, 1)
    bucketed = axon.compile(program).on("jax", buckets=poisoned()).f
    found = bucketed(*halved(args))
    assert len(counts) == (name in ("plain", "causal", "grouped"))
    assert all(each is not None and each.shape == (2,) for each in counts)
    exact = axon.compile(program).f(*halved(args))
    np.testing.assert_allclose(
        np.asarray(found, "f4"), np.asarray(exact, "f4"), rtol=2e-2, atol=1e-2
    )
