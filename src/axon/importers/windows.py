"""What slides a window over a tensor, in all formats."""

from __future__ import annotations

from typing import Any

from axon.importers.node import Node
from axon.types import dim as dims
from axon.types.dim import Poly
from axon.types.type import Shape
from axon.types.variables import DimVar


def shortened(slid: dict[str, Any]) -> dict[str, Any]:
    """The options, with one number in the place of equal ones; the filters have the rank."""
    return {
        name: value[0] if isinstance(value, list) and len(set(value)) == 1 else value
        for name, value in slid.items()
    }


def window_fits(node: Node, x: Shape | None, f: Shape | None, slid: dict[str, Any]) -> None:
    """A window that is larger than the input has no place, and no model runs with one: what is left
    of the input beside it is no less than nothing.
    """
    pads = slid["pad"]
    if x is None or f is None or isinstance(pads, str):
        return
    count = len(f) - 2
    if len(x) != len(f) or len(pads) % count or len(slid["dilation"]) != count:
        return
    for i, (size, window) in enumerate(zip(x[2:], f[2:], strict=True)):
        if isinstance(size, DimVar | Poly) and isinstance(window, int):
            extent = slid["dilation"][i] * (window - 1) + 1
            slack = dims.sub(dims.add(size, pads[:count][i] + pads[-count:][i]), extent)
            if not dims.is_nonnegative(slack):
                node.importer.enter_slack(slack)
