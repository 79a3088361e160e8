"""What the benchmarks share with the tests, which stand beside this folder."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))

from tests.importers.onnx_agreement import disagreement
from tests.importers.onnx_changes import (
    Change,
    Kind,
    Made,
    array,
    bare,
    changes,
    copied,
    make,
    operators,
)

__all__ = [
    "Change", "Kind", "Made", "array", "bare", "changes", "copied", "disagreement", "make",
    "operators",
]  # fmt: skip
