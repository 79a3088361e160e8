"""One node of a model, as the rules see it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from axon.contents.values import Contents, vector
from axon.importers.expressions import (
    Call,
    Declared,
    Expression,
    ListOf,
    Literal,
    Scalar,
    SizeRef,
    TensorRef,
    TupleOf,
    TypeOf,
)
from axon.importers.importer import Importer
from axon.importers.naming import hint
from axon.importers.opened import added_up, as_plain, opened
from axon.importers.operations import Malformed, Operation, Unsupported
from axon.importers.options import Options
from axon.importers.steps import Step
from axon.inference.environment import Entry
from axon.inference.state import State
from axon.ops import OPERATORS
from axon.solver.constraints import Origin
from axon.syntax import ast
from axon.types.dim import Dim, Poly
from axon.types.type import (
    AtLeast,
    DimValue,
    Scheme,
    Shape,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
)
from axon.types.variables import DimVar, ShapeVar

Made = Expression | tuple[Expression, Expression | None] | None
"""What a rule returns: the expression of the first output, perhaps with the fallback that stands in
the program where the expression has sizes that have no names there. None if the rule has set the
outputs itself.
"""
Rule = Callable[["Node"], Made]
Rules = Callable[[Operation, int], Rule | None]
"""Finds the rule of an operation in a version of the operators, if there is one. It raises
`Malformed` for an operation that is not well-formed.
"""


class Node:
    """One node, as the rules see it. `looked` are the inputs whose contents were asked for; one
    that is `alone` is like no other, whatever it is given.
    """

    __slots__ = (
        "alone",
        "at",
        "attributes",
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
        self.attributes = operation.attributes
        self.inputs = operation.inputs
        self.outputs = operation.outputs
        self.looked: set[int] = set()
        self.alone = False

    # --- inputs and attributes ---

    @property
    def asserts(self) -> bool:
        """Whether the operation says what holds, and makes nothing."""
        return False

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

    def dim(self, index: int, axis: int) -> Any:
        """A size of an input; None if its rank is not known, or it has no such axis."""
        shape = self.shape(index)
        return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None

    def elem(self, index: int) -> Any:
        return self.importer.elem(self.name(index))

    def length(self, index: int) -> int | None:
        """How many elements an input has, if it is a vector of known size."""
        size = self.dim(index, 0) if self.rank(index) == 1 else None
        return size if isinstance(size, int) else None

    def contents(self, index: int) -> Contents | None:
        """The elements of an input, where they are known; an empty vector has none."""
        if not self.has(index):
            return None
        self.looked.add(index)
        found = self.importer.contents.get(self.inputs[index])
        return vector(()) if found is None and self.length(index) == 0 else found

    def vector(self, index: int) -> Contents | None:
        """The elements of an input that must be a vector, where they are known."""
        found = self.contents(index)
        if found is None or len(found.shape) == 1:
            return found
        self.infer(self.ranked(index, 1))
        return None

    def known_elements(self, index: int) -> list[Any] | None:
        """The elements of an input as a flat list, if all of them are known."""
        found = self.contents(index)
        if found is None:
            return None
        return None if any(item is None for item in found.items) else list(found.items)

    def element(self, index: int) -> Any:
        """The one element of an input, if it is known: a number or a dimension."""
        found = self.known_elements(index)
        return found[0] if found is not None and len(found) == 1 else None

    def ints(self, index: int) -> list[int] | None:
        """The same if they are whole numbers."""
        found = self.known_elements(index)
        if found is None or not all(isinstance(item, int) for item in found):
            return None
        return found

    def axes(self, index: int) -> list[int] | None:
        """Axes, which are an attribute in old models and an input in new ones; None if they are not
        known, or not given.
        """
        found: list[int] | None = self.ints(index) if self.has(index) else self.attribute("axes")
        return found

    def attribute(self, name: str, default: Any = None) -> Any:
        """The value of an attribute; several numbers or texts are a list."""
        found = self.attributes.get(name, default)
        return list(found) if isinstance(found, tuple) else found

    def choice(self, name: str, default: str, choices: Mapping[str, str]) -> str:
        """An attribute that is one of some words, as Axon's word for it."""
        found = self.attribute(name, default)
        if found not in choices:
            raise Unsupported(f"{self.operator} whose attribute `{name}` is {found}")
        return choices[found]

    def wants(self, output: int) -> bool:
        """Whether this output has a name."""
        return output < len(self.outputs) and self.outputs[output] != ""

    # --- as the scope of an expression ---

    @property
    def state(self) -> State:
        return self.importer.state

    def alias(self, tensor: str) -> str:
        better = hint(self.operation) if tensor.startswith("onnx::") else ""
        return self.importer.alias(tensor, better)

    def tensor_type(self, tensor: str) -> Type:
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

    def name_size(self, type_: Type, held: ast.Expr | None) -> str:
        return self.importer.name_size(Entry(type_), held)

    def name_scheme(self, scheme: Scheme) -> str:
        name, importer = self.operator, self.importer
        if importer.is_taken(name):
            name = f"the {name}"
        importer.env.names[name] = Entry(scheme)
        return name

    def name_function(self, name: str, options: Options) -> str:
        return self.importer.name_function(name, options)

    # --- expressions ---

    def call(self, operator: str, *args: Expression, **attributes: Any) -> Expression:
        """An operator applied, or a function of the library; attributes of operators that are None,
        or what they are anyway, are left out.
        """
        if attributes and operator in OPERATORS:
            usual = OPERATORS[operator].defaults
            attributes = {
                name: value
                for name, value in attributes.items()
                if value is not None and (name not in usual or usual[name] not in (value, (value,)))
            }
        return Call(operator, args, attributes)

    def cast(self, x: Expression, elem: str) -> Expression:
        """An expression with this element type."""
        return self.call("cast", x, to=elem)

    def literal(self, value: object) -> Expression:
        """A value as an expression: numbers, lists, strings, dimensions."""
        return Literal(value)

    def size(self, dim: Dim, held: Expression | None = None) -> Expression:
        """A dimension as an expression, which a run finds as `held`."""
        return SizeRef(DimValue(*sizes([dim])), held)

    def shape_literal(self, shape: Sequence[Any], held: Expression | None = None) -> Expression:
        """Sizes as a shape, which a run finds as `held`; one that is negative is an error, as in a
        program.
        """
        word = sizes(shape)
        if any(isinstance(size, int) and size < 0 for size in word):
            return ListOf([self.literal(size) for size in word])
        return SizeRef(ShapeValue(word), held)

    def held_shape(self, index: int) -> Expression:
        """The sizes that an input holds, as far as they are known."""
        found = self.vector(index)
        if found is None:
            return self.input(index)
        return self.shape_literal(self.sizes_or_fresh(found.items), self.input(index))

    def list_of(self, items: Sequence[Expression]) -> Expression:
        return ListOf(items)

    def tuple_of(self, items: Sequence[Expression]) -> Expression:
        """Some expressions as one: a tuple, if there are several."""
        return items[0] if len(items) == 1 else TupleOf(items)

    def infer(self, draft: Expression) -> Type:
        importer = self.importer
        known = None if importer.state.reasons else draft.known(self)
        return known or importer.inference.infer(draft.expr(self), importer.env)

    def shaped(self, expr: Expression, sizes: Sequence[Dim]) -> Expression:
        """A tensor of which a rule knows the sizes, from the contents of integer tensors, where
        its operator leaves them to the run. The run checks it.
        """
        return self.call("ensure_shape", self.shape_literal(sizes), expr)

    def declared(self, signature: str, *args: int | Expression) -> Expression:
        """An operator that Axon does not have, applied to these, or to these inputs: its signature
        is all that is known of it. In one such as `t p -> t ?r` a size with `?` is any.
        """
        exprs = [self.input(arg) if isinstance(arg, int) else arg for arg in args]
        return Declared(self.operator, signature, tuple(exprs))

    def type_of(self, expr: Expression) -> Expression:
        """Something of the type of an expression, which no operator of Axon makes."""
        return TypeOf(expr)

    def set_outputs(
        self,
        *exprs: Expression | None,
        fallback: Expression | None = None,
    ) -> None:
        """The outputs, one after another, of the types that the expressions have. What is known of
        their elements follows from the expressions.

        `fallback` stands in the program where an expression has sizes that cannot be said there.
        """
        for name, expr in zip(self.outputs, exprs, strict=False):
            if name and expr is not None:
                before = self.importer.trouble()
                found = self.infer(expr)
                wrong = self.importer.trouble() != before  # what is refused has no elements
                self.define((name,), (found,), () if wrong else (expr.contents(self),))
                self.step((name,), sayable(expr), fallback)

    def set_made(self, made: Made) -> None:
        """The first output, as a rule returns it."""
        if isinstance(made, tuple):
            self.set_outputs(made[0], fallback=made[1])
        else:
            self.set_outputs(made)

    def define(
        self,
        names: Sequence[str],
        types: Sequence[Type],
        contents: Sequence[Contents | None] = (),
    ) -> None:
        """Tensors that an expression makes. A size that it leaves to the run is a variable of the
        model: what follows may tell what it is. A value that is a size is the tensor that it can
        be.
        """
        importer = self.importer
        found: Sequence[Type] = [importer.resolve(type_) for type_ in types]
        plain = [as_plain(type_, importer.simplest) for type_ in found]
        made = [  # what was bound in a step is kept, as the reasons for a size are told by it
            own if form is type_ else form
            for own, type_, form in zip(types, found, plain, strict=True)
            if form is not None
        ]
        if len(made) < len(plain):
            given = [importer.type(name) for name in self.inputs if name in importer.types]
            origin = Origin("value", self.span, self.operator)
            opens = opened(importer.state, found, given, origin)
            made = [added_up(type_) for type_ in opens]
        known = [*contents, *[None] * (len(types) - len(contents))]
        for name, type_, each in zip(names, made, known, strict=False):
            if name:
                importer.define(name, type_, each)

    def ranked(self, index: int, rank: int) -> Expression:
        """An input that has as many dimensions as the operator has sizes for."""
        return self.sized(index, [None] * rank)

    def sized(self, index: int, sizes: Sequence[int | None]) -> Expression:
        """An input that must have these sizes, by an attribute or another input; None is any. If it
        is not known to have them, they are checked here.
        """
        x, own = self.input(index), self.shape(index)
        if own is not None and len(own) == len(sizes):
            pairs = zip(own, sizes, strict=True)
            if all(size is None or size == n for n, size in pairs):
                return x
        wanted = [-1 if size is None else size for size in sizes]
        asked = self.call("ensure_shape", x, sizes=wanted)
        self.infer(asked)
        return asked

    def refuse_axis(self, index: int, axis: int) -> None:
        """An input does not have this axis: an error here, and in the program that is written."""
        missing = self.call("size", self.input(index), axis=axis)
        self.infer(missing)
        self.step((next(filter(None, self.outputs)),), missing)

    def set_tuple_outputs(
        self,
        expr: Expression,
        names: Sequence[str] | None = None,
        fallback: Expression | None = None,
    ) -> None:
        """The outputs, or the tensors of these names, are the parts of a tuple."""
        if names is None:
            names = self.outputs
        else:
            if not set(names) <= set(self.outputs):
                self.alone = True  # another node has names of its own
        known = expr.parts(self)
        found = self.importer.state.prune(self.infer(expr))
        items = found.items if isinstance(found, Tuple) else ()
        self.define(names, items, known[: len(items)])
        count = len(items) or len(names)
        unnamed = [""] * (count - len(names))
        self.step((*names[:count], *unnamed), sayable(expr), fallback)

    def step(
        self,
        names: tuple[str, ...],
        expr: Expression | None,
        fallback: Expression | None = None,
        tensor: Any = None,
    ) -> None:
        """Take down what makes tensors, for the program that the model becomes, if requested."""
        if self.importer.writes:
            self.importer.steps.append(Step(names, expr, self.operation, fallback, tensor))

    def scalar(self, value: Any, elem: str) -> Expression:
        """A number of an element type."""
        if isinstance(value, bool) and elem == "bool":
            return self.literal(value)
        if not elem.startswith(("f", "bf")) and not math.isfinite(value):
            raise Malformed(f"{value} is no number of type {elem}")
        return Scalar(float(value) if elem.startswith(("f", "bf")) else int(value), elem)

    def unknown(self, elem: Any = None) -> Tensor:
        return self.importer.unknown(elem)

    def fresh_dim(self) -> DimVar:
        return self.importer.state.fresh_dim()

    def sizes_or_fresh(self, sizes: Sequence[Any]) -> list[Any]:
        """Sizes, with a variable in the place of each that is not known."""
        return [self.fresh_dim() if size is None else size for size in sizes]

    def guard(self, dim: Dim) -> None:
        """What the model takes for granted, and a run checks: that this is not negative."""
        origin = Origin("size", self.span, self.operator)
        self.importer.state.post(AtLeast(dim, silent=True), origin)
        self.importer.state.sizes.add(dim)


class Format(NamedTuple):
    """What inference needs of a format: its rules, and what they see of an operation. Where inputs
    are usually `batched`, an input that may have a batch in front or none is suggested with one.
    """

    rules: Rules
    node: Callable[..., Node] = Node
    batched: bool = False


def sizes(shape: Sequence[Any]) -> tuple[Any, ...]:
    """What a file has for sizes, if it is whole numbers."""
    for item in shape:
        if not isinstance(item, int | DimVar | Poly | ShapeVar):
            raise Malformed(f"{item} is no size")
    return tuple(shape)


def sayable(expr: Expression) -> Expression | None:
    """The expression, if a program can say it; if not, the program declares an operator."""
    return None if isinstance(expr, Declared | TypeOf) else expr
