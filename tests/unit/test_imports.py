"""Modules of a package do not import each other in a circle, not even for types alone."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "src"
CIRCLES = {
    frozenset({"axon.types.atoms", "axon.types.poly"}),  # atoms hold dimensions, and are in them
    frozenset({"axon.backends.ragged", "axon.backends.ragged_forms"}),  # its methods convert
}
"""Two modules of one thing each."""


def modules() -> dict[str, Path]:
    found = {}
    for path in (ROOT / "axon").rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imports(path: Path, known: dict[str, Path]) -> set[str]:
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found.update(name if name in known else node.module for name in names)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found & known.keys()


def reached(start: str, graph: dict[str, set[str]]) -> set[str]:
    todo, found = list(graph[start]), set[str]()
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo.extend(graph[name])
    return found


def test_no_circles() -> None:
    known = modules()
    graph = {name: imports(path, known) - {name} for name, path in known.items()}
    reach = {name: reached(name, graph) for name in graph}
    circles = {
        frozenset(other for other in reach[name] if name in reach[other])
        for name in graph
        if name in reach[name]
    }
    assert circles == CIRCLES
