"""Smaller programs that show the same thing: lines, parameters, definitions and operators go as
long as it can still be seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.properties.trees import (
    Apply,
    Bare,
    Block,
    Call,
    Expr,
    Fields,
    Get,
    Lambda,
    Let,
    Number,
    Program,
    Several,
    Var,
    names,
    parts,
    substituted,
)


def shrink(program: Program, shows: Callable[[Program], bool], most: int = 400) -> Program:
    """`shows` says whether the finding is still there; it is asked at most so often."""
    left = most
    again = True
    while again:
        again = False
        for smaller in variants(program):
            if left == 0:
                return program
            left -= 1
            if shows(smaller):
                program, again = smaller, True
                break
    return program


def variants(program: Program) -> Iterator[Program]:
    for i in range(len(program.definitions) - 1):
        rest = (*program.definitions[:i], *program.definitions[i + 1 :])
        yield replace(program, definitions=rest)
    main = program.main
    for i, param in enumerate(main.params):
        if len(main.params) > 1 and param.name not in names(main):
            params = (*main.params[:i], *main.params[i + 1 :])
            calls = tuple((*args[:i], *args[i + 1 :]) for args in program.calls)
            yield replace(program.with_main(replace(main, params=params)), calls=calls)
    for body in blocks(main.body):
        yield program.with_main(replace(main, body=body))
    for k, (name, value) in enumerate(program.definitions[:-1]):
        for other in smaller(value):
            definitions = (
                *program.definitions[:k],
                (name, other),
                *program.definitions[k + 1 :],
            )
            yield replace(program, definitions=definitions)


def blocks(body: Block) -> Iterator[Block]:
    for i in reversed(range(len(body.lets))):
        rest = (*body.lets[:i], *body.lets[i + 1 :])
        yield Block(rest, body.result)
    for line in body.lets:
        for name in line.names:
            if Var(name) != body.result:
                yield Block(body.lets, Var(name))
    if body.lets and len(body.lets[-1].names) == 1 and body.result == Var(body.lets[-1].names[0]):
        yield Block(body.lets[:-1], body.lets[-1].value)
    for i, line in enumerate(body.lets):
        if len(line.names) == 1 and not isinstance(line.value, Lambda):
            after = Block(body.lets[i + 1 :], body.result)
            inner = substituted(after, line.names[0], line.value)
            if isinstance(line.value, Var) or _uses(after, line.names[0]) == 1:
                yield Block((*body.lets[:i], *inner.lets), inner.result)
    for result in smaller(body.result):
        yield Block(body.lets, result)
    for i, line in enumerate(body.lets):
        for value in smaller(line.value):
            yield Block((*body.lets[:i], Let(line.names, value), *body.lets[i + 1 :]), body.result)


def _uses(body: Block, name: str) -> int:
    whole = Lambda((), body)
    return sum(part == Var(name) for part in parts(whole))


def smaller(expr: Expr) -> Iterator[Expr]:
    """Expressions with less in them."""
    match expr:
        case Apply(operation, args):
            yield from (a for a in args if not isinstance(a, Lambda))
            for i, arg in enumerate(args):
                for other in smaller(arg):
                    yield Apply(operation, (*args[:i], other, *args[i + 1 :]))
        case Call(function, args, by_name):
            yield from args
            for other in smaller(function):
                yield Call(other, args, by_name)
            for i, arg in enumerate(args):
                for other in smaller(arg):
                    yield Call(function, (*args[:i], other, *args[i + 1 :]), by_name)
        case Several(items):
            yield from items
            for i, item in enumerate(items):
                for other in smaller(item):
                    yield Several((*items[:i], other, *items[i + 1 :]))
        case Fields(keys, items, base):
            yield from items
            for i, item in enumerate(items):
                for other in smaller(item):
                    yield Fields(keys, (*items[:i], other, *items[i + 1 :]), base)
        case Get(record, field):
            for other in smaller(record):
                yield Get(other, field)
        case Lambda(params, body, where):
            if where:
                yield Lambda(params, body)
            for inner in blocks(body):
                yield Lambda(params, inner, where)
        case Var() | Number() | Bare():
            return
