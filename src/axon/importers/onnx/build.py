"""From a model to a program: node by node, each inferred as soon as it is written.

What inference knows so far is used to fold computations of sizes: an integer tensor whose elements
are known, as numbers or as dimensions, has *contents*, and what takes them gets them as a shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy

from axon.importers.onnx.memo import Given, Kinds, Memo, Seen, has_graphs, variables
from axon.importers.onnx.renamed import put_attributes, renamed, used
from axon.inference.environment import Entry, Environment
from axon.inference.infer import Inference
from axon.inference.state import State
from axon.ops import OPERATORS
from axon.solver.constraints import Origin
from axon.source import Source, Span
from axon.syntax import ast
from axon.types import dim as dims
from axon.types.dim import Dim, Poly
from axon.types.type import (
    UNKNOWN,
    AtLeast,
    DimValue,
    Fn,
    Shape,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    Unknown,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar

MOST_CONTENTS = 2048
MOST_RANK = 64
MOST_WRITTEN_OUT = 100_000
"""Nodes of functions, counted wherever the functions are called."""
RESERVED = frozenset(
    {"fn", "op", "import", "as", "where", "true", "false", "inf", "nan", "shape", "dim"}
)

ELEMENTS = {
    1: "f32", 2: "u8", 3: "i8", 4: "u16", 5: "i16", 6: "i32", 7: "i64", 9: "bool",
    10: "f16", 11: "f64", 12: "u32", 13: "u64", 16: "bf16",
}  # fmt: skip
"""Element types by their numbers in ONNX."""

DOMAINS = ("", "ai.onnx", "ai.onnx.preview", "ai.onnx.preview.training")
"""Whose operators the rules are for."""

Contents = Any
"""A NumPy array of objects: numbers, dimensions, or None where an element is not known."""


class Unsupported(Exception):
    """A node that has no rule: its results are not known, and the rest goes on."""


@dataclass(frozen=True, slots=True)
class Step:
    """Tensors, and the expression that makes them; None where no operator of Axon does.

    `otherwise` makes them too, without the sizes that `expr` needs to say; `tensor` is what a
    Constant holds.
    """

    names: tuple[str, ...]
    expr: ast.Expr | None
    node: Any
    otherwise: ast.Expr | None = None
    tensor: Any = None


@dataclass(frozen=True, slots=True)
class Again:
    """The steps of an earlier node, for a node like it."""

    steps: tuple[Step, ...]
    like: Any
    node: Any


Parts = str | tuple[Any, ...]
"""A tensor by its name, or a tuple of such."""


@dataclass(frozen=True, slots=True)
class Inner:
    """A graph inside a node, as a function: what it takes and what it gives. It is one only if the
    tensors that are `same` have the same types in the end.
    """

    params: tuple[Parts, ...]
    result: Parts
    steps: tuple[Step | Again, ...]
    same: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Called:
    """A call of a function of the model's own: what it calls the tensors that it is given, and all
    that was made for it.
    """

    domain: str
    name: str
    parameters: dict[str, str]
    names: frozenset[str]


@dataclass(slots=True)
class Importer:
    """A graph in the making. `types` and `contents` are by the names of tensors in the model."""

    name: str
    nodes: Sequence[Any] = ()
    state: State = field(default_factory=State)
    types: dict[str, Type] = field(default_factory=dict)
    contents: dict[str, Contents] = field(default_factory=dict)
    inner: dict[str, set[str]] = field(default_factory=dict)
    """The tensors of graphs inside nodes by their own names: each has a name here that tells it
    from others of that name.
    """
    hidden: set[str] = field(default_factory=set)
    """The names that the model's own graph does not have."""
    graphs: dict[str, Inner] = field(default_factory=dict)
    calls: list[Called] = field(default_factory=list)
    sequences: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The tensors that sequences hold."""
    aliases: dict[str, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=lambda: {*RESERVED, *OPERATORS, *ELEMENTS.values()})
    unsupported: dict[str, str] = field(default_factory=dict)
    env: Environment = field(default_factory=Environment)
    functions: dict[tuple[str, str], Any] = field(default_factory=dict)
    sized: set[Dim] = field(default_factory=set)
    steps: list[Step | Again] = field(default_factory=list)
    memo: Memo = field(default_factory=Memo)
    odd: list[tuple[str, str]] = field(default_factory=list)
    """Nodes that make no sense, as what a rule tripped over shows."""
    opset: int = 0
    unsolved: int = 0
    depth: int = 0
    written_out: int = 0
    inference: Inference = field(init=False)
    spans: dict[int, Span] = field(default_factory=dict)
    resolved: dict[int, tuple[int, Type, Type]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.state.level = self.state.depth = 1
        self.inference = Inference(self.state, lambda _: None)

    # --- tensors ---

    def define(self, name: str, type_: Type, contents: Contents = None) -> None:
        """From here on the model's tensor of that name has this type."""
        self.types[name] = type_
        self.memo.kinds.pop(name, None)
        if name in self.aliases:
            self.env.names[self.aliases[name]] = Entry(type_)
        if contents is not None and _is_small(contents):
            self.contents[name] = contents
        else:
            self.contents.pop(name, None)

    def forget(self, name: str) -> tuple[Type | None, Contents]:
        """From here on no tensor has that name; what was known of it."""
        self.memo.kinds.pop(name, None)
        self.sequences.pop(name, None)
        return self.types.pop(name, None), self.contents.pop(name, None)

    def alias(self, name: str, hint: str = "", own: str = "") -> str:
        """A name for a tensor that a program can have; the hint is for one without a good name, and
        one of a graph inside a node has a name of its own there.
        """
        known = self.aliases.get(name)
        if known is None:
            own = own or name
            base = short(hint if hint and own.startswith("onnx::") else own)
            known, number = base, 1
            while known in self.taken:
                number += 1
                known = f"{base}_{number}"
            self.taken.add(known)
            self.aliases[name] = known
            if name in self.types:
                self.env.names[known] = Entry(self.types[name])
        return known

    def span(self, at: int) -> Span:
        """A node as a line of a text; who does not ask for reasons has no use for the text."""
        return self.line(-1 if self.state.direct else at)

    def line(self, at: int) -> Span:
        """A node as a line of a text, to point at."""
        found = self.spans.get(at)
        if found is None:
            text = _line(self.nodes[at]) if at >= 0 else ""
            found = self.spans[at] = Span(Source(self.name, text, at), 0, len(text))
        return found

    def shape(self, name: str) -> Shape | None:
        """What is known of a tensor's shape, as far as it is one of known rank."""
        type_ = self.type(name)
        if not isinstance(type_, Tensor):
            return None
        for item in type_.shape:
            if isinstance(item, ShapeVar):
                return None
        return type_.shape

    def elem(self, name: str) -> Any:
        type_ = self.type(name)
        return type_.elem if isinstance(type_, Tensor) else ElemVar("", self.state.level)

    def type(self, name: str) -> Type:
        """The type of a tensor, all that is known put in; found again only if more is known."""
        raw = self.types.get(name, UNKNOWN)
        state = self.state
        stamp = state.store.clock + len(state.elems) + len(state.types)
        known = self.resolved.get(id(raw))
        if known is None or known[0] != stamp:
            known = self.resolved[id(raw)] = stamp, state.resolve(raw), raw
        return known[1]

    def unknown(self, elem: Any = None, rank: int | None = None) -> Tensor:
        """A tensor of which nothing, or no more than this, is known."""
        elem = elem or ElemVar("", self.state.level)
        if rank is None or not 0 <= rank <= MOST_RANK:
            return Tensor(elem, (self.state.fresh_shape(),))
        return Tensor(elem, tuple(self.state.fresh_dim() for _ in range(rank)))

    # --- nodes ---

    def run(self, rules: dict[str, Rule]) -> None:
        for at, node in enumerate(self.nodes):
            self.node(node, at, rules)

    def node(self, proto: Any, at: int, rules: dict[str, Rule]) -> None:
        """A node of the model, or of a graph or a function inside the one at this place."""
        key = self.memo.key(proto, self.kinds)
        seen = self.memo.seen.get(key)
        if seen is not None and self._again(proto, seen):
            return
        before, steps = self._trouble(), len(self.steps)
        node = self._infer(proto, at, rules)
        if self._trouble() == before and self._comes_again(proto):
            if self.memo.look(proto, node.looked):
                key = self.memo.key(proto, self.kinds)
            outputs = tuple(self._given(name) if name else None for name in proto.output)
            made = tuple(step for step in self.steps[steps:] if isinstance(step, Step))
            self.memo.seen[key] = Seen(proto, outputs, made)

    def _again(self, proto: Any, seen: Seen) -> bool:
        """Give what a node like this one gave, if the same outputs are wanted."""
        names = list(proto.output)
        for name, given in zip(names, seen.outputs, strict=True):
            if (name == "") != (given is None):
                return False
        for name, given in zip(names, seen.outputs, strict=True):
            if given is not None:
                self.types[name] = given.type
                self.memo.kinds[name] = given.kinds
                if given.contents is not None:
                    self.contents[name] = given.contents
                else:
                    self.contents.pop(name, None)
                if name in self.aliases:
                    self.env.names[self.aliases[name]] = Entry(given.type)
        self.steps.append(Again(seen.steps, seen.node, proto))
        return True

    def _infer(self, proto: Any, at: int, rules: dict[str, Rule]) -> Node:
        node = Node(self, proto, at, rules)
        rule = rules.get(proto.op_type) if proto.domain in DOMAINS else None
        function = self.functions.get((proto.domain, proto.op_type))
        before = len(self.steps)
        try:
            if function is not None:
                node.call_function(function)
            elif rule is None:
                raise Unsupported(proto.op_type)
            else:
                rule(node)
        except Unsupported as problem:
            self.unsupported[proto.op_type] = str(problem)
            self.unsolved += 1
        except Exception as problem:  # a file can say anything; what it says here makes no sense
            text = f"{type(problem).__name__}: {problem}"
            self.odd.append((proto.name or ", ".join(proto.output), text))
            self.unsupported[proto.op_type] = text
        made = {name for step in self.steps[before:] for name in _names(step)}
        for name in proto.output:
            if name and name not in self.types:
                self.define(name, self.unknown())
            if name and name not in made:
                node.step((name,), None)
            for dim in self.shape(name) or ():
                if isinstance(dim, Poly):
                    self.sized.add(dim)
        return node

    # --- what comes again ---

    def kinds(self, name: str) -> Kinds:
        """What a tensor is, as far as inference can tell it from others."""
        if name not in self.types:
            return (-1, -1) if name == "" else (-2, -2)
        found = self.memo.kinds[name] = self._given(name).kinds
        return found

    def _given(self, name: str) -> Given:
        type_ = self.type(name)
        held = self.contents.get(name)
        return Given(type_, held, self.memo.kinds_of(type_, held))

    def _trouble(self) -> tuple[int, ...]:
        """How much went wrong so far: a node that adds to it is looked at each time."""
        state = self.state
        return len(state.store.conflicts), len(state.diagnostics), len(self.odd), self.unsolved

    def _comes_again(self, proto: Any) -> bool:
        """Whether a node like this one gives the same: an output that has a variable of its own,
        which no input has, is no other node's.
        """
        if has_graphs(proto) or (proto.domain, proto.op_type) in self.functions:
            return False
        if self.sequences and any(n in self.sequences for n in (*proto.input, *proto.output)):
            return False  # it speaks of their elements

        own = self._variables(proto.output)
        return not own or own <= self._variables(proto.input)

    def _variables(self, names: Sequence[str]) -> set[Any]:
        known = [name for name in names if name in self.types]
        return set(variables(map(self.type, known), map(self.contents.get, known)))

    def is_size(self, dim: Dim) -> bool:
        """Whether it is known not to be negative: some tensor has it as a size."""
        return dims.is_nonnegative(dim) or dim in self.sized


Rule = Callable[["Node"], None]


class Node:
    """One node, as the rules see it."""

    def __init__(self, importer: Importer, proto: Any, at: int, rules: dict[str, Rule]) -> None:
        self.importer = importer
        self.proto = proto
        self.at = at
        self.rules = rules
        self.span = importer.span(at)
        self.attributes = {a.name: a for a in proto.attribute}
        self.looked: set[int] = set()
        """The inputs whose contents were asked for."""

    # --- what it is given ---

    @property
    def count(self) -> int:
        return len(self.proto.input)

    @property
    def outputs(self) -> list[str]:
        return list(self.proto.output)

    def has(self, index: int) -> bool:
        return index < len(self.proto.input) and self.proto.input[index] != ""

    def name(self, index: int) -> str:
        if not self.has(index):
            raise Unsupported(f"{self.proto.op_type} without input {index}")
        return str(self.proto.input[index])

    def given(self, index: int) -> ast.Expr:
        """An input, as an expression."""
        name = self.name(index)
        if name not in self.importer.types:
            self.importer.define(name, self.importer.unknown())
        return ast.Name(self.importer.alias(name, hint(self.proto)), self.span)

    def rank(self, index: int) -> int | None:
        shape = self.shape(index)
        return None if shape is None else len(shape)

    def shape(self, index: int) -> Shape | None:
        return self.importer.shape(self.name(index)) if self.has(index) else None

    def elem(self, index: int) -> Any:
        return self.importer.elem(self.name(index))

    def contents(self, index: int) -> Contents:
        """The elements of an input, where they are known."""
        if not self.has(index):
            return None
        self.looked.add(index)
        return self.importer.contents.get(self.name(index))

    def whole(self, index: int) -> list[Any] | None:
        """The elements of an input as a flat list, if all of them are known."""
        found = self.contents(index)
        if found is None or any(item is None for item in found.flat):
            return None
        return list(found.flat)

    def ints(self, index: int) -> list[int] | None:
        """The same if they are whole numbers."""
        found = self.whole(index)
        if found is None or not all(isinstance(item, int) for item in found):
            return None
        return found

    def attribute(self, name: str, default: Any = None) -> Any:
        """The value of an attribute."""
        found = self.attributes.get(name)
        if found is None:
            return default
        match found.type:
            case 1:  # as it was written: the file has what f32 makes of it
                return float(str(numpy.float32(found.f)))
            case 2:
                return int(found.i)
            case 3:
                return found.s.decode("utf-8", "replace")
            case 4:
                return found.t
            case 5:
                return found.g
            case 6:
                return [float(x) for x in found.floats]
            case 7:
                return [int(x) for x in found.ints]
            case 8:
                return [s.decode("utf-8", "replace") for s in found.strings]
            case _:
                return default

    # --- what it says ---

    def call(self, operator: str, *args: ast.Expr, **attributes: object) -> ast.Expr:
        """An operator applied; attributes that are None, or what they are anyway, are left out."""
        usual = OPERATORS[operator].defaults
        given = tuple(
            ast.Attribute(name, self.literal(value), self.span)
            for name, value in attributes.items()
            if value is not None and (name not in usual or usual[name] != value)
        )
        if operator in INFIX and len(args) == 2:
            return ast.Infix(operator, args[0], args[1], self.span, self.span)
        return ast.Call(ast.Name(operator, self.span), args, given, self.span)

    def literal(self, value: object) -> ast.Expr:
        """A value as an expression: numbers, lists, strings, dimensions."""
        span = self.span
        match value:
            case bool():
                return ast.Number(value, "bool", str(value).lower(), span)
            case int() if value < 0:
                return ast.Negate(ast.Number(-value, "int", str(-value), span), span)
            case int():
                return ast.Number(value, "int", str(value), span)
            case float() if value < 0:
                return ast.Negate(ast.Number(-value, "float", str(-value), span), span)
            case float():
                return ast.Number(value, "float", str(value), span)
            case str():
                return ast.String(value, span)
            case list() | tuple():
                return ast.ListExpr(tuple(self.literal(item) for item in value), span)
            case Elem(name):
                return ast.Name(name, span)
            case _:
                return self.size(value)  # type: ignore[arg-type]

    def size(self, dim: Dim) -> ast.Expr:
        """A dimension as an expression."""
        return self.held(DimValue(dim))

    def shape_literal(self, shape: Sequence[Dim]) -> ast.Expr:
        return self.held(ShapeValue(tuple(shape)))

    def held(self, type_: Type) -> ast.Expr:
        """An expression of a type: a name of its own for it."""
        env = self.importer.env
        name = f"size {len(env.names)}"
        env.names[name] = Entry(type_)
        return ast.Name(name, self.span)

    def infer(self, expr: ast.Expr) -> Type:
        return self.importer.inference.infer(expr, self.importer.env)

    def gives(
        self,
        *exprs: ast.Expr | Type | None,
        contents: Contents = None,
        otherwise: ast.Expr | None = None,
    ) -> None:
        """The outputs, one after another: expressions, or types where no expression says it.

        `otherwise` stands in the program where the expression, or the type, cannot be said there.
        """
        for name, expr in zip(self.proto.output, exprs, strict=False):
            if not name or expr is None:
                continue
            if isinstance(expr, TYPES):
                self.importer.define(name, sensible(expr), contents)
                self.step((name,), None, otherwise)
            else:
                self.importer.define(name, self.infer(expr), contents)
                self.step((name,), expr, otherwise)

    def says(self, expr: ast.Expr, type_: Type, contents: Contents = None) -> None:
        """The output is an expression that is a size, seen as the tensor that it can be."""
        self.infer(expr)
        self.importer.define(self.outputs[0], type_, contents)
        self.step((self.outputs[0],), expr)

    def gives_parts(self, expr: ast.Expr) -> None:
        """The outputs are the parts of a tuple."""
        found = self.importer.state.prune(self.infer(expr))
        if isinstance(found, Tuple):
            for name, item in zip(self.proto.output, found.items, strict=False):
                if name:
                    self.importer.define(name, item)
            unnamed = [""] * (len(found.items) - len(self.proto.output))
            self.step((*self.proto.output[: len(found.items)], *unnamed), expr)

    def step(
        self,
        names: tuple[str, ...],
        expr: ast.Expr | None,
        otherwise: ast.Expr | None = None,
        tensor: Any = None,
    ) -> None:
        """Take down what makes tensors, for the program that the model becomes."""
        self.importer.steps.append(Step(names, expr, self.proto, otherwise, tensor))

    def scalar(self, value: Any, elem: Any) -> ast.Expr:
        """A number of an element type."""
        if isinstance(value, bool) and elem == "bool":
            return self.literal(value)
        number = self.literal(float(value) if str(elem).startswith(("f", "bf")) else int(value))
        return self.call("cast", number, to=Elem(str(elem)))

    def unknown(self, elem: Any = None, rank: int | None = None) -> Tensor:
        return self.importer.unknown(elem, rank)

    def fresh_dim(self) -> DimVar:
        return self.importer.state.fresh_dim()

    def guard(self, dim: Dim) -> None:
        """What the model takes for granted, and a run checks: that this is not negative."""
        origin = Origin("size", self.span, self.proto.op_type)
        self.importer.state.post(AtLeast(dim, silent=True), origin)
        self.importer.state.sizes.add(dim)

    def axis(self, axis: int, rank: int | None) -> int:
        """An axis that is counted from the front where the rank is known."""
        return axis + rank if rank is not None and axis < 0 else axis

    def call_function(self, function: Any) -> None:
        """A function of the model's own, written out where it is called."""
        importer = self.importer
        if importer.depth > 12:
            raise Unsupported(f"{self.proto.op_type}: functions call each other too deeply")
        inside: dict[str, str] = dict(zip(function.input, self.proto.input, strict=False))
        outside = dict(zip(function.output, self.proto.output, strict=False))
        prefix = f"{self.proto.output[0]}/"
        importer.written_out += len(function.node)
        if importer.written_out > MOST_WRITTEN_OUT:
            raise Unsupported(f"{self.proto.op_type}: functions call each other too often")
        given = {a.name: a for a in function.attribute_proto} | self.attributes
        importer.depth += 1
        before = len(importer.steps)
        for proto in function.node:
            for name in proto.output:
                inside[name] = outside.get(name, name and prefix + name)
            copy = renamed(proto, {n: inside.get(n, n and prefix + n) for n in used(proto)})
            put_attributes(copy, given)
            importer.node(copy, self.at, self.rules)
        importer.depth -= 1
        names = frozenset(n for step in importer.steps[before:] for n in _names(step) if n)
        parameters = dict(zip(self.proto.input, function.input, strict=False))
        importer.calls.append(Called(function.domain, function.name, parameters, names))


@dataclass(frozen=True, slots=True)
class Elem:
    """An element type, as the value of an attribute."""

    name: str


Expression = (
    ast.Name | ast.Number | ast.Call | ast.Infix | ast.Negate | ast.TupleExpr | ast.ListExpr
)
INFIX = frozenset({"+", "-", "*", "/", "@", "==", "!=", "<", "<=", ">", ">="})
TYPES = (Tensor, Tuple, Fn, ShapeValue, DimValue, TypeVar, Unknown)


def sensible(type_: Any) -> Type:
    """A type that a rule made of what a file says, if its sizes are some."""
    for item in type_.shape if isinstance(type_, Tensor) else ():
        size: Any = item
        if not isinstance(size, int | DimVar | Poly | ShapeVar):
            raise TypeError(f"{size!r} is no size")
        if isinstance(size, int) and size < 0:
            raise ValueError(f"{size} is no size")
    return type_  # type: ignore[no-any-return]


def _is_small(contents: Contents) -> bool:
    """Few elements that a run could have: what is doubled or squared again and again grows
    without end.
    """
    return contents.size <= MOST_CONTENTS and all(
        not isinstance(item, int) or item.bit_length() <= 64 for item in contents.flat
    )


def short(name: str) -> str:
    """A name for a tensor that a program can have: the last words of the model's own."""
    if name.isidentifier() and name.isascii() and len(name) <= 40 and "utput" not in name:
        return name.strip("_") or "v"
    name = re.sub(r"(_output_0|_DequantizeLinear_Output|:0)+$", "", name)
    words = [w for w in re.split(r"[^A-Za-z0-9_]+", name) if w]
    kept = words[-1:] if words and not words[-1].isdigit() and len(words[-1]) > 6 else words[-2:]
    base = re.sub(r"[^A-Za-z0-9_]", "", "_".join(kept)).strip("_")[:40] or "v"
    return f"v_{base}" if base[0].isdigit() else base


def hint(node: Any) -> str:
    """A name for a weight that a node uses: `query.weight` in `/layer/query/MatMul`."""
    words = (node.name or "".join(node.output[:1])).rsplit("/", 2)
    return f"{words[-2]}.weight" if len(words) > 1 and words[-2] else ""


def _names(step: Step | Again) -> tuple[str, ...]:
    return step.names if isinstance(step, Step) else tuple(step.node.output)


def _line(node: Any) -> str:
    name = f"{node.name}: " if node.name else ""
    text = f"{name}{node.op_type}({', '.join(node.input)}) -> {', '.join(node.output)}"
    return re.sub(r"\s+", " ", text)[:2000]


def array(items: object) -> Contents:
    """Contents from a nested list."""
    return numpy.array(items, dtype=object)
