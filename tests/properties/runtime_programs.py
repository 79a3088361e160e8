"""Random programs with run-time and ragged sizes and functions of all kinds.

A piece is proposed and kept if it gives something on the witness, by `meanings.py`. So a program
runs on the first of its calls; on the others it may not.
"""

from __future__ import annotations

from random import Random

import numpy

from tests.properties import operators as o
from tests.properties.drafts import Draft, Top, operand, simple, size_of
from tests.properties.drawn_functions import function, gives, helper
from tests.properties.runtime_arguments import (
    draw_arguments,
    draw_kinds,
    draw_open_kinds,
    draw_sizes,
    other_sizes,
)
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
    Param,
    Program,
    Several,
    Var,
    names,
    take,
)
from tests.properties.values import (
    Fails,
    Size,
    Unclear,
    Value,
    dtype,
    form,
    is_tensor,
    row_like,
    rows_of,
)

# --- lines ---------------------------------------------------------------------------------------


def line_simple(d: Draft) -> bool:
    expr = simple(d)
    return expr is not None and d.name(expr) is not None


def line_called(d: Draft) -> bool:
    """A function called: directly, by another one, or out of a tuple."""
    x = d.some()
    if x is None:
        return False
    f = function(d, d.values[x.name])
    match d.random.randrange(9):
        case 0 | 1:
            return d.name(Call(f, (x,))) is not None
        case 8:
            return d.name(Call(helper(d, "on_unique"), (f, x))) is not None
        case 2:
            return d.name(Call(helper(d, "ap"), (f, x))) is not None
        case 3:
            return d.name(Call(helper(d, "twice"), (f, x))) is not None
        case 4:
            return d.name(Call(Call(helper(d, "thunk"), (f, x)), ())) is not None
        case 5:
            return d.unpack(Call(helper(d, "both"), (f, x)))
        case 6:
            pair = Several((f, x)) if d.chance(0.5) else Call(helper(d, "keep"), (f, x))
            if not d.unpack(pair):
                return False
            g, y = d.lets[-1].names
            if d.name(Call(Var(g), (Var(y),))) is not None:
                return True
            for name in d.lets.pop().names:  # a function that nobody calls is asked for its types
                del d.values[name]
            return False
        case _:
            return d.name(Call(helper(d, "rows"), (f, x))) is not None


def line_by_name(d: Draft) -> bool:
    """A function with a default that it can take, called in each of the ways that there are."""
    x, y = d.some(), d.some()
    if x is None or y is None:
        return False
    operation = d.random.choice([b for b in o.BINARY if b.value])
    body = Block((), Apply(operation, (Var("p"), Var("q"))))
    default = d.random.choice(DEFAULTS)
    if d.value(Apply(operation, (x, default))) is None:
        return False
    f = d.name(Lambda((Param("p"), Param("q", default=default)), body), "h")
    if f is None:
        return False
    calls = (
        Call(f, (x,)),
        Call(f, (x,), ("p",)),
        Call(f, (x, y)),
        Call(f, (x, y), ("q",)),
        Call(f, (y, x), ("q", "p")),
        Call(helper(d, "ap"), (f, x)),
    )
    if d.name(d.random.choice(calls)) is not None:
        return True
    del d.values[d.lets.pop().names[0]]
    return False


DEFAULTS: tuple[Expr, ...] = (
    Apply(o.ONES, (Apply(o.LITERALS[1], (Number("2", 2),)),)),
    Apply(o.ZEROS, (Apply(o.LITERALS[1], (Number("1", 1),)),)),
)


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
            choice = d.random.choice((o.COND, o.IF))
            return d.name(Apply(choice, (test, *thunks))) is not None
        case _:
            able = [b for b in o.BINARY if b.value in ("+", "maximum", "*")]
            operation = d.random.choice((o.REDUCE, o.SCAN))
            f = Bare(d.random.choice(able))
            return d.name(Apply(operation, (f, Number("0", 0), x))) is not None


def line_split(d: Draft) -> bool:
    x = operand(d)
    return x is not None and d.unpack(Apply(d.random.choice(o.SPLITS), (x,)))


def line_record(d: Draft) -> bool:
    """A record, a field of one, or one with another field."""
    records = [n for n, v in d.values.items() if isinstance(v, dict)]
    kind = d.random.randrange(4)
    if records and kind:
        name = d.random.choice(records)
        field = d.random.choice(sorted(d.values[name]))
        if kind == 1:
            made = simple(d)
            return made is not None and d.name(Fields((field,), (made,), name), "r") is not None
        if kind == 2:
            return (
                d.name(Call(d.top.define(_getter(field), f"get_{field}"), (Var(name),))) is not None
            )
        return d.name(Get(Var(name), field)) is not None
    items = [e for e in (operand(d), size_of(d) if d.chance(0.2) else operand(d)) if e is not None]
    fields = d.random.sample(FIELDS, len(items))
    return bool(items) and d.name(Fields(tuple(fields), tuple(items)), "r") is not None


def _getter(field: str) -> Lambda:
    return Lambda((Param("p"),), Block((), Get(Var("p"), field)))


FIELDS = ("a", "b", "c", "w")


def line_structured(d: Draft) -> bool:
    """A tuple or a record of tensors, row by row."""
    x = d.some(1, 2, 3)
    if x is None:
        return False
    many = len(rows_of(d.values[x.name]))
    able = [n for n in d.tensors((1, 2, 3)) if len(rows_of(d.values[n])) == many]
    given = [x, *(Var(d.random.choice(able)) for _ in range(d.random.choice((1, 1, 2))))]
    fields = tuple(d.random.sample(FIELDS, len(given)))
    as_record = d.chance(0.7)
    whole: Expr = Fields(fields, tuple(given)) if as_record else Several(tuple(given))
    if d.chance(0.4):
        whole = d.name(whole, "r") or whole
    p, s = d.top.fresh("p"), d.top.fresh("p")
    row = [_array(row_like(d.values[g.name])) for g in given]
    rows = dict(zip(fields, row, strict=True)) if as_record else tuple(row)
    state = d.some()
    folds = state is not None and d.chance(0.4)
    params = {p: rows}
    if state is not None and folds:
        params = {s: {"h": d.values[state.name]}, p: rows}
    inner = d.inner(params)
    if as_record:
        for field in fields:
            inner.name(Get(Var(p), field))
    else:
        inner.unpack(Var(p))
    if state is not None and folds:
        return _folded(d, inner, whole, state, (s, p))
    results = [e for e in (simple(inner), simple(inner)) if e is not None]
    if not results:
        return False
    result: Expr = results[0]
    if len(results) == 2 and d.chance(0.7):
        pair = tuple(results)
        result = Fields(tuple(d.random.sample(FIELDS, 2)), pair) if d.chance(0.6) else Several(pair)
    f = Lambda((Param(p),), Block(tuple(inner.lets), result))
    call = Apply(o.MAP, (f, whole))
    if d.chance(0.3):
        call_by: Expr = Call(helper(d, "rows"), (f, whole))
    else:
        call_by = call
    return _opened(d, call_by)


def _folded(d: Draft, inner: Draft, whole: Expr, state: Var, names: tuple[str, str]) -> bool:
    """A state that is a record."""
    h = inner.name(Get(Var(names[0]), "h"))
    if h is None:
        return False
    step = next(
        (e for e in (simple(inner) for _ in range(4))
         if e is not None and form(inner.value(e)) == form(inner.values[h.name])),
        Apply(o.PLUS, (h, h)),
    )  # fmt: skip
    after = Fields(("h",), (step,), names[0] if d.chance(0.5) else None)
    first = Fields(("h",), (state,))
    params = tuple(map(Param, names))
    if d.chance(0.5):
        f = Lambda(params, Block(tuple(inner.lets), after))
        return _opened(d, Apply(o.FOLD, (first, f, whole)))
    out = simple(inner)
    if out is None:
        return False
    both = Several((after, Fields(("o",), (out,))))
    f = Lambda(params, Block(tuple(inner.lets), both))
    return d.unpack(Apply(o.LOOP, (first, f, whole))) and all(
        _opened(d, Var(n)) for n in d.lets[-1].names
    )


def _opened(d: Draft, expr: Expr) -> bool:
    """What it gives under a name, and its parts."""
    value = d.value(expr)
    if isinstance(value, tuple) and len(value) > 1:
        return d.unpack(expr)
    if not isinstance(value, dict):
        return d.name(expr) is not None
    name = expr if isinstance(expr, Var) else d.name(expr, "r")
    return name is not None and all(d.name(Get(name, f)) is not None for f in sorted(value))


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
    if gives(d, al, (value,)):
        found = d.top.define(al, name)
        how = d.random.choice(("ap", "on_unique", "on_unique", "thunk", ""))
        call = Call(helper(d, how), (found, x)) if how else Call(found, (x,))
        if how == "thunk":
            call = Call(call, ())
        return d.name(call) is not None
    return False


def line_strict(d: Draft) -> bool:
    """Two tensors that have one shape on the witness, in an operator that asks for it."""
    x = d.some(1, 2)
    if x is None:
        return False
    value = d.values[x.name]
    alike = [n for n in d.tensors() if form(d.values[n]) == form(value)]
    y: Expr = Var(d.random.choice(alike))
    made = Apply(d.random.choice(o.MAKERS), (y,))
    if d.chance(0.5) and d.value(made) is not None and form(d.value(made)) == form(value):
        y = made
    pair = (x, y) if d.chance(0.5) else (y, x)
    return d.name(Apply(d.random.choice(o.STRICTS), pair)) is not None


LINES = (
    [line_simple] * 6 + [line_strict] * 3 + [line_called] * 5 + [line_mapped] * 5 + [line_state] * 4
    + [line_split, line_size, line_condition] + [line_record] * 2 + [line_structured] * 3
    + [line_by_name] * 2
)  # fmt: skip


def line_gathered(d: Draft) -> bool:
    """Rows by numbers, which are a tensor of any shape."""
    numbers = [n for n in d.tensors() if dtype(d.values[n]).kind == "i"]
    x = d.some(1, 2)
    if x is None or not numbers:
        return False
    at: Expr = Var(d.random.choice(numbers))
    if d.chance(0.5):
        at = Apply(d.random.choice(o.UNARY), (at,))
    return d.name(Apply(o.GATHER, (x, at))) is not None


OPEN_LINES = (
    [line_simple] * 3 + [line_gathered] * 2 + [line_strict, line_mapped, line_state]
    + [line_record, line_structured]
)  # fmt: skip


# --- programs ------------------------------------------------------------------------------------


def draw_program(seed: int | str, calls: int = 5, most: int = 4) -> Program:
    """The program of a seed."""
    random = Random(seed)
    while True:
        found = _program(random, calls, most)
        if found is not None:
            return found


def _program(random: Random, calls: int, most: int) -> Program | None:
    unsaid = random.random() < 0.2
    kinds = draw_open_kinds(random) if unsaid else draw_kinds(random)
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
        random.choice(OPEN_LINES if unsaid else LINES)(draft)
        if sum(n[0] == "v" for line in draft.lets for n in line.names) >= wanted:
            break
    made = [n for line in draft.lets for n in line.names if _is_result(draft.values[n])]
    if not made:
        return None
    returned = made[-1:]
    if len(made) > 1 and random.random() < (0.6 if unsaid else 0.35):
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
    others = [draw_arguments(random, kinds, other_sizes(random, sizes)) for _ in range(calls - 1)]
    program = Program(tuple(definitions), (witness, *others))
    try:
        program.run(witness)
    except (Fails, Unclear):
        return None
    return program


def _used(draft: Draft, result: Expr) -> tuple[Let, ...]:
    """The lines, without most of those that nobody uses."""
    used, kept = names(result), []
    for line in reversed(draft.lets):
        tensors = any(is_tensor(draft.values[n]) for n in line.names)
        if used & set(line.names) or (tensors and draft.chance(0.3)):
            used |= names(line.value)
            kept.append(line)
    return tuple(reversed(kept))


def _is_result(value: Value) -> bool:
    return is_tensor(value) or (isinstance(value, dict) and all(map(_is_result, value.values())))
