"""One node of a model, as the rules see it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from axon.importers.contents.values import Contents, Unsupported
from axon.importers.expressions import (
    Call,
    Expression,
    ListOf,
    Literal,
    Scalar,
    SizeRef,
    TensorRef,
    TupleOf,
)
from axon.importers.importer import Importer
from axon.importers.naming import hint
from axon.importers.operations import Malformed, Operation
from axon.importers.steps import Step
from axon.inference.environment import Entry
from axon.inference.state import State
from axon.inference.unify import unify
from axon.ops import OPERATORS
from axon.solver.constraints import Origin
from axon.types.dim import Dim, Poly
from axon.types.type import (
    AtLeast,
    DimEq,
    DimValue,
    Shape,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    shape_rank,
    shape_variables,
)
from axon.types.variables import DimVar, ShapeVar

Rule = Callable[["Node"], None]
Rules = Callable[[Operation, int], Rule | None]
"""What says what an operation means, in a version of the operators, if anything does. It raises
`Malformed` for one that means nothing.
"""


class Node:
    """One node, as the rules see it. `looked` are the inputs whose contents were asked for; one
    that is `alone` is like no other, whatever it is given.
    """

    __slots__ = (
        "alone",
        "at",
        "attributes",
        "domain",
        "importer",
        "inputs",
        "looked",
        "operation",
        "operator",
        "outputs",
        "rules",
        "span",
    )

    def __init__(self, importer: Importer, operation: Operation, at: int, rules: Rules) -> None:
        self.importer = importer
        self.operation = operation
        self.at = at
        self.rules = rules
        self.span = importer.span(at)
        self.operator = operation.operator
        self.domain = operation.domain
        self.attributes = operation.attributes
        self.inputs = operation.inputs
        self.outputs = operation.outputs
        self.looked: set[int] = set()
        self.alone = False

    # --- what it is given ---

    @property
    def count(self) -> int:
        return len(self.inputs)

    def has(self, index: int) -> bool:
        return index < len(self.inputs) and self.inputs[index] != ""

    def name(self, index: int) -> str:
        if index < len(self.inputs) and self.inputs[index]:
            return self.inputs[index]
        raise Unsupported(f"{self.operator} without input {index}")

    def input(self, index: int) -> Expression:
        """An input, as an expression."""
        return self.tensor(self.name(index))

    def tensor(self, name: str) -> Expression:
        """A tensor of the model, as an expression."""
        if name not in self.importer.types:
            self.importer.define(name, self.importer.unknown())
        return TensorRef(name)

    def rank(self, index: int) -> int | None:
        shape = self.shape(index)
        return None if shape is None else len(shape)

    def shape(self, index: int) -> Shape | None:
        return self.importer.shape(self.inputs[index]) if self.has(index) else None

    def elem(self, index: int) -> Any:
        return self.importer.elem(self.name(index))

    def contents(self, index: int) -> Contents | None:
        """The elements of an input, where they are known."""
        if not self.has(index):
            return None
        self.looked.add(index)
        return self.importer.contents.get(self.inputs[index])

    def vector(self, index: int) -> Contents | None:
        """The elements of an input that must be a vector, where they are known."""
        found = self.contents(index)
        if found is None or len(found.shape) == 1:
            return found
        self.has_rank(index, 1)
        return None

    def known_elements(self, index: int) -> list[Any] | None:
        """The elements of an input as a flat list, if all of them are known."""
        found = self.contents(index)
        if found is None:
            return None
        return None if any(item is None for item in found.items) else list(found.items)

    def ints(self, index: int) -> list[int] | None:
        """The same if they are whole numbers."""
        found = self.known_elements(index)
        if found is None or not all(isinstance(item, int) for item in found):
            return None
        return found

    def attribute(self, name: str, default: Any = None) -> Any:
        """The value of an attribute; several numbers or texts are a list."""
        found = self.attributes.get(name, default)
        return list(found) if isinstance(found, tuple) else found

    # --- as the place of an expression ---

    @property
    def state(self) -> State:
        return self.importer.state

    def alias(self, tensor: str) -> str:
        better = hint(self.operation) if tensor.startswith("onnx::") else ""
        return self.importer.alias(tensor, better)

    def type_of(self, tensor: str) -> Type:
        return self.importer.type(tensor)

    def shape_of(self, tensor: str) -> Shape | None:
        return self.importer.shape(tensor)

    def contents_of(self, tensor: str) -> Contents | None:
        self.looked.update([i for i, name in enumerate(self.inputs) if name == tensor])
        return self.importer.contents.get(tensor)

    @property
    def limits(self) -> list[Dim]:
        return self.importer.limits

    def is_size(self, dim: Dim) -> bool:
        return self.importer.is_size(dim)

    def name_size(self, type_: Type) -> str:
        names = self.importer.env.names
        name = f"size {len(names)}"
        names[name] = Entry(type_)
        return name

    # --- what it says ---

    def call(self, operator: str, *args: Expression, **attributes: Any) -> Expression:
        """An operator applied; attributes that are None, or what they are anyway, are left out."""
        if attributes:
            usual = OPERATORS[operator].defaults
            attributes = {
                name: value
                for name, value in attributes.items()
                if value is not None and (name not in usual or usual[name] not in (value, (value,)))
            }
        return Call(operator, args, attributes)

    def literal(self, value: object) -> Expression:
        """A value as an expression: numbers, lists, strings, dimensions."""
        return Literal(value)

    def size(self, dim: Dim) -> Expression:
        """A dimension as an expression."""
        return SizeRef(DimValue(*sizes([dim])))

    def shape_literal(self, shape: Sequence[Dim]) -> Expression:
        return SizeRef(ShapeValue(sizes(shape)))

    def list_of(self, items: Sequence[Expression]) -> Expression:
        return ListOf(items)

    def tuple_of(self, items: Sequence[Expression]) -> Expression:
        """Some expressions as one: a tuple, if there are several."""
        return items[0] if len(items) == 1 else TupleOf(items)

    def infer(self, draft: Expression) -> Type:
        importer = self.importer
        known = None if importer.state.reasons else draft.known(self)
        return known or importer.inference.infer(draft.expr(self), importer.env)

    def set_outputs(
        self,
        *exprs: Expression | Type | None,
        fallback: Expression | None = None,
    ) -> None:
        """The outputs, one after another: expressions, or types where no expression says it. What
        is known of their elements follows from the expression.

        `fallback` stands in the program where the expression, or the type, cannot be said there.
        """
        for name, expr in zip(self.outputs, exprs, strict=False):
            if not name or expr is None:
                continue
            if isinstance(expr, Expression):
                before = self.importer.trouble()
                found = self.infer(expr)
                wrong = self.importer.trouble() != before  # what is refused has no elements
                self.importer.define(name, found, None if wrong else expr.contents(self))
                self.step((name,), expr, fallback)
            else:
                type_, known = sensible(expr), None
                if fallback is not None:
                    known = fallback.contents(self)
                    self.check_type(fallback, type_)
                self.importer.define(name, type_, known)
                self.step((name,), None, fallback)

    def check_type(self, expr: Expression, type_: Type) -> None:
        """An expression is possible, and has this type; a size that it leaves to the run can be
        any. In a branch that may not run and asks for nothing so far, nothing is asked.
        """
        state = self.importer.state
        if state.sealed:
            return
        found, wanted = state.resolve(self.infer(expr)), state.resolve(type_)
        if not isinstance(found, Tensor) or not isinstance(wanted, Tensor):
            return
        if any(isinstance(n, ShapeVar) and is_at_run_time(n) for n in found.shape):
            return
        word = found.shape
        if len(word) == len(wanted.shape):
            pairs = zip(word, wanted.shape, strict=True)
            word = tuple([said if is_at_run_time(own) else own for own, said in pairs])
        elif any(map(is_at_run_time, word)) and any(isinstance(n, ShapeVar) for n in wanted.shape):
            return
        origin = Origin("value", self.span, self.operator)
        unify(state, Tensor(found.elem, word), wanted, origin)

    def set_size_output(
        self, expr: Expression, type_: Type, fallback: Expression | None = None
    ) -> None:
        """The output is an expression that is a size, seen as the tensor that it can be."""
        before = self.importer.trouble()
        self.infer(expr)
        wrong = self.importer.trouble() != before
        self.importer.define(self.outputs[0], type_, None if wrong else expr.contents(self))
        self.step((self.outputs[0],), expr, fallback)

    def has_rank(self, index: int, rank: int) -> None:
        """An input has as many dimensions as the operator has sizes for."""
        if self.has(index) and self.rank(index) != rank:
            self.has_shape(index, [None] * rank)

    def has_shape(self, index: int, sizes: Sequence[Dim | None]) -> None:
        """An input has these sizes, as an attribute or another input says; None is any."""
        self.input(index)
        own = self.shape(index)
        if own is not None and len(own) == len(sizes):
            pairs = zip(own, sizes, strict=True)
            if all(size is None or size == n for n, size in pairs):
                return
        word = tuple([self.fresh_dim() if size is None else size for size in sizes])
        given = self.importer.types[self.name(index)]
        origin = Origin("argument", self.span, self.operator, index + 1)
        unify(self.importer.state, sensible(Tensor(self.elem(index), word)), given, origin)

    def has_axis(self, index: int, axis: int) -> None:
        """An input has this axis."""
        self.infer(self.call("size", self.input(index), axis=axis))

    def set_tuple_outputs(self, expr: Expression, names: Sequence[str] | None = None) -> None:
        """The outputs, or the tensors of these names, are the parts of a tuple."""
        names = self.outputs if names is None else names
        known = expr.parts(self)
        found = self.importer.state.prune(self.infer(expr))
        if isinstance(found, Tuple):
            parts = [*known, *[None] * (len(found.items) - len(known))]
            for name, item, part in zip(names, found.items, parts, strict=False):
                if name:
                    self.importer.define(name, item, part)
            unnamed = [""] * (len(found.items) - len(names))
            self.step((*names[: len(found.items)], *unnamed), expr)

    def step(
        self,
        names: tuple[str, ...],
        expr: Expression | None,
        fallback: Expression | None = None,
        tensor: Any = None,
    ) -> None:
        """Take down what makes tensors, for the program that the model becomes, if it is wanted."""
        if self.importer.writes:
            self.importer.steps.append(Step(names, expr, self.operation, fallback, tensor))

    def for_program(self, make: Callable[[], Expression | None]) -> Expression | None:
        """What only a program needs."""
        return make() if self.importer.writes else None

    def scalar(self, value: Any, elem: str) -> Expression:
        """A number of an element type."""
        if isinstance(value, bool) and elem == "bool":
            return self.literal(value)
        if not elem.startswith(("f", "bf")) and not math.isfinite(value):
            raise Malformed(f"{value} is no number of type {elem}")
        return Scalar(float(value) if elem.startswith(("f", "bf")) else int(value), elem)

    def like(self, index: int) -> Tensor:
        """A tensor of which only is known that it has the rank and the elements of an input."""
        importer, rank = self.importer, self.rank(index)
        if rank is not None:
            return self.unknown(self.elem(index), rank)
        made, given = self.unknown(self.elem(index)), importer.type(self.name(index))
        if isinstance(given, Tensor):
            origin = Origin("value", self.span, self.operator)
            relation = DimEq(shape_rank(made.shape), shape_rank(given.shape))
            importer.state.post(relation, origin)
        return made

    def unknown(self, elem: Any = None, rank: int | None = None) -> Tensor:
        return self.importer.unknown(elem, rank)

    def fresh_dim(self) -> DimVar:
        return self.importer.state.fresh_dim()

    def guard(self, dim: Dim) -> None:
        """What the model takes for granted, and a run checks: that this is not negative."""
        origin = Origin("size", self.span, self.operator)
        self.importer.state.post(AtLeast(dim, silent=True), origin)
        self.importer.state.sizes.add(dim)

    def axis(self, axis: int, rank: int | None) -> int:
        """An axis that is counted from the front where the rank is known."""
        return axis + rank if rank is not None and axis < 0 else axis


def is_at_run_time(item: Dim | ShapeVar) -> bool:
    """Whether only the run knows a size, or some part of it."""
    return any(each.runtime for each in shape_variables((item,)))


def sensible(type_: Type) -> Type:
    """A type that a rule made of what a file says, if its sizes are some."""
    if isinstance(type_, Tensor):
        for size in sizes(type_.shape):
            if isinstance(size, int) and size < 0:
                raise Malformed(f"{size} is no size")
    return type_


def sizes(shape: Sequence[Any]) -> tuple[Any, ...]:
    """What a file has for sizes, if it is whole numbers."""
    for item in shape:
        if not isinstance(item, int | DimVar | Poly | ShapeVar):
            raise Malformed(f"{item} is no size")
    return tuple(shape)
