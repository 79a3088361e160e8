"""The networks of examples/models against those of transformers, with the same random weights:
these are written to a file under the names of the state dict, and loaded by these names.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import axon

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

nn = torch.nn
silu = torch.nn.functional.silu

MODELS = Path(__file__).resolve().parents[1] / "examples" / "models"


@pytest.fixture(autouse=True)
def _same_numbers() -> Any:
    torch.manual_seed(0)
    with torch.no_grad():
        yield


def function(file: str, name: str = "") -> Any:
    return axon.load(MODELS / f"{file}.axon", backend="torch")[name or file]


def shuffled(module: Any) -> Any:
    """A module in which no weight is 0 or 1, and no statistics are those of the start."""
    for name, tensor in module.state_dict().items():
        if tensor.is_floating_point():
            tensor += 0.1 * torch.randn_like(tensor)
        if name.endswith("running_var"):
            tensor.abs_()
    return module.eval()


def weights(
    function: Any,
    module: Any,
    folder: Path,
    name: Callable[[str], str] = str,
    strict: bool = True,
) -> Any:
    """The weights of a module as a function takes them; `name` is what it calls them."""
    path = folder / "weights.safetensors"
    state = module.state_dict()
    axon.save(path, {name(each): tensor.contiguous() for each, tensor in state.items()})
    return function.load_weights(path, params="p", strict=strict)


def tokens(words: int, *shape: int) -> Any:
    return torch.randint(words, shape)


def close(given: Any, expected: Any, tolerance: float = 1e-4) -> None:
    torch.testing.assert_close(given, expected, rtol=tolerance, atol=tolerance)


def test_gpt2(tmp_path: Path) -> None:
    config = transformers.GPT2Config(
        vocab_size=11, n_positions=9, n_embd=12, n_layer=3, n_head=4, tie_word_embeddings=True
    )
    module = shuffled(transformers.GPT2LMHeadModel(config))
    gpt2 = function("gpt2")
    p = weights(gpt2, module, tmp_path, strict=False)
    x = tokens(11, 2, 7)
    close(gpt2(p, x, heads=4), module(x).logits)


def test_bert(tmp_path: Path) -> None:
    config = transformers.BertConfig(
        vocab_size=11,
        hidden_size=12,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=20,
        max_position_embeddings=9,
    )
    module = shuffled(transformers.BertModel(config))
    bert = function("bert")
    p = weights(bert, module, tmp_path)
    x, kinds = tokens(11, 2, 7), tokens(2, 2, 7)
    present = torch.tensor([[True] * 7, [True] * 4 + [False] * 3])
    found, pooled = bert(p, x, kinds, present, heads=4)
    expected = module(x, token_type_ids=kinds, attention_mask=present)
    close(found, expected.last_hidden_state)
    close(pooled, expected.pooler_output)


def llama_config(kind: str, **more: Any) -> Any:
    return getattr(transformers, kind)(
        vocab_size=11,
        hidden_size=16,
        intermediate_size=20,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=6,
        **more,
    )


def cache(layers: int, *shape: int) -> dict[str, Any]:
    return {"k": torch.zeros(layers, *shape), "v": torch.zeros(layers, *shape)}


def test_llama(tmp_path: Path) -> None:
    module = shuffled(transformers.LlamaForCausalLM(llama_config("LlamaConfig")))
    llama = function("llama")
    p = weights(llama, module, tmp_path)
    x = tokens(11, 2, 7)
    expected = module(x).logits
    scores, full = llama(p, x, cache(3, 2, 2, 0, 6))
    close(scores, expected)
    _, first = llama(p, x[:, :4], cache(3, 2, 2, 0, 6))
    scores, second = llama(p, x[:, 4:], first)
    close(scores, expected[:, 4:])
    close(second, full)


def test_vit(tmp_path: Path) -> None:
    config = transformers.ViTConfig(
        hidden_size=12,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=20,
        image_size=(8, 12),
        patch_size=4,
        num_labels=5,
    )
    module = shuffled(transformers.ViTForImageClassification(config))
    vit = function("vit")
    p = weights(vit, module, tmp_path)
    images = torch.randn(2, 3, 8, 12)
    close(vit(p, images, heads=4), module(images).logits)


@pytest.mark.parametrize(
    ("kind", "depths", "layer", "enter"),
    [("resnet18", (2, 2, 2, 2), "basic", 8), ("resnet50", (3, 4, 6, 3), "bottleneck", 4)],
)
def test_resnet(tmp_path: Path, kind: str, depths: tuple[int, ...], layer: str, enter: int) -> None:
    config = transformers.ResNetConfig(
        embedding_size=enter,
        hidden_sizes=(8, 12, 16, 20),
        depths=depths,
        layer_type=layer,
        num_labels=5,
    )
    module = shuffled(transformers.ResNetForImageClassification(config))
    resnet = function("resnet", kind)

    def name(found: str) -> str:
        found = found.replace("classifier.1", "classifier").replace("layers.0.", "first.")
        return re.sub(r"layers\.(\d+)", lambda m: f"rest.{int(m[1]) - 1}", found)

    p = weights(resnet, module, tmp_path, name, strict=False)
    images = torch.randn(2, 3, 70, 41)
    close(resnet(p, images), module(images).logits)


def test_t5(tmp_path: Path) -> None:
    config = transformers.T5Config(
        vocab_size=11, d_model=12, d_kv=5, d_ff=20, num_layers=3, num_heads=4
    )
    module = shuffled(transformers.T5ForConditionalGeneration(config))
    t5 = function("t5")

    def name(found: str) -> str:
        bias = "relative_attention_bias"
        return found.replace(f"block.0.layer.0.SelfAttention.{bias}", bias)

    p = weights(t5, module, tmp_path, name, strict=False)
    source, target = tokens(11, 2, 40), tokens(11, 2, 30)
    present = torch.arange(40) < torch.tensor([[40], [25]])
    expected = module(input_ids=source, attention_mask=present, decoder_input_ids=target)
    close(t5(p, source, present, target), expected.logits)


def test_mixtral(tmp_path: Path) -> None:
    config = llama_config("MixtralConfig", num_local_experts=4, rope_theta=1e6)
    module = shuffled(transformers.MixtralForCausalLM(config))
    mixtral = function("mixtral")
    p = weights(mixtral, module, tmp_path)
    x = tokens(11, 2, 7)
    expected = module(x).logits
    theta = config.rope_parameters["rope_theta"]
    scores, _ = mixtral(p, x, cache(3, 2, 2, 0, 6), theta)
    close(scores, expected)


def test_mamba(tmp_path: Path) -> None:
    config = transformers.MambaConfig(
        vocab_size=11, hidden_size=8, state_size=4, num_hidden_layers=3, time_step_rank=3
    )
    module = shuffled(transformers.MambaForCausalLM(config))
    mamba = function("mamba")
    p = weights(mamba, module, tmp_path, strict=False)
    x = tokens(11, 2, 7)
    close(mamba(p, x), module(x).logits)


# --- modules of torch ---


def test_lenet(tmp_path: Path) -> None:
    module = shuffled(
        nn.ModuleDict(
            {
                "conv1": nn.Conv2d(1, 6, 5, padding=2),
                "conv2": nn.Conv2d(6, 16, 5),
                "fc1": nn.Linear(400, 120),
                "fc2": nn.Linear(120, 84),
                "fc3": nn.Linear(84, 10),
            }
        )
    )
    pool = nn.Sequential(nn.ReLU(), nn.MaxPool2d(2))
    images, digits = torch.randn(3, 1, 28, 28), tokens(10, 3)
    x = pool(module["conv2"](pool(module["conv1"](images)))).flatten(1)
    expected = module["fc3"](module["fc2"](module["fc1"](x).relu()).relu())
    lenet = function("lenet")
    p = weights(lenet, module, tmp_path)
    close(lenet(p, images), expected)
    close(
        function("lenet", "loss")(p, images, digits), nn.functional.cross_entropy(expected, digits)
    )


def double(before: int, after: int) -> Any:
    parts = {"conv1": nn.Conv2d(before, after, 3, padding=1)}
    return nn.ModuleDict({**parts, "conv2": nn.Conv2d(after, after, 3, padding=1)})


def test_unet(tmp_path: Path) -> None:
    sizes = [3, 4, 5, 6, 7]
    names = ["down1", "down2", "down3", "down4"]
    parts = {"enter": double(2, 3)}
    parts |= {name: double(*pair) for name, pair in zip(names, pairwise(sizes), strict=True)}
    for i, (less, more) in enumerate(reversed(list(pairwise(sizes)))):
        rise = nn.ConvTranspose2d(more, less, 2, stride=2)
        parts[f"up{i + 1}"] = nn.ModuleDict({"up": rise, "merge": double(2 * less, less)})
    module = shuffled(nn.ModuleDict({**parts, "output": nn.Conv2d(3, 5, 1)}))

    def both(part: Any, x: Any) -> Any:
        return part["conv2"](part["conv1"](x).relu()).relu()

    images = torch.randn(2, 2, 32, 48)
    seen = [both(module["enter"], images)]
    for name in names:
        seen.append(both(module[name], nn.functional.max_pool2d(seen[-1], 2)))
    x = seen.pop()
    for i in range(4):
        part = module[f"up{i + 1}"]
        x = both(part["merge"], torch.cat([seen.pop(), part["up"](x)], dim=1))
    unet = function("unet")
    close(unet(weights(unet, module, tmp_path), images), module["output"](x))


def test_seq2seq(tmp_path: Path) -> None:
    def side(words: int, **more: Any) -> Any:
        lstm = nn.LSTM(6, 5, batch_first=True)
        return nn.ModuleDict({"embedding": nn.Embedding(words, 6), "lstm": lstm, **more})

    encoder, decoder = side(11), side(13, output=nn.Linear(5, 13))
    module = shuffled(nn.ModuleDict({"encoder": encoder, "decoder": decoder}))
    sources = [tokens(11, n) for n in (4, 1, 7)]
    targets = [tokens(13, n) for n in (2, 5, 3)]
    padded = nn.utils.rnn.pad_sequence(sources, batch_first=True)
    packed = nn.utils.rnn.pack_padded_sequence(
        encoder["embedding"](padded), [4, 1, 7], batch_first=True, enforce_sorted=False
    )
    _, state = encoder["lstm"](packed)
    read = nn.utils.rnn.pad_sequence(targets, batch_first=True)
    seen, _ = decoder["lstm"](decoder["embedding"](read), state)
    expected = decoder["output"](seen)
    seq2seq = function("seq2seq")
    p = weights(seq2seq, module, tmp_path)
    given = seq2seq(p, sources, targets)
    for i, row in enumerate(targets):
        close(torch.as_tensor(given[i]), expected[i, : len(row)])


def test_gcn(tmp_path: Path) -> None:
    module = shuffled(nn.ModuleDict({"conv1": nn.Linear(4, 6), "conv2": nn.Linear(6, 3)}))
    edges = torch.tensor(
        [(a, b) for a in range(9) for b in range(9) if a != b and (a * b) % 4 == 1]
    )
    joined = torch.eye(9).index_put((edges[:, 1], edges[:, 0]), torch.ones(()))
    scale = joined.sum(1).rsqrt()
    around = scale[:, None] * joined * scale

    def convolve(part: Any, x: Any) -> Any:
        return around @ (x @ part.weight.T) + part.bias

    x = torch.randn(9, 4)
    gcn = function("gcn")
    p = weights(gcn, module, tmp_path)
    given = gcn(p, {"from": edges[:, 0].contiguous(), "to": edges[:, 1].contiguous()}, x)
    close(given, convolve(module["conv2"], convolve(module["conv1"], x).relu()))


class Block(nn.Module):
    """A residual block of the denoiser."""

    def __init__(self, before: int, after: int, time: int) -> None:
        super().__init__()
        self.norm1 = nn.GroupNorm(8, before)
        self.conv1 = nn.Conv2d(before, after, 3, padding=1)
        self.time = nn.Linear(time, after)
        self.norm2 = nn.GroupNorm(8, after)
        self.conv2 = nn.Conv2d(after, after, 3, padding=1)
        self.shortcut = nn.Conv2d(before, after, 1)

    def forward(self, x: Any, time: Any) -> Any:
        y = self.conv1(silu(self.norm1(x))) + self.time(silu(time))[..., None, None]
        return self.shortcut(x) + self.conv2(silu(self.norm2(y)))


class Attention(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.norm = nn.GroupNorm(8, channels)
        self.qkv = nn.Linear(channels, 3 * channels)
        self.output = nn.Linear(channels, channels)

    def forward(self, x: Any) -> Any:
        q, k, v = self.qkv(self.norm(x).flatten(2).mT).chunk(3, dim=-1)
        y = nn.functional.scaled_dot_product_attention(q, k, v)
        return x + self.output(y).mT.reshape(x.shape)


class Denoiser(nn.Module):
    def __init__(self, colours: int, d: int, time: int) -> None:
        super().__init__()
        self.time1, self.time2 = nn.Linear(d, time), nn.Linear(time, time)
        self.enter = nn.Conv2d(colours, d, 3, padding=1)
        self.down1, self.down2 = Block(d, d, time), Block(d, 2 * d, time)
        self.middle1, self.attention = Block(2 * d, 2 * d, time), Attention(2 * d)
        self.middle2 = Block(2 * d, 2 * d, time)
        self.up1, self.up2 = Block(4 * d, 2 * d, time), Block(3 * d, d, time)
        self.norm, self.output = nn.GroupNorm(8, d), nn.Conv2d(d, colours, 3, padding=1)

    def forward(self, x: Any, steps: Any) -> Any:
        half = self.time1.in_features // 2
        speeds = torch.exp(torch.arange(half) * (-math.log(10000.0) / half))
        angles = steps[:, None] * speeds
        time = self.time2(silu(self.time1(torch.cat([angles.sin(), angles.cos()], dim=1))))
        smaller, larger = nn.AvgPool2d(2), nn.Upsample(scale_factor=2)
        x1 = self.down1(self.enter(x), time)
        x2 = self.down2(smaller(x1), time)
        y3 = self.middle2(self.attention(self.middle1(smaller(x2), time)), time)
        y2 = self.up1(torch.cat([x2, larger(y3)], dim=1), time)
        y1 = self.up2(torch.cat([x1, larger(y2)], dim=1), time)
        return self.output(silu(self.norm(y1)))


def test_ddpm(tmp_path: Path) -> None:
    module = shuffled(Denoiser(3, 8, 12))
    noise_in = function("ddpm", "noise_in")
    p = weights(noise_in, module, tmp_path)
    x, steps = torch.randn(2, 3, 8, 12), torch.tensor([3, 700])
    close(noise_in(p, x, steps), module(x, steps))
