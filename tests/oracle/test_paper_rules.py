"""Our solver is at least as strong as the paper's rules, and does not share their weaknesses."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from axon.solver.rules import new_store
from axon.solver.store import Store
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import AtLeast, DimEq, Shape, ShapeEq
from axon.types.variables import DimVar, ShapeVar
from tests.oracle.paper_rules import (
    Equation,
    Result,
    Term,
    is_append,
    is_list,
    is_shape,
    parts,
    solve,
    variables,
)

MANY = settings(
    max_examples=400,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)

# --- the same system for our solver ---------------------------------------------------------------


class Ours:
    def __init__(self, equations: list[Equation]) -> None:
        self.dims: dict[str, DimVar] = {}
        self.shapes: dict[str, ShapeVar] = {}
        self.store: Store = new_store()
        for left, right in equations:
            if is_shape(left) or is_shape(right):
                for side in (left, right):
                    self._sizes(self.shape(side))
                self.store.post(ShapeEq(self.shape(left), self.shape(right)))
            else:
                self.store.post(DimEq(self.dim(left), self.dim(right)))

    def _sizes(self, shape: Shape) -> None:
        for item in shape:
            if not isinstance(item, ShapeVar) and not dims.is_nonnegative(item):
                self.store.post(AtLeast(item, silent=True))

    def dim(self, term: Term) -> Dim:
        if isinstance(term, int):
            return term
        if isinstance(term, str):
            return self.dims.setdefault(term, DimVar(term))
        head, left, right = term
        make = {"+": dims.add, "-": dims.sub, "*": dims.mul, "/": dims.floordiv}[str(head)]
        return make(self.dim(left), self.dim(right))

    def shape(self, term: Term) -> Shape:
        if isinstance(term, str):
            return (self.shapes.setdefault(term, ShapeVar(term)),)
        if is_append(term):
            return tuple(item for part in parts(term) for item in self.shape(part))
        return tuple(self.dim(part) for part in parts(term))

    def equal(self, left: Term, right: Term) -> bool:
        """Whether the store knows that two terms are equal."""
        if is_shape(left) or is_shape(right):
            return self.store.word(self.shape(left)) == self.store.word(self.shape(right))
        return self.store.dim(self.dim(left)) == self.store.dim(self.dim(right))


# --- what a system means --------------------------------------------------------------------------


Value = int | tuple[int, ...]


def value(term: Term, at: dict[str, Value]) -> Value | None:
    """None where a size would be negative, or something is divided by zero."""
    if isinstance(term, int):
        return term
    if isinstance(term, str):
        return at[term]
    found = [value(part, at) for part in parts(term)]
    if any(f is None for f in found):
        return None
    if is_append(term):
        return tuple(size for f in found if isinstance(f, tuple) for size in f)
    sizes = [f for f in found if isinstance(f, int)]
    if is_list(term):
        return tuple(sizes) if all(s >= 0 for s in sizes) else None
    a, b = sizes
    match term[0]:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case _:
            return a // b if b else None


def satisfiable(equations: list[Equation], substitution: dict[str, Term]) -> bool:
    """Whether the substitution, at some values of what it leaves open, satisfies the system."""
    names = sorted({n for e in equations for side in e for n in variables(side)})
    free = [n for n in names if n not in substitution]
    domains: list[list[Value]] = [
        [(), (0,), (1,), (2, 3)] if n.isupper() else [0, 1, 2, 3, 7] for n in free
    ]
    for chosen in product(*domains):
        at: dict[str, Value] = dict(zip(free, chosen, strict=True))
        for name, term in substitution.items():
            found = value(term, {**dict.fromkeys(names, 0), **at})
            if found is None or (isinstance(found, int) and found < 0):
                break
            at[name] = found
        else:
            if all((v := value(a, at)) is not None and v == value(b, at) for a, b in equations):
                return True
    return False


# --- at least as strong ---------------------------------------------------------------------------

DIM_NAMES = ("a", "b", "c", "d")
SHAPE_NAMES = ("P", "S")


def dimensions() -> st.SearchStrategy[Term]:
    leaf: st.SearchStrategy[Term] = st.sampled_from(DIM_NAMES) | st.integers(0, 6)
    name: st.SearchStrategy[Term] = st.sampled_from(DIM_NAMES)
    once: st.SearchStrategy[Term] = st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*"]), name, leaf),
        st.tuples(st.just("/"), name, st.integers(1, 4)),
    )
    twice: st.SearchStrategy[Term] = st.one_of(
        st.tuples(st.sampled_from(["+", "-", "*"]), once, leaf),
        st.tuples(st.sampled_from(["+", "-"]), once, once),
    )
    return st.one_of(name, name, leaf, once, twice)


def literal(most: int = 3) -> st.SearchStrategy[Term]:
    items = st.lists(dimensions(), max_size=most)
    return items.map(lambda found: ("[]", *found))


def shapes() -> st.SearchStrategy[Term]:
    name: st.SearchStrategy[Term] = st.sampled_from(SHAPE_NAMES)
    append: st.SearchStrategy[Term] = st.lists(name | literal(2), min_size=2, max_size=3).map(
        lambda found: ("@", *found)
    )
    return st.one_of(name, literal(), append)


def dim_equations() -> st.SearchStrategy[Equation]:
    side = dimensions()
    return st.tuples(side, side | st.integers(0, 8))


def equations() -> st.SearchStrategy[list[Equation]]:
    shape_equation: st.SearchStrategy[Equation] = st.tuples(shapes(), shapes())
    return st.lists(dim_equations() | shape_equation, min_size=1, max_size=4)


def check_as_strong(system: list[Equation]) -> Result:
    theirs = solve(system)
    ours = Ours(system)
    if theirs.failed:
        assert ours.store.conflicts, "the paper's rules find the contradiction"
        return theirs
    substitution = theirs.substitution
    if substitution is not None and satisfiable(system, substitution):
        assert not ours.store.conflicts, "the paper's rules solve it"
        for name, term in substitution.items():
            assert ours.equal(name, term), (name, term)
    return theirs


@MANY
@given(equations())
def test_as_strong_on_shapes(system: list[Equation]) -> None:
    check_as_strong(system)


@MANY
@given(st.lists(dim_equations(), min_size=1, max_size=4))
def test_as_strong_on_dimensions(system: list[Equation]) -> None:
    check_as_strong(system)


@MANY
@given(st.lists(dim_equations(), min_size=1, max_size=3), dimensions(), st.integers(0, 5))
def test_as_strong_on_partial_expressions(system: list[Equation], stuck: Term, size: int) -> None:
    """One expression equal to two constants: the rule for partial expressions finds it."""
    assume(not isinstance(stuck, int))
    check_as_strong([(stuck, size), *system, (stuck, size + 1)])


# The paper's own examples: matmul of square matrices, conv from its result, and so on.
PAPER: dict[str, tuple[list[Equation], dict[str, Term]]] = {
    "matmul": (
        [
            (("@", "S", ("[]", "d1", "d2")), ("[]", "n", "n")),
            (("@", "S", ("[]", "d2", "d3")), ("[]", "n", "n")),
            (("@", "S", ("[]", "d1", "d3")), "R"),
        ],
        {"R": ("[]", "n", "n"), "S": ("[]",), "d1": "n", "d2": "n", "d3": "n"},
    ),
    "conv": (
        [
            (("[]", "n", "c", "h", "w"), "I"),
            (("[]", "k", "c", "r", "s"), ("[]", 4, 8, 8, 8)),
            (
                ("[]", "n", "c", ("+", 1, ("-", "h", "r")), ("+", 1, ("-", "w", "s"))),
                ("[]", 4, 8, 1024, 256),
            ),
        ],
        {"I": ("[]", 4, 8, 1031, 263), "h": 1031, "w": 263, "n": 4, "k": 4},
    ),
    "max of a scalar": (
        [("S", ("[]",)), ("S", "B"), ("S", "R")],
        {"B": ("[]",), "R": ("[]",)},
    ),
    "concat": (
        [
            (("@", ("[]", "d"), "S"), ("[]", 3, 4)),
            (("@", ("[]", ("*", "d", 2)), "S"), "R"),
        ],
        {"d": 3, "S": ("[]", 4), "R": ("[]", 6, 4)},
    ),
    "partial expression": (
        [(("*", "a", "b"), 6), (("+", ("*", "a", "b"), "c"), 8)],
        {"c": 2},
    ),
}


@pytest.mark.parametrize("name", PAPER)
def test_paper_examples(name: str) -> None:
    system, expected = PAPER[name]
    check_as_strong(system)
    ours = Ours(system)
    assert not ours.store.conflicts
    for variable, term in expected.items():
        assert ours.equal(variable, term), variable


# --- known weaknesses of the rules as they are printed --------------------------------------------

CONTRADICTIONS: dict[str, list[Equation]] = {
    "2*d = 7": [(("*", "d", 2), 7)],
    "d + 5 = 3": [(("+", "d", 5), 3)],
    "d = d + 1": [("d", ("+", "d", 1))],
    "s = [n]@s": [("S", ("@", ("[]", "n"), "S"))],
    "[n]@s = s": [(("@", ("[]", "n"), "S"), "S")],
    "d - 5 = 0, d = e + 6": [(("-", "d", 5), 0), ("d", ("+", "e", 6))],
    "2*a = 2*b + 1": [(("*", "a", 2), ("+", ("*", "b", 2), 1))],
    "[3]@s = s@[5]": [(("@", ("[]", 3), "S"), ("@", "S", ("[]", 5)))],
    "s@s = [a,b,c]": [(("@", "S", "S"), ("[]", "a", "b", "c"))],
    "a = b + 1, b = a": [("a", ("+", "b", 1)), ("b", "a")],
    "a = b + 1, b = a + 1": [("a", ("+", "b", 1)), ("b", ("+", "a", 1))],
    "a + b = 3, 2*a + 2*b = 7": [
        (("+", "a", "b"), 3),
        (("+", ("*", "a", 2), ("*", "b", 2)), 7),
    ],
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradiction_that_the_rules_accept(name: str) -> None:
    system = CONTRADICTIONS[name]
    assert not solve(system).failed
    assert Ours(system).store.conflicts


STUCK: dict[str, tuple[list[Equation], dict[str, Term]]] = {
    "s@[d1,d2] = [a,b,c]": (
        [(("@", "S", ("[]", "d1", "d2")), ("[]", "a", "b", "c"))],
        {"S": ("[]", "a"), "d1": "b", "d2": "c"},
    ),
    "[d]@s = [2,3]": (
        [(("@", ("[]", "d"), "S"), ("[]", 2, 3))],
        {"d": 2, "S": ("[]", 3)},
    ),
    "s@p = []": ([(("@", "S", "P"), ("[]",))], {"S": ("[]",), "P": ("[]",)}),
    "d + 5 = 5": ([(("+", "d", 5), 5)], {"d": 0}),
    "5 - d = 2": ([(("-", 5, "d"), 2)], {"d": 3}),
    "a + b = c, c = b + 2": ([(("+", "a", "b"), "c"), ("c", ("+", "b", 2))], {"a": 2}),
    "2*a = 2*b": ([(("*", "a", 2), ("*", "b", 2))], {"a": "b"}),
    "s@[a]@s = [1,2,1]": (
        [(("@", "S", ("[]", "a"), "S"), ("[]", 1, 2, 1))],
        {"S": ("[]", 1), "a": 2},
    ),
    "a + b = 0": ([(("+", "a", "b"), 0)], {"a": 0, "b": 0}),
    "a + b = 5, a - b = 1": (
        [(("+", "a", "b"), 5), (("-", "a", "b"), 1)],
        {"a": 3, "b": 2},
    ),
}


@pytest.mark.parametrize("name", STUCK)
def test_system_that_the_rules_are_stuck_on(name: str) -> None:
    system, expected = STUCK[name]
    theirs = solve(system)
    found = theirs.substitution
    assert found is None or any(found.get(n) != t for n, t in expected.items())
    ours = Ours(system)
    assert not ours.store.conflicts
    for variable, term in expected.items():
        assert ours.equal(variable, term), variable
