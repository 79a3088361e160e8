"""Random programs with run-time and ragged sizes and functions of all kinds.

A piece is proposed and kept if it gives something on the witness, by `meanings.py`. So a program
runs on the first of its calls; on the others it may not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import numpy

from tests.properties import operators as o
from tests.properties.meanings import Run
from tests.properties.runtime_arguments import (
    draw_arguments,
    draw_kinds,
    draw_sizes,
    other_sizes,
)
from tests.properties.trees import (
    Apply,
    Bare,
    Block,
    Call,
    Expr,
    Lambda,
    Let,
    Number,
    Param,
    Program,
    Several,
    Var,
    bound,
    names,
    take,
)
from tests.properties.values import (
    Fails,
    Size,
    Unclear,
    Value,
    count,
    is_tensor,
    rank,
    row_like,
    rows_of,
)

P = Var("p")


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
        if value is None or is_tensor(value) and count(value) > 300:
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


# --- expressions -----------------------------------------------------------------------------------


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
        found = Apply(o.SIZE_HALF, (found, Number("2", 2)))
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
            return None if x is None else Apply(
                o.RESHAPE, (x, Apply(o.LITERALS[len(chosen)], chosen))
            )
        case 6:
            x, y = d.some(), d.some()
            if x is None or y is None:
                return None
            return Apply(o.BROADCAST_TO, (x, Apply(o.SHAPE, (y,))))
        case _:
            x = d.some()
            return None if x is None else Apply(o.PLUS, (x, n)) if d.chance(0.3) else Apply(
                o.ZEROS, (Apply(o.SHAPE, (x,)),)
            )


SIMPLE = (unary, unary, maker, maker, binary, binary, binary, chosen, sized)


def simple(d: Draft) -> Expr | None:
    for _ in range(6):
        expr = d.random.choice(SIMPLE)(d)
        if expr is not None and is_tensor(d.value(expr)):
            return expr
    return None


# --- functions ---------------------------------------------------------------------------------


def function(d: Draft, *args: Value, plain: bool = False) -> Expr:
    """A function that gives something on these arguments, written in one of many ways."""
    for _ in range(6):
        made = _function(d, args)
        if plain and not isinstance(made, Lambda | Bare):
            continue
        if made is not None and _gives(d, made, args):
            return made
    names = [f"p{i}" for i in range(len(args))]
    return Lambda(tuple(map(Param, names)), Block((), Var(names[0])))


def _gives(d: Draft, f: Expr, args: tuple[Value, ...]) -> bool:
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
            alias = Bare(r.choice(o.BARE))
            return d.name(alias, "g") if _gives(d, alias, args) else None
        if kind == 5:
            operation = r.choice(o.BARE)
            return d.top.define(Bare(operation), d.top.fresh("top")) if (
                _gives(d, Bare(operation), args)
            ) else None
        if kind == 6:
            inner = Bare(r.choice(o.BARE))
            return Lambda((Param("y"),), Block((), Call(inner, (Var("y"),)))) if (
                inner.operation.value not in ("+", "*", "-")
            ) else None
        if kind == 7:
            return _made(d)
        if kind == 8:
            f, g = Bare(r.choice(o.BARE)), Bare(r.choice(o.BARE))
            return Call(_helper(d, "compose"), (f, g))
    else:
        able = [b for b in o.BINARY if b.value]
        if d.chance(0.35):
            return Bare(r.choice(able))
    closed = d.chance(0.25) or d.depth > 1
    made = _lambda(d, args, closed)
    if made is None or not _gives(d, made, args):
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


WORDS = str.maketrans({"+": "add", "*": "mul", "-": "sub"})

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
    "rows": Lambda(
        (Param("h"), Param("x")), Block((), Apply(o.MAP, (Var("h"), Var("x"))))
    ),
}  # fmt: skip


def _helper(d: Draft, name: str) -> Var:
    """One of the functions above, of the program or of this block."""
    if d.chance(0.3) and d.depth == 0:
        found = d.name(HELPERS[name], name)
        if found is not None:
            return found
    return d.top.define(HELPERS[name], name)


# --- lines -----------------------------------------------------------------------------------------


def line_simple(d: Draft) -> bool:
    expr = simple(d)
    return expr is not None and d.name(expr) is not None


def line_called(d: Draft) -> bool:
    """A function called: directly, by another one, or out of a tuple."""
    x = d.some()
    if x is None:
        return False
    f = function(d, d.values[x.name])
    match d.random.randrange(8):
        case 0 | 1:
            return d.name(Call(f, (x,))) is not None
        case 2:
            return d.name(Call(_helper(d, "ap"), (f, x))) is not None
        case 3:
            return d.name(Call(_helper(d, "twice"), (f, x))) is not None
        case 4:
            return d.name(Call(Call(_helper(d, "thunk"), (f, x)), ())) is not None
        case 5:
            return d.unpack(Call(_helper(d, "both"), (f, x)))
        case 6:
            pair = Several((f, x)) if d.chance(0.5) else Call(_helper(d, "keep"), (f, x))
            if not d.unpack(pair):
                return False
            g, y = d.lets[-1].names
            return d.name(Call(Var(g), (Var(y),))) is not None
        case _:
            return d.name(Call(_helper(d, "rows"), (f, x))) is not None


def line_mapped(d: Draft) -> bool:
    x = d.some(1, 2, 3)
    if x is None:
        return False
    value = d.values[x.name]
    row = d.random.choice(rows_of(value) or (row_like(value),))
    same = [
        n for n in d.tensors((1, 2, 3))
        if len(rows_of(d.values[n])) == len(rows_of(value))
    ]  # fmt: skip
    if d.chance(0.25) and same:
        y = d.random.choice(same)
        f = function(d, _array(row), _array(row_like(d.values[y])))
        return d.name(Apply(o.MAP_TWO, (f, x, Var(y)))) is not None
    return d.name(Apply(o.MAP, (function(d, _array(row)), x))) is not None


def _array(value: Value) -> Value:
    return numpy.asarray(value) if isinstance(value, numpy.generic) else value


def line_state(d: Draft) -> bool:
    """A state that goes through rows, or through steps."""
    x, s = d.some(1, 2), d.some()
    if x is None or s is None:
        return False
    row = _array(row_like(d.values[x.name]))
    state = d.values[s.name]
    match d.random.randrange(7):
        case 0 | 1:
            f = function(d, state, row)
            return d.name(Apply(o.FOLD, (s, f, x))) is not None
        case 2:
            step, out = function(d, state, row, plain=True), function(d, state, row, plain=True)
            a, b = d.top.fresh("p"), d.top.fresh("p")
            args = (Var(a), Var(b))
            body = Several((Call(step, args), Call(out, args)))
            f = Lambda((Param(a), Param(b)), Block((), body))
            if any(isinstance(e, Bare) and not e.operation.value for e in (step, out)):
                return False
            return d.unpack(Apply(o.LOOP, (s, f, x)))
        case 3:
            goes = Lambda(
                (Param("q"),),
                Block((), Apply(o.UNARY[13], (Apply(o.UNARY[5], (Var("q"),)),))),
            )
            return d.name(Apply(o.ITERATE, (s, goes, function(d, state)))) is not None
        case 4 | 5:
            test = Apply(o.UNARY[13], (Apply(o.UNARY[5], (s,)),))
            if d.value(test) is None:
                return False
            then, other = function(d, state), function(d, state)
            thunks = tuple(Lambda((), Block((), Call(f, (s,)))) for f in (then, other))
            return d.name(Apply(o.COND, (test, *thunks))) is not None
        case _:
            able = [b for b in o.BINARY if b.value in ("+", "maximum", "*")]
            operation = d.random.choice((o.REDUCE, o.SCAN))
            f = Bare(d.random.choice(able))
            return d.name(Apply(operation, (f, Number("0", 0), x))) is not None


def line_split(d: Draft) -> bool:
    x = operand(d)
    return x is not None and d.unpack(Apply(d.random.choice(o.SPLITS), (x,)))


def line_size(d: Draft) -> bool:
    """A size with a name, or in a tuple."""
    n = size_of(d)
    if n is None or not isinstance(d.value(n), Size):
        return False
    x = d.some()
    if x is not None and d.chance(0.4):
        return d.unpack(Several((x, n)))
    return d.name(n, "s") is not None


def line_condition(d: Draft) -> bool:
    """A function with a condition of its own, called directly or by another function."""
    x = d.some(1)
    if x is None:
        return False
    name = d.top.fresh("al")
    value = d.values[x.name]
    least = d.random.choice((1, 2, 2, 3))
    inner = d.inner({"x": value}, closed=True)
    body = simple(inner) or Var("x")
    elem = {"f": "f32", "i": "i64", "b": "bool"}[value.dtype.kind]
    al = Lambda((Param("x", elem, ("n",)),), Block(tuple(inner.lets), body), (("n", least),))
    if _gives(d, al, (value,)):
        found = d.top.define(al, name)
        call = Call(_helper(d, "ap"), (found, x)) if d.chance(0.6) else Call(found, (x,))
        return d.name(call) is not None
    return False


LINES = (
    [line_simple] * 6 + [line_called] * 5 + [line_mapped] * 5 + [line_state] * 4
    + [line_split, line_size, line_condition]
)  # fmt: skip


# --- programs --------------------------------------------------------------------------------------


def draw_program(seed: int | str, calls: int = 5, most: int = 4) -> Program:
    """The program of a seed."""
    random = Random(seed)
    while True:
        found = _program(random, calls, most)
        if found is not None:
            return found


def _program(random: Random, calls: int, most: int) -> Program | None:
    kinds = draw_kinds(random)
    sizes = draw_sizes(random, kinds)
    witness = draw_arguments(random, kinds, sizes)
    params = tuple(kind.param(name) for kind, name in zip(kinds, "xyz", strict=False))
    values: dict[str, Value] = {}
    for param, arg in zip(params, witness, strict=True):
        values[param.name] = arg
        take(param, arg, values)
    draft = Draft(random, values, Top())
    wanted = random.randint(1, most)
    for _ in range(3 * wanted):
        random.choice(LINES)(draft)
        if sum(n[0] == "v" for line in draft.lets for n in line.names) >= wanted:
            break
    made = [n for line in draft.lets for n in line.names if _is_result(draft.values[n])]
    if not made:
        return None
    returned = made[-1:]
    if len(made) > 1 and random.random() < 0.35:
        returned = sorted(random.sample(made, 2), key=made.index)
    result = Var(returned[0]) if len(returned) == 1 else Several(tuple(map(Var, returned)))
    main = Lambda(params, Block(_used(draft, result), result))
    definitions = list(draft.top.definitions)
    used = names(main)
    for name, value in reversed(draft.top.definitions):
        if name in used:
            used |= names(value)
        else:
            definitions.remove((name, value))
    definitions.append(("f", main))
    others = [
        draw_arguments(random, kinds, other_sizes(random, sizes)) for _ in range(calls - 1)
    ]
    return Program(tuple(definitions), (witness, *others))


def _used(draft: Draft, result: Expr) -> tuple[Let, ...]:
    """The lines, without most of those that nobody uses."""
    used, kept = names(result), []
    for line in reversed(draft.lets):
        tensors = any(is_tensor(draft.values[n]) for n in line.names)
        if used & set(line.names) or tensors and draft.chance(0.3):
            used |= names(line.value)
            kept.append(line)
    return tuple(reversed(kept))


def _is_result(value: Value) -> bool:
    return is_tensor(value)
