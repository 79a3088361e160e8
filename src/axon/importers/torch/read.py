"""An exported PyTorch program, as operations.

Each argument of a node is an attribute by the name that PyTorch's schema has for it; a tensor, or
a size that is computed, is an `Operand`, which says which input of the operation it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from axon.importers.operations import (
    Attributes,
    Constant,
    Declared,
    Graph,
    Model,
    Operand,
    Operation,
    Size,
)
from axon.importers.torch.archive import CONSTANTS, WEIGHTS, Archive
from axon.importers.torch.conditions import with_conditions
from axon.importers.torch.document import Document, WrongDocument
from axon.importers.torch.elements import COMPLEX, ELEMENTS, OF_PARTS, part
from axon.importers.torch.graphs import with_graphs
from axon.importers.torch.inline import inlined
from axon.importers.torch.mutation import without_mutation
from axon.importers.torch.places import place_of
from axon.importers.torch.sympy_text import size_of
from axon.importers.torch.weights import Stored, constant_of

PREFIXES = (
    ("torch.ops.aten.", "aten"),
    ("torch.ops.higher_order.", "higher_order"),
    ("torch.ops.", ""),
    ("_operator.", "python"),
    ("math.", "python"),
    ("torch.", "python"),
)
"""How the names of operators begin, and the domains that these are in."""
DEEPEST = 16
EFFECTS = "with_effects"
LARGEST_SIZE = 1 << 62
MOST_SIZES = 64
"""Dimensions of a tensor, as NumPy has it."""
LONGEST_NAME = 80
"""Characters of a name that messages show."""
PLAIN: dict[str, Callable[[Document], Any]] = {
    "as_int": Document.integer, "as_bool": Document.flag, "as_float": Document.number,
    "as_string": Document.text, "as_operator": Document.text,
}  # fmt: skip
LISTS = {f"{case}s": kind for case, kind in PLAIN.items()}
SYMBOLIC = {"as_sym_int": "i64", "as_sym_bool": "bool", "as_sym_float": "f64"}
"""Inputs that are numbers, and the element types that they have."""
SPECS = {
    "parameter": "parameter_name", "buffer": "buffer_name",
    "tensor_constant": "tensor_constant_name",
}  # fmt: skip
MUTATIONS = ("buffer_mutation", "parameter_mutation", "user_input_mutation", "loss_output")


@dataclass(slots=True)
class _Scope:
    """Where a graph stands: its nodes take inputs by name, and know no other graph's."""

    tensors: dict[str, Document]
    depth: int = 0


def model_of(archive: Archive) -> Model:
    """The program of an archive; raises `NoModel` where the document is not a program."""
    try:
        return _Reader(archive).model()
    except WrongDocument as wrong:
        raise archive.refused(wrong) from None


class _Reader:
    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        module = archive.program["graph_module"]
        self.graph = module["graph"]
        self.signature = module["signature"]
        self.stored = dict(self._stored())
        self.added: set[str] = set()

    def _stored(self) -> Iterator[tuple[str, Stored]]:
        """The weights by their names in the module."""
        for folder, table in (WEIGHTS, CONSTANTS):
            if folder + table in self.archive.sizes:
                for name, entry in self.archive.json(folder + table)["config"].entries():
                    yield name, Stored(folder, entry)

    def model(self) -> Model:
        scope = _Scope(dict(self.graph["tensor_values"].entries()))
        constants: list[Constant] = []
        inputs: list[Declared] = []
        titles: dict[str, str] = {}
        for spec in self.signature["input_specs"].items():
            case, given = spec.case()
            if case in SPECS:
                name, own = given["arg"].text_of("name"), given[SPECS[case]].text()
                constants.append(self._constant(given["arg"], name, own, scope))
                titles[name] = own
                for i, each in enumerate(self._parts(name, own, scope, constants[-1])):
                    constants.append(each)
                    titles[each.name] = part(own, i)
            elif case == "user_input":
                inputs += self._input(given["arg"], scope)
        graph = self._graph(self.graph, scope, inputs, constants)
        graph.outputs = self._outputs()
        _check_names(self.graph, graph)
        changed = self._functional(graph)
        graph.outputs = [*changed, *graph.outputs]
        made = {name for each in graph.operations for name in each.outputs}
        said = [self._declared(name, scope) for name in scope.tensors if name in made]
        known = [each for each in said if each is not None]
        titles |= {name: name.partition("⟨")[0] for name in self.added}
        return Model(graph, said=known, titles=titles, added=frozenset(self.added))

    # --- inputs, weights, outputs ---

    def _input(self, arg: Document, scope: _Scope) -> Iterator[Declared]:
        case, value = arg.case()
        if case == "as_tensor":
            name = value.text_of("name")
            yield self._declared(name, scope) or Declared(name, None, None)
        elif case in SYMBOLIC:
            name = value.text_if_any("as_name")
            if name:
                yield Declared(name, SYMBOLIC[case], ())

    def _constant(self, arg: Document, name: str, own: str, scope: _Scope) -> Constant:
        """A weight. Its sizes are those that the program has for it; its values may be missing."""
        declared = self._declared(name, scope)
        if declared is None or declared.sizes is None:
            raise arg.wrong(
                f"is a weight without a type: there is no entry for `{name[:LONGEST_NAME]}`"
            )
        dims = tuple([n for n in declared.sizes if isinstance(n, int)])
        if len(dims) < len(declared.sizes):
            raise scope.tensors[name].wrong("is a weight, and its sizes are not all numbers")
        return constant_of(self.archive, name, declared.elem, dims, self.stored.get(own))

    def _parts(self, name: str, own: str, scope: _Scope, whole: Constant) -> Iterator[Constant]:
        """The real and the imaginary part of a weight, if its numbers are complex."""
        kind = COMPLEX.get(scope.tensors[name]["dtype"].integer(), "")
        stored = self.stored.get(own)
        if kind not in OF_PARTS or stored is None:
            return
        for i in (0, 1):
            half = stored._replace(part=i)
            yield constant_of(self.archive, part(name, i), OF_PARTS[kind], whole.dims, half)

    def _declared(self, name: str, scope: _Scope) -> Declared | None:
        """The type that the exporter wrote for a tensor."""
        meta = scope.tensors.get(name)
        if meta is None:
            return None
        listed = meta["sizes"].items()
        if len(listed) > MOST_SIZES:
            raise meta["sizes"].wrong(f"has more than {MOST_SIZES} dimensions")
        sizes = tuple([_size(each) for each in listed])
        return Declared(name, ELEMENTS.get(meta["dtype"].integer()), sizes)

    def _functional(self, graph: Graph) -> list[Declared]:
        """Put new tensors in the place of those that are written to. Gives what inputs and buffers
        hold in the end.
        """
        done = without_mutation(graph)
        graph.operations, graph.outputs = done.operations, done.outputs
        self.added |= done.own
        return [Declared(name, None, None) for name in done.changed.values()]

    def _outputs(self) -> list[Declared]:
        """The results of the user's module; the buffers that it changes are results too."""
        found = []
        for spec in self.signature["output_specs"].items():
            case, given = spec.case()
            if case != "user_output" and case not in MUTATIONS:
                continue
            arg = given["arg"]
            name = _name(arg) if case == "user_output" else arg.text_of("name")
            if name:
                found.append(Declared(name, None, None))
        return found

    # --- graphs ---

    def _graph(
        self, graph: Document, scope: _Scope, inputs: list[Declared], constants: list[Constant]
    ) -> Graph:
        operations: list[Operation] = []
        for node in graph["nodes"].items():
            operation = self._operation(node, scope)
            if operation.operator == EFFECTS:  # in an order, which a token stands for
                operation = operation.changed(inputs=[], outputs=operation.outputs[1:])
                operation.attributes = {}
                if not operation.outputs:
                    continue
            operations += map(with_graphs, inlined(operation))
        operations = with_conditions(operations)
        return Graph(inputs, [], operations, constants)

    def _inner(self, graph: Document, scope: _Scope) -> Graph:
        """A graph that is an argument: what it takes are its inputs alone."""
        if scope.depth >= DEEPEST:
            raise graph.wrong(f"is in graphs that are nested more than {DEEPEST} deep")
        inner = _Scope(dict(graph["tensor_values"].entries()), scope.depth + 1)
        inputs = [Declared(_name(arg), None, None) for arg in graph["inputs"].items()]
        made = self._graph(graph, inner, inputs, [])
        made.outputs = [Declared(_name(arg), None, None) for arg in graph["outputs"].items()]
        _check_names(graph, made)
        self._functional(made)
        return made

    # --- nodes ---

    def _operation(self, node: Document, scope: _Scope) -> Operation:
        operator, domain = _operator(node.text_of("target"))
        inputs: list[str] = []
        attributes: Attributes = {}
        for i, given in enumerate(node["inputs"].items()):
            found = self._argument(given["arg"], inputs, scope)
            if found is not None:
                attributes[given.text_of("name") or str(i)] = found
        outputs = [name for arg in node["outputs"].items() for name in _names(arg)]
        label = node.text_if_any("name") or next(iter(outputs), operator)
        metadata = node.find("metadata")
        place = None if metadata is None else place_of(metadata)
        return Operation(operator, inputs, outputs, attributes, domain, label, place=place)

    def _argument(self, arg: Document, inputs: list[str], scope: _Scope) -> Any:
        """The value of an argument; None if there is nothing that types depend on."""
        case, value = arg.case()
        if case == "as_tensor":  # by far the most
            return _operand(inputs, value.text_of("name"))
        if case in PLAIN:
            return PLAIN[case](value)
        if case in LISTS:
            return tuple([LISTS[case](each) for each in value.items()])
        operand = partial(_operand, inputs)
        match case:
            case "as_tensors":
                return tuple([operand(each.text_of("name")) for each in value.items()])
            case "as_optional_tensor":
                return _optional(value, operand)
            case "as_optional_tensors":
                return tuple([_optional(each, operand) for each in value.items()])
            case "as_sym_ints" | "as_sym_bools" | "as_sym_floats":
                return tuple([_symbolic(each, operand) for each in value.items()])
            case "as_sym_int" | "as_sym_bool" | "as_sym_float":
                return _symbolic(value, operand)
            case "as_complex":
                return complex(value["real"].number(), value["imag"].number())
            case "as_scalar_type":
                kind = value.integer()
                return ELEMENTS.get(kind) or COMPLEX.get(kind) or f"element type {kind}"
            case "as_graph":
                return self._inner(value["graph"], scope)
            case _:
                return None  # a device, a layout, a memory format


def _check_names(document: Document, graph: Graph) -> None:
    """Each value of a graph has one name, and what it gives is made in it."""
    known: set[str] = set()
    names = [each.name for side in (graph.constants, graph.inputs) for each in side]
    names += [name for each in graph.operations for name in each.outputs]
    for name in filter(None, names):
        if name in known:
            raise document.wrong(f"has two values that are called `{name[:LONGEST_NAME]}`")
        known.add(name)
    for each in graph.outputs:
        if each.name and each.name not in known:
            name = each.name[:LONGEST_NAME]
            raise document.wrong(f"has the output `{name}`, and nothing makes it")


def _operator(target: str) -> tuple[str, str]:
    """The name of an operator without that of its overload, and its domain."""
    for prefix, domain in PREFIXES:
        if target.startswith(prefix):
            rest = target[len(prefix) :]
            if domain in ("python", "higher_order"):
                return rest, domain
            if domain == "aten":
                return rest.split(".")[0], domain
            space, _, name = rest.partition(".")
            return name.split(".")[0], space
    return target, ""


def _names(arg: Document) -> Iterator[str]:
    """The tensors, or scalars, that an output is; a part that is not there has an empty name."""
    case, value = arg.case()
    if case == "as_tensor":  # by far the most
        yield value.text_of("name")
    elif value.is_list:
        for each in value.items():
            yield _named(each) or _name(each)
    elif case == "as_optional_tensor":
        yield _name(value)
    elif case != "as_none":
        yield _named(value)


def _name(arg: Document) -> str:
    """The value that an argument is, if it is one."""
    return _named(arg.case()[1])


def _named(value: Document) -> str:
    """The name that a tensor, or a scalar, has in the program; empty if it has none."""
    return value.text_if_any("name") or value.text_if_any("as_name")


def _operand(inputs: list[str], name: str) -> Operand:
    """The input of that name; it is one from here on."""
    if name not in inputs:
        inputs.append(name)
    return Operand(inputs.index(name))


def _optional(value: Document, operand: Callable[[str], Operand]) -> Operand | None:
    """A tensor that may be missing."""
    case, found = value.case()
    return operand(found.text_of("name")) if case == "as_tensor" else None


def _symbolic(value: Document, operand: Callable[[str], Operand]) -> Any:
    """A number that is computed, or one that is known."""
    case, found = value.case()
    match case:
        case "as_name":
            return Operand(operand(found.text()).index, number=True)
        case "as_int" | "as_bool" | "as_float":
            return PLAIN[case](found)
        case _:
            raise value.wrong("is neither a name nor a number")


def _size(value: Document) -> Size | None:
    case, found = value.case()
    if case == "as_int":
        size = found.integer()
        if not 0 <= size < LARGEST_SIZE:
            raise found.wrong("is not a size: it is negative, or too large")
        return size
    return size_of(found.text_of("expr_str")) if case == "as_expr" else None
