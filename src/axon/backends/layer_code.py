"""The line of code that computes a run of layers."""

from __future__ import annotations

from axon.backends.layers import Layers, Stacks, count, structure
from axon.backends.size_code import SizeCode
from axon.graph.graph import Call, Value
from axon.graph.layer_runs import LayerRun
from axon.types.type import Tuple


def write_run(
    body: SizeCode, run: LayerRun, function: str, root: str, stacks: Stacks
) -> list[tuple[Value, bool]]:
    """Write a run; returns the values that have a name now, and whether all of each is there."""
    first = run.calls[0]
    kept = [(i, wanted) for i, wanted in enumerate(run.wanted) if wanted]
    operands = structure(Tuple(tuple([param.type for param in first.graph.params])))
    result = structure(first.result.type)
    lines = _line(first), _line(run.calls[-1])
    layers = Layers(
        root, first.graph.name, lines, operands, result, run.state, run.same, tuple(kept)
    )
    do = body.names.constant(stacks.run(layers), "layers")
    given = ", ".join(_given(body, run, i) for i in range(len(run.calls)))
    values = [run.calls[i].result for i, _ in kept]
    for value in values:
        body.values[value] = body.names.fresh(value.name)
    body.line(f"{''.join(f'{body.values[v]}, ' for v in values)}= {do}({function}, {given})")
    return [
        (value, len(wanted) == count(result))
        for value, (_, wanted) in zip(values, kept, strict=True)
    ]


def _given(body: SizeCode, run: LayerRun, number: int) -> str:
    """The leaves of one call's operands; None for those that are known by the calls before."""
    known = run.same.union(at for at, _ in run.state) if number else frozenset()
    texts = [
        "None"
        if at in known
        else body.operand(leaf.root) + "".join(f"[{index}]" for index in leaf.path)
        for at, leaf in enumerate(run.leaves[number])
    ]
    return f"({''.join(f'{text}, ' for text in texts)})"


def _line(call: Call) -> int:
    return call.span.line
