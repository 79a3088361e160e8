"""What could be dynamic in a module that is at hand: more than an archive has.

An archive has the lines of `forward` alone, and nothing of Python code that reads a size as a
number. Here the module is run once with its example inputs for the line of each operation, and the
exporter says where it turned a size into a number.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import FrameType, TracebackType
from typing import Any

from axon.importers.operations import Graph, Model, Operation, Place
from axon.importers.torch.archive import Archive
from axon.importers.torch.dynamic.answers import dynamic_of
from axon.importers.torch.dynamic.conditions import size_name
from axon.importers.torch.dynamic.table import Answer, Dynamic
from axon.importers.torch.places import is_torch

READ = "Python code reads it as a number there, so that it is fixed when the program is traced"
MOST_LINES = 12
"""Lines of a statement that are read."""
MOST_CALLS = 200_000
LONGEST = 400
Line = tuple[str, int]


def investigate(
    model: Model,
    archive: Archive,
    program: Any,
    module: Any,
    inputs: Sequence[Any],
    named: Mapping[str, Any],
) -> Dynamic:
    """The answer of an archive with what the module and its `ExportedProgram` say beside it."""
    lines = called_lines(module, inputs, named)
    found = dynamic_of(with_lines(model, lines), archive)
    reads = lines_that_read(program)
    for answers in found.inputs.values():
        for answer in answers:
            line = reads.get(answer.name)
            if line is not None and not answer.free:
                _read_at(answer, place_at(*line))
    return found


def _read_at(answer: Answer, place: Place) -> None:
    """Python code reads the size there, which decides it whatever operations ask for."""
    others = [each for each in answer.places if each[:2] != place[:2]]
    answer.free, answer.why = False, READ
    answer.places = [place, *others][:3]


def with_batches_of_two(
    inputs: Sequence[Any], named: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """Example inputs with two rows where they have one, which PyTorch would take for fixed; None if
    none has.
    """
    import torch
    from torch.utils import _pytree as pytree

    changed = False

    def doubled(value: Any) -> Any:
        nonlocal changed
        if not isinstance(value, torch.Tensor) or value.ndim == 0 or value.shape[0] != 1:
            return value
        changed = True
        return value.detach().repeat(2, *[1] * (value.ndim - 1))

    made = pytree.tree_map(doubled, (tuple(inputs), dict(named)))
    return made if changed else None


# --- lines -------------------------------------------------------------------------------------


def place_at(file: str, line: int, module: str = "") -> Place:
    """A line of a source file; a statement goes on until its brackets are closed."""
    text = linecache.getline(file, line).strip()
    for more in range(1, MOST_LINES):
        if sum(map(text.count, "([{")) <= sum(map(text.count, ")]}")):
            break
        text += " " + linecache.getline(file, line + more).strip()
    return Place(file, line, text[:LONGEST], module)


def user_lines(frame: Any) -> Iterator[Line]:
    """The lines that a call came from, the innermost first, without PyTorch's own and ours."""
    while frame is not None:
        file = frame.f_code.co_filename
        if file != __file__ and not is_torch(file):
            yield file, frame.f_lineno
        frame = frame.f_back


def line_of_error(problem: BaseException) -> Line | None:
    """The innermost line of a user's program that an error came through."""
    seen: set[int] = set()
    current: BaseException | None = problem
    found: Line | None = None
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        found = found or _innermost(current.__traceback__)
        current = current.__cause__ or current.__context__
    return found


def _innermost(trace: TracebackType | None) -> Line | None:
    found: Line | None = None
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not is_torch(file) and "/axon/" not in file.replace("\\", "/"):
            found = file, trace.tb_lineno
        trace = trace.tb_next
    return found


# --- the lines of operations -------------------------------------------------------------------


def called_lines(
    module: Any, inputs: Sequence[Any], named: Mapping[str, Any]
) -> dict[tuple[str, Line], list[Line]]:
    """Where operators are called: by their names and each line on the way to them, the innermost
    lines in the order of the calls.
    """
    import torch
    from torch.overrides import TorchFunctionMode

    found: dict[tuple[str, Line], list[Line]] = defaultdict(list)
    calls = 0
    bug: Exception | None = None

    def note(name: str, frame: FrameType) -> None:
        # A function of PyTorch and the operator that it becomes in the exported program,
        # `Tensor.add` and `aten.add`, have nothing in common but their names.
        lines = list(user_lines(frame))
        for line in dict.fromkeys(lines):
            found[_plain(name), line].append(lines[0])

    class Lines(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            nonlocal calls, bug
            calls += 1
            if calls <= MOST_CALLS:
                try:
                    note(getattr(func, "__name__", ""), sys._getframe(1))
                except Exception as problem:
                    bug = problem
                    raise
            return func(*args, **(kwargs or {}))

    try:
        with torch.no_grad(), Lines():
            module(*inputs, **named)
    except Exception:  # the user's code may raise anything; its program is known all the same
        if bug is not None:
            raise bug from None
        return {}
    return dict(found)


def _plain(name: str) -> str:
    return name.strip("_")


def with_lines(model: Model, lines: Mapping[tuple[str, Line], list[Line]]) -> Model:
    """The model with the innermost lines of operations that were called in functions."""
    taken: dict[tuple[str, Line], int] = defaultdict(int)
    operations = [_with_line(each, lines, taken) for each in model.graph.operations]
    graph = Graph(model.graph.inputs, model.graph.outputs, operations, model.graph.constants)
    return Model(graph, model.functions, model.said, model.version)


def _with_line(
    operation: Operation,
    lines: Mapping[tuple[str, Line], list[Line]],
    taken: dict[tuple[str, Line], int],
) -> Operation:
    place = operation.place
    if place is None:
        return operation
    key = _plain(operation.operator), (place.file, place.line)
    calls = lines.get(key)
    if not calls:
        return operation
    number, taken[key] = taken[key], taken[key] + 1
    line = calls[number] if number < len(calls) else calls[-1]
    made = operation.changed()
    made.written = operation.written
    made.place = place_at(*line, place.module)
    return made


# --- sizes that Python code reads --------------------------------------------------------------


def lines_that_read(program: Any) -> dict[str, Line]:
    """The lines where the exporter turned a size of an input into a number because Python code
    asked for one. It is PyTorch's own record, which other versions may not have.
    """
    found: dict[str, Line] = {}
    try:
        from sympy import Equality
        from torch._guards import detect_fake_mode
        from torch.utils._sympy.functions import Mod, PythonMod

        values = [node.meta["val"] for node in program.graph.nodes if "val" in node.meta]
        shapes = detect_fake_mode(values).shape_env
        names = {symbol: _name(text) for text, symbol in shapes.source_to_var.items()}
        for symbol, number in shapes.replacements.items():
            if number.is_Integer:
                _enter(found, names.get(symbol), shapes.replacements_slocs[symbol])
        for guard in shapes.guards:  # of what is computed from a size, `int(n ** 0.5)`
            symbols = guard.expr.free_symbols
            if isinstance(guard.expr, Equality) and len(symbols) == 1:
                left, right = guard.expr.args
                # a remainder may well be asked of any size
                if right.is_Integer and not isinstance(left, Mod | PythonMod):
                    _enter(found, names.get(next(iter(symbols))), guard.sloc)
    except (ImportError, AttributeError, LookupError):  # another version has it elsewhere
        return found
    return found


def _enter(found: dict[str, Line], name: str | None, location: Any) -> None:
    """Take down where a size was read, if that was in the user's program."""
    frame = location.framework_loc
    if name is not None and not isinstance(frame, str | None) and not is_torch(frame.filename):
        found.setdefault(name, (frame.filename, frame.lineno))


def _name(source: str | None) -> str | None:
    """`x[0]` of `L['x'].size()[0]`."""
    if source is None:
        return None
    try:
        return size_name(ast.parse(source, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
