"""The lexer: every character belongs to a token, and the brackets come out balanced."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from axon.source import Source
from axon.syntax.brackets import balance
from axon.syntax.foreign_comments import without_foreign_comments
from axon.syntax.lexer import lex, quote, unquote
from axon.syntax.tokens import CLOSER, OPENER


def kinds(text: str) -> list[str]:
    return lex(Source("test", text))[0].kinds[:-1]


def texts(text: str) -> list[str]:
    tokens, _ = lex(Source("test", text))
    return [tokens.text(at) for at in range(len(tokens.kinds) - 1)]


def messages(text: str) -> list[str]:
    return [problem.message for problem in lex(Source("test", text))[1].kept]


def test_names_have_primes_and_dots() -> None:
    assert texts("s0' A'' layers.conv x_1 _") == ["s0'", "A''", "layers", ".conv", "x_1", "_"]
    assert kinds("s0' A'' layers.conv x_1 _") == ["name", "name", "name", "field", "name", "name"]


def test_reserved_words_are_kinds() -> None:
    assert kinds("fn true false inf") == ["fn", "true", "false", "inf"]
    assert kinds("op import as where shape dim mod fnord") == ["name"] * 8


@pytest.mark.parametrize("text", ["0", "1", "007", "1234567890"])
def test_whole_numbers(text: str) -> None:
    assert kinds(text) == ["int"]


@pytest.mark.parametrize("text", ["0f", "1.5", "1.5f", "1e-5", "1E+5f", "2.5e10", "1e999"])
def test_numbers_with_a_fraction(text: str) -> None:
    assert kinds(text) == ["float"]


@pytest.mark.parametrize("text", ["12abc", "1.", "1.5.2", "0x10", ".5", "1e", "1ff"])
def test_what_is_not_a_number(text: str) -> None:
    assert kinds(text) == ["bad"]
    assert messages(text) == [f"`{text}` is not a number"]


def test_signs_are_read_as_far_as_they_go() -> None:
    assert kinds("a->b == c!=d<=e>=f<g>h=i") == [
        *("name", "->", "name", "==", "name", "!=", "name", "<=", "name"),
        *(">=", "name", "<", "name", ">", "name", "=", "name"),
    ]


def test_runtime_sizes() -> None:
    assert kinds("?k ?s'") == ["runtime", "runtime"]
    assert messages("? k") == ["`?` has no name after it"]


def test_comments_are_kept_apart() -> None:
    tokens, _ = lex(Source("test", "a # one  \r\n# two\nb"))
    assert tokens.kinds == ["name", "name", "eof"]
    assert [comment.text for comment in tokens.comments] == ["# one", "# two"]


def test_indentation_of_the_first_token_of_a_line() -> None:
    tokens, _ = lex(Source("test", "a b\n  c\n\n d"))
    assert tokens.fresh == {0: 0, 2: 2, 3: 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$", "unexpected character `$`"),
        ("\0", "unexpected character U+0000"),
        ("\u00a0", "unexpected character U+00A0 (no-break space)"),
        ("é", "unexpected character `é`"),
        ('"abc', "this string has no end"),
        ('"abc\n"', "this string has no end"),
    ],
)
def test_what_cannot_be_read(text: str, message: str) -> None:
    assert messages(text)[0] == message


def test_a_byte_order_mark_is_passed_over() -> None:
    assert kinds("\ufeffa") == ["name"]


@given(st.text())
def test_strings_survive_quoting(value: str) -> None:
    assert unquote(quote(value)) == value


@given(st.text())
def test_every_character_is_accounted_for(text: str) -> None:
    source = Source("test", text)
    tokens, _ = lex(source)
    text, _ = without_foreign_comments(source)  # these are blank in it, and have a message
    covered = set(range(len(text)))
    for start, end in zip(tokens.starts, tokens.ends, strict=True):
        covered -= set(range(start, end))
    for comment in tokens.comments:
        covered -= set(range(comment.start, comment.end))
    rest = {text[at] for at in covered if not text[at].isspace()}
    assert rest <= {"\ufeff"}


@settings(max_examples=300)
@given(st.lists(st.sampled_from(["(", ")", "[", "]", "{", "}", ";", "a =", "x", "\n", "\n  "])))
def test_brackets_are_balanced_afterwards(parts: list[str]) -> None:
    before, _ = lex(Source("test", " ".join(parts)))
    after = balance(before)
    expected: list[str] = []
    for kind in after.kinds:
        if kind in CLOSER:
            expected.append(CLOSER[kind])
        elif kind in OPENER:
            assert expected.pop() == kind
    assert not expected
    assert balance(after) is after or ";" in after.kinds
    real = [at for at in range(len(after.kinds)) if at not in after.virtual]
    assert [after.starts[at] for at in real] == list(before.starts)
