"""The parser: what it reads, what it says, and that it always comes back."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axon.diagnostics import Diagnostic
from axon.diagnostics.json import to_json
from axon.diagnostics.text import render_all
from axon.source import Source
from axon.syntax import (
    parse_expression,
    parse_program,
    parse_signature,
    print_signature,
)
from axon.syntax.ast import (
    Binding,
    BroadcastOf,
    Broken,
    Call,
    Compatible,
    DimCall,
    DimConst,
    DimOp,
    Dims,
    DimValueType,
    Field,
    Fn,
    FnType,
    Import,
    IndexName,
    Infix,
    ListExpr,
    Name,
    NamedType,
    NamePattern,
    Negate,
    NewAxis,
    Number,
    OpDecl,
    OperatorName,
    Program,
    Relation,
    Rest,
    ShapeValueType,
    Signature,
    Slice,
    Star,
    String,
    Subscript,
    TensorType,
    TupleExpr,
    TuplePattern,
    TupleType,
)
from axon.syntax.printer import print_expr, print_program


def program(text: str) -> Program:
    tree, problems = parse_program(Source("test.axon", text))
    assert not problems, render_all(problems)
    return tree


def broken(text: str) -> tuple[Program, tuple[Diagnostic, ...]]:
    return parse_program(Source("test.axon", text))


def names(tree: Program) -> list[str]:
    found: list[str] = []
    for item in tree.items:
        match item:
            case Binding(NamePattern(name)):
                found.append(name)
            case OpDecl(name) | Import(alias=name):
                found.append(name)
            case _:
                found.append("…")
    return found


def expr(text: str) -> str:
    """The expression, printed again, so that it can be compared."""
    tree, problems = parse_expression(Source("test", text))
    assert tree is not None
    assert not problems, render_all(problems)
    return print_expr(tree)


def tree_of(text: str) -> object:
    tree, problems = parse_expression(Source("test", text))
    assert not problems, render_all(problems)
    return tree


def signature(text: str) -> Signature:
    tree, problems = parse_signature(Source("test", text))
    assert tree is not None, render_all(problems)
    assert not problems
    return tree


# --- expressions -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a + b * c", "a + (b * c)"),
        ("a * b + c", "(a * b) + c"),
        ("a - b - c", "(a - b) - c"),
        ("a @ b * c / d", "((a @ b) * c) / d"),
        ("a + b < c * d", "(a + b) < (c * d)"),
        ("-a * b", "(-a) * b"),
        ("a * -b", "a * (-b)"),
        ("-f(x)", "-(f(x))"),
        ("((a))", "a"),
        ("f(x)(y)", "(f(x))(y)"),
        ("f (x)", "f(x)"),
        ("f(x, y,)", "f(x, y)"),
        ("-a ** b", "-(a ** b)"),
        ("a ** -b", "a ** (-b)"),
        ("a ** b ** c", "a ** (b ** c)"),
        ("a ** -b ** c * d", "(a ** (-(b ** c))) * d"),
        ("f(x) ** 2", "(f(x)) ** 2"),
        ("a // b % c @ d", "((a // b) % c) @ d"),
        ("a or b and c", "a or (b and c)"),
        ("a and b or c and d", "(a and b) or (c and d)"),
        ("not a and b", "(not a) and b"),
        ("not a == b + c", "not (a == (b + c))"),
        ("a or not not b and c", "a or ((not (not b)) and c)"),
        ("a == b and c < d", "(a == b) and (c < d)"),
        ("a or b |> f |> g(c)", "((a or b) |> f) |> g(c)"),
        ("a |> f(b)(c)", "a |> (f(b))(c)"),
        ("a |> not f", "a |> (not f)"),
        ("-x[0] ** 2", "-((x[0]) ** 2)"),
        ("a * x[i + 1, :]", "a * (x[(i + 1), :])"),
        ("f(x)[0](y)[1]", "(((f(x))[0])(y))[1]"),
        ("x [0]", "x[0]"),
        ("x[0, 1:2,]", "x[0, 1:2]"),
        ("x |> f[0]", "x |> (f[0])"),
        ("if c { x } else { y } + 1", "(if c { x } else { y }) + 1"),
        (
            "if a and b { x } else if c { y } else { z }",
            "if (a and b) { x } else { if c { y } else { z } }",
        ),
    ],
)
def test_precedence(text: str, same: str) -> None:
    assert expr(text) == expr(same)


def test_operators_alone() -> None:
    match tree_of("reduce(+, 0f, x)"):
        case Call(Name("reduce"), (OperatorName("+"), Number(0.0, "float", "0f"), Name("x")), ()):
            pass
        case other:
            raise AssertionError(other)
    assert isinstance(tree_of("(+)"), OperatorName)
    assert isinstance(tree_of("f(-)"), Call)


def test_a_pipe_is_a_call() -> None:
    match tree_of("x |> f(y, axis=0)"):
        case Call(Name("f"), (Name("x"), Name("y")), (attribute,), span, True):
            assert attribute.name == "axis"
            assert span.text == "x |> f(y, axis=0)"
        case other:
            raise AssertionError(other)
    match tree_of("x |> (f(y))"):
        case Call(Call(Name("f"), (Name("y"),)), (Name("x"),), ()):
            pass
        case other:
            raise AssertionError(other)
    match tree_of("x |> fn (y) { y }"):
        case Call(Fn(), (Name("x"),), ()):
            pass
        case other:
            raise AssertionError(other)


def test_subscripts() -> None:
    match tree_of("x[0, 1:, ::n, ..., None]"):
        case Subscript(
            Name("x"),
            (
                Number(0),
                Slice(Number(1), None, None),
                Slice(None, None, Name("n")),
                Rest(),
                NewAxis(),
            ),
        ):
            pass
        case other:
            raise AssertionError(other)
    match tree_of("x[(a, b)], [1, 2][0]"):
        case TupleExpr((Subscript(_, (TupleExpr(),)), Subscript(ListExpr(), (Number(0),)))):
            pass
        case other:
            raise AssertionError(other)


def test_numbers() -> None:
    match tree_of("-inf"):
        case Negate(Number(value, "float", "inf")):
            assert value == float("inf")
        case other:
            raise AssertionError(other)
    match tree_of("true"):
        case Number(True, "bool", "true"):
            pass
        case other:
            raise AssertionError(other)


def test_attributes() -> None:
    match tree_of('conv(x, f, stride=[2,2], mode="same", axis=-1, keep=true, flag=a==b)'):
        case Call(_, (_, _), attributes):
            keys = ["stride", "mode", "axis", "keep", "flag"]
            assert [attribute.name for attribute in attributes] == keys
            assert isinstance(attributes[1].value, String)
            assert isinstance(attributes[4].value, Infix)
        case other:
            raise AssertionError(other)


CONTEXTUAL = [
    *("op", "import", "as", "where", "shape", "dim", "size", "rank"),
    *("broadcast", "min", "max", "mod", "range"),
]


def test_contextual_words_can_be_called() -> None:
    for word in CONTEXTUAL:
        assert expr(f"{word}(c, x, y)") == f"{word}(c, x, y)"
        assert names(program(f"{word} = 1;")) == [word]
        assert names(program(f"op {word} : t s;")) == [word]


def test_imported_names() -> None:
    match tree_of("layers.conv(x)"):
        case Call(Field(Name("layers"), "conv")):
            pass
        case other:
            raise AssertionError(other)


def test_tuples() -> None:
    match tree_of("a, (b, c), ()"):
        case TupleExpr((Name(), TupleExpr((_, _)), TupleExpr(()))):
            pass
        case other:
            raise AssertionError(other)


def test_functions() -> None:
    match tree_of("fn (x : f32 [n], y) : r where n >= 1 { h, (c, _) = y; h + x; }"):
        case Fn((p, q), NamedType("r"), (Relation(">="),), body):
            assert (p.name, q.name, q.type) == ("x", "y", None)
            assert isinstance(body.bindings[0].pattern, TuplePattern)
            assert isinstance(body.result, Infix)
        case other:
            raise AssertionError(other)


def test_spans_are_exact() -> None:
    tree = program("f = fn (x : t s) { g(x, 1) + x };\nop a : t s -> t s;\n")
    binding, op = tree.items
    assert binding.span.text == "f = fn (x : t s) { g(x, 1) + x }"
    assert op.span.text == "op a : t s -> t s"
    assert isinstance(binding, Binding)
    assert isinstance(binding.value, Fn)
    fn = binding.value
    assert fn.params[0].span.text == "x : t s"
    assert fn.params[0].name_span.text == "x"
    assert fn.body.span.text == "{ g(x, 1) + x }"
    assert isinstance(fn.body.result, Infix)
    assert fn.body.result.left.span.text == "g(x, 1)"
    assert fn.body.result.op_span.text == "+"


# --- types -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("f32", "f32"),
        ("t []", "t []"),
        ("t", "t"),
        ("f32 [ n , h - r + 1 ]", "f32 [n,h-r+1]"),
        ("t s @ [a, b]", "t s@[a,b]"),
        ("t [(+ 1 (- h r))]", "t [1+(h-r)]"),
        ("t [(* d 2)] @ s", "t [d*2]@s"),
        ("t [10, *, 3]", "t [10,*,3]"),
        ("i64 [?k] @ ?s", "i64 [?k]@?s"),
        ("t [a*(b+c), a mod 2, -1, min(a, b), size(s), rank([a]@s)]", None),
        ("t [a-(b-c), a-(-1), (-1)*a, (- a b), (-a + b), (mod a b), (max a b)]", None),
        ("f32 [a]@b -> f32 [a]@b", "f32 [a]@b -> f32 [a]@b"),
        ("(t s)", "t s"),
        ("() -> f32", "() -> f32"),
        ("((a, b)) -> c", "((a, b)) -> c"),
        ("a -> b -> c", "a -> b -> c"),
        ("(a -> b) -> c", "(a -> b) -> c"),
        ("((t s) -> u r, t [d]@s) -> u [d]@r", "(t s -> u r, t [d]@s) -> u [d]@r"),
        ("(S, (S, t s) -> (S, u r), t [n]@s) -> (S, u [n]@r)", None),
        ("(t p@[m,k], t q@[k,n]) -> t broadcast(p,q)@[m,n]", None),
        ("(t s, shape [b,n]) -> dim n+1", "(t s, shape [b,n]) -> dim n+1"),
        ("(t p, t q) -> t r where r = broadcast(p, q), t : num", None),
        ("t [n] where n >= 1, n+1 <= m, [n]@s = r, broadcast(n, m), k < 3, k > 0", None),
    ],
)
def test_types(text: str, printed: str | None) -> None:
    tree = signature(text)
    assert print_signature(tree) == (printed or print_signature(signature(print_signature(tree))))
    if printed is None and "(-" not in text and "(mod" not in text:
        squeezed = print_signature(tree).replace(" ", "")
        assert squeezed == text.replace(" ", "").replace("(max a b)", "max(a,b)")


def test_kinds_of_types() -> None:
    assert isinstance(signature("t").type, NamedType)
    assert isinstance(signature("T").type, NamedType)
    assert isinstance(signature("shape s").type, ShapeValueType)
    assert isinstance(signature("shape").type, NamedType)
    assert isinstance(signature("dim n").type, DimValueType)
    assert isinstance(signature("(a, b)").type, TupleType)
    match signature("f32").type:
        case TensorType("f32", Dims(())):
            pass
        case other:
            raise AssertionError(other)
    match signature("(f32, t s) -> u").type:
        case FnType((TensorType(), TensorType()), NamedType("u")):
            pass
        case other:
            raise AssertionError(other)


def test_dimensions() -> None:
    match signature("t [-1, *, -n, 2 * n]").type:
        case TensorType(_, Dims((DimConst(-1), Star(), DimOp("-", DimConst(0)), DimOp("*")))):
            pass
        case other:
            raise AssertionError(other)


def test_broadcast_of_either_kind() -> None:
    where = signature(
        "t where r = broadcast(p, q), n = broadcast(a, 3), broadcast(a, b), [n] = broadcast(s, t)"
    ).where
    match where:
        case (
            Relation("=", IndexName("r"), BroadcastOf((IndexName(), IndexName()))),
            Relation("=", IndexName("n"), DimCall("broadcast", (IndexName(), DimConst(3)))),
            Compatible((IndexName("a"), IndexName("b"))),
            Relation("=", Dims(), BroadcastOf()),
        ):
            pass
        case other:
            raise AssertionError(other)


def test_a_signature_is_the_whole_text() -> None:
    tree, problems = parse_signature(Source("test", "t s -> t s }"))
    assert [problem.code for problem in problems] == ["AX002"]
    assert tree is not None
    assert parse_signature(Source("test", ""))[0] is None
    assert parse_expression(Source("test", ""))[0] is None


@pytest.mark.parametrize("text", ["t [[n]]", "t n + 1", "[n]", "t [foo(n)]", "t [n +]", "(t, -> u"])
def test_malformed_types(text: str) -> None:
    tree, problems = parse_signature(Source("test", text))
    assert tree is None
    assert [problem.code for problem in problems] == ["AX005"], render_all(problems)


# --- files -----------------------------------------------------------------------------------


def test_the_end_of_a_file() -> None:
    assert program("a = 1").result is None
    assert isinstance(program("a = 1; a").result, Name)
    assert isinstance(program("a = 1; a;").result, Name)
    assert isinstance(program("a, b").result, TupleExpr)
    assert program("").items == ()
    assert program(";;").items == ()


def test_items() -> None:
    tree = program(
        'import "layers.axon" as layers;\n'
        "op add : (t p, t q) -> t r where r = broadcast(p, q), t : num;\n"
        "h1, (c1, _) = state;\n"
    )
    match tree.items:
        case (Import("layers.axon", "layers"), OpDecl("add"), Binding(TuplePattern((_, _)))):
            pass
        case other:
            raise AssertionError(other)


def test_layout_does_not_matter() -> None:
    program("y = conv(x, f,\nstride=[2,2],\npad=[1,1]);\nf = fn (x) {\na = x;\na\n};\nz = 1;")


# --- mistakes --------------------------------------------------------------------------------

MISTAKES = [
    ("a = 1 +;", "AX002"),
    ("a = fn (x : ) { x };", "AX005"),
    ("a = g(1, 2;", "AX002"),
    ("a = (1, 2;", "AX002"),
    ("a = g(1, [2, 3);", "AX002"),
    ("a = [1, 2 3];", "AX002"),
    ("op a : (t [n], -> t;", "AX005"),
    ("op a t;", "AX002"),
    ("a = fn (x) {\n  x + 1\n", "AX002"),
    ("a = fn (x) {\n  p = k(x,\n  q = 3;\n  p + q\n};", "AX002"),
    ("a = fn (x) { y = x * ; y };", "AX002"),
    ('a = "abc;', "AX001"),
    ("a = 1 < 2 < 3;", "AX002"),
    ("a = fn (x) { z = x; };", "AX004"),
    ("a = fn (x) { };", "AX004"),
    ("a = 12abc;", "AX001"),
    ("a = x $ y;", "AX001"),
    ("a = g(x));", "AX002"),
    ("a = g(x]);", "AX002"),
    ("a = fn x { x };", "AX002"),
    ("a = (x,);", "AX002"),
    ("a = x y;", "AX002"),
    ("a = f(k=1, x);", "AX002"),
    ('a = "text";', "AX002"),
    ("a = fn (x) { x } };", "AX002"),
    ("a = fn (x) x };", "AX002"),
    ("a = f(x; y);", "AX002"),
    ("a = fn (x) { x; y = 1; y };", "AX002"),
    ("a = x +", "AX002"),
    ("a = 1", "AX002"),
    ("a = fn (x) { x }", "AX002"),
    ("a = " + "9" * 5000 + ";", "AX006"),
    ("a = 1e999;", "AX006"),
    ("a = fn (x : t [n) { x };", "AX002"),
    ("a = fn (x) where n == 1 { x };", "AX002"),
    ("a = f(..., x);", "AX001"),
    ("a = x == not y;", "AX002"),
    ("a = -not y;", "AX002"),
    ("a = x |> ;", "AX002"),
    ("a = f(|>, x);", "AX002"),
    ("a = x and;", "AX002"),
    ("a = fn (type) { type + 1 };", "AX002"),
    ("a = fn (not, x) { x * not };", "AX002"),
    ("a = fn (x : t [if]) { x };", "AX002"),
    ("a = x ** ;", "AX002"),
    ("a = x[];", "AX002"),
    ("a = if c { x };", "AX002"),
    ("a = if c x else { x };", "AX002"),
    ("a = if c { x } else x;", "AX002"),
    ("a = if { x } else { x };", "AX002"),
    ("a = if c { y = 1; } else { x };", "AX004"),
    ("a = x[..., 0, ...];", "AX002"),
    ("a = x[1:2:3:4];", "AX002"),
    ("a = x[0;", "AX002"),
    ("a = x[0, 1);", "AX002"),
    ("a = None;", "AX007"),
    ("a = x[None + 1];", "AX002"),
]


@pytest.mark.parametrize(("text", "code"), MISTAKES)
def test_one_mistake_is_one_message(text: str, code: str) -> None:
    tree, problems = broken(f"before = 1;\n{text}\nafter = fn (y) {{ y }};\nlast = 2;\n")
    assert [problem.code for problem in problems] == [code], render_all(problems)
    assert names(tree) == ["before", "a", "after", "last"]


@pytest.mark.parametrize("some", [MISTAKES[:40], MISTAKES[40:]])  # as many as are shown
def test_mistakes_are_independent(some: list[tuple[str, str]]) -> None:
    text = "\n".join(mistake for mistake, _ in some) + "\nlast = 1;\n"
    tree, problems = broken(text)
    assert names(tree) == ["a"] * len(some) + ["last"]
    assert abs(len(problems) - len(some)) <= 1, render_all(problems)


def test_a_missing_semicolon_is_reported_where_it_is_missing() -> None:
    tree, problems = broken("f = fn (x) { x }\ng = 2;\n")
    assert names(tree) == ["f", "g"]
    (problem,) = problems
    assert problem.span is not None
    assert (problem.span.line, problem.span.column) == (1, 17)
    assert "expected `;`" in problem.message


def test_a_block_without_a_value() -> None:
    _, problems = broken("f = fn (x) { y = x; };")
    assert problems[0].help == ("end the block with its value",)


def test_what_cannot_be_defined_is_kept() -> None:
    tree, problems = broken("1 = 2;\nb = 1;")
    assert [problem.code for problem in problems] == ["AX002"]
    assert names(tree) == ["_", "b"]


def test_half_a_type_is_no_type() -> None:
    tree, _ = broken("f = fn (x : (t [n], $), y : u) : [n] { x };")
    (binding,) = tree.items
    assert isinstance(binding, Binding)
    assert isinstance(binding.value, Fn)
    assert [param.type is None for param in binding.value.params] == [True, False]
    assert binding.value.result is None
    assert isinstance(binding.value.body.result, Name)


def test_a_broken_operator_keeps_its_name() -> None:
    tree, _ = broken("op f : (;\nx = 1;")
    assert names(tree) == ["f", "x"]
    assert isinstance(tree.items[0], Binding)
    assert isinstance(tree.items[0].value, Broken)


def test_messages_are_bounded() -> None:
    _, problems = broken("a = ;\n" * 200)
    assert len(problems) == 51
    assert problems[-1].message == "150 more problems in this file not shown"


# --- depth and size --------------------------------------------------------------------------


def called_deep(frames: int, action: Callable[[], None]) -> None:
    if frames:
        called_deep(frames - 1, action)
    else:
        action()


N = 1500
DEEP = {
    "parentheses": "a = " + "(" * N + "x" + ")" * N,
    "unclosed": "a = " + "(" * N,
    "calls": "a = " + "f(" * N + "x" + ")" * N,
    "lists": "a = " + "[" * N + "]" * N,
    "functions": "a = " + "fn (x) { y = " * N + "x" + "; y }" * N,
    "signs": "a = " + "-" * N + "x",
    "signs and parentheses": "a = " + "-(" * N + "x" + ")" * N,
    "curried calls": "a = f" + "(x)" * N,
    "negations": "a = " + "not " * N + "x",
    "powers": "a = " + "x ** " * N + "x",
    "powers of signs": "a = " + "x ** - " * N + "x",
    "pipes": "a = x" + " |> f" * N,
    "ifs": "a = " + "if c { " * N + "x" + " } else { x }" * N,
    "else ifs": "a = " + "if c { x } else " * N + "{ x }",
    "conditions": "a = " + "if " * N + "c" + " { x } else { x }" * N,
    "subscripts": "a = " + "x[" * N + "0" + "]" * N,
    "subscripts of subscripts": "a = x" + "[0]" * N,
    "calls of calls": "a = " + "(" * 90 + "f" + ("(x)" * 90 + ")") * 90,
    "types": "op a : " + "(" * N + "t" + ")" * N + " -> t",
    "arrows": "op a : " + "t -> " * N + "t",
    "dimensions": "op a : t [" + "(" * N + "n" + ")" * N + "]",
    "prefix sums": "op a : t [" + "(+ 1 " * N + "n" + ")" * N + "]",
    "negative dimensions": "op a : t [" + "-" * N + "n]",
    "broadcasts": "op a : t " + "broadcast(" * N + "n" + ")" * N,
    "sizes": "op a : t [" + "size([" * N + "n" + "])" * N + "]",
    "patterns": "a, " + "(" * N + "b" + ")" * N + " = x",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=list(DEEP))
def test_too_deep_is_one_message(text: str) -> None:
    def check() -> None:
        tree, problems = broken(f"{text};\nlast = 1;\n")
        assert [problem.code for problem in problems] == ["AX003"]
        assert names(tree)[-1] == "last"
        assert len(tree.items) == 2
        print_program(tree)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    try:
        called_deep(300, check)
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 99 + "x" + ")" * 99,
        "f(1 == 1 + 1 * " * 99 + "x" + ")" * 99,
        "1 == 1 + 1 * fn (x) { y = " * 99 + "x" + "; y }" * 99,
        "-" * 99 + "x",
        "f" + "(x)" * 99,
        "not " * 99 + "x",
        "x ** " * 99 + "x",
        "x" + " |> f" * 99,
        "x[" * 99 + "0" + "]" * 99,
        "if c { " * 99 + "x" + " } else { x }" * 99,
        "if c { x } else " * 99 + "{ x }",
        "x" + "[1:, None]" * 99,
        "x or y and not x == y + z * (" * 33 + "x" + ")" * 33,
    ],
)
def test_not_too_deep(text: str) -> None:
    def check() -> None:
        print_program(program(f"a = {text};"))

    called_deep(250, check)


def test_long_chains() -> None:
    tree = program("a = x" + " + y" * 100_000 + ";\nop f : t [n" + "+1" * 100_000 + "];")
    assert print_program(tree).count("y") == 100_000
    assert len(tree.items) == 2


# --- anything at all -------------------------------------------------------------------------

FRAGMENTS = [
    *("(", ")", "[", "]", "{", "}", "fn", "x", "y", "=", ";", ",", "->", "+", "-", "*", "/", "@"),
    *("**", "//", "%", "|>", "and", "or", "not", "...", "x[", ":", "if", "else", "None", "type"),
    *("==", "<", ":", "where", "op", "import", '"a"', '"', "as", "1", "2.5", "0f", "inf", "true"),
    *("?k", "$", "t", "f32", "dim", "shape", "broadcast", "min", "mod", "size", "(+", "'", "."),
    *("…", "fn(x){", "f(", "\n", "\n  ", "# c\n", "\0", "\ud800", "x = ", "\t", "\r\n"),
]


def check_anything(text: str) -> None:
    source = Source("test", text)
    tree, problems = parse_program(source)
    render_all(problems)
    for problem in problems:
        to_json(problem)
    print_program(tree)
    parse_signature(source)
    parse_expression(source)


@given(st.text())
def test_any_text(text: str) -> None:
    check_anything(text)


@given(st.binary())
def test_any_bytes(data: bytes) -> None:
    check_anything(data.decode("latin-1"))


@settings(max_examples=400)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=60).map(" ".join))
def test_any_tokens(text: str) -> None:
    check_anything(text)
