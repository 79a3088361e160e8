"""Expressions as boxes: what each becomes in a drawing."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace

from axon.inference.recording.record import Default
from axon.ops import OPERATORS
from axon.pages.drawing import Kind, Picture
from axon.pages.labels import clip
from axon.pages.matching import unchanged
from axon.pages.recorded import Recorded
from axon.pages.values import Closure, Inline, Named, Page, Parts, Scope, Value, Wire
from axon.syntax import ast
from axon.syntax.tokens import ELEMENT_TYPES
from axon.types.type import DimValue, Fn, Record, ShapeValue, Tuple, Type

DEEPEST = 16
"""Levels of drawings inside each other."""
MOST_BOXES = 12_000
"""Beyond these no further box can be opened."""


class Expressions:
    """The walk over expressions, one method for each kind; `program.py` makes the drawings."""

    def __init__(self) -> None:
        self.picture = Picture("")
        self.tops: dict[tuple[Recorded, int], Scope] = {}
        self.depth = 0

    @abstractmethod
    def function_drawing(
        self, closure: Closure, given: list[Value], type_: Fn | None
    ) -> tuple[int | None, list[Wire]]:
        """The drawing of a function at a call, and what it takes from around itself."""

    @abstractmethod
    def page(self, name: str) -> Page:
        """A new drawing."""

    def _can_open(self) -> bool:
        return self.depth < DEEPEST and self.picture.count <= MOST_BOXES

    def expr(self, page: Page, expr: ast.Expr, scope: Scope) -> Value:
        match expr:
            case ast.Name():
                return self._name(page, expr.name, expr, scope)
            case ast.Number() | ast.String():
                return Inline(clip(expr.span.text))
            case ast.Fn():
                value = scope.home.record.rewritten.get(expr.span, expr)
                assert isinstance(value, ast.Fn)
                return Closure(value, scope, "")
            case ast.TupleExpr(items, _):
                return Parts(tuple(self.expr(page, item, scope) for item in items))
            case ast.Record():
                return self._record(page, expr, scope)
            case ast.Field():
                dotted = scope.home.find(expr.dotted, scope.at) if expr.dotted else None
                if dotted is not None and scope.find(expr.dotted.split(".")[0]) is None:
                    return self._name(page, expr.dotted, expr, scope)
                return self.part(self.expr(page, expr.record, scope), expr.name)
            case ast.OperatorName(op, _):
                return Named(op)
            case ast.Broken():
                return self._box(page, Kind.UNKNOWN, "?", [], [], expr, scope)
            case _ if isinstance(scope.type(expr), DimValue | ShapeValue):
                return Inline(clip(" ".join(expr.span.text.split())))
            case ast.Infix():
                return self._infix(page, expr, scope)
            case ast.Negate(operand, _):
                if isinstance(operand, ast.Number):
                    return Inline(expr.span.text)
                values = [self.expr(page, operand, scope)]
                if isinstance(values[0], Inline):
                    return Inline(clip(expr.span.text))
                return self._box(page, Kind.OPERATOR, "−", values, [], expr, scope)
            case ast.Not(operand, _):
                values = [self.expr(page, operand, scope)]
                return self._box(page, Kind.OPERATOR, "not", values, [], expr, scope)
            case ast.If():
                values = [self.expr(page, part, scope) for part in expr.parts]
                named = [replace(v, name=n) if isinstance(v, Closure) else v
                         for v, n in zip(values, ("", "then", "else"), strict=True)]  # fmt: skip
                return self._operator(page, "if", named, [], expr, scope)
            case ast.Subscript():
                return self._subscript(page, expr, scope)
            case ast.ListExpr() if expr.span not in scope.home.record.uses:
                return Inline(clip(" ".join(expr.span.text.split())))
            case ast.ListExpr(items, _):
                values = [self.expr(page, item, scope) for item in items]
                return self._box(page, Kind.OPERATOR, "[…]", values, [], expr, scope)
            case ast.Call():
                return self._call(page, expr, scope)

    def _name(self, page: Page, name: str, expr: ast.Expr, scope: Scope) -> Value:
        found = scope.find(name)
        if found is not None:
            return found
        place = scope.home.find(name, scope.at)
        if place is not None:
            home, item, at = place
            if isinstance(item, ast.OpDecl):
                return Named(item.name, declared=True)
            if isinstance(item, ast.Binding):
                return self._global(page, name, home, item, at)
        if name in OPERATORS:
            return Named(name)
        if name in ELEMENT_TYPES or isinstance(scope.type(expr), DimValue | ShapeValue):
            return Inline(name)
        return self._box(page, Kind.UNKNOWN, name, [], [], expr, scope)

    def _global(self, page: Page, name: str, home: Recorded, item: ast.Binding, at: int) -> Value:
        """A definition: a function, or a value, which is a box that opens."""
        value, scope = item.value, Scope(home, at, unchanged())
        if isinstance(value, ast.Fn):
            own = name.rpartition(".")[2]
            return Closure(value, self._top(home, at), own)
        type_ = home.type_of(value)
        if isinstance(value, ast.Name | ast.OperatorName | ast.Field) and isinstance(type_, Fn):
            return self.expr(page, value, scope)
        if isinstance(type_, DimValue | ShapeValue) or isinstance(value, ast.Number):
            return Inline(name)
        known = page.constants.get(id(item))
        if known is not None:
            return known
        box = page.box(Kind.CONSTANT, name, [], item.span)
        thunk = ast.Fn((), None, (), ast.Block((), value, value.span), value.span)
        index, captured = self.function_drawing(Closure(thunk, self._top(home, at), name), [], None)
        assert not captured
        page.drawing.boxes[box].inside = index
        whole = Wire(page, box, (), type_)
        found: Value = whole
        if isinstance(item.pattern, ast.TuplePattern):
            for i, part in enumerate(item.pattern.items):
                if isinstance(part, ast.NamePattern) and part.name == name.rpartition(".")[2]:
                    found = self.part(whole, str(i))
        elif isinstance(item.pattern, ast.RecordPattern):
            found = self.part(whole, name)
        page.constants[id(item)] = found
        return found

    def _top(self, home: Recorded, at: int) -> Scope:
        key = home, at
        if key not in self.tops:
            self.tops[key] = Scope(home, at, unchanged())
        return self.tops[key]

    def _record(self, page: Page, expr: ast.Record, scope: Scope) -> Value:
        fields = {field.name: self.expr(page, field.value, scope) for field in expr.fields}
        if expr.base is not None:
            base = self.expr(page, expr.base, scope)
            type_ = scope.type(expr.base)
            own = type_.names if isinstance(type_, Record) else ()
            for name in own:
                fields.setdefault(name, self.part(base, name))
        names = tuple(sorted(fields))
        return Parts(tuple(fields[name] for name in names), names)

    def part(self, value: Value, key: str) -> Value:
        match value:
            case Parts(items, names):
                if key in names:
                    return items[names.index(key)]
                if not names and key.isdigit() and int(key) < len(items):
                    return items[int(key)]
                return Inline("?")
            case Wire(page, box, path, type_):
                return Wire(page, box, (*path, key), _part_type(type_, key))
            case _:
                return Inline("?")

    def _infix(self, page: Page, expr: ast.Infix, scope: Scope) -> Value:
        """The left spine is a loop, since chains are left-associative and may be long."""
        spine: list[ast.Infix] = []
        left: ast.Expr = expr
        while isinstance(left, ast.Infix):
            spine.append(left)
            left = left.left
        found = self.expr(page, left, scope)
        for node in reversed(spine):
            if isinstance(scope.type(node), DimValue | ShapeValue):
                found = Inline(clip(node.span.text))
                continue
            values = [found, self.expr(page, node.right, scope)]
            title = node.op
            rest: list[Value] = [v for v in values if not isinstance(v, Inline)]
            if not rest:
                found = Inline(clip(" ".join(node.span.text.split())))
                continue
            if len(rest) == 1:
                texts = [v.text if isinstance(v, Inline) else "" for v in values]
                title = " ".join(filter(None, (texts[0], title, texts[1])))
                values = rest
            found = self._operator(page, title, values, [], node, scope)
        return found

    def _subscript(self, page: Page, expr: ast.Subscript, scope: Scope) -> Value:
        values = [self.expr(page, part, scope) for part in expr.parts]
        text = " ".join(expr.span.text[expr.value.span.end - expr.span.start :].split())
        values = [values[0], *(v for v in values[1:] if isinstance(v, Wire))]
        return self._box(page, Kind.OPERATOR, "index", values, [clip(text)], expr, scope)

    def _call(self, page: Page, call: ast.Call, scope: Scope) -> Value:
        record = scope.home.record
        if call.span in record.rewritten:
            return self.expr(page, record.rewritten[call.span], scope)
        function = call.function
        callee: Value
        if isinstance(function, ast.Fn):
            callee = Closure(function, scope, "")
        else:
            callee = self.expr(page, function, scope)
        given = record.arguments.get(call.span, call.args)
        args: list[Value] = []
        for arg in given:
            if isinstance(arg, Default):
                args.append(Inline(f"{arg.name} = default"))
            else:
                args.append(self.expr(page, arg, scope))
        lines = [clip(f"{a.name} = {' '.join(a.value.span.text.split())}") for a in call.attributes]
        for attribute in call.attributes:
            value = self.expr(page, attribute.value, scope)
            if isinstance(value, Wire | Closure):
                args.append(value)
        match callee:
            case Closure():
                return self._closure_call(page, callee, args, call, scope)
            case Named(name, declared):
                if declared and not args:
                    return self._box(page, Kind.WEIGHT, name, [], lines, call, scope)
                return self._operator(page, name, args, lines, call, scope)
            case _:
                title = clip(" ".join(function.span.text.split()), 24)
                if isinstance(callee, Inline) and scope.type(call) is None:
                    return Inline(clip(" ".join(call.span.text.split())))
                return self._box(page, Kind.FUNCTION, title, [callee, *args], lines, call, scope)

    def _closure_call(
        self, page: Page, closure: Closure, args: list[Value], call: ast.Call, scope: Scope
    ) -> Value:
        found = scope.home.called(call)
        type_ = None if found is None else scope.renaming.type(found)
        lines = []
        for param, value in zip(closure.fn.params, args, strict=False):
            if isinstance(value, Inline):
                text = value.text.partition(" = ")[0]
                if value.text.endswith("= default") and param.default is not None:
                    text = param.default.span.text
                lines.append(clip(f"{param.name} = {text}"))
        fn = type_ if isinstance(type_, Fn) else None
        index, captured = self.function_drawing(closure, args, fn)
        values = [*args, *captured]
        wire = self._box(page, Kind.FUNCTION, closure.name or "fn", values, lines, call, scope)
        assert isinstance(wire, Wire)
        page.drawing.boxes[wire.box].inside = index
        return wire

    def _operator(
        self,
        page: Page,
        title: str,
        values: list[Value],
        lines: list[str],
        expr: ast.Expr,
        scope: Scope,
    ) -> Value:
        """An operator: functions among its operands are inside."""
        functions = [v for v in values if isinstance(v, Closure)]
        named = [v.name for v in values if isinstance(v, Named)]
        plain = self.lines(values)
        index: int | None = None
        captured: list[Wire] = []
        if len(functions) == 1:
            index, captured = self.function_drawing(
                functions[0], [], self._types(1, expr, scope)[0]
            )
        elif functions:
            index, captured = self._several(functions, title, expr, scope)
        wire = self._box(
            page, Kind.OPERATOR, title, [*values, *captured], [*named, *plain, *lines], expr, scope,
            inline=False,
        )  # fmt: skip
        page.drawing.boxes[wire.box].inside = index
        return wire

    def _types(self, count: int, expr: ast.Expr, scope: Scope) -> list[Fn | None]:
        """The types of the functions that an operator is given."""
        found = [scope.renaming.type(t) for t in scope.home.functions_at(expr.span)]
        if len(found) != count:
            return [None] * count
        return [t if isinstance(t, Fn) else None for t in found]

    def _several(
        self, functions: list[Closure], title: str, expr: ast.Expr, scope: Scope
    ) -> tuple[int | None, list[Wire]]:
        """A drawing with a box for each of several functions."""
        if not self._can_open():
            return None, []
        page = self.page(title)
        at = len(self.picture.drawings) - 1
        for function, type_ in zip(
            functions, self._types(len(functions), expr, scope), strict=True
        ):
            index, captured = self.function_drawing(function, [], type_)
            box = page.box(Kind.FUNCTION, function.name or "fn", [], function.fn.span)
            page.drawing.boxes[box].inside = index
            for port, wire in enumerate(captured):
                page.connect(wire, box, port)
        return at, page.captured

    def lines(self, values: list[Value]) -> list[str]:
        texts = [v.text for v in values if isinstance(v, Inline)]
        return [clip(", ".join(texts))] if texts else []

    def _box(
        self,
        page: Page,
        kind: Kind,
        title: str,
        values: list[Value],
        lines: list[str],
        expr: ast.Expr,
        scope: Scope,
        inline: bool = True,
    ) -> Wire:
        shown = [*self.lines(values), *lines] if inline and kind != Kind.FUNCTION else lines
        box = page.box(kind, title, shown, expr.span)
        for port, value in enumerate(values):
            page.connect(value, box, port)
        return Wire(page, box, (), scope.type(expr))


def _part_type(type_: Type | None, key: str) -> Type | None:
    if isinstance(type_, Record):
        return type_.fields.get(key)
    if isinstance(type_, Tuple) and key.isdigit() and int(key) < len(type_.items):
        return type_.items[int(key)]
    return None
