"""Canonical source from the tree.

Law: `parse(print(tree))` is the tree again, apart from spans, and no comment is lost. A comment
stays before the binding or result it stood before, or at the end of the line that it ended; one
inside an expression moves before the binding that the expression belongs to.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Generator
from dataclasses import dataclass, field

from axon.source import Span
from axon.syntax.ast import (
    Binding,
    Block,
    Broken,
    Call,
    Condition,
    Expr,
    Field,
    Fn,
    If,
    Import,
    Infix,
    Item,
    ListExpr,
    Name,
    NamePattern,
    Negate,
    NewAxis,
    Not,
    Number,
    OpDecl,
    OperatorName,
    Param,
    Pattern,
    Program,
    Record,
    RecordPattern,
    Rest,
    Slice,
    String,
    Subscript,
    SubscriptItem,
    TupleExpr,
    TuplePattern,
    TypeAlias,
)
from axon.syntax.layout import (
    Doc,
    Hard,
    Join,
    Line,
    Remark,
    bracketed,
    commas,
    group,
    indent,
    join,
    render,
)
from axon.syntax.lexer import quote
from axon.syntax.print_types import print_condition, print_type
from axon.syntax.tokens import COMPARISON, INFIX_LEVEL, NOT, PIPE, POWER


def print_program(program: Program) -> str:
    """The text of a file, with a newline at its end."""
    comments = _Comments(program.comments)
    statements: list[tuple[Doc, Span]] = [
        (_build(_item(item), comments), item.span) for item in program.items
    ]
    if program.result is not None:
        result = _build(_bare(program.result), comments)
        statements.append((result, program.result.span))
    last = program.result is not None
    text = render(_sequence(statements, last, comments, len(comments.spans)))
    return text + "\n" if text else ""


def print_expr(expr: Expr) -> str:
    """The text of an expression; a tuple has its parentheses."""
    comments = _Comments(())
    return _leaf(expr) or render(_build(_expr(expr, comments), comments))


def print_pattern(pattern: Pattern) -> str:
    """The text of a pattern; a bare tuple has no parentheses."""
    match pattern:
        case TuplePattern(items) if items:
            return ", ".join([_nested_pattern(item) for item in items])
        case _:
            return _nested_pattern(pattern)


def _nested_pattern(pattern: Pattern) -> str:
    match pattern:
        case NamePattern(name):
            return name
        case TuplePattern(items):
            return f"({', '.join([_nested_pattern(item) for item in items])})"
        case RecordPattern(names):
            return f"{{ {', '.join([each.name for each in names])} }}" if names else "{}"


# --- statements and their comments -------------------------------------------------------------


@dataclass(slots=True)
class _Comments:
    """The comments of a file in order; each is taken once, by the innermost block around it."""

    spans: tuple[Span, ...]
    taken: set[int] = field(default_factory=set)

    def before(self, offset: int) -> int:
        """How many comments begin before an offset."""
        return bisect_left(self.spans, offset, key=lambda span: span.start)

    def take(self, first: int, last: int) -> list[Span]:
        """Those with these numbers that are still free."""
        free = [at for at in range(first, last) if at not in self.taken]
        self.taken.update(free)
        return [self.spans[at] for at in free]


def _sequence(
    statements: list[tuple[Doc, Span]],
    last_is_result: bool,
    comments: _Comments,
    end: int,
    first: int = 0,
) -> Doc:
    """Statements, each on a line of its own, with the comments numbered `first` up to `end`."""
    lines: list[Doc] = []

    def begin_line(span: Span) -> None:
        if lines:
            lines.append(Hard(blank=_blank_before(span)))

    for at, (doc, span) in enumerate(statements):
        until = comments.before(span.end)
        for comment in comments.take(first, until):
            begin_line(comment)
            lines.append(Remark(comment.text))
        begin_line(span)
        lines.append(doc)
        if not (last_is_result and at == len(statements) - 1):
            lines.append(";")
        first = max(first, until)
        if first < end and _same_line(span, comments.spans[first]):
            lines.extend(Remark("  " + each.text) for each in comments.take(first, first + 1))
    for comment in comments.take(first, end):
        begin_line(comment)
        lines.append(Remark(comment.text))
    return Join(tuple(lines))


def _blank_before(span: Span) -> bool:
    """Was there an empty line before this? One is kept."""
    before = span.source.text[max(0, span.start - 400) : span.start]
    return before[len(before.rstrip()) :].count("\n") > 1


def _same_line(span: Span, comment: Span) -> bool:
    return "\n" not in span.source.text[span.end : comment.start]


# --- expressions -----------------------------------------------------------------------------
#
# A builder yields each expression inside its own and is sent that one's document. They are run from
# a list, so that nesting costs no Python frames.

_Builder = Generator[Expr, Doc, Doc]


def _build(builder: _Builder, comments: _Comments) -> Doc:
    """Run a builder and those it asks for."""
    running = [builder]
    done: Doc | None = None
    while True:
        try:
            wanted = next(running[-1]) if done is None else running[-1].send(done)
        except StopIteration as stop:
            done = stop.value
            running.pop()
            if not running:
                return stop.value  # type: ignore[no-any-return]
        else:
            done = _leaf(wanted)
            if done is None:
                running.append(_expr(wanted, comments))


def _leaf(expr: Expr) -> str | None:
    match expr:
        case Name(name):
            return name
        case Number(text=text):
            return text
        case String(value):
            return quote(value)
        case OperatorName(op):
            return f"({op})"
        case Broken(span):
            return " ".join(span.text.split()) or "..."
        case _:
            return None


def _item(item: Item) -> _Builder:
    match item:
        case Import(path, alias):
            return f"import {quote(path)} as {alias}"
        case OpDecl(name, signature):
            head = f"op {name} : {print_type(signature.type)}"
            return group(head, indent(*_where(signature.where)))
        case TypeAlias(name, params, type_):
            given = f"({', '.join(params)})" if params else ""
            return f"type {name}{given} = {print_type(type_)}"
        case Binding(pattern, value):
            doc = yield from _bare(value)
            return join(print_pattern(pattern), " = ", doc)


def _bare(expr: Expr) -> _Builder:
    """An expression where a tuple needs no parentheses."""
    match expr:
        case TupleExpr(items) if items:
            docs = yield from _all(items)
            return group(indent(commas(docs)))
        case _:
            return (yield expr)


def _all(items: tuple[Expr, ...]) -> Generator[Expr, Doc, list[Doc]]:
    docs: list[Doc] = []
    for item in items:
        docs.append((yield item))
    return docs


def _expr(expr: Expr, comments: _Comments) -> _Builder:
    match expr:
        case Call(piped=True) | Infix() | Not():
            return (yield from _chain(expr))
        case Call():
            return (yield from _call(expr, expr.args))
        case Negate():
            return (yield from _negated(expr))
        case Subscript():
            return (yield from _subscript(expr))
        case TupleExpr(items):
            return bracketed("(", (yield from _all(items)), ")")
        case ListExpr(items):
            return bracketed("[", (yield from _all(items)), "]")
        case Record():
            return (yield from _record(expr))
        case Field(record, name):
            return join((yield from _callee(record)), f".{name}")
        case Fn():
            return (yield from _fn(expr, comments))
        case If():
            return (yield from _if(expr, comments))
        case _:
            return (yield expr)


def _record(record: Record) -> _Builder:
    items: list[Doc] = []
    for each in record.fields:
        items.append(join(f"{each.name} = ", (yield each.value)))
    if record.base is not None:
        base = yield record.base
        items = [join(Line(), commas(items))] if items else []
        return group("{ ", base, " |", indent(*items), Line(), "}")
    return group("{", indent(Line(), commas(items)), Line(), "}") if items else "{}"


def _callee(expr: Expr, bare: bool = False) -> _Builder:
    """An expression before a call, a field or a subscript; one that is `bare` stands alone behind
    `|>`.
    """
    doc = yield expr
    match expr:
        case Infix() | Negate() | Not() | Call(piped=True):
            enclosed = True
        case Call():
            enclosed = bare
        case Fn() | If():
            enclosed = not bare
        case Number(kind=kind):
            enclosed = kind != "bool"
        case _:
            enclosed = False
    return join("(", doc, ")") if enclosed else doc


def _call(call: Call, args: tuple[Expr, ...]) -> _Builder:
    """A call with these of its arguments; `x |> f` has no parentheses for them."""
    bare = len(args) < len(call.args) and not args and not call.attributes
    callee = yield from _callee(call.function, bare)
    if bare:
        return callee
    given: list[Doc] = []
    for arg in args:
        given.append(arg.op if isinstance(arg, OperatorName) else (yield arg))
    for attribute in call.attributes:
        given.append(join(attribute.name + "=", (yield attribute.value)))
    return join(callee, bracketed("(", given, ")"))


def _subscript(expr: Subscript) -> _Builder:
    value = yield from _callee(expr.value)
    items: list[Doc] = []
    for item in expr.items:
        items.append((yield from _subscript_item(item)))
    return join(value, bracketed("[", items, "]"))


def _subscript_item(item: SubscriptItem) -> _Builder:
    match item:
        case Rest():
            return "..."
        case NewAxis():
            return "None"
        case Slice(start, stop, step):
            parts: list[Doc] = []
            for i, bound in enumerate((start, stop, step)):
                if i == 1 or (i == 2 and step is not None):
                    parts.append(":")
                if bound is not None:
                    parts.append((yield bound))
            return join(*parts)
        case _:
            return (yield item)


_Parts = list[tuple[Expr | str | Line | Join, int]]
"""Parts of a chain, the last one first, each with the level of what is around it."""


def _enclosed(parts: _Parts, own: int, level: int) -> _Parts:
    """The parts in parentheses, if what is around them binds tighter."""
    return [(")", 0), *parts, ("(", 0)] if own < level else parts


def _negated(expr: Negate) -> _Builder:
    """Signs in a loop, then what they are put before."""
    signs = 0
    operand: Expr = expr
    while isinstance(operand, Negate):
        signs += 1
        operand = operand.operand
    doc = yield operand
    match operand:
        case Infix(op="**"):
            pass
        case Infix() | Fn() | If() | Not() | Call(piped=True):
            doc = join("(", doc, ")")
        case _:
            pass
    return join("-" * signs, doc)


def _chain(expr: Call | Infix | Not) -> _Builder:
    """A tree of infix operators, in a loop: the left spine of a chain may be very long.

    It may be broken before each operator.
    """
    docs: list[Doc] = []
    waiting: _Parts = [(expr, 0)]
    while waiting:
        part, level = waiting.pop()
        match part:
            case Infix("**", left, right):
                waiting += _enclosed([(right, POWER), ("**", 0), (left, POWER + 1)], POWER, level)
            case Infix(op, left, right):
                own = INFIX_LEVEL[op]
                inner: _Parts = [(right, own + 1), (f"{op} ", 0), (Line(), 0)]
                inner.append((left, own + 1 if own == COMPARISON else own))
                waiting += _enclosed(inner, own, level)
            case Not(operand):
                waiting += _enclosed([(operand, NOT), ("not ", 0)], NOT, level)
            case Call(piped=True) if part.args:
                call = yield from _call(part, part.args[1:])
                into = Join((Line(), "|> ", call))
                waiting += _enclosed([(into, 0), (part.args[0], PIPE)], PIPE, level)
            case Negate() if level > POWER:
                docs.append(join("(", (yield part), ")"))
            case str() | Line() | Join():
                docs.append(part)
            case Fn() | If():
                docs.append(join("(", (yield part), ")"))
            case operand:
                docs.append((yield operand))
    return group(indent(*docs))


# --- functions -------------------------------------------------------------------------------


def _fn(fn: Fn, comments: _Comments) -> _Builder:
    params: list[Doc] = []
    for param in fn.params:
        doc = _param(param)
        params.append(doc if param.default is None else join(doc, " = ", (yield param.default)))
    head: list[Doc] = ["fn ", bracketed("(", params, ")")]
    if fn.result is not None:
        head.append(f" : {print_type(fn.result)}")
    if fn.where:
        head.append(group(indent(*_where(fn.where))))
    body = yield from _block(fn.body, comments)
    return join(*head, " ", body)


def _if(expr: If, comments: _Comments) -> _Builder:
    condition = yield expr.condition
    if _has_bare_record(expr.condition):
        condition = join("(", condition, ")")
    then = yield from _block(expr.then.body, comments)
    match expr.otherwise.body:
        case Block((), If() as nested):
            otherwise = yield nested
        case body:
            otherwise = yield from _block(body, comments)
    return join("if ", condition, " ", then, " else ", otherwise)


def _has_bare_record(expr: Expr) -> bool:
    """Whether a record stands in an expression outside of brackets."""
    waiting = [expr]
    while waiting:
        match waiting.pop():
            case Record():
                return True
            case Infix(_, left, right):
                waiting += [left, right]
            case Negate(operand) | Not(operand):
                waiting.append(operand)
            case Field(value) | Subscript(value) | Call(value, piped=False):
                waiting.append(value)
            case Call(function, args):
                waiting += [function, *args[:1]]
            case _:
                pass
    return False


def _param(param: Param) -> Doc:
    return param.name if param.type is None else f"{param.name} : {print_type(param.type)}"


def _where(conditions: tuple[Condition, ...]) -> list[Doc]:
    if not conditions:
        return []
    return [Line(), "where ", indent(commas([print_condition(each) for each in conditions]))]


def _block(block: Block, comments: _Comments) -> _Builder:
    """On one line if it is just a value, with no comment, and short."""
    first = comments.before(block.span.start)
    end = comments.before(block.span.end)
    statements: list[tuple[Doc, Span]] = []
    for binding in block.bindings:
        statements.append(((yield from _item(binding)), binding.span))
    statements.append(((yield from _bare(block.result)), block.result.span))
    if len(statements) == 1 and first == end:
        return group("{", indent(Line(), statements[0][0]), Line(), "}")
    body = _sequence(statements, True, comments, end, first)
    return join("{", indent(Hard(), body), Hard(), "}")
