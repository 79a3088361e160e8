"""Dimensions and shapes, and conditions on them.

    index     = sum { '@' sum }                 of shapes: an append
    sum       = product { ('+' | '-') product }
    product   = part { ('*' | '/' | '//' | 'mod' | '%') part }
    part      = NUM | NAME | '?'NAME | '*' | '-' part | '[' { index } ']' | '(' index ')'
              | '(' op part part ')' | FUNCTION '(' { index } ')'

Dimensions and shapes are read by one grammar and distinguished afterwards: so a condition needs no
lookahead, and a shape where a dimension belongs is called that.
"""

from __future__ import annotations

from axon.diagnostics.value import error
from axon.source import Span
from axon.syntax.ast import (
    Append,
    BroadcastOf,
    Compatible,
    Condition,
    DimCall,
    DimConst,
    DimExpr,
    DimOp,
    Dims,
    ElementClass,
    IndexExpr,
    IndexName,
    Relation,
    ShapeExpr,
    ShapeMeasure,
    Star,
)
from axon.syntax.cursor import LIST, MAX_DEPTH, MAX_DIGITS, Cursor
from axon.syntax.tokens import DIM_LEVEL, DIM_SPELLINGS, WORDS

_PART_STARTS = frozenset({"int", "name", "runtime", "(", "[", "*", "-"})
_RELATIONS = frozenset({"=", ">=", "<=", ">", "<"})


def parse_shape(p: Cursor) -> ShapeExpr:
    return as_shape(p, parse_index(p))


def parse_dim(p: Cursor) -> DimExpr:
    return as_dim(p, parse_index(p))


def begins_shape(p: Cursor) -> bool:
    """Can a shape begin here? It tells `t s` from `t` alone; `where` and a new `x =` cannot."""
    match p.kind:
        case "[" | "(" | "runtime":
            return True
        case "name":
            return not p.is_word("where") and not p.begins_definition()
        case _:
            return False


def parse_index(p: Cursor) -> IndexExpr:
    """A dimension or a shape."""
    start = p.at
    first = _sum(p)
    if p.kind != "@":
        return first
    parts = [as_shape(p, first)]
    while p.kind == "@":
        p.advance()
        parts.append(as_shape(p, _sum(p)))
    return Append(tuple(parts), p.since(start))


# --- telling the two apart -------------------------------------------------------------------


def as_shape(p: Cursor, index: IndexExpr) -> ShapeExpr:
    """The index as a shape; a dimension is reported."""
    match index:
        case Dims() | IndexName() | Append() | BroadcastOf():
            return index
        case _:
            span = index.span
            problem = error(
                "AX005",
                "expected a shape, found a dimension",
                span,
                "this is one size",
                f"write `[{span.text}]` for a shape of rank one" if len(span.text) < 40 else None,
            )
            p.add(problem)
            return Dims((index,), span)


def as_dim(p: Cursor, index: IndexExpr) -> DimExpr:
    """The index as a dimension; a shape is reported. `broadcast` of names may be either."""
    match index:
        case Dims() | Append():
            p.add(error("AX005", "expected a dimension, found a shape", index.span, "a shape"))
            return DimConst(0, index.span)
        case BroadcastOf(args, span):
            return DimCall("broadcast", tuple(as_dim(p, arg) for arg in args), span)
        case _:
            return index


def _as_term(p: Cursor, index: IndexExpr) -> DimExpr:
    """The index as a part of a sum or a product, which a size that varies has no place in."""
    dim = as_dim(p, index)
    if isinstance(dim, Star):
        p.add(error("AX105", "`*` is a dimension by itself", dim.span, "not part of a sum"))
    return dim


def _evident_dim(index: IndexExpr) -> bool:
    return not isinstance(index, Dims | IndexName | Append | BroadcastOf)


def _evident_shape(index: IndexExpr) -> bool:
    match index:
        case BroadcastOf(args):
            return any(_evident_shape(arg) for arg in args)
        case _:
            return isinstance(index, Dims | Append)


# --- arithmetic ------------------------------------------------------------------------------


def _infix(p: Cursor) -> str | None:
    """The infix operator of dimensions that comes next."""
    kind = p.kind
    if kind == "name":
        return "mod" if p.text() == "mod" else None
    kind = DIM_SPELLINGS.get(kind, kind)
    return kind if kind in DIM_LEVEL else None


def _sum(p: Cursor, first: IndexExpr | None = None) -> IndexExpr:
    """Sums of products, in a loop; `first` is a part that was read already."""
    left = _part(p) if first is None else first
    held: list[tuple[DimExpr, str]] = []
    while (op := _infix(p)) is not None:
        level = DIM_LEVEL[op]
        term = _as_term(p, left)
        while held and DIM_LEVEL[held[-1][1]] >= level:
            term = _join(held.pop(), term)
        held.append((term, op))
        p.advance()
        left = _part(p)
    while held:
        left = _join(held.pop(), _as_term(p, left))
    return left


def _join(held: tuple[DimExpr, str], right: DimExpr) -> DimExpr:
    left, op = held
    return DimOp(op, left, right, left.span.to(right.span))


def _negative(p: Cursor, start: int, part: IndexExpr) -> DimExpr:
    """A negative constant is a constant; any other `-d` is `0 - d`."""
    span = p.since(start)
    match _as_term(p, part):
        case DimConst(value):
            return DimConst(-value, span)
        case dim:
            return DimOp("-", DimConst(0, Span(span.source, span.start, span.start)), dim, span)


# --- parts -----------------------------------------------------------------------------------


def _part(p: Cursor) -> IndexExpr:
    start = p.at
    match p.kind:
        case "name":
            name = p.text()
            p.advance()
            if p.kinds[p.at] == "(" and p.touches():
                return _call(p, name, start)
            return IndexName(name, False, p.since(start))
        case "int":
            span = p.here()
            p.advance()
            if span.end - span.start > MAX_DIGITS:
                p.too_large(span)
                return DimConst(0, span)
            return DimConst(int(span.text), span)
        case "runtime":
            span = p.here()
            p.advance()
            return IndexName(span.text[1:], True, span)
        case "*":
            p.advance()
            name = p.text() if p.kinds[p.at] == "name" and p.touches() else ""
            if name:
                p.advance()
            return Star(p.since(start), name)
        case "[" | "(" | "-" if p.depth >= MAX_DEPTH:
            span = p.too_deep()
            return IndexName("_", False, span)
        case "[":
            items = _list(p, "]")
            return Dims(tuple(as_dim(p, item) for item in items), p.since(start))
        case "(":
            return _parenthesised(p)
        case "-":
            p.advance()
            p.depth += 1
            part = _part(p)
            p.depth -= 1
            return _negative(p, start, part)
        case _ if p.kind in WORDS and p.kind != "else":
            found = p.name("a name")
            return IndexName(found[0] if found else "_", False, p.since(start))
        case _:
            p.fail("expected a dimension or a shape", code="AX005")
            return IndexName("_", False, p.since(start))


def _list(p: Cursor, closer: str) -> list[IndexExpr]:
    """What stands between brackets; the cursor is at the opener."""
    outer = p.inside
    p.inside = LIST
    p.depth += 1
    p.advance()
    items: list[IndexExpr] = []
    more = p.kind != closer
    while more:
        items.append(parse_index(p))
        more = p.next_item(closer)
    p.inside = outer
    p.depth -= 1
    p.close()
    return items


def _parenthesised(p: Cursor) -> IndexExpr:
    """`(index)` or the paper's prefix form, `(+ a b)`."""
    start = p.at
    outer = p.inside
    p.inside = LIST
    p.depth += 1
    p.advance()
    inner: IndexExpr
    op = p.text() if p.kind in ("+", "-", "*", "/", "name") else ""
    if op == "-":
        inner = _after_minus(p)
    elif op in DIM_LEVEL and p.next_kind() in _PART_STARTS:
        p.advance()
        inner = _prefix(p, start, op, _as_term(p, _part(p)))
    elif op in ("min", "max") and p.next_kind() in ("int", "name", "runtime"):
        p.advance()
        inner = DimCall(op, tuple(_operands(p)), p.since(start))
    else:
        inner = parse_index(p)
    p.drop_strays()
    if p.kind != ")":
        p.fail("expected `)`", code="AX005")
        while p.kind != ")":
            p.advance()
            p.skip()
    p.inside = outer
    p.depth -= 1
    p.close()
    return inner


def _after_minus(p: Cursor) -> IndexExpr:
    """`(- a b)` is prefix; `(-a)` and `(-a + b)` begin with a negative part."""
    start = p.at
    p.advance()
    part = _part(p)
    if p.kind in _PART_STARTS and _infix(p) is None:
        return _prefix(p, start, "-", _as_term(p, part))
    return _sum(p, _negative(p, start, part))


def _prefix(p: Cursor, start: int, op: str, first: DimExpr) -> DimExpr:
    rest = _operands(p)
    if not rest and not p.stuck:
        p.fail(f"expected the second operand of `{op}`", code="AX005")
    for right in rest:
        first = DimOp(op, first, right, p.since(start))
    return first


def _operands(p: Cursor) -> list[DimExpr]:
    found: list[DimExpr] = []
    while p.kind in _PART_STARTS and not p.stuck:
        found.append(_as_term(p, _part(p)))
    return found


def _call(p: Cursor, name: str, start: int) -> IndexExpr:
    """`min`, `max`, `broadcast`, `size` or `rank` of something; the cursor is at the `(`."""
    if p.depth >= MAX_DEPTH:
        return IndexName("_", False, p.too_deep())
    opener = p.at
    args = _list(p, ")")
    span = p.since(start)
    if not args and not p.stuck:
        p.add(error("AX005", f"`{name}` needs something to work on", span, "nothing is given"))
        return IndexName("_", False, span)
    match name:
        case "min" | "max":
            return DimCall(name, tuple(as_dim(p, arg) for arg in args), span)
        case "either" if len(args) == 2:
            return DimCall(name, tuple(as_dim(p, arg) for arg in args), span)
        case "broadcast" if any(_evident_dim(arg) for arg in args):
            return DimCall(name, tuple(as_dim(p, arg) for arg in args), span)
        case "broadcast":
            return BroadcastOf(tuple(as_shape(p, arg) for arg in args), span)
        case "size" | "rank":
            if len(args) > 1:
                p.add(error("AX005", f"`{name}` is of one shape", span, f"{len(args)} are given"))
            return ShapeMeasure(name, as_shape(p, args[0]), span)
        case _:
            place = Span(p.source, p.starts[start], p.starts[opener])
            p.add(
                error(
                    "AX005",
                    f"`{name}` is not a function of dimensions or shapes",
                    place,
                    "min, max, broadcast, size and rank are",
                )
            )
            return IndexName(name, False, span)


# --- conditions ------------------------------------------------------------------------------


def parse_where(p: Cursor) -> tuple[Condition, ...]:
    """`where` and its conditions, if they come next."""
    if p.stuck or not p.is_word("where"):
        return ()
    p.advance()
    found: list[Condition] = []
    while True:
        condition = _condition(p)
        if condition is not None:
            found.append(condition)
        if p.kind != ",":
            return tuple(found)
        p.stuck = False
        p.advance()


def _condition(p: Cursor) -> Condition | None:
    start = p.at
    if p.kind == "name" and p.next_kind() == ":":
        name = p.text()
        p.advance()
        p.advance()
        found = p.name("a class of element types: `num`, `float` or `int`")
        return ElementClass(name, found[0], p.since(start)) if found else None
    left = parse_index(p)
    op = p.kind
    if op in ("==", "!="):
        p.report("expected one of `=`, `>=`, `<=`, `>`, `<`", "an equation is written with `=`")
        op = "="
    elif op not in _RELATIONS:
        match left:
            case BroadcastOf(args, span) | DimCall("broadcast", args, span):
                return Compatible(args, span)
            case _:
                p.fail("expected one of `=`, `>=`, `<=`, `>`, `<`")
                return None
    p.advance()
    right = parse_index(p)
    if p.stuck:
        return None
    if _evident_dim(left) or _evident_dim(right) or op != "=":
        left, right = as_dim(p, left), as_dim(p, right)
    elif _evident_shape(left) or _evident_shape(right):
        left, right = as_shape(p, left), as_shape(p, right)
    return Relation(op, left, right, p.since(start))
