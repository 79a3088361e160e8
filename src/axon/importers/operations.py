"""A model as importers see it, whatever format it was read from: operations on named tensors.

A reader of a format makes these, and finds what is malformed while it does. An attribute is a
number, a text, a `Constant`, a `Graph`, an `Operand`, a tuple of such, or a `Reference` to an
attribute of the function that the operation stands in.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from axon.contents.values import Contents, is_followed
from axon.types.type import Tensor
from axon.types.variables import ElemVar

Attributes = dict[str, Any]


class NoModel(Exception):
    """A file that is no model that can be read; the sentence says why."""


class Malformed(Exception):
    """An operation that its operator cannot be: the sentence says why. Its results are not known,
    and the rest goes on.
    """


class Unsupported(Exception):
    """An operation that has no rule: its results are not known, and the rest goes on."""


NO_ATTRIBUTES: Attributes = {}


@dataclass(frozen=True, slots=True)
class Operand:
    """One of the inputs of an operation, by its number, where arguments have names: then attributes
    say which input is which. It is a `number` where the user's program has no tensor, but a number
    that it computes.
    """

    index: int
    number: bool = False


class Place(NamedTuple):
    """The line of a user's program that an operation comes from, and the module that it is part of,
    `encoder.layers.3.attn`.
    """

    file: str
    line: int
    text: str
    module: str = ""

    @property
    def short(self) -> str:
        """`model.py:42`."""
        return f"{self.file.replace(chr(92), '/').rpartition('/')[2]}:{self.line}"


class Operation:
    """An operator applied to tensors. Inputs that are not given and outputs that are not used have
    empty names. `written` is equal for operations with equal attributes, if it is not None. `place`
    is where a user wrote it, if the format says so.
    """

    __slots__ = (
        "attributes",
        "domain",
        "inputs",
        "name",
        "operator",
        "outputs",
        "place",
        "written",
    )

    def __init__(
        self,
        operator: str,
        inputs: list[str],
        outputs: list[str],
        attributes: Attributes | None = None,
        domain: str = "",
        name: str = "",
        written: Hashable = None,
        place: Place | None = None,
    ) -> None:
        self.operator = operator
        self.written = written
        self.place = place
        self.inputs = inputs
        self.outputs = outputs
        self.attributes = attributes or NO_ATTRIBUTES
        self.domain = domain
        self.name = name

    @property
    def label(self) -> str:
        """What to call it: its name, or that of the first tensor that it makes."""
        return self.name or next(iter(self.outputs), "")

    @property
    def title(self) -> str:
        """What messages call it: its operator, and its name or where it stands."""
        if self.place is None or not self.place.module:
            return f"{self.operator} `{self.label}`"
        return f"{self.operator} of `{self.place.module}`"

    @property
    def has_graphs(self) -> bool:
        """Whether it has subgraphs: they may use any tensor around it."""
        for value in self.attributes.values():
            first = value[0] if isinstance(value, tuple) and value else value
            if isinstance(first, Graph):
                return True
        return False

    def graphs(self) -> Iterator[Graph]:
        """Its subgraphs."""
        for value in self.attributes.values():
            if isinstance(value, Graph):
                yield value
            elif isinstance(value, tuple):
                yield from (each for each in value if isinstance(each, Graph))

    def changed(
        self,
        operator: str | None = None,
        inputs: list[str] | None = None,
        outputs: list[str] | None = None,
        attributes: Attributes | None = None,
    ) -> Operation:
        """The operation with another operator, or other tensors or attributes."""
        return Operation(
            self.operator if operator is None else operator,
            self.inputs if inputs is None else inputs,
            self.outputs if outputs is None else outputs,
            self.attributes if attributes is None else attributes,
            self.domain,
            self.name,
            place=self.place,
        )

    def key(self) -> Hashable:
        """Equal for operations whose attributes are equal."""
        if self.written is not None:
            return self.written
        if not self.attributes:
            return ()
        return tuple([(name, _key(value)) for name, value in self.attributes.items()])


def _key(value: Any) -> Hashable:
    """1, 1.0 and True differ, and so do 0.0 and -0.0."""
    if isinstance(value, tuple):
        whole = set(map(type, value)) == {int}
        return (int, value) if whole else tuple([_key(each) for each in value])
    if isinstance(value, Constant | Graph):
        return value.key()
    return type(value), repr(value) if isinstance(value, float) else value


class Constant:
    """A tensor whose elements a file holds; they are read when they are asked for. `elem` is None
    if Axon has no such element type. `source` is what the format has for it.
    """

    __slots__ = ("dims", "elem", "name", "read", "source")

    def __init__(
        self,
        name: str,
        elem: str | None,
        dims: tuple[int, ...],
        read: Callable[[Any], Any],
        source: Any,
    ) -> None:
        self.name = name
        self.elem = elem
        self.dims = dims
        self.read = read
        self.source = source

    @property
    def type(self) -> Tensor:
        return Tensor(self.elem or ElemVar("", 1), self.dims)

    def array(self) -> Any:
        """The elements as an array; None if they are not in the file itself, or make no sense."""
        return self.read(self.source)

    @property
    def is_followed(self) -> bool:
        """Whether its elements are of interest: they are few, and may be sizes."""
        return is_followed(self.elem, self.dims)

    def contents(self) -> Contents | None:
        """The elements, if they are of interest."""
        found = self.array() if self.is_followed else None
        if found is None:
            return None
        return Contents(self.elem or "", tuple(found.shape), tuple(found.ravel().tolist()))

    def key(self) -> Hashable:
        """Equal only for constants that are equal."""
        found = self.array() if self.elem is not None else None
        if found is None:
            return id(self.source)
        return self.elem, self.dims, found.tobytes()


class Reference(NamedTuple):
    """An attribute that a function is called with."""

    name: str


class Arithmetic(NamedTuple):
    """A size that is computed from others: `Arithmetic("*", 2, "n")`. The operators are `+`, `*`,
    `//`, `mod`, `min` and `max`.
    """

    operator: str
    left: Size
    right: Size

    def __str__(self) -> str:
        if self.operator in ("min", "max"):
            return f"{self.operator}({self.left}, {self.right})"
        sides = [f"({x})" if isinstance(x, Arithmetic) else str(x) for x in self[1:]]
        return f" {self.operator if self.operator != 'mod' else '%'} ".join(sides)


Size = int | str | Arithmetic
"""A size as a model declares it: a number, a name, or what is computed from such."""


class Declared(NamedTuple):
    """The type that a model declares for a tensor. A size is None if it is not declared; `sizes` is
    None if the rank is not.
    """

    name: str
    elem: str | None
    sizes: tuple[Size | None, ...] | None


@dataclass(slots=True)
class Graph:
    """Operations in the order in which they are computed."""

    inputs: list[Declared]
    outputs: list[Declared]
    operations: list[Operation]
    constants: list[Constant] = field(default_factory=list)

    def key(self) -> Hashable:
        """Equal only for graphs that are equal, the names of their tensors included."""
        operations = [
            (each.operator, each.domain, *each.inputs, None, *each.outputs, each.key())
            for each in self.operations
        ]
        constants = [(each.name, each.key()) for each in self.constants]
        return (*self.inputs, None, *self.outputs, None, *operations, None, *constants)

    def own_names(self) -> list[str]:
        """The tensors of the graph; one outside may have the same name."""
        found = [each.name for side in (self.constants, self.inputs) for each in side]
        for operation in self.operations:
            found += [name for name in operation.outputs if name]
        return list(dict.fromkeys(found))


@dataclass(slots=True)
class Function:
    """A function of the model's own. `defaults` are attributes for calls that have others;
    `version` is that of the operators in it.
    """

    domain: str
    name: str
    params: list[str]
    results: list[str]
    operations: list[Operation]
    defaults: Attributes = field(default_factory=dict)
    version: int = 0


@dataclass(slots=True)
class Model:
    """A whole model. `said` declares tensors that it computes; `version` is of the operators.
    `added` are tensors that the reader of the format adds.
    `titles` are the names by which a user knows tensors, where these are others.
    """

    graph: Graph
    functions: Mapping[tuple[str, str], Function] = field(default_factory=dict)
    said: list[Declared] = field(default_factory=list)
    version: int = 0
    titles: dict[str, str] = field(default_factory=dict)
    added: frozenset[str] = frozenset()


# --- other names -------------------------------------------------------------------------------


def renamed(operation: Operation, names: Mapping[str, str]) -> Operation:
    """The operation with other names for tensors; what a subgraph calls by one of them, and does
    not have itself, has another name there too.
    """
    return operation.changed(
        inputs=[names.get(name, name) for name in operation.inputs],
        outputs=[names.get(name, name) for name in operation.outputs],
        attributes=_renamed_attributes(operation.attributes, names),
    )


def _with_graphs(value: Any, change: Callable[[Graph], Graph]) -> Any:
    """An attribute with its graphs changed."""
    if isinstance(value, Graph):
        return change(value)
    if isinstance(value, tuple) and any(isinstance(each, Graph) for each in value):
        return tuple(_with_graphs(each, change) for each in value)
    return value


def _renamed_attributes(attributes: Attributes, names: Mapping[str, str]) -> Attributes:
    if not any(isinstance(value, Graph | tuple) for value in attributes.values()):
        return attributes
    change = partial(_renamed_graph, names)
    return {name: _with_graphs(value, change) for name, value in attributes.items()}


def _renamed_graph(names: Mapping[str, str], graph: Graph) -> Graph:
    own = graph.own_names()
    inner = {old: new for old, new in names.items() if old not in set(own)}
    inner |= _other_names(own, set(inner.values()))
    constants = [
        Constant(inner.get(c.name, c.name), c.elem, c.dims, c.read, c.source)
        for c in graph.constants
    ]
    return Graph(
        [each._replace(name=inner.get(each.name, each.name)) for each in graph.inputs],
        [each._replace(name=inner.get(each.name, each.name)) for each in graph.outputs],
        [renamed(each, inner) for each in graph.operations],
        constants,
    )


def closed_over(graph: Graph, count: int, operands: list[str]) -> Graph:
    """The graph with so many of its inputs; in the place of the others it takes tensors from around
    it.
    """
    others = [each.name for each in graph.inputs[count:]]
    own = Graph(graph.inputs[:count], graph.outputs, graph.operations, graph.constants)
    return _renamed_graph(dict(zip(others, operands, strict=False)), own)


def _other_names(own: list[str], taken: set[str]) -> dict[str, str]:
    """Other names for those that would be taken for tensors from outside."""
    found = {}
    for name in own:
        if name in taken:
            new = name
            while new in taken or new in own:
                new += "'"
            found[name] = new
    return found


def used(operation: Operation) -> set[str]:
    """The tensors that an operation, or a subgraph of it, takes from around it, and those it
    makes.
    """
    found = {*operation.inputs, *operation.outputs}
    for graph in operation.graphs():
        names = {name for inner in graph.operations for name in used(inner)}
        found |= {*names, *(each.name for each in graph.outputs)} - set(graph.own_names())
    return found


# --- attributes of a function's call -----------------------------------------------------------


def with_attributes(operation: Operation, given: Attributes) -> Operation:
    """The operation with what its references refer to; a reference to nothing is left out."""
    found = _filled(operation.attributes, given)
    return operation if found is operation.attributes else operation.changed(attributes=found)


def _filled(attributes: Attributes, given: Attributes) -> Attributes:
    def filled(graph: Graph) -> Graph:
        return replace(
            graph, operations=[with_attributes(each, given) for each in graph.operations]
        )

    if not any(isinstance(value, Reference | Graph | tuple) for value in attributes.values()):
        return attributes
    found = {
        name: given.get(value.name) if isinstance(value, Reference) else _with_graphs(value, filled)
        for name, value in attributes.items()
    }
    return {name: value for name, value in found.items() if value is not None}
