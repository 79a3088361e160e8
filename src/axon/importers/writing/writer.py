"""A program in the making: the meanings of its names, and expressions for the model's tensors.

A weight is an operator without arguments, declared by its type; a single number is written as one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from axon.contents.singles import shortest
from axon.importers.imported import Imported
from axon.importers.importer import Importer
from axon.importers.operations import Constant, Operation
from axon.source import Span
from axon.syntax import ast
from axon.types.show import Names
from axon.types.trees import NOWHERE, Trees
from axon.types.type import Fn, Tensor, Type
from axon.types.variables import Var

PLAIN = ("f32", "i64", "bool")
"""Element types that a number in a program has where nothing asks for another."""


@dataclass(frozen=True, slots=True)
class Written:
    """A step with its expressions written out."""

    names: tuple[str, ...]
    expr: ast.Expr | None
    node: Operation
    fallback: ast.Expr | None = None
    tensor: Constant | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """`names = expr;` in the program's names; a result without a name is not used."""

    names: tuple[str, ...]
    expr: ast.Expr
    node: Operation


@dataclass(slots=True)
class Writer:
    """A program in the making. `weights` and `opaque` say what the declared operators stand for."""

    imported: Imported
    importer: Importer
    tensors: dict[str, Constant]
    names: Names = field(default_factory=Names)
    known: set[Var] = field(default_factory=set)
    declared: list[ast.OpDecl] = field(default_factory=list)
    weights: dict[str, Constant] = field(default_factory=dict)
    opaque: dict[str, str] = field(default_factory=dict)
    shared: dict[tuple[Any, ...], str] = field(default_factory=dict)
    held: dict[int, str] = field(default_factory=dict)
    copies: dict[str, ast.Expr] = field(default_factory=dict)
    originals: dict[str, str] = field(default_factory=dict)
    """The tensors of the model by their names in the program."""
    looks: dict[Line, tuple[Any, list[str]]] = field(default_factory=dict)
    """The form and the operands of lines, each of which is looked at once."""
    subgraphs: dict[str, list[Written]] = field(default_factory=dict)
    """The steps of graphs inside nodes."""
    wanted: set[str] = field(default_factory=set)
    annotates: bool = False
    """Whether such functions state the types of their results, where operators leave them open."""
    functions: bool = True
    """Whether graphs inside nodes become functions; if not, such a node is declared only."""

    def type(self, alias: str) -> Type:
        return self.imported.type(self.originals[alias])


def value(writer: Writer, name: str, span: Span) -> ast.Expr:
    """A tensor of the model, as an expression of the program."""
    alias = writer.importer.alias(name)
    writer.originals[alias] = name
    if alias in writer.copies:
        return writer.copies[alias]
    if name not in writer.tensors:
        return ast.Name(alias, span)
    return _number(writer, name, span) or _weight(writer, name, alias, span)


def fresh(importer: Importer, base: str) -> str:
    number = 1
    while importer.is_taken(name := f"{base}_{number}"):
        number += 1
    importer.taken.add(name)
    return name


def declare(writer: Writer, name: str, type_: Type, names: Names) -> None:
    """Declare an operator by its type."""
    signature = ast.Signature(Trees(names).type(type_), (), NOWHERE)
    writer.declared.append(ast.OpDecl(name, signature, NOWHERE, NOWHERE))


# --- weights ---------------------------------------------------------------------------------


def _weight(writer: Writer, name: str, alias: str, span: Span) -> ast.Expr:
    """A call of a weight; small ones that hold the same are one."""
    held = writer.importer.contents.get(name)
    if held is not None:
        same = writer.importer.kinds(name)[1]
        alias = writer.held.setdefault(same, alias)
    if alias not in writer.weights:
        writer.weights[alias] = writer.tensors[name]
        declare(writer, alias, Fn((), writer.imported.type(name)), Names())
    return ast.Call(ast.Name(alias, span), (), (), span)


def _sayable(number: float) -> bool:
    """Whether a program can say it: it has no word for what is no number, nor for less than 0."""
    return not math.isnan(number) and (number != 0 or math.copysign(1, number) > 0)


def _number(writer: Writer, name: str, span: Span) -> ast.Expr | None:
    """A weight that is a single number, where a number in a program is just that."""
    held, type_ = writer.importer.contents.get(name), writer.importer.types[name]
    if held is None or held.shape != () or not isinstance(type_, Tensor):
        return None
    if type_.elem not in PLAIN:
        return None
    match held.items[0]:
        case bool(found):
            return ast.Number(found, "bool", str(found).lower(), span)
        case int(found):
            number: ast.Expr = ast.Number(abs(found), "int", str(abs(found)), span)
            return ast.Negate(number, span) if found < 0 else number
        case float(found) if type_.elem == "f32" and _sayable(found):
            short = shortest(found)
            number = ast.Number(abs(short), "float", str(abs(short)), span)
            return ast.Negate(number, span) if short < 0 else number
        case _:
            return None
