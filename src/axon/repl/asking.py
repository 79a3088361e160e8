"""Commands that ask about an expression or a definition: its type, why it has it, its time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from itertools import count

from axon.repl.names import Known
from axon.repl.programs import MAIN, Compiled, has_function, refuse_declared, tree
from axon.repl.reports import Diagnosed, Refusal, Report, Said, refusal
from axon.repl.statements import State
from axon.source import Source
from axon.syntax import ast, parse_expression

MakeSource = Callable[[str], Source]

LONG_ENOUGH = 0.5
"""How many seconds of runs `:time` looks at."""

MOST_RUNS = 1000


def read_expression(text: str, make_source: MakeSource) -> tuple[ast.Expr, Source]:
    source = make_source(text.rstrip("; \n\t"))
    expr, problems = parse_expression(source)
    if expr is None or problems:
        raise Refusal(Diagnosed(problems))
    return expr, source


def show_type(state: State, text: str, make_source: MakeSource) -> Iterator[Report]:
    expr, source = read_expression(text, make_source)
    compiled = state.check([], expr, source)
    if compiled.warnings:
        yield Diagnosed(compiled.warnings)
    yield Said(compiled.signature(MAIN).line(names=True).partition(" : ")[2])


def time_of(state: State, text: str, make_source: MakeSource) -> Iterator[Report]:
    expr, source = read_expression(text, make_source)
    start = time.perf_counter()
    compiled = state.check([], expr, source)
    if has_function(compiled.type(MAIN)):
        raise refusal("this is a function: apply it to something to see how long that takes")
    refuse_declared(tree(state.table, [], expr, source)[1])
    compiled.run(MAIN)
    first = time.perf_counter() - start
    times: list[float] = []
    for number in count():
        start = time.perf_counter()
        compiled.run(MAIN)
        times.append(time.perf_counter() - start)
        if sum(times) > LONG_ENOUGH or number >= MOST_RUNS:
            break
    runs = "1 run" if len(times) == 1 else f"{len(times)} runs"
    yield Said(
        f"{duration(min(times))}, the best of {runs}; "
        f"the first took {duration(first)}, checking and compiling included"
    )


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


# --- definitions -----------------------------------------------------------------------------


def _definition(state: State, name: str) -> Known:
    known = state.table.known.get(name)
    if known is None:
        names = ", ".join(state.table.known) or "nothing yet"
        raise refusal(f"`{name}` is not defined here; what is: {names}")
    if known.is_value:
        raise refusal(f"`{known.line}` is a value: it was computed, so nothing of it is open")
    if not isinstance(known.item, ast.Binding):
        raise refusal(f"`{name}` is only declared: `{known.line}`")
    return known


def _checked(state: State, known: Known, reasons: bool = False) -> Compiled:
    source = known.item.span.source
    return state.check([known.item], None, source, reasons)


def plain(state: State, name: str, _: MakeSource) -> Iterator[Report]:
    known = _definition(state, name)
    reading = _checked(state, known).function(name).plain
    if reading is None:
        yield Said(f"{known.line}\nthere is no plainer reading of this")
    else:
        yield Said(f"{name} : {reading}")


def explain(state: State, name: str, _: MakeSource) -> Iterator[Report]:
    from axon.diagnostics.pages import page
    from axon.explain import Most, derivation_text

    if re.fullmatch(r"AX\d{3}", name):
        text = page(name)
        if text is None:
            raise refusal(f"there is no error code {name}")
        yield Said(text.rstrip())
        return
    compiled = _checked(state, _definition(state, name), reasons=True)
    most = Most(f"axon explain --all, of a file that has {name},")
    yield Said(derivation_text(compiled.definition(name), False, False, None, most))


def why(state: State, text: str, _: MakeSource) -> Iterator[Report]:
    from axon.explain import answer_text

    name, question = [*text.split(None, 1), ""][:2]
    if not question:
        raise refusal(f"{name}: name a size such as n, x[1], p.w[0] or result[0]")
    compiled = _checked(state, _definition(state, name), reasons=True)
    answer, good = answer_text(compiled.checked, compiled.definition(name), question)
    if not good:
        raise refusal(answer)
    yield Said(answer)
