"""`infer` and the program that `import` writes say the same of a model.

The models are onnx's node tests, and node tests with the shape of one input changed: a few of each
operator. `benchmarks/onnx_agreement.py` has them all.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from functools import cache

import pytest

from .onnx_agreement import disagreement
from .onnx_changes import Change, every, make

PARTS = 4
"""The models are divided, so that several processes can share them."""
OF_EACH, OF_EXPANDED = 3, 1
"""How many models there are of each operator; those that the package wrote out take longer."""


@cache
def sample() -> list[Change]:
    """The same models each time, spread over all that there are of an operator."""
    grouped: dict[str, list[Change]] = defaultdict(list)
    for change in every():
        grouped[change.operator].append(change)
    found = []
    for operator, changes in grouped.items():
        count = OF_EXPANDED if operator.endswith("(expanded)") else OF_EACH
        step = max(len(changes) // count, 1)
        found += changes[step // 2 :: step][:count]
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_infer_and_import_agree(part: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {each.key: disagreement(make(each).model) for each in sample()[part::PARTS]}
    assert {key: said for key, said in found.items() if said} == {}
