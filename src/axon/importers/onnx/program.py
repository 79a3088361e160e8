"""The program that a model becomes, as text.

A weight is an operator without arguments, declared by its type; what no operator of Axon does is
declared by the type that it has in the model. What nobody uses is left out: most of what computes
sizes is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from axon.importers.onnx.build import Again, Importer, Step
from axon.importers.onnx.model import Imported
from axon.source import Source
from axon.syntax import (
    ast,
    mentioned,
    parse_expression,
    parse_program,
    print_expr,
    print_program,
    replaced,
)
from axon.types.show import Names, Show
from axon.types.type import (
    DimValue,
    Renaming,
    ShapeValue,
    Tuple,
    Type,
    shape_variables,
    type_variables,
)
from axon.types.variables import DimVar, ShapeVar, Var


@dataclass(slots=True)
class Written:
    """A program, and for each operator that it declares the tensor, or the node, that it is."""

    text: str
    weights: dict[str, str]
    opaque: dict[str, str]
    constants: dict[str, Any]
    """The tensors that Constant nodes hold."""


@dataclass(slots=True)
class _Writer:
    imported: Imported
    importer: Importer
    names: Names = field(default_factory=Names)
    known: set[Var] = field(default_factory=set)
    declared: list[str] = field(default_factory=list)
    weights: dict[str, str] = field(default_factory=dict)
    opaque: dict[str, str] = field(default_factory=dict)
    body: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)


def write_program(imported: Imported, model: Any) -> Written:
    writer = _Writer(imported, imported.importer)
    writer.steps = _steps(imported.importer)
    params = []
    for name in imported.inputs:
        type_ = imported.type(name)
        writer.names.reserve(type_variables(type_))
        writer.known.update(type_variables(type_))
        text = Show(writer.names).type(type_)
        params.append(f"{writer.importer.alias(name)} : {text}")
    wanted = _wanted(writer, list(imported.outputs))
    for tensor in model.graph.initializer:
        if tensor.name in wanted:
            _declare_weight(writer, tensor.name)
    for step in writer.steps:
        if any(name in wanted for name in step.names):
            _step(writer, step)
    outputs = [_use(writer, name) for name in imported.outputs]
    result = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
    body = "".join(f"  {line}\n" for line in writer.body)
    head = "".join(f"{line}\n" for line in writer.declared)
    indent = ",\n  ".join(params)
    opening = f"model = fn (\n  {indent}\n) {{" if len(indent) > 80 else f"model = fn ({indent}) {{"
    text = f"{head}\n{opening}\n{body}  {result}\n}};\n"
    parsed, problems = parse_program(Source("model.axon", text))
    assert not problems, problems[0]
    held = {step.names[0]: step.tensor for step in writer.steps if step.tensor is not None}
    return Written(print_program(parsed), writer.weights, writer.opaque, held)


def _steps(importer: Importer) -> list[Step]:
    """Every step, those that come again written out."""
    found: list[Step] = []
    for step in importer.steps:
        if isinstance(step, Step):
            found.append(step)
        else:
            found += _repeated(importer, step)
    return found


def _repeated(importer: Importer, again: Again) -> list[Step]:
    """The steps of an earlier node, with the tensors of this one."""
    old = [*again.like.input, *again.like.output]
    new = dict(zip(old, [*again.node.input, *again.node.output], strict=True))
    aliases = {importer.alias(a): importer.alias(b) for a, b in new.items() if a}
    return [
        Step(
            tuple(new.get(name, name) for name in step.names),
            None if step.expr is None else _renamed(step.expr, aliases),
            step.kind,
            tuple(name for name in again.node.input if name),
            None if step.otherwise is None else _renamed(step.otherwise, aliases),
            step.tensor,
        )
        for step in again.steps
    ]


def _renamed(expr: ast.Expr, names: dict[str, str]) -> ast.Expr:
    return replaced(expr, lambda found: ast.Name(names.get(found.name, found.name), found.span))


def _wanted(writer: _Writer, outputs: list[str]) -> set[str]:
    """The tensors that the outputs rest on."""
    makers = {name: step for step in writer.steps for name in step.names}
    todo, found = list(outputs), set()
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        step = makers.get(name)
        if step is None:
            continue
        expr = _chosen(writer, step)
        if expr is None:
            todo.extend(step.inputs if step.kind != "Constant" else ())
        else:
            known = {alias: n for n, alias in writer.importer.aliases.items()}
            todo.extend(known[a] for a in _mentioned(expr) if a in known)
    return found


def _mentioned(expr: ast.Expr) -> list[str]:
    return list(mentioned(expr))


def _chosen(writer: _Writer, step: Step) -> ast.Expr | None:
    """The expression of a step that can be said, if there is one."""
    for expr in (step.expr, step.otherwise):
        if expr is not None and _sayable(writer, expr):
            return expr
    return None


def _sayable(writer: _Writer, expr: ast.Expr) -> bool:
    """Whether every size in an expression can be said in the names of the inputs."""
    for name in _mentioned(expr):
        entry = writer.importer.env.names.get(name)
        if entry is None or not name.startswith("size "):
            continue
        found: set[Var]
        match writer.importer.state.resolve(entry.type):  # type: ignore[arg-type]
            case DimValue(dim):
                found = set(type_variables(DimValue(dim)))
            case ShapeValue(shape):
                found = set(shape_variables(shape))
            case _:
                return False
        if not found <= writer.known:
            return False
    return True


def _step(writer: _Writer, step: Step) -> None:
    alias = writer.importer.alias
    if step.kind == "Constant":
        _declare_weight(writer, step.names[0])
        return
    expr = _chosen(writer, step)
    right = _opaque(writer, step) if expr is None else print_expr(_said(writer, expr))
    left = ", ".join(alias(name) if name else "_" for name in step.names)
    writer.body.append(f"{left} = {right};")


def _use(writer: _Writer, name: str) -> str:
    alias = writer.importer.alias(name)
    return f"{alias}()" if alias in writer.weights else alias


def _said(writer: _Writer, expr: ast.Expr) -> ast.Expr:
    """The expression with sizes written out, and weights called."""

    def said(found: ast.Name) -> ast.Expr:
        if found.name in writer.weights:
            return ast.Call(found, (), (), found.span)
        if not found.name.startswith("size "):
            return found
        entry = writer.importer.env.names[found.name]
        type_ = writer.importer.state.resolve(entry.type)  # type: ignore[arg-type]
        show = Show(writer.names)
        if isinstance(type_, DimValue):
            text = show.dim(type_.dim)
        else:
            assert isinstance(type_, ShapeValue)
            text = show.shape(type_.shape)
        parsed, _ = parse_expression(Source("size", text))
        return parsed if parsed is not None else found

    return replaced(expr, said)


def _declare_weight(writer: _Writer, name: str) -> None:
    alias = writer.importer.alias(name)
    if alias not in writer.weights:
        writer.weights[alias] = name
        writer.declared.append(f"op {alias} : () -> {Show().type(writer.imported.type(name))};")


def _opaque(writer: _Writer, step: Step) -> str:
    """What no operator does is declared by the type that it has here."""
    importer = writer.importer
    inputs = [n for n in dict.fromkeys(step.inputs) if n in importer.types]
    params: list[Type] = [writer.imported.type(n) for n in inputs]
    results = [writer.imported.type(n) for n in step.names if n]
    result = results[0] if len(results) == 1 else Tuple(tuple(results))
    given = {v for p in params for v in type_variables(p)}
    renaming = Renaming({}, {}, {}, {})
    for var in type_variables(result):
        if var not in given and isinstance(var, DimVar):
            renaming.dims[var] = DimVar(var.name, scope=1, runtime=True)
        elif var not in given and isinstance(var, ShapeVar):
            renaming.shapes[var] = (ShapeVar(var.name, scope=1, runtime=True),)
    names = Names()
    for type_ in params:
        names.reserve(type_variables(type_))
    show = Show(names)
    texts = [show.type(p) for p in params]
    made = show.type(renaming.type(result))
    base = re.sub(r"\W", "", step.kind).lower() or "node"
    number = 1
    while (name := f"{base}_{number}") in importer.taken:
        number += 1
    importer.taken.add(name)
    writer.opaque[name] = step.kind
    writer.declared.append(f"op {name} : ({', '.join(texts)}) -> {made};")
    used = [_use(writer, n) for n in inputs]
    return f"{name}({', '.join(used)})"
