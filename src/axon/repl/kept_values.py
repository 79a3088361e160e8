"""Values that are kept: each tensor as an operator without arguments, which gives it.

So a later line does not compute it again, and a function of the session may use it. Sizes and
shapes are kept as the numbers that they are, since a program may use them as sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from axon.inference.environment import Entry
from axon.run.shown import on_host
from axon.run.values import exact_type, take
from axon.source import Source, Span
from axon.syntax import ast
from axon.types.type import (
    DimValue,
    Fn,
    Record,
    Scheme,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    record,
    type_variables,
)
from axon.types.variables import DimVar, made_at


@dataclass(frozen=True, slots=True)
class KeptTensor:
    """A tensor and its type, under a name that no program can write."""

    name: str
    type: Tensor
    value: Any

    def __call__(self) -> Any:
        return self.value

    @property
    def entry(self) -> Entry:
        type_ = Fn((), self.type)
        return Entry(Scheme(tuple(dict.fromkeys(type_variables(type_))), type_))


@dataclass(frozen=True, slots=True)
class Kept:
    """A value as an expression of what is held, and its type as it is shown."""

    expr: ast.Expr
    type: Type
    held: tuple[KeptTensor, ...]


def keep(name: str, type_: Type, value: Any, span: Span) -> Kept:
    """A value that a definition of this name had. `span` is where it was computed: a message about
    the value shows that place.
    """
    return _keep(name, type_, on_host(value), span)


def _keep(path: str, type_: Type, value: Any, span: Span) -> Kept:
    match type_:
        case DimValue(_, number):
            whole = number if number and all(isinstance(n, int) for n in number) else None
            scalar = Tensor("i64", ())
            if whole is None:
                return Kept(_number(int(value), path), scalar, ())
            left, right = (_number(int(str(n)), path) for n in whole)
            place = _place(path)
            return Kept(ast.Infix("/", left, right, place, place), scalar, ())
        case ShapeValue():
            sizes = tuple(_number(int(size), path) for size in value)
            shape = ShapeValue(tuple(int(size) for size in value))
            return Kept(ast.ListExpr(sizes, _place(path)), shape, ())
        case Record(types, names):
            fields = [
                _keep(f"{path}.{name}", of, part, _place(f"{path}.{name}"))
                for name, of, part in zip(names, types, value, strict=True)
            ]
            attributes = [
                ast.Attribute(name, each.expr, _place(f"{path}.{name}"))
                for name, each in zip(names, fields, strict=True)
            ]
            whole_type = record(dict(zip(names, [each.type for each in fields], strict=True)))
            return Kept(ast.Record(None, tuple(attributes), span), whole_type, _all_held(fields))
        case Tuple(types):
            items = [
                _keep(f"{path}[{at}]", of, part, _place(f"{path}[{at}]"))
                for at, (of, part) in enumerate(zip(types, value, strict=True))
            ]
            exprs = tuple(each.expr for each in items)
            item_types = tuple(each.type for each in items)
            return Kept(ast.TupleExpr(exprs, span), Tuple(item_types), _all_held(items))
        case _:
            value = take(value, type_)
            found = _exact(type_, value)
            held = KeptTensor(f"value of {path}", found, value)
            call = ast.Call(ast.Name(held.name, span), (), (), span)
            return Kept(call, found, (held,))


def _all_held(parts: list[Kept]) -> tuple[KeptTensor, ...]:
    return tuple(held for part in parts for held in part.held)


def _number(value: int, path: str) -> ast.Expr:
    span = _place(path)
    number = ast.Number(abs(value), "int", str(abs(value)), span)
    return ast.Negate(number, _place(path)) if value < 0 else number


def _place(path: str) -> Span:
    """A place that no other expression has: part of a value, as one would write it."""
    return Span(Source("session", path), 0, len(path))


def _exact(type_: Type, value: Any) -> Tensor:
    """The type of a value with its sizes. Sizes that vary alike by its former type still do."""
    found = exact_type(value)
    assert isinstance(found, Tensor)
    before = type_.shape if isinstance(type_, Tensor) else ()
    same_rank = len(before) == len(found.shape)
    known: dict[object, DimVar] = {}
    sizes: list[Any] = []
    for at, dim in enumerate(found.shape):
        if isinstance(dim, DimVar):
            made = DimVar("", 1, scope=made_at(1), runtime=True, over=dim.over)
            dim = known.setdefault(before[at] if same_rank else at, made)
        sizes.append(dim)
    return Tensor(found.elem, tuple(sizes))
