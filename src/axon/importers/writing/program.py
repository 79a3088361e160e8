"""The program that a model becomes, as text."""

from __future__ import annotations

from dataclasses import dataclass

from axon.diagnostics import Severity
from axon.driver import check_text
from axon.importers.contents.reals import without_implied
from axon.importers.imported import Imported
from axon.importers.operations import Constant
from axon.importers.writing.layers import Definition, found_layers
from axon.importers.writing.lines import lines
from axon.importers.writing.writer import Line, Writer, value
from axon.source import Source, Span
from axon.syntax import parse_program, print_expr, print_program
from axon.types import dim as dims
from axon.types.show import Show
from axon.types.type import AtLeast, Fn, Tensor, type_variables
from axon.workspace import workspace


@dataclass(slots=True)
class Written:
    """A program, and for each operator that it declares the tensor, or the node, that it is."""

    text: str
    weights: dict[str, Constant]
    opaque: dict[str, str]


def write_program(imported: Imported) -> Written:
    """The program. Where the functions that graphs inside nodes become do not have the types that
    these have in the model, such nodes are declared only.
    """
    with workspace():
        made = _written(imported)
        if not imported.importer.graphs:
            return made
        signature = _signature(made.text)
        if not signature and imported.is_wrong:
            return made
        if "*" in signature:  # a model has no ragged tensors
            other = _written(imported, annotates=True)
            if _fits(told := _signature(other.text), imported) and "*" not in told:
                return other
        return made if _fits(signature, imported) else _written(imported, functions=False)


def _signature(text: str) -> str:
    """The type of a program, if it is right."""
    checked = check_text(text, "model.axon")
    if any(each.severity == Severity.ERROR for each in checked.diagnostics):
        return ""
    return next((s.signature for s in checked.signatures if s.name == "model"), "")


def _fits(signature: str, imported: Imported) -> bool:
    """Whether a program asks no more of its inputs than the model does."""
    types = tuple(imported.type(name) for name in imported.inputs)
    wanted = Show(imported.names()).type(Fn(types, Tensor("f32", ())))
    return signature.startswith(wanted.removesuffix("f32"))


def _written(imported: Imported, functions: bool = True, annotates: bool = False) -> Written:
    tensors = {constant.name: constant for constant in imported.model.graph.constants}
    importer = imported.importer
    writer = Writer(imported, importer, tensors, functions=functions, annotates=annotates)
    params = []
    for name in imported.inputs:
        type_ = imported.type(name)
        writer.names.reserve(type_variables(type_))
        writer.known.update(type_variables(type_))
        params.append((writer.importer.alias(name), Show(writer.names).type(type_)))
    body = lines(writer)
    nowhere = Span(Source("", ""), 0, 0)
    outputs = [value(writer, name, nowhere) for name in imported.outputs]
    layers, body = found_layers(writer, body, [print_expr(o) for o in outputs])
    results = [print_expr(output) for output in outputs]
    whole = Definition("model", params, body, results, _limits(writer))
    head = "".join(f"{line}\n" for line in writer.declared)
    text = "\n".join([head, *(_definition(each) for each in (*layers, whole))])
    parsed, problems = parse_program(Source("model.axon", text))
    assert not problems, problems[0]
    return Written(print_program(parsed), writer.weights, writer.opaque)


def _limits(writer: Writer) -> tuple[str, ...]:
    """What must hold of the sizes of the inputs so that those that the model computes in floating
    point are what the program says.
    """
    store, show = writer.importer.state.store, Show(writer.names, mods=False)
    found = without_implied(store.dim(limit) for limit in writer.importer.limits)
    said = [AtLeast(dim, silent=False) for dim in found if set(dims.variables(dim)) <= writer.known]
    return tuple(show.relation(each) for each in said)


def _definition(made: Definition) -> str:
    params = [f"{name} : {type_}" if type_ else name for name, type_ in made.params]
    body = "".join(f"  {_text(line)}\n" for line in made.lines)
    result = made.results[0] if len(made.results) == 1 else f"({', '.join(made.results)})"
    where = f" where {', '.join(made.where)}" if made.where else ""
    return f"{made.name} = fn ({', '.join(params)}){where} {{\n{body}  {result}\n}};\n"


def _text(line: Line) -> str:
    return f"{', '.join(name or '_' for name in line.names)} = {print_expr(line.expr)};"
