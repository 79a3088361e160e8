"""Programs that are large, deep or odd."""

from __future__ import annotations

import pytest

from axon.format import Formatted, NotTheSame, format_text
from axon.source import Source
from axon.syntax import parse_program
from tests.format.laws import formatted

DEEP = 90


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * DEEP + "y" + ")" * DEEP,
        "x = " + "f(" * DEEP + "y" + ")" * DEEP,
        "x = " + "f(  # c\n" * DEEP + "y" + ")" * DEEP,
        "x = " + "[" * DEEP + "y" + "]" * DEEP,
        "x = " + "-" * DEEP + "y",
        "x = " + "not " * DEEP + "y",
        "x = " + "{ a = " * DEEP + "y" + " }" * DEEP,
        "x = " + "fn (y) { " * DEEP + "y" + " }" * DEEP,
        "x = " + "fn (y) { z = y; z + " * (DEEP // 2) + "y" + " }" * (DEEP // 2),
        "x = " + "if c { a } else " * DEEP + "{ b }",
        "x = " + "a ** " * DEEP + "b",
        "x = a" + "[0]" * DEEP,
        "op x : " + "(" * DEEP + "f32" + ", f32)" * DEEP,
        "op x : " + "{ a : " * DEEP + "f32" + " }" * DEEP,
        "op x : f32 [" + "(n + m) * (" * (DEEP // 2) + "k" + ")" * (DEEP // 2) + "]",
        "(" * DEEP + "a" + ", b)" * DEEP + " = x",
    ],
    ids=lambda text: text[:24],
)
def test_deep_programs(text: str) -> None:
    formatted(text + "\n")


@pytest.mark.parametrize("sign", ["+", "and", "* 2 +", "and not a < b or"])
def test_long_chains(sign: str) -> None:
    formatted(f"x = {f' {sign} '.join(['name'] * 5000)};")


@pytest.mark.parametrize("sign", ["|>", "|> f(y) + 1 *", "|> f  # c\n |>"])
def test_long_pipes(sign: str) -> None:
    formatted(f"x = {f' {sign} '.join(['name'] * 40)};")


def test_long_lists_lines_and_comments() -> None:
    many = 3000
    formatted("x = [" + ", ".join(map(str, range(many))) + "];")
    formatted("x = f(" + "".join(f"a{i},  # {i}\n" for i in range(many)) + ");")
    formatted("".join(f"x{i} = fn (y) {{ y + {i} }};  # {i}\n" for i in range(many)))
    formatted("# c\n" * many + "x = 1;" + "\n" * many + "# d\n" * many)
    formatted("x = 1;" + " " * 5000 + "\n" + " " * 5000 + "\n" + "y = 2;")
    formatted("x = f(" + "# c\n" * many + ");" + ";" * many)
    formatted("op f : t [" + ",".join(f"a{i}+b{i}" for i in range(many)) + "] -> t;")


def test_numbers_fill_their_lines() -> None:
    text = formatted("x = [" + ", ".join(map(str, range(-50, 50))) + "];")
    assert text.startswith("x = [\n  -50, -49, -48, ")
    assert text.endswith(", 48, 49,\n];\n")
    assert len(text.split("\n")) < 10


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" \n\t\n", ""),
        ("# alone", "# alone\n"),
        ("\n\n# a\r\n\r\n\r\nx = 1;\r\n", "# a\n\nx = 1;\n"),
        ("x=1;;;;y=2", "x = 1;\ny = 2;\n"),
        (
            "x = 1;\f\v\n\f\n# \u4f60\u597d \U0001f600\ny",
            "x = 1;\n\n# \u4f60\u597d \U0001f600\ny\n",
        ),
    ],
)
def test_odd_texts(text: str, expected: str) -> None:
    assert formatted(text) == expected


@pytest.mark.parametrize("text", ["x = ;", "x = (1", "x = f(;", "// c\nx = 1;", "x = " + "(" * 500])
def test_mistakes_in_the_syntax_are_returned(text: str) -> None:
    found = format_text(text, "test")
    assert not isinstance(found, Formatted)
    assert found == parse_program(Source("test", text))[1] or str(found)
    assert any(problem.severity == "error" for problem in found)


def test_parentheses_that_would_be_too_deep() -> None:
    text = "a = 1;\nx = " + "fn (y) { z = y; z + " * DEEP + "y" + " }" * DEEP
    found = format_text(text, "test")
    assert not isinstance(found, Formatted)
    assert [(each.code, each.labels[0].span.line) for each in found] == [("AX003", 2)]


def test_other_mistakes_do_not_matter() -> None:
    assert formatted("x=y+true;x=nothing(1,2)") == "x = y + true;\nx = nothing(1, 2);\n"


def test_another_program_is_a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("axon.format.print_program", lambda program: "x = 2;\n")
    with pytest.raises(NotTheSame):
        format_text("x = 1;", "test")
    monkeypatch.setattr("axon.format.print_program", lambda program: "x = 1;\n")
    with pytest.raises(NotTheSame):
        format_text("x = 1;  # lost", "test")
