"""Where a user wrote what a node does: the line, and the module that it is part of."""

from __future__ import annotations

import re
from functools import lru_cache

from axon.importers.operations import Place
from axon.importers.torch.document import Document

FRAME = re.compile(r'File "([^"\n]*)", line (\d{1,9}), in [^\n]*(?:\n([^\n]*))?')
LONGEST = 20_000
LONGEST_LINE = 400


def place_of(metadata: Document) -> Place | None:
    """The innermost line that is not PyTorch's own, if there is one."""
    trace = metadata.text_if_any("stack_trace")
    if len(trace) > LONGEST:
        return None
    return _place(trace, metadata.text_if_any("nn_module_stack"))


@lru_cache(4096)
def _place(trace: str, modules: str) -> Place | None:
    own = [each for each in FRAME.findall(trace) if not is_torch(each[0])]
    if not own:
        return None
    file, line, text = own[-1]
    return Place(file, int(line), text.strip()[:LONGEST_LINE], _module(modules))


def is_torch(file: str) -> bool:
    """Whether a file is one of PyTorch itself."""
    path = file.replace("\\", "/")
    return "-packages/torch/" in path or path.startswith("torch/")


def _module(modules: str) -> str:
    """`encoder.layers.3.attn` of `key,encoder,Class;key,encoder.layers.3.attn,Class`."""
    parts = modules.rpartition(";")[2].split(",")
    return parts[1].removeprefix("L['self'].") if len(parts) > 2 else ""


__all__ = ["is_torch", "place_of"]
