"""What operators give that take functions: over rows, side by side or one after another."""

from __future__ import annotations

import numpy

from tests.properties.meanings import (
    MOST,
    Run,
    tensor,
    uniform,
)
from tests.properties.values import (
    Array,
    Endless,
    Fails,
    Function,
    Rag,
    Size,
    Sizes,
    Unclear,
    Value,
    count,
    dtype,
    form,
    is_number,
    is_tensor,
    length,
    need,
    rank,
    row_like,
    rows_of,
    stacked,
)

# --- functions -----------------------------------------------------------------------------------


def map_rows(run: Run, f: Function, *args: Value) -> Value:
    """Each row by itself; rows that vary in size stack to a tensor whose rows vary."""
    tensors = [leaf for arg in args for leaf in leaves(arg)]
    many = count_of(tensors)
    made_before = run.made
    vary = any(isinstance(t, Rag) for t in tensors)
    rows = tuple(f(*(row_at(arg, i) for arg in args)) for i in range(many))
    if not rows:
        like = dry(run, f, *(row_at(arg, None) for arg in args))
    else:
        like = rows[0]
    if vary or run.made > made_before:
        run.ragged = True
    return _stacked_structure(run, rows, like)


def leaves(value: Value) -> list[Value]:
    """The tensors of a structure."""
    if isinstance(value, dict):
        return [leaf for part in value.values() for leaf in leaves(part)]
    if isinstance(value, tuple) and not isinstance(value, Sizes):
        return [leaf for part in value for leaf in leaves(part)]
    return [tensor(value)]


def count_of(tensors: list[Value]) -> int:
    """How many rows they have."""
    need(all(rank(t) >= 1 for t in tensors) and len({length(t) for t in tensors}) == 1)
    return length(tensors[0])


def row_at(value: Value, i: int | None) -> Value:
    """One row of each tensor of a structure; None for what a row would be."""
    if isinstance(value, dict):
        return {name: row_at(part, i) for name, part in value.items()}
    if isinstance(value, tuple) and not isinstance(value, Sizes):
        return tuple(row_at(part, i) for part in value)
    return row_like(value) if i is None else rows_of(value)[i]


def _stacked_structure(run: Run, rows: tuple[Value, ...], like: Value) -> Value:
    if isinstance(like, dict):
        need(all(isinstance(r, dict) and r.keys() == like.keys() for r in rows))
        return {
            name: _stacked_structure(run, tuple(r[name] for r in rows), part)
            for name, part in like.items()
        }
    if isinstance(like, tuple) and not isinstance(like, Sizes):
        need(all(isinstance(r, tuple) and len(r) == len(like) for r in rows))
        parts = zip(*rows, strict=True) if rows else [()] * len(like)
        return tuple(
            _stacked_structure(run, tuple(p), item) for p, item in zip(parts, like, strict=True)
        )
    if is_number(like):
        need(isinstance(like, Size))
        return numpy.array([int(r) for r in rows], numpy.int64)
    made = stacked(tuple(tensor(r) for r in rows), tensor(like))
    if run.ragged and not isinstance(made, Rag) and made.ndim > 1:
        run.by_chance = True
    if count(made) > MOST:
        raise Unclear
    return made


def dry(run: Run, f: Function, *args: Value) -> Value:
    """What a function gives that is not called here: only its type counts."""
    idle = set(run.idle)
    try:
        made = f(*args)
    except Fails:
        raise Unclear from None
    run.may_refuse = run.guessed = True
    run.idle |= idle
    return made


def iteration(run: Run, state: Value, after: Value) -> Value:
    """The next state, which is of the type of the one before."""
    if form(state) != form(after):
        run.may_refuse = True
    need(alike(state, after))
    return after


def alike(a: Value, b: Value) -> bool:
    """One rank and one element type."""
    if is_tensor(a) and is_tensor(b):
        return bool(rank(a) == rank(b) and dtype(a) == dtype(b))
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[name], b[name]) for name in a)
    return is_number(a) or is_number(b) or type(a) is type(b)


def settled(value: Value) -> Value:
    """A number as a state is of the default type."""
    if is_number(value):
        raise Unclear
    if isinstance(value, dict):
        return {name: settled(part) for name, part in value.items()}
    return value


def fold(run: Run, state: Value, f: Function, x: Value) -> Value:
    many = count_of(leaves(x))
    state = settled(state)
    if not many:
        iteration(run, state, dry(run, f, state, row_at(x, None)))
    for i in range(many):
        state = iteration(run, state, f(state, row_at(x, i)))
    return state


def loop(run: Run, state: Value, f: Function, x: Value) -> Value:
    tensors = leaves(x)
    many = count_of(tensors)
    state = settled(state)
    rows = []
    made_before = run.made
    like: Value = None
    if not many:
        after, like = pair(dry(run, f, state, row_at(x, None)))
        iteration(run, state, after)
    for i in range(many):
        after, made = pair(f(state, row_at(x, i)))
        state = iteration(run, state, after)
        rows.append(made)
    if any(isinstance(t, Rag) for t in tensors) or run.made > made_before:
        run.ragged = True
    return state, _stacked_structure(run, tuple(rows), rows[0] if rows else like)


def pair(value: Value) -> tuple[Value, Value]:
    need(isinstance(value, tuple) and len(value) == 2)
    return value[0], value[1]


def scalar_truth(value: Value) -> bool:
    need(isinstance(value, numpy.ndarray) and value.ndim == 0 and value.dtype.kind == "b")
    return bool(value)


def iterate(run: Run, state: Value, goes_on: Function, f: Function) -> Value:
    state = settled(state)
    first = True
    while scalar_truth(goes_on(state)):
        run.step()
        run.steps += 50
        state = iteration(run, state, f(state))
        first = False
        if is_tensor(state) and count(state) > MOST:
            raise Endless
    if first:
        iteration(run, state, dry(run, f, state))
    return state


def cond(run: Run, c: Value, then: Function, other: Function) -> Value:
    """Only one is computed, but both have one type."""
    chosen, left = (then, other) if scalar_truth(c) else (other, then)
    made = chosen()
    run.untaken = True
    noticed = run.may_refuse
    try:
        unused = left()
    except (Fails, Unclear):
        run.may_refuse = True
        return made
    run.may_refuse = noticed or run.may_refuse or form(made) != form(unused)
    need(alike(made, unused))
    return made


def reduce(run: Run, f: Function, start: Value, x: Value) -> Value:
    a = uniform(run, tensor(x))
    need(a.ndim >= 1 and a.dtype.kind in "fi")
    found = numpy.full(a.shape[1:], start, a.dtype)
    for row in a:
        found = _by_element(f, found, row)
    return found


def scan(run: Run, f: Function, start: Value, x: Value) -> Value:
    a = uniform(run, tensor(x))
    need(a.ndim >= 1 and a.dtype.kind in "fi")
    found, rows = numpy.full(a.shape[1:], start, a.dtype), []
    for row in a:
        found = _by_element(f, found, row)
        rows.append(found)
    return numpy.stack(rows) if rows else a


def _by_element(f: Function, a: Array, b: Array) -> Array:
    made = numpy.empty_like(a)
    for at in numpy.ndindex(a.shape):
        made[at] = f(numpy.asarray(a[at]), numpy.asarray(b[at]))
    return made
