"""Blocks of random programs that are being drawn, and the expressions in them.

An expression is proposed, and kept if it gives something on the witness, by `meanings.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy

from tests.properties import operators as o
from tests.properties.meanings import Run
from tests.properties.trees import (
    Apply,
    Expr,
    Let,
    Number,
    Var,
    bound,
)
from tests.properties.values import (
    Fails,
    Size,
    Unclear,
    Value,
    count,
    is_tensor,
    rank,
)


@dataclass(slots=True)
class Draft:
    """A block that is being drawn: what is known in it, with values on the witness."""

    random: Random
    values: dict[str, Value]
    top: Top
    depth: int = 0
    lets: list[Let] = field(default_factory=list)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def value(self, expr: Expr) -> Value | None:
        """What an expression gives; None if nothing. What types would mostly refuse is rare."""
        run = Run()
        try:
            with numpy.errstate(all="ignore"):
                made = bound(expr, run, {**self.top.values, **self.values})
        except (Fails, Unclear):
            return None
        return None if run.may_refuse and self.chance(0.9) else made

    def tensors(self, ranks: tuple[int, ...] = ()) -> list[str]:
        found = [n for n, v in self.values.items() if is_tensor(v)]
        return [n for n in found if not ranks or rank(self.values[n]) in ranks]

    def some(self, *ranks: int) -> Var | None:
        found = self.tensors(ranks)
        if not found:
            return None
        return Var(self.random.choice(found[-3:] if self.chance(0.6) else found))

    def name(self, expr: Expr, prefix: str = "v") -> Var | None:
        """A line that names an expression, if that gives something."""
        value = self.value(expr)
        if value is None or (is_tensor(value) and count(value) > 300):
            return None
        name = self.top.fresh(prefix)
        self.lets.append(Let((name,), expr))
        self.values[name] = value
        return Var(name)

    def unpack(self, expr: Expr) -> bool:
        value = self.value(expr)
        if not isinstance(value, tuple) or len(value) < 2:
            return False
        names = tuple(self.top.fresh("v") for _ in value)
        self.lets.append(Let(names, expr))
        self.values.update(zip(names, value, strict=True))
        return True

    def inner(self, params: dict[str, Value], closed: bool = False) -> Draft:
        values = {} if closed else dict(self.values)
        return Draft(self.random, values | params, self.top, self.depth + 1)


@dataclass(slots=True)
class Top:
    """The definitions of a program, and their values."""

    definitions: list[tuple[str, Expr]] = field(default_factory=list)
    values: dict[str, Value] = field(default_factory=dict)
    count: int = 0

    def fresh(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def define(self, expr: Expr, name: str) -> Var:
        if name not in self.values:
            self.definitions.append((name, expr))
            self.values[name] = bound(expr, Run(), self.values)
        return Var(name)


# --- expressions ---------------------------------------------------------------------------------


def operand(d: Draft) -> Expr | None:
    """A tensor: a name, at times with an operator around it."""
    found = d.some()
    if found is None:
        return None
    if d.chance(0.25):
        around = d.random.choice(o.MAKERS) if d.chance(0.5) else d.random.choice(o.UNARY)
        expr = Apply(around, (found,))
        if is_tensor(d.value(expr)):
            return expr
    return found


def unary(d: Draft) -> Expr | None:
    x = operand(d)
    return None if x is None else Apply(d.random.choice(o.UNARY), (x,))


def maker(d: Draft) -> Expr | None:
    x = d.some(1)
    return None if x is None else Apply(d.random.choice(o.MAKERS), (x,))


def binary(d: Draft) -> Expr | None:
    operation = d.random.choice(o.BINARY)
    for _ in range(4):
        x, y = operand(d), operand(d)
        if x is None or y is None:
            return None
        expr = Apply(operation, (x, y))
        if d.value(expr) is not None:
            return expr
    return None


def chosen(d: Draft) -> Expr | None:
    x, y = d.some(), d.some()
    if x is None or y is None:
        return None
    return Apply(o.WHERE, (Apply(o.BINARY[6], (x, y)), x, y))


def size_of(d: Draft) -> Expr | None:
    """A size: of a tensor, or one that has a name, or computed."""
    named = [n for n, v in d.values.items() if isinstance(v, Size)]
    x = d.some()
    if named and (x is None or d.chance(0.5)):
        found: Expr = Var(d.random.choice(named))
    elif x is None:
        return None
    else:
        found = Apply(d.random.choice(o.SIZES), (x,))
    if d.chance(0.2):
        found = Apply(o.SIZE_SUM, (found, Number("1", 1)))
    elif d.chance(0.1):
        by = d.random.choice((o.SIZE_HALF, o.SIZE_HALF, o.SIZE_FLOOR, o.SIZE_REST))
        found = Apply(by, (found, Number("2", 2)))
    elif d.chance(0.1) and named:
        found = Apply(o.SIZE_SUM, (found, Var(d.random.choice(named))))
    elif d.chance(0.08):
        x = d.some(1)
        if x is not None:
            found = Apply(o.UNARY[5], (Apply(o.MAKERS[1], (x,)),))
    return found


def sized(d: Draft) -> Expr | None:
    """A tensor made with a size."""
    n = size_of(d)
    if n is None:
        return None
    if d.chance(0.3):
        name = d.name(n, "s")
        n = name if name is not None else n
    match d.random.randrange(8):
        case 0 | 1:
            return Apply(o.RANGE, (n,))
        case 2:
            return Apply(o.ZEROS, (Apply(o.LITERALS[1], (n,)),))
        case 3:
            other = size_of(d) or n
            return Apply(o.ONES, (Apply(o.LITERALS[2], (n, other)),))
        case 4 | 5:
            x = d.some()
            items = [(n,), (n, Number("1", 1)), (Number("1", 1), n), (n, Number("2", 2))]
            chosen = d.random.choice(items)
            return (
                None if x is None else Apply(o.RESHAPE, (x, Apply(o.LITERALS[len(chosen)], chosen)))
            )
        case 6:
            x, y = d.some(), d.some()
            if x is None or y is None:
                return None
            return Apply(o.BROADCAST_TO, (x, Apply(o.SHAPE, (y,))))
        case _:
            x = d.some()
            return (
                None
                if x is None
                else Apply(o.PLUS, (x, n))
                if d.chance(0.3)
                else Apply(o.ZEROS, (Apply(o.SHAPE, (x,)),))
            )


SIMPLE = (unary, unary, maker, maker, binary, binary, binary, chosen, sized)


def simple(d: Draft) -> Expr | None:
    for _ in range(6):
        expr = d.random.choice(SIMPLE)(d)
        if expr is not None and is_tensor(d.value(expr)):
            return expr
    return None
