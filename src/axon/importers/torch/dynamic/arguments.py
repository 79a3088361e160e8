"""The `dynamic_shapes=` argument of `torch.export.export`, in which free sizes have names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from axon.importers.torch.archive import Archive
from axon.importers.torch.document import Document, WrongDocument

DEEPEST = 32
LONGEST = 200_000
NAME = re.compile(r"\w+")


@dataclass(slots=True)
class Argument:
    """The text of the argument, and the lines that make the `Dim`s in it; empty if no size is
    free.
    """

    lines: list[str] = field(default_factory=list)
    text: str = ""

    def __str__(self) -> str:
        return "\n".join([*self.lines, f"dynamic_shapes={self.text}"]) if self.text else ""


@dataclass(frozen=True, slots=True)
class DimSpec:
    """A size in terms of a `Dim`: `scale*root + offset`."""

    root: str
    scale: int = 1
    offset: int = 0

    def __str__(self) -> str:
        text = self.root if self.scale == 1 else f"{self.scale}*{self.root}"
        if self.offset:
            text += f" {'+' if self.offset > 0 else '-'} {abs(self.offset)}"
        return text


@dataclass(frozen=True, slots=True)
class Range:
    least: int | None = None
    most: int | None = None


def argument(
    specs: Mapping[str, Mapping[int, DimSpec]], ranges: Mapping[str, Range], archive: Archive
) -> Argument:
    """The argument for the inputs of a program; `ranges` are of the `Dim`s in their order."""
    used = {spec.root for axes in specs.values() for spec in axes.values()}
    roots = [name for name in ranges if name in used]
    if not roots:
        return Argument()
    lines = [f"{name} = {_dim(name, ranges[name])}" for name in roots]
    return Argument(lines, _written(tree_of(archive, list(specs)), specs))


def _dim(name: str, bounds: Range) -> str:
    given = [f'"{name}"']
    if bounds.least is not None:
        given.append(f"min={bounds.least}")
    if bounds.most is not None:
        given.append(f"max={bounds.most}")
    return f"Dim({', '.join(given)})"


def _written(tree: Any, specs: Mapping[str, Mapping[int, DimSpec]]) -> str:
    match tree:
        case str():
            axes = specs.get(tree)
            listed = ", ".join(f"{axis}: {spec}" for axis, spec in (axes or {}).items())
            return f"{{{listed}}}" if listed else "None"
        case dict():
            items = ", ".join(f'"{name}": {_written(each, specs)}' for name, each in tree.items())
            return f"{{{items}}}"
        case tuple():
            items = ", ".join(_written(each, specs) for each in tree)
            return f"({items},)" if len(tree) == 1 else f"({items})"
        case list():
            return f"[{', '.join(_written(each, specs) for each in tree)}]"
        case _:
            return "None"


# --- how inputs are nested ---


def tree_of(archive: Archive, names: list[str]) -> Any:
    """The user's inputs as the module takes them: by name, with lists and dictionaries of tensors
    as they are nested. A leaf is the name of an input, or None.
    """
    try:
        found = _nested(archive.program["graph_module"])
    except WrongDocument:  # another version of PyTorch may write it in another way
        found = None
    return {name: name for name in names} if found is None else found


def _nested(module: Document) -> dict[str, Any] | None:
    """The arguments of `forward` by their names, as they are nested; None if there are others than
    tensors. Raises `WrongDocument`.
    """
    specs = [spec.case() for spec in module["signature"]["input_specs"].items()]
    calls = module["module_call_graph"].items()
    if not calls or any(case == "constant_input" for case, _ in specs):
        return None
    signature = calls[0]["signature"]
    if len(signature["in_spec"].text()) > LONGEST:
        return None
    leaves = [_leaf(spec["arg"]) for case, spec in reversed(specs) if case == "user_input"]
    args, kwargs = _pair(_pair(signature["in_spec"].embedded())[1]["children_spec"])
    listed, named = args["children_spec"].items(), kwargs["children_spec"].items()
    own = [name.text() for name in signature["forward_arg_names"].items()]
    names = [*own[: len(listed)], *_keys(kwargs, len(named))]
    if len(names) != len(listed) + len(named) or not all(map(NAME.fullmatch, names)):
        return None
    found = [_tree(each, leaves, 0) for each in (*listed, *named)]
    return dict(zip(names, found, strict=True))


def _leaf(arg: Document) -> str | None:
    found = arg.find("as_tensor")
    return None if found is None else found["name"].text()


def _pair(listed: Document) -> list[Document]:
    found = listed.items()
    if len(found) != 2:
        raise listed.wrong("has not two items")
    return found


def _keys(spec: Document, count: int) -> list[str]:
    """The keys of a dictionary with so many values."""
    context = spec["context"]
    found = [key.text() for key in context.embedded().items()]
    if len(found) != count:
        raise context.wrong("has not a key for each value")
    return found


def _tree(spec: Document, leaves: list[str | None], depth: int) -> Any:
    """What an argument is made of. `leaves` are those not used so far, the next one last."""
    if depth > DEEPEST:
        raise spec.wrong(f"is nested more than {DEEPEST} deep")
    if spec["type"].value is None:
        if not leaves:
            raise spec.wrong("is one more than there are inputs")
        return leaves.pop()
    kind, children = spec["type"].text(), spec["children_spec"].items()
    inner = [_tree(each, leaves, depth + 1) for each in children]
    if kind == "builtins.dict":
        return dict(zip(_keys(spec, len(inner)), inner, strict=True))
    return tuple(inner) if kind == "builtins.tuple" else inner
