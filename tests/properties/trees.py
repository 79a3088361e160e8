"""Programs as trees: what they look like as text, and what they give by `meanings.py`.

A parameter and a binding that is no `fn` have one type. Values do not show that, so a
function that comes in such a way notes the sizes at which it is used: at two different ones it may
be refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy

from tests.properties.meanings import Operation, Run
from tests.properties.values import (
    Fails,
    Function,
    Rag,
    Size,
    Unclear,
    Value,
    dtype,
    form,
    is_tensor,
    need,
    rank,
    sizes,
    varies,
)


@dataclass(frozen=True, slots=True)
class Var:
    name: str


@dataclass(frozen=True, slots=True)
class Number:
    text: str
    value: int | float


@dataclass(frozen=True, slots=True)
class Apply:
    """An operator applied."""

    operation: Operation
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Bare:
    """An operator on its own, as a value."""

    operation: Operation


@dataclass(frozen=True, slots=True)
class Call:
    """`by_name` are the parameters that the last arguments are for."""

    function: Expr
    args: tuple[Expr, ...]
    by_name: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Several:
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Fields:
    """A record, or another one (a name) with these fields replaced."""

    names: tuple[str, ...]
    items: tuple[Expr, ...]
    base: str | None = None


@dataclass(frozen=True, slots=True)
class Get:
    """A field of a record."""

    record: Expr
    field: str


@dataclass(frozen=True, slots=True)
class Param:
    """`dims` has a name, a number or `*` for each dimension; None if nothing is said. A `default`
    has no names in it.
    """

    name: str
    elem: str = "f32"
    dims: tuple[str | int, ...] | None = None
    default: Expr | None = None

    def text(self) -> str:
        if self.default is not None:
            return f"{self.name} = {text(self.default)}"
        if self.dims is None:
            return self.name
        shape = f" [{','.join(map(str, self.dims))}]" if self.dims else ""
        return f"{self.name} : {self.elem}{shape}"


@dataclass(frozen=True, slots=True)
class Lambda:
    """`where` has bounds from below for dimensions that the parameters name."""

    params: tuple[Param, ...]
    body: Block
    where: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Let:
    """One name, or several that take a tuple apart."""

    names: tuple[str, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class Block:
    lets: tuple[Let, ...]
    result: Expr


Expr = Var | Number | Apply | Bare | Call | Several | Fields | Get | Lambda


@dataclass(frozen=True, slots=True)
class Program:
    """Definitions, of which the last one is called; `calls` are arguments, on the first of which
    it runs.
    """

    definitions: tuple[tuple[str, Expr], ...]
    calls: tuple[tuple[Value, ...], ...]

    def text(self) -> str:
        return "\n".join(f"{name} = {text(value)};" for name, value in self.definitions)

    @property
    def main(self) -> Lambda:
        found = self.definitions[-1][1]
        assert isinstance(found, Lambda)
        return found

    def with_main(self, main: Lambda) -> Program:
        name, _ = self.definitions[-1]
        return replace(self, definitions=(*self.definitions[:-1], (name, main)))

    def run(self, args: tuple[Value, ...]) -> tuple[Value, Run]:
        """What it gives, and what was noticed; raises `Fails` or `Unclear`."""
        run = Run()
        for arg in args:
            if isinstance(arg, Rag):
                run.ragged = True
                if not varies(arg):
                    run.by_chance = run.may_refuse = True
        try:
            with numpy.errstate(all="ignore"):
                scope: dict[str, Value] = {}
                for name, value in self.definitions:
                    scope[name] = bound(value, run, scope)
                run.idle.clear()
                made = scope[self.definitions[-1][0]](*args)
                need(not is_missing(made))
                if run.idle:
                    run.may_refuse = True
        except Fails:
            if run.guessed:
                raise Unclear from None
            raise
        return made, run


# --- text ----------------------------------------------------------------------------------------


def text(expr: Expr) -> str:
    match expr:
        case Var(name):
            return name
        case Number(written, _):
            return written
        case Apply(operation, args):
            return operation.text.format(*map(text, args))
        case Bare(operation):
            assert operation.value is not None
            return operation.value
        case Call(function, args, by_name):
            head = text(function)
            if isinstance(function, Lambda | Bare):
                head = f"({head})"
            names = [""] * (len(args) - len(by_name)) + [f"{name}=" for name in by_name]
            given = [name + text(arg) for name, arg in zip(names, args, strict=True)]
            return f"{head}({', '.join(given)})"
        case Several(items):
            return f"({', '.join(map(text, items))})"
        case Fields(names, items, base):
            head = "" if base is None else f"{base} | "
            inside = ", ".join(f"{n} = {text(e)}" for n, e in zip(names, items, strict=True))
            return f"{{ {head}{inside} }}"
        case Get(record, field):
            return f"{text(record)}.{field}"
        case Lambda(params, body, where):
            conditions = f" where {', '.join(f'{n} >= {k}' for n, k in where)}" if where else ""
            return f"fn ({', '.join(p.text() for p in params)}){conditions} {{ {block(body)} }}"


def block(body: Block) -> str:
    return " ".join([*map(let, body.lets), text(body.result)])


def let(line: Let) -> str:
    return f"{', '.join(line.names)} = {text(line.value)};"


# --- values --------------------------------------------------------------------------------------


@dataclass(slots=True)
class Single:
    """A function of one type: a second use at other sizes asks for what may not hold."""

    function: Function
    run: Run
    seen: list[object] = field(default_factory=list)

    def __call__(self, *args: Value) -> Value:
        made = self.function(*args)
        used = form((args, made)) if not callable(made) else form(args)
        if self.seen and used not in self.seen:
            self.run.may_refuse = True
        self.seen.append(used)
        return made


def single(value: Value, run: Run) -> Value:
    if isinstance(value, Single):
        return value
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(single(item, run) for item in value)
    if isinstance(value, dict):
        return {name: single(part, run) for name, part in value.items()}
    return Single(value, run) if callable(value) else value


def bound(expr: Expr, run: Run, scope: Mapping[str, Value]) -> Value:
    """What a name stands for: an `fn` is general, anything else has one type."""
    value = evaluate(expr, run, scope)
    return value if isinstance(expr, Lambda) else single(value, run)


def evaluate(expr: Expr, run: Run, scope: Mapping[str, Value]) -> Value:
    match expr:
        case Var(name):
            return scope[name]
        case Number(_, value):
            return value
        case Apply(operation, args):
            values = [evaluate(a, run, scope) for a in args]
            for i in operation.functions:
                if isinstance(values[i], Single):
                    values[i] = each_use(values[i])
            return operation.meaning(run, *values)
        case Bare(operation):
            return lambda *args: operation.meaning(run, *args)
        case Call(callee, args, by_name):
            f = evaluate(callee, run, scope)
            need(callable(f))
            values = [evaluate(a, run, scope) for a in args]
            many = len(args) - len(by_name)
            named = dict(zip(by_name, values[many:], strict=True))
            return f(*values[:many], **named) if named else f(*values)
        case Several(items):
            return tuple(attempted(item, run, scope) for item in items)
        case Fields(names, items, base):
            parts = {n: attempted(e, run, scope) for n, e in zip(names, items, strict=True)}
            known = {} if base is None else scope[base]
            need(isinstance(known, dict) and (base is None or parts.keys() <= known.keys()))
            return {**known, **parts}
        case Get(of, field):
            found = evaluate(of, run, scope)
            need(isinstance(found, dict) and field in found)
            return found[field]
        case Lambda(params, body, where):

            def function(*args: Value, **named: Value) -> Value:
                run.step()
                run.idle.discard(id(function))
                need(len(args) <= len(params))
                inner = dict(scope)
                for param, arg in zip(params, given(params, args, named, run, scope), strict=True):
                    inner[param.name] = single(arg, run)
                    take(param, arg, inner)
                for name, least in where:
                    need(inner[name] >= least)
                return result(body, run, inner)

            run.idle.add(id(function))
            run.kept.append(function)
            return function


def given(
    params: tuple[Param, ...],
    args: tuple[Value, ...],
    named: dict[str, Value],
    run: Run,
    scope: Mapping[str, Value],
) -> list[Value]:
    """An argument for each parameter: by its place, by its name, or its default."""
    found = list(args)
    need({param.name for param in params[len(args) :]} >= named.keys())
    for param in params[len(args) :]:
        need(param.name in named or param.default is not None)
        if param.name in named:
            found.append(named[param.name])
        elif param.default is not None:
            found.append(evaluate(param.default, run, scope))
    return found


class Missing:
    """What a part that fails gives. A call whose result does not need it may be refused, or not:
    what nobody uses need not be computed.
    """


def attempted(expr: Expr, run: Run, scope: Mapping[str, Value]) -> Value:
    try:
        return bound(expr, run, scope)
    except Fails:
        run.may_refuse = True
        return Missing()


def is_missing(value: Value) -> bool:
    if isinstance(value, dict):
        return any(map(is_missing, value.values()))
    return isinstance(value, Missing) or (isinstance(value, tuple) and any(map(is_missing, value)))


def each_use(function: Single) -> Function:
    """In an operator that calls a function for each row: one use, whatever the rows."""
    if function.seen:
        function.run.may_refuse = True
    function.seen.append("rows")
    return function.function


def result(body: Block, run: Run, scope: dict[str, Value]) -> Value:
    for line in body.lets:
        value = attempted(line.value, run, scope)
        if len(line.names) == 1 or isinstance(value, Missing):
            scope.update(dict.fromkeys(line.names, value))
        else:
            need(isinstance(value, tuple) and len(value) == len(line.names))
            scope.update(zip(line.names, value, strict=True))
    return evaluate(body.result, run, scope)


ELEMENTS = {"f32": "f", "i64": "i", "bool": "b"}


def take(param: Param, arg: Value, scope: dict[str, Value]) -> None:
    """Compare an argument with what is said of the parameter, and give names to sizes."""
    if param.dims is None:
        return
    need(is_tensor(arg) and rank(arg) == len(param.dims))
    need(dtype(arg).kind == ELEMENTS.get(param.elem, dtype(arg).kind))
    for dim, size in zip(param.dims, sizes(arg, shown=True), strict=True):
        if dim == "*":
            continue
        need(size is not None)
        assert size is not None
        if isinstance(dim, int):
            need(size == dim)
        else:
            need(scope.setdefault(dim, Size(size)) == size)


# --- walking -------------------------------------------------------------------------------------


def parts(expr: Expr) -> Iterator[Expr]:
    """An expression and all inside it."""
    yield expr
    match expr:
        case Apply(_, args) | Several(args) | Fields(_, args, _):
            for a in args:
                yield from parts(a)
            if isinstance(expr, Fields) and expr.base is not None:
                yield Var(expr.base)
        case Get(record, _):
            yield from parts(record)
        case Call(function, args, _):
            yield from parts(function)
            for a in args:
                yield from parts(a)
        case Lambda(_, body, _):
            for line in body.lets:
                yield from parts(line.value)
            yield from parts(body.result)
        case Var() | Number() | Bare():
            return


def names(expr: Expr) -> set[str]:
    return {p.name for p in parts(expr) if isinstance(p, Var)}


def rebuilt(expr: Expr, change: Callable[[Expr], Expr | None]) -> Expr:
    """The expression with changes in it; what `change` gives None for is looked into."""
    other = change(expr)
    if other is not None:
        return other
    match expr:
        case Apply(operation, args):
            return Apply(operation, tuple(rebuilt(a, change) for a in args))
        case Call(function, args, by_name):
            every = tuple(rebuilt(a, change) for a in args)
            return Call(rebuilt(function, change), every, by_name)
        case Several(items):
            return Several(tuple(rebuilt(item, change) for item in items))
        case Fields(names, items, base):
            return Fields(names, tuple(rebuilt(item, change) for item in items), base)
        case Get(record, field):
            return Get(rebuilt(record, change), field)
        case Lambda(params, body, where):
            return Lambda(params, rebuilt_block(body, change), where)
        case _:
            return expr


def rebuilt_block(body: Block, change: Callable[[Expr], Expr | None]) -> Block:
    lets = tuple(Let(line.names, rebuilt(line.value, change)) for line in body.lets)
    return Block(lets, rebuilt(body.result, change))


def substituted(body: Block, name: str, value: Expr) -> Block:
    """The block with an expression in the place of a name; names are not bound twice."""
    return rebuilt_block(body, lambda e: value if e == Var(name) else None)
