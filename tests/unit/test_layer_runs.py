"""Which calls of a graph are a run of layers."""

from __future__ import annotations

import pytest

from axon.driver import check_and_link, graph
from axon.graph.graph import Alias, Call, Graph, Item, Node, Value
from axon.graph.layer_runs import LayerRun, with_runs
from axon.source import Source
from axon.types.type import Fn

LAYERS = """
type P(d) = { w : f32 [d,d], c : f32 [d] };

one = fn (p : P(d), x : f32 [n,d]) : f32 [n,d] { tanh(x @ p.w + p.c) };
two = fn (p : P(d), x : f32 [n,d], h : f32 [n,d]) { y = tanh(x @ p.w + h); (y, h + y, sum(y)) };
scaled = fn (x : f32 [n,d], by : f32) : f32 [n,d] { tanh(x * by) };
"""
PARAMS = "x : f32 [n,d], y : f32 [n,d], a : P(d), b : P(d), c : P(d)"


def whole(body: str) -> Graph:
    text = f"{LAYERS}\nf = fn ({PARAMS}) {{ {body} }};"
    checked, module = check_and_link(Source("net.axon", text))
    assert checked.ok, checked.diagnostics
    definition = checked.find("f")
    assert definition is not None and isinstance(definition.scheme.type, Fn)
    found = graph(module, "f", definition.scheme.type.params)
    assert isinstance(found, Graph), found
    return found


def steps(body: str) -> list[Node | LayerRun]:
    return with_runs(whole(body), lambda call: call.graph)


def wanted(run: LayerRun) -> list[list[int]]:
    return [sorted(leaves) for leaves in run.wanted]


def runs(body: str) -> list[LayerRun]:
    return [step for step in steps(body) if isinstance(step, LayerRun)]


def test_calls_in_calls_are_a_run() -> None:
    (run,) = runs("one(c, one(b, one(a, x)))")
    assert len(run.calls) == 3
    assert run.state == ((2, 0),)
    assert run.same == frozenset()
    assert wanted(run) == [[], [], [0]]


def test_what_is_the_same_in_each_call() -> None:
    (run,) = runs("one(a, one(a, one(a, x)))")
    assert run.same == {0, 1}
    (run,) = runs("p = { w = a.w, c = b.c }; q = { w = a.w, c = c.c }; one(q, one(p, x))")
    assert run.same == {1}


def test_numbers_are_compared_as_they_are_written() -> None:
    (run,) = runs("scaled(scaled(x, 0.0), -0.0)")
    assert run.same == frozenset()
    (run,) = runs("scaled(scaled(x, 2.0), 2.0)")
    assert run.same == {1}


def test_a_state_of_two_parts_and_an_output() -> None:
    (run,) = runs("x1, h1, s1 = two(a, x, y); x2, h2, s2 = two(b, x1, h1); x2 * s1 + s2")
    assert run.state == ((2, 0), (3, 1))
    assert wanted(run) == [[2], [0, 2]]


def test_only_the_items_that_are_used_are_left() -> None:
    found = steps("x1, h1, s1 = two(a, x, y); x2, h2, s2 = two(b, x1, h1); x2 * s1")
    kinds = [type(step).__name__ for step in found]
    assert kinds == ["LayerRun", "Item", "Item", "Apply"]


@pytest.mark.parametrize(
    "body",
    [
        "one(b, one(a, x)) + one(c, x)",
        "x1 = one(a, x); x2 = one(b, x1); x1 + x2",
        "x1 = one(a, x); k = { w = c.w * 2, c = c.c }; x2 = one(k, x1); x2 + x1",
        "x1 = one(a, x); s = sum(x1); x2 = one(b, x1); x2 + s",
    ],
)
def test_what_is_made_of_a_result_comes_behind(body: str) -> None:
    found = steps(body)
    at = next(i for i, step in enumerate(found) if isinstance(step, LayerRun))
    run = found[at]
    assert isinstance(run, LayerRun) and len(run.calls) == 2
    made = {call.result for call in run.calls}
    for step in found[:at]:
        assert not isinstance(step, LayerRun)
        assert made.isdisjoint(getattr(step, "operands", ()))


@pytest.mark.parametrize(
    "body",
    [
        "one(a, x)",
        "one(a, x) + one(b, x)",
        "one(b, one(a, x) * 2)",
        "x1 = one(a, x); one({ w = b.w, c = x1[0] }, x1)",
        "x1, h1, s1 = two(a, x, y); x2, h2, s2 = two(b, x1, h1 * 2); x2",
        "x1, h1, s1 = two(a, x, y); x2, h2, s2 = two(b, x1, x1 + h1); x2",
    ],
)
def test_what_is_no_run(body: str) -> None:
    assert runs(body) == []


def test_a_run_ends_where_the_state_is_another() -> None:
    body = """
      x1, h1, s1 = two(a, x, y); x2, h2, s2 = two(b, x1, h1);
      x3, h3, s3 = two(c, h2, x2); x4, h4, s4 = two(a, x3, h3); x4"""
    assert [run.state for run in runs(body)] == [((2, 0), (3, 1))] * 2


def test_two_runs_side_by_side() -> None:
    found = runs("x1 = one(a, x); y1 = one(b, y); x2 = one(b, x1); y2 = one(c, y1); x2 * y2")
    assert [len(run.calls) for run in found] == [2, 2]


def test_two_runs_that_need_each_other_are_not_both_loops() -> None:
    """The second of each takes what the first of the other returns: in no order of two loops."""
    body = """
      x1, h1, s1 = two(a, x, y); u1 = one(b, y);
      x2, h2, s2 = two(b, x1, u1); u2 = one({ w = c.w, c = x1[0] }, u1); x2 + u2"""
    found = steps(body)
    assert sum(isinstance(step, LayerRun) for step in found) == 1
    made: set[Value] = set()
    for step in found:
        if isinstance(step, LayerRun):
            made.update(call.result for call in step.calls)
        elif isinstance(step, Call | Item | Alias):
            made.add(step.result)
    calls = [step for step in found if isinstance(step, Call)]
    assert len(calls) == 2 and {call.result for call in calls} <= made


def test_a_run_that_takes_what_another_one_returns() -> None:
    body = """
      x1, h1, s1 = two(a, x, y); x2, h2, s2 = two(b, x1, h1);
      y1 = one({ w = c.w, c = x1[0] }, y); y2 = one({ w = c.w, c = x2[0] }, y1); y2"""
    first, second = runs(body)
    assert wanted(first) == [[0], [0]]
    assert second.same == {1}


def test_a_kind_of_none_is_in_no_run() -> None:
    found = whole("one(b, one(a, x))")
    assert with_runs(found, lambda call: None) == list(found.nodes)
