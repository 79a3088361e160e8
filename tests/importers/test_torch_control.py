"""cond, while_loop, scan and map in PyTorch programs, and what a program asserts of sizes."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from axon.run.errors import ArgumentError
from tests.importers.torch_archives import (
    Exported,
    SymBool,
    SymInt,
    Tensor,
    infer,
    run,
    subgraph,
    types,
)

X = numpy.arange(12, dtype="f4").reshape(3, 4) - 5


def graph(count: int, build: Any) -> Exported:
    """A graph of so many inputs, whose outputs the function gives."""
    inputs = [Tensor(f"arg{i}") for i in range(count)]
    made = subgraph(inputs)
    outputs = build(made, *inputs)
    made.output(*(outputs if type(outputs) is tuple else (outputs,)))
    return made


def conditional(then: Any, else_: Any, test: Any = None) -> Exported:
    p = Exported()
    x = p.input("x", "f32", ["n", "m"])
    if test is None:
        total = p.call("aten.sum.default", self=x)
        test = p.call("aten.gt.Scalar", self=total, other=0)
    arguments = [test, graph(1, then), graph(1, else_), [x]]
    p.output(p.call("higher_order.cond", arguments=arguments))
    return p


def plus_1(p: Exported, x: Tensor) -> Tensor:
    found: Tensor = p.call("aten.add.Tensor", self=x, other=1)
    return found


def twice(p: Exported, x: Tensor) -> Tensor:
    found: Tensor = p.call("aten.mul.Tensor", self=x, other=2)
    return found


def flat(p: Exported, x: Tensor) -> Tensor:
    found: Tensor = p.call("aten.flatten.using_ints", self=x)
    return found


def test_a_condition_chooses() -> None:
    p = conditional(plus_1, twice)
    assert types(p) == ["f32 [n,m]"]
    assert (run(p, X)[0] == X + 1 if X.sum() > 0 else X * 2).all()
    assert (run(p, -X)[0] == (-X + 1 if -X.sum() > 0 else -X * 2)).all()


def test_a_condition_that_is_known() -> None:
    p = conditional(plus_1, flat, True)
    assert types(p) == ["f32 [n,m]"]
    assert (run(p, X)[0] == X + 1).all()


def test_what_branches_do_not_agree_in_is_open() -> None:
    p = conditional(plus_1, lambda p, x: p.call("aten.cat.default", tensors=[x, x], dim=0))
    assert types(p) == ["f32 [a,m]"]


def test_branches_take_what_is_around_them() -> None:
    p = Exported()
    x, w = p.input("x", "f32", ["n", 4]), p.weight("w", numpy.ones((4,), "f4"))
    test = p.call("_operator.gt", a=p.call("aten.sym_size.int", self=x, dim=0, kind=SymInt), b=2,
                  kind=SymBool)  # fmt: skip
    add = graph(2, lambda p, a, b: p.call("aten.add.Tensor", self=a, other=b))
    sub = graph(2, lambda p, a, b: p.call("aten.sub.Tensor", self=a, other=b))
    p.output(p.call("higher_order.cond", arguments=[test, add, sub, [x, w]]))
    assert types(p) == ["f32 [n,4]"]
    assert (run(p, X)[0] == X + 1).all() and (run(p, X[:2])[0] == X[:2] - 1).all()


def loop(build: Any, test: Any) -> Exported:
    p = Exported()
    x, w = p.input("x", "f32", ["n", "m"]), p.input("w", "f32", ["m"])
    condition, body = graph(2, test), graph(2, build)
    p.output(p.call("higher_order.while_loop", arguments=[condition, body, [x], [w]]))
    return p


def below_100(p: Exported, x: Tensor, w: Tensor) -> Tensor:
    total = p.call("aten.sum.default", self=p.call("aten.abs.default", self=x))
    found: Tensor = p.call("aten.lt.Scalar", self=total, other=100)
    return found


def test_while_a_condition_holds() -> None:
    def body(p: Exported, x: Tensor, w: Tensor) -> Any:
        return p.call("aten.add.Tensor", self=twice(p, x), other=w)

    p = loop(body, below_100)
    assert types(p) == ["f32 [n,m]"]
    expected, w = X.copy(), numpy.ones(4, "f4")
    while numpy.abs(expected).sum() < 100:
        expected = expected * 2 + w
    assert (run(p, X, w)[0] == expected).all()


def test_a_state_that_changes_its_size() -> None:
    def body(p: Exported, x: Tensor, w: Tensor) -> Any:
        return p.call("aten.cat.default", tensors=[x, x], dim=0)

    p = loop(body, below_100)
    assert types(p) == ["f32 [a,m]"]


def scanned(arguments: Any) -> Exported:
    p = Exported()
    x = p.input("x", "f32", ["n", "m"])
    state = p.input("h", "f32", ["m"])
    p.output(*p.call("higher_order.scan", 2, arguments=[*arguments, [state], [x], []]))
    return p


def test_scan() -> None:
    def body(p: Exported, h: Tensor, row: Tensor) -> Any:
        after = p.call("aten.add.Tensor", self=h, other=row)
        return after, p.call("aten.sum.default", self=after)

    p = scanned([graph(2, body)])
    assert types(p) == ["f32 [m]", "f32 [n]"]
    last, sums = run(p, X, numpy.ones(4, "f4"))
    assert (last == X.sum(0) + 1).all() and (sums == (X.cumsum(0) + 1).sum(1)).all()


def test_map() -> None:
    p = Exported()
    x, w = p.input("x", "f32", ["n", "m"]), p.input("w", "f32", [])
    body = graph(2, lambda p, row, w: p.call("aten.add.Tensor", self=row, other=w))
    p.output(p.call("higher_order.map_impl", arguments=[body, [x], [w]]))
    assert types(p) == ["f32 [n,m]"]
    assert (run(p, X, numpy.float32(2))[0] == X + 2).all()


@pytest.mark.parametrize("name", ["cond", "while_loop", "scan", "map_impl"])
def test_other_arguments_than_it_has(name: str) -> None:
    p = Exported()
    p.output(p.call(f"higher_order.{name}", arguments=[p.input("x"), 3]))
    report = infer(p)
    assert report.unsupported or report.diagnostics


# --- sizes that only a run knows, and what is asserted of them -----------------------------------


def counted() -> tuple[Exported, Tensor, SymInt]:
    """How many elements are positive, as a number."""
    p = Exported()
    x = p.input("x", "f32", ["n"])
    total = p.call("aten.sum.default", self=p.call("aten.gt.Scalar", self=x, other=0))
    return p, x, p.call("aten.item.default", self=total, kind=SymInt)


def asserts(p: Exported, relation: str, a: Any, b: Any) -> None:
    test = p.call(f"_operator.{relation}", a=a, b=b, kind=SymBool)
    p.call("aten._assert_scalar.default", 0, self=test, assert_msg="")


def test_a_number_that_is_used_as_a_size() -> None:
    p, _, count = counted()
    p.output(p.call("aten.ones.default", size=[count]), p.call("aten.arange.default", end=count))
    assert types(p) == ["f32 [a]", "i64 [a]"]
    ones, numbers = run(p, numpy.asarray([1, -1, 2], "f4"))
    assert ones.tolist() == [1, 1] and numbers.tolist() == [0, 1]


def test_a_number_that_is_asserted_to_be_a_size() -> None:
    p, x, count = counted()
    asserts(p, "ge", count, 0)
    asserts(p, "le", count, p.call("aten.sym_size.int", self=x, dim=0, kind=SymInt))
    first = p.call("aten.narrow.default", self=x, dim=0, start=0, length=count)
    p.output(first, p.call("aten.zeros.default", size=[count]))
    assert types(p) == ["f32 [a]", "f32 [a]"]
    assert run(p, numpy.asarray([1, -1, 2], "f4"))[0].tolist() == [1, -1]


def test_sizes_that_are_asserted_to_be_equal_are() -> None:
    p = Exported()
    x, y = p.input("x", "f32", ["n"]), p.input("y", "f32", ["m"])
    sizes = [p.call("aten.sym_size.int", self=t, dim=0, kind=SymInt) for t in (x, y)]
    asserts(p, "eq", *sizes)
    p.output(p.call("aten.neg.default", self=x), p.call("aten.neg.default", self=y))
    found = types(p)
    assert found[0] == found[1]
    with pytest.raises(ArgumentError):
        run(p, numpy.zeros(2, "f4"), numpy.zeros(3, "f4"))
