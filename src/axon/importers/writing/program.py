"""The program that a model becomes, as text."""

from __future__ import annotations

from dataclasses import dataclass

from axon.contents.reals import without_implied
from axon.driver import check_text
from axon.importers.imported import Imported
from axon.importers.importer import Importer
from axon.importers.operations import Constant
from axon.importers.options import functions, specialised
from axon.importers.writing.layers import Definition, found_layers
from axon.importers.writing.lines import lines, pattern_of
from axon.importers.writing.writer import Writer, value
from axon.source import Source, Span
from axon.syntax import ast, free_names
from axon.syntax.printer import print_expr, print_program
from axon.types import dim as dims
from axon.types.show import Names
from axon.types.trees import NOWHERE, Trees
from axon.types.type import AtLeast, Fn, Renaming, Tensor, Type, type_variables
from axon.types.variables import DimVar, ElemVar, ShapeVar, is_ragged
from axon.workspace import workspace

BEHIND_A_LINE = Span(Source("model.axon", "\n\n"), 2, 2)
"""Where an empty line stands before a definition."""


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
        names = _size_names(imported)
        made = _written(imported, names)
        if not imported.importer.graphs:
            return made
        type_ = _type(made.text)
        if type_ is None and imported.is_wrong:
            return made
        if type_ is not None and _is_ragged(type_):  # which no tensor of a model is
            other = _written(imported, names, annotates=True)
            told = _type(other.text)
            if told is not None and _fits(told, imported, names) and not _is_ragged(told):
                return other
        if type_ is not None and _fits(type_, imported, names):
            return made
        return _written(imported, names, functions=False)


def _size_names(imported: Imported) -> Names:
    """Names for the sizes of the inputs. In expressions a size and a tensor are told apart by name
    alone: neither has a name of the other.
    """
    importer, names = imported.importer, Names()
    found = [var for name in imported.inputs for var in type_variables(imported.type(name))]
    names.reserve(found)
    names.taken.update((*importer.aliases.values(), *functions()))
    importer.taken.update(names(var) for var in found)
    return names


def _type(text: str) -> Fn | None:
    """The type of a program, if it is right."""
    checked = check_text(text, "model.axon")
    found = checked.find("model") if checked.ok else None
    return found.scheme.type if found is not None and isinstance(found.scheme.type, Fn) else None


def _is_ragged(type_: Type) -> bool:
    return any(is_ragged(var) for var in type_variables(type_))


def _fits(type_: Fn, imported: Imported, names: Names) -> bool:
    """Whether a program asks no more of its inputs than the model does: they have the same types,
    in the names of the program.
    """
    ours, same = {name: var for var, name in names.given.items()}, Renaming({}, {}, {}, {})
    for var in {v for param in type_.params for v in type_variables(param)}:
        match var, ours.get(var.name):
            case DimVar(), DimVar() as own:
                same.dims[var] = own
            case ShapeVar(), ShapeVar() as own:
                same.shapes[var] = (own,)
            case ElemVar(), ElemVar() as own:
                same.elems[var] = own
            case _:
                pass
    wanted = [imported.type(name) for name in imported.inputs]
    return [same.type(param) for param in type_.params] == wanted


def _written(
    imported: Imported, names: Names, functions: bool = True, annotates: bool = False
) -> Written:
    tensors = {constant.name: constant for constant in imported.model.graph.constants}
    importer = imported.importer
    writer = Writer(imported, importer, tensors, names, functions=functions, annotates=annotates)
    params: list[tuple[str, ast.TypeExpr | None]] = []
    for name in imported.inputs:
        type_ = imported.type(name)
        writer.known.update(type_variables(type_))
        params.append((importer.alias(name), Trees(names).type(type_)))
    body = lines(writer)
    outputs = [value(writer, name, NOWHERE) for name in imported.outputs]
    layers, body = found_layers(writer, body, [print_expr(o) for o in outputs])
    results = [_tensor(writer, *each) for each in zip(imported.outputs, outputs, strict=True)]
    whole = Definition("model", params, body, results, _limits(writer))
    definitions = [_definition(each) for each in (*layers, whole)]
    definitions = [*_functions(importer, definitions), *definitions]
    program = ast.Program((*writer.declared, *definitions), None, BEHIND_A_LINE.source)
    return Written(print_program(program), writer.weights, writer.opaque)


def _tensor(writer: Writer, name: str, expr: ast.Expr) -> ast.Expr:
    """An output of the model. In a program integers whose elements are known may be sizes."""
    type_ = writer.imported.type(name)
    if name not in writer.importer.contents or not isinstance(type_, Tensor):
        return expr
    if type_.elem != "i64" or len(type_.shape) > 1:
        return expr
    to = ast.Attribute("to", ast.Name("i64", NOWHERE), NOWHERE)
    return ast.Call(ast.Name("cast", NOWHERE), (expr,), (to,), NOWHERE)


def _limits(writer: Writer) -> tuple[ast.Condition, ...]:
    """What must hold of the sizes of the inputs so that those that the model computes in floating
    point are what the program says.
    """
    store, trees = writer.importer.state.store, Trees(writer.names, mods=False)
    found = without_implied(store.dim(limit) for limit in writer.importer.limits)
    said = [AtLeast(dim, silent=False) for dim in found if set(dims.variables(dim)) <= writer.known]
    return tuple(trees.at_least(each) for each in said)


def _functions(importer: Importer, definitions: list[ast.Binding]) -> list[ast.Binding]:
    """The functions with options that definitions call."""
    called = {name for each in definitions for name in free_names(each.value)}
    return [
        ast.Binding(ast.NamePattern(alias, NOWHERE), specialised(*key).function, BEHIND_A_LINE)
        for key, alias in importer.functions.items()
        if alias in called
    ]


def _definition(made: Definition) -> ast.Binding:
    params = tuple(ast.Param(name, type_, NOWHERE, NOWHERE) for name, type_ in made.params)
    body = tuple(ast.Binding(pattern_of(e.names), e.expr, NOWHERE) for e in made.lines)
    results = tuple(made.results)
    result = results[0] if len(results) == 1 else ast.TupleExpr(results, NOWHERE)
    block = ast.Block(body, result, NOWHERE)
    function = ast.Fn(params, None, made.where, block, NOWHERE)
    return ast.Binding(ast.NamePattern(made.name, NOWHERE), function, BEHIND_A_LINE)
