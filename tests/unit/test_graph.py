"""The graph of a definition: what it looks like, and what verification finds in broken ones."""

from __future__ import annotations

from dataclasses import replace

from axon.driver import check_and_link, graph
from axon.graph.graph import Apply, Call, Check, Function, Graph, Item, Value
from axon.graph.show import show_graph
from axon.graph.verify import verify
from axon.source import Source
from axon.types.type import Tensor
from axon.types.variables import DimVar, ElemVar


def made(text: str, *ranks: int, name: str = "f", elem: str = "f32") -> Graph:
    checked, module = check_and_link(Source("net.axon", text))
    assert checked.ok, checked.diagnostics
    params = [Tensor(elem, tuple(DimVar("", 1, scope=1) for _ in range(rank))) for rank in ranks]
    found = graph(module, name, params)
    assert isinstance(found, Graph), found
    assert verify(found) == []
    return found


ATTENTION = """
f = fn (Q : t [m,d], K, V) {
  scores = matmul(Q, transpose(K)) / sqrt(d);
  unused = exp(scores);
  matmul(softmax(scores), V)
};
"""


def test_a_graph_reads_like_the_program() -> None:
    assert (
        show_graph(made(ATTENTION, 2, 2, 2))
        == """\
f(Q : f32 [m,d], K : f32 [a,d], V : f32 [a,b]) {
  v4 = transpose(K)                             : f32 [d,a]
  v5 = matmul(Q, v4)                            : f32 [m,a]
  v6 = sqrt(d)                                  : f32
  scores = (v5 / v6)                            : f32 [m,a]
  v8 = softmax(scores)                          : f32 [m,a]
  v9 = matmul(v8, V)                            : f32 [m,b]
  v9
}"""
    )


def test_a_function_of_the_file_is_called_and_made_once() -> None:
    text = "half = fn (x) { x / 2 }; f = fn (x : f32 [n], y : f32 [m]) { half(half(x)), half(y) };"
    found = made(text, 1, 1)
    calls = [node for node in found.nodes if isinstance(node, Call)]
    assert len(calls) == 3 and len({call.graph for call in calls}) == 1
    assert show_graph(found).startswith("half(x : f32 [a]) {")


def test_local_functions_are_inlined() -> None:
    found = made("f = fn (x : f32 [n]) { twice = fn (g, y) { g(g(y)) }; twice(relu, x) };", 1)
    assert [n.operator.name for n in found.nodes if isinstance(n, Apply)] == ["relu", "relu"]


def test_functions_given_to_operators_stay() -> None:
    found = made("f = fn (x : f32 [n,m], b : f32 [m]) { map(fn (r) { r + b }, x) };", 2, 1)
    (node,) = found.nodes
    assert isinstance(node, Apply) and isinstance(node.operands[0], Function)


def test_a_check_stands_behind_what_makes_the_size() -> None:
    text = "f = fn (x : f32 [n], y : f32 [3]) { k = gather(x, nonzero(x)); max(k, y) };"
    kinds = [type(node).__name__ for node in made(text, 1, 1).nodes]
    assert kinds.index("Check") == kinds.index("Apply") + 1


def test_conditions_of_the_arguments_come_first() -> None:
    found = made("f = fn (x, y) { x + y };", 1, 2)
    assert len(found.requires) == 1
    assert "require c = broadcast(a, b)" in show_graph(found) or "require" in show_graph(found)


def test_verification_finds_what_is_wrong() -> None:
    whole = made(ATTENTION, 2, 2, 2)
    first, *rest = whole.nodes
    assert isinstance(first, Apply)
    assert "used before it is made" in verify(replace(whole, nodes=tuple(rest)))[0]
    assert "made twice" in verify(replace(whole, nodes=(first, *whole.nodes)))[0]
    stranger = Value("z", whole.params[0].type)
    assert "`z` is used" in verify(replace(whole, result=stranger))[0]
    bare = replace(first, attributes={})
    assert "transpose lacks perm" in verify(replace(whole, nodes=(bare, *rest)))[0]
    open_ = Value("", Tensor(ElemVar(), ()))
    part = Item(open_, whole.params[0], 0)
    told = verify(replace(whole, nodes=(*whole.nodes, part)))
    assert any("element type" in text for text in told) and any("no part" in text for text in told)


def test_a_size_that_nothing_has_is_found() -> None:
    whole = made("f = fn (x : f32 [n]) { zeros([n]) };", 1)
    other = Value("y", Tensor("f32", (DimVar(),)))
    assert "is not known where it is needed" in verify(replace(whole, params=(other,)))[0]


def test_a_run_time_check_is_kept_though_nothing_uses_it() -> None:
    text = "f = fn (x : f32 [n], y : f32 [3]) { z = max(gather(x, nonzero(x)), y); x };"
    assert any(isinstance(node, Check) for node in made(text, 1, 1).nodes)
