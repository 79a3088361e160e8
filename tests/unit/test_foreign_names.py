"""The forms that messages name for other libraries are programs of Axon."""

from __future__ import annotations

import pytest

from axon.driver import check_text
from axon.inference.habits.foreign_names import ATTRIBUTES, FORMS, LIBRARIES, WORDS
from axon.ops import OPERATORS
from axon.syntax.habits import STATEMENTS
from axon.syntax.tokens import FOREIGN_WORDS

PARAMETERS = """
  x : f32 [n,m], y : f32 [n,m], w : f32 [m,k], b : f32 [k], v : f32 [m], i : i64 [k], r : i64 [n],
  c : bool [n,m], key : u32 [2], scale : f32 [m], bias : f32 [m], q : f32 [n,m], k : f32 [n,m],
  x3 : f32 [n,m,8], w3 : f32 [k,m,3], z : f32 [n,m,8,8], w4 : f32 [m,m,3,3],
  x5 : f32 [n,m,8,8,8], w5 : f32 [k,m,3,3,3]
"""


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_a_program(name: str) -> None:
    extra = "where m >= 2" if "top_k" in FORMS[name] else ""
    text = FORMS[name].replace("[n, m]", "[2, 3]")
    checked = check_text(f"f = fn ({PARAMETERS}) {extra} {{ {text} }};")
    assert checked.ok, [d.message for d in checked.diagnostics]


def test_no_form_is_for_an_operator_that_is_written_so() -> None:
    """A member may be called like an operator that is written in another way."""
    ours = {"shape", "size", "dot", "dropout", "arange", "expand", "scan"}
    assert {name for name in FORMS if name in OPERATORS} <= ours


def test_no_name_of_ours_is_foreign() -> None:
    assert not set(WORDS) & set(OPERATORS)
    assert not set(LIBRARIES) & set(OPERATORS)
    assert not set(STATEMENTS) & set(OPERATORS)


def test_attributes_are_ours() -> None:
    ours = {name for operator in OPERATORS.values() for name in operator.attributes}
    assert set(ATTRIBUTES.values()) <= ours | {"key"}


@pytest.mark.parametrize(
    "word", ["def", "let", "return", "for", "while", "class", "lambda", "from", "True", "cat", "np"]
)
def test_a_foreign_word_may_be_a_name(word: str) -> None:
    text = f"{word} = fn (x : f32 [n]) {{ x + 1 }};\nf = fn ({word} : f32 [n]) {{ -{word} }};"
    assert check_text(text).ok
    assert check_text(f"{word} = fn (x) {{ x }};\ng = fn (y : f32 [n]) {{ {word}(y) }};").ok


def test_fields_that_tensors_have_as_methods_may_be_of_records() -> None:
    text = "norm_ = fn (p, x) { (x - p.mean) / p.std * p.scale + p.bias };"
    assert check_text(text).ok
    assert check_text("f = fn (p, x) { (x - p.mean) / p.var };").ok
    assert not check_text("f = fn (x) { x - x.mean() };").ok


def test_the_words_that_begin_a_statement_elsewhere_are_known_to_the_parser() -> None:
    assert set(STATEMENTS) == FOREIGN_WORDS
