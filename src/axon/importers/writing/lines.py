"""The lines of the program that a model becomes, one for each step that its outputs rest on.

A step that no operator of Axon does is declared by its type in the model. Identities and unused
steps are left out, such as most computations of sizes. A subgraph is a function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from axon.importers.importer import Importer
from axon.importers.naming import hint
from axon.importers.operations import Operation
from axon.importers.steps import Parts, Repeated, Step, SubgraphFunction
from axon.importers.writing.writer import Line, Writer, Written, declare, fresh, value
from axon.syntax import ast, mentioned, replaced
from axon.types import dim as dims
from axon.types.dim import Dim, Poly
from axon.types.elements import ANY
from axon.types.show import Names
from axon.types.trees import NOWHERE, Trees, as_expression
from axon.types.type import (
    DimValue,
    Fn,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    Unknown,
    type_variables,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, made_at


def lines(writer: Writer) -> list[Line]:
    """The lines of the model's own graph, in its order."""
    importer = writer.importer
    steps = _steps(importer, importer.steps)
    writer.subgraphs = {key: _steps(importer, each.steps) for key, each in importer.graphs.items()}
    writer.originals = {alias: name for name, alias in importer.aliases.items()}
    writer.wanted = _wanted(writer, steps)
    return written(writer, steps)


def written(writer: Writer, steps: list[Written]) -> list[Line]:
    """The lines of those steps that anything rests on."""
    found: list[Line] = []
    for step in steps:
        if any(name in writer.wanted for name in step.names):
            line = _line(writer, step)
            if line is not None:
                found.append(line)
    return found


# --- steps -----------------------------------------------------------------------------------


def _steps(importer: Importer, steps: Iterable[Step | Repeated]) -> list[Written]:
    """Every step, also those of repeated nodes."""
    found: list[Written] = []
    for step in steps:
        if isinstance(step, Step):
            found.append(_written(importer, step))
        else:
            found += _repeated(importer, step)
    return found


def _written(importer: Importer, step: Step) -> Written:
    node = importer.make_node(importer, step.node, -1, _no_rules)
    expr, fallback = (
        None if each is None else each.expr(node) for each in (step.expr, step.fallback)
    )
    return Written(step.names, expr, step.node, fallback, step.tensor)


def _no_rules(operation: Operation, version: int) -> None:
    """Nothing is inferred again while a program is written."""


def _repeated(importer: Importer, again: Repeated) -> list[Written]:
    """The steps of an earlier node, with the tensors of this one."""
    old = [*again.like.inputs, *again.like.outputs]
    new = dict(zip(old, [*again.node.inputs, *again.node.outputs], strict=True))
    better = hint(again.node)
    aliases = {importer.alias(a): importer.alias(b, better) for a, b in new.items() if a}

    def name(found: ast.Expr) -> ast.Expr:
        if not isinstance(found, ast.Name):
            return found
        held, new = importer.held.get(found.name), aliases.get(found.name, found.name)
        if held is not None:
            new = importer.name_size(importer.env.names[new], replaced(held, name))
        return ast.Name(new, found.span)

    def renamed(expr: ast.Expr | None) -> ast.Expr | None:
        return None if expr is None else replaced(expr, name)

    return [
        Written(
            tuple(new.get(name, name) for name in step.names),
            renamed(step.expr),
            again.node,
            renamed(step.fallback),
            step.tensor,
        )
        for step in (_written(importer, each) for each in again.steps)
    ]


def _wanted(writer: Writer, steps: list[Written]) -> set[str]:
    """The tensors that the outputs rest on, also those of graphs inside nodes."""
    importer = writer.importer
    makers = {name: step for step in steps for name in step.names}
    todo, found = list(writer.imported.outputs), set()
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        step = makers.get(name)
        if step is None or step.tensor is not None:
            continue
        expr = _chosen(writer, step)
        if expr is None:
            todo.extend(step.node.inputs)
            continue
        for used in mentioned(expr):
            if used in writer.originals:
                todo.append(writer.originals[used])
            elif used in importer.graphs:
                makers.update((n, s) for s in writer.subgraphs[used] for n in s.names)
                todo.extend(flat(importer.graphs[used].result))
    return found


def _chosen(writer: Writer, step: Written) -> ast.Expr | None:
    """The expression of a step that can be said, if there is one, with its sizes written out."""
    for expr in (step.expr, step.fallback):
        said = None if expr is None else _sized(writer, expr)
        if said is not None:
            return said
    return None


def _sized(writer: Writer, expr: ast.Expr) -> ast.Expr | None:
    """The expression with its sizes written out; None if it needs one that cannot be said, or a
    function that would have other types.
    """
    sizes: dict[str, ast.Expr | None] = {}
    for name in mentioned(expr):
        inner = writer.importer.graphs.get(name)
        if inner is not None and not _is_function(writer, inner):
            return None
        if name.startswith("size "):
            sizes[name] = _size(writer, name)

    def said(found: ast.Expr) -> ast.Expr:
        return sizes.get(found.name) or found if isinstance(found, ast.Name) else found

    match expr:
        case ast.Call(ast.Name("ensure_shape", _), (ast.Name(name, _), x), (), _) if (
            name in sizes and sizes[name] is None
        ):
            return _sized(writer, x)
    return None if None in sizes.values() else replaced(expr, said)


def _size(writer: Writer, name: str) -> ast.Expr | None:
    """A size in the names of the inputs, or what a run finds it as, if it can be said."""
    importer, trees = writer.importer, Trees(writer.names, mods=False)
    type_ = importer.state.resolve(importer.env.names[name].type)  # type: ignore[arg-type]
    if not set(type_variables(type_)) <= writer.known:
        held = importer.held.get(name)
        return None if held is None else _sized(writer, held)
    if isinstance(type_, DimValue):
        return as_expression(trees.dim(type_.dim))
    assert isinstance(type_, ShapeValue)
    return as_expression(trees.shape(type_.shape))


def _is_function(writer: Writer, inner: SubgraphFunction) -> bool:
    """Whether what a graph takes and gives has the types that a function would have."""
    type_ = writer.imported.type
    same = writer.imported.is_wrong or all(type_(a) == type_(b) for a, b in inner.same)
    return writer.functions and same


def flat(names: Parts) -> Iterator[str]:
    """All the names in a tuple of names."""
    if isinstance(names, str):
        yield names
    else:
        for each in names:
            yield from flat(each)


# --- lines -----------------------------------------------------------------------------------


def _line(writer: Writer, step: Written) -> Line | None:
    """The line of a step, unless it makes something that is said where it is used."""
    alias = writer.importer.alias
    if step.tensor is not None:
        writer.tensors[step.names[0]] = step.tensor
        return None
    chosen = _chosen(writer, step)
    if chosen is None:  # it gives what has a name, and nothing else
        step = replace(step, names=tuple(filter(None, step.names)))
    expr = _opaque(writer, step) if chosen is None else _said(writer, chosen)
    names = tuple(alias(name) if name else "" for name in step.names)
    writer.originals.update(
        (mine, name) for mine, name in zip(names, step.names, strict=True) if mine
    )
    match expr:
        case ast.Call(ast.Name("identity", _), (given,), (), _):
            writer.copies[names[0]] = given
            return None
        case _:
            return Line(names, expr, step.node)


def _said(writer: Writer, expr: ast.Expr) -> ast.Expr:
    """The expression with functions written out, and weights called."""

    def said(found: ast.Expr) -> ast.Expr:
        if not isinstance(found, ast.Name):
            return found
        if found.name in writer.importer.graphs:
            return _function(writer, found.name)
        original = writer.originals.get(found.name)
        return found if original is None else value(writer, original, found.span)

    return replaced(expr, said)


# --- functions -------------------------------------------------------------------------------


def _function(writer: Writer, key: str) -> ast.Fn:
    """A graph inside a node, as a function."""
    inner, body = writer.importer.graphs[key], written(writer, writer.subgraphs[key])
    result = _result(writer, inner.result)
    body, used = _needed(body, result)
    if body and isinstance(result, ast.Name) and body[-1].names == (result.name,):
        result = body.pop().expr
    params, bindings = [], []
    for names in inner.params:
        name = _alias(writer, names)
        params.append(_param(writer, name, names))
        if not isinstance(names, str) and names:
            given = [_alias(writer, each) for each in names]
            pattern = pattern_of([each if each in used else "" for each in given])
            bindings.append(ast.Binding(pattern, ast.Name(name, NOWHERE), NOWHERE))
    bindings += [ast.Binding(pattern_of(line.names), line.expr, NOWHERE) for line in body]
    return ast.Fn(tuple(params), None, (), ast.Block(tuple(bindings), result, NOWHERE), NOWHERE)


def _needed(body: list[Line], result: ast.Expr) -> tuple[list[Line], set[str]]:
    """The lines that a result rests on, and all names that they use: other outputs of a graph may
    have other functions.
    """
    used, found = set(mentioned(result)), []
    for line in reversed(body):
        if not used.isdisjoint(line.names):
            used.update(mentioned(line.expr))
            found.append(line)
    return found[::-1], used


def _alias(writer: Writer, names: Parts) -> str:
    """The name of a parameter; a tuple of several has one of its own."""
    if isinstance(names, str):
        return writer.importer.alias(names)
    return fresh(writer.importer, "state")


def pattern_of(names: Sequence[str]) -> ast.Pattern:
    found = tuple(ast.NamePattern(name or "_", NOWHERE) for name in names)
    return found[0] if len(found) == 1 else ast.TuplePattern(found, NOWHERE)


def _param(writer: Writer, name: str, names: Parts) -> ast.Param:
    """A parameter with its type, if that can be said in the names of the inputs."""
    types = [writer.imported.type(each) for each in flat(names)]
    whole = types[0] if isinstance(names, str) else Tuple(tuple(types))
    known = bool(types) and set(type_variables(whole)) <= writer.known
    type_ = Trees(writer.names, mods=False).type(whole) if known else None
    return ast.Param(name, type_, NOWHERE, NOWHERE)


def _result(writer: Writer, names: Parts) -> ast.Expr:
    """What a function gives; a number has its type there."""
    if not isinstance(names, str):
        return ast.TupleExpr(tuple(_result(writer, each) for each in names), NOWHERE)
    found, type_ = value(writer, names, NOWHERE), writer.imported.type(names)
    number = found.operand if isinstance(found, ast.Negate) else found
    if not isinstance(number, ast.Number) or number.kind == "bool":
        param = _param(writer, "x", names)
        if param.type is None or not writer.annotates:
            return found
        body = ast.Block((), ast.Name("x", NOWHERE), NOWHERE)
        return ast.Call(ast.Fn((param,), None, (), body, NOWHERE), (found,), (), NOWHERE)
    assert isinstance(type_, Tensor)
    to = ast.Attribute("to", ast.Name(str(type_.elem), NOWHERE), NOWHERE)
    return ast.Call(ast.Name("cast", NOWHERE), (found,), (to,), NOWHERE)


# --- what no operator does -------------------------------------------------------------------


def _opaque(writer: Writer, step: Written) -> ast.Expr:
    """What no operator does is declared by the type that it has here."""
    importer = writer.importer
    inputs = [n for n in dict.fromkeys(step.node.inputs) if n and n in importer.types]
    type_, names = _signature(
        [writer.imported.type(n) for n in inputs],
        [writer.imported.type(n) for n in step.names if n],
    )
    kind = step.node.operator
    key = kind, step.node.key(), Trees(names).type(type_)
    name = writer.shared.get(key)
    if name is None:
        name = writer.shared[key] = fresh(importer, re.sub(r"\W", "", kind).lower() or "node")
        writer.opaque[name] = kind
        declare(writer, name, type_, names)
    args = tuple(value(writer, n, NOWHERE) for n in inputs)
    return ast.Call(ast.Name(name, NOWHERE), args, (), NOWHERE)


def _signature(params: list[Type], results: list[Type]) -> tuple[Type, Names]:
    """The type of what gives these results for these parameters, and for others of that form: a
    size that is an expression is a variable. Sizes that no parameter has are run-time sizes.
    """
    sizes: dict[Dim, Dim] = {}
    bare = {dim for p in params if isinstance(p, Tensor) for dim in p.shape}

    def param_size(item: Any) -> Any:
        if not isinstance(item, Poly):
            return item
        return sizes.setdefault(item, DimVar("", 1))

    def made(item: Any) -> Any:
        if item in sizes or isinstance(item, int) or item in bare:
            return sizes.get(item, item)
        if isinstance(item, ShapeVar):
            return ShapeVar(item.name, scope=made_at(1), runtime=True)
        if set(dims.variables(item)) <= bare:
            return item
        return sizes.setdefault(item, DimVar("", scope=made_at(1), runtime=True))

    def each(type_: Type, change: Callable[[Any], Any]) -> Type:
        if isinstance(type_, Tuple):
            return Tuple(tuple(each(item, change) for item in type_.items))
        if isinstance(type_, Unknown):  # what a node that makes no sense gives
            type_ = Tensor(ElemVar("", 1, allowed=ANY), (ShapeVar("", 1),))
        if not isinstance(type_, Tensor):
            return type_
        return Tensor(type_.elem, tuple(map(change, type_.shape)))

    general = [each(param, param_size) for param in params]
    outcome = [each(result, made) for result in results]
    names = Names()
    for type_ in general:
        names.reserve(type_variables(type_))
    whole = outcome[0] if len(outcome) == 1 else Tuple(tuple(outcome))
    return Fn(tuple(general), whole), names
