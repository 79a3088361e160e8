"""The `dynamic_shapes=` argument of `torch.export.export`, in which free sizes have names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from axon.importers.torch.archive import Archive

DEEPEST = 32
LONGEST = 200_000


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
    flat = {name: name for name in names}
    try:
        module = archive.program["graph_module"]
        signature = module["module_call_graph"][0]["signature"]
        text, own = signature["in_spec"], signature["forward_arg_names"]
        specs = module["signature"]["input_specs"]
        leaves = iter([_leaf(spec["user_input"]) for spec in specs if "user_input" in spec])
        if len(text) > LONGEST or any("constant_input" in spec for spec in specs):
            return flat
        spec = json.loads(text)[1]
        args, kwargs = spec["children_spec"]
        keys = json.loads(kwargs["context"])
        found = [_tree(each, leaves, 0) for each in args["children_spec"]]
        found += [_tree(each, leaves, 0) for each in kwargs["children_spec"]]
        every = [*own[: len(args["children_spec"])], *keys]
    except (KeyError, TypeError, IndexError, ValueError, StopIteration, RecursionError):
        return flat
    if len(every) != len(found) or not all(
        isinstance(name, str) and re.fullmatch(r"\w+", name) for name in every
    ):
        return flat
    return dict(zip(every, found, strict=True))


def _leaf(given: Any) -> str | None:
    found = given["arg"].get("as_tensor")
    return None if found is None else str(found["name"])


def _tree(spec: Any, leaves: Iterator[str | None], depth: int) -> Any:
    kind, children = spec["type"], spec["children_spec"]
    if depth > DEEPEST:
        raise ValueError
    if kind is None:
        return next(leaves)
    inner = [_tree(each, leaves, depth + 1) for each in children]
    if kind == "builtins.dict":
        return dict(zip(json.loads(spec["context"]), inner, strict=True))
    return tuple(inner) if kind == "builtins.tuple" else inner
