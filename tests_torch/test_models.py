"""The networks of examples/models against those of transformers, with the same random weights:
these are written to a file under the names of the state dict, and loaded by these names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import axon

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

MODELS = Path(__file__).resolve().parents[1] / "examples" / "models"


@pytest.fixture(autouse=True)
def _same_numbers() -> Any:
    torch.manual_seed(0)
    with torch.no_grad():
        yield


def function(file: str, name: str = "") -> Any:
    return axon.load(MODELS / f"{file}.axon")[name or file]


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
def test_resnet(
    tmp_path: Path, kind: str, depths: tuple[int, ...], layer: str, enter: int
) -> None:
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
