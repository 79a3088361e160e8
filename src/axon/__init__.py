"""Axon: a small functional language for deep-learning graphs whose shapes are inferred.

>>> import axon
>>> print(axon.check_text("f = fn (x, w) { matmul(x, w) }").signatures[0].line())
f : (t a@[b,c], t a@[c,d]) -> t a@[b,d]
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from axon.backends.ragged import Ragged
    from axon.diagnostics import Diagnostic
    from axon.driver import Checked, check, check_text
    from axon.inference.report.signature import Signature
    from axon.pages.figure import Figure
    from axon.run.errors import ArgumentError, AxonError, ProgramError, RunError
    from axon.run.onnx import from_onnx
    from axon.run.program import Program, compile, load
    from axon.run.random import random_key
    from axon.run.torch import from_torch
    from axon.run.weight_files import load_weights, save
    from axon.source import Source

__version__ = "0.2.0"
__all__ = [
    "ArgumentError",
    "AxonError",
    "Checked",
    "Diagnostic",
    "Figure",
    "Program",
    "ProgramError",
    "Ragged",
    "RunError",
    "Signature",
    "Source",
    "check",
    "check_text",
    "compile",
    "from_onnx",
    "from_torch",
    "load",
    "load_weights",
    "random_key",
    "save",
]

_HOMES = {
    "ArgumentError": "axon.run.errors",
    "AxonError": "axon.run.errors",
    "Figure": "axon.pages.figure",
    "Program": "axon.run.program",
    "ProgramError": "axon.run.errors",
    "Ragged": "axon.backends.ragged",
    "RunError": "axon.run.errors",
    "compile": "axon.run.program",
    "from_onnx": "axon.run.onnx",
    "from_torch": "axon.run.torch",
    "load": "axon.run.program",
    "load_weights": "axon.run.weight_files",
    "random_key": "axon.run.random",
    "save": "axon.run.weight_files",
    "Checked": "axon.driver",
    "Diagnostic": "axon.diagnostics",
    "Signature": "axon.inference.report.signature",
    "Source": "axon.source",
    "check": "axon.driver",
    "check_text": "axon.driver",
}


def __getattr__(name: str) -> object:
    """Import what is asked for when it is asked for, so that `import axon` costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'axon' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names; what else the module holds is there only once it has been asked for."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
