"""Random systems of constraints, what they mean, and all their solutions in a small domain.

A system is written in its own small syntax (`Expr`, `Word`, `Rel`), whose meaning is plain Python
on integers and tuples: the solver's normal forms take no part in deciding what is a solution.
`World.post` translates it for the solver.

What "in the domain" can show. A solution found there is a solution, so a conflict is then wrong,
and so is a binding that it contradicts. An assignment found there that satisfies everything in the
store but not the system shows that something was forgotten. That nothing is found there shows
nothing, and no test concludes anything from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from math import prod
from typing import Any

from hypothesis import strategies as st

from axon.solver.rules import new_store
from axon.solver.store import Store
from axon.types import dim as dims
from axon.types.dim import Dim, FloorDiv, Max, Min, Size
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimBroadcast,
    DimEq,
    HasRank,
    Relation,
    RowOf,
    Shape,
    ShapeEq,
    Uniform,
    relation_variables,
    shape_variables,
)
from axon.types.variables import DimVar, ShapeVar

# --- the syntax of systems ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Op:
    """An operation on dimensions: one of + - * // min max."""

    name: str
    left: Expr
    right: Expr

    def __repr__(self) -> str:
        if self.name in ("min", "max"):
            return f"{self.name}({self.left}, {self.right})"
        return f"({self.left}{self.name}{self.right})"


@dataclass(frozen=True, slots=True)
class Name:
    """A dimension variable."""

    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Var:
    """A shape variable."""

    text: str

    def __repr__(self) -> str:
        return self.text.upper()


Expr = int | Name | Op
Word = tuple[Expr | Var, ...]
Value = int | tuple[int, ...]
Assignment = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Dims:
    """left = right, between dimensions."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Words:
    """left = right, between shapes."""

    left: Word
    right: Word


@dataclass(frozen=True, slots=True)
class WordCast:
    result: Word
    parts: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class DimCast:
    result: Expr
    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class NotNegative:
    expr: Expr


Rel = Dims | Words | WordCast | DimCast | NotNegative


@dataclass(frozen=True, slots=True)
class System:
    """Relations over dimension and shape variables, and the domain to look for solutions in."""

    dim_names: tuple[str, ...]
    shape_names: tuple[str, ...]
    relations: tuple[Rel, ...]
    sizes: tuple[int, ...] = (0, 1, 2, 3, 4)
    word_sizes: tuple[int, ...] = (0, 1, 2)
    word_length: int = 2

    @property
    def names(self) -> tuple[str, ...]:
        return self.dim_names + self.shape_names

    def domains(self) -> list[list[Value]]:
        words: list[Value] = [
            w for n in range(self.word_length + 1) for w in product(self.word_sizes, repeat=n)
        ]
        sizes: list[Value] = [*self.sizes]
        return [sizes] * len(self.dim_names) + [words] * len(self.shape_names)

    def __repr__(self) -> str:
        return "System(" + "; ".join(map(repr, self.relations)) + ")"


# --- what it means --------------------------------------------------------------------------------


def broadcast(*parts: tuple[int, ...]) -> tuple[int, ...] | None:
    """NumPy's rule, written again: align on the right, in each place 1 gives way."""
    length = max((len(p) for p in parts), default=0)
    result: list[int] = []
    for i in range(-length, 0):
        size = broadcast_sizes(*(p[i] for p in parts if len(p) >= -i))
        if size is None:
            return None
        result.append(size)
    return tuple(result)


def broadcast_sizes(*sizes: int) -> int | None:
    others = {s for s in sizes if s != 1}
    if len(others) > 1:
        return None
    return others.pop() if others else 1


def _expr(expr: Expr) -> str:
    match expr:
        case int():
            return f"({expr})"
        case Name(text):
            return text
        case Op("min" | "max" as name, left, right):
            return f"{name}({_expr(left)},{_expr(right)})"
        case Op(name, left, right):
            return f"({_expr(left)}{name}{_expr(right)})"


def _word(word: Word) -> str:
    return "+".join(["()", *(i.text if isinstance(i, Var) else f"({_expr(i)},)" for i in word)])


def _sizes_of(word: Word) -> list[str]:
    """Computed sizes in shapes are sizes; inference posts these conditions with the shape."""
    return [f"{_expr(i)}>=0" for i in word if isinstance(i, Op)]


def meaning(rel: Rel) -> str:
    """The relation as a Python condition on its variables."""
    match rel:
        case Dims(left, right):
            return f"{_expr(left)}=={_expr(right)}"
        case NotNegative(expr):
            return f"{_expr(expr)}>=0"
        case DimCast(result, parts):
            return f"{_expr(result)}==cast1({','.join(_expr(p) for p in parts)})"
        case Words(a, b):
            return " and ".join([*_sizes_of(a), *_sizes_of(b), f"{_word(a)}=={_word(b)}"])
        case WordCast(word, word_parts):
            positive = [c for w in (word, *word_parts) for c in _sizes_of(w)]
            call = f"cast({','.join(_word(p) for p in word_parts)})"
            return " and ".join([*positive, f"{_word(word)}=={call}"])


_GLOBALS: dict[str, object] = {"cast": broadcast, "cast1": broadcast_sizes, "prod": prod}


def _searcher(names: tuple[str, ...], conditions: Iterable[str]) -> Callable[[list[Any]], Any]:
    """A function that goes through a product of domains for what satisfies the conditions."""
    test = " and ".join(f"({c})" for c in conditions) or "True"
    unpack = f"({''.join(n + ',' for n in names)})"
    code = f"lambda domains: [{unpack} for {unpack} in product(*domains) if {test}]"
    if not names:
        code = f"lambda domains: [()] if {test} else []"
    found: Callable[[list[Any]], Any] = eval(code, {**_GLOBALS, "product": product})
    return found


def holds(rel: Rel, values: Assignment) -> bool:
    """Whether a relation is true of these values."""
    return bool(eval(meaning(rel), _GLOBALS, dict(values)))


def solutions(system: System) -> list[tuple[Value, ...]]:
    """Every solution in the domain, as values of `system.names`."""
    conditions = [meaning(rel) for rel in system.relations]
    found: list[tuple[Value, ...]] = _searcher(system.names, conditions)(system.domains())
    return found


# --- the same for the solver ----------------------------------------------------------------------


@dataclass(slots=True)
class World:
    """The variables of a system for the solver; the same for all orders in which it is posted."""

    system: System
    dim_vars: dict[str, DimVar] = field(default_factory=dict)
    shape_vars: dict[str, ShapeVar] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.dim_vars = {n: DimVar(n) for n in self.system.dim_names}
        self.shape_vars = {n: ShapeVar(n) for n in self.system.shape_names}

    def dim(self, expr: Expr) -> Dim:
        match expr:
            case int():
                return expr
            case Name(text):
                return self.dim_vars[text]
            case Op(name, left, right):
                return OPERATIONS[name](self.dim(left), self.dim(right))

    def word(self, word: Word) -> Shape:
        return tuple(self.shape_vars[i.text] if isinstance(i, Var) else self.dim(i) for i in word)

    def relations(self, rel: Rel) -> list[Relation]:
        match rel:
            case Dims(left, right):
                return [DimEq(self.dim(left), self.dim(right))]
            case NotNegative(expr):
                return [AtLeast(self.dim(expr), silent=False)]
            case DimCast(result, parts):
                return [DimBroadcast(self.dim(result), tuple(self.dim(p) for p in parts))]
            case Words(a, b):
                first, second = self.word(a), self.word(b)
                return [ShapeEq(first, second), *_sizes(first, second)]
            case WordCast(word, word_parts):
                made, shapes = self.word(word), [self.word(p) for p in word_parts]
                return [Broadcast(made, tuple(shapes)), *_sizes(made, *shapes)]

    def post(self, relations: Iterable[Rel] | None = None) -> Store:
        """A store with the system, or with the given form of it."""
        store = new_store(levels=False)
        for rel in self.system.relations if relations is None else relations:
            for relation in self.relations(rel):
                store.post(relation)
        return store


OPERATIONS: dict[str, Callable[[Dim, Dim], Dim]] = {
    "+": dims.add,
    "-": dims.sub,
    "*": dims.mul,
    "//": dims.floordiv,
    "min": dims.minimum,
    "max": dims.maximum,
}


def _sizes(*words: Shape) -> list[Relation]:
    return [
        AtLeast(item, silent=True)
        for word in words
        for item in word
        if not isinstance(item, ShapeVar) and not dims.is_nonnegative(item)
    ]


# --- what a store says ----------------------------------------------------------------------------


class Reading:
    """A store as Python conditions: bindings as they are read from outside, and what waits."""

    def __init__(self, world: World, store: Store) -> None:
        self.world = world
        self.names: dict[DimVar | ShapeVar, str] = {}
        self.names.update({var: name for name, var in world.dim_vars.items()})
        self.names.update({var: name for name, var in world.shape_vars.items()})
        self.fresh: dict[str, DimVar | ShapeVar] = {}
        self.conditions: list[tuple[str, set[str]]] = []
        for name, var in world.dim_vars.items():
            self._add({name}, f"{name}=={self.dim(store.dim(var))}", dims.variables(store.dim(var)))
        for name, shape_var in world.shape_vars.items():
            word = store.word((shape_var,))
            self._add({name}, f"{name}=={self.shape(word)}", shape_variables(word))
        for constraint in store.waiting:
            text = self.relation(constraint.relation)
            if text is not None:
                self._add(set(), text, relation_variables(constraint.relation))
        todo = list(self.fresh.values())
        while todo:  # what the solver named on the way: it may be bound, too
            fresh = todo.pop()
            before = set(self.fresh)
            name = self.name(fresh)
            if isinstance(fresh, DimVar):
                value = store.dim(fresh)
                self._add({name}, f"{name}=={self.dim(value)}", dims.variables(value))
                self._add({name}, f"{name}>=0", ())
            else:
                word = store.word((fresh,))
                self._add({name}, f"{name}=={self.shape(word)}", shape_variables(word))
            todo.extend(self.fresh[n] for n in self.fresh if n not in before)
        self._codes = [
            (compile(text, "", "eval"), names)
            for text, names in self.conditions
            if names & self.fresh.keys()
        ]

    def _add(self, names: set[str], text: str, variables: Iterable[DimVar | ShapeVar]) -> None:
        self.conditions.append((text, names | {self.name(v) for v in variables}))

    def name(self, var: DimVar | ShapeVar) -> str:
        """The name of a variable; of its shape, if it is a rank."""
        if isinstance(var, DimVar) and var.rank_of is not None:
            return self.name(var.rank_of)
        if var not in self.names:
            self.names[var] = f"_{var.id}"
            self.fresh[f"_{var.id}"] = var
        return self.names[var]

    def dim(self, dim: Dim) -> str:
        if isinstance(dim, int):
            return f"({dim})"
        if isinstance(dim, DimVar):
            return self._atom(dim)
        terms = ("*".join([f"({c})", *map(self._atom, m)]) for m, c in dim.terms.items())
        return f"({'+'.join(terms)})"

    def _atom(self, atom: dims.Atom) -> str:
        match atom:
            case DimVar():
                name = self.name(atom)
                return name if atom.rank_of is None else f"len({name})"
            case FloorDiv(args=(top, bottom)):
                return f"({self.dim(top)}//{self.dim(bottom)})"
            case Min(args=parts):
                return f"min({','.join(map(self.dim, parts))})"
            case Max(args=parts):
                return f"max({','.join(map(self.dim, parts))})"
            case Size(args=(shape,)):
                return f"prod({self.name(shape)})"
            case dims.Vast():
                raise AssertionError("nothing here grows out of hand")

    def shape(self, word: Shape) -> str:
        items = (self.name(i) if isinstance(i, ShapeVar) else f"({self.dim(i)},)" for i in word)
        return "+".join(["()", *items])

    def relation(self, relation: Relation) -> str | None:
        match relation:
            case ShapeEq(left, right):
                return f"{self.shape(left)}=={self.shape(right)}"
            case DimEq(a, b):
                return f"{self.dim(a)}=={self.dim(b)}"
            case Broadcast(result, parts):
                return f"{self.shape(result)}==cast({','.join(map(self.shape, parts))})"
            case DimBroadcast(dim, dim_parts):
                return f"{self.dim(dim)}==cast1({','.join(map(self.dim, dim_parts))})"
            case AtLeast(dim, _):
                return f"{self.dim(dim)}>=0"
            case Uniform() | RowOf() | HasRank():
                return None

    # --- search ---

    def candidates(self) -> list[tuple[Value, ...]]:
        """The assignments in the domain that satisfy what mentions the system's variables only."""
        system = self.world.system
        own = [text for text, names in self.conditions if not names & self.fresh.keys()]
        found: list[tuple[Value, ...]] = _searcher(system.names, own)(system.domains())
        return found

    def extends(self, values: tuple[Value, ...]) -> bool:
        """Whether for a candidate the solver's own variables can be chosen so that all holds.

        Its own dimensions are places of shapes, or of results of broadcasts; its own shapes are
        pieces of such. So it is enough to look there.
        """
        system = self.world.system
        scope: dict[str, object] = dict(zip(system.names, values, strict=True))
        known: set[str] = set(system.names)
        words = {v for v in values if isinstance(v, tuple)}
        for rel in system.relations:
            if isinstance(rel, WordCast):
                words.add(eval(_word(rel.result), _GLOBALS, scope))
        pieces = {w[i:j] for w in words for i in range(len(w) + 1) for j in range(i, len(w) + 1)}
        sizes = {size for word in words for size in word} | {0, 1}

        def search(pending: list[tuple[Any, set[str]]]) -> bool:
            ready = [code for code, names in pending if names <= known]
            if not all(eval(code, _GLOBALS, scope) for code in ready):
                return False
            pending = [item for item in pending if not item[1] <= known]
            if not pending:
                return True
            name = min((n for _, ns in pending for n in ns - known), key=self._rarity)
            known.add(name)
            domain = pieces if isinstance(self.fresh[name], ShapeVar) else sizes
            for value in sorted(domain):
                scope[name] = value
                if search(pending):
                    return True
            known.discard(name)
            del scope[name]
            return False

        return search(self._codes)

    def _rarity(self, name: str) -> tuple[bool, str]:
        return isinstance(self.fresh[name], ShapeVar), name


# --- strategies -----------------------------------------------------------------------------------


@cache
def expressions(names: tuple[str, ...], linear: bool = False) -> st.SearchStrategy[Expr]:
    """Mostly small ones; products and divisions less often."""
    variable: st.SearchStrategy[Expr] = st.sampled_from([Name(n) for n in names])
    constant: st.SearchStrategy[Expr] = st.integers(0, 4)
    leaf = variable | variable | constant
    plus_minus = st.sampled_from(["+", "+", "-"])
    forms: list[st.SearchStrategy[Expr]] = [
        leaf,
        leaf,
        st.builds(Op, plus_minus, variable, leaf),
        st.builds(Op, st.just("*"), st.integers(2, 3), variable),
        st.builds(Op, plus_minus, st.builds(Op, st.just("*"), st.integers(2, 3), variable), leaf),
    ]
    if not linear:
        forms += [
            st.builds(Op, st.just("*"), variable, variable),
            st.builds(Op, st.just("//"), variable, st.integers(2, 3)),
            st.builds(
                Op,
                st.just("//"),
                st.builds(Op, plus_minus, variable, leaf),
                st.integers(2, 3),
            ),
            st.builds(Op, st.sampled_from(["min", "max"]), variable, leaf),
        ]
    small = st.one_of(forms)
    return small | st.builds(Op, st.sampled_from(["+", "-"]), small, small) if linear else small


@cache
def words(
    dim_names: tuple[str, ...], shape_names: tuple[str, ...], linear: bool = False, most: int = 3
) -> st.SearchStrategy[Word]:
    item: st.SearchStrategy[Expr | Var] = expressions(dim_names, linear)
    plain: st.SearchStrategy[Expr | Var] = st.sampled_from([Name(n) for n in dim_names])
    items = [plain, plain, item]
    if shape_names:
        items += [st.sampled_from([Var(n) for n in shape_names])] * 2
    found: st.SearchStrategy[Word] = st.lists(st.one_of(items), max_size=most).map(tuple)
    return found


@cache
def relations(
    dim_names: tuple[str, ...],
    shape_names: tuple[str, ...],
    linear: bool = False,
    casts: bool = True,
) -> st.SearchStrategy[Rel]:
    expr = expressions(dim_names, linear)
    word = words(dim_names, shape_names, linear)
    forms: list[st.SearchStrategy[Rel]] = [st.builds(Dims, expr, expr)]
    if casts:
        forms += [
            st.builds(DimCast, expr, st.lists(expr, min_size=1, max_size=3).map(tuple)),
            st.builds(NotNegative, expr),
        ]
    if shape_names:
        forms += [st.builds(Words, word, word)] * 2
    if shape_names and casts:
        parts = st.lists(word, min_size=1, max_size=3).map(tuple)
        forms.append(st.builds(WordCast, word, parts))
    return st.one_of(forms)


def evaluate(expr: Expr, values: Assignment) -> int:
    found: int = eval(_expr(expr), dict(_GLOBALS), dict(values))
    return found


def evaluate_word(word: Word, values: Assignment) -> tuple[int, ...]:
    found: tuple[int, ...] = eval(_word(word), dict(_GLOBALS), dict(values))
    return found


@st.composite
def patterns(draw: st.DrawFn, target: tuple[int, ...], values: Assignment, linear: bool) -> Word:
    """A word that reads as the target under the values."""
    word: list[Expr | Var] = []
    at = 0
    while at < len(target) or (len(word) < 4 and draw(st.integers(0, 3)) == 0):
        fits: list[tuple[str, tuple[int, ...]]] = [
            (n, v)
            for n, v in values.items()
            if isinstance(v, tuple) and target[at : at + len(v)] == v
        ]
        if at >= len(target):
            fits = [f for f in fits if not f[1]]
            if not fits:
                break
        if len(fits) > 0 and draw(st.booleans()):
            name, taken = draw(st.sampled_from(fits))
            if taken or len(word) < 4:
                word.append(Var(name))
                at += len(taken)
                continue
        if at < len(target):
            word.append(draw(sized(target[at], values, linear)))
            at += 1
    return tuple(word)


@st.composite
def sized(draw: st.DrawFn, target: int, values: Assignment, linear: bool) -> Expr:
    """An expression that has this value under the values."""
    names = tuple(n for n, v in values.items() if isinstance(v, int))
    same: list[Expr] = [Name(n) for n in names if values[n] == target]
    choice = draw(st.integers(0, 5))
    if same and choice <= 3:
        return draw(st.sampled_from(same))
    if choice == 4 or not names:
        return target
    expr = draw(expressions(names, linear))
    off = target - evaluate(expr, values)
    return expr if off == 0 else Op("+" if off > 0 else "-", expr, abs(off))


@st.composite
def planted_relations(
    draw: st.DrawFn, values: Assignment, linear: bool = False, casts: bool = True
) -> Rel:
    """A relation that the values satisfy."""
    dim_names = tuple(n for n, v in values.items() if isinstance(v, int))
    shape_names = tuple(n for n, v in values.items() if isinstance(v, tuple))
    kinds = ["dims", "dims"]
    kinds += ["dim cast", "not negative"] if casts else []
    kinds += ["words", "words"] if shape_names else []
    kinds += ["word cast"] if shape_names and casts else []
    expr = expressions(dim_names, linear)
    word = words(dim_names, shape_names, linear)
    match draw(st.sampled_from(kinds)):
        case "dims":
            left = draw(expr)
            return Dims(left, draw(sized(evaluate(left, values), values, linear)))
        case "dim cast":
            size = draw(st.integers(0, 3))
            sizes = draw(st.lists(st.sampled_from([size, size, 1]), min_size=1, max_size=3))
            made = broadcast_sizes(*sizes)
            assert made is not None
            return DimCast(
                draw(sized(made, values, linear)),
                tuple(draw(sized(v, values, linear)) for v in sizes),
            )
        case "not negative":
            left = draw(expr)
            value = evaluate(left, values)
            return NotNegative(left if value >= 0 else Op("+", left, -value))
        case "words":
            start = _nonnegative(draw(word), values)
            return Words(start, draw(patterns(evaluate_word(start, values), values, linear)))
        case _:
            full = evaluate_word(_nonnegative(draw(word), values), values)
            targets = []
            for _ in range(draw(st.integers(1, 3))):
                cut = draw(st.integers(0, len(full)))
                targets.append(tuple(draw(st.sampled_from([s, s, 1])) for s in full[cut:]))
            result = broadcast(*targets)
            assert result is not None
            return WordCast(
                draw(patterns(result, values, linear)),
                tuple(draw(patterns(t, values, linear)) for t in targets),
            )


def _nonnegative(word: Word, values: Assignment) -> Word:
    """The word without the sizes that are below zero under the values."""
    return tuple(i for i in word if isinstance(i, Var) or evaluate(i, values) >= 0)


DIM_NAMES = ("k", "m", "n")
SHAPE_NAMES = ("p", "s")


@st.composite
def systems(
    draw: st.DrawFn,
    shapes: bool = True,
    linear: bool = False,
    casts: bool = True,
    most: int = 5,
) -> System:
    """Half of them have a solution in the domain by construction.

    `linear` leaves products, divisions, min and max out, `casts` off leaves only equations.
    """
    dim_names = DIM_NAMES[: draw(st.integers(1, 3 if not shapes else 2))]
    shape_names = SHAPE_NAMES[: draw(st.integers(1, 2))] if shapes else ()
    system = System(dim_names, shape_names, ())
    if draw(st.booleans()):
        form = relations(dim_names, shape_names, linear, casts)
    else:
        values = dict(
            zip(system.names, (draw(st.sampled_from(d)) for d in system.domains()), strict=True)
        )
        form = planted_relations(values, linear, casts)
    found = draw(st.lists(form, min_size=1, max_size=most))
    longest = 3 if len(shape_names) == 1 else 2
    return System(dim_names, shape_names, tuple(found), word_length=longest)


def turned(system: System) -> st.SearchStrategy[tuple[System, tuple[Rel, ...]]]:
    """The system, and the same in another order, equations turned, parts of broadcasts mixed."""

    @st.composite
    def form(draw: st.DrawFn) -> tuple[System, tuple[Rel, ...]]:
        found: list[Rel] = []
        for rel in draw(st.permutations(system.relations)):
            turn = draw(st.booleans())
            match rel:
                case Dims(a, b) if turn:
                    found.append(Dims(b, a))
                case Words(left, right) if turn:
                    found.append(Words(right, left))
                case WordCast(word, word_parts) if turn:
                    found.append(WordCast(word, tuple(draw(st.permutations(word_parts)))))
                case DimCast(dim, parts) if turn:
                    found.append(DimCast(dim, tuple(draw(st.permutations(parts)))))
                case _:
                    found.append(rel)
        return system, tuple(found)

    return form()
