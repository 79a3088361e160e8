"""Expressions: operands with their calls, infix operators by precedence, functions and blocks.

Depth is counted at every bracket, `fn` and `-`; a level costs at most five Python frames. Infix
chains cost none: they are joined in a loop, and lean left.
"""

from __future__ import annotations

from axon.diagnostics.value import error
from axon.source import Span
from axon.syntax.ast import (
    Attribute,
    Binding,
    Block,
    Broken,
    Call,
    Expr,
    Field,
    Fn,
    Infix,
    ListExpr,
    Name,
    NamePattern,
    Negate,
    Number,
    OperatorName,
    Param,
    String,
    TupleExpr,
)
from axon.syntax.cursor import HEADER, LIST, MAX_DEPTH, MAX_DIGITS, STATEMENT, Cursor
from axon.syntax.lexer import unquote
from axon.syntax.parse_index import parse_where
from axon.syntax.parse_pattern import parse_pattern
from axon.syntax.parse_record import parse_record
from axon.syntax.parse_types import parse_annotation
from axon.syntax.tokens import COMPARISON, INFIX_LEVEL

_EXPRESSION_STARTS = frozenset(
    {"name", "int", "float", "inf", "true", "false", "string", "(", "[", "{", "fn", "-"}
)


def parse_expr(p: Cursor, commas: bool = False) -> Expr:
    """An expression; with `commas`, a bare `a, b` is a tuple."""
    start = p.at
    left = _operand(p)
    if p.kind in INFIX_LEVEL:
        left = _infix(p, left)
    if not commas or p.kind != ",":
        return left
    items = [left]
    while p.kind == ",":
        p.stuck = False
        p.advance()
        left = _operand(p)
        items.append(_infix(p, left) if p.kind in INFIX_LEVEL else left)
    return TupleExpr(tuple(items), p.since(start))


def _infix(p: Cursor, left: Expr) -> Expr:
    """What follows the first operand. Never more than three operators are held back."""
    held: list[tuple[Expr, str, Span, int]] = []
    while (level := INFIX_LEVEL.get(p.kind, 0)) and not p.stuck:
        while held and held[-1][3] >= level:
            if level == COMPARISON and held[-1][3] == COMPARISON:
                label, help = "a second comparison", "put parentheses around one of them"
                p.add(error("AX002", "comparisons do not chain", p.here(), label, help))
            left = _join(held.pop(), left)
        held.append((left, p.kind, p.here(), level))
        p.advance()
        left = _operand(p)
    while held:
        left = _join(held.pop(), left)
    return left


def _join(held: tuple[Expr, str, Span, int], right: Expr) -> Expr:
    left, op, op_span, _ = held
    return Infix(op, left, right, op_span, left.span.to(right.span))


# --- operands --------------------------------------------------------------------------------


def _operand(p: Cursor) -> Expr:
    """Signs, a part, and the calls made of it. A `(` on the line after a `fn` begins anew."""
    start = p.at
    while p.kind == "-":
        p.advance()
        p.depth += 1
    signs = p.at - start
    part: Expr
    if signs and p.depth > MAX_DEPTH:
        p.depth -= signs
        return Broken(p.too_deep())
    if p.kind in _NESTED:
        part = Broken(p.too_deep()) if p.depth >= MAX_DEPTH else _NESTED[p.kind](p)
    else:
        part = _leaf(p)
    calls = 0
    while p.kind in ("(", "field") and not p.stuck:
        if p.kind == "field":
            calls += 1
            part = _field(p, part, start + signs)
            continue
        if isinstance(part, Fn) and p.at in p.tokens.fresh:
            break
        if p.depth >= MAX_DEPTH:
            p.too_deep()
            continue
        calls += 1
        if calls > MAX_DEPTH:
            p.report_too_deep()
            p.skip()
            break
        if calls > 1 or not isinstance(part, Name):
            p.curried = True
        part = _call(p, part, start + signs)
    p.depth -= signs
    for minus in range(start + signs - 1, start - 1, -1):
        part = Negate(part, Span(p.source, p.starts[minus], part.span.end))
    return part


def _field(p: Cursor, record: Expr, start: int) -> Expr:
    name = p.text()[1:]
    p.advance()
    p.curried = True
    return Field(record, name, p.since(start))


def _leaf(p: Cursor) -> Expr:
    match p.kind:
        case "name":
            if p.begins_definition():
                return _missing(p)
            span = p.here()
            p.advance()
            return Name(span.text, span)
        case "int" | "float" | "inf" | "true" | "false":
            return _number(p)
        case "string":
            span = p.here()
            if not p.strings_allowed:
                message = "a string can only be the value of an attribute"
                p.add(error("AX002", message, span, "a string", 'as in `f(x, mode="same")`'))
            p.advance()
            return String(unquote(span.text), span)
        case _:
            return _missing(p)


def _missing(p: Cursor) -> Expr:
    start = p.at
    p.fail("expected an expression")
    return Broken(p.since(start))


def _number(p: Cursor) -> Expr:
    span = p.here()
    kind = p.kind
    p.advance()
    if span.end - span.start > MAX_DIGITS:
        p.too_large(span)
        return Broken(span)
    text = span.text
    match kind:
        case "int":
            return Number(int(text), "int", text, span)
        case "float":
            value = float(text.rstrip("f"))
            if value == float("inf"):
                p.too_large(span, "write `inf` for infinity")
            return Number(value, "float", text, span)
        case "inf":
            return Number(float("inf"), "float", text, span)
        case _:
            return Number(kind == "true", "bool", text, span)


def _operator_alone(p: Cursor) -> bool:
    """An infix operator with nothing to work on, as in `reduce(+, 0f, x)`."""
    return p.kind in INFIX_LEVEL and p.kinds[p.at + 1] in (",", ")")


def _operator(p: Cursor) -> Expr:
    span = p.here()
    p.advance()
    return OperatorName(span.text, span)


def _parenthesised(p: Cursor) -> Expr:
    """`(x)` is x, `(x, y)` a tuple, `()` the empty one, `(+)` an operator."""
    start = p.at
    outer = p.inside
    p.inside = LIST
    p.depth += 1
    p.advance()
    items: list[Expr] = []
    more = p.kind != ")"
    while more:
        items.append(_operator(p) if _operator_alone(p) else parse_expr(p))
        more = p.next_item(")")
    lonely_comma = len(items) == 1 and p.kinds[p.at - 1] == ","
    if lonely_comma and p.at not in p.tokens.virtual:
        place = Span(p.source, p.starts[p.at - 1], p.ends[p.at - 1])
        message = "there is no tuple of one item"
        p.add(error("AX002", message, place, "another item should follow", "leave out the comma"))
    p.inside = outer
    p.depth -= 1
    p.close()
    return items[0] if len(items) == 1 else TupleExpr(tuple(items), p.since(start))


def _list(p: Cursor) -> Expr:
    start = p.at
    outer = p.inside
    p.inside = LIST
    p.depth += 1
    p.advance()
    items: list[Expr] = []
    more = p.kind != "]"
    while more:
        items.append(parse_expr(p))
        more = p.next_item("]")
    p.inside = outer
    p.depth -= 1
    p.close()
    return ListExpr(tuple(items), p.since(start))


def _call(p: Cursor, function: Expr, start: int) -> Expr:
    """The arguments of a call, positional ones first; the cursor is at the `(`."""
    outer = p.inside, p.strings_allowed
    p.inside = LIST
    p.depth += 1
    p.advance()
    args: list[Expr] = []
    attributes: list[Attribute] = []
    more = p.kind != ")"
    while more:
        begin = p.at
        p.strings_allowed = False
        if p.kind == "name" and p.kinds[begin + 1] == "=":
            name = p.text()
            p.advance()
            p.advance()
            p.strings_allowed = True
            value = _operator(p) if _operator_alone(p) else parse_expr(p)
            attributes.append(Attribute(name, value, p.since(begin)))
        else:
            arg = _operator(p) if _operator_alone(p) else parse_expr(p)
            args.append(arg)
            if attributes:
                message = "an argument after an attribute"
                help = "give the arguments first, then `name=value`"
                p.add(error("AX002", message, arg.span, "this comes too late", help))
        more = p.next_item(")")
    p.inside, p.strings_allowed = outer
    p.depth -= 1
    p.close()
    return Call(function, tuple(args), tuple(attributes), p.since(start))


# --- functions and blocks --------------------------------------------------------------------


def _fn(p: Cursor) -> Expr:
    start = p.at
    outer = p.inside
    p.inside = HEADER
    p.depth += 1
    p.advance()
    params = _params(p)
    result = None
    if p.kind == ":" and not p.stuck:
        p.advance()
        result = parse_annotation(p)
    where = parse_where(p)
    if p.kind != "{":
        p.fail("expected `{` and the body of the function")
    if p.kind == "{":
        p.stuck = False
        body = _block(p)
    else:
        missing = p.here()
        place = Span(p.source, missing.start, missing.start)
        body = Block((), Broken(place), place)
    p.inside = outer
    p.depth -= 1
    return Fn(params, result, where, body, p.since(start))


def _params(p: Cursor) -> tuple[Param, ...]:
    if p.kind != "(":
        p.fail("expected `(` and the parameters of the function")
        return ()
    p.inside = LIST
    p.advance()
    params: list[Param] = []
    more = p.kind != ")"
    while more:
        start = p.at
        found = p.name("the name of a parameter")
        if found is not None:
            type = None
            if p.kind == ":":
                p.advance()
                type = parse_annotation(p)
            default = _default(p, found[1], params)
            params.append(Param(found[0], type, p.since(start), found[1], default))
        more = p.next_item(")")
    p.inside = HEADER
    p.close()
    return tuple(params)


def _default(p: Cursor, name: Span, params: list[Param]) -> Expr | None:
    """The default of a parameter, if it has one: then so have all that follow it."""
    if p.kind == "=" and not p.stuck:
        p.advance()
        return parse_expr(p)
    if params and params[-1].default is not None and not p.stuck:
        message, label = "a parameter without a default after one that has one", "no default"
        p.add(error("AX002", message, name, label, "put it before the parameters with defaults"))
    return None


def _block(p: Cursor) -> Block:
    """Bindings, then the value of the block; the cursor is at the `{`."""
    start = p.at
    p.inside = STATEMENT
    p.advance()
    bindings: list[Binding] = []
    result: Expr | None = None
    got_stuck = False
    while p.kind not in ("}", "eof"):
        if result is not None:
            bindings.append(keep_unused(p, result, "block"))
            result = None
        begin = p.at
        match parse_statement(p):
            case Binding() as binding:
                bindings.append(binding)
            case expr:
                result = expr
        got_stuck = end_statement(p)
        if p.at == begin:
            p.advance()
    if result is None:
        place = p.here()
        if not got_stuck and p.at not in p.tokens.virtual:
            label, help = "a value should come before this", "end the block with the value it gives"
            p.add(error("AX004", "this block gives no value", place, label, help))
        result = Broken(Span(p.source, place.start, place.start))
    if p.kind == "}":
        p.close()
    return Block(tuple(bindings), result, p.since(start))


def parse_statement(p: Cursor) -> Binding | Expr:
    """A binding, or an expression that stands alone."""
    start = p.at
    if (p.kind == "name" and p.kinds[start + 1] == "=") or p.tokens.pattern_end(start):
        pattern = parse_pattern(p)
        p.expect("=", "after what is defined")
        return Binding(pattern, parse_expr(p, commas=True), p.since(start))
    value = parse_expr(p, commas=True)
    if p.kind != "=" or p.stuck:
        return value
    message = "only names can be defined, on their own or as in `a, b`"
    p.add(error("AX002", message, value.span, "this is not a name"))
    p.advance()
    return Binding(NamePattern("_", value.span), parse_expr(p, commas=True), p.since(start))


def end_statement(p: Cursor) -> bool:
    """Step over the `;` of a statement. True when its end was passed over, up to the `}`."""
    p.drop_strays()
    if p.kind not in (";", "}", "eof") and not p.stuck:
        begins_next = p.at in p.tokens.fresh and p.kind in _EXPRESSION_STARTS
        if begins_next or p.tokens.is_anchor(p.at):
            p.missing_semicolon()
        else:
            p.fail("expected an operator or `;`")
    while p.stuck and p.kind in (",", "stray"):
        p.advance()
        p.skip()
    got_stuck = p.stuck
    p.stuck = False
    while p.kind == ";":
        p.advance()
    return got_stuck and p.kind == "}" and p.kinds[p.at - 1] != ";"


def keep_unused(p: Cursor, value: Expr, place: str) -> Binding:
    """An expression that is not the last thing: reported, and kept under no name."""
    if not isinstance(value, Broken):
        p.add(
            error(
                "AX002",
                f"this value is not used: only the last thing in a {place} is its value",
                value.span,
                "not the last thing",
                "give it a name: `name = …;`",
            )
        )
    return Binding(NamePattern("_", value.span), value, value.span)


def _record(p: Cursor) -> Expr:
    return parse_record(p, parse_expr)


_NESTED = {"(": _parenthesised, "[": _list, "{": _record, "fn": _fn}
