"""Programs that are wrong: an argument is missing, or is something else. Each has a report."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from axon.importers.formats import read_archive
from axon.importers.operations import NoModel
from tests.importers import test_torch_joined, test_torch_numbers, test_torch_parts
from tests.importers.torch_archives import Case, Exported, zipped

CASES: list[Case] = [
    case
    for module in (test_torch_joined, test_torch_numbers, test_torch_parts)
    for table in vars(module).values()
    if isinstance(table, list) and table and isinstance(table[0], Case)
    for case in table
]
OTHER: list[Any] = [
    None, {"as_none": True}, {"as_int": -1}, {"as_int": 1 << 40}, {"as_ints": []},
    {"as_ints": [0, 0]}, {"as_ints": [-3, 5]}, {"as_bool": True}, {"as_string": "x"},
    {"as_float": 1.5}, {"as_float": "NaN"}, {"as_tensors": []}, {"as_scalar_type": 12},
    {"as_scalar_type": 10}, {"as_tensor": {"name": "x"}},
]  # fmt: skip
"""What stands for an argument; None for nothing."""


def test_there_are_cases() -> None:
    assert len(CASES) > 100


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_other_arguments(case: Case) -> None:
    p = Exported()
    made = case.build(p, p.input("x", "f32", ["n", "m"]))
    p.output(*(made if isinstance(made, list) else [made]))
    draw, nodes = random.Random(case.name), len(p.graph["nodes"])
    for _ in range(6):
        document = copy.deepcopy(p.document())
        given = document["graph_module"]["graph"]["nodes"][draw.randrange(nodes)]["inputs"]
        other = draw.choice(OTHER)
        if not given:
            continue
        at = draw.randrange(len(given))
        if other is None:
            del given[at]
        else:
            given[at]["arg"] = other
        archive = zipped(p.entries(document))
        try:
            report = read_archive(archive, "model.pt2").report(draw.random() < 0.3)
        except NoModel:
            continue
        assert "x" in report.tensors
