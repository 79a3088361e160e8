"""`axon test`: what a program says in comments is expected of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from axon.expect.same_types import same_types
from tests.shell import Outcome, axon


def _run(tmp_path: Path, text: str, *flags: str) -> Outcome:
    (tmp_path / "a.axon").write_text(text)
    return axon(["test", "a.axon", *flags], tmp_path)


RIGHT = """
double = fn (x) { x + x };
dense = fn (x : f32 [n,m], w, b) { x @ w + b };
# expect: double : t any -> t any
# expect: double : u s -> u s where u : num
# expect: double([1.0, 2.0]) == [2.0, 4.0]
# expect: double(range(3)) : i64 [3]
# expect: sum(double([1.5])) > 2.9f and true
# expect: { a = 1, b = double([0.1]) } == { b = [0.2], a = 1 }
# expect: (double(1), 2) == (2, 2)
# expect: map(double, [[1],[2]]) == [[2],[4]]
"""


def test_what_holds_passes(tmp_path: Path) -> None:
    found = _run(tmp_path, RIGHT)
    assert (found.status, found.stdout) == (0, "a.axon: 8 passed\n")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("f : t s -> t [n]", "f : t a -> t a"),
        ("g : t s -> t s", "AX201"),
        ("f([1.0]) == [3.0]", "[2.]"),
        ("f([1]) == [2, 2]", "[2]"),
        ("f([1.0]) == [2.1]", "[2.]"),
        ("f([1.0]) > 2f", "[False]"),
        ("f([1.0])", "[2.]"),
        ("f(", "expected `)`"),
        ("f(true)", "AX"),
        ("f(nothing)", "AX201"),
        ("error AX101", "no message on line 1"),
        ("1 1 : f32", "expected nothing more"),
        ("", ""),
    ],
)
def test_what_does_not_hold_fails_and_says_what_was_found(
    tmp_path: Path, line: str, found: str
) -> None:
    outcome = _run(tmp_path, f"f = fn (x) {{ x + x }}; # expect: {line}\n# expect: f(1) == 2\n")
    assert outcome.status == 1
    assert outcome.stdout.endswith("a.axon: 1 passed, 1 failed\n")
    assert f"a.axon:1: expected  {line}".rstrip() in outcome.stdout
    assert found in outcome.stdout


def test_errors_and_warnings_are_expected_on_their_lines(tmp_path: Path) -> None:
    text = """
f = fn (x : f32 [n,3], y : f32 [4,m]) {
  matmul(x, y)  # expect: error AX101 inner sizes differ
};
# expect: warning AX301
g = fn (x : f32 [n,m]) { matmul(x, x) };
"""
    assert _run(tmp_path, text).stdout == "a.axon: 2 passed\n"
    short = text.replace("error AX101", "AX101").replace("warning AX301", "AX301")
    assert _run(tmp_path, short).stdout == "a.axon: 2 passed\n"
    wrong = _run(tmp_path, text.replace("AX101", "AX102"))
    assert wrong.status == 1
    assert "error AX101 matmul: the inner sizes differ, 3 and 4" in wrong.stdout
    assert "error[AX101]" in wrong.stderr


def test_an_error_that_nobody_expects_fails(tmp_path: Path) -> None:
    outcome = _run(tmp_path, "f = fn (x) { x + y };\n")
    assert outcome.status == 1
    assert "AX201" in outcome.stderr


def test_update_writes_the_types_that_are_found(tmp_path: Path) -> None:
    text = "# expect: f : t [n] -> f32\nf = fn (x) { sum(x) };\n# expect: f([1]) == 1\n"
    outcome = _run(tmp_path, text, "--update")
    assert (outcome.status, outcome.stdout) == (0, "a.axon: 1 passed, 1 updated\n")
    assert (tmp_path / "a.axon").read_text().startswith("# expect: f : t a -> t []\nf = ")
    assert axon(["test", "a.axon"], tmp_path).status == 0


def test_folders_and_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "b.axon").write_text("f = fn (x) { x }; # expect: f : a -> a\n")
    (tmp_path / "in" / "c.axon").write_text("f = fn (x) { x };\n")
    found = axon(["test", "in", "gone.axon"], tmp_path)
    assert found.status == 2
    assert "in/c.axon: nothing is expected\n" in found.stdout
    assert "in/deep/b.axon: 1 passed\n" in found.stdout
    assert "gone.axon" in found.stderr


def test_json(tmp_path: Path) -> None:
    found = json.loads(_run(tmp_path, "f = fn (x) { x }; # expect: f : a -> b", "--json").stdout)
    assert found["failed"] == 1
    assert found["files"][0]["results"] == [
        {"line": 1, "expected": "f : a -> b", "found": "f : a -> a", "ok": False}
    ]


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("t [a,b] -> t [b]", "u [n,m]->u [m]", True),
        ("t [a,b] -> t [b]", "t [n,m] -> t [n]", False),
        ("f32 [a] -> f32 [a]", "f64 [a] -> f64 [a]", False),
        ("{ w : t [a] } -> t [a]", "{ w : u [b] } -> u [b]", True),
        ("{ w : t [a] } -> t [a]", "{ v : t [a] } -> t [a]", False),
        ("t [2*a] -> t [a] where a >= 1", "t [2*n] -> t [n] where n >= 1", True),
        ("t [2*a] -> t [a] where a >= 1", "t [2*n] -> t [n] where n >= 2", False),
        (
            "(t a, t b) -> t c where c = broadcast(a, b)",
            "(t s, t r) -> t q where q = broadcast(s, r)",
            True,
        ),
    ],
)
def test_same_types(left: str, right: str, same: bool) -> None:
    assert same_types(left, right) == same
