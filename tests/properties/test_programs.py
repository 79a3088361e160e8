"""Whole programs: what is inferred is what NumPy's rules say, at every shape, and no more is asked.

The programs, and what they mean, are in `programs.py`; a definition is typed once, for all shapes,
and then looked at on concrete ones.
"""

from __future__ import annotations

import pytest
from hypothesis import given

from axon.driver import Checked, check_text
from axon.types.type import Fn
from tests.budget import HALF
from tests.properties.programs import Program, text
from tests.properties.schemes import Unclear, Unknown, instances, show
from tests.properties.structured import structured_programs as programs


def calls(program: Program, function: str) -> list[str]:
    return [
        f"r{i} = {function}({', '.join(f'ones({text(s)})' for s in shapes)});"
        for i, shapes in enumerate(program.calls)
    ]


def results(checked: Checked, count: int) -> list[str | None]:
    """The type of each call; None for one with an error."""
    found = {s.name: s for s in checked.signatures}
    for i in range(count):
        known = found.get(f"r{i}")
        assert known is None or not known.where, known
    assert checked.ok == all(f"r{i}" in found for i in range(count)), checked.diagnostics
    return [found[f"r{i}"].signature if f"r{i}" in found else None for i in range(count)]


def typed(program: Program) -> Checked:
    """The definition alone. It runs on its witness, so it has a type."""
    checked = check_text(program.definition())
    assert checked.ok, [d.message for d in checked.diagnostics]
    return checked


@HALF
@given(programs())
def test_calls_give_what_numpy_gives(program: Program) -> None:
    """A general definition, called on zeros of concrete shapes: the interpreter's shapes exactly,
    and an error where, and only where, it fails.
    """
    checked = check_text("\n".join([program.definition(), *calls(program, "f")]))
    expected = [program.run(shapes) for shapes in program.calls]
    assert expected[0] is not None
    assert results(checked, len(expected)) == expected


@HALF
@given(programs())
def test_concrete_definitions_give_the_same(program: Program) -> None:
    """The same body under annotations that give every size."""
    if not program.asks_nothing:
        return
    for shapes in program.calls:
        checked = check_text(program.concrete("f", shapes))
        found = [s for s in checked.signatures if s.name == "f"]
        assert checked.ok == bool(found)
        made = found[0].signature.split(" -> ", 1)[1] if found else None
        assert not found or not found[0].where, found
        assert made == program.run(shapes), shapes


@HALF
@given(programs())
def test_signatures_read_back_mean_the_same(program: Program) -> None:
    """What is printed, declared as an `op`, gives the same types and the same errors.

    That no tensor on the way has a size below zero is not printed, so it is not asked for.
    """
    (signature,) = typed(program).signatures
    _, line = signature.line(classes=True).split(" : ", 1)
    declared = check_text("\n".join([f"op g : {line};", *calls(program, "g")]))
    for shapes, found in zip(program.calls, results(declared, len(program.calls)), strict=True):
        if not program.goes_below_zero(shapes):
            assert found == program.run(shapes), (line, shapes)


@HALF
@given(programs())
def test_conditions_hold_where_it_runs(program: Program) -> None:
    """The scheme, by search: there are sizes that fit the parameters and satisfy the conditions if
    and only if the program runs, and then the result is the interpreter's.
    """
    definition = typed(program).find("f")
    assert definition is not None
    scheme = definition.scheme
    assert isinstance(scheme.type, Fn)
    for shapes in program.calls:
        try:
            found = {show(scheme.type.result, env) for env in instances(scheme, shapes)}
        except (Unclear, Unknown):
            continue
        expected = program.run(shapes)
        assert found == (set() if expected is None else {expected}), (scheme, shapes)


@pytest.mark.parametrize(
    "where",
    [
        "[a]@b = broadcast(s, [n])",
        "broadcast(a, b), a@[c,d] = [n]@s, b@[d,e] = [n]@s",
        "c = broadcast(a, b), [n]@s = a@[d], s = b@[e]",
    ],
)
def test_names_of_conditions_alone_are_read(where: str) -> None:
    """A name that only conditions have is what any of them shows, and a broadcast ties too."""
    checked = check_text(f"op g : (f32 [n]@s, f32 s) -> f32 s where {where};")
    assert checked.ok, [d.message for d in checked.diagnostics]
