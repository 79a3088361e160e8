"""The networks of examples/models with small random weights, on both backends. `make torch`
compares their values with those of transformers; here are the laws that they obey.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import count
from typing import Any

import jax
import numpy as np
import pytest

import axon
from tests.examples.common import EXAMPLES, both
from tests.run.support import OTHER

MODELS = EXAMPLES / "models"
Sizes = Mapping[str, tuple[int, ...]]


@cache
def network(file: str, backend: str = "numpy") -> axon.Program:
    if backend != "numpy":
        return network(file).on(backend)
    return axon.load(MODELS / f"{file}.axon")


def record_type(sizes: Sizes) -> str:
    """The type of a record with at least these tensors, which have dotted names."""
    rows, tree = count(), dict[str, Any]()
    for name, shape in sizes.items():
        at = tree
        *path, last = name.split(".")
        for part in path:
            at = at.setdefault(part, {})
        at[last] = "f32 " + str(list(shape))

    def shown(part: Any) -> str:
        if isinstance(part, str):
            return part
        if all(name.isdecimal() for name in part):
            return f"({', '.join(shown(each) for each in part.values())})"
        fields = ", ".join(f"{name} : {shown(each)}" for name, each in part.items())
        return f"{{ r{next(rows)} | {fields} }}"

    return shown(tree)


def weights(function: Any, sizes: Sizes) -> Any:
    """What `init` makes where some tensors have these sizes, and a little noise everywhere."""
    random = np.random.default_rng(0)

    def noisy(path: Any, array: Any) -> Any:
        found = np.asarray(array) + 0.1 * random.standard_normal(array.shape).astype("f4")
        return np.abs(found) + 0.5 if "running_var" in jax.tree_util.keystr(path) else found

    p = function.init(0, params="p", like={"p": record_type(sizes)})
    return jax.tree_util.tree_map_with_path(noisy, p)


def tokens(words: int, *shape: int) -> Any:
    return np.random.default_rng(1).integers(0, words, shape)


def images(*shape: int) -> Any:
    return np.random.default_rng(2).standard_normal(shape).astype("f4")


def empty_cache(layers: int, b: int, heads: int, k: int) -> dict[str, Any]:
    return {name: np.zeros((layers, b, heads, 0, k), "f4") for name in "kv"}


GPT2 = {
    "transformer.wte.weight": (11, 12),
    "transformer.wpe.weight": (9, 12),
    "transformer.h.mlp.c_fc.bias": (3, 20),
}
BERT = {
    "embeddings.word_embeddings.weight": (11, 12),
    "embeddings.token_type_embeddings.weight": (2, 12),
    "embeddings.position_embeddings.weight": (9, 12),
    "encoder.layer.intermediate.dense.bias": (3, 20),
    "pooler.dense.bias": (12,),
}
VIT = {
    "vit.embeddings.patch_embeddings.projection.weight": (12, 3, 4, 4),
    "vit.embeddings.position_embeddings": (1, 7, 12),
    "vit.layers.mlp.fc1.bias": (3, 20),
    "classifier.bias": (5,),
}


def llama(layers: int) -> Sizes:
    """Without what comes after the attention."""
    attention = "model.layers.self_attn"
    return {
        "model.embed_tokens.weight": (11, 16),
        f"{attention}.q_proj.weight": (layers, 24, 16),
        f"{attention}.k_proj.weight": (layers, 12, 16),
        f"{attention}.v_proj.weight": (layers, 12, 16),
        f"{attention}.o_proj.weight": (layers, 16, 24),
        "lm_head.weight": (11, 16),
    }


LLAMA = {**llama(3), "model.layers.mlp.up_proj.weight": (3, 20, 16)}
EXPERTS = {"experts.down_proj": (3, 4, 5)}
MIXTRAL = {**llama(3), "model.layers.mlp.experts.down_proj": (3, 3, 16, 5)}
T5 = {
    "shared.weight": (11, 12),
    "encoder.relative_attention_bias.weight": (32, 4),
    "decoder.relative_attention_bias.weight": (32, 4),
    "encoder.block.layer.0.SelfAttention.q.weight": (2, 20, 12),
    "encoder.block.layer.1.DenseReluDense.wi.weight": (2, 16, 12),
    "decoder.block.layer.0.SelfAttention.q.weight": (3, 20, 12),
    "decoder.block.layer.1.EncDecAttention.q.weight": (3, 20, 12),
    "decoder.block.layer.2.DenseReluDense.wi.weight": (3, 16, 12),
}
MAMBA = {
    "backbone.embeddings.weight": (11, 8),
    "backbone.layers.mixer.A_log": (3, 16, 4),
    "backbone.layers.mixer.conv1d.weight": (3, 16, 1, 4),
    "backbone.layers.mixer.dt_proj.weight": (3, 16, 5),
}
LENET = {
    "conv1.bias": (6,),
    "conv2.bias": (16,),
    "fc1.bias": (120,),
    "fc2.bias": (84,),
    "fc3.bias": (10,),
}
UNET = {
    "enter.conv1.weight": (3, 2, 3, 3),
    **{f"down{i}.conv1.bias": (3 + i,) for i in (1, 2, 3, 4)},
    "output.weight": (5, 3, 1, 1),
}
SEQ2SEQ = {
    "encoder.embedding.weight": (11, 6),
    "encoder.lstm.weight_hh_l0": (20, 5),
    "decoder.embedding.weight": (13, 6),
}
GCN = {"conv1.weight": (6, 4), "conv2.weight": (3, 6)}
DDPM = {
    "time1.weight": (12, 8),
    "enter.weight": (8, 3, 3, 3),
    **{f"{name}.conv1.bias": (16,) for name in ("down2", "middle1", "middle2", "up1")},
    **{f"{name}.conv1.bias": (8,) for name in ("down1", "up2")},
    "output.weight": (3, 8, 3, 3),
}


def resnet(*kind: str) -> Sizes:
    """Four stages, of two blocks each; the last part of a block is `kind`."""
    stages: dict[str, tuple[int, ...]] = {}
    for i, channels in enumerate((8, 12, 16, 20)):
        block = f"resnet.encoder.stages.{i}"
        for j, name in enumerate(kind):
            stages[f"{block}.first.layer.{j}.{name}"] = (channels,)
            stages[f"{block}.rest.layer.{j}.{name}"] = (1, channels)
    return {"resnet.embedder.embedder.normalization.bias": (8,), "classifier.bias": (5,), **stages}


EDGES = {"from": np.array([0, 1, 2, 3, 3]), "to": np.array([1, 0, 1, 2, 4])}
NORM = "normalization.bias"

Case = tuple[str, str, Sizes, tuple[Any, ...], tuple[int, ...]]
CASES: list[Case] = [
    ("gpt2", "gpt2", GPT2, (tokens(11, 2, 7), 4), (2, 7, 11)),
    ("llama", "llama", LLAMA, (tokens(11, 2, 7), empty_cache(3, 2, 2, 6)), (2, 7, 11)),
    ("mixtral", "experts", EXPERTS, (images(6, 4),), (6, 4)),
    ("mamba", "mamba", MAMBA, (tokens(11, 2, 7),), (2, 7, 11)),
    ("vit", "vit", VIT, (images(2, 3, 8, 12), 4), (2, 5)),
    (
        "bert",
        "bert",
        BERT,
        (tokens(11, 2, 7), tokens(2, 2, 7), np.arange(7) < [[7], [4]], 4),
        (2, 7, 12),
    ),
    (
        "t5",
        "t5",
        T5,
        (tokens(11, 2, 40), np.arange(40) < [[40], [25]], tokens(11, 2, 30)),
        (2, 30, 11),
    ),
    ("lenet", "lenet", LENET, (images(2, 1, 28, 28),), (2, 10)),
    ("resnet", "resnet18", resnet(NORM, NORM), (images(2, 3, 41, 70),), (2, 5)),
    ("resnet", "resnet50", resnet(NORM, NORM, NORM), (images(2, 3, 41, 70),), (2, 5)),
    ("unet", "unet", UNET, (images(2, 2, 32, 48),), (2, 5, 32, 48)),
    ("gcn", "gcn", GCN, (EDGES, images(5, 4)), (5, 3)),
    ("ddpm", "noise_in", DDPM, (images(2, 3, 8, 12), np.array([3, 700])), (2, 3, 8, 12)),
]
every_network = pytest.mark.parametrize(
    ("file", "name", "sizes", "arguments", "shape"), CASES, ids=[case[1] for case in CASES]
)


def first(result: Any) -> Any:
    return result[0] if isinstance(result, tuple) else result


@every_network
def test_backends_agree(
    file: str, name: str, sizes: Sizes, arguments: tuple[Any, ...], shape: tuple[int, ...]
) -> None:
    p = weights(network(file)[name], sizes)
    found = network(file)[name](p, *arguments)
    assert first(found).shape == shape and np.isfinite(first(found)).all()
    assert first(found).std() > 1e-3
    other = network(file, OTHER)[name](p, *arguments)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4), found, other)


def test_every_network_is_short_and_has_no_warning() -> None:
    files = sorted(MODELS.glob("*.axon"))
    assert len(files) == 14
    for file in files:
        text = file.read_text()
        assert text.startswith("# ") and len(text.splitlines()) <= 80, file
        assert not network(file.stem).warnings, file


@pytest.mark.parametrize(
    ("name", "sizes", "count"),
    [
        (
            "gpt2",
            {
                "transformer.wte.weight": (50257, 768),
                "transformer.wpe.weight": (1024, 768),
                "transformer.h.mlp.c_fc.bias": (12, 3072),
            },
            124_439_808,
        ),
        (
            "bert",
            {
                "embeddings.word_embeddings.weight": (30522, 768),
                "embeddings.token_type_embeddings.weight": (2, 768),
                "embeddings.position_embeddings.weight": (512, 768),
                "encoder.layer.intermediate.dense.bias": (12, 3072),
                "pooler.dense.bias": (768,),
            },
            109_482_240,
        ),
        (
            "vit",
            {
                "vit.embeddings.patch_embeddings.projection.weight": (768, 3, 16, 16),
                "vit.embeddings.position_embeddings": (1, 197, 768),
                "vit.layers.mlp.fc1.bias": (12, 3072),
                "classifier.bias": (1000,),
            },
            86_567_656,
        ),
    ],
)
def test_as_many_weights_as_published(name: str, sizes: Sizes, count: int) -> None:
    assert network(name)[name].parameters(like={"p": record_type(sizes)}).count == count


# --- laws -----------------------------------------------------------------------------------------


def close(given: Any, expected: Any) -> None:
    np.testing.assert_allclose(given, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "sizes", "more"),
    [
        ("gpt2", GPT2, (4,)),
        ("llama", LLAMA, (empty_cache(3, 2, 2, 6),)),
        ("mixtral", MIXTRAL, (empty_cache(3, 2, 2, 6),)),
        ("mamba", MAMBA, ()),
    ],
)
def test_nothing_looks_ahead(name: str, sizes: Sizes, more: tuple[Any, ...]) -> None:
    model = network(name)[name]
    p, x = weights(model, sizes), tokens(11, 2, 7)
    other = x.copy()
    other[:, 5:] = 10 - other[:, 5:]
    before, after = first(model(p, x, *more)), first(model(p, other, *more))
    close(after[:, :5], before[:, :5])
    assert np.abs(after[:, 5:] - before[:, 5:]).max() > 1e-3


@both
@pytest.mark.parametrize(("name", "sizes"), [("llama", LLAMA)])
def test_a_cache_stands_for_the_tokens_before(backend: str, name: str, sizes: Sizes) -> None:
    model = network(name, backend)[name]
    p, x = weights(model, sizes), tokens(11, 2, 7)
    whole, full = model(p, x, empty_cache(3, 2, 2, 6))
    scores, cache = model(p, x[:, :4], empty_cache(3, 2, 2, 6))
    close(scores, whole[:, :4])
    for i in range(4, 7):
        scores, cache = model(p, x[:, i : i + 1], cache)
        close(scores, whole[:, i : i + 1])
    jax.tree.map(close, cache, full)


def test_bert_and_t5_see_only_what_is_present() -> None:
    x, present = tokens(11, 2, 7), np.arange(7) < [[5], [5]]
    other = np.where(present, x, 10 - x)
    bert, t5 = network("bert").bert, network("t5").t5
    p, kinds = weights(bert, BERT), tokens(2, 2, 7)
    before, after = (bert(p, each, kinds, present, 4) for each in (x, other))
    close(after[0][:, :5], before[0][:, :5])
    close(after[1], before[1])
    p, target = weights(t5, T5), tokens(11, 2, 6)
    close(t5(p, other, present, target), t5(p, x, present, target))


def test_experts_are_a_mean_of_two() -> None:
    experts = network("mixtral").experts
    p, x = weights(experts, EXPERTS), images(6, 4)
    scores = np.exp(x @ p["gate"]["weight"].T)
    scores *= scores > scores.min(axis=1, keepdims=True)  # two of three
    shares = scores / scores.sum(axis=1, keepdims=True)
    total = np.zeros_like(x)
    for i, share in enumerate(shares.T):
        gate, up = np.split(x @ p["experts"]["gate_up_proj"][i].T, 2, axis=1)
        y = gate / (1 + np.exp(-gate)) * up
        total += share[:, None] * (y @ p["experts"]["down_proj"][i].T)
    close(experts(p, x), total)


@both
def test_states_are_those_of_a_loop(backend: str) -> None:
    fade, new = images(5, 2, 3, 4), images(5, 2, 3, 4) + 1
    state, expected = np.zeros((2, 3, 4)), []
    for a, b in zip(fade, new, strict=True):
        state = a * state + b
        expected.append(state)
    close(network("mamba", backend).states(fade, new), np.stack(expected))


@both
def test_texts_of_any_lengths(backend: str) -> None:
    """Each pair is what it is alone."""
    net = network("seq2seq", backend)
    p = weights(network("seq2seq").seq2seq, SEQ2SEQ)
    sources = [tokens(11, n) for n in (4, 1, 7)]
    targets = [tokens(13, n) for n in (2, 5, 3)]
    found = net.seq2seq(p, sources, targets)
    assert [row.shape for row in found] == [(2, 13), (5, 13), (3, 13)]
    for i, (source, target) in enumerate(zip(sources, targets, strict=True)):
        alone = net.decode(p["decoder"], net.encode(p["encoder"], source), target)
        close(found[i], alone)


def test_a_graph_convolution_is_a_product_with_a_matrix() -> None:
    gcn = network("gcn").gcn
    p, x = weights(gcn, GCN), images(5, 4)
    joined = np.eye(5)
    joined[EDGES["to"], EDGES["from"]] = 1
    scale = joined.sum(axis=1) ** -0.5
    around = scale[:, None] * joined * scale
    y = np.maximum(around @ x @ p["conv1"]["weight"].T + p["conv1"]["bias"], 0)
    close(gcn(p, EDGES, x), around @ y @ p["conv2"]["weight"].T + p["conv2"]["bias"])


def test_noise_is_taken_away() -> None:
    """A network that finds no noise leaves an image of one step as it is, but for its scale."""
    net = network("ddpm")
    p, key = weights(net.noise_in, DDPM), np.array([1, 2], "u4")
    x, beta = images(2, 3, 8, 8), np.array([0.19], "f4")
    assert np.isfinite(net.loss(p, x, np.linspace(0.01, 0.2, 7, dtype="f4"), key))
    none = {**p, "output": jax.tree.map(np.zeros_like, p["output"])}
    close(net.sample(none, x, beta, key), x / 0.9)
    assert np.abs(net.sample(p, x, beta, key) - x / 0.9).max() > 1e-3


@pytest.mark.parametrize(
    ("file", "sizes", "arguments"),
    [
        ("lenet", LENET, (images(2, 1, 28, 28), tokens(10, 2))),
        ("gcn", GCN, (EDGES, images(5, 4), np.array([0, 3]), np.array([2, 1]))),
    ],
)
def test_networks_learn(file: str, sizes: Sizes, arguments: tuple[Any, ...]) -> None:
    """A step down the slope makes the loss less, and every weight has a slope."""
    loss = network(file).loss
    p = weights(loss, sizes)
    with jax.enable_x64(True):
        before, slope = jax.value_and_grad(loss.jax)(p, *arguments)
        after = loss.jax(jax.tree.map(lambda w, g: w - 0.01 * g, p, slope), *arguments)
    assert float(after) < float(before)
    assert all(np.abs(g).max() > 0 for g in jax.tree.leaves(slope))
