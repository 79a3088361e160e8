"""`axon run`: a definition on arrays, from the command line."""

from __future__ import annotations

import argparse
import math
import sys
from typing import Any

import numpy

from axon.backends.ragged import Ragged
from axon.cli.bar import Bar
from axon.cli.files import FILES
from axon.cli.inputs import BadInput, read_input
from axon.cli.models import model_errors
from axon.cli.out import complain, print_diagnostics, say_json, wrong
from axon.cli.status import FINE, HAS_ERRORS, WRONG_USAGE
from axon.diagnostics import Severity
from axon.diagnostics.json import to_json
from axon.files import keep, read_program, replacing
from axon.importers.recognise import is_model
from axon.run.backend import backend
from axon.run.errors import AxonError, Misfit, ProgramError
from axon.run.function import Function
from axon.run.program import Program
from axon.run.shown import lines_of_result, type_of_result
from axon.run.structures import by_path
from axon.types.type import Fn


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=FILES)
    parser.add_argument("name", metavar="NAME", nargs="?", help="a definition; `model` of a model")
    parser.add_argument(
        "inputs",
        metavar="X=VALUE",
        nargs="*",
        help="a .npy, .npz (FILE.npz:KEY) or .safetensors file, a number, a list, rand[8,16], "
        "zeros[3], ones[3]",
    )
    parser.add_argument(
        "--backend", choices=("numpy", "jax"), default="numpy", help="what computes"
    )
    parser.add_argument(
        "--seed", type=_count, metavar="N", default=0, help="of what rand[…] makes up"
    )
    parser.add_argument("--save", metavar="PATH", help="write the result to a .npy or .npz file")
    parser.add_argument(
        "--json", action="store_true", help="the type and the value, or what is wrong, as JSON"
    )
    parser.add_argument(
        "--weights",
        metavar="PATH",
        help="a safetensors file with the values of the operators without arguments",
    )


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text} is no whole number")
    return int(text)


def run(options: argparse.Namespace) -> int:
    try:
        backend(options.backend)
    except ImportError as problem:
        complain(str(problem))
        return WRONG_USAGE
    model = is_model(options.file)
    if model and options.name is not None and "=" in options.name:  # it has one definition
        options.inputs.insert(0, options.name)
        options.name = None
    try:
        program = _program(options, model)
    except ProgramError as problem:
        errors = [d for d in problem.diagnostics if d.severity == Severity.ERROR]
        if not errors:
            complain(str(problem))
            return WRONG_USAGE
        if options.json:
            return _failed(AxonError(f"{options.file} has errors", errors))
        print_diagnostics(errors)
        return HAS_ERRORS
    if options.weights is not None:
        try:
            program.load_weights(options.weights)
        except AxonError as problem:
            complain(str(problem))
            return WRONG_USAGE if isinstance(problem, ProgramError) else HAS_ERRORS
    name = "model" if model and options.name is None else options.name
    known = ", ".join(program) or "none"
    if name is None:
        return wrong(f"say which definition of {options.file} to run: it has {known}")
    function = program.function(name)
    if function is None:
        return wrong(f"{options.file} has no definition `{name}`: it has {known}")
    taken = program._files()
    if options.weights is not None:
        taken[options.weights] = "the file of weights in use"
    try:
        given = _inputs(function, options.inputs, options.seed, taken)
        if options.save:
            keep(options.save, taken)  # before the work is done
        result = _run(function, given)
    except BadInput as problem:
        complain(str(problem))
        return WRONG_USAGE
    except AxonError as problem:
        if options.json:
            return _failed(problem)
        complain(str(problem))
        return HAS_ERRORS
    except MemoryError:
        complain(f"{name} needs more memory than there is")
        return HAS_ERRORS
    if options.json:
        say_json({"type": type_of_result(result), "value": _data(result)})
    else:
        _show(result)
    return _save(options.save, result, taken) if options.save else FINE


def _failed(problem: AxonError) -> int:
    """A program or a call with errors, as JSON."""
    diagnostics = [to_json(d) for d in problem.diagnostics]
    say_json({"message": problem.message, "diagnostics": diagnostics})
    return HAS_ERRORS


def _program(options: argparse.Namespace, model: bool) -> Program:
    if not model:
        return Program(read_program(options.file), options.backend)
    with model_errors():
        from axon.importers.formats import read_model
        from axon.run.models import ModelProgram

        return ModelProgram(read_model(options.file), options.backend)


def _inputs(
    function: Function, texts: list[str], seed: int, taken: dict[str, str]
) -> dict[str, Any]:
    """The arguments; the files that they are in are taken."""
    random = numpy.random.default_rng(seed)
    type_ = function.definition.scheme.type
    wanted = dict(zip(function.params, type_.params, strict=True)) if isinstance(type_, Fn) else {}
    given: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadInput(f"`{text}`: an input is written NAME=VALUE, as in x=rand[8,16]")
        if name in given:
            raise BadInput(f"`{name}` is given twice")
        if name not in function.params:
            listed = ", ".join(function.params) or "none"
            raise BadInput(
                f"{function.__name__} has no argument `{name}`: its arguments are {listed}"
            )
        try:
            given[name] = read_input(name, value, wanted.get(name), random, taken)
        except Misfit as misfit:
            from axon.run.fitted import place_of

            place = place_of(function.subject, name)
            raise misfit.error(f"`{name}` of {function.__name__}", place) from None
    asked = [name for name in function.params if name not in function.optional]
    missing = [f"`{name}`" for name in asked if name not in given]
    if missing:
        many = "is" if len(missing) == 1 else "are"
        raise BadInput(f"{function.__name__}: {', '.join(missing)} {many} missing")
    return given


def _run(function: Function, given: dict[str, Any]) -> Any:
    """Run, with a bar on the terminal if it takes long."""
    if not sys.stderr.isatty():
        return function.finished(function(**given))
    with Bar() as bar:
        function.watch(bar)
        return function.finished(function(**given))


def _show(result: Any) -> None:
    print("\n".join([type_of_result(result), *lines_of_result(result)]))


def _data(value: Any) -> object:
    """A result as lists, dicts and numbers. JSON has no infinities and no NaN: they are texts."""
    match value:
        case dict():
            return {name: _data(part) for name, part in value.items()}
        case tuple() | list():
            return [_data(part) for part in value]
        case Ragged():
            return _data(value.to_list())
        case bool() | int() | str() | None:
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case _:
            array = numpy.asarray(value)
            plain = array if array.dtype.kind in "biu" else array.astype(numpy.float64)
            return _data(plain.tolist())


def _save(path: str, result: Any, taken: dict[str, str]) -> int:
    if path.endswith(".safetensors"):
        from axon.run.weight_files import save

        keep(path, taken)
        try:
            save(path, result if isinstance(result, dict) else {"result": result})
        except AxonError as problem:
            return wrong(str(problem))
        return FINE
    if isinstance(result, dict):
        named = dict(by_path(result))
    else:
        parts = result if isinstance(result, tuple) else (result,)
        named = {f"result{i}": part for i, part in enumerate(parts)}
    if any(isinstance(part, Ragged | tuple | dict) for part in named.values()):
        return wrong("only tensors, and tuples and records of them, can be saved")
    if len(named) != 1 and not path.endswith(".npz"):
        return wrong(f"there are {len(named)} results: save them to a .npz or .safetensors file")
    with replacing(path, taken) as file:
        if path.endswith(".npz"):
            arrays: Any = {name: numpy.asarray(part) for name, part in named.items()}
            numpy.savez(file, allow_pickle=False, **arrays)
        else:
            (part,) = named.values()
            numpy.save(file, numpy.asarray(part), allow_pickle=False)
    return FINE
