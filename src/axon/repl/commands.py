"""The commands of a session, `:name argument`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from axon.repl.asking import explain, plain, show_type, time_of, why
from axon.repl.files import load, reload_files, save
from axon.repl.reports import Quit, Report, Said, refusal
from axon.repl.statements import State, check_again
from axon.source import Source

MakeSource = Callable[[str], Source]
"""A source for a text that was typed, with the numbers of its lines."""


@dataclass(frozen=True, slots=True)
class Command:
    """`argument` is how `:help` shows what it takes; `takes` is how a terminal completes it."""

    name: str
    argument: str
    help: str
    run: Callable[[State, str, MakeSource], Iterator[Report]]
    takes: str = ""


def command(state: State, text: str, make_source: MakeSource) -> Iterator[Report]:
    """Do what a line says that begins with a colon. A prefix that only one has is enough."""
    name, _, argument = text[1:].strip().partition(" ")
    name, argument = name.strip(), argument.strip()
    found = COMMANDS.get({"?": "help"}.get(name, name))
    if found is None:
        begun = [each for each in COMMANDS.values() if name and each.name.startswith(name)]
        if len(begun) != 1:
            raise refusal(_unknown(name, [each.name for each in begun]))
        found = begun[0]
    if found.argument and not found.argument.startswith("[") and not argument:
        raise refusal(f":{found.name} is used like this: :{found.name} {found.argument}")
    if argument and not found.argument:
        raise refusal(f":{found.name} takes nothing after it")
    yield from found.run(state, argument, make_source)


def _unknown(name: str, begun: list[str]) -> str:
    names = begun or get_close_matches(name, COMMANDS, 3)
    meant = " or ".join(f":{each}" for each in names)
    what = f"there is no command :{name}" if not begun else f":{name} may be {meant}"
    if begun:
        return what
    return f"{what}; did you mean {meant}?" if meant else f"{what}; :help lists them"


# --- commands that need no module of their own -----------------------------------------------


def _load(state: State, path: str, _: MakeSource) -> Iterator[Report]:
    return load(state, _unquoted(path))


def _reload(state: State, _: str, __: MakeSource) -> Iterator[Report]:
    return reload_files(state)


def _save(state: State, path: str, _: MakeSource) -> Iterator[Report]:
    return save(state, _unquoted(path))


def _unquoted(path: str) -> str:
    quoted = len(path) > 1 and path[0] == path[-1] and path[0] in "'\""
    return path[1:-1] if quoted else path


BACKENDS = ("numpy", "jax")
"""Those that take the values of a session."""


def _backend(state: State, name: str, _: MakeSource) -> Iterator[Report]:
    from axon.run.backend import backend

    if not name:
        yield Said(state.backend.name)
        return
    if name not in BACKENDS:
        raise refusal(f"there is no backend {name!r} here: there are 'numpy' and 'jax'")
    try:
        state.backend = backend(name)
    except (ImportError, ValueError) as problem:
        raise refusal(str(problem)) from None
    yield Said(f"from here on {name} computes")


def _names(state: State, _: str, __: MakeSource) -> Iterator[Report]:
    lines = [each.line for each in state.table.known.values()]
    yield Said("\n".join(lines) if lines else "nothing is defined yet")


def _forget(state: State, text: str, _: MakeSource) -> Iterator[Report]:
    names = text.replace(",", " ").split()
    before = state.table
    kinds = ("", "type ", "import ")
    gone = [f"{kind}{name}" for name in names for kind in kinds if kind + name in before.known]
    unknown = [name for name in names if not any(kind + name in before.known for kind in kinds)]
    if unknown:
        raise refusal(unknown_name(state, unknown[0]))
    state.table = type(before)({k: v for k, v in before.known.items() if k not in gone})
    yield Said(f"forgotten: {', '.join(gone)}")
    yield from check_again(state, gone, before)


def unknown_name(state: State, name: str) -> str:
    known = ", ".join(state.table.known) or "nothing yet"
    return f"`{name}` is not defined here; what is: {known}"


def _ops(_: State, text: str, __: MakeSource) -> Iterator[Report]:
    from axon.reference.operators import close_names, every_name, find, search
    from axon.reference.text import listed, page

    exact = find(text) if text else None
    if exact is not None:
        yield Said(page(exact))
        return
    found = search(text) if text else [e for name in every_name() if (e := find(name)) is not None]
    if not found:
        close = " or ".join(f"`{name}`" for name in close_names(text))
        meant = f"; did you mean {close}?" if close else ""
        raise refusal(f"no operator is called `{text}`{meant}")
    yield Said(listed(found, by_place=not text))


def _help(_: State, __: str, ___: MakeSource) -> Iterator[Report]:
    shown = [(f":{each.name} {each.argument}".rstrip(), each.help) for each in COMMANDS.values()]
    width = max(len(left) for left, _ in shown)
    lines = [f"  {left:<{width}}  {right}" for left, right in shown]
    yield Said("\n".join([_INTRODUCTION, "", *lines]))


_INTRODUCTION = """\
name = expression;       keeps a value, or a function; other lines may use it
expression               shows its type and its value
A line goes on while a bracket is open. The beginning of a command's name is enough."""


def _quit(_: State, __: str, ___: MakeSource) -> Iterator[Report]:
    yield Quit()


COMMANDS = {
    each.name: each
    for each in (
        Command("type", "EXPR", "its type; nothing is computed", show_type, "expression"),
        Command("plain", "NAME", "what a person would write down for its type", plain, "name"),
        Command("explain", "NAME", "how its type is derived; AX101: a code", explain, "name"),
        Command("why", "NAME WHAT", "why a size is what it is: n, x[1], result[0]", why, "name"),
        Command("time", "EXPR", "how long it takes to compute", time_of, "expression"),
        Command("load", "FILE", "the definitions of a program", _load, "file"),
        Command("reload", "", "load the files again", _reload),
        Command("save", "FILE", "write what is defined as a program", _save, "file"),
        Command("backend", "[numpy|jax]", "what computes", _backend, "backend"),
        Command("names", "", "what is defined, with types", _names),
        Command("forget", "NAME", "forget a definition or a value", _forget, "name"),
        Command("ops", "[TEXT]", "the operators, by name or by words", _ops, "operator"),
        Command("help", "", "this list", _help),
        Command("quit", "", "leave, as Ctrl-D does", _quit),
    )
}

__all__ = ["COMMANDS", "Command", "command", "reload_files"]
