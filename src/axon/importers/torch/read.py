"""An exported PyTorch program, as operations.

Each argument of a node is an attribute by the name that PyTorch's schema has for it; a tensor, or
a size that is computed, is an `Operand`, which says which input of the operation it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from axon.importers.operations import (
    Attributes,
    Constant,
    Declared,
    Graph,
    Model,
    NoModel,
    Operand,
    Operation,
    Size,
)
from axon.importers.torch.archive import CONSTANTS, WEIGHTS, Archive
from axon.importers.torch.conditions import with_conditions
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
NUMBERS = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
PLAIN = {"as_int": int, "as_bool": bool, "as_string": str, "as_operator": str}
LISTS = {"as_ints": int, "as_bools": bool, "as_strings": str}
ONE_TENSOR = {"as_tensor"}
SYMBOLIC = {
    "as_sym_int": "as_int", "as_sym_bool": "as_bool", "as_sym_float": "as_float",
}  # fmt: skip
SPECS = {
    "parameter": "parameter_name", "buffer": "buffer_name",
    "tensor_constant": "tensor_constant_name",
}  # fmt: skip
MUTATIONS = ("buffer_mutation", "parameter_mutation", "user_input_mutation", "loss_output")


class _Wrong(Exception):
    """Something in the document is not what the format has there."""


@dataclass(slots=True)
class _Scope:
    """Where a graph stands: its nodes take inputs by name, and know no other graph's."""

    tensors: dict[str, Any]
    scalars: dict[str, str] = field(default_factory=dict)
    depth: int = 0


def model_of(archive: Archive) -> Model:
    """The program of an archive; raises `NoModel` where the document is not a program."""
    try:
        return _Reader(archive).model()
    except (_Wrong, LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as problem:
        what = f" ({problem})" if isinstance(problem, _Wrong) else ""
        raise NoModel(f"{archive.name} is not a program of torch.export{what}") from None


class _Reader:
    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        module = _map(archive.program, "graph_module")
        self.graph = _map(module, "graph")
        self.signature = _map(module, "signature")
        self.stored = dict(self._stored())
        self.added: set[str] = set()

    def _stored(self) -> Iterator[tuple[str, Stored]]:
        """The weights by their names in the module."""
        for folder, table in (WEIGHTS, CONSTANTS):
            if folder + table in self.archive.sizes:
                for name, entry in _map(self.archive.json(folder + table), "config").items():
                    yield name, Stored(folder, entry)

    def model(self) -> Model:
        scope = _Scope(_map(self.graph, "tensor_values"))
        constants: list[Constant] = []
        inputs: list[Declared] = []
        titles: dict[str, str] = {}
        for spec in _list(self.signature, "input_specs"):
            ((case, given),) = spec.items()
            if case in SPECS:
                name, own = _text(given["arg"], "name"), _text(given, SPECS[case])
                constants.append(self._constant(name, own, scope))
                titles[name] = own
                for i, each in enumerate(self._parts(name, own, scope, constants[-1])):
                    constants.append(each)
                    titles[each.name] = part(own, i)
            elif case == "user_input":
                inputs += self._input(given["arg"], scope)
        graph = self._graph(self.graph, scope, inputs, constants)
        graph.outputs = self._outputs(scope)
        _check_names(graph)
        changed = self._functional(graph)
        graph.outputs = [*changed, *graph.outputs]
        made = {name for each in graph.operations for name in each.outputs}
        said = [self._declared(name, scope) for name in scope.tensors if name in made]
        known = [each for each in said if each is not None]
        titles |= {name: name.partition("⟨")[0] for name in self.added}
        return Model(graph, said=known, titles=titles, added=frozenset(self.added))

    # --- inputs, weights, outputs ---

    def _input(self, arg: dict[str, Any], scope: _Scope) -> Iterator[Declared]:
        ((case, value),) = arg.items()
        if case == "as_tensor":
            name = _text(value, "name")
            yield self._declared(name, scope) or Declared(name, None, None)
        elif case in SYMBOLIC and "as_name" in value:
            elem = {"as_sym_int": "i64", "as_sym_bool": "bool", "as_sym_float": "f64"}[case]
            yield Declared(_text(value, "as_name"), elem, ())

    def _constant(self, name: str, own: str, scope: _Scope) -> Constant:
        """A weight. Its sizes are those that the program has for it; its values may be missing."""
        declared = self._declared(name, scope)
        sizes = None if declared is None else declared.sizes
        if sizes is None or not all(isinstance(n, int) for n in sizes):
            raise _Wrong(f"the sizes of `{own}` are no numbers")
        dims = tuple([n for n in sizes if isinstance(n, int)])
        elem = None if declared is None else declared.elem
        return constant_of(self.archive, name, elem, dims, self.stored.get(own))

    def _parts(self, name: str, own: str, scope: _Scope, whole: Constant) -> Iterator[Constant]:
        """The real and the imaginary part of a weight, if its numbers are complex."""
        kind, stored = COMPLEX.get(scope.tensors[name]["dtype"], ""), self.stored.get(own)
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
        listed = _list(meta, "sizes")
        if len(listed) > MOST_SIZES:
            raise _Wrong(f"`{name}` has more than {MOST_SIZES} dimensions")
        sizes = tuple([_size(each) for each in listed])
        return Declared(name, ELEMENTS.get(meta["dtype"]), sizes)

    def _functional(self, graph: Graph) -> list[Declared]:
        """Put new tensors in the place of those that are written to. Gives what inputs and buffers
        hold in the end.
        """
        done = without_mutation(graph)
        graph.operations, graph.outputs = done.operations, done.outputs
        self.added |= done.own
        return [Declared(name, None, None) for name in done.changed.values()]

    def _outputs(self, scope: _Scope) -> list[Declared]:
        """The results of the user's module; the buffers that it changes are results too."""
        found = []
        for spec in _list(self.signature, "output_specs"):
            ((case, given),) = spec.items()
            if case != "user_output" and case not in MUTATIONS:
                continue
            arg = given["arg"]
            name = _name(arg) if case == "user_output" else _text(arg, "name")
            if name:
                found.append(Declared(name, None, None))
        return found

    # --- graphs ---

    def _graph(
        self,
        graph: dict[str, Any],
        scope: _Scope,
        inputs: list[Declared],
        constants: list[Constant],
    ) -> Graph:
        operations: list[Operation] = []
        for node in _list(graph, "nodes"):
            operation = self._operation(node, scope)
            if operation.operator == EFFECTS:  # in an order, which a token stands for
                operation = operation.changed(inputs=[], outputs=operation.outputs[1:])
                operation.attributes = {}
                if not operation.outputs:
                    continue
            operations += map(with_graphs, inlined(operation))
        operations = with_conditions(operations)
        return Graph(inputs, [], operations, constants)

    def _inner(self, value: dict[str, Any], scope: _Scope) -> Graph:
        """A graph that is an argument: what it takes are its inputs alone."""
        if scope.depth >= DEEPEST:
            raise _Wrong(f"graphs are nested more than {DEEPEST} deep")
        graph = _map(value, "graph")
        inner = _Scope(_map(graph, "tensor_values"), depth=scope.depth + 1)
        inputs = [Declared(_name(arg), None, None) for arg in _list(graph, "inputs")]
        made = self._graph(graph, inner, inputs, [])
        made.outputs = [Declared(_name(arg), None, None) for arg in _list(graph, "outputs")]
        _check_names(made)
        self._functional(made)
        return made

    # --- nodes ---

    def _operation(self, node: dict[str, Any], scope: _Scope) -> Operation:
        target = _text(node, "target")
        operator, domain = _operator(target)
        inputs: list[str] = []
        attributes: Attributes = {}
        for i, given in enumerate(_list(node, "inputs")):
            ((case, value),) = given["arg"].items()
            found = self._argument(case, value, inputs, scope)
            if found is not None:
                attributes[_text(given, "name") or str(i)] = found
        listed = _list(node, "outputs")
        if len(listed) == 1 and listed[0].keys() == ONE_TENSOR:
            outputs = [_text(listed[0]["as_tensor"], "name")]
        else:
            outputs = [name for arg in listed for name in _names(arg)]
        metadata = node.get("metadata") or {}
        name = node.get("name")
        label = name if isinstance(name, str) and name else next(iter(outputs), operator)
        place = place_of(metadata)
        return Operation(operator, inputs, outputs, attributes, domain, label, place=place)

    def _argument(self, case: str, value: Any, inputs: list[str], scope: _Scope) -> Any:
        """The value of an argument; None if there is nothing that types depend on."""

        if case == "as_tensor":  # by far the most
            return _operand(inputs, _text(value, "name"))
        if case in PLAIN:
            return _of_kind(value, PLAIN[case])
        operand = partial(_operand, inputs)
        match case:
            case "as_tensors":
                return tuple([operand(_text(each, "name")) for each in value])
            case "as_optional_tensors" | "as_optional_tensor":
                every = value if isinstance(value, list) else [value]
                names = [each.get("as_tensor") for each in every]
                parts = [None if n is None else operand(_text(n, "name")) for n in names]
                return tuple(parts) if isinstance(value, list) else parts[0]
            case "as_sym_ints" | "as_sym_bools" | "as_sym_floats":
                return tuple([_symbolic(each, operand) for each in value])
            case "as_sym_int" | "as_sym_bool" | "as_sym_float":
                return _symbolic(value, operand)
            case "as_float":
                return _number(value)
            case "as_floats":
                return tuple([_number(each) for each in value])
            case "as_complex":
                return complex(_number(value["real"]), _number(value["imag"]))
            case "as_scalar_type":
                return ELEMENTS.get(value) or COMPLEX.get(value) or f"element type {int(value)}"
            case "as_graph":
                return self._inner(value, scope)
            case _ if case in LISTS:
                return tuple([_of_kind(each, LISTS[case]) for each in value])
            case _:
                return None  # a device, a layout, a memory format


def _check_names(graph: Graph) -> None:
    """Each value of a graph has one name, and what it gives is made in it."""
    known: set[str] = set()
    names = [each.name for side in (graph.constants, graph.inputs) for each in side]
    names += [name for each in graph.operations for name in each.outputs]
    for name in filter(None, names):
        if name in known:
            raise _Wrong(f"two values are called `{name[:80]}`")
        known.add(name)
    for each in graph.outputs:
        if each.name and each.name not in known:
            raise _Wrong(f"nothing makes its output `{each.name[:80]}`")


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


def _names(arg: dict[str, Any]) -> Iterator[str]:
    """The tensors, or scalars, that an output is; a part that is not there has an empty name."""
    ((case, value),) = arg.items()
    if isinstance(value, list):
        for each in value:
            yield _text(each, "name") if "name" in each else _name(each)
    elif case != "as_none":
        yield _name(arg)


def _name(arg: dict[str, Any]) -> str:
    """The value that an argument is, if it is one."""
    ((_, value),) = arg.items()
    if not isinstance(value, dict):
        return ""
    return str(value.get("name") or value.get("as_name") or "")


def _operand(inputs: list[str], name: str) -> Operand:
    """The input of that name; it is one from here on."""
    if name not in inputs:
        inputs.append(name)
    return Operand(inputs.index(name))


def _symbolic(value: dict[str, Any], operand: Callable[[str], Operand]) -> Any:
    """A number that is computed, or one that is known."""
    ((case, found),) = value.items()
    if case == "as_name":
        return Operand(operand(_of_kind(found, str)).index, number=True)
    return _number(found) if case == "as_float" else _of_kind(found, int | bool)


def _size(value: dict[str, Any]) -> Size | None:
    found = value.get("as_int")
    if type(found) is int and 0 <= found < LARGEST_SIZE:
        return found
    if isinstance(found, int):
        raise _Wrong(f"{found} is no size")
    expression = value.get("as_expr")
    return None if expression is None else size_of(_text(expression, "expr_str"))


def _number(value: Any) -> float:
    found = NUMBERS.get(value) if isinstance(value, str) else value
    if not isinstance(found, int | float) or isinstance(found, bool):
        raise _Wrong(f"{value!r} is no number")
    return float(found)


def _of_kind(value: Any, kind: Any) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _Wrong(f"{str(value)[:40]!r} is of another kind than its argument")
    return value


def _map(value: Any, key: str) -> dict[str, Any]:
    found = value[key]
    if not isinstance(found, dict):
        raise _Wrong(f"`{key}` is not an object")
    return found


def _list(value: Any, key: str) -> list[Any]:
    found = value[key]
    if not isinstance(found, list):
        raise _Wrong(f"`{key}` is not a list")
    return found


def _text(value: Any, key: str) -> str:
    found = value[key]
    if not isinstance(found, str):
        raise _Wrong(f"`{key}` is not a text")
    return found
