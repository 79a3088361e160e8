"""The node tests that the onnx package generates: shapes and values, operator by operator.

    python benchmarks/onnx_nodes.py [--only NAME …] [--why] [--table FILE]

Declared shapes of outputs are removed; what is inferred is compared with the shapes of the
recorded outputs, and the model is run on the NumPy backend with the recorded inputs. A case counts
under the operator that it is there for, also where the package wrote that one out as other nodes.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import onnx
from onnx.backend.test.case.node import collect_testcases
from onnx_models.shared import array, operators

import axon
from axon.importers.formats import of_onnx

TOLERANCE = {"rtol": 1e-3, "atol": 1e-4}
BFLOAT = {"rtol": 2**-6, "atol": 1e-4}
"""The package's own runner gives bfloat16 two units in the last place."""
HEADING = """# ONNX's operators

The onnx package generates {cases} tests of single nodes. Of these {right} have exactly the shapes
that are recorded, with the declared shapes removed, and {equal} the recorded values on the NumPy
backend.

- *right*: every size is known, and as recorded; *partial*: what is known is as recorded, but some
  of it only a run can tell, or the output is no tensor; *unsupported*: some node has no rule.
- *equal*: the values are those that are recorded; *not run*: strings, optional values, sequences,
  random numbers, or element types that Axon does not have, for the most part.

Written by `python benchmarks/onnx_nodes.py --table docs/onnx-operators.md`.
"""
SHAPES = ("right", "partial", "unsupported", "rejected", "wrong")
VALUES = ("equal", "not run", "different")


@dataclass(frozen=True, slots=True)
class Outcome:
    operator: str
    name: str
    shapes: str
    values: str
    why: str


def shapes(model: Any, outputs: list[Any]) -> tuple[str, str]:
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    for info in bare.graph.output:
        if info.type.HasField("tensor_type"):
            info.type.tensor_type.ClearField("shape")
    del bare.graph.value_info[:]
    report = of_onnx(bare, "model").report()
    verdict, why = "right", ""
    for info, value in zip(bare.graph.output, outputs, strict=False):
        found = report.tensors.get(info.name)
        if value is None or found is None or found.shape is None:
            verdict = "partial"
        elif len(found.shape) != value.ndim or any(
            isinstance(size, int) and size != true
            for size, true in zip(found.shape, value.shape, strict=True)
        ):
            return "wrong", f"{found.shape}, in truth {value.shape}"
        elif not all(isinstance(size, int) for size in found.shape):
            verdict = "partial"
    errors = [d for d in report.diagnostics if d.severity == "error"]
    if errors:
        return "rejected", errors[0].message
    if report.unsupported:
        return "unsupported", ", ".join(report.unsupported)
    return verdict, why


def same(found: Any, true: Any) -> bool:
    found = numpy.asarray(found)
    if found.shape != true.shape:
        return False
    if true.dtype.kind in "iub":
        return bool(numpy.array_equal(found, true))
    within = BFLOAT if true.dtype.name == "bfloat16" else TOLERANCE
    return bool(numpy.allclose(found.astype(float), true.astype(float), equal_nan=True, **within))


def values(model: Any, inputs: list[Any], outputs: list[Any]) -> tuple[str, str]:
    if any(v is None or v.dtype.kind in "OUS" for v in (*inputs, *outputs)):
        return "not run", "not tensors of numbers"
    try:
        found = axon.from_onnx(model).model(*inputs)
    except axon.AxonError as problem:
        return "not run", str(problem).splitlines()[0]
    found = found if isinstance(found, tuple) else (found,)
    if len(found) != len(outputs):
        return "different", f"{len(found)} results"
    for i, (mine, true) in enumerate(zip(found, outputs, strict=True)):
        if not same(mine, true):
            return "different", f"output {i}: {numpy.asarray(mine).shape}, {true.shape}"
    return "equal", ""


def judge(case: Any, operator: str) -> Outcome:
    inputs, outputs = ([array(v) for v in side] for side in case.data_sets[0])
    verdict, reason = shapes(case.model, outputs)
    ran, why = values(case.model, inputs, outputs)
    return Outcome(operator, case.name, verdict, ran, reason or why)


def table(outcomes: list[Outcome]) -> str:
    by_operator: dict[str, Counter[str]] = defaultdict(Counter)
    for o in outcomes:
        by_operator[o.operator][f"shapes {o.shapes}"] += 1
        by_operator[o.operator][f"values {o.values}"] += 1
    columns = [f"shapes {s}" for s in SHAPES] + [f"values {v}" for v in VALUES]
    right = sum(o.shapes == "right" for o in outcomes)
    equal = sum(o.values == "equal" for o in outcomes)
    lines = [HEADING.format(cases=len(outcomes), right=right, equal=equal)]
    lines += ["| operator | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for name in sorted(by_operator):
        counts = by_operator[name]
        lines.append(f"| {name} | " + " | ".join(str(counts[c] or "") for c in columns) + " |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", nargs="*", help="operators to look at")
    parser.add_argument("--why", action="store_true", help="list what is not right, and why")
    parser.add_argument("--table", type=Path, help="write the table by operator here")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = [c for c in collect_testcases() if c.model is not None and c.data_sets]
    named = operators(cases)
    outcomes = []
    for i, case in enumerate(cases):
        if options.only and named[case.name] not in options.only:
            continue
        if sys.stderr.isatty():
            print(f"\r{i + 1} of {len(cases)}", end="", file=sys.stderr)
        outcomes.append(judge(case, named[case.name]))
    if options.why:
        for o in outcomes:
            if o.shapes != "right" or o.values != "equal":
                print(f"{o.operator:24} {o.name:60} {o.shapes:12} {o.values:10} {o.why}")
    print(f"{len(outcomes)} cases")
    for kind, words in (("shapes", SHAPES), ("values", VALUES)):
        counts = Counter(getattr(o, kind) for o in outcomes)
        print(f"{kind}: " + ", ".join(f"{counts[w]} {w}" for w in words))
    if options.table:
        options.table.write_text(table(outcomes))
    return int(any(o.shapes in ("wrong", "rejected") or o.values == "different" for o in outcomes))


if __name__ == "__main__":
    sys.exit(main())
