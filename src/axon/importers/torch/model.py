"""PyTorch programs: their nodes and their rules, as the import asks for them."""

from __future__ import annotations

from axon.importers.node import Format
from axon.importers.torch import rules  # noqa: F401 (they enter themselves)
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.numbers.complex_numbers import find

TORCH = Format(find, TorchNode, batched=True)
