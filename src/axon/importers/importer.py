"""A model in the making: what is known of its tensors so far.

What inference knows so far is used to fold computations of sizes: an integer tensor whose elements
are known, as numbers or as dimensions, has *contents*, and what takes them gets them as a shape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from axon import stdlib
from axon.contents.values import Contents, is_small
from axon.driver import prelude
from axon.importers.memo import Kinds, Memo, Outcome
from axon.importers.naming import RESERVED, line_of, short
from axon.importers.nonnegative import Sizes
from axon.importers.operations import Constant, Operation, Unsupported
from axon.importers.options import Options, functions, specialised
from axon.importers.steps import Body, Called, Repeated, Step, SubgraphFunction
from axon.inference.environment import Entry, Environment
from axon.inference.infer import Inference
from axon.inference.state import Asked, State
from axon.ops import OPERATORS
from axon.solver.constraints import Origin
from axon.source import Source, Span
from axon.syntax import ast
from axon.types import dim as dims
from axon.types.dim import Dim, Poly
from axon.types.elements import BIT
from axon.types.type import (
    UNKNOWN,
    AtLeast,
    Shape,
    Tensor,
    Type,
    type_variables,
)
from axon.types.variables import ElemVar, ShapeVar

NAMES = frozenset({*RESERVED, *OPERATORS, *BIT})
DEEPEST = 13
"""Levels of subgraphs and functions."""
MOST_WRITTEN_OUT = 100_000
"""Nodes of functions, counted wherever the functions are called."""
FOR_GOOD = -1
"""When a type was looked up that will not change: nothing in it is open."""


@dataclass(slots=True, eq=False)
class Importer:
    """A graph in the making. `types` and `contents` are by the names of tensors in the model. If it
    `writes`, a program is requested, and what makes each tensor is recorded in `steps`. `unmade` is
    set where an operation takes a tensor that nothing has made by then.
    """

    name: str
    make_node: Callable[..., Any]
    """What a rule sees of an operation: a `Node`, or one that knows more of its format."""
    operations: Sequence[Operation] = ()
    sizes: Sizes = field(default_factory=Sizes)
    writes: bool = True
    inputs: tuple[str, ...] = ()
    state: State = field(default_factory=State)
    inference: Inference = field(init=False)
    opset: int = 0
    unsolved: int = 0
    unmade: bool = False
    depth: int = 0
    written_out: int = 0
    uses: Counter[str] = field(init=False)
    """How often the graph uses each operator, and what is inside its nodes."""

    types: dict[str, Type] = field(default_factory=dict)
    contents: dict[str, Contents] = field(default_factory=dict)
    filled: dict[str, Any] = field(default_factory=dict)
    """The one number that all elements of a tensor are, where only a run knows how many."""
    sequences: dict[str, Any] = field(default_factory=dict)
    """The tensors that sequences hold, or how they are pieces of one."""
    resolved: dict[int, tuple[int, Type, Type]] = field(default_factory=dict)
    simplest: dict[Poly, Dim] = field(default_factory=dict)
    """Sizes that were met, in their simplest form."""
    memo: Memo = field(default_factory=Memo)

    inner: dict[str, set[str]] = field(default_factory=dict)
    """The tensors of graphs inside nodes by their own names: each has a name here that tells it
    from others of that name.
    """
    hidden: set[str] = field(default_factory=set)
    """The names that the model's own graph does not have."""
    graphs: dict[str, SubgraphFunction] = field(default_factory=dict)
    bodies: dict[str, Body] = field(default_factory=dict)
    calls: list[Called] = field(default_factory=list)

    own: dict[str, str] = field(default_factory=dict)
    """What a tensor that has a made-up name here is called in the model, or should be."""
    aliases: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)
    """The number that the last name with this beginning has."""
    taken: set[str] = field(default_factory=set)
    functions: dict[tuple[str, Options], str] = field(default_factory=dict)
    """What functions of the library are called in the program, by their options."""
    env: Environment = field(default_factory=Environment)
    held: dict[str, ast.Expr] = field(default_factory=dict)
    """What a run finds sizes as, by their names in expressions."""
    spans: dict[int, Span] = field(default_factory=dict)
    steps: list[Step | Repeated] = field(default_factory=list)

    unsupported: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Why nothing is known of a node, by operator, and the first such node."""
    malformed: dict[tuple[int, str], tuple[Operation, str]] = field(default_factory=dict)
    """Operations that their operators cannot be, and why: by place and label."""
    limits: list[Dim] = field(default_factory=list)
    """What must not be negative, since sizes were computed in floating point."""

    def __post_init__(self) -> None:
        self.state.level = self.state.depth = 1
        self.inference = Inference(self.state, prelude)
        self.uses = Counter([each.operator for each in self.operations])

    # --- tensors ---

    def define(self, name: str, type_: Type, contents: Contents | None = None) -> None:
        """From here on the model's tensor of that name has this type."""
        self.types[name] = type_
        self.memo.kinds.pop(name, None)
        if self.filled:
            self.filled.pop(name, None)
        if name in self.aliases:
            self.env.names[self.aliases[name]] = Entry(type_)
        if contents is not None and is_small(contents):
            elem = type_.elem if isinstance(type_, Tensor) else None
            self.contents[name] = contents.as_elem(elem)
        else:
            self.contents.pop(name, None)

    def hold(self, name: str, constant: Constant) -> None:
        """From here on a tensor of that name is one that the file holds."""
        self.define(name, constant.type)
        contents = constant.contents()
        if contents is not None:  # which are as small as any
            self.contents[name] = contents

    def forget(self, name: str) -> tuple[Type | None, Contents | None]:
        """From here on no tensor has that name; what was known of it."""
        self.memo.kinds.pop(name, None)
        self.sequences.pop(name, None)
        self.filled.pop(name, None)
        return self.types.pop(name, None), self.contents.pop(name, None)

    def alias(self, name: str, hint: str = "") -> str:
        """A name for a tensor that a program can have; the hint is for one without a good name."""
        known = self.aliases.get(name)
        if known is None:
            own = self.own.get(name, name)
            base = short(hint if hint and own.startswith("onnx::") else own)
            known, number = base, self.numbers.get(base, 1)
            while self.is_taken(known):
                number += 1
                known = f"{base}_{number}"
            self.numbers[base] = number
            self.taken.add(known)
            self.aliases[name] = known
            if name in self.types:
                self.env.names[known] = Entry(self.types[name])
        return known

    def name_size(self, entry: Entry, held: ast.Expr | None) -> str:
        """A name in expressions for a size, or a shape, which a run finds as `held`."""
        name = f"size {len(self.env.names)}"
        self.env.names[name] = entry
        if held is not None:
            self.held[name] = held
        return name

    def name_function(self, name: str, options: Options) -> str:
        """What a function of the library is called at these options: the first has its name."""
        known = self.functions.get((name, options))
        if known is None:
            known, number = name, 1
            while known in self.taken or (number > 1 and self.is_taken(known)):
                number += 1
                known = f"{name}_{number}"
            self.taken.add(known)
            self.functions[name, options] = known
            self.env.names[known] = Entry(specialised(name, options).scheme)
        return known

    def is_taken(self, name: str) -> bool:
        """Whether something in the program has this name, or the language does."""
        return name in self.taken or name in NAMES or name in library_names()

    def span(self, at: int) -> Span:
        """A node as a line of a text, which is empty unless reasons are asked for."""
        return self.line(at if self.state.reasons else -1)

    def line(self, at: int) -> Span:
        """A node as a line of a text, to point at."""
        found = self.spans.get(at)
        if found is None:
            operation = self.operations[at] if at >= 0 else None
            text = "" if operation is None else line_of(operation)
            source = Source(self.name, text, at, operation)
            if operation is not None and operation.place is not None:
                file, line, text, module = operation.place
                source = Source(file, text, line - 1, operation, module)
            found = self.spans[at] = Span(source, 0, len(text))
        return found

    def shape(self, name: str) -> Shape | None:
        """The shape of a tensor, if its rank is known."""
        return known_shape(self.type(name))

    def elem(self, name: str) -> Any:
        type_ = self.type(name)
        return type_.elem if isinstance(type_, Tensor) else ElemVar("", self.state.level)

    def type(self, name: str) -> Type:
        """The type of a tensor, as far as it is known by now."""
        return self.resolve(self.types.get(name, UNKNOWN))

    def resolve(self, raw: Type) -> Type:
        """The type under all that is known; found again only if more is known."""
        known, state = self.resolved.get(id(raw)), self.state
        if known is None:
            if is_closed(raw):
                self.resolved[id(raw)] = FOR_GOOD, raw, raw
                return raw
            if state.is_bare:
                return raw
        elif known[0] == FOR_GOOD:
            return known[1]
        stamp = state.store.clock + len(state.elems) + len(state.types)
        if known is None or known[0] != stamp:
            type_ = state.resolve(raw)
            if is_closed(type_):
                stamp = FOR_GOOD
            known = self.resolved[id(raw)] = stamp, type_, raw
        return known[1]

    def look_again(self) -> None:
        """Types that were looked up may be simpler under later constraints, such as `n >= 1`."""
        if self.state.store.facts.any:
            known = self.resolved.items()
            self.resolved = {key: found for key, found in known if found[0] == FOR_GOOD}

    def unknown(self, elem: Any = None) -> Tensor:
        """A tensor of which nothing but perhaps its element type is known."""
        return Tensor(elem or ElemVar("", self.state.level), (self.state.fresh_shape(),))

    def enter(self, operations: Sequence[Operation], what: str) -> None:
        """Go one level deeper, into the operations of a subgraph or of a function."""
        self.written_out += len(operations)
        if self.depth >= DEEPEST or self.written_out > MOST_WRITTEN_OUT:
            raise Unsupported(f"{what}: graphs or functions nested too deeply, or used too often")
        self.depth += 1

    # --- sizes ---

    def enter_size(self, dim: Poly) -> None:
        """Some tensor has this as a size."""
        if dim not in self.sizes.some:
            if self.state.sealed and not dims.is_nonnegative(dim):
                raise Asked
            self.sizes.some.add(dim)

    def enter_slack(self, slack: Dim) -> None:
        """A window fits into a tensor: this is what is left beside it."""
        if self.state.sealed:
            raise Asked
        self.sizes.slacks[slack] = None

    # --- outcomes ---

    def kinds(self, name: str) -> Kinds:
        """The kinds of a tensor: equal for tensors that inference cannot distinguish."""
        if name not in self.types:
            return (-1, -1) if name == "" else (-2, -2)
        return self.outcome(name).kinds

    def outcome(self, name: str) -> Outcome:
        """What is known of a tensor."""
        type_ = self.type(name)
        held = self.contents.get(name)
        kinds = self.memo.kinds[name] = self.memo.kinds_of(type_, held)
        return Outcome(type_, held, kinds)

    def trouble(self) -> tuple[int, ...]:
        """How much went wrong so far: an operation that adds to it is inferred each time."""
        state = self.state
        return len(state.store.conflicts), len(state.diagnostics), self.unsolved

    def is_size(self, dim: Dim) -> bool:
        """Whether it is known not to be negative: by itself, or in every run, which is a guard."""
        if dims.is_nonnegative(dim):
            return True
        if not self.sizes.has(dim):
            self.sizes.unsure.add(dim)
            return False
        if dim not in self.state.sizes:
            self.state.post(AtLeast(dim, silent=True), Origin("size", self.span(-1)))
            self.state.sizes.add(dim)
        return True


@cache
def library_names() -> frozenset[str]:
    """The functions that rules call."""
    files = stdlib.files().items()
    return frozenset([*functions(), *(name for name, path in files if path in stdlib.IMPORTED)])


def known_shape(type_: Type) -> Shape | None:
    """The shape of a type, if its rank is known."""
    if not isinstance(type_, Tensor):
        return None
    for item in type_.shape:
        if isinstance(item, ShapeVar):
            return None
    return type_.shape


def is_closed(type_: Type) -> bool:
    """Whether nothing in a type is open."""
    if not isinstance(type_, Tensor):
        return not any(True for _ in type_variables(type_))
    return isinstance(type_.elem, str) and set(map(type, type_.shape)) <= {int}
