"""Random programs, and what their shapes are by NumPy's documented rules.

A program is drawn together with shapes for its parameters on which it runs (its *witness*), so it
is well typed by construction: each piece is chosen among those that run on what is there. A piece
is its text and its meaning, a plain Python function on tuples of integers. Nothing of Axon takes
part in saying what a program means.

Three things are the language's and not NumPy's: a function given to `map`, `loop` or `fold` is
looked at even if there are no rows, the state of a `loop` has one shape, and a window must fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod

from hypothesis import strategies as st


class Fails(Exception):
    """The program does not run on these shapes."""


class Negative(Fails):
    """It would make a tensor with a size below zero, or slide a window that does not fit: checked,
    but not part of what is printed.
    """


@dataclass(frozen=True, slots=True)
class Several:
    """A tuple of values."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Fields:
    """A record of values, in the order of their names."""

    fields: tuple[tuple[str, Value], ...]


Shape = tuple[int, ...]
Value = Shape | Several | Fields
Env = dict[str, Value]


def shape_of(value: Value) -> Shape:
    if not isinstance(value, tuple):
        raise Fails
    return value


# --- NumPy's rules ------------------------------------------------------------------------------


def need(condition: bool) -> None:
    if not condition:
        raise Fails


def need_sizes(*sizes: int) -> None:
    if any(size < 0 for size in sizes):
        raise Negative


def broadcast(*shapes: Shape) -> Shape:
    """Align on the right; in each place all sizes but 1 are equal."""
    found: list[int] = []
    for i in range(-max(map(len, shapes)), 0):
        sizes = {s[i] for s in shapes if len(s) >= -i} - {1}
        need(len(sizes) < 2)
        found.append(sizes.pop() if sizes else 1)
    return tuple(found)


def same(a: Shape, b: Shape) -> Shape:
    need(a == b)
    return a


def place(axis: int, rank: int) -> int:
    need(-rank <= axis < rank)
    return axis % rank


def put(shape: Shape, i: int, *sizes: int) -> Shape:
    """The shape with other sizes in the place of one."""
    need_sizes(*sizes)
    return (*shape[:i], *sizes, *shape[i + 1 :])


def matmul(a: Shape, b: Shape) -> Shape:
    need(len(a) >= 2 and len(b) >= 2 and a[:-2] == b[:-2] and a[-1] == b[-2])
    return (*a[:-1], b[-1])


def at_sign(a: Shape, b: Shape) -> Shape:
    need(len(a) >= 2 and len(b) >= 2 and a[-1] == b[-2])
    return (*broadcast(a[:-2], b[:-2]), a[-2], b[-1])


def transpose(a: Shape) -> Shape:
    need(len(a) >= 2)
    return (*a[:-2], a[-1], a[-2])


def permute(order: Shape) -> Callable[[Shape], Shape]:
    def rule(a: Shape) -> Shape:
        need(len(a) == len(order))
        return tuple(a[i] for i in order)

    return rule


def concat(axis: int) -> Callable[[Shape, Shape], Shape]:
    def rule(a: Shape, b: Shape) -> Shape:
        i = place(axis, len(a))
        need(len(a) == len(b) and put(a, i) == put(b, i))
        return put(a, i, a[i] + b[i])

    return rule


def stack(axis: int) -> Callable[[Shape, Shape], Shape]:
    def rule(a: Shape, b: Shape) -> Shape:
        return expand(axis, 2)(same(a, b))

    return rule


def along(axis: int, change: Callable[[int], tuple[int, ...]]) -> Callable[[Shape], Shape]:
    """What happens to one axis: it goes, stays, or has another size."""

    def rule(a: Shape) -> Shape:
        i = place(axis, len(a))
        return put(a, i, *change(a[i]))

    return rule


def expand(axis: int, size: int = 1) -> Callable[[Shape], Shape]:
    def rule(a: Shape) -> Shape:
        i = place(axis, len(a) + 1)
        return (*a[:i], size, *a[i:])

    return rule


def only_one(size: int) -> tuple[int, ...]:
    need(size == 1)
    return ()


def not_empty(size: int) -> tuple[int, ...]:
    need(size >= 1)
    return ()


def sliced(start: int | None, stop: int | None, step: int | None) -> Callable[[int], Shape]:
    return lambda size: (len(range(size)[slice(start, stop, step)]),)


def reshape(target: Shape) -> Callable[[Shape], Shape]:
    def rule(a: Shape) -> Shape:
        known = prod(size for size in target if size != -1)
        need(all(size >= -1 for size in target))
        if -1 not in target:
            need(prod(a) == known)
            return target
        need(known > 0 and prod(a) % known == 0)
        return tuple(prod(a) // known if size == -1 else size for size in target)

    return rule


def stretch(target: Shape) -> Callable[[Shape], Shape]:
    def rule(a: Shape) -> Shape:
        return same(broadcast(a, target), target)

    return rule


def slide(size: int, window: int, stride: int, pad: int) -> int:
    """How many places a window has; a size, so not below zero."""
    reach = size + 2 * pad - window
    need_sizes(reach)
    return reach // stride + 1


def pool(window: int, stride: int, pad: int) -> Callable[[Shape], Shape]:
    def rule(a: Shape) -> Shape:
        need(len(a) == 4)
        return (*a[:2], *(slide(size, window, stride, pad) for size in a[2:]))

    return rule


def conv(stride: int, pad: int) -> Callable[[Shape, Shape], Shape]:
    def rule(a: Shape, f: Shape) -> Shape:
        need(len(a) == 4 and len(f) == 4 and a[1] == f[1])
        sides = (slide(a[i], f[i], stride, pad) for i in (2, 3))
        return (a[0], f[0], *sides)

    return rule


def flatten_from(axis: int) -> Callable[[Shape], Shape]:
    def rule(a: Shape) -> Shape:
        i = axis if axis >= 0 else len(a) + axis
        need(0 <= i <= len(a))
        return prod(a[:i]), prod(a[i:])

    return rule


def tile_last(a: Shape) -> Shape:
    need(len(a) >= 1)
    return (*a[:-1], 2 * a[-1])


# --- operators ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator: its call as text, its rule, and its name if it can be a value."""

    arity: int
    text: str
    rule: Callable[..., Shape]
    value: str | None = None

    def __repr__(self) -> str:
        return self.text


def _operations() -> list[Operation]:
    two = [
        Operation(2, "({} + {})", broadcast, "+"),
        Operation(2, "({} * {})", broadcast, "*"),
        Operation(2, "maximum({}, {})", broadcast, "maximum"),
        Operation(2, "max({}, {})", same),
        Operation(2, "matmul({}, {})", matmul, "matmul"),
        Operation(2, "({} @ {})", at_sign),
        Operation(2, "conv({}, {}, stride=[1,1])", conv(1, 0)),
        Operation(2, "conv({}, {}, stride=[2,2], pad=[1,1])", conv(2, 1)),
    ]
    one = [
        Operation(1, "relu({})", lambda a: a, "relu"),
        Operation(1, "transpose({})", transpose, "transpose"),
        Operation(1, "transpose({}, perm=[1,0])", permute((1, 0))),
        Operation(1, "transpose({}, perm=[0,2,1,3])", permute((0, 2, 1, 3))),
        Operation(1, "transpose({}, perm=[2,0,1])", permute((2, 0, 1))),
        Operation(1, "flatten({})", lambda a: (prod(a),), "flatten"),
        Operation(1, "sum({})", lambda _: ()),
        Operation(1, "tile({}, reps=[2])", tile_last),
        Operation(1, "max_pool({}, window=[2,2])", pool(2, 2, 0)),
        Operation(1, "max_pool({}, window=[3,3], stride=[2,2], pad=[1,1])", pool(3, 2, 1)),
        Operation(1, "avg_pool({}, window=[2,2], stride=[1,1])", pool(2, 1, 0)),
        Operation(1, "flatten({}, axis=1)", flatten_from(1)),
    ]
    for target in ((-1, 2), (2, -1), (3, -1), (-1,), (2, 3), (4,), (-1, 4), (2, 1, 2), ()):
        one.append(Operation(1, f"reshape({{}}, {text(target)})", reshape(target)))
    for target in ((3,), (2, 3), (4, 2, 2), (1,), (2, 2)):
        one.append(Operation(1, f"broadcast_to({{}}, {text(target)})", stretch(target)))
    for k in (0, 1, 2, -1, -2):
        two += [
            Operation(2, f"concat({{}}, {{}}, axis={k})", concat(k)),
            Operation(2, f"stack({{}}, {{}}, axis={k})", stack(k)),
        ]
        changes: dict[str, Callable[[int], Shape]] = {
            f"sum({{}}, axis={k})": lambda _: (),
            f"mean({{}}, axis={k}, keep=true)": lambda _: (1,),
            f"reduce(+, 0f, {{}}, axis={k})": lambda _: (),
            f"reduce(max, -inf, {{}}, axis={k}, keep=true)": lambda _: (1,),
            f"scan(+, 0f, {{}}, axis={k})": lambda n: (n,),
            f"softmax({{}}, axis={k})": lambda n: (n,),
            f"slice({{}}, start=1, axis={k})": sliced(1, None, None),
            f"slice({{}}, stop=2, axis={k})": sliced(None, 2, None),
            f"slice({{}}, stop=-1, axis={k})": sliced(None, -1, None),
            f"slice({{}}, step=2, axis={k})": sliced(None, None, 2),
            f"slice({{}}, start=-3, step=2, axis={k})": sliced(-3, None, 2),
            f"index({{}}, i=0, axis={k})": not_empty,
            f"squeeze({{}}, axis={k})": only_one,
            f"pad({{}}, before=1, after=2, axis={k})": lambda n: (n + 3,),
            f"repeat({{}}, times=3, axis={k})": lambda n: (3 * n,),
        }
        one += [Operation(1, call, along(k, change)) for call, change in changes.items()]
        one.append(Operation(1, f"expand_dims({{}}, axis={k})", expand(k)))
    return [*two, *two, *one]


def text(shape: Shape) -> str:
    return f"[{','.join(map(str, shape))}]"


OPERATIONS = _operations()
PLAIN = OPERATIONS[0]


# --- programs -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Piece:
    """A binding: its text, and what it adds to what is known."""

    text: str
    run: Callable[[Env], Env]


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter; `sizes` names the dimensions of its annotation, `rest` what comes after them."""

    name: str
    annotation: str = ""
    sizes: tuple[str, ...] = ()
    rest: bool = True

    def take(self, shape: Shape, dims: dict[str, int]) -> None:
        if self.rest:
            need(len(shape) >= len(self.sizes))
        else:
            need(len(shape) == len(self.sizes))
        for name, size in zip(self.sizes, shape, strict=False):
            need(dims.setdefault(name, size) == size)


@dataclass(frozen=True, slots=True)
class Program:
    params: tuple[Param, ...]
    pieces: tuple[Piece, ...]
    result: str
    returned: tuple[str, ...]
    calls: tuple[tuple[Shape, ...], ...]

    def body(self) -> str:
        return " ".join(p.text for p in self.pieces) + f" {self.result}"

    def definition(self, name: str = "f") -> str:
        params = ", ".join(p.name + p.annotation for p in self.params)
        return f"{name} = fn ({params}) {{ {self.body()} }};"

    def concrete(self, name: str, shapes: tuple[Shape, ...]) -> str:
        """The definition with these shapes in its annotations; no sizes are named there."""
        params = ", ".join(
            f"{p.name} : f32 {text(s)}" for p, s in zip(self.params, shapes, strict=True)
        )
        return f"{name} = fn ({params}) {{ {self.body()} }};"

    @property
    def asks_nothing(self) -> bool:
        """Whether the annotations leave every shape free."""
        return all(p.rest and not p.sizes for p in self.params)

    def run(self, shapes: tuple[Shape, ...]) -> str | None:
        """The type of the result, as Axon writes it; None where it does not run."""
        value = self.value(shapes)
        return None if value is None else show(value)

    def value(self, shapes: tuple[Shape, ...]) -> Value | None:
        """The shapes of the result; None where it does not run."""
        try:
            return self._run(shapes)
        except Fails:
            return None

    def goes_below_zero(self, shapes: tuple[Shape, ...]) -> bool:
        """Whether what stops it is a size below zero."""
        try:
            self._run(shapes)
        except Fails as reason:
            return isinstance(reason, Negative)
        return False

    def _run(self, shapes: tuple[Shape, ...]) -> Value:
        dims: dict[str, int] = {}
        for param, shape in zip(self.params, shapes, strict=True):
            param.take(shape, dims)
        env: Env = dict(zip((p.name for p in self.params), shapes, strict=True))
        env.update({name: (size,) for name, size in dims.items()})
        for piece in self.pieces:
            env = env | piece.run(env)
        return env[self.returned[0]] if len(self.returned) == 1 else _several(env, self)

    def __repr__(self) -> str:
        return f"Program({self.definition()!r}, {self.calls})"


def _several(env: Env, program: Program) -> Several:
    return Several(tuple(env[name] for name in program.returned))


def show(value: Value) -> str:
    if isinstance(value, Several):
        return f"({', '.join(map(show, value.items))})"
    if isinstance(value, Fields):
        inside = ", ".join(f"{name} : {show(part)}" for name, part in value.fields)
        return f"{{ {inside} }}" if inside else "{}"
    return f"f32 {text(value)}" if value else "f32"


@dataclass(slots=True)
class Scope:
    """What is known while a program is drawn: values on the witness, and the names of sizes."""

    env: Env
    dims: tuple[str, ...]
    count: list[int] = field(default_factory=lambda: [0])

    @property
    def tensors(self) -> list[str]:
        return [n for n, v in self.env.items() if isinstance(v, tuple) and n not in self.dims]

    def fresh(self, prefix: str = "v") -> str:
        self.count[0] += 1
        return f"{prefix}{self.count[0]}"


def runs(operation: Operation, *args: Value) -> bool:
    try:
        operation.rule(*map(shape_of, args))
    except Fails:
        return False
    return True


@st.composite
def applications(
    draw: st.DrawFn, scope: Scope, among: tuple[str, ...] = ()
) -> tuple[Operation, list[str]]:
    """An operator and names on which it runs, one of `among` first if there are such."""
    names = scope.tensors
    recent = names[-4:] + names[:2]
    operation = draw(st.sampled_from(OPERATIONS))
    first = list(among) or recent
    fits: list[list[str]] = [
        list(args)
        for args in product(first, *([dict.fromkeys(recent)] * (operation.arity - 1)))
        if runs(operation, *(scope.env[a] for a in args))
    ]
    if not fits:
        return PLAIN, [draw(st.sampled_from(first))] * 2
    chosen: list[str] = draw(st.sampled_from(fits))
    return operation, chosen


def applied(operation: Operation, args: list[str]) -> str:
    return operation.text.format(*args)


def apply(operation: Operation, args: list[str], env: Env) -> Shape:
    return operation.rule(*(shape_of(env[a]) for a in args))


def binding(name: str, code: str, value: Callable[[Env], Value]) -> Piece:
    return Piece(f"{name} = {code};", lambda env: {name: value(env)})


# Each of these draws one kind of piece.


@st.composite
def direct(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    operation, args = draw(applications(scope))
    return [
        binding(scope.fresh(), applied(operation, args), lambda env: apply(operation, args, env))
    ]


@st.composite
def local_function(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    """h = fn (p, q) { … }; used at one or at two sets of shapes."""
    operation, args = draw(applications(scope))
    function, params = scope.fresh(), ["p", "q"][: operation.arity]
    head = f"{function} = fn ({', '.join(params)}) {{ {applied(operation, params)} }};"
    pieces = [Piece(head, lambda _: {})]
    uses = [args]
    names = scope.tensors
    other = [draw(st.sampled_from(names)) for _ in args]
    if runs(operation, *(scope.env[a] for a in other)):
        uses.append(other)
    for use in uses:
        code = f"{function}({', '.join(use)})"
        pieces.append(
            binding(scope.fresh(), code, lambda env, use=use: apply(operation, use, env))  # type: ignore[misc]
        )
    return pieces


@st.composite
def closure(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    """A function that uses a value from around it, given back by another one, or named."""
    operation, args = draw(applications(scope))
    function, name = scope.fresh(), scope.fresh()
    *outer, last = args
    inner = f"fn (q) {{ {applied(operation, [*outer, 'q'])} }}"
    if draw(st.booleans()) and outer:
        maker = f"fn (p) {{ fn (q) {{ {applied(operation, ['p', 'q'])} }} }}"
        code = f"{function} = {maker}; {name} = {function}({outer[0]})({last});"
    else:
        code = f"{function} = {inner}; {name} = {function}({last});"
    return [Piece(code, lambda env: {name: apply(operation, args, env)})]


@st.composite
def higher_order(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    """A function is an argument; an operator may be one."""
    operation, args = draw(applications(scope))
    function, name = scope.fresh(), scope.fresh()
    params = ["p", "q"][: operation.arity]
    given = f"fn ({', '.join(params)}) {{ {applied(operation, params)} }}"
    if operation.value is not None and draw(st.booleans()):
        given = operation.value
    code = (
        f"{function} = fn (g, {', '.join(params)}) {{ g({', '.join(params)}) }}; "
        f"{name} = {function}({given}, {', '.join(args)});"
    )
    return [Piece(code, lambda env: {name: apply(operation, args, env)})]


@st.composite
def twice(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    """g(g(x)), where `g` is a parameter and so has one type."""
    operation, args = draw(applications(scope))
    first = scope.env[args[0]]
    if apply(operation, args, scope.env) != first:
        operation, args = PLAIN, [args[0]] * 2
    function, name = scope.fresh(), scope.fresh()
    code = (
        f"{function} = fn (g, p) {{ g(g(p)) }}; {name} = "
        f"{function}(fn (p) {{ {applied(operation, ['p', *args[1:]])} }}, {args[0]});"
    )

    def run(env: Env) -> Env:
        return {name: same(apply(operation, args, env), shape_of(env[args[0]]))}

    return [Piece(code, run)]


@st.composite
def nested(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    """A function inside a function: the inner one uses the outer one's parameter."""
    operation, args = draw(applications(scope))
    second = draw(st.sampled_from([o for o in OPERATIONS if o.arity == 1]))
    made = apply(operation, args, scope.env)
    if not runs(second, made):
        second = Operation(1, "relu({})", lambda a: a)
    function, name = scope.fresh(), scope.fresh()
    inner = ["p", "q"][: operation.arity]
    first, *more = args
    code = (
        f"{function} = fn (p) {{ k = fn ({', '.join(inner[1:])}) {{ {applied(operation, inner)} }};"
        f" {second.text.format('k(' + ', '.join(more) + ')')} }}; {name} = {function}({first});"
    )
    return [
        Piece(code, lambda env: {name: shape_of(second.rule(apply(operation, args, env)))}),
    ]


def row(env: Env, name: str) -> tuple[int, Shape]:
    shape = shape_of(env[name])
    need(len(shape) >= 1)
    return shape[0], shape[1:]


@st.composite
def mapped(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    """map, over one tensor or two side by side."""
    able = [n for n in scope.tensors if scope.env[n]]
    if not able:
        return draw(direct(scope))
    x = draw(st.sampled_from(able))
    size, rest = row(scope.env, x)
    inner = Scope({**scope.env, "p": rest}, scope.dims, scope.count)
    name = scope.fresh()
    partners = [n for n in able if row(scope.env, n)[0] == size]
    y = draw(st.none() | st.sampled_from(partners))
    if y is not None:
        inner.env["q"] = row(scope.env, y)[1]
    operation, args = draw(applications(inner, ("p",)))
    params = "p" if y is None else "p, q"
    tensors = x if y is None else f"{x}, {y}"

    def value(env: Env) -> Value:
        many, each = row(env, x)
        below: Env = {**env, "p": each}
        if y is not None:
            others, below["q"] = row(env, y)
            need(others == many)
        return (many, *apply(operation, args, below))

    code = f"map(fn ({params}) {{ {applied(operation, args)} }}, {tensors})"
    return [binding(name, code, value)]


@st.composite
def looped(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    """loop: the state is kept as it is, or changed by something that keeps its shape."""
    able = [n for n in scope.tensors if scope.env[n]]
    if not able:
        return draw(direct(scope))
    x, state = draw(st.sampled_from(able)), draw(st.sampled_from(scope.tensors))
    kept = scope.env[state]
    inner = Scope({**scope.env, "p": kept, "q": row(scope.env, x)[1]}, scope.dims, scope.count)
    step, step_args = draw(applications(inner, ("p",)))
    if apply(step, step_args, inner.env) != kept:
        step, step_args = PLAIN, ["p", "p"]
    out, out_args = draw(applications(inner, ("p", "q")))
    last, rows = scope.fresh(), scope.fresh()

    def run(env: Env) -> Env:
        many, each = row(env, x)
        begin = shape_of(env[state])
        below: Env = {**env, "p": begin, "q": each}
        same(apply(step, step_args, below), begin)
        return {last: begin, rows: (many, *apply(out, out_args, below))}

    body = f"{applied(step, step_args)}, {applied(out, out_args)}"
    return [Piece(f"{last}, {rows} = loop({state}, fn (p, q) {{ {body} }}, {x});", run)]


@st.composite
def folded(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    able = [n for n in scope.tensors if scope.env[n]]
    if not able:
        return draw(direct(scope))
    x, state = draw(st.sampled_from(able)), draw(st.sampled_from(scope.tensors))
    name = scope.fresh()

    def value(env: Env) -> Value:
        row(env, x)
        return env[state]

    return [binding(name, f"fold({state}, fn (p, q) {{ p * sum(q) }}, {x})", value)]


@st.composite
def tuples(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    a, b = draw(st.sampled_from(scope.tensors)), draw(st.sampled_from(scope.tensors))
    pair, first, second = scope.fresh(), scope.fresh(), scope.fresh()

    def run(env: Env) -> Env:
        return {pair: Several((env[a], env[b])), first: env[b], second: env[a]}

    swap = f"(fn (p) {{ x, y = p; y, x }})({pair})"
    return [Piece(f"{pair} = ({a}, {b}); {first}, {second} = {swap};", run)]


@st.composite
def splits(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    """split, into equal parts or parts of given sizes."""
    axis = draw(st.sampled_from([0, 1, -1, -2]))
    sizes = draw(st.sampled_from([None, (1, 2), (2, 2), (1, 1)]))

    def parts(shape: Shape) -> list[Shape]:
        i = place(axis, len(shape))
        if sizes is not None:
            need(sum(sizes) == shape[i])
            return [put(shape, i, size) for size in sizes]
        need(shape[i] % 2 == 0)
        return [put(shape, i, shape[i] // 2)] * 2

    test = Operation(1, "", lambda a: parts(a)[0])
    able = [n for n in scope.tensors if runs(test, scope.env[n])]
    if not able:
        return draw(direct(scope))
    x = draw(st.sampled_from(able))
    first, second = scope.fresh(), scope.fresh()
    how = "parts=2" if sizes is None else f"sizes={text(sizes)}"

    def run(env: Env) -> Env:
        a, b = parts(shape_of(env[x]))
        return {first: a, second: b}

    return [Piece(f"{first}, {second} = split({x}, {how}, axis={axis});", run)]


Size = tuple[str, Callable[[Env], int]]


@st.composite
def sizes(draw: st.DrawFn, scope: Scope) -> Size:
    """A size made of those that the parameters' annotations name."""

    def value(env: Env, name: str) -> int:
        return shape_of(env[name])[0]

    n, m = draw(st.sampled_from(scope.dims)), draw(st.sampled_from(scope.dims))
    forms: list[Size] = [
        (n, lambda env: value(env, n)),
        (n, lambda env: value(env, n)),
        (f"{n}+1", lambda env: value(env, n) + 1),
        (f"2*{n}", lambda env: 2 * value(env, n)),
        (f"{n}*{m}", lambda env: value(env, n) * value(env, m)),
        (f"{n}+{m}", lambda env: value(env, n) + value(env, m)),
        (f"{n}/2", lambda env: value(env, n) // 2),
        (f"({n}+1)/2", lambda env: (value(env, n) + 1) // 2),
        (f"{n}-1", lambda env: value(env, n) - 1),
        ("2", lambda _: 2),
        ("1", lambda _: 1),
    ]
    return draw(st.sampled_from(forms))


@st.composite
def by_size(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    """zeros, reshape and broadcast_to with named sizes."""
    if not scope.dims:
        return draw(direct(scope))
    given = draw(st.lists(sizes(scope), min_size=1, max_size=3))
    name, x = scope.fresh(), draw(st.sampled_from(scope.tensors))
    written = f"[{', '.join(code for code, _ in given)}]"

    def target(env: Env) -> Shape:
        found = tuple(size(env) for _, size in given)
        need_sizes(*found)
        return found

    choices: list[tuple[str, Callable[[Env], Value]]] = [
        (f"zeros({written})", target),
        (f"reshape({x}, {written})", lambda env: reshape(target(env))(shape_of(env[x]))),
        (f"broadcast_to({x}, {written})", lambda env: stretch(target(env))(shape_of(env[x]))),
    ]
    able = []
    for code, value in choices:
        try:
            value(scope.env)
        except Fails:
            continue
        able.append((code, value))
    if not able:
        return draw(direct(scope))
    code, value = draw(st.sampled_from(able))
    return [binding(name, code, value)]


Kind = Callable[[Scope], st.SearchStrategy[list[Piece]]]
KINDS: Sequence[Kind] = (
    [direct] * 6
    + [local_function, closure, higher_order, twice, nested]
    + [mapped, looped, folded, tuples, splits, by_size]
)


SIZES = st.sampled_from([0, 1, 1, 2, 2, 2, 3, 4, 4, 6])


@st.composite
def related_shapes(draw: st.DrawFn, count: int) -> tuple[Shape, ...]:
    """Shapes that have much to do with each other: ends of one, with ones in it; or turned."""
    base = tuple(draw(st.lists(SIZES, max_size=4)))
    found = []
    for _ in range(count):
        cut = draw(st.sampled_from([0, 0, 0, 1]))
        shape: Shape = tuple(draw(st.sampled_from([s, s, s, 1])) for s in base)[cut:]
        if len(shape) >= 2 and draw(st.integers(0, 3)) == 0:
            shape = transpose(shape)
        found.append(shape)
    return tuple(found)


@st.composite
def altered(draw: st.DrawFn, shapes: tuple[Shape, ...]) -> tuple[Shape, ...]:
    """Shapes near these: one size is another everywhere, or in one place; a dimension more."""
    kind = draw(st.integers(0, 3))
    which = draw(st.integers(0, len(shapes) - 1))
    shape = shapes[which]
    present = sorted({s for each in shapes for s in each})
    size = draw(SIZES)
    if kind == 0 and present:
        old = draw(st.sampled_from(present))
        return tuple(tuple(size if s == old else s for s in each) for each in shapes)
    if kind == 1 and shape:
        i = draw(st.integers(0, len(shape) - 1))
        shape = (*shape[:i], size, *shape[i + 1 :])
    elif kind == 2:
        return tuple((size, *each) for each in shapes)
    else:
        shape = shape[1:] if draw(st.booleans()) and shape else (size, *shape)
    return (*shapes[:which], shape, *shapes[which + 1 :])


@st.composite
def parameters(draw: st.DrawFn, shapes: tuple[Shape, ...]) -> list[Param]:
    dims: dict[str, int] = {}
    params = []
    for i, shape in enumerate(shapes):
        name, kind = f"x{i}", draw(st.integers(0, 3))
        if kind == 0:
            params.append(Param(name))
        elif kind == 1:
            params.append(Param(name, f" : f32 s{i}"))
        else:
            names: list[str] = []
            for j, size in enumerate(shape if kind == 2 else shape[:1]):
                known = [n for n, v in dims.items() if v == size]
                again = known and draw(st.integers(0, 2)) == 0
                names.append(draw(st.sampled_from(known)) if again else f"n{i}{j}")
                dims[names[-1]] = size
            rest = kind == 3
            tail = f"@s{i}" if rest else ""
            params.append(Param(name, f" : f32 [{','.join(names)}]{tail}", tuple(names), rest))
    return params


@st.composite
def programs(
    draw: st.DrawFn, most: int = 5, calls: int = 4, kinds: Sequence[Kind] = KINDS
) -> Program:
    """A program that runs on the first of its calls."""
    witness = draw(related_shapes(draw(st.integers(1, 3))))
    params = draw(parameters(witness))
    env: Env = dict(zip((p.name for p in params), witness, strict=True))
    dims: dict[str, int] = {}
    for param, shape in zip(params, witness, strict=True):
        param.take(shape, dims)
    env.update({name: (size,) for name, size in dims.items()})
    scope = Scope(env, tuple(dims))
    pieces: list[Piece] = []
    for _ in range(draw(st.integers(1, most))):
        for piece in draw(draw(st.sampled_from(kinds))(scope)):
            pieces.append(piece)
            scope.env.update(piece.run(scope.env))
    bound = [n for n in scope.env if n.startswith("v")]
    returned = tuple(bound) if draw(st.booleans()) else (bound[-1],)
    result = ", ".join(returned)
    others = [draw(altered(witness)) for _ in range(calls - 1)]
    return Program(tuple(params), tuple(pieces), result, returned, (witness, *others))
