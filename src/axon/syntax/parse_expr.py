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
    If,
    Infix,
    ListExpr,
    Name,
    NamePattern,
    Negate,
    NewAxis,
    Not,
    Number,
    OperatorName,
    Param,
    Rest,
    Slice,
    String,
    Subscript,
    SubscriptItem,
    TupleExpr,
)
from axon.syntax.cursor import HEADER, LIST, MAX_DEPTH, MAX_DIGITS, STATEMENT, Cursor
from axon.syntax.lexer import unquote
from axon.syntax.parse_index import parse_where
from axon.syntax.parse_pattern import parse_pattern
from axon.syntax.parse_record import in_place_of_assignment, parse_record
from axon.syntax.parse_types import parse_annotation
from axon.syntax.tokens import (
    CHAIN_LEVEL,
    CLOSER,
    COMPARISON,
    FOREIGN_WORDS,
    INFIX_LEVEL,
    NOT,
    OPENER,
    WORDS,
)

LONGEST_BARE_RECORD = 200
"""How many tokens are looked at to tell a record from a block."""

_EXPRESSION_STARTS = frozenset(
    {
        "name",
        "int",
        "float",
        "inf",
        "true",
        "false",
        "string",
        "(",
        "[",
        "{",
        "fn",
        "if",
        "-",
        "not",
    }
)


def parse_expr(p: Cursor, commas: bool = False) -> Expr:
    """An expression; with `commas`, a bare `a, b` is a tuple."""
    start = p.at
    left = _one(p)
    if not commas or p.kind != ",":
        return left
    items = [left]
    while p.kind == ",":
        p.stuck = False
        p.advance()
        items.append(_one(p))
    return TupleExpr(tuple(items), p.since(start))


_Held = tuple[Expr | None, str, Span, int]
"""What waits for its right operand: the left one (`not` has none), the sign, and its level."""


def _one(p: Cursor) -> Expr:
    """Operands and what connects them, by precedence. Of each level at most one is held back, apart
    from `not`.
    """
    held: list[_Held] = []
    value: Expr | None = (
        None  # a call in parentheses, which is a function where `x |>` is before it
    )
    if p.kind == "not":
        _nots(p, held)
    left = _operand(p)
    if p.kind not in CHAIN_LEVEL and not held:
        return left
    while (level := CHAIN_LEVEL.get(p.kind, 0)) and not p.stuck:
        while held and held[-1][3] >= level:
            if level == COMPARISON and held[-1][3] == COMPARISON:
                label, help = "a second comparison", "put parentheses around one of them"
                p.add(error("AX002", "comparisons do not chain", p.here(), label, help))
            left = _join(p, held.pop(), left, value)
        held.append((left, p.kind, p.here(), level))
        p.advance()
        if p.kind == "not" and level < NOT:
            _nots(p, held)
        begin = p.starts[p.at]
        left = _operand(p)
        value = left if isinstance(left, Call) and left.span.start > begin else None
    while held:
        left = _join(p, held.pop(), left, value)
    return left


def _nots(p: Cursor, held: list[_Held]) -> None:
    """Each `not` is a level of nesting."""
    while p.kind == "not" and p.depth < MAX_DEPTH:
        held.append((None, p.kind, p.here(), NOT))
        p.depth += 1
        p.advance()


def _join(p: Cursor, held: _Held, right: Expr, value: Expr | None) -> Expr:
    left, op, op_span, _ = held
    if left is None:
        p.depth -= 1
        return Not(right, op_span.to(right.span))
    span = left.span.to(right.span)
    if op == "|>":
        p.curried = True
        if isinstance(right, Call) and right is not value:
            return Call(right.function, (left, *right.args), right.attributes, span, True)
        return Call(right, (left,), (), span, True)
    return Infix(op, left, right, op_span, span)


# --- operands --------------------------------------------------------------------------------


def _operand(p: Cursor) -> Expr:
    """Signs, a part, and the calls and subscripts of it. A `(` on the line after a `fn` begins
    anew, and a `[` on the line after anything.
    """
    start = p.at
    while p.kind == "-":
        p.advance()
        p.depth += 1
    signs = p.at - start
    part: Expr
    if signs and p.depth > MAX_DEPTH:
        p.depth -= signs
        return Broken(p.too_deep())
    if p.kind in _NESTED and not (p.kind == "{" and p.inside == HEADER):
        part = Broken(p.too_deep()) if p.depth >= MAX_DEPTH else _NESTED[p.kind](p)
    elif _is_bare_record(p):
        part = _record(p)
        message, help = "a record in a condition needs parentheses", "write `({ … })`"
        p.add(error("AX002", message, part.span, "taken for the block of the `if`", help))
    else:
        part = _leaf(p)
    calls = 0
    while p.kind in _POSTFIX and not p.stuck:
        if p.kind == "field":
            calls += 1
            part = _field(p, part, start + signs)
            continue
        if p.at in p.tokens.fresh and (p.kind == "[" or isinstance(part, Fn | If)):
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
        part = _POSTFIX[p.kind](p, part, start + signs)
    if p.kind == "**" and not p.stuck:
        part = _power(p, part)
    p.depth -= signs
    for minus in range(start + signs - 1, start - 1, -1):
        part = Negate(part, Span(p.source, p.starts[minus], part.span.end))
    return part


def _power(p: Cursor, base: Expr) -> Expr:
    """`**` binds tighter than the sign before it and weaker than the one behind it."""
    sign = p.here()
    p.advance()
    if p.depth >= MAX_DEPTH:
        return Broken(p.too_deep())
    p.depth += 1
    exponent = _operand(p)
    p.depth -= 1
    return Infix("**", base, exponent, sign, base.span.to(exponent.span))


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
                from axon.syntax.habits import string_help

                message = "a string can only be the value of an attribute"
                p.add(error("AX002", message, span, "a string", string_help(p.tokens, p.at)))
            p.advance()
            return String(unquote(span.text), span)
        case _:
            return _missing(p)


def _missing(p: Cursor) -> Expr:
    start = p.at
    if p.kind in p.misnamed:
        p.advance()
    elif p.kind == "not" and p.depth >= MAX_DEPTH:
        p.too_deep()
    elif p.kind == "...":
        label = "write it in full"
        p.add(error("AX001", "`...` stands for something left out", p.here(), label))
        p.skip()
    else:
        help = _HELP.get(p.kind)
        p.fail("expected an expression", help)
    return Broken(p.since(start))


_HELP = {
    "not": "put parentheses around `not …` here",
    "None": "`None` is a new axis in a subscript, as in `x[:, None]`, and nothing else",
    "//": "a comment begins with `#`",
}


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
    alone = p.kind in INFIX_LEVEL or p.kind == "not"
    return alone and p.kinds[p.at + 1] in (",", ")")


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
    late = False
    more = p.kind != ")"
    while more:
        begin = p.at
        p.strings_allowed = False
        if p.kinds[begin + 1] == "=" and (p.kind == "name" or p.kind in WORDS):
            name = p.text()
            p.advance()
            p.advance()
            p.strings_allowed = True
            value = _operator(p) if _operator_alone(p) else parse_expr(p)
            attributes.append(Attribute(name, value, p.since(begin)))
        else:
            arg = _operator(p) if _operator_alone(p) else parse_expr(p)
            args.append(arg)
            if attributes and not late:
                late = True
                message = "an argument after an attribute"
                help = "give the arguments first, then `name=value`"
                p.add(error("AX002", message, arg.span, "this comes too late", help))
        more = p.next_item(")")
    p.inside, p.strings_allowed = outer
    p.depth -= 1
    p.close()
    return Call(function, tuple(args), tuple(attributes), p.since(start))


def _subscript(p: Cursor, value: Expr, start: int) -> Expr:
    """What stands between the brackets; the cursor is at the `[`."""
    outer = p.inside, p.strings_allowed
    p.inside, p.strings_allowed = LIST, False
    p.depth += 1
    opener = p.here()
    p.advance()
    items: list[SubscriptItem] = []
    more = p.kind != "]"
    if not more:
        label, help = "nothing is given", "as in `x[0]`, `x[1:n]` or `x[..., None]`"
        p.add(error("AX002", "a subscript needs an index", opener, label, help))
    while more:
        item = _item(p)
        if isinstance(item, Rest) and any(isinstance(other, Rest) for other in items):
            message = "`...` can occur only once in a subscript"
            p.add(error("AX002", message, item.span, "the second one", "write `:` for one axis"))
        else:
            items.append(item)
        more = p.next_item("]")
    p.inside, p.strings_allowed = outer
    p.depth -= 1
    p.close()
    return Subscript(value, tuple(items), p.since(start)) if items else Broken(p.since(start))


def _item(p: Cursor) -> SubscriptItem:
    start = p.at
    if p.kind in ("...", "None") and p.kinds[start + 1] in (",", "]"):
        span = p.here()
        p.advance()
        return Rest(span) if span.text == "..." else NewAxis(span)
    first = None if p.kind == ":" else parse_expr(p)
    if p.kind != ":" or p.stuck:
        assert first is not None
        return first
    stop = _bound(p)
    step = _bound(p)
    return Slice(first, stop, step, p.since(start))


def _bound(p: Cursor) -> Expr | None:
    """What stands behind a `:`, if there is one."""
    if p.kind != ":" or p.stuck:
        return None
    p.advance()
    return None if p.kind in (":", ",", "]") else parse_expr(p)


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
    elif p.kind == "->" and not p.stuck:
        p.report("")
        p.advance()
        result = parse_annotation(p)
    where = parse_where(p)
    opened = _opens(p, "`{` and the body of the function", "as in `fn (x, y) { … }`")
    body = _block(p) if opened else _no_block(p)
    p.inside = outer
    p.depth -= 1
    return Fn(params, result, where, body, p.since(start))


def _if(p: Cursor) -> Expr:
    start = p.at
    outer = p.inside
    p.inside = HEADER
    p.depth += 1
    p.advance()
    failures = p.failures
    condition = parse_expr(p)
    opened = _opens(p, "`{` and what is computed if the condition holds")
    then = _branch(_block(p) if opened else _no_block(p))
    p.inside = HEADER
    if p.kind == "else" and p.next_kind() == "if":
        p.advance()
        begin = p.at
        nested = Broken(p.too_deep()) if p.depth >= MAX_DEPTH else _if(p)
        otherwise = _branch(Block((), nested, p.since(begin)))
    elif p.kind == "else":
        p.advance()
        opened = _opens(p, "`{` and what is computed if the condition does not hold")
        otherwise = _branch(_block(p) if opened else _no_block(p))
    else:
        if p.kind == "name" and p.habit() is not None:
            p.report("")
        if p.failures == failures:
            message, help = (
                "an `if` without `else`",
                "both branches need a value: `if c { a } else { b }`",
            )
            p.add(error("AX002", message, p.since(start), "has no value otherwise", help))
        otherwise = _branch(_no_block(p))
    p.inside = outer
    p.depth -= 1
    return If(condition, then, otherwise, p.since(start))


def _opens(p: Cursor, expected: str, form: str | None = None) -> bool:
    """Whether a block comes next, perhaps after something that was passed over."""
    if p.kind != "{":
        p.fail(f"expected {expected}", "a block is in braces" if p.kind == ":" else form)
    if p.kind == "{":
        p.stuck = False
        return True
    return False


def _no_block(p: Cursor) -> Block:
    place = Span(p.source, p.starts[p.at], p.starts[p.at])
    return Block((), Broken(place), place)


def _branch(body: Block) -> Fn:
    """A block as a function without parameters."""
    return Fn((), None, (), body, body.span)


def _params(p: Cursor) -> tuple[Param, ...]:
    if p.kind != "(":
        p.fail("expected `(` and the parameters of the function", "as in `fn (x, y) { … }`")
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
        default = parse_expr(p)
        if p.source.text[name.start : name.end] != "_":
            return default
        message = "a parameter `_` has no default: nothing reads it"
        p.add(error("AX002", message, default.span, "a default", "give the parameter a name"))
        return None
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
    unused: list[Expr] = []
    result: Expr | None = None
    got_stuck = False
    while p.kind not in ("}", "eof"):
        if result is not None:
            unused.append(result)
            bindings.append(without_name(result))
            result = None
        begin, skips = p.at, p.skips
        match parse_statement(p):
            case Binding() as binding:
                bindings.append(binding)
            case expr:
                result = expr
        got_stuck = end_statement(p)
        if result is not None and p.skips != skips and p.kind != "}":
            result = Broken(p.since(begin))
        if p.at == begin:
            p.advance()
    if p.at not in p.tokens.virtual:  # a block without an end takes in what comes after it
        for value in unused:
            report_unused(p, value, "block")
    if result is None:
        place = p.here()
        whole = p.at not in p.tokens.virtual and p.unclosed_reported < p.starts[start]
        if not got_stuck and whole:
            label, help = "a value should come before this", "end the block with its value"
            p.add(error("AX004", "this block has no value", place, label, help))
        result = Broken(Span(p.source, place.start, place.start))
    if p.kind == "}":
        p.close()
    return Block(tuple(bindings), result, p.since(start))


def parse_statement(p: Cursor) -> Binding | Expr:
    """A binding, or an expression that stands alone."""
    start = p.at
    if p.kind in WORDS and p.kinds[start + 1] == "=":
        found = p.name("a name")
        assert found is not None
        p.advance()
        return Binding(NamePattern(*found), parse_expr(p, commas=True), p.since(start))
    if (p.kind == "name" and p.kinds[start + 1] == "=") or p.tokens.pattern_end(start):
        pattern = parse_pattern(p)
        p.expect("=", "after what is defined")
        return Binding(pattern, parse_expr(p, commas=True), p.since(start))
    if p.kind == "name" and p.kinds[start + 1] == ":" and p.kinds[start + 2] == "=":
        name = NamePattern(p.text(), p.here())
        p.advance()
        p.report("")
        p.advance()
        p.advance()
        return Binding(name, parse_expr(p, commas=True), p.since(start))
    if _may_be_foreign(p):
        from axon.syntax.parse_foreign import foreign_statement

        foreign = foreign_statement(p)
        if foreign is not None:
            return foreign
        if p.at != start:  # a word that is left out
            return parse_statement(p)
    help: str | None
    if p.kind == "{" and p.kinds[end := p.closing()] == "}" and p.kinds[end + 1] == "=":
        p.at = end
        p.advance()
        message, label = "a record pattern is a list of names", "more than names"
        help = "unpack fields one level at a time: `{ a, b } = p; { c } = a;`"
        value: Expr = Broken(p.since(start))
    else:
        value = parse_expr(p, commas=True)
        if p.kind != "=" or p.stuck:
            return value
        message, label = (
            "only names can be defined, on their own or as in `a, b`",
            "this is not a name",
        )
        help = in_place_of_assignment(value)
    p.add(error("AX002", message, value.span, label, help))
    p.advance()
    return Binding(NamePattern("_", value.span), parse_expr(p, commas=True), p.since(start))


def _may_be_foreign(p: Cursor) -> bool:
    """Whether a statement of another language may begin here."""
    if p.kind == "fn":
        return p.next_kind() == "name"
    return p.kind == "name" and p.text() in FOREIGN_WORDS


def _begins_foreign(p: Cursor) -> bool:
    if not _may_be_foreign(p):
        return False
    from axon.syntax.parse_foreign import begins_foreign

    return begins_foreign(p)


def end_statement(p: Cursor) -> bool:
    """Step over the `;` of a statement. True when its end was passed over, up to the `}`."""
    if p.kind == "stray":
        p.drop_strays()
        if p.kind not in (";", "}", "eof") and p.at not in p.tokens.fresh:
            p.skip()  # what follows belonged to the bracket
    if p.kind not in (";", "}", "eof") and not p.stuck:
        begins_next = p.at in p.tokens.fresh and p.kind in _EXPRESSION_STARTS
        if begins_next and _begins_foreign(p):
            pass  # that is reported, and `;` is often missing before it
        elif begins_next and p.kind == "[":
            p.missing_semicolon("a subscript begins on the line on which its tensor ends")
            p.skip()
        elif begins_next or p.tokens.is_anchor(p.at):
            p.missing_semicolon()
        else:
            called = p.kind == "name" and p.kinds[p.at - 1] == "name"
            p.fail("expected an operator or `;`", "a call has brackets: `f(x)`" if called else None)
    while p.stuck and p.kind in (",", "stray"):
        p.advance()
        p.skip()
    got_stuck = p.stuck
    p.stuck = False
    while p.kind == ";":
        p.advance()
    return got_stuck and p.kind == "}" and p.kinds[p.at - 1] != ";"


_STATEMENTS = {
    "print": "nothing is printed while a program runs: leave it out",
    "assert": "say it in the type: `fn (x : f32 [n]) where n >= 1 { … }`",
}
"""Calls that are statements elsewhere, and what to do."""


def report_unused(p: Cursor, value: Expr, place: str) -> None:
    """Report an expression that is not the last thing, if it is clear where blocks end."""
    if not isinstance(value, Broken) and not p.tokens.lacks_brace():
        message = f"this value is not used: only the last thing in a {place} is its value"
        help = "give it a name: `name = …;`"
        if isinstance(value, Call):
            help = _STATEMENTS.get(value.function.span.text, help)
        p.add(error("AX002", message, value.span, "not the last thing", help))


def without_name(value: Expr) -> Binding:
    """An expression kept under no name."""
    return Binding(NamePattern("_", value.span), value, value.span)


def _is_bare_record(p: Cursor) -> bool:
    """Whether braces where an operand is expected are part of a condition, and not the block that
    follows one.
    """
    if p.kind != "{" or p.depth >= MAX_DEPTH:
        return False
    depth = 0
    for at in range(p.at, min(p.at + LONGEST_BARE_RECORD, len(p.kinds) - 1)):
        depth += (p.kinds[at] in CLOSER) - (p.kinds[at] in OPENER)
        if depth == 0:
            return p.kinds[at + 1] in ("{", "field") or p.kinds[at + 1] in CHAIN_LEVEL
    return False


def _record(p: Cursor) -> Expr:
    return parse_record(p, parse_expr)


_NESTED = {"(": _parenthesised, "[": _list, "{": _record, "fn": _fn, "if": _if}
_POSTFIX = {"(": _call, "[": _subscript, "field": _field}
