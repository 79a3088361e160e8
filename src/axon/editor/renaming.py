"""Giving a name another one, if that changes nothing else."""

from __future__ import annotations

import re

from axon.editor.document import Document, Target
from axon.editor.places import is_of_library, same, uses_of
from axon.editor.values import Edit, Place, Refusal
from axon.editor.view import View
from axon.ops import OPERATORS
from axon.syntax import ast
from axon.syntax.tokens import ELEMENT_TYPES, RESERVED

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*'*")


def can_rename(document: Document, offset: int) -> Place | Refusal:
    """The place of the name at an offset, if it can have another one."""
    found = document.use_at(offset)
    if found is None:
        return Refusal("there is no name here")
    view, use = found
    target = document.target(view, use)
    refusal = _refused(target, use.name)
    if refusal is not None:
        return refusal
    return Place(document.name, use.start + view.start, use.end + view.start)


def _refused(target: Target | None, name: str) -> Refusal | None:
    if target is None:
        return Refusal(f"it is not known where `{name}` is bound")
    if target.document is None:
        return Refusal(f"`{name}` is an operator of the language")
    if is_of_library(target):
        return Refusal(f"`{name}` belongs to the standard library")
    binder = target.binder
    if binder is None:
        return Refusal("a file has no name in itself")
    if binder.kind == "field" or binder.taken:
        return Refusal(f"`{name}` is a field: other records may have it too")
    return None


def rename(document: Document, offset: int, new: str) -> list[Edit] | Refusal:
    found = document.use_at(offset)
    if found is None:
        return Refusal("there is no name here")
    target = document.target(*found)
    refusal = _refused(target, found[1].name)
    if refusal is not None or target is None or target.binder is None or target.view is None:
        return refusal or Refusal("there is no name here")
    binder = target.binder
    if not _NAME.fullmatch(new):
        return Refusal(f"`{new}` is not a name: letters, digits and `_`, then primes")
    if new in RESERVED or (new in ELEMENT_TYPES and binder.kind in ("size", "variable", "alias")):
        return Refusal(f"`{new}` is a word of the language")
    if new == binder.name:
        return []
    uses = list(uses_of(document, target))
    for other, view, use in uses:
        problem = _clash(other, view, new, target)
        if problem is not None:
            return problem
        if any(p.code.startswith("AX00") for p in other.diagnostics) and use.kind == "binder":
            broken = [p for p in other.diagnostics if p.code.startswith("AX00")]
            if any(p.severity == "error" for p in broken):
                return Refusal(f"{other.name} has mistakes that keep it from being read")
    places = sorted({Place(other.name, u.start + v.start, u.end + v.start) for other, v, u in uses})
    edits = [Edit(place, new) for place in places]
    return _if_nothing_else_changes(document, target, edits, new)


def _clash(document: Document, view: View, new: str, target: Target) -> Refusal | None:
    """Whether the new name means something already where the old one is used."""
    binder = target.binder
    assert binder is not None
    if binder.kind in ("definition", "operator", "import", "alias"):
        kind = "alias" if binder.kind == "alias" else ""
        if document is target.document and document.bound(new, kind):
            return Refusal(f"`{new}` is bound in {document.name} already")
    if binder.kind == "variable" and document.bound(new, "alias"):
        return Refusal(f"`{new}` is a type of {document.name} already")
    if document is target.document or binder.kind == "parameter":
        if any(use.name == new and _meets(use.kind) for use in view.names.uses):
            if document is target.document:
                return Refusal(f"`{new}` means something else in the same definition")
    return None


def _meets(kind: str) -> bool:
    return kind not in ("field", "member", "argument")


def _if_nothing_else_changes(
    document: Document, target: Target, edits: list[Edit], new: str
) -> list[Edit] | Refusal:
    """The edits, unless a name that was bound before means something else after them: an operator
    that is hidden, or one that no longer is.
    """
    binder = target.binder
    assert binder is not None
    top = binder.kind in ("definition", "operator")
    if top and target.document is not None and target.view is not None:
        for view in target.document.views:
            for use in view.names.uses:
                if use.binder is None and use.kind == "value" and use.name == new:
                    return Refusal(f"`{new}` is used in {target.document.name}: it would be hidden")
    if top and binder.name in OPERATORS and target.document is not None:
        for view in target.document.views:
            for use in view.names.uses:
                if use.name == binder.name and use.kind == "value" and use.binder is None:
                    found = target.document.target(view, use)
                    if found is not None and not same(found, target) and found.document is None:
                        continue
    return edits


def is_import(view: View) -> bool:
    return isinstance(view.item, ast.Import)
