"""Changes to a program that mean nothing, so that its types and its values must stay.

eta            a function value `g` is `fn (y) { g(y) }`, and an operator may have another name
let            a part of an expression may have a name, and a name that is used once may go
annotation     a definition may say the type that it has
order          two lines of which neither uses the other may be swapped
import         definitions may stand in another file
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from random import Random

import axon
from axon.driver import Checked, check, check_text
from axon.inference.report.signature import Signature
from axon.source import Source
from tests.properties import operators as o
from tests.properties.judge import Finding, expected, given, plain
from tests.properties.printed import NAME, params_and_result
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
    block,
    names,
    parts,
    rebuilt,
    substituted,
)
from tests.properties.values import Value, same, show

Change = Callable[[Program], Iterator[Program]]


# --- places --------------------------------------------------------------------------------------


def places(expr: Expr) -> Iterator[tuple[Expr, Callable[[Expr], Expr]]]:
    """The parts of an expression, each with a function that puts another in its place; what is
    inside a function is left out.
    """
    yield expr, lambda other: other
    match expr:
        case Apply(operation, args):
            for i, arg in enumerate(args):
                for part, put in places(arg):
                    yield part, _in_args(args, i, put, lambda a: Apply(operation, a))
        case Several(items):
            for i, item in enumerate(items):
                for part, put in places(item):
                    yield part, _in_args(items, i, put, Several)
        case Fields(keys, items, base):
            for i, item in enumerate(items):
                for part, put in places(item):
                    yield part, _in_args(items, i, put, _record(keys, base))
        case Get(record, field):
            for part, put in places(record):
                yield part, _in_field(field, put)
        case Call(function, args, by_name):
            for part, put in places(function):
                yield part, _in_function(args, by_name, put)
            for i, arg in enumerate(args):
                for part, put in places(arg):
                    yield part, _in_args(args, i, put, lambda a: Call(function, a, by_name))
        case _:
            return


def _in_args(
    args: tuple[Expr, ...],
    i: int,
    put: Callable[[Expr], Expr],
    make: Callable[[tuple[Expr, ...]], Expr],
) -> Callable[[Expr], Expr]:
    return lambda other: make((*args[:i], put(other), *args[i + 1 :]))


def _record(keys: tuple[str, ...], base: str | None) -> Callable[[tuple[Expr, ...]], Expr]:
    return lambda items: Fields(keys, items, base)


def _in_field(field: str, put: Callable[[Expr], Expr]) -> Callable[[Expr], Expr]:
    return lambda other: Get(put(other), field)


def _in_function(
    args: tuple[Expr, ...], by_name: tuple[str, ...], put: Callable[[Expr], Expr]
) -> Callable[[Expr], Expr]:
    return lambda other: Call(put(other), args, by_name)


def lines(body: Block) -> Iterator[tuple[int, Expr, Callable[[Expr], Block]]]:
    """Each line's expression, the result last, with a function that puts another there."""
    for i, line in enumerate(body.lets):

        def put(other: Expr, i: int = i, line: Let = line) -> Block:
            changed = Let(line.names, other)
            return Block((*body.lets[:i], changed, *body.lets[i + 1 :]), body.result)

        yield i, line.value, put
    yield len(body.lets), body.result, lambda other: Block(body.lets, other)


def in_blocks(body: Block, change: Callable[[Block], Iterator[Block]]) -> Iterator[Block]:
    """A change to a block, or to the body of a function in it."""
    yield from change(body)
    for _, value, put in lines(body):
        for part, back in places(value):
            if isinstance(part, Lambda):
                for inner in in_blocks(part.body, change):
                    yield put(back(replace(part, body=inner)))


def in_main(change: Callable[[Block], Iterator[Block]]) -> Change:
    def of_program(program: Program) -> Iterator[Program]:
        for body in in_blocks(program.main.body, change):
            yield program.with_main(replace(program.main, body=body))

    return of_program


# --- changes -------------------------------------------------------------------------------------


def expanded(function: Expr, arity: int) -> Lambda:
    args = tuple(f"eta{i}" for i in range(arity))
    if isinstance(function, Bare):
        body: Expr = Apply(function.operation, tuple(map(Var, args)))
    else:
        body = Call(function, tuple(map(Var, args)))
    return Lambda(tuple(map(Param, args)), Block((), body))


def eta_block(body: Block) -> Iterator[Block]:
    for _, value, put in lines(body):
        for part, back in places(value):
            if isinstance(part, Bare):
                yield put(back(expanded(part, part.operation.arity)))
            elif isinstance(part, Apply):
                for i in part.operation.functions:
                    f = part.args[i]
                    arity = FUNCTION_ARITY.get((part.operation.text, i))
                    if arity is not None and isinstance(f, Var):
                        args = (*part.args[:i], expanded(f, arity), *part.args[i + 1 :])
                        yield put(back(Apply(part.operation, args)))


FUNCTION_ARITY = {
    ("map({}, {})", 0): 1,
    ("map({}, {}, {})", 0): 2,
    ("fold({}, {}, {})", 1): 2,
    ("iterate({}, {}, {})", 1): 1,
    ("iterate({}, {}, {})", 2): 1,
}


def eta(program: Program) -> Iterator[Program]:
    """In the last definition, and of definitions that are operators under another name."""
    yield from in_main(eta_block)(program)
    for k, (name, value) in enumerate(program.definitions):
        if isinstance(value, Bare):
            changed = (name, expanded(value, value.operation.arity))
            definitions = (*program.definitions[:k], changed, *program.definitions[k + 1 :])
            yield replace(program, definitions=definitions)


def _only_an_argument(part: Bare) -> bool:
    """Signs, and the words for logic, stand for functions as arguments only."""
    value = part.operation.value
    return value is None or value in o.WORDS or not value.isidentifier()


def let_block(body: Block) -> Iterator[Block]:
    """A name for a part. A number on its own takes the type of its surroundings, so it stays."""
    for i, value, put in lines(body):
        for part, back in places(value):
            if (part is value and i < len(body.lets)) or isinstance(part, Var | Number):
                continue
            if isinstance(part, Bare) and _only_an_argument(part):
                continue
            changed = put(back(Var("named")))
            yield Block(
                (*changed.lets[:i], Let(("named",), part), *changed.lets[i:]), changed.result
            )
    for i, line in enumerate(body.lets):
        rest = Block(body.lets[i + 1 :], body.result)
        uses = [p for p in parts(Lambda((), rest)) if p == Var(line.names[0])]
        if Var(line.names[0]) in bases(rest):
            continue
        if len(line.names) == 1 and len(uses) == 1 and not _under_lambda(rest, line.names[0]):
            inner = substituted(rest, line.names[0], line.value)
            yield Block((*body.lets[:i], *inner.lets), inner.result)


def bases(body: Block) -> list[Var]:
    """The names that stand in an update, where only a name can be."""
    found = [p for p in parts(Lambda((), body)) if isinstance(p, Fields)]
    return [Var(p.base) for p in found if p.base is not None]


def _under_lambda(body: Block, name: str) -> bool:
    """Whether a name is used inside a function, where it would be computed again, or elsewhere."""
    return any(
        isinstance(part, Lambda) and name in names(part)
        for part in parts(Lambda((), body))
        if part != Lambda((), body)
    )


def order_block(body: Block) -> Iterator[Block]:
    for i in range(len(body.lets) - 1):
        first, second = body.lets[i], body.lets[i + 1]
        if not set(first.names) & names(second.value):
            yield Block((*body.lets[:i], second, first, *body.lets[i + 2 :]), body.result)


let = in_main(let_block)
order = in_main(order_block)


# --- what stays ----------------------------------------------------------------------------------


def signature(checked: Checked) -> Signature | None:
    found = [s for s in checked.signatures if s.name == "f"]
    return found[-1] if checked.ok and found else None


def line(found: Signature | None) -> str:
    return "rejected" if found is None else found.line()


def compared(
    kind: str, program: Program, change: Change, values: bool, most: int
) -> Iterator[Finding]:
    before = signature(check_text(program.text()))
    changed = list(change(program))
    for other in Random(program.text()).sample(changed, min(most, len(changed))):
        after = signature(check_text(other.text()))
        if line(before) != line(after):
            what = _difference(before, after)
            yield Finding(f"{kind}: {what}", f"{line(before)}\n    {line(after)}\n{other.text()}")
        elif values and before is not None:
            yield from outcomes(kind, program, other)


def _difference(before: Signature | None, after: Signature | None) -> str:
    if before is None:
        return "rejected, then accepted"
    if after is None:
        return "accepted, then rejected"
    if before.signature != after.signature:
        return "types differ"
    if sorted(before.where) == sorted(after.where):
        return "conditions in another order"
    return "conditions differ"


def outcomes(kind: str, program: Program, other: Program) -> Iterator[Finding]:
    first, second = axon.compile(program.text()).f, axon.compile(other.text()).f
    for i, args in enumerate(program.calls[:3]):
        if expected(program, args).endless:
            continue
        a, b = outcome(first, program, args), outcome(second, program, args)
        said = [each for each in (a, b) if isinstance(each, str)]
        if said:
            if len(set(said)) + len(said) != 3 and "AX403" not in said:
                yield Finding(
                    f"{kind}: outcomes differ", f"{_say(a)}\n    {_say(b)}\n{other.text()}", i
                )
        elif not same(a, b):
            yield Finding(f"{kind}: values differ", f"{show(a)}\n    {show(b)}\n{other.text()}", i)


def outcome(function: object, program: Program, args: tuple[Value, ...]) -> Value | str:
    assert callable(function)
    said = [p.dims is not None for p in program.main.params]
    try:
        return plain(function(*map(given, args, said)))
    except axon.AxonError as problem:
        if any(d.code == "AX403" for d in problem.diagnostics):
            return "AX403"
        return "refused"
    except Exception as problem:
        return f"internal error, {type(problem).__name__}"


def _say(value: Value | str) -> str:
    return value if isinstance(value, str) else show(value)


def annotated(program: Program) -> Iterator[Finding]:
    """Every definition that is a function, under the type that is printed for it."""
    checked = check_text(program.text())
    if not checked.ok:
        return
    known = {s.name: s for s in checked.signatures}
    for name, value in program.definitions:
        if not isinstance(value, Lambda):
            continue
        before = known[name]
        text = with_types(value, before)
        if text is None:
            continue
        everything = "\n".join(
            f"{n} = {text};" if n == name else f"{n} = {_text(v)};" for n, v in program.definitions
        )
        again = check_text(everything)
        after = {s.name: s for s in again.signatures}.get(name)
        if not again.ok or after is None:
            reason = next((f"{d.code} {d.message}" for d in again.diagnostics), "")
            detail = f"{before.line()}\n    {reason}\n{name} = {text}"
            yield Finding("annotation: its own type is rejected", detail)
        elif line(before) != line(after):
            detail = f"{before.line()}\n    {after.line()}\n{name} = {text}"
            yield Finding(f"annotation: {_difference(before, after)}", detail)


def _text(expr: Expr) -> str:
    from tests.properties.trees import text

    return text(expr)


def with_types(function: Lambda, found: Signature) -> str | None:
    """The function with its printed type written into it; None if a name would be lost that its
    body uses.
    """
    params, result = params_and_result(found.signature)
    assert len(params) == len(function.params), found.signature
    dims = {d for p in function.params for d in p.dims or () if isinstance(d, str)}
    lost = dims & names(function) - set(NAME.findall(" ".join(params)))
    if lost:
        return None
    heads = ", ".join(f"{p.name} : {t}" for p, t in zip(function.params, params, strict=True))
    where = f" where {', '.join(found.where)}" if found.where else ""
    return f"fn ({heads}) : {result}{where} {{ {block(function.body)} }}"


def imported(program: Program) -> Iterator[Finding]:
    """All definitions but the last in a file of their own."""
    if len(program.definitions) < 2:
        return
    before = signature(check_text(program.text()))
    tops = {name for name, _ in program.definitions[:-1]}

    def qualified(expr: Expr) -> Expr | None:
        return Var(f"lib.{expr.name}") if isinstance(expr, Var) and expr.name in tops else None

    library = replace(program, definitions=program.definitions[:-1]).text()
    main = program.with_main(_lambda(rebuilt(program.main, qualified)))
    last = replace(main, definitions=main.definitions[-1:]).text()
    source = Source("main.axon", f'import "lib.axon" as lib;\n{last}')
    after = signature(check(source, lambda path, _source: Source(path, library)))
    if line(before) != line(after):
        what = _difference(before, after)
        yield Finding(f"import: {what}", f"{line(before)}\n    {line(after)}")


def _lambda(expr: Expr) -> Lambda:
    assert isinstance(expr, Lambda)
    return expr


PROPERTIES: dict[str, Callable[[Program], Iterator[Finding]]] = {
    "eta": lambda p: compared("eta", p, eta, True, 2),
    "let": lambda p: compared("let", p, let, True, 1),
    "order": lambda p: compared("order", p, order, False, 3),
    "annotation": annotated,
    "import": imported,
}


def look(program: Program) -> list[Finding]:
    """All that the changes change, the first few of each."""
    return [f for property_ in PROPERTIES.values() for f in islice(property_(program), 2)]
