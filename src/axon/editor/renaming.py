"""Giving a name another one, if that changes nothing else."""

from __future__ import annotations

import re

from axon.editor.edited_file import EditedFile, Target
from axon.editor.names import Names, Use
from axon.editor.places import is_of_library, uses_of
from axon.editor.targets import target_of
from axon.editor.values import Edit, Place, Refusal
from axon.editor.view import View
from axon.source import Source
from axon.syntax import ast, parse_program
from axon.syntax.tokens import ELEMENT_TYPES, RESERVED

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*'*")


def can_rename(document: EditedFile, offset: int) -> Place | Refusal:
    """The place of the name at an offset, if it can have another one."""
    found = document.use_at(offset)
    if found is None:
        return Refusal("there is no name here")
    view, use = found
    target = _renamed(target_of(document, view, use), use.name)
    if isinstance(target, Refusal):
        return target
    return Place(document.name, use.start + view.start, use.end + view.start)


def _renamed(target: Target | None, name: str) -> Target | Refusal:
    """What a name stands for, if that can have another name."""
    if target is None:
        return Refusal(f"it is not known where `{name}` is bound")
    if target.document is None:
        return Refusal(f"`{name}` is an operator of the language")
    if is_of_library(target):
        return Refusal(f"`{name}` belongs to the standard library")
    binder = target.binder
    if binder is None or target.view is None:
        return Refusal("a file has no name in itself")
    if binder.kind == "field" or binder.taken:
        return Refusal(f"`{name}` is a field: other records may have it too")
    return target


def rename(document: EditedFile, offset: int, new: str) -> list[Edit] | Refusal:
    found = document.use_at(offset)
    if found is None:
        return Refusal("there is no name here")
    target = _renamed(target_of(document, *found), found[1].name)
    if isinstance(target, Refusal):
        return target
    binder = target.binder
    assert binder is not None
    if not _NAME.fullmatch(new) or new == "_":
        return Refusal(f"`{new[:60]}` is not a name: letters, digits and `_`, then primes")
    if new in RESERVED or (new in ELEMENT_TYPES and binder.kind in ("size", "variable", "alias")):
        return Refusal(f"`{new}` is a word of the language")
    if new == binder.name:
        return []
    uses = list(uses_of(document, target))
    problem = _taken_in_file(target, new)
    if problem is not None:
        return problem
    by_view: dict[View, tuple[EditedFile, list[Use]]] = {}
    for other, view, use in uses:
        by_view.setdefault(view, (other, []))[1].append(use)
    for view, (other, here) in by_view.items():
        if view.broken:
            return Refusal(f"a definition of {other.name} that uses it cannot be read")
        bound = any(b.name == new for b in view.names.binders)
        if bound or not _means_the_same(view, here, new):
            return Refusal(f"`{new}` means something else in a definition of {other.name}")
    places = {Place(other.name, u.start + v.start, u.end + v.start) for other, v, u in uses}
    return [Edit(place, new) for place in sorted(places)]


def _taken_in_file(target: Target, new: str) -> Refusal | None:
    """Whether a file knows the new name of one of its own: then one of the two would be hidden."""
    binder, document = target.binder, target.document
    assert binder is not None and document is not None
    if binder.kind not in ("definition", "operator", "import", "alias"):
        return None
    is_type = binder.kind == "alias"
    if document.bound(new, "alias" if is_type else ""):
        return Refusal(f"`{new}` is bound in {document.name} already")
    kinds = ("type",) if is_type else ("value",)
    for view in document.views:
        if any(u.name == new and u.binder is None and u.kind in kinds for u in view.names.uses):
            return Refusal(f"`{new}` is used in {document.name}, and would be this one")
    return None


def _means_the_same(view: View, uses: list[Use], new: str) -> bool:
    """Whether every name of a definition is bound where it was, after these have a new one."""
    span = view.item.span
    text, moved = span.text, -span.start
    changed = {use.start for use in uses}
    for use in sorted(uses, key=lambda use: use.start):
        text = text[: use.start + moved] + new + text[use.end + moved :]
        moved += len(new) - len(use.name)
    program, problems = parse_program(Source(span.source.name, text))
    if problems:
        return False
    item = program.items[0] if program.items else None
    if program.result is not None:
        result = program.result
        item = ast.Binding(ast.NamePattern("main", result.span), result, result.span)
    if item is None:
        return False
    return _structure(view.names, changed, new) == _structure(Names(item), set(), new)


def _structure(names: Names, changed: set[int], new: str) -> list[tuple[str, str, int]]:
    """Every use with its name, and the binder that it has, by number."""
    numbers = {id(binder): at for at, binder in enumerate(names.binders)}
    return [
        (use.kind, new if use.start in changed else use.name, numbers.get(id(use.binder), -1))
        for use in names.uses
    ]
