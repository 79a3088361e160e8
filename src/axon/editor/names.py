"""The names in a definition: where each is bound, and where it is used.

Offsets are those of the text that the definition was read from. What a definition does not bind
itself is bound elsewhere in its file, in another one, or is an operator: that is for the document.
"""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass
from typing import Literal

from axon.syntax import ast
from axon.syntax.tokens import ELEMENT_TYPES
from axon.types.elements import CLASSES

Kind = Literal[
    "definition", "operator", "alias", "import", "parameter", "local", "field", "size", "variable"
]


@dataclass(frozen=True, slots=True, eq=False)
class Binder:
    """A name where it is bound: `visible` is the range of offsets from which it may be used;
    `value` is what it is bound to, or the type that is written for it. One that is `taken` stands
    in the pattern of a record: its name is that of a field.
    """

    name: str
    start: int
    end: int
    kind: Kind
    visible: tuple[int, int]
    value: ast.Expr | ast.TypeExpr | ast.Item | None = None
    function: ast.Fn | None = None
    """The function that has it as a parameter."""
    taken: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A name where it is used. The kind is `value`, `type`, `member` (of the file `of`), `argument`
    (of a call of `of`), `field` (of the record `of`) or `binder`. Without a binder it is bound
    outside of the definition.
    """

    name: str
    start: int
    end: int
    kind: str
    binder: Binder | None = None
    of: ast.Expr | Use | str | None = None
    node: object = None


_Scope = ChainMap[str, Binder]
"""The names of a function, then those around it."""


class Names:
    """The binders and the uses in an item, in the order of the text."""

    def __init__(self, item: ast.Item) -> None:
        self.item = item
        self.binders: list[Binder] = []
        self.uses: list[Use] = []
        self.fns: list[ast.Fn] = []
        self.calls: list[ast.Call] = []
        self._sizes: dict[str, Binder] = {}
        self._late: list[ast.Name] = []
        whole = item.span.start, item.span.end
        self._whole = whole
        match item:
            case ast.Import():
                end = item.span.end
                start = end - len(item.alias)
                self._bind(Binder(item.alias, start, end, "import", whole, item))
            case ast.OpDecl():
                span = item.name_span
                self._bind(Binder(item.name, span.start, span.end, "operator", whole, item))
                self._type(item.signature.type)
                self._conditions(item.signature.where)
            case ast.TypeAlias():
                span = item.name_span
                self._bind(Binder(item.name, span.start, span.end, "alias", whole, item))
                self._alias_params(item)
                self._type(item.type)
            case ast.Binding():
                self._binding(item, ChainMap(), "definition", whole)
        for name in self._late:
            size = self._sizes.get(name.name)
            if size is not None or "." not in name.name:
                self._use(name.name, name.span.start, "value", size, node=name)
        self.binders.sort(key=lambda b: b.start)
        self.uses.sort(key=lambda u: u.start)

    def at(self, offset: int) -> Use | None:
        """The name that the cursor is on, or right behind."""
        return next((u for u in self.uses if u.start <= offset <= u.end), None)

    # --- entering ---

    def _bind(self, binder: Binder) -> Binder:
        self.binders.append(binder)
        if binder.end > binder.start:
            self.uses.append(Use(binder.name, binder.start, binder.end, "binder", binder))
        return binder

    def _use(
        self,
        name: str,
        start: int,
        kind: str,
        binder: Binder | None = None,
        of: ast.Expr | Use | str | None = None,
        node: object = None,
    ) -> Use:
        use = Use(name, start, start + len(name), kind, binder, of, node)
        self.uses.append(use)
        return use

    # --- expressions ---

    def _binding(
        self, item: ast.Binding, scope: _Scope, kind: Kind, visible: tuple[int, int]
    ) -> None:
        self._expr(item.value, scope)
        self._pattern(item.pattern, item.value, scope, kind, visible, False)

    def _pattern(
        self,
        pattern: ast.Pattern,
        value: ast.Expr,
        scope: _Scope,
        kind: Kind,
        visible: tuple[int, int],
        taken: bool,
    ) -> None:
        if isinstance(pattern, ast.NamePattern):
            span = pattern.span
            if pattern.name != "_" and span.end - span.start == len(pattern.name):
                known = value if kind != "field" else None
                binder = Binder(
                    pattern.name, span.start, span.end, kind, visible, known, taken=taken
                )
                scope[pattern.name] = self._bind(binder)
            return
        taken = isinstance(pattern, ast.RecordPattern)
        for each in pattern.items:
            # what a part of a pattern stands for is not written
            self._pattern(each, ast.Broken(value.span), scope, kind, visible, taken)

    def _expr(self, expr: object, scope: _Scope) -> None:
        todo: list[object] = [expr]
        while todo:
            node = todo.pop()
            match node:
                case ast.Name(name, span):
                    binder = scope.get(name)
                    if binder is not None:
                        self._use(name, span.start, "value", binder, node=node)
                    else:
                        self._late.append(node)
                case ast.Field(record, name, span):
                    todo.append(record)
                    end = span.end
                    of_file = isinstance(record, ast.Name) and scope.get(record.name) is None
                    kind = "member" if of_file and isinstance(record, ast.Name) else "field"
                    of = (
                        record.name if kind == "member" and isinstance(record, ast.Name) else record
                    )
                    self._use(name, end - len(name), kind, None, of, node)
                case ast.Call(function, args, attributes, _):
                    self.calls.append(node)
                    todo.append(function)
                    todo.extend(args)
                    for each in attributes:
                        self._use(each.name, each.span.start, "argument", None, function, node)
                        todo.append(each.value)
                case ast.Infix(_, left, right, _, _):
                    todo += (left, right)
                case ast.Negate(operand, _) | ast.Not(operand, _):
                    todo.append(operand)
                case ast.TupleExpr(items, _) | ast.ListExpr(items, _):
                    todo.extend(items)
                case ast.Record(base, fields, _):
                    todo.append(base)
                    for each in fields:
                        self._use(each.name, each.span.start, "field", None, node, each)
                        todo.append(each.value)
                case ast.Fn():
                    self._fn(node, scope)
                case ast.If() | ast.Subscript():
                    todo.extend(node.parts)
                case _:
                    pass

    def _fn(self, fn: ast.Fn, scope: _Scope) -> None:
        self.fns.append(fn)
        inner = scope.new_child()
        body = fn.body
        visible = fn.span.start, fn.span.end
        for param in fn.params:
            if param.default is not None:
                self._expr(param.default, scope)
            span = param.name_span
            binder = Binder(param.name, span.start, span.end, "parameter", visible, param.type, fn)
            if param.name != "_" and span.end > span.start:
                inner[param.name] = self._bind(binder)
            self._type(param.type)
        self._type(fn.result)
        self._conditions(fn.where)
        local = inner.new_child()
        for binding in body.bindings:
            seen = binding.span.end, max(body.span.end, binding.span.end)
            self._binding(binding, local, "local", seen)
        self._expr(body.result, local)

    # --- types ---

    def _alias_params(self, item: ast.TypeAlias) -> None:
        text, start = item.span.source.text, item.name_span.end
        for name in item.params:
            at = text.find(name, start)
            if at < 0:
                return
            start = at + len(name)
            self._sizes[name] = self._bind(Binder(name, at, start, "size", self._whole))

    def _size(self, name: str, start: int, kind: Kind) -> None:
        known = self._sizes.get(name)
        if known is not None:
            self._use(name, start, "type", known)
            return
        binder = Binder(name, start, start + len(name), kind, self._whole)
        self._sizes[name] = self._bind(binder)

    def _conditions(self, conditions: tuple[ast.Condition, ...]) -> None:
        for each in conditions:
            match each:
                case ast.Relation(_, left, right, _):
                    self._type(left)
                    self._type(right)
                case ast.Compatible(args, _):
                    for arg in args:
                        self._type(arg)
                case ast.ElementClass(name, _, span) if name not in CLASSES:
                    self._size(name, span.start, "variable")
                case _:
                    pass

    def _type(self, type_: object) -> None:
        """The names in a type, a shape or a dimension, from left to right."""
        match type_:
            case ast.IndexName(name, runtime, span):
                start = span.start + (span.source.text[span.start : span.start + 1] == "?")
                if not runtime or span.end > start:
                    self._size(name, start, "size")
            case ast.Star(span, name) if name:
                self._size(name, span.end - len(name), "size")
            case ast.DimOp(_, left, right, _):
                self._type(left)
                self._type(right)
            case ast.DimCall(_, items, _) | ast.Dims(items, _) | ast.BroadcastOf(items, _):
                for item in items:
                    self._type(item)
            case ast.Append(parts, _):
                for part in parts:
                    self._type(part)
            case ast.ShapeMeasure(_, shape, _) | ast.ShapeValueType(shape, _):
                self._type(shape)
            case ast.DimValueType(dim, _):
                self._type(dim)
            case ast.TensorType(elem, shape, span):
                if elem not in ELEMENT_TYPES:
                    self._size(elem, span.start, "variable")
                self._type(shape)
            case ast.NamedType(name, span):
                self._named_type(name, span.start)
            case ast.AliasType(name, args, span):
                self._named_type(name, span.start)
                for arg in args:
                    self._type(arg)
            case ast.TupleType(types, _):
                for each in types:
                    self._type(each)
            case ast.FnType(params, result, _):
                for each in (*params, result):
                    self._type(each)
            case ast.RecordType(fields, _, _):
                for each_field in fields:
                    start = each_field.span.start
                    self._use(each_field.name, start, "field", None, None, each_field)
                    self._type(each_field.type)
            case _:
                pass

    def _named_type(self, name: str, start: int) -> None:
        """A type by name: an alias, which the document knows, or a variable."""
        file, dot, rest = name.partition(".")
        if dot:
            self._use(file, start, "value")
            self._use(rest, start + len(file) + 1, "member", None, file, "type")
        else:
            self._use(name, start, "type", self._sizes.get(name))
