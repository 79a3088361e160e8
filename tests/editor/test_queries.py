"""Each question that an editor asks, on small texts. `|` is the cursor."""

from __future__ import annotations

import pytest

from axon.editor import Document, Edit, Lines, Refusal, Workspace

NET = """\
type Linear(i, o) = { w : t [i,o], b : t [o] };
op mystery : t [n] -> t [n,n];
width = 16;
# One layer.
layer = fn (p : Linear(i, o), x : f32 [n,i]) {
  h = x @ p.w;
  relu(h + p.b)
};
twice = fn (x, scale = 2) { x * scale };
out = layer({ w = ones([3,width]), b = ones([width]) }, ones([5,3]));
"""

FILES = {
    "/a/main.axon": 'import "sub/nn.axon" as nn;\ny = nn.dense(ones([2,3]), ones([3,4]));\n',
    "/a/sub/nn.axon": "dense = fn (x, w) { relu(x @ w) };\ntype Table(v, d) = t [v,d];\n",
}


def at(text: str) -> tuple[Document, int]:
    """A text with a cursor in it, opened."""
    offset = text.index("|")
    return Workspace().open("net.axon", text.replace("|", "", 1)), offset


def in_net(before: str) -> tuple[Document, int]:
    """The network, with the cursor at the first place of some text that has one itself."""
    plain = before.replace("|", "", 1)
    assert plain in NET, plain
    return at(NET.replace(plain, before, 1))


def files() -> Workspace:
    return Workspace(lambda name: FILES.get(name) or FileNotFoundError(name))


def opened(name: str = "/a/main.axon") -> Document:
    return files().open(name, FILES[name])


def applied(text: str, edits: tuple[Edit, ...] | list[Edit]) -> str:
    for edit in sorted(edits, key=lambda e: -e.place.start):
        text = text[: edit.place.start] + edit.text + text[edit.place.end :]
    return text


# --- hover ---


@pytest.mark.parametrize(
    ("place", "code"),
    [
        ("  h| = x @", "h : f32 [n,o]"),
        ("relu(h| +", "h : f32 [n,o]"),
        ("x @ p|.w", "p : { b : f32 [o], w : f32 [i,o] }"),
        ("p.|w", "w : f32 [i,o]"),
        ("out| = ", "out : f32 [5,16]"),
        (
            "out = lay|er",
            "layer : (p : { b : f32 [o], w : f32 [i,o] }, x : f32 [n,i]) -> f32 [n,o]",
        ),
        ("re|lu(h", "relu : t s -> t s where t : num"),
        ("my|stery", "op mystery : t [n] -> t [n,n]"),
        ("type Lin|ear", "type Linear(i, o) = { w : t [i,o], b : t [o] }"),
        ("p : Lin|ear", "type Linear(i, o) = { w : t [i,o], b : t [o] }"),
        ("Linear(i, |o), x", "o : a size"),
        ("scale| = 2", "scale : t b"),
        ("h |+ p.b", "f32 [n,o]"),
        ("wid|th = 16", "width : i64"),
    ],
)
def test_hover(place: str, code: str) -> None:
    document, offset = in_net(place)
    found = document.hover(offset)
    assert found is not None
    assert found.code == code


def test_hover_says_what_a_size_is() -> None:
    document, offset = at("f = fn (x : f32 [n,3], y : f32 [n|]) { x[0] + y };")
    found = document.hover(offset)
    assert found is not None
    assert found.code.startswith("n")


@pytest.mark.parametrize(
    "mistake", ["size(y, 1)", "nope(y)", "y + zeros([17])", "softmax(y, axes=3)", "y +"]
)
def test_a_mistake_takes_no_type_from_what_is_before_it(mistake: str) -> None:
    """Not where it is from another definition either."""
    text = (
        "p = { w = ones([3,16]) };\n"
        f"net = fn (x : f32 [n,3]) {{\n  y = x @ p.w;\n  z = {mistake};\n  z\n}};"
    )
    document = Workspace().open("net.axon", text)
    assert document.diagnostics
    assert [(h.text) for h in document.hints() if h.name == "y"] == ["f32 [n,16]"]


def test_a_definition_without_a_type_says_why() -> None:
    text = "f = fn (x : f32 [2,3]) { x @ x };\ng = fn (y) { f(y) };\n"
    document = Workspace().open("net.axon", text)
    hovers = [document.hover(text.index(f"{name} =")) for name in "fg"]
    assert [h and (h.code, h.text) for h in hovers] == [
        ("f", "no type: it has errors"),
        ("g", "no type: something that it uses has errors"),
    ]
    assert "?" not in {hint.text for hint in document.hints()}


def test_hover_on_an_operator_has_its_documentation() -> None:
    document, offset = at("f = fn (x) { soft|max(x, axis=0) };")
    found = document.hover(offset)
    assert found is not None
    assert "along an axis.\n\n- `axis`: which one" in found.text, "a list stays one"
    assert "Attributes: `axis" in found.text
    assert ">>> softmax(" in found.text


def test_hover_has_the_plain_reading() -> None:
    document, offset = at("fu|ll = fn (x, w, b) { relu(x @ w + b) };")
    found = document.hover(offset)
    assert found is not None
    assert "plain: `" in found.text


def test_nothing_to_say() -> None:
    document, offset = in_net("# One| layer")
    assert document.hover(offset) is None
    assert Workspace().open("a", "").hover(7) is None


# --- hints ---


def test_hints_stand_after_names_without_a_type() -> None:
    document = Workspace().open("net.axon", NET)
    found = {(document.text[: h.at].split()[-1], h.text) for h in document.hints()}
    assert ("h", "f32 [n,o]") in found
    assert ("out", "f32 [5,16]") in found
    assert not any(name == "width" for name, _ in found)  # its value says it


def test_types_that_double_have_no_hint() -> None:
    """Written out they would fill the memory."""
    lines = "".join(f"  x{i} = (x{i - 1}, x{i - 1});\n" for i in range(1, 60))
    document = Workspace().open("net.axon", f"f = fn (x0) {{\n{lines}  x59\n}};\n")
    names = {hint.name for hint in document.hints()}
    assert "x3" in names
    assert "x40" not in names


def test_hints_of_a_range_only() -> None:
    document = Workspace().open("net.axon", NET)
    start = NET.index("out =")
    assert [h.name for h in document.hints(start)] == ["out"]


@pytest.mark.parametrize(
    "broken", ["bad = fn (x) { relu(x };\n", "bad = (1 +\n", "bad = relu(nope);\n"]
)
def test_what_is_fine_keeps_its_hints(broken: str) -> None:
    text = NET + broken
    document = Workspace().open("net.axon", text)
    assert any(h.name == "h" and h.text == "f32 [n,o]" for h in document.hints())
    assert any(d.severity == "error" for d in document.diagnostics)


def test_what_depends_on_something_broken_keeps_its_hints() -> None:
    files = Workspace()
    document = files.open("net.axon", NET)
    before = [h for h in document.hints() if h.name == "out"]
    files.change("net.axon", NET.replace("relu(h + p.b)", "relu(h + p.)"))
    now = [h for h in document.hints() if h.name == "out"]
    assert [h.text for h in now] == [h.text for h in before] == ["f32 [5,16]"]


# --- definition, references, rename ---


def place_text(document: Document, offset: int) -> list[str]:
    return [
        f"{p.file}:{(document.workspace.text(p.file) or '')[p.start : p.end]}@{p.start}"
        for p in document.definition(offset)
    ]


@pytest.mark.parametrize(
    ("place", "target"),
    [
        ("relu(|h", "h = x"),
        ("= x| @", "x : f32 [n,i]"),
        ("out = |layer", "layer = fn"),
        ("@ p.|w", "w : t [i,o]"),
        ("ones([3,|width", "width = 16"),
        ("p : |Linear", "Linear(i, o) ="),
        ("f32 [n,|i]", "i, o), x"),
    ],
)
def test_definition(place: str, target: str) -> None:
    document, offset = in_net(place)
    (found,) = document.definition(offset)
    assert document.text[found.start :].startswith(target)


def test_definition_in_other_files() -> None:
    document = opened()
    text = document.text
    assert place_text(document, text.index("dense")) == ["/a/sub/nn.axon:dense@0"]
    assert place_text(document, text.index("sub/")) == ["/a/sub/nn.axon:@0"]
    assert place_text(document, text.index("nn.dense")) == ["/a/main.axon:nn@24"]


def test_definition_in_the_standard_library() -> None:
    from axon import stdlib

    name = next(iter(stdlib.files()))
    document = Workspace().open("net.axon", f"f = {name};\n")
    (found,) = document.definition(5)
    assert found.file == stdlib.files()[name]
    assert (stdlib.find(found.file) or "")[found.start : found.end] == name


def test_references_in_all_files() -> None:
    document = opened()
    found = document.references(document.text.index("dense"))
    assert [(p.file, p.start) for p in found] == [("/a/main.axon", 35), ("/a/sub/nn.axon", 0)]
    assert len(document.references(document.text.index("dense"), declaration=False)) == 1


@pytest.mark.parametrize(
    ("text", "new", "expected"),
    [
        ("f = fn (x|) { x + x };\ny = f(x=2);\n", "z", "f = fn (z) { z + z };\ny = f(z=2);\n"),
        (
            "a| = 1;\nb = fn (a) { a };\nc = a + 2;\n",
            "d",
            "d = 1;\nb = fn (a) { a };\nc = d + 2;\n",
        ),
        (
            "f = fn (x : t [|n,m], y : t [n]) { n };\n",
            "k",
            "f = fn (x : t [k,m], y : t [k]) { k };\n",
        ),
        (
            "type T| = f32 [3];\nf = fn (x : T) { x };\n",
            "U",
            "type U = f32 [3];\nf = fn (x : U) { x };\n",
        ),
        ("f = fn (x) { h = x; h + h| };\n", "x'", "f = fn (x) { x' = x; x' + x' };\n"),
    ],
)
def test_rename(text: str, new: str, expected: str) -> None:
    document, offset = at(text)
    edits = document.rename(offset, new)
    assert not isinstance(edits, Refusal)
    assert applied(document.text, edits) == expected


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("a| = 1;\nb = 2;\n", "b"),
        ("a| = 1;\nf = fn (b) { a + b };\n", "b"),
        ("f = fn (x|, y) { x + y };\n", "y"),
        ("a| = 1;\n", "fn"),
        ("a| = 1;\n", "two words"),
        ("f = fn (x) { re|lu(x) };\n", "abs"),
        ("f = fn (p) { p.w| };\n", "v"),
        ("f = fn (p) { { w|, b } = p; w + b };\n", "v"),
        ("a| = 1;\nf = relu;\n", "relu"),
        ("# |nothing\n", "b"),
        ("a| = 1;\nf = fn (x) { a + (x };\n", "b"),
    ],
)
def test_a_rename_that_would_change_the_meaning_is_refused(text: str, new: str) -> None:
    document, offset = at(text)
    assert isinstance(document.rename(offset, new), Refusal)


# --- completion and signature help ---


def labels(text: str) -> list[str]:
    document, offset = at(text)
    return [c.label for c in document.completions(offset)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f = fn (long_name) {\n  x = lo|\n};\n", "long_name"),
        ("f = fn (x) {\n  inner = x;\n  inn|\n", "inner"),
        ("wide = 3;\nf = fn (x) { wi|", "wide"),
        ("f = fn (x) { softm| };", "softmax"),
        ("f = fn (x) { softmax(x, |) };", "axis"),
        ("f = fn (x) { softmax(x, ax|", "axis"),
        ("g = fn (first, second) { first };\nf = g(1, |", "second"),
        ("f = fn (p : { weight : f32 [n], bias : f32 [n] }) { p.| };", "weight"),
        ("f = fn (p, x) { x @ p.weight + p.| };", "weight"),
        ("f = fn (p : { weight : f32 [n], bias : f32 [n] }) { p.we| };", "weight"),
        ("p = { aa = 1, bb = ones([2]) };\nq = p.b|;\n", "bb"),
        ("f = fn (x : f|) { x };", "f32"),
        ("type Table = f32 [3];\nf = fn (x : Ta|", "Table"),
        ("f = fn (x : f32 [size_n,3], y : f32 [si|]) { x };", "size_n"),
        ("|", "import"),
    ],
)
def test_completion(text: str, expected: str) -> None:
    assert expected in labels(text)


def test_completion_of_imported_names() -> None:
    files_ = files()
    document = files_.open("/a/main.axon", FILES["/a/main.axon"] + "z = nn.de\n")
    found = document.completions(len(document.text) - 1)
    assert [c.label for c in found] == ["dense"]
    assert found[0].detail.endswith("where t : num") or "->" in found[0].detail


@pytest.mark.parametrize("text", ["# a comm|", 'import "a|', "f = fn (x) { 1.|5 };"])
def test_no_completion(text: str) -> None:
    assert labels(text) == []


def test_a_local_is_offered_only_where_it_is_bound() -> None:
    text = "f = fn (x) {\n  a = |1;\n  later = x;\n  later\n};\n"
    assert "later" not in labels(text)
    assert "x" in labels(text)


@pytest.mark.parametrize(
    ("text", "label", "active"),
    [
        ("f = fn (x, w) { x @ w };\ny = f(1, |", "f(x : t a@[b,c]", 1),
        ("y = softmax(x|, axis=0);", "softmax(", 0),
        ("y = softmax(ones([3]), axis=|0);", "softmax(", 1),
        ("y = ones([3]) |> matmul(|);", "matmul(", 1),
        ("f = fn (a, b) { a };\ny = f(b=|", "f(a", 1),
        ("y = relu(concat(x, |", "concat(", 1),
    ],
)
def test_signature_help(text: str, label: str, active: int) -> None:
    at_ = text.rindex("|")
    document = Workspace().open("net.axon", text[:at_] + text[at_ + 1 :])
    found = document.signature_help(at_)
    assert found is not None
    assert found.label.startswith(label)
    assert found.active == active
    assert all(0 <= a < b <= len(found.label) for a, b in found.parameters)


def test_no_signature_help_outside_of_calls() -> None:
    document, offset = in_net("width| = 16")
    assert document.signature_help(offset) is None


# --- structure ---


def test_symbols() -> None:
    document = Workspace().open("net.axon", NET)
    found = {s.name: (s.kind, [c.name for c in s.children]) for s in document.symbols()}
    assert found["layer"] == ("function", ["h"])
    assert found["Linear"][0] == "type"
    assert found["mystery"][0] == "operator"
    assert found["out"][0] == "value"


def test_workspace_symbols() -> None:
    files_ = files()
    files_.touch("/a/main.axon", "/a/sub/nn.axon")
    assert [s.name for s in files_.symbols("dn")] == ["dense"]


def test_tokens() -> None:
    document = Workspace().open("net.axon", NET)
    kinds = {NET[t.start : t.end]: t.kind for t in document.tokens()}
    assert kinds["layer"] == "function"
    assert kinds["f32"] == "type"
    assert kinds["Linear"] == "type"
    assert kinds["fn"] == "keyword"
    assert kinds["# One layer."] == "comment"
    assert kinds["16"] == "number"
    assert kinds["w"] == "property"
    assert kinds["n"] == "typeParameter"
    starts = [t.start for t in document.tokens()]
    assert starts == sorted(set(starts))


def test_selections_grow() -> None:
    document, offset = in_net("relu(h| + p.b)")
    found = document.selections(offset)
    assert [document.text[a:b] for a, b in found][:3] == ["h", "h + p.b", "relu(h + p.b)"]
    assert found[-1] == (0, len(document.text))


def test_folds() -> None:
    document = Workspace().open("net.axon", "# a\n# b\n" + NET)
    texts = [document.text[a:b] for a, b in document.folds()]
    assert "# a\n# b" in texts
    assert any(t.startswith("layer = fn") for t in texts)


# --- actions ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f| = fn (x : f32 [n,3], w) { x[0] + w[0] };\n", "f = fn (x : f32 [n,3], w : "),
        ("f = fn (x) { tr|anspose(x) };\n", "f = fn (x : t [m,n]) : t [n,m] { transpose(x) };\n"),
        ("f| = fn (x, y) { x + y };\n", " where "),
    ],
)
def test_the_inferred_signature_can_be_written(text: str, expected: str) -> None:
    document, offset = at(text)
    before = [s.line() for s in document.signatures]
    (action,) = [a for a in document.actions(offset, offset) if a.kind == "refactor"]
    new = applied(document.text, action.edits)
    assert expected.split("t [m,n]")[0] in new
    again = Workspace().open("net.axon", new)
    assert not again.diagnostics
    assert [s.line() for s in again.signatures] == before
    assert not [a for a in again.actions(offset, offset) if a.kind == "refactor"]


def test_a_suggestion_can_be_followed() -> None:
    document, offset = at("f = fn (x) { sofmax|(x) };\n")
    (action,) = [a for a in document.actions(offset, offset) if a.kind == "quickfix"]
    assert applied(document.text, action.edits) == "f = fn (x) { softmax(x) };\n"


def test_why() -> None:
    document, offset = at(
        "f = fn (x : f32 [n,3], w : f32 [3,16]) {\n  h| = x @ w;\n  relu(h)\n};\n"
    )
    questions = [a for a in document.actions(offset, offset) if a.kind == "question"]
    assert [a.title for a in questions] == ["Why is `h[0]` n?", "Why is `h[1]` 16?"]
    answer = document.why(offset, questions[1].question)
    assert answer is not None
    assert answer.text == "h[1] is 16"
    assert "w : f32 [3,16]" in {document.text[p.start : p.end] for p, _ in answer.places}


# --- positions ---


def test_columns_count_utf_16() -> None:
    text = "é = 1; # 😀😀 x\r\na\rb\n"
    lines = Lines(text)
    for offset in range(len(text) + 1):
        line, column = lines.position(offset)
        if text[offset : offset + 1] != "\n" or text[offset - 1] != "\r":
            assert lines.offset(line, column) == offset
    assert lines.position(text.index("x")) == (0, 14)
    assert lines.offset(0, 10) == lines.offset(0, 9) == text.index("😀")
    assert lines.offset(99, 0) == len(text)
    assert lines.offset(1, 99) == text.index("a") + 1


# --- formatting ---


def test_formatting() -> None:
    document = Workspace().open("net.axon", "f=fn(x){x+1}")
    assert document.formatted() == "f = fn (x) { x + 1 };\n"


def test_a_text_with_mistakes_is_not_formatted() -> None:
    found = Workspace().open("net.axon", "f = fn (x) { x").formatted()
    assert isinstance(found, Refusal)
