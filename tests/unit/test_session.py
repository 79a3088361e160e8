"""An edited text, checked step by step, is checked as if it were new."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from axon.diagnostics import Diagnostic
from axon.driver import check
from axon.session import Session
from axon.source import Source

GOLDEN = Path(__file__).resolve().parents[1] / "golden"

TEXT = """# Some layers.
width = 8;
op norm : t s@[n] -> t s@[n];
double = fn (x) { concat(x, x) };
dense = fn (x, w, b) {
  relu(x @ w + b)
};

net = fn (x : f32 [n,16], w : f32 [16,4], b) {
  norm(dense(x, w, b))
};
wide = fn (x) { zeros([width, 2]) };
pair = fn (x) { double(x), double(double(x)) };
"""


def told(diagnostics: tuple[Diagnostic, ...]) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for d in diagnostics:
        assert d.span is not None
        found.append((d.code, d.severity, d.message, d.span.line, d.span.column))
    return found


def agrees(session: Session, text: str) -> int:
    """Check a text both ways; how many definitions the session had to infer."""
    snapshot = session.check(text)
    whole = check(Source("net.axon", text))
    assert [s.line(True) for s in snapshot.signatures] == [s.line(True) for s in whole.signatures]
    assert [s.guards for s in snapshot.signatures] == [s.guards for s in whole.signatures]
    assert told(snapshot.diagnostics) == told(whole.diagnostics)
    return snapshot.inferred


def test_only_what_changed_is_inferred() -> None:
    session = Session("net.axon")
    assert agrees(session, TEXT) == 6
    assert agrees(session, TEXT) == 0
    assert agrees(session, TEXT.replace("# Some", "# Some more\n\n# ")) == 0
    assert agrees(session, TEXT.replace("relu(x @ w + b)", "relu(b + x @ w)")) == 2
    assert agrees(session, TEXT) == 2
    assert agrees(session, TEXT.replace("concat(x, x)", "reverse(concat(x, x))")) == 1


def test_what_depends_on_a_change_is_inferred_too() -> None:
    session = Session("net.axon")
    agrees(session, TEXT)
    assert agrees(session, TEXT.replace("width = 8", "width = 9")) == 2
    assert agrees(session, TEXT) == 2
    assert agrees(session, TEXT.replace("concat(x, x)", "x")) == 2


def test_errors_move_with_their_lines() -> None:
    session = Session("net.axon")
    broken = TEXT.replace("f32 [16,4]", "f32 [15,4]")
    agrees(session, broken)
    agrees(session, "\n\n" + broken)
    agrees(session, broken.replace("width = 8;", "width = 8;\n# more\n"))
    agrees(session, TEXT)


@pytest.mark.parametrize("broken", ["f = fn (x { x };\n", "}", "x", "net = ", '"', "  y = 1;"])
def test_a_text_that_does_not_parse_is_checked_whole(broken: str) -> None:
    session = Session("net.axon")
    agrees(session, TEXT)
    agrees(session, TEXT + broken)
    agrees(session, TEXT)


def test_random_edits_of_the_golden_programs() -> None:
    source = random.Random(7)
    programs = [
        path.read_text(encoding="utf-8")
        for path in sorted(GOLDEN.rglob("*.axon"))
        if "import" not in path.read_text(encoding="utf-8")
    ]
    for _ in range(25):
        lines = "\n".join(source.sample(programs, 4)).split("\n")
        session = Session("net.axon")
        for _ in range(6):
            agrees(session, "\n".join(lines))
            at = source.randrange(len(lines))
            match source.randrange(4):
                case 0:
                    del lines[at]
                case 1:
                    lines.insert(at, source.choice(lines))
                case 2:
                    lines[at] = lines[at].replace("3", "4").replace("max", "maximum")
                case _:
                    other = source.randrange(len(lines))
                    lines[at], lines[other] = lines[other], lines[at]
