"""Operations that work in place, as operations that make new tensors.

Tensors that share memory are views of one *root*. What changes one of them changes the root, and
with it all others: from there on each is taken from the new root again, when it is next used. So a
program without mutation has the values that one with mutation has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from axon.importers.operations import Attributes, Declared, Graph, Operand, Operation, renamed, used

VIEWS = frozenset(
    {
        "alias", "detach", "slice", "select", "narrow", "transpose", "permute", "t", "numpy_T",
        "mT", "matrix_H", "mH", "adjoint", "view", "_unsafe_view", "_reshape_alias", "view_as",
        "unsqueeze", "squeeze", "expand", "expand_as", "diagonal", "unbind", "split", "chunk",
        "split_with_sizes", "tensor_split", "hsplit", "vsplit", "dsplit", "unfold", "movedim",
        "moveaxis", "swapaxes", "swapdims", "unflatten", "as_strided", "broadcast_to", "real",
        "imag", "view_as_real", "view_as_complex", "lift_fresh",
    }
)  # fmt: skip
"""What shares memory with its first argument."""
WHERE_STRAIGHT = frozenset({"reshape", "flatten", "contiguous", "ravel", "reshape_as"})
"""The same, if the elements lie in memory in their order."""
SAME = frozenset({"alias", "detach", "lift_fresh", "contiguous", "requires_grad"})
"""Views that are the tensor itself."""
STRAIGHT = frozenset(
    {"alias", "detach", "lift_fresh", "view", "_unsafe_view", "_reshape_alias", "view_as",
     "unsqueeze", "squeeze", "unflatten", *WHERE_STRAIGHT}
)  # fmt: skip
"""Views whose elements lie in their order if those of the tensor do."""
RESHAPED = STRAIGHT - SAME
"""Views from which the tensor has another shape."""
TURNED = frozenset({"transpose", "swapaxes", "swapdims", "t", "numpy_T", "mT", "adjoint"})
"""Views that are turned back by doing the same again."""
CUT = frozenset(
    {"split", "chunk", "split_with_sizes", "tensor_split", "hsplit", "vsplit", "dsplit"}
)
DUNDERS = frozenset(
    {"__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__", "__iadd__", "__imul__"}
)
FORGETS = "overwritten"
"""The operator for what a tensor is after it was written to in a way that Axon cannot follow."""
DOMAIN = "mutation"


class View(NamedTuple):
    """How a tensor is taken from another one: an operation, and which of its results it is."""

    operation: Operation
    part: int


@dataclass(slots=True, eq=False)
class Root:
    """A tensor with memory of its own. `current` is the name of what it holds by now."""

    name: str
    current: str
    version: int = 0


@dataclass(slots=True)
class TensorState:
    """A tensor: the views that it is taken by, and the name of what it holds at a version."""

    root: Root
    path: tuple[View, ...]
    current: str
    version: int


@dataclass(slots=True)
class Functional:
    """Operations without mutation. `changed` are the names of the inputs that were written to, and
    what they hold in the end.
    """

    operations: list[Operation]
    outputs: list[Declared]
    changed: dict[str, str] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    """The names of tensors that the program does not have."""


def mutates(operations: Iterable[Operation]) -> bool:
    return any(_is_in_place(each) for each in operations)


def without_mutation(graph: Graph) -> Functional:
    """What a graph does, with a new tensor wherever one was written to."""
    if not mutates(graph.operations):
        return Functional(graph.operations, graph.outputs)
    return _Rewriter(graph).run()


def _is_in_place(operation: Operation) -> bool:
    name = operation.operator
    if operation.domain != "aten" or "self" not in operation.attributes:
        return False
    if name in DUNDERS:
        return True
    return name.endswith("_") and not name.endswith("__")


@dataclass(slots=True)
class _Rewriter:
    graph: Graph
    tensors: dict[str, TensorState] = field(default_factory=dict)
    written: list[Operation] = field(default_factory=list)
    own: set[str] = field(default_factory=set)
    """The names of what was added here."""
    count: int = 0

    def run(self) -> Functional:
        for operation in self.graph.operations:
            self.take(operation)
        names = {each.name: self.value(each.name) for each in self.graph.outputs}
        given = [each.name for each in self.graph.inputs]
        given += [each.name for each in self.graph.constants]
        changed = {
            name: self.tensors[name].root.current
            for name in given
            if name in self.tensors and self.tensors[name].root.version
        }
        outputs = [each._replace(name=names[each.name]) for each in self.graph.outputs]
        kept = _needed(self.written, self.own, {*names.values(), *changed.values()})
        return Functional(kept, outputs, changed, self.own)

    # --- tensors ---

    def state_of(self, name: str) -> TensorState:
        found = self.tensors.get(name)
        if found is None:
            found = self.tensors[name] = TensorState(Root(name, name), (), name, 0)
        return found

    def value(self, name: str) -> str:
        """The name of what a tensor holds by now."""
        held = self.tensors.get(name)
        if held is None or held.version == held.root.version:
            return name if held is None else held.current
        held.version = held.root.version  # before: a view that hangs on itself is taken once
        held.current = self.taken(held.root, held.path)[-1]
        return held.current

    def taken(self, root: Root, path: tuple[View, ...]) -> list[str]:
        """What a root holds, and its views, one of the other."""
        names = [root.current]
        for view in path:
            names.append(self.replayed(view, names[-1])[view.part])
        return names

    def replayed(self, view: View, base: str) -> list[str]:
        """A view of another tensor: all results that it has."""
        operation = view.operation
        old = _self(operation)
        inputs = [base if name == old else self.value(name) for name in operation.inputs]
        names = [self.fresh(operation) for _ in operation.outputs]
        self.written.append(operation.changed(inputs=inputs, outputs=names))
        return names

    def fresh(self, operation: Operation) -> str:
        """A name that no tensor has."""
        self.count += 1
        name = f"{operation.label}⟨{self.count}⟩"
        self.own.add(name)
        return name

    def make(self, like: Operation, operator: str, arguments: Mapping[str, Any]) -> str:
        """A new operation, at the place of another one; a text is the name of a tensor."""
        inputs: list[str] = []
        attributes: Attributes = {}

        def operand(name: str) -> Operand:
            if name not in inputs:
                inputs.append(name)
            return Operand(inputs.index(name))

        for name, value in arguments.items():
            attributes[name] = _with_operands(value, operand)
        made = self.fresh(like)
        domain = DOMAIN if operator == FORGETS else "aten"
        self.written.append(
            Operation(operator, inputs, [made], attributes, domain, like.name, place=like.place)
        )
        return made

    # --- operations ---

    def take(self, operation: Operation) -> None:
        names = {name: self.value(name) for name in used(operation) if name in self.tensors}
        names = {old: new for old, new in names.items() if old != new}
        for name in operation.outputs:
            names.pop(name, None)
        now = renamed(operation, names) if names else operation
        if _is_in_place(operation):
            self.write(operation, now)
            return
        self.written.append(now)
        if operation.domain != "aten" or not operation.outputs:
            return
        base = _self(operation)
        if base and self.is_view(operation, base):
            held = self.state_of(base)
            for part, name in enumerate(operation.outputs):
                if name:
                    path = (*held.path, View(operation, part))
                    self.tensors[name] = TensorState(held.root, path, name, held.root.version)

    def is_view(self, operation: Operation, base: str) -> bool:
        operator = operation.operator
        if operator in ("dropout", "feature_dropout", "alpha_dropout"):
            return operation.attributes.get("train") is False
        if operator in WHERE_STRAIGHT:
            held = self.state_of(base)
            return all(view.operation.operator in STRAIGHT for view in held.path)
        return operator in VIEWS

    def write(self, operation: Operation, now: Operation) -> None:
        """An operation that works in place."""
        name, made = _self(operation), next(iter(operation.outputs), "")
        if not name:
            self.written.append(now)
            return
        held = self.state_of(name)
        bare = operation.operator.rstrip("_")
        if bare in VIEWS or bare in SAME:  # the tensor itself is another view from here on
            plain = now.changed(operator=bare)
            self.written.append(plain)
            path = held.path if bare in SAME else (*held.path, View(plain, 0))
            if made:
                self.tensors[name] = TensorState(held.root, path, made, held.root.version)
                self.tensors[made] = self.tensors[name]
            return
        if not made:
            made = self.fresh(operation)
            now = now.changed(outputs=[made])
        before = self.taken(held.root, held.path)[:-1] if held.path else []
        self.written.append(now)
        root = held.root
        root.current = self.put_back(operation, held.path, before, made)
        root.version += 1
        self.tensors[name] = TensorState(root, held.path, made, root.version)
        self.tensors[made] = self.tensors[name]

    # --- back into the tensor that a view is of ---

    def put_back(
        self, like: Operation, path: tuple[View, ...], bases: list[str], value: str
    ) -> str:
        for view, base in zip(reversed(path), reversed(bases), strict=True):
            value = self.put(like, view, base, value)
        return value

    def put(self, like: Operation, view: View, base: str, value: str) -> str:
        """What a tensor is after one of its views was replaced by a value."""
        operation, operator = view.operation, view.operation.operator
        arguments = self.arguments(operation)
        given = {name: v for name, v in arguments.items() if name != "self"}
        match operator:
            case _ if operator in SAME or operator in ("dropout", "feature_dropout"):
                return value
            case "slice" | "select" | "diagonal":
                return self.make(
                    like, f"{operator}_scatter", {"self": _T(base), "src": _T(value), **given}
                )
            case "narrow" if type(given.get("start")) is int and type(given.get("length")) is int:
                start, length = given["start"], given["length"]
                bounds = {"dim": given.get("dim", 0), "start": start, "end": start + length}
                if start < 0 <= start + length:
                    bounds["end"] = None
                found = {"self": _T(base), "src": _T(value), **bounds}
                return self.make(like, "slice_scatter", found)
            case "unbind":
                place = {"dim": given.get("dim", 0), "index": view.part}
                found = {"self": _T(base), "src": _T(value), **place}
                return self.make(like, "select_scatter", found)
            case _ if operator in RESHAPED:
                return self.make(like, "reshape_as", {"self": _T(value), "other": _T(base)})
            case _ if operator in TURNED:
                return self.make(like, operator, {"self": _T(value), **given})
            case "permute" if (order := _order(given.get("dims"))) is not None:
                back = tuple(order.index(axis) for axis in range(len(order)))
                return self.make(like, "permute", {"self": _T(value), "dims": back})
            case "movedim" | "moveaxis" if given.keys() >= {"source", "destination"}:
                ends = {"source": given["destination"], "destination": given["source"]}
                return self.make(like, "movedim", {"self": _T(value), **ends})
            case _ if operator in CUT:
                parts = list(self.replayed(view, base))
                parts[view.part] = value
                axis = {"hsplit": 1, "vsplit": 0, "dsplit": 2}.get(operator, given.get("dim", 0))
                tensors = tuple(_T(name) for name in parts)
                return self.make(like, "cat", {"tensors": tensors, "dim": axis})
            case _:
                return self.make(like, FORGETS, {"self": _T(base)})

    def arguments(self, operation: Operation) -> dict[str, Any]:
        """The arguments of an operation, with names in the place of operands."""

        def named(value: Any) -> Any:
            if isinstance(value, Operand):
                return _T(self.value(operation.inputs[value.index]))
            return tuple(map(named, value)) if isinstance(value, tuple) else value

        return {name: named(value) for name, value in operation.attributes.items()}


class _T(NamedTuple):
    """A tensor as an argument, by its name."""

    name: str


def _with_operands(value: Any, operand: Any) -> Any:
    if isinstance(value, _T):
        return operand(value.name)
    if isinstance(value, tuple):
        return tuple(_with_operands(each, operand) for each in value)
    return value


def _order(value: Any) -> list[int] | None:
    """The axes of a permutation, counted from the front; None if it is none."""
    if not isinstance(value, tuple) or not all(type(each) is int for each in value):
        return None
    order = [axis % len(value) for axis in value]
    return order if sorted(order) == list(range(len(value))) else None


def _self(operation: Operation) -> str:
    """The tensor that an operation is of."""
    found = operation.attributes.get("self", operation.attributes.get("input"))
    return operation.inputs[found.index] if isinstance(found, Operand) else ""


def _needed(operations: list[Operation], own: set[str], wanted: set[str]) -> list[Operation]:
    """Without those that were added and that nothing uses."""
    kept: list[Operation] = []
    wanted = set(wanted)
    for operation in reversed(operations):
        made = [name for name in operation.outputs if name]
        if made and own.issuperset(made) and wanted.isdisjoint(made):
            continue
        wanted |= used(operation)
        kept.append(operation)
    return kept[::-1]
