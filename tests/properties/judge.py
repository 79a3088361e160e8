"""What must be true of a program with run-time and ragged sizes, and how it is found out.

A finding has a class, by which findings are counted, and a text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy

import axon
from axon.diagnostics import Severity
from tests.properties.meanings import Run
from tests.properties.printed import (
    Differs,
    Open,
    Sizing,
    broadcast_with_rows,
    fit,
    holds,
    params_and_result,
)
from tests.properties.trees import Param, Program
from tests.properties.values import Endless, Fails, Rag, Tensor, Unclear, Value, same, show


@dataclass(frozen=True, slots=True)
class Finding:
    kind: str
    detail: str
    call: int | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Expected:
    """What the interpreter says of a call: a value, that it fails, or nothing."""

    value: Value | None
    fails: bool
    run: Run | None
    endless: bool = False


def expected(program: Program, args: tuple[Value, ...]) -> Expected:
    try:
        value, run = program.run(args)
    except Fails:
        return Expected(None, True, None)
    except Unclear as reason:
        return Expected(None, False, None, isinstance(reason, Endless))
    return Expected(value, False, run)


def given(value: Tensor, said: bool = False) -> Any:
    """An argument as Axon takes it; `said` if the parameter says what it is."""
    if not isinstance(value, Rag):
        return value
    if said and not value.rows:
        return []
    return axon.Ragged.from_rows([given(row) for row in value.rows], like=given(value.like))


def plain(value: Any) -> Value:
    """A result without Axon's own type."""
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, axon.Ragged):
        rows = tuple(plain(row) for row in value)
        return Rag(rows, rows[0] if rows else numpy.zeros((0,) * (value.rank - 1), value.dtype))
    return numpy.asarray(value)


def judge(program: Program) -> list[Finding]:
    """All that is wrong with a program and its calls."""
    text = program.text()
    wanted = [expected(program, args) for args in program.calls]
    try:
        net = axon.compile(text)
    except axon.ProgramError as problem:
        return rejected(problem, wanted)
    except Exception as problem:
        return [Finding("internal error in inference", _bug(problem))]
    found: list[Finding] = []
    signature = net._checked.signatures[-1]
    for i, (args, want) in enumerate(zip(program.calls, wanted, strict=True)):
        if not want.endless:
            found += called(net.f, signature, program.main.params, args, want, i)
    return found


def rejected(problem: axon.ProgramError, wanted: list[Expected]) -> list[Finding]:
    """A program is right if it runs on its witness, and if rows could vary, on calls where they do.

    What types ask for and values do not leaves it open.
    """
    witness = wanted[0]
    if witness.run is None or witness.run.may_refuse:
        return []
    if witness.run.ragged:
        clear = [w for w in wanted if w.run is not None and not w.run.may_refuse]
        if witness.run.by_chance or len(clear) < 2 or any(w.fails for w in wanted):
            return []
    code = next((d.code for d in problem.diagnostics if d.severity == Severity.ERROR), "?")
    return [Finding(f"right program rejected ({code})", problem.diagnostics[0].message)]


def called(
    function: Any,
    signature: Any,
    params: tuple[Param, ...],
    args: tuple[Value, ...],
    want: Expected,
    i: int,
) -> list[Finding]:
    found: list[Finding] = []
    said = all(p.dims is not None for p in params)
    try:
        made = function(*(given(a, p.dims is not None) for a, p in zip(args, params, strict=True)))
    except axon.AxonError as problem:
        codes = {d.code for d in problem.diagnostics}
        chance = want.run is not None and want.run.by_chance
        none = any(isinstance(a, Rag) and not a.rows for a in args)
        by_type = not codes.isdisjoint({"AX105", "AX401"}) and (
            want.run is not None and (want.run.ragged or want.run.made > 0)
        )
        nothing = any(isinstance(a, numpy.ndarray) and a.size == 0 for a in args)
        if by_type and (nothing or not fits(signature, args)):
            return []  # what meets rows that vary is 1, and what a function needs is asked before
        if want.run is not None and "AX105" in codes and said and (none or not chance):
            return [Finding("error that the check should have found", _first(problem), i)]
        if want.fails or want.run is None or want.run.may_refuse:
            return []
        if "AX403" in codes:
            return []  # documented: a function in a tuple is typed, and not run
        if want.run.by_chance and ("AX105" in codes or "rows of one size" in problem.message):
            return []
        code = next((d.code for d in problem.diagnostics), "no code")
        return [Finding(f"refused call ({type(problem).__name__}, {code})", _first(problem), i)]
    except Exception as problem:
        return [Finding("internal error in a call", _bug(problem), i)]
    value = plain(made)
    if want.fails:
        found.append(Finding("wrong call accepted", f"gives {show(value)}", i))
    elif want.value is not None and not same(value, want.value):
        wrong = f"gives {show(value)}, should be {show(want.value)}"
        found.append(Finding("wrong value", wrong, i))
    if any(isinstance(a, Rag) and p.dims is None for a, p in zip(args, params, strict=True)):
        return found  # such a call has a type of its own
    idle = want.run is not None and (bool(want.run.idle) or want.run.untaken)
    return [*found, *typed(signature, args, value, i, idle)]


def fits(signature: Any, args: tuple[Value, ...]) -> bool:
    """Whether the printed type takes the arguments."""
    params, _ = params_and_result(signature.signature)
    sizing = Sizing()
    try:
        for param, arg in zip(params, args, strict=True):
            fit(param, arg, sizing)
    except Open:
        return True
    except Differs:
        return False
    return all(holds(condition, sizing) for condition in signature.where)


def typed(
    signature: Any, args: tuple[Value, ...], value: Value, i: int, idle: bool
) -> list[Finding]:
    """The printed type, its conditions and its guards, beside what came out. A guard of a function
    that is not called, as in a branch not taken, is not checked: then some are `idle`.
    """
    params, result = params_and_result(signature.signature)
    sizing = Sizing()
    try:
        for param, arg in zip(params, args, strict=True):
            fit(param, arg, sizing)
    except Open:
        return []
    except Differs as problem:
        return [Finding("argument not of its printed type", f"{problem} in {signature.line()}", i)]
    found = []
    for condition in signature.where:
        if not holds(condition, sizing):
            found.append(Finding("condition does not hold", f"{condition}: {signature.line()}", i))
    sizing.varying = broadcast_with_rows(signature.where)
    try:
        fit(result, value, sizing)
    except Open:
        return found
    except Differs as problem:
        found.append(Finding("value not of its printed type", f"{problem}: {signature.line()}", i))
        return found
    for guard in () if idle else signature.guards:
        if not holds(guard, sizing):
            found.append(Finding("guard does not hold", f"{guard}: {signature.line()}", i))
    return found


def _first(problem: axon.AxonError) -> str:
    return "; ".join([problem.message, *(d.message for d in problem.diagnostics)])[:200]


def _bug(problem: BaseException) -> str:
    trace = problem.__traceback__
    places = []
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{code.co_filename.rsplit('/', 1)[-1]}:{code.co_name}")
        trace = trace.tb_next
    return f"{type(problem).__name__}({str(problem)[:120]}) at {' > '.join(places[-3:])}"
