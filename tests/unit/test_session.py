"""An edited text, checked step by step, is checked as if it were new."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from axon.diagnostics import Diagnostic
from axon.diagnostics.text import render
from axon.driver import check
from axon.session import Session
from axon.source import Source, Span

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


MAIN = """import "layers.axon" as L;
wide = fn (x) { L.double(x), L.width };
net = fn (x : f32 [n,16], w : f32 [16,4], b) { L.dense(x, w, b) };
out = fn (x, w, b) { sum(net(x, w, b)) };
"""

LAYERS = """import "base.axon" as base;
width = 8;
double = fn (x) { concat(x, x) };
dense = fn (x, w, b) { base.act(x @ w + b) };
"""

BASE = "act = fn (x) { relu(x) };\n"


class Files:
    """Files that can be edited, by name."""

    def __init__(self, **texts: str) -> None:
        self.texts = {f"{name}.axon": text for name, text in texts.items()}

    def find(self, path: str, _source: Source) -> Source | str:
        text = self.texts.get(path)
        return f"{path}: there is no such file" if text is None else Source(path, text)

    def edit(self, name: str, old: str, new: str) -> None:
        assert old in self.texts[name]
        self.texts[name] = self.texts[name].replace(old, new)


def at(span: Span) -> tuple[object, ...]:
    return span.source.name, span.line, span.column, span.source.position(span.end), span.text


def told(diagnostics: tuple[Diagnostic, ...]) -> list[tuple[object, ...]]:
    """All that a diagnostic says, and of which places."""
    return [
        (
            (d.code, d.severity, d.message, d.notes, d.help),
            [(at(label.span), label.text, label.primary) for label in d.labels],
        )
        for d in diagnostics
    ]


def agrees(session: Session, text: str, files: Files | None = None) -> int:
    """Check a text both ways; how many definitions the session had to infer."""
    snapshot = session.check(text)
    whole = check(Source(session.name, text), files.find if files is not None else None)
    assert [s.line(True) for s in snapshot.signatures] == [s.line(True) for s in whole.signatures]
    assert [s.guards for s in snapshot.signatures] == [s.guards for s in whole.signatures]
    assert told(snapshot.diagnostics) == told(whole.diagnostics)
    return snapshot.inferred


def test_only_what_changed_is_inferred() -> None:
    session = Session("net.axon")
    assert agrees(session, TEXT) == 6
    assert agrees(session, TEXT) == 0
    assert agrees(session, TEXT.replace("# Some", "# Some more\n\n# ")) == 0
    assert agrees(session, TEXT.replace("relu(x @ w + b)", "relu(b + x @ w)")) == 1
    assert agrees(session, TEXT.replace("relu(x @ w + b)", "relu(x @ w) + b @ b")) == 2
    assert agrees(session, TEXT) == 1  # what depends on it was seen before
    assert agrees(session, TEXT.replace("concat(x, x)", "reverse(concat(x, x))")) == 1


def test_what_depends_on_a_change_is_inferred_too() -> None:
    session = Session("net.axon")
    agrees(session, TEXT)
    assert agrees(session, TEXT.replace("width = 8", "width = 9")) == 2
    assert agrees(session, TEXT) == 1
    assert agrees(session, TEXT.replace("concat(x, x)", "x")) == 2


def test_errors_move_with_their_lines() -> None:
    session = Session("net.axon")
    broken = TEXT.replace("f32 [16,4]", "f32 [15,4]")
    agrees(session, broken)
    agrees(session, "\n\n" + broken)
    agrees(session, broken.replace("width = 8;", "width = 8;\n# more\n"))
    agrees(session, TEXT)


@pytest.mark.parametrize(
    "text",
    [
        "a = zeros([3]);\nb = zeros([4]);\nc = max(a, b);\n",
        "w = zeros([3,4]);\nf = fn (x : f32 [2,5]) { x @ w };\n",
        "k = fn (g) { fn (x) { g(x) } };\nj = k(relu);\na = j(zeros([3]));\nb = j(zeros([4]));\n",
        "p = (zeros([3]), zeros([4]));\nq, r = p;\ng = max(q, r);\n",
    ],
)
def test_labels_in_other_definitions_are_kept(text: str) -> None:
    """Two labels at the same offsets of two definitions were taken for one."""
    session = Session("net.axon")
    for edited in (text, f"# more\n{text}", text.replace(";\n", ";\n\n", 1), text):
        agrees(session, edited)
        whole = check(Source("net.axon", edited))
        assert any(len({label.span.line for label in d.labels}) > 1 for d in whole.diagnostics)
        told_so = [render(d) for d in session.check(edited).diagnostics]
        assert told_so == [render(d) for d in whole.diagnostics]


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


def test_at_most_so_many_errors_are_shown() -> None:
    session = Session("net.axon")
    broken = "".join(f"f{i} = transpose(ones([{i}]));\n" for i in range(250))
    agrees(session, broken)
    agrees(session, f"{TEXT}{broken}")


def test_a_ragged_result_is_seen_whatever_else_there_is() -> None:
    """It was looked for only where some definition has a `*` in its annotations."""
    session = Session("net.axon")
    rows = "rows = fn (x : f32 [n,m]) { map(nonzero, x) };\n"
    agrees(session, f"{rows}f = fn (x : f32 [n,*]) {{ x }};\n")
    agrees(session, f"{rows}f = fn (x : f32 [n,m]) {{ transpose(rows(x)) }};\n")
    assert not session.check(f"{rows}f = fn (x) {{ transpose(rows(x)) }};\n").ok


def test_a_value_that_is_not_edited_does_not_make_its_users_new() -> None:
    """Values are inferred at each check, as errors tell where their types are from."""
    session = Session("net.axon")
    users = "".join(f"f{i} = fn (x : f32 [n,3]) {{ x @ p.w + eps }};\n" for i in range(20))
    text = "eps = 1e-5;\np = { w = ones([3,4]) };\n" + users
    assert agrees(session, text) == 22
    assert agrees(session, text) == 3  # the first user decides what `eps` is
    assert agrees(session, text.replace("f9 = fn (x : f32 [n,3])", "f9 = fn (x)")) == 4
    assert agrees(session, text.replace("ones([3,4])", "zeros([3,4])")) == 22
    assert agrees(session, text.replace("[3,4]", "[3,5]")) == 22
    agrees(session, text.replace("f0 = fn (x : f32 [n,3]) { x @ p.w", "f0 = fn (x : f64 [n]) { x"))
    assert len(session.check(text.replace("[3,4]", "[4,4]")).diagnostics) == 20


VALUES = (
    "w = zeros([3,4]);", "w = zeros([4,3]);", "w = 2f;", "b = w @ transpose(w);",
    "b, eps = w, 0.5;", "eps = 1e-5;", "eps = 1;", "eps = cast(1, to=f64);", "n = 3;",
    "n = size(w, axis=0);", "f = fn (x : f32 [2,3]) { x @ w };", "f = fn (x) { max(x, b) };",
    "f = relu;", "v = f(b);", "v = f(ones([2,3]));", "g = fn (x : f64 [n]) { x + eps };",
    "g = fn (x : f32 [n]) { x + eps };", "g = fn (x) { x + eps };", "k = fn (x) { f(x) * eps };",
    "p = { w = w, e = eps, f = f };", "m = fn (x) { x @ p.w + p.e };", "r = reshape(w, [n, 4]);",
    "u = fn (x) { reshape(x, [n, 4]) };", "i = fn (x : i64 [m]) { x + n };",
    "y = fn (x) { x[n] * eps };", "# nothing", "  + eps;",
)  # fmt: skip


def test_random_edits_of_values_and_their_users() -> None:
    source = random.Random(13)
    for _ in range(150):
        lines = source.choices(VALUES, k=9)
        session = Session("net.axon")
        for _ in range(8):
            agrees(session, "\n".join(lines))
            at = source.randrange(len(lines))
            match source.randrange(4):
                case 0:
                    lines.insert(at, source.choice(VALUES))
                case 1 if len(lines) > 4:
                    del lines[at]
                case _:
                    lines[at] = source.choice(VALUES)


# --- imports ---


def imported() -> tuple[Session, Files]:
    """A session that has checked MAIN."""
    files = Files(layers=LAYERS, base=BASE)
    session = Session("net.axon", files.find)
    assert agrees(session, MAIN, files) == 7
    return session, files


def test_what_is_imported_stays_known() -> None:
    session, files = imported()
    assert agrees(session, MAIN, files) == 0
    assert agrees(session, MAIN.replace("sum(net", "mean(net"), files) == 1
    assert agrees(session, MAIN.replace("x : f32 [n,16]", "x : f32 [3,16]"), files) == 2
    assert agrees(session, f"# more\n{MAIN}", files) == 2


@pytest.mark.parametrize(
    ("name", "old", "new", "inferred"),
    [
        ("layers.axon", "width = 8", "width = 9", 2),
        ("layers.axon", "concat(x, x)", "x", 2),
        ("layers.axon", "concat(x, x)", "reverse(concat(x, x))", 1),
        ("layers.axon", "width", "# more\nwidth", 0),
        ("base.axon", "relu(x)", "abs(x)", 1),
        ("base.axon", "relu(x)", "sum(x)", 4),
        ("base.axon", "act = fn (x)", "act = fn (x : f32 [3,4])", 4),
    ],
)
def test_an_edit_of_an_imported_file(name: str, old: str, new: str, inferred: int) -> None:
    session, files = imported()
    files.edit(name, old, new)
    assert agrees(session, MAIN, files) == inferred
    assert agrees(session, MAIN, files) == 0


def test_a_file_that_is_not_cut_stays_known() -> None:
    files = Files(layers=f"  {LAYERS}", base=BASE)
    session = Session("net.axon", files.find)
    assert agrees(session, MAIN, files) == 7
    assert agrees(session, MAIN.replace("sum(net", "mean(net"), files) == 1


def test_an_import_that_fails_and_comes_back() -> None:
    session, files = imported()
    for broken in ("x = ", "x = transpose(ones([2]));", 'import "net.axon" as main;', "y = z;"):
        for name in ("layers.axon", "base.axon"):
            before = files.texts[name]
            files.texts[name] = before + broken
            agrees(session, MAIN, files)
            del files.texts[name]
            agrees(session, MAIN, files)
            files.texts[name] = before
            agrees(session, MAIN, files)


def test_a_name_that_a_failed_import_would_have() -> None:
    """Nothing is said of it as long as the import is wrong; afterwards that it is not bound."""
    session, files = imported()
    text = f"{MAIN}f = fn (x) {{ L.triple(x) }};\n"
    layers = files.texts.pop("layers.axon")
    agrees(session, text, files)
    files.texts["layers.axon"] = layers
    agrees(session, text, files)
    files.texts["layers.axon"] += "triple = fn (x) { concat(double(x), x) };\n"
    assert agrees(session, text, files) == 2


GOOD = (
    'import "a.axon" as A;',
    'import "b.axon" as B;',
    'import "b.axon" as A; y = A.f(ones([3]));',
    'import "net.axon" as N;',
    'import "nowhere.axon" as A;',
    'import "std/layers.axon" as B;',
    "width = 8;",
    "scale = 0.5;",
    "scale = fn (x : f64 [n]) { x * A.scale };",
    "half = fn (x : f32 [n]) { x * A.scale };",
    "op f : t s@[n] -> t s@[n];",
    "f = fn (x) { concat(x, x) };",
    "f = fn (x : f32 [n,3]) { x };",
    "f = A.f;",
    "g = fn (x : f32 [4,3]) { A.f(x) };",
    "g = fn (x) {\n  B.f(f(x))\n};",
    "h = fn (x : f32 [4,5]) { g(x) };",
    "f, g = A.f(ones([3])), B.g(ones([A.width]));",
    "  g = B.g;",
    "rows = map(nonzero, zeros([2,3]));",
    "rows = transpose(A.rows);",
    "# nothing",
)
LINES = (*GOOD, *GOOD, *GOOD, "f(ones([2]))", "f = fn (x) {")


def test_random_edits_of_files_that_import_each_other() -> None:
    source = random.Random(11)
    for _ in range(100):
        files = Files(**{name: "\n".join(source.sample(LINES, 5)) for name in ("a", "b", "net")})
        session = Session("net.axon", files.find)
        for _ in range(8):
            agrees(session, files.texts["net.axon"], files)
            name = source.choice(("a.axon", "b.axon", "net.axon"))
            lines = files.texts[name].split("\n")
            at = source.randrange(len(lines))
            if source.randrange(3):
                lines[at] = source.choice(LINES)
            elif source.randrange(2):
                lines.insert(at, source.choice(LINES))
            else:
                del lines[at]
            files.texts[name] = "\n".join(lines)
