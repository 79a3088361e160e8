"""The picture of a definition: from its syntax tree and the types of its expressions.

A call is a box, inside which is the drawing of the function at the types of the call. Calls with
the same types share a drawing. Sizes and numbers are written in the box that takes them.
"""

from __future__ import annotations

from collections.abc import Mapping

from axon.diagnostics import Severity
from axon.inference.environment import bound_names
from axon.pages.chains import merge_chains, split_inputs
from axon.pages.drawing import Drawing, Kind, Picture
from axon.pages.expressions import Expressions
from axon.pages.labels import clip, type_text
from axon.pages.marks import mark_problems
from axon.pages.matching import matched, unchanged
from axon.pages.recorded import Recorded
from axon.pages.symbols import number_all
from axon.pages.values import Closure, Inline, Named, Page, Parts, Scope, Value, Wire
from axon.source import Span
from axon.syntax import ast
from axon.types.show import Names, Show
from axon.types.type import Fn, Type, type_variables
from axon.workspace import workspace


def picture_of(recorded: Recorded, name: str, start: int | None = None) -> Picture | None:
    """The picture of a definition, the last one of that name or the one whose name starts there;
    None if there is none.
    """
    for at in reversed(recorded.places.get(name, [])):
        item = recorded.items[at]
        if not isinstance(item, ast.Binding):
            continue
        if start is None or any(span.start == start for _, span in bound_names(item.pattern)):
            with workspace():
                return _Draw(recorded).definition(name, item, at)
    return None


class _Draw(Expressions):
    def __init__(self, recorded: Recorded) -> None:
        super().__init__()
        self.recorded = recorded
        self.show = Show(Names())
        self.shared: dict[object, tuple[int, list[Wire]]] = {}
        self.inputs: dict[tuple[Page, int], Type | None] = {}

    def definition(self, name: str, item: ast.Binding, at: int) -> Picture:
        scope = Scope(self.recorded, at, unchanged())
        self.picture.title = name
        page = self.page(name)
        type_ = self.recorded.type_of(item.value)
        if type_ is not None:
            self.show.names.reserve(type_variables(type_))
            self.picture.signature = type_text(type_, self.show)
            self.show.type(type_)  # names its variables in the order of the signature
        if isinstance(item.value, ast.Fn):
            scope = scope.within()
            params = type_.params if isinstance(type_, Fn) else ()
            self._params(page, item.value, scope, params, {})
            self._body(page, item.value.body, scope)
        else:
            self._result(page, self.expr(page, item.value, scope), item.value, scope)
        self._finish(page)
        errors = [d for d in self.recorded.diagnostics if d.severity == Severity.ERROR]
        mark_problems(self.picture, errors, item.span)
        for drawing in self.picture.drawings:
            split_inputs(drawing)
            merge_chains(drawing)
        number_all(self.picture)
        return self.picture

    # --- drawings ---

    def page(self, name: str) -> Page:
        drawing = Drawing(name)
        self.picture.drawings.append(drawing)
        return Page(drawing, self.show)

    def _finish(self, page: Page) -> None:
        """An input that nothing takes has an output too: its type."""
        for at, box in enumerate(page.drawing.boxes):
            if box.kind == Kind.INPUT and not box.outputs:
                known = self.inputs.get((page, at))
                page.output(Wire(page, at, (), known))

    def _params(
        self,
        page: Page,
        fn: ast.Fn,
        scope: Scope,
        types: tuple[Type, ...],
        given: Mapping[int, Value],
    ) -> None:
        for i, param in enumerate(fn.params):
            type_ = scope.renaming.type(types[i]) if i < len(types) else None
            value = given.get(i)
            if isinstance(value, Closure | Named):
                scope.names[param.name] = value
                continue
            if isinstance(value, Inline):
                scope.names[param.name] = Inline(param.name)
                continue
            box = page.box(Kind.INPUT, param.name, [], param.span)
            self.inputs[page, box] = type_
            if param.default is not None:
                page.drawing.boxes[box].lines.append(f"= {clip(param.default.span.text)}")
            scope.names[param.name] = Wire(page, box, (), type_)

    def _body(self, page: Page, block: ast.Block, scope: Scope) -> None:
        value, inner = self._block(page, block, scope)
        self._result(page, value, block.result, inner)

    def _block(self, page: Page, block: ast.Block, scope: Scope) -> tuple[Value, Scope]:
        inner = scope.within()
        for binding in block.bindings:
            if isinstance(binding.value, ast.Fn) and isinstance(binding.pattern, ast.NamePattern):
                name = binding.pattern.name
                closed = Scope(inner.home, inner.at, inner.renaming, inner.outer, {**inner.names})
                inner.names[name] = Closure(binding.value, closed, name)
                continue
            self._bind(page, binding.pattern, self.expr(page, binding.value, inner), inner)
        return self.expr(page, block.result, inner), inner

    def _bind(self, page: Page, pattern: ast.Pattern, value: Value, scope: Scope) -> None:
        match pattern:
            case ast.NamePattern(name, _):
                page.name(value, name)
                scope.names[name] = value
            case ast.TuplePattern(items, _):
                for i, item in enumerate(items):
                    self._bind(page, item, self.part(value, str(i)), scope)
            case ast.RecordPattern(items, _):
                for item in items:
                    self._bind(page, item, self.part(value, item.name), scope)

    def _result(self, page: Page, value: Value, expr: ast.Expr, scope: Scope) -> None:
        if isinstance(value, Parts) and value.items:
            for i, item in enumerate(value.items):
                name = value.names[i] if value.names else str(i)
                self._one_result(page, item, f"result {name}", expr.span)
            return
        self._one_result(page, value, "result", expr.span)

    def _one_result(self, page: Page, value: Value, title: str, place: Span) -> None:
        lines = self.lines([value])
        box = page.box(Kind.RESULT, title, lines, None)
        page.connect(value, box, 0)

    def function_drawing(
        self, closure: Closure, given: list[Value], type_: Fn | None
    ) -> tuple[int | None, list[Wire]]:
        """The drawing of a function at a call, and what it takes from around itself."""
        own = closure.scope.home.type_of(closure.fn)
        outer = closure.scope.renaming
        renaming = outer if own is None or type_ is None else matched(own, type_, outer)
        params = own.params if isinstance(own, Fn) else ()
        values = {i: v for i, v in enumerate(given) if not isinstance(v, Wire | Parts)}
        key = (
            id(closure.fn),
            id(closure.scope.outer),
            tuple(sorted((n, id(v)) for n, v in closure.scope.names.items())),
            tuple(self.show.type(renaming.type(p)) for p in params),
            tuple((i, v if isinstance(v, Inline | Named) else id(v)) for i, v in values.items()),
        )
        known = self.shared.get(key)
        if known is not None:
            return known
        if not self._can_open():
            return None, []
        self.depth += 1
        page = self.page(closure.name or "fn")
        index = len(self.picture.drawings) - 1
        scope = closure.scope.within(renaming)
        self._params(page, closure.fn, scope, params, values)
        self._body(page, closure.fn.body, scope)
        self._finish(page)
        self.depth -= 1
        self.shared[key] = index, page.captured
        return index, page.captured
