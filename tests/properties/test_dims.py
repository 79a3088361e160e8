"""Dimensions: normal forms keep values, identities hold, signs are right, text reads back."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from axon.source import Source
from axon.syntax import parse_signature, print_index, print_signature
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.read import read_signature
from axon.types.show import Names, Show
from axon.types.trees import Trees
from axon.types.type import Tensor
from axon.types.variables import DimVar
from tests.budget import ALL

NAMES = ("a", "b", "c")
VARS = {n: DimVar(n, user=True) for n in NAMES}
POINTS = [
    dict(zip(NAMES, p, strict=True)) for p in [*product((0, 1, 2, 3, 5), repeat=3), (7, 11, 13)]
]


# A tree is a constant, a name, or (operation, left, right); the meaning is Python's.
Tree = int | str | tuple[str, "Tree", "Tree"]


def trees(divisors: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    leaf: st.SearchStrategy[Tree] = st.sampled_from(NAMES) | st.integers(0, 6)

    def larger(inner: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
        forms: list[st.SearchStrategy[Tree]] = [
            st.tuples(st.sampled_from(["+", "-", "min", "max"]), inner, inner),
            st.tuples(st.just("*"), st.integers(0, 4) | leaf, inner),
            st.tuples(st.sampled_from(["/", "mod"]), inner, divisors),
        ]
        return st.one_of(forms)

    return st.recursive(leaf, larger, max_leaves=7)


CONSTANT_DIVISORS: st.SearchStrategy[Tree] = st.integers(1, 6)
# symbolic ones, at least 1 wherever sizes are
SYMBOLIC_DIVISORS: st.SearchStrategy[Tree] = st.one_of(
    st.integers(1, 4),
    st.sampled_from(NAMES).map(lambda n: ("+", n, 1)),
    st.sampled_from(NAMES).map(lambda n: ("max", n, 1)),
    st.sampled_from(NAMES).map(lambda n: ("*", 2, ("+", n, 1))),
    st.sampled_from(NAMES).map(lambda n: ("*", 2, n)),
    st.sampled_from(NAMES),
)
TREES = trees(CONSTANT_DIVISORS)
SYMBOLIC_TREES = trees(SYMBOLIC_DIVISORS)


def value(tree: Tree, point: dict[str, int]) -> int | None:
    """What the tree is at a point; None where it divides by something below one."""
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return point[tree]
    name, left, right = tree
    a, b = value(left, point), value(right, point)
    if a is None or b is None:
        return None
    match name:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "min":
            return min(a, b)
        case "max":
            return max(a, b)
        case "/":
            return a // b if b >= 1 else None
        case _:
            return a % b if b >= 1 else None


BUILD = {
    "+": dims.add,
    "-": dims.sub,
    "*": dims.mul,
    "/": dims.floordiv,
    "mod": dims.mod,
    "min": dims.minimum,
    "max": dims.maximum,
}


def build(tree: Tree) -> Dim:
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return VARS[tree]
    name, left, right = tree
    return BUILD[name](build(left), build(right))


def at(dim: Dim, point: dict[str, int]) -> int | None:
    return dims.evaluate(dim, {VARS[n]: v for n, v in point.items()})


# --- the normal form keeps the value --------------------------------------------------------------


@ALL
@given(TREES)
def test_value(tree: Tree) -> None:
    dim = build(tree)
    for point in POINTS:
        assert at(dim, point) == value(tree, point), point


@ALL
@given(SYMBOLIC_TREES)
def test_value_with_symbolic_divisors(tree: Tree) -> None:
    dim = build(tree)
    for point in POINTS:
        expected = value(tree, point)
        if expected is not None:
            assert at(dim, point) == expected, point


@ALL
@given(st.lists(st.sampled_from(NAMES) | st.integers(0, 6) | TREES, max_size=6))
def test_a_product_is_one_after_the_other_multiplied(trees: list[Tree]) -> None:
    factors = [build(tree) for tree in trees]
    expected: Dim = 1
    for factor in factors:
        expected = dims.mul(expected, factor)
    assert dims.product(factors) == expected


def test_a_product_out_of_hand_is_vast_but_for_nothing_at_all() -> None:
    n = VARS["a"]
    large: list[Dim] = [1 << 60] * 1000
    cases: list[list[Dim]] = [[n] * 100, large, [n, *large], [dims.add(n, 1)] * 100]
    for factors in cases:
        assert dims.is_vast(dims.product(factors))
        assert dims.product([*factors, 0]) == dims.product([0, *factors]) == 0


@ALL
@given(SYMBOLIC_TREES)
def test_building_again_changes_nothing(tree: Tree) -> None:
    dim = build(tree)
    again = dims.substitute(dim, lambda v: v, dims.of_size)
    assert again == dim
    assert dims.sub(dim, again) == 0
    assert not isinstance(dim, dims.Poly) or 0 not in dim.terms.values()


@ALL
@given(TREES, TREES, st.sampled_from(NAMES))
def test_substitution_is_evaluation(tree: Tree, image: Tree, name: str) -> None:
    dim, put = build(tree), build(image)
    result = dims.substitute(dim, lambda v: put if v is VARS[name] else v, dims.of_size)
    for point in POINTS[::7]:
        size = value(image, point)
        assert size is not None
        if size < 0:
            continue  # a variable is a size
        assert at(result, point) == value(tree, {**point, name: size}), point


@ALL
@given(TREES, TREES, TREES)
def test_ring_laws(x: Tree, y: Tree, z: Tree) -> None:
    a, b, c = build(x), build(y), build(z)
    assert dims.add(a, b) == dims.add(b, a)
    assert dims.mul(a, b) == dims.mul(b, a)
    assert dims.add(dims.add(a, b), c) == dims.add(a, dims.add(b, c))
    assert dims.mul(dims.mul(a, b), c) == dims.mul(a, dims.mul(b, c))
    assert dims.mul(a, dims.add(b, c)) == dims.add(dims.mul(a, b), dims.mul(a, c))
    assert dims.sub(a, a) == 0


@ALL
@given(TREES, TREES, st.integers(1, 6))
def test_division_laws(x: Tree, y: Tree, k: int) -> None:
    a, b = build(x), build(y)
    assert dims.floordiv(dims.mul(k, a), k) == a
    whole = dims.floordiv(dims.add(dims.mul(k, a), b), k)
    assert whole == dims.add(a, dims.floordiv(b, k))
    assert dims.add(dims.mul(k, dims.floordiv(a, k)), dims.mod(a, k)) == a


@ALL
@given(TREES, TREES)
def test_min_max_laws(x: Tree, y: Tree) -> None:
    a, b = build(x), build(y)
    for extremum in (dims.minimum, dims.maximum):
        assert extremum(a, b) == extremum(b, a)
        assert extremum(a, a) == a
        assert dims.sub(extremum(dims.add(a, 3), dims.add(b, 3)), 3) == extremum(a, b)


@ALL
@given(SYMBOLIC_TREES)
def test_signs_are_never_wrong(tree: Tree) -> None:
    dim = build(tree)
    nonnegative, not_one = dims.is_nonnegative(dim), dims.is_not_one(dim)
    for point in POINTS:
        size = value(tree, point)
        if size is not None:
            assert size >= 0 or not nonnegative, point
            assert size != 1 or not not_one, point


# --- text reads back ------------------------------------------------------------------------------


def show() -> Show:
    names = Names()
    names.reserve(VARS.values())
    return Show(names)


def read(text: str) -> Dim:
    signature, problems = parse_signature(Source("dim", f"f32 [{text}]"))
    assert signature is not None, (text, problems)
    assert not problems, (text, problems)
    scheme, diagnostics = read_signature(signature, user=True, given=dict(VARS))
    assert not diagnostics, (text, diagnostics)
    assert isinstance(scheme.type, Tensor)
    (item,) = scheme.type.shape
    assert isinstance(item, int | DimVar | dims.Poly)
    return item


@ALL
@given(SYMBOLIC_TREES)
def test_text_reads_back(tree: Tree) -> None:
    dim = build(tree)
    assume(not isinstance(dim, int) or dim >= 0)
    text = show().dim(dim)
    assert read(text) == dim, text


@ALL
@given(SYMBOLIC_TREES)
def test_spaced_text_reads_back(tree: Tree) -> None:
    dim = build(tree)
    assume(not isinstance(dim, int) or dim >= 0)
    text = show().dim(dim, spaced=True)
    assert read(text) == dim, text


@ALL
@given(SYMBOLIC_TREES, st.booleans())
def test_a_syntax_tree_is_what_is_read_of_the_text(tree: Tree, mods: bool) -> None:
    dim = build(tree)
    assume(not isinstance(dim, int) or dim >= 0)
    names = show().names
    made = Trees(names, mods).dim(dim)
    text = print_index(made)
    assert read(text) == dim, text
    assert mods or "mod" not in text
    written, _ = parse_signature(Source("dim", f"f32 [{Show(names, mods=mods).dim(dim)}]"))
    assert written is not None
    assert print_signature(written) == f"f32 [{text}]"


@ALL
@given(TREES)
def test_paper_notation_reads_back(tree: Tree) -> None:
    dim = build(tree)
    assume(not isinstance(dim, int) or dim >= 0)
    text = Show(show().names, paper=True).dim(dim)
    assert read(text) == dim, text


# --- identities -----------------------------------------------------------------------------------

IDENTITIES = [
    # sums and products
    ("a+a", "2*a"),
    ("a-a", "0"),
    ("a+0", "a"),
    ("a*1", "a"),
    ("a*0", "0"),
    ("(a+b)*(a-b)", "a*a-b*b"),
    ("(a+1)*(a+1)", "a*a+2*a+1"),
    ("2*(a+b)-b", "2*a+b"),
    ("(+ a (- b 1))", "a+b-1"),
    ("(* 2 (+ a 3))", "2*a+6"),
    # division by a constant
    ("a/1", "a"),
    ("7/2", "3"),
    ("0/3", "0"),
    ("(2*a)/2", "a"),
    ("(2*a+1)/2", "a"),
    ("(4*a+6)/4", "a+1"),
    ("(4*a+6)/2", "2*a+3"),
    ("(6*a+3)/4", "a+(2*a+3)/4"),
    ("(2*a+2)/4", "(a+1)/2"),
    ("(2*a+3)/4", "(a+1)/2"),
    ("(6*a)/4", "(3*a)/2"),
    ("(a+2)/2", "a/2+1"),
    ("(a-2)/2", "a/2-1"),
    ("(a-1)/2+1", "(a+1)/2"),
    ("(a-3)/2+1", "(a-1)/2"),
    ("(a+2*b)/2", "a/2+b"),
    ("(3*a+2*b)/2", "a/2+a+b"),
    ("(a/2)/2", "a/4"),
    ("((a/2)/2)/2", "a/8"),
    ("(a/2)/3", "a/6"),
    ("(a/3)/2", "(a/2)/3"),
    ("(a/2+1)/2", "(a+2)/4"),
    ("(a/2+b)/2", "(a+2*b)/4"),
    ("((a+1)/2+1)/2", "(a+3)/4"),
    ("((a-1)/2+1-1)/2+1", "(a-1)/4+1"),
    ("(a*b)/1", "a*b"),
    ("(2*a*b)/2", "a*b"),
    ("(4*a*b+2*a)/2", "2*a*b+a"),
    # division by a dimension
    ("(a*b)/b", "a"),
    ("(a*b*c)/(b*c)", "a"),
    ("(2*a*b)/b", "2*a"),
    ("(a*b+b)/b", "a+1"),
    ("(a*b+c)/b", "a+c/b"),
    ("(a/b)/c", "a/(b*c)"),
    ("(a/b)/c", "(a/c)/b"),
    ("(2*(a+1))/(a+1)", "2"),
    ("(a*c)/(b*c)", "a/b"),
    ("0/b", "0"),
    # remainders
    ("a mod 1", "0"),
    ("7 mod 4", "3"),
    ("(2*a) mod 2", "0"),
    ("(2*a+1) mod 2", "1"),
    ("(a+4) mod 4", "a mod 4"),
    ("(a*b) mod b", "0"),
    ("4*(a/4)+a mod 4", "a"),
    # min and max
    ("min(a, a)", "a"),
    ("min(a, a+1)", "a"),
    ("max(a, a+1)", "a+1"),
    ("max(a, 0)", "a"),
    ("min(a, 0)", "0"),
    ("min(a, b)", "min(b, a)"),
    ("min(a+2, b+2)", "min(a, b)+2"),
    ("min(min(a, b), c)", "min(a, min(b, c))"),
    ("max(max(a, b), b)", "max(b, a)"),
    ("max(3, 5)", "5"),
    ("max(a, a/2)", "a"),
    ("min(a+b, b)", "b"),
    ("max(a+b, b)", "a+b"),
]


@pytest.mark.parametrize(("left", "right"), IDENTITIES)
def test_identity(left: str, right: str) -> None:
    assert read(left) == read(right)


DIFFERENT = [
    ("a/2+a/2", "a"),
    ("2*(a/2)", "a"),
    ("(a+1)/2", "a/2"),
    ("(a+b)/2", "a/2+b/2"),
    ("(2*a)/3", "2*(a/3)"),
    ("(3*a)/6", "a/3"),
    ("min(a, b)", "max(a, b)"),
    ("max(a, 1)", "a"),
    ("a*b", "a+b"),
    ("a/b", "b/a"),
    ("(a-1)/2", "a/2"),
    ("a mod 2", "a mod 4"),
]


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_difference(left: str, right: str) -> None:
    assert read(left) != read(right)


def test_towers_of_strided_convolutions_do_not_grow() -> None:
    """(h-1)/2+1, again and again, is (h + 2^n - 1)/2^n."""
    dim: Dim = VARS["a"]
    for n in range(1, 40):
        dim = dims.add(dims.floordiv(dims.sub(dim, 1), 2), 1)
        assert dim == dims.floordiv(dims.add(VARS["a"], 2**n - 1), 2**n)


def test_towers_of_down_and_up_sampling_do_not_grow() -> None:
    """2*((h-1)/2)+2 of itself is itself."""

    def there_and_back(dim: Dim) -> Dim:
        return dims.add(dims.mul(2, dims.floordiv(dims.sub(dim, 1), 2)), 2)

    once = there_and_back(VARS["a"])
    dim = once
    for _ in range(40):
        dim = there_and_back(dim)
        assert dim == once


def test_halving_and_doubling_is_stable() -> None:
    once = dims.mul(2, dims.floordiv(VARS["a"], 2))
    assert dims.mul(2, dims.floordiv(once, 2)) == once
    assert dims.mul(4, dims.floordiv(once, 4)) == dims.mul(4, dims.floordiv(VARS["a"], 4))


def test_large_numbers() -> None:
    big = 10**30
    assert dims.floordiv(dims.add(dims.mul(big, VARS["a"]), big - 1), big) == VARS["a"]
    assert dims.sub(dims.mul(big, VARS["a"]), dims.mul(big - 1, VARS["a"])) == VARS["a"]
