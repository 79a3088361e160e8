"""Names that a program can have, from those of a model."""

from __future__ import annotations

import re
from typing import Any

from axon.diagnostics.cells import shown
from axon.syntax import tokens

RESERVED = frozenset({*tokens.RESERVED, "op", "import", "as", "where", "nan", "shape", "dim"})


def short(name: str) -> str:
    """A name for a tensor that a program can have: the last words of the model's own."""
    if name.isidentifier() and name.isascii() and len(name) <= 40 and "utput" not in name:
        return _begun(name.strip("_"))
    name = re.sub(r"(_output_0|_DequantizeLinear_Output|:0)+$", "", name)
    words = [w for w in re.split(r"[^A-Za-z0-9_]+", name) if w]
    words = [w for w in words if not w.isdigit()] or words
    kept = words[-1:] if words and len(words[-1]) > 6 else words[-2:]
    base = re.sub(r"[^A-Za-z0-9_]", "", "_".join(kept)).strip("_")[:40]
    return _begun(base)


def _begun(base: str) -> str:
    """A name begins with a letter."""
    return base if base and not base[0].isdigit() else f"v_{base}".rstrip("_")


def size_name(name: str) -> str:
    """A name for a size that a program can have."""
    plain = name.isidentifier() and name.isascii()
    base = name if plain else re.sub(r"[^A-Za-z0-9_]", "_", name) or "n"
    return f"n_{base}" if base[0].isdigit() or base in RESERVED else base


def word_of_layer(a: str, b: str) -> str:
    """The word before the number in which the names of two layers differ: `block` for
    `net.blocks.0.query` and `net.blocks.1.query`.
    """
    first, second = re.split(r"[./]", a), re.split(r"[./]", b)
    if len(first) < 2 or "::" in a:
        return ""
    before = ""
    for x, y in zip(first, second, strict=False):
        if x != y:
            stem = re.sub(r"[_:]*\d+$", "", x)
            if re.sub(r"[_:]*\d+$", "", y) != stem:
                return ""
            word = re.sub(r"(?<=[a-z]{3})s$", "", re.sub(r"[^A-Za-z0-9_]", "", stem or before))
            return word if len(word) > 2 and word[0].isalpha() else "layer"
        before = x
    return ""


def hint(node: Any) -> str:
    """A name for a weight that a node uses: `query.weight` in `/layer/query/MatMul`."""
    words = (node.name or "".join(node.outputs[:1])).rsplit("/", 2)
    return f"{words[-2]}.weight" if len(words) > 1 and words[-2] else ""


def line_of(node: Any) -> str:
    name = f"{node.name}: " if node.name else ""
    text = f"{name}{node.operator}({', '.join(node.inputs)}) -> {', '.join(node.outputs)}"
    return shown(re.sub(r"\s+", " ", text)[:2000])
