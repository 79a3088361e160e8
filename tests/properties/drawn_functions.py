"""Random functions, written in many ways: operators on their own, under another name, lambdas,
named functions of a block or of the file, functions that functions give.
"""

from __future__ import annotations

from tests.properties import operators as o
from tests.properties.drafts import Draft, simple
from tests.properties.trees import (
    Apply,
    Bare,
    Block,
    Call,
    Expr,
    Lambda,
    Param,
    Several,
    Var,
)
from tests.properties.values import (
    Value,
)

# --- functions -----------------------------------------------------------------------------------


def function(d: Draft, *args: Value, plain: bool = False) -> Expr:
    """A function that gives something on these arguments, written in one of many ways."""
    for _ in range(6):
        made = _function(d, args)
        if plain and not isinstance(made, Lambda | Bare):
            continue
        if made is not None and gives(d, made, args):
            return made
    names = [f"p{i}" for i in range(len(args))]
    return Lambda(tuple(map(Param, names)), Block((), Var(names[0])))


def gives(d: Draft, f: Expr, args: tuple[Value, ...]) -> bool:
    names = {f"arg{i}": a for i, a in enumerate(args)}
    call = Call(f, tuple(map(Var, names)))
    return d.inner(names).value(call) is not None


def _function(d: Draft, args: tuple[Value, ...]) -> Expr | None:
    r = d.random
    if len(args) == 1:
        kind = r.randrange(12)
        if kind < 4:
            return Bare(r.choice(o.BARE))
        if kind == 4:
            alias = Bare(r.choice(o.NAMED))
            return d.name(alias, "g") if gives(d, alias, args) else None
        if kind == 5:
            operation = r.choice(o.NAMED)
            return (
                d.top.define(Bare(operation), d.top.fresh("top"))
                if (gives(d, Bare(operation), args))
                else None
            )
        if kind == 6:
            inner = Bare(r.choice(o.BARE))
            return (
                Lambda((Param("y"),), Block((), Call(inner, (Var("y"),))))
                if (inner.operation.value not in ("+", "*", "-"))
                else None
            )
        if kind == 7:
            return _made(d)
        if kind == 8:
            f, g = Bare(r.choice(o.BARE)), Bare(r.choice(o.BARE))
            return Call(helper(d, "compose"), (f, g))
    else:
        able = [b for b in o.BINARY if b.value]
        if d.chance(0.35):
            return Bare(r.choice(able))
    closed = d.chance(0.25) or d.depth > 1
    made = _lambda(d, args, closed)
    if made is None or not gives(d, made, args):
        return None
    if closed and d.chance(0.5):
        return d.top.define(made, d.top.fresh("top"))
    return d.name(made, "h") if d.chance(0.4) else made


def _lambda(d: Draft, args: tuple[Value, ...], closed: bool) -> Lambda | None:
    names = [d.top.fresh("p") for _ in args]
    inner = d.inner(dict(zip(names, args, strict=True)), closed)
    for _ in range(d.random.choice((0, 0, 1))):
        expr = simple(inner)
        if expr is not None:
            inner.name(expr)
    # What it gives depends on its parameters: these come last, so they are found first.
    for name in names:
        inner.values[name] = inner.values.pop(name)
    result = simple(inner)
    if result is None:
        return None
    return Lambda(tuple(map(Param, names)), Block(tuple(inner.lets), result))


def _made(d: Draft) -> Expr | None:
    """A function that another one gives, with a value of the outside in it."""
    x = d.some()
    if x is None:
        return None
    operation = d.random.choice([b for b in o.BINARY if b.value])
    body = Apply(operation, (Var("y"), Var("z")))
    inner = Lambda((Param("y"),), Block((), body))
    mk = Lambda((Param("z"),), Block((), inner))
    return Call(d.top.define(mk, f"mk_{operation.value}".translate(WORDS)), (x,))


WORDS = str.maketrans({"+": "add", "*": "mul", "-": "sub", "/": "d", "%": "mod"})

HELPERS = {
    "ap": Lambda((Param("h"), Param("x")), Block((), Call(Var("h"), (Var("x"),)))),
    "twice": Lambda(
        (Param("h"), Param("x")), Block((), Call(Var("h"), (Call(Var("h"), (Var("x"),)),)))
    ),
    "compose": Lambda(
        (Param("h"), Param("k")),
        Block((), Lambda((Param("x"),), Block((), Call(Var("k"), (Call(Var("h"), (Var("x"),)),))))),
    ),
    "thunk": Lambda(
        (Param("h"), Param("x")), Block((), Lambda((), Block((), Call(Var("h"), (Var("x"),)))))
    ),
    "both": Lambda(
        (Param("h"), Param("x")), Block((), Several((Call(Var("h"), (Var("x"),)), Var("x"))))
    ),
    "keep": Lambda((Param("h"), Param("x")), Block((), Several((Var("h"), Var("x"))))),
    "on_unique": Lambda(
        (Param("h"), Param("x")),
        Block((), Call(Var("h"), (Apply(o.MAKERS[0], (Var("x"),)),))),
    ),
    "rows": Lambda(
        (Param("h"), Param("x")), Block((), Apply(o.MAP, (Var("h"), Var("x"))))
    ),
}  # fmt: skip


def helper(d: Draft, name: str) -> Var:
    """One of the functions above, of the program or of this block."""
    if d.chance(0.3) and d.depth == 0:
        found = d.name(HELPERS[name], name)
        if found is not None:
            return found
    return d.top.define(HELPERS[name], name)
