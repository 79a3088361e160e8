"""The printer: what it prints is read back as the same tree, and no comment is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axon.diagnostics.text import render_all
from axon.source import Source
from axon.syntax import (
    parse_expression,
    parse_program,
    parse_signature,
    print_signature,
    print_type,
)
from axon.syntax.ast import Expr, Number, Program, Signature
from axon.syntax.printer import print_expr, print_program
from tests.budget import ALL, QUARTER
from tests.properties.syntax_trees import bones, expressions, programs, signatures

# --- the law ---------------------------------------------------------------------------------


@QUARTER
@given(signatures)
def test_signatures_are_read_back(tree: Signature) -> None:
    text = print_signature(tree)
    again, problems = parse_signature(Source("again", text))
    assert not problems, render_all(problems)
    assert bones(again) == bones(tree), text


@QUARTER
@given(expressions)
def test_expressions_are_read_back(tree: Expr) -> None:
    text = print_expr(tree)
    again, problems = parse_expression(Source("again", text))
    assert not problems, render_all(problems)
    assert bones(again) == bones(tree), text


@QUARTER
@given(programs)
def test_programs_are_read_back(tree: Program) -> None:
    text = print_program(tree)
    again, problems = parse_program(Source("again", text))
    assert not problems, render_all(problems)
    assert bones(again) == bones(tree), text
    assert print_program(again) == text


# --- layout ----------------------------------------------------------------------------------


def formatted(text: str) -> str:
    tree, problems = parse_program(Source("test", text))
    assert not problems, render_all(problems)
    return print_program(tree)


def test_one_line_where_it_fits() -> None:
    assert formatted("f=fn(x,y){x+y}") == "f = fn (x, y) { x + y };\n"
    assert formatted("") == ""


def test_bindings_stand_on_their_own_lines() -> None:
    text = "f = fn (x, y) {\n  a = x + y;\n  a, x\n};\n"
    assert formatted(text.replace("\n", " ")) == text


def test_long_lines_are_broken() -> None:
    text = formatted(
        "y = function(argument_one, argument_two, fn (x) { x }, "
        "[1, 2, 3], yet_another_argument_here, one_more);"
        "z = " + " + ".join(["operand_number"] * 9) + ";"
        "a, b = " + ", ".join(["some_value_of_a_tuple"] * 7) + ";"
    )
    assert max(len(line) for line in text.split("\n")) <= 100
    assert formatted(text) == text
    assert text.startswith("y = function(\n  argument_one,\n  argument_two,\n  fn (x) { x },\n")


def test_shapes_are_compact() -> None:
    tree, _ = parse_signature(Source("test", "(t s @ [a, b], t [a + b] @ s) -> f32 [n, h - r + 1]"))
    assert tree is not None
    assert print_type(tree.type) == "(t s@[a,b], t [a+b]@s) -> f32 [n,h-r+1]"


COMMENTED = """\
# head

# about f
f = fn (x) {  # inside
  # first
  a = x; # trailing
  b = g(a, # in a call
    fn (y) { # deep
      y # deeper
    });

  # before the result
  a, b; # after the result
  # at the end
}; # after f
# between
op g : t s # in a type
  -> t s;
g(f) # last
# end"""


def test_no_comment_is_lost() -> None:
    text = formatted(COMMENTED)
    comments = [line[line.index("#") :] for line in COMMENTED.split("\n") if "#" in line]
    found = [line[line.index("#") :] for line in text.split("\n") if "#" in line]
    assert sorted(found) == sorted(comments)
    assert formatted(text) == text
    assert "a = x;  # trailing\n" in text
    assert text.startswith("# head\n\n# about f\nf = fn (x) {  # inside\n  # first\n")
    assert "\n\n  # before the result\n  a, b  # after the result\n  # at the end\n};" in text


@ALL
@given(st.lists(st.sampled_from([*"xy(),;+", "# c\n", "\n", " = ", "fn (x) {", "}", "f("])))
def test_comments_survive_anywhere(parts: list[str]) -> None:
    source = Source("test", " ".join(parts))
    tree, problems = parse_program(source)
    if not problems:
        assert print_program(tree).count("# c") == len(tree.comments)


@pytest.mark.parametrize("text", ["a = f(x,;\n", "a = ;", "fn (x) {"])
def test_broken_programs_can_be_printed(text: str) -> None:
    tree, problems = parse_program(Source("test", text))
    assert problems
    print_program(tree)


def test_numbers_keep_their_text() -> None:
    match parse_expression(Source("test", "1e-5"))[0]:
        case Number() as number:
            assert print_expr(number) == "1e-5"
        case other:
            raise AssertionError(other)
