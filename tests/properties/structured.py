"""Random programs with records, structures that operators go over row by row, parameters with
defaults and arguments by name: more kinds of pieces for the programs of `programs.py`.

A form is a structure with names of tensors as its leaves. What an operator gives that goes over a
structure is said leaf by leaf.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hypothesis import strategies as st

from tests.properties.programs import (
    KINDS,
    PLAIN,
    Env,
    Fields,
    Operation,
    Piece,
    Program,
    Scope,
    Several,
    Shape,
    Value,
    applications,
    applied,
    apply,
    binding,
    direct,
    need,
    programs,
    row,
    runs,
    same,
)


@dataclass(frozen=True, slots=True)
class Pair:
    """A tuple of forms; there are two at least."""

    items: tuple[Form, ...]


@dataclass(frozen=True, slots=True)
class Rec:
    """A record of forms, in the order in which they are written."""

    fields: tuple[tuple[str, Form], ...]


Form = str | Pair | Rec
NAMES = ("a", "b", "c", "d", "w", "layer", "x'", "n")


def code(form: Form) -> str:
    match form:
        case str():
            return form
        case Pair(items):
            return f"({', '.join(map(code, items))})"
        case Rec(fields):
            inside = ", ".join(f"{name} = {code(part)}" for name, part in fields)
            return f"{{ {inside} }}" if inside else "{}"


def leaves(form: Form) -> Iterator[str]:
    match form:
        case str():
            yield form
        case Pair(items):
            for item in items:
                yield from leaves(item)
        case Rec(fields):
            for _, part in fields:
                yield from leaves(part)


def filled(form: Form, leaf: Callable[[str], Shape]) -> Value:
    """The value of a form whose leaves are these."""
    match form:
        case str():
            return leaf(form)
        case Pair(items):
            return Several(tuple(filled(item, leaf) for item in items))
        case Rec(fields):
            return Fields(tuple(sorted((n, filled(part, leaf)) for n, part in fields)))


def renamed(form: Form, names: dict[str, str]) -> Form:
    match form:
        case str():
            return names[form]
        case Pair(items):
            return Pair(tuple(renamed(item, names) for item in items))
        case Rec(fields):
            return Rec(tuple((n, renamed(part, names)) for n, part in fields))


def tensor(env: Env, name: str) -> Shape:
    found = env[name]
    assert isinstance(found, tuple)
    return found


@st.composite
def forms(draw: st.DrawFn, names: list[str], depth: int = 2) -> Form:
    """A structure of these leaves, in this order."""
    kind = draw(st.integers(0, 5))
    if len(names) == 1 and (depth == 0 or kind < 2):
        return names[0]
    groups: list[list[str]] = [[names[0]]]
    for name in names[1:]:
        if depth > 0 and draw(st.integers(0, 3)) == 0:
            groups[-1].append(name)
        else:
            groups.append([name])
    parts = [draw(forms(group, depth - 1)) for group in groups]
    if kind == 0 and len(parts) > 1:
        return Pair(tuple(parts))
    if draw(st.integers(0, 7)) == 0:
        parts.append(Rec(()))
    fields = draw(st.permutations(NAMES))[: len(parts)]
    return Rec(tuple(zip(fields, parts, strict=True)))


@st.composite
def taken(
    draw: st.DrawFn, form: Form, name: str, scope: Scope, prefix: str = "e"
) -> tuple[str, dict[str, str]]:
    """Lines that give a name to each leaf of a structure, and these names."""
    match form:
        case str():
            return "", {form: name}
        case Pair(items):
            names = [scope.fresh(prefix) if isinstance(i, str) else scope.fresh("e") for i in items]
            lines, parts = f"{', '.join(names)} = {name};", list(items)
        case Rec(fields):
            parts = [part for _, part in fields]
            names = [scope.fresh(prefix) if isinstance(i, str) else scope.fresh("e") for i in parts]
            if draw(st.integers(0, 2)) == 0 and fields:
                lines = f"{{ {', '.join(n for n, _ in fields)} }} = {name};"
                lines += "".join(f" {e} = {n};" for e, (n, _) in zip(names, fields, strict=True))
            else:
                each = zip(names, fields, strict=True)
                lines = " ".join(f"{e} = {name}.{n};" for e, (n, _) in each)
    found: dict[str, str] = {}
    for part, each_name in zip(parts, names, strict=True):
        more, inner = draw(taken(part, each_name, scope, prefix))
        lines += f" {more}" if more else ""
        found |= inner
    return lines, found


@st.composite
def opened(draw: st.DrawFn, form: Form, name: str, scope: Scope) -> list[Piece]:
    """The leaves of a structure that has a name, for the lines after it."""
    if isinstance(form, str):
        return []
    lines, names = draw(taken(form, name, scope, "v"))

    def run(env: Env) -> Env:
        return dict(_leaf_values(form, env[name], names))

    return [Piece(lines, run)]


def _leaf_values(form: Form, value: Value, names: dict[str, str]) -> Iterator[tuple[str, Value]]:
    match form:
        case str():
            yield names[form], value
        case Pair(items):
            assert isinstance(value, Several)
            for item, part in zip(items, value.items, strict=True):
                yield from _leaf_values(item, part, names)
        case Rec(fields):
            assert isinstance(value, Fields)
            known = dict(value.fields)
            for name, inner in fields:
                yield from _leaf_values(inner, known[name], names)


def _distinct(names: list[str], scope: Scope) -> tuple[str, dict[str, str]]:
    """A leaf has a name of its own: one tensor may be in a structure twice."""
    own = {scope.fresh("e"): name for name in names}
    return " ".join(f"{e} = {name};" for e, name in own.items()), own


# --- records -------------------------------------------------------------------------------------


@st.composite
def made(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    """A structure with a name, taken apart again."""
    names = draw(st.lists(st.sampled_from(scope.tensors), min_size=1, max_size=3))
    lines, own = _distinct(names, scope)
    form = draw(forms(list(own)))
    name = scope.fresh()

    def run(env: Env) -> Env:
        return {name: filled(form, lambda leaf: tensor(env, own[leaf]))}

    whole = Piece(f"{lines} {name} = {code(form)};", run)
    return [whole, *draw(opened(form, name, scope))]


@st.composite
def open_helper(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    """h = fn (p) { … p.a … p.b … }; used at records with these fields and others."""
    operation, args = draw(applications(scope))
    function = scope.fresh("e")
    paths = draw(st.permutations(["p.a", "p.b", "p.c.a", "p.c.b"]))[: operation.arity]
    pieces = [Piece(f"{function} = fn (p) {{ {applied(operation, paths)} }};", lambda _: {})]
    uses = [args]
    other = [draw(st.sampled_from(scope.tensors)) for _ in args]
    if runs(operation, *(scope.env[a] for a in other)):
        uses.append(other)
    for use in uses:
        given = dict(zip(paths, use, strict=True))
        inner = ", ".join(f"{p[-1]} = {x}" for p, x in given.items() if p.startswith("p.c"))
        fields = [f"{p[-1]} = {x}" for p, x in given.items() if not p.startswith("p.c")]
        if inner:
            fields.append(f"c = {{ {inner} }}")
        if draw(st.booleans()):
            fields.append(f"z = {draw(st.sampled_from(scope.tensors))}")
        fields = draw(st.permutations(fields))
        text = f"{function}({{ {', '.join(fields)} }})"
        pieces.append(
            binding(scope.fresh(), text, lambda env, use=use: apply(operation, use, env))  # type: ignore[misc]
        )
    return pieces


@st.composite
def updated(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    """{ p | a = … }, in place or by a function that takes any record with that field."""
    operation, args = draw(applications(scope))
    other = draw(st.sampled_from(scope.tensors))
    record, name = scope.fresh("e"), scope.fresh()
    fields = draw(st.permutations([f"a = {args[0]}", f"b = {other}"]))
    head = f"{record} = {{ {', '.join(fields)} }};"
    if draw(st.booleans()):
        function = scope.fresh("e")
        new = f"{{ p | a = {applied(operation, ['p.a', *args[1:]])} }}"
        text = f"{head} {function} = fn (p) {{ {new} }}; {name} = {function}({record});"
    else:
        new = applied(operation, [f"{record}.a", *args[1:]])
        text = f"{head} {name} = {{ {record} | a = {new} }};"

    def run(env: Env) -> Env:
        return {name: Fields((("a", apply(operation, args, env)), ("b", env[other])))}

    form = Rec((("a", "leaf_a"), ("b", "leaf_b")))
    return [Piece(text, run), *draw(opened(form, name, scope))]


@st.composite
def function_field(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    """A function in a record, called there or by a function that takes the record."""
    operation, args = draw(applications(scope))
    record, name = scope.fresh("e"), scope.fresh()
    params = ["p", "q"][: operation.arity]
    given = f"fn ({', '.join(params)}) {{ {applied(operation, params)} }}"
    if operation.value is not None and operation.value.isalpha() and draw(st.booleans()):
        given = operation.value
    head = f"{record} = {{ f = {given}, k = {args[0]} }};"
    rest = "".join(f", {a}" for a in args[1:])
    if draw(st.booleans()):
        function = scope.fresh("e")
        more = "".join(f", {p}" for p in params[1:])
        text = (
            f"{function} = fn (o{more}) {{ o.f(o.k{more}) }}; {name} = {function}({record}{rest});"
        )
    else:
        text = f"{name} = {record}.f({record}.k{rest});"
    return [Piece(f"{head} {text}", lambda env: {name: apply(operation, args, env)})]


# --- parameters ----------------------------------------------------------------------------------


WAYS = ["{f}({x}, {y})", "{f}({x}, q={y})", "{f}(q={y}, p={x})"]


@st.composite
def defaults(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    """h = fn (p, q = …) { … }; with the default, by position, and by name."""
    operation, args = draw(applications(scope))
    if operation.arity == 1:
        operation, args = PLAIN, [args[0], draw(st.sampled_from(args))]
    function, first, second = scope.fresh("e"), scope.fresh(), scope.fresh()
    if draw(st.booleans()):
        head = f"{function} = fn (p, q, k = 2f) {{ {applied(operation, ['p', 'q'])}, (p + k) }};"
        how = draw(st.sampled_from([*WAYS, "{f}({x}, {y}, k=1f)", "{f}(k=3f, q={y}, p={x})"]))
        text = how.format(f=function, x=args[0], y=args[1])

        def both(env: Env) -> Env:
            return {first: apply(operation, args, env), second: env[args[0]]}

        return [Piece(f"{head} {first}, {second} = {text};", both)]
    head = f"{function} = fn (p, q = {args[1]}) {{ {applied(operation, ['p', 'q'])} }};"
    uses = [f"{function}({args[0]})", f"{function}(p={args[0]})",
            f"(fn (g) {{ g({args[0]}) }})({function})"]  # fmt: skip
    pieces = [
        Piece(head, lambda _: {}),
        binding(first, draw(st.sampled_from(uses)), lambda env: apply(operation, args, env)),
    ]
    other = draw(st.sampled_from(scope.tensors))
    if runs(operation, scope.env[args[0]], scope.env[other]):
        use = [args[0], other]
        how = draw(st.sampled_from(WAYS))
        text = how.format(f=function, x=args[0], y=other)
        pieces.append(binding(second, text, lambda env: apply(operation, use, env)))
    return pieces


# --- rows of structures --------------------------------------------------------------------------


@st.composite
def stacks(draw: st.DrawFn, scope: Scope, most: int = 3) -> list[str] | None:
    """Tensors with as many rows."""
    able = [n for n in scope.tensors if scope.env[n]]
    if not able:
        return None
    size = row(scope.env, draw(st.sampled_from(able)))[0]
    partners = [n for n in able if row(scope.env, n)[0] == size]
    return draw(st.lists(st.sampled_from(partners), min_size=1, max_size=most))


def rows(env: Env, own: dict[str, str], names: dict[str, str]) -> tuple[int, Env]:
    """How many rows the leaves have, and what one row of each is, by its name in the function."""
    found = {names[leaf]: row(env, own[leaf]) for leaf in own}
    many = {size for size, _ in found.values()}
    need(len(many) == 1)
    return many.pop(), {name: rest for name, (_, rest) in found.items()}


@dataclass(frozen=True, slots=True)
class Given:
    """A structure whose rows are passed: lines before it, its form, and its own leaves."""

    lines: str
    form: Form
    own: dict[str, str]


@st.composite
def given_rows(draw: st.DrawFn, scope: Scope) -> Given | None:
    names = draw(stacks(scope))
    if names is None:
        return None
    lines, own = _distinct(names, scope)
    return Given(lines, draw(forms(list(own))), own)


Outputs = tuple[str, Form, Callable[[Env], dict[str, Shape]]]


@st.composite
def outputs(draw: st.DrawFn, inner: Scope, among: tuple[str, ...]) -> Outputs:
    """What a function gives: lines, a form, and the shapes of its leaves."""
    made = [
        (inner.fresh("e"), *draw(applications(inner, among)))
        for _ in range(draw(st.integers(1, 2)))
    ]
    lines = " ".join(f"{name} = {applied(op, args)};" for name, op, args in made)
    form = draw(forms([name for name, _, _ in made]))

    def shapes(env: Env) -> dict[str, Shape]:
        return {name: apply(op, args, env) for name, op, args in made}

    return lines, form, shapes


@st.composite
def passed(draw: st.DrawFn, scope: Scope, function: str, operator: str) -> tuple[str, str]:
    """Lines that give a function a name, or none, and how it is written then; `operator` may be
    called by a function that knows nothing of the structure.
    """
    lines = ""
    if draw(st.integers(0, 3)) == 0:
        name = scope.fresh("e")
        lines, function = f"{name} = {function};", name
    if draw(st.integers(0, 2)) == 0:
        through = scope.fresh("e")
        params = "f, x" if operator == "map" else "s, f, x"
        lines += f" {through} = fn ({params}) {{ {operator}({params}) }};"
        operator = through
    return lines, f"{operator}({{before}}{function}, {{x}})"


@st.composite
def mapped_structure(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    given = draw(given_rows(scope))
    if given is None:
        return draw(direct(scope))
    lines, names = draw(taken(given.form, "p", scope))
    _, inside = rows(scope.env, given.own, names)
    inner = Scope({**scope.env, **inside}, scope.dims, scope.count)
    more, form, shapes = draw(outputs(inner, tuple(inside)))
    name = scope.fresh()

    def run(env: Env) -> Env:
        many, below = rows(env, given.own, names)
        found = shapes({**env, **below})
        return {name: filled(form, lambda leaf: (many, *found[leaf]))}

    function = f"fn (p) {{ {lines} {more} {code(form)} }}"
    before, how = draw(passed(scope, function, "map"))
    text = how.replace("{before}", "").replace("{x}", code(given.form))
    whole = Piece(f"{given.lines} {before} {name} = {text};", run)
    return [whole, *draw(opened(form, name, scope))]


@dataclass(frozen=True, slots=True)
class Step:
    """A state: lines before it, its form, lines that take it apart and change it, the next one."""

    lines: str
    form: Form
    own: dict[str, str]
    body: str
    next: Form
    check: Callable[[Env], None]
    names: dict[str, str]


@st.composite
def steps(draw: st.DrawFn, scope: Scope, inside: Env) -> Step:
    """A state of which every leaf keeps its shape."""
    chosen = draw(st.lists(st.sampled_from(scope.tensors), min_size=1, max_size=2))
    lines, own = _distinct(chosen, scope)
    form = draw(forms(list(own)))
    body, names = draw(taken(form, "s", scope))
    here = {names[leaf]: scope.env[name] for leaf, name in own.items()}
    inner = Scope({**scope.env, **inside, **here}, scope.dims, scope.count)
    changes: dict[str, tuple[Operation, list[str]]] = {}
    after: dict[str, str] = {}
    for leaf in own:
        operation, args = draw(applications(inner, (names[leaf],)))
        if apply(operation, args, inner.env) != inner.env[names[leaf]]:
            operation, args = PLAIN, [names[leaf]] * 2
        changes[leaf] = operation, args
        after[leaf] = scope.fresh("e")
        body += f" {after[leaf]} = {applied(operation, args)};"

    def check(env: Env) -> None:
        for leaf, (operation, args) in changes.items():
            same(apply(operation, args, env), tensor(env, names[leaf]))

    return Step(lines, form, own, body, renamed(form, after), check, names)


def state_of(step: Step, env: Env) -> tuple[Value, Env]:
    value = filled(step.form, lambda leaf: tensor(env, step.own[leaf]))
    return value, {step.names[leaf]: env[name] for leaf, name in step.own.items()}


@st.composite
def folded_structure(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    given = draw(given_rows(scope))
    if given is None:
        return draw(direct(scope))
    lines, names = draw(taken(given.form, "p", scope))
    _, inside = rows(scope.env, given.own, names)
    step = draw(steps(scope, inside))
    name = scope.fresh()

    def run(env: Env) -> Env:
        _, below = rows(env, given.own, names)
        state, here = state_of(step, env)
        step.check({**env, **below, **here})
        return {name: state}

    function = f"fn (s, p) {{ {lines} {step.body} {code(step.next)} }}"
    before, how = draw(passed(scope, function, "fold"))
    text = how.replace("{before}", f"{code(step.form)}, ").replace("{x}", code(given.form))
    whole = Piece(f"{given.lines} {step.lines} {before} {name} = {text};", run)
    return [whole, *draw(opened(step.form, name, scope))]


@st.composite
def looped_structure(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    given = draw(given_rows(scope))
    if given is None:
        return draw(direct(scope))
    lines, names = draw(taken(given.form, "p", scope))
    _, inside = rows(scope.env, given.own, names)
    step = draw(steps(scope, inside))
    _, here = state_of(step, scope.env)
    inner = Scope({**scope.env, **inside, **here}, scope.dims, scope.count)
    more, form, shapes = draw(outputs(inner, (*inside, *here)))
    last, made_rows = scope.fresh(), scope.fresh()

    def run(env: Env) -> Env:
        many, below = rows(env, given.own, names)
        state, here = state_of(step, env)
        all_ = {**env, **below, **here}
        step.check(all_)
        found = shapes(all_)
        return {last: state, made_rows: filled(form, lambda leaf: (many, *found[leaf]))}

    function = f"fn (s, p) {{ {lines} {step.body} {more} {code(step.next)}, {code(form)} }}"
    before, how = draw(passed(scope, function, "loop"))
    text = how.replace("{before}", f"{code(step.form)}, ").replace("{x}", code(given.form))
    whole = Piece(f"{given.lines} {step.lines} {before} {last}, {made_rows} = {text};", run)
    return [whole, *draw(opened(step.form, last, scope)), *draw(opened(form, made_rows, scope))]


@st.composite
def scanned_structure(draw: st.DrawFn, scope: Scope) -> list[Piece]:
    """The first state has the form of one row."""
    given = draw(given_rows(scope))
    if given is None or isinstance(given.form, str):
        return draw(direct(scope))
    before, one = draw(taken(given.form, "p", scope))
    after, two = draw(taken(given.form, "q", scope))
    how = {leaf: draw(st.sampled_from(["({} + {})", "max({}, {})", "({} * {})"])) for leaf in one}
    result = renamed(given.form, {leaf: how[leaf].format(one[leaf], two[leaf]) for leaf in one})
    start = renamed(given.form, {leaf: f"sum({leaf}, axis=0)" for leaf in one})
    name = scope.fresh()

    def run(env: Env) -> Env:
        rows(env, given.own, one)
        return {name: filled(given.form, lambda leaf: tensor(env, given.own[leaf]))}

    function = f"fn (p, q) {{ {before} {after} {code(result)} }}"
    text = f"scan({function}, {code(start)}, {code(given.form)})"
    whole = Piece(f"{given.lines} {name} = {text};", run)
    return [whole, *draw(opened(given.form, name, scope))]


STRUCTURED = [
    made,
    open_helper,
    updated,
    function_field,
    defaults,
    mapped_structure,
    mapped_structure,
    folded_structure,
    looped_structure,
    scanned_structure,
]


def structured_programs(most: int = 5, calls: int = 4) -> st.SearchStrategy[Program]:
    """Programs of all kinds of pieces."""
    return programs(most, calls, (*KINDS, *STRUCTURED))


def programs_of_structures(most: int = 3, calls: int = 4) -> st.SearchStrategy[Program]:
    """Programs with nothing else."""
    return programs(most, calls, (direct, *STRUCTURED))
