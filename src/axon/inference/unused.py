"""Names that are bound and never used, and definitions that are bound twice: both are warnings.

A name that begins with `_` is meant to be unused. A definition of the file is there for others, so
it is used. A parameter counts as used where a size that its type names is a value in the body or in
a condition, and a parameter that is a size where that size is named at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from axon.diagnostics import Diagnostic, Label, Severity
from axon.inference.environment import bound_names
from axon.inference.program import Failed
from axon.source import Span
from axon.syntax import ast


@dataclass(slots=True)
class _Bound:
    """A name that is bound in a function: what it is, and its type if one is written. `again` is
    where the same block binds it once more.
    """

    name: str
    span: Span
    what: str
    type: ast.TypeExpr | None = None
    used: bool = False
    again: Span | None = None


@dataclass(slots=True)
class _Scope:
    outer: _Scope | None
    names: dict[str, _Bound] = field(default_factory=dict)

    def find(self, name: str) -> _Bound | None:
        scope: _Scope | None = self
        while scope is not None:
            found = scope.names.get(name)
            if found is not None:
                return found
            scope = scope.outer
        return None


def unused_names(
    items: Iterable[ast.Item], result: ast.Expr | None, failed: Iterable[Failed]
) -> list[Diagnostic]:
    """The warnings of a file, or of a part of one. A definition with an error has none: the error
    may be that a name is not spelt as it was bound.
    """
    wrong = {each.whole for each in failed}
    found: list[Diagnostic] = []
    for item in items:
        if isinstance(item, ast.Binding) and item.span not in wrong:
            found += _Uses().of(item.value)
    if result is not None and result.span not in wrong:
        found += _Uses().of(result)
    return found


class _Uses:
    """The names of one definition. A name that no function binds may be a size, which belongs to
    the entire definition.
    """

    def __init__(self) -> None:
        self.bound: list[_Bound] = []
        self.values: set[str] = set()

    def of(self, expr: ast.Expr) -> list[Diagnostic]:
        self._expr(expr, _Scope(None))
        unused = [each for each in self.bound if not each.used]
        if any(each.type is not None for each in unused):
            self.values.update(_sizes_in_conditions(expr))
            named = Counter(_sizes(expr))
            unused = [each for each in unused if not self._by_size(each, named)]
        return [_unused(each) for each in unused]

    def _by_size(self, bound: _Bound, named: Counter[str]) -> bool:
        """Whether a size that its type names is used."""
        is_size = isinstance(bound.type, ast.DimValueType | ast.ShapeValueType)
        return any(
            name in self.values or (is_size and named[name] > 1) for name in _sizes(bound.type)
        )

    def _expr(self, expr: object, scope: _Scope) -> None:
        todo = [expr]
        while todo:
            node = todo.pop()
            kind = type(node)
            if kind is ast.Name:
                assert isinstance(node, ast.Name)
                self._use(node.name, scope)
            elif kind is ast.Call:
                assert isinstance(node, ast.Call)
                todo.append(node.function)
                todo.extend(node.args)
                for attribute in node.attributes:
                    todo.append(attribute.value)
            elif kind is ast.Infix:
                assert isinstance(node, ast.Infix)
                todo.append(node.left)
                todo.append(node.right)
            elif kind is ast.Fn:
                assert isinstance(node, ast.Fn)
                self._fn(node, scope)
            elif kind is ast.Block:
                assert isinstance(node, ast.Block)
                self._block(node, scope)
            elif kind is not ast.Number:
                todo.extend(_parts(node))

    def _use(self, name: str, scope: _Scope) -> None:
        found = scope.find(name)
        if found is None:
            self.values.add(name)
        else:
            found.used = True

    def _fn(self, fn: ast.Fn, scope: _Scope) -> None:
        inner = _Scope(scope)
        for param in fn.params:
            if param.default is not None:
                self._expr(param.default, scope)
            self._bind(_Bound(param.name, param.name_span, "parameter", param.type), inner)
        self._block(fn.body, inner)

    def _block(self, block: ast.Block, scope: _Scope) -> None:
        inner = _Scope(scope)
        for binding in block.bindings:
            self._expr(binding.value, inner)
            fields = set(_fields(binding.pattern))
            for name, span in bound_names(binding.pattern):
                self._bind(_Bound(name, span, "field" if span in fields else "binding"), inner)
        self._expr(block.result, inner)

    def _bind(self, bound: _Bound, scope: _Scope) -> None:
        before = scope.names.get(bound.name)
        if before is not None:
            before.again = bound.span
        scope.names[bound.name] = bound
        if not bound.name.startswith("_"):
            self.bound.append(bound)


def _fields(pattern: ast.Pattern) -> Iterator[Span]:
    """The names in a pattern that are those of fields."""
    if isinstance(pattern, ast.RecordPattern):
        yield from (item.span for item in pattern.items)
    elif isinstance(pattern, ast.TuplePattern):
        for item in pattern.items:
            yield from _fields(item)


def _sizes(node: object) -> Iterator[str]:
    """The sizes and shapes that the types and the conditions in a tree name, each time that they
    do.
    """
    return (each.name for each in _descendants(node) if isinstance(each, ast.IndexName))


def _sizes_in_conditions(node: object) -> Iterator[str]:
    """Those of conditions alone."""
    for each in _descendants(node):
        if isinstance(each, ast.Fn):
            yield from _sizes(each.where)


def _descendants(node: object) -> Iterator[object]:
    """A node, and every node that it consists of."""
    todo = [node]
    while todo:
        current = todo.pop()
        yield current
        todo.extend(_parts(current))


def _parts(node: object) -> Iterator[object]:
    """The nodes that a node consists of, directly."""
    if isinstance(node, tuple):
        yield from node
    elif type(node).__module__ == ast.__name__:
        for name in type(node).__match_args__:  # type: ignore[attr-defined]
            part = getattr(node, name)
            if not isinstance(part, str | Span):
                yield part


def _unused(bound: _Bound) -> Diagnostic:
    advice = f"use it, remove it, or call it `_{bound.name}`"
    if bound.what == "field":  # it cannot have another name
        advice = "use it, or remove it"
    message = f"the {bound.what} `{bound.name}` is not used"
    labels: tuple[Label, ...] = (Label(bound.span, "", True),)
    if bound.again is not None:  # the uses that one sees are of the other
        message += " before it is bound again"
        labels = (*labels, Label(bound.again, "from here on it is this one"))
    return Diagnostic("AX305", Severity.WARNING, message, labels, help=(advice,))


def bound_twice(bound: Iterable[tuple[str, Span]]) -> list[Diagnostic]:
    """The warnings about names of a file that are bound again."""
    first: dict[str, Span] = {}
    found: list[Diagnostic] = []
    for name, span in bound:
        before = first.get(name)
        first[name] = span
        if before is not None:
            labels = (Label(span, "bound again", primary=True), Label(before, "bound here before"))
            message = f"`{name}` is bound again: from here on it is this one"
            found.append(Diagnostic("AX304", Severity.WARNING, message, labels))
    return found


def names_of(items: Iterable[ast.Item]) -> Iterator[tuple[str, Span]]:
    """The names that a file defines, the operators that it declares, and its types, whose names are
    apart.
    """
    for item in items:
        if isinstance(item, ast.Binding):
            yield from bound_names(item.pattern)
        elif isinstance(item, ast.OpDecl):
            yield item.name, item.name_span
        elif isinstance(item, ast.TypeAlias):
            yield f"type {item.name}", item.name_span
