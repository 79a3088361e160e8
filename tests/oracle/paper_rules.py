"""The rules of the paper's section 5, taken literally: what our solver must do at least.

Syntax is nested tuples, and two things are equal if they are written the same:

    dimension   3   "n"   ("+", d, d)   ("-", d, d)   ("*", d, d)   ("/", d, d)
    shape       "S"   ("[]", d, …)   ("@", s, …)

Names in capitals are shapes. Each rule takes one constraint of the set and gives what takes its
place; they are tried in one order until none applies, or for `MOST_STEPS` steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

Term = int | str | tuple["Term | str", ...]
Equation = tuple[Term, Term]

MOST_STEPS = 400


@dataclass(frozen=True, slots=True)
class Result:
    """What is left, or that the rules failed, or that they went on too long."""

    constraints: tuple[Equation, ...]
    failed: bool = False
    endless: bool = False

    @property
    def substitution(self) -> dict[str, Term] | None:
        """The constraints as a substitution, if all of them are in solved form."""
        found: dict[str, Term] = {}
        for left, right in self.constraints:
            if not is_variable(left) or left in found or self.endless or self.failed:
                return None
            assert isinstance(left, str)
            found[left] = right
        if any(name in variables(value) for value in found.values() for name in found):
            return None
        return found


class _Failed(Exception):
    """A rule said FAIL."""


# --- syntax ---------------------------------------------------------------------------------------


def is_variable(term: Term) -> bool:
    return isinstance(term, str)


def is_shape(term: Term) -> bool:
    return term.isupper() if isinstance(term, str) else is_list(term) or is_append(term)


def is_list(term: Term) -> bool:
    return isinstance(term, tuple) and term[0] == "[]"


def is_append(term: Term) -> bool:
    return isinstance(term, tuple) and term[0] == "@"


def is_operation(term: Term) -> bool:
    return isinstance(term, tuple) and term[0] in ("+", "-", "*", "/")


def parts(term: Term) -> tuple[Term, ...]:
    assert isinstance(term, tuple)
    return term[1:]


def make(head: str, items: tuple[Term, ...]) -> Term:
    return (head, *items)


def variables(term: Term) -> set[str]:
    """fsv"""
    if isinstance(term, str):
        return {term}
    if isinstance(term, int):
        return set()
    return {name for part in parts(term) for name in variables(part)}


def replace(term: Term, what: Term, by: Term) -> Term:
    if term == what:
        return by
    if isinstance(term, tuple):
        head = term[0]
        assert isinstance(head, str)
        return make(head, tuple(replace(part, what, by) for part in parts(term)))
    return term


def contains(term: Term, what: Term) -> bool:
    return term == what or (
        isinstance(term, tuple) and any(contains(part, what) for part in parts(term))
    )


def simp(term: Term) -> Term:
    """Compute constants, order the operands of + and *, constants last, join appends."""
    if not isinstance(term, tuple):
        return term
    head = term[0]
    assert isinstance(head, str)
    items = tuple(simp(part) for part in parts(term))
    if is_append(term):
        return _simp_append(items)
    if is_list(term):
        return make(head, items)
    left, right = items
    if isinstance(left, int) and isinstance(right, int):
        match head:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case _:
                return left // right if right else make(head, items)
    if head in ("+", "*"):
        items = tuple(sorted(items, key=lambda t: (isinstance(t, int), repr(t))))
    return make(head, items)


def _simp_append(items: tuple[Term, ...]) -> Term:
    flat: list[Term] = []
    for item in items:
        for part in parts(item) if is_append(item) else (item,):
            if is_list(part) and flat and is_list(flat[-1]):
                flat[-1] = make("[]", parts(flat[-1]) + parts(part))
            elif part != ("[]",):
                flat.append(part)
    if not flat:
        return ("[]",)
    return flat[0] if len(flat) == 1 else make("@", tuple(flat))


# --- the rules ------------------------------------------------------------------------------------


def solve(equations: list[Equation]) -> Result:
    constraints = list(dict.fromkeys(equations))
    try:
        for _ in range(MOST_STEPS):
            after = _step(constraints)
            if after is None:
                return Result(tuple(constraints))
            constraints = list(dict.fromkeys(after))
    except _Failed:
        return Result(tuple(constraints), failed=True)
    return Result(tuple(constraints), endless=True)


def _step(constraints: list[Equation]) -> list[Equation] | None:
    """The set after the first rule that applies, or None."""
    for i, (left, right) in enumerate(constraints):
        rest = constraints[:i] + constraints[i + 1 :]
        for instead in _alone(left, right):
            return constraints[:i] + instead + constraints[i + 1 :]
        # basic: replace a variable elsewhere
        if is_variable(left):
            assert isinstance(left, str)
            inside = any(left in variables(a) | variables(b) for a, b in rest)
            if inside and left not in variables(right):
                return _replaced(constraints, i, left, right)
        # partial expression simplification
        stuck = is_operation(left) and isinstance(right, int)
        if stuck and any(contains(a, left) or contains(b, left) for a, b in rest):
            return _replaced(constraints, i, left, right)
    return None


def _replaced(constraints: list[Equation], i: int, what: Term, by: Term) -> list[Equation]:
    return [
        equation if j == i else (replace(equation[0], what, by), replace(equation[1], what, by))
        for j, equation in enumerate(constraints)
    ]


def _alone(left: Term, right: Term) -> Iterator[list[Equation]]:
    """The rules that look at one constraint."""
    # basic
    if left == right:
        yield []
    if isinstance(left, int) and isinstance(right, int):
        raise _Failed
    # reordering
    if isinstance(left, int) and not isinstance(right, int):
        yield [(right, left)]
    if is_variable(right) and not is_variable(left):
        yield [(right, left)]
    # unpacking
    if is_list(left) and is_list(right):
        if len(left) != len(right):  # type: ignore[arg-type]
            raise _Failed
        yield list(zip(parts(left), parts(right), strict=True))
    # append dimensionality comes before empty shapes: what fails does not become solvable
    for append, plain in ((left, right), (right, left)):
        if is_append(append) and is_list(plain):
            dims = sum(len(parts(part)) for part in parts(append) if is_list(part))
            if dims > len(parts(plain)):
                raise _Failed
    # empty shapes
    for append, plain in ((left, right), (right, left)):
        if is_append(append) and is_list(plain):
            for part in parts(append):
                if is_list(part) and len(parts(part)) == len(parts(plain)):
                    others: list[Equation] = [
                        (other, ("[]",)) for other in parts(append) if other is not part
                    ]
                    yield [(plain, part), *others]
    # append unpacking
    if is_append(left) and is_append(right):
        for at in (-1, 0):
            a, b = parts(left), parts(right)
            if is_list(a[at]) and is_list(b[at]) and parts(a[at]) and parts(b[at]):
                yield [
                    (_without(a, at), _without(b, at)),
                    (parts(a[at])[at], parts(b[at])[at]),
                ]
    # simplification
    if (simp(left), simp(right)) != (left, right):
        yield [(simp(left), simp(right))]
    # arithmetic simplification
    if is_operation(left) and isinstance(right, int):
        assert isinstance(left, tuple)
        head, dim, constant = left
        if isinstance(constant, int):
            if head == "*" and constant and right % constant == 0:
                yield [(dim, right // constant)]
            if head == "+" and right - constant > 0:
                yield [(dim, right - constant)]
            if head == "-":
                yield [(dim, right + constant)]


def _without(items: tuple[Term, ...], at: int) -> Term:
    """The append without the outermost dimension of its first or last part."""
    kept = parts(items[at])[:-1] if at == -1 else parts(items[at])[1:]
    part = make("[]", kept)
    return simp(make("@", (*items[:-1], part) if at == -1 else (part, *items[1:])))
