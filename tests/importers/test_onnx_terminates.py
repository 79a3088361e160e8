"""Models whose contradictions were searched for minutes, and gigabytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from axon.solver.reasons import conflict_of, reasons
from tests.importers.onnx_models import INT64, import_model, model, node, save, value
from tests.shell import axon

SIZES = {"x": (2, 3, 32), "cos": (50, 4), "sin": (50, 4), "at": (2, 3)}


def rotary(name: str, axis: int, change: int) -> Any:
    """A RotaryEmbedding of a tensor of rank 3, with one size of one input changed."""
    sizes = {key: list(shape) for key, shape in SIZES.items()}
    sizes[name][axis] += change
    inputs = [value(k, s, INT64) if k == "at" else value(k, s) for k, s in sizes.items()]
    nodes = [node("RotaryEmbedding", "x cos sin at", "y", num_heads=4)]
    return model(nodes, inputs, {"y": None}, opset=23)


@pytest.mark.parametrize("name", ["x", "at"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("change", [1, -1])
def test_one_position_too_many(name: str, axis: int, change: int, tmp_path: Path) -> None:
    made = rotary(name, axis, change)
    store = import_model(made, "m").importer.state.store
    assert store.conflicts
    assert all(conflict_of(reasons(store, conflict)) for conflict in store.conflicts)
    save(made, tmp_path / "m.onnx")
    outcome = axon(["infer", "m.onnx"], tmp_path)
    assert outcome.stderr.startswith("error[AX101]: RotaryEmbedding `y`:"), outcome.terminal
