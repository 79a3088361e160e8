"""The magics, and what programs, functions and errors look like."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

import axon
from axon.diagnostics.html import diagnostic_html
from axon.driver import check_text
from tests.notebook.shells import Notebook, notebook

DENSE = "%%axon\n# A layer.\ndense = fn (p, x : f32 [n,d]) { x @ p.w + p.b };\nk = [1.0, 2.0];\n"


@pytest.fixture
def cells(tmp_path: Path) -> Iterator[Notebook]:
    with notebook(tmp_path) as made:
        assert made.run("%load_ext axon.notebook").success
        yield made


class _Tags(HTMLParser):
    """The tags of a page, which must be balanced, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.images: list[str] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag == "img":
            self.images.append(dict(attrs).get("src") or "")
        else:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


# --- %%axon ----------------------------------------------------------------------------------


def test_a_cell_gives_its_definitions_to_python(cells: Notebook) -> None:
    ran = cells.run(DENSE)
    assert ran.success
    assert "dense : (p : { e | b : f32 a, w : f32 b@[d,c] }, x : f32 [n,d])" in ran.text
    page = _Tags(ran.html)
    assert "table" in page.tags and "x : f32 [n,d]" in page.text and "plainly" not in page.text
    ran = cells.run("dense({'w': [[1.0], [1.0]], 'b': [0.5]}, [k]).tolist()")
    assert ran.text == "[[3.5]]"


def test_a_cell_with_a_name(cells: Notebook) -> None:
    ran = cells.run("%%axon net --plain --backend jax\n" + DENSE.partition("\n")[2])
    assert ran.success and "plain: (" in ran.text and "plainly" in _Tags(ran.html).text
    assert cells.run("net.k").text == "Array([1., 2.], dtype=float32)"
    assert not cells.run("dense").success
    assert "dense : " in cells.run("net").text


def test_a_wrong_cell_fails_and_shows_the_message(cells: Notebook) -> None:
    ran = cells.run("%%axon\nf = fn (x : f32 [3,4]) { matmul(x, x) };\n")
    assert not ran.success
    assert ran.printed.strip() == "the cell has an error"
    assert "error[AX101]: matmul: the inner sizes differ, 4 and 3" in ran.text
    page = _Tags(ran.html)
    assert "last size 4, from `x : f32 [3,4]` (line 1)" in page.text
    assert "axon-marked axon-primary" in ran.html
    assert not cells.run("f").success


def test_an_error_of_a_call_is_its_message_and_no_traceback(cells: Notebook) -> None:
    cells.run("%%axon\nf = fn (x : f32 [n,3]) { x };")
    ran = cells.run("f([[1.0, 2.0]])")
    assert not ran.success
    assert ran.printed.startswith("f cannot be called with x : f32 [1,2]")
    assert "Traceback" not in ran.printed and "function.py" not in ran.printed


def test_strict(cells: Notebook) -> None:
    cell = "\nf = fn (x) { 1 };"
    ran = cells.run(f"%%axon --strict{cell}")
    assert not ran.success and ran.printed.strip() == "the cell has a warning"
    assert "AX305" in ran.html
    assert cells.run(f"%%axon{cell}").success


def test_names_that_python_has_or_cannot_have(cells: Notebook) -> None:
    ran = cells.run("%%axon\nsum = fn (x) { x };\ns' = 1;\nfor_ = 2;")
    assert ran.success
    assert "`sum`: Python's own until now" in ran.printed
    assert "`s'`: not a name in Python" in ran.printed
    assert cells.run("int(for_) + 1").text == "3"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("%%axon 2x\ny = 1;", "'2x' is no name of Python"),
        ("%%axon --backend torch\ny = 1;", "invalid choice: 'torch'"),
        ("%axon_explain nope", "'nope' is no function of Axon"),
        ("%axon_explain", "is no function of Axon"),
    ],
)
def test_wrong_use(cells: Notebook, code: str, said: str) -> None:
    ran = cells.run(code)
    assert said in ran.printed and "Traceback" not in ran.printed


# --- what things look like -------------------------------------------------------------------


def test_a_function_has_parameters_and_a_derivation(cells: Notebook) -> None:
    cells.run(DENSE)
    page = _Tags(cells.run("dense").html)
    assert {"details", "summary", "table", "pre"} <= page.tags
    (image,) = page.images
    svg = b64decode(image.removeprefix("data:image/svg+xml;base64,")).decode()
    assert svg.startswith("<svg") and "dense" in svg
    assert "A layer." in page.text and "constraints" in page.text and "total" in page.text
    assert "f32 [d,c]" in _Tags(cells.run("dense.parameters()").html).text
    explained = cells.run("%axon_explain dense")
    assert "<details open>" in explained.html and "steps" in explained.text
    cells.run("%%axon net\ng = fn (x) { x + 1.0 };")
    assert cells.run("%axon_explain net.g").text.startswith("g\n\nconstraints")


HOSTILE = '"</style></pre><script>alert(1)</script>\\"\' onload=x &amp;<b>"'


@pytest.mark.parametrize(
    "program",
    [
        f"f = fn (x) {{ x + {HOSTILE} }};",
        f"import {HOSTILE} as a;",
        "x = <script>alert(1)</script>;",
        f"# {HOSTILE}\nf = fn (x) {{ nope }}; # {HOSTILE}",
        "f = fn (x) { nope } # \x1b[31m\u202e\u2028",
        f"f = fn (x) {{ reduce(x, mode={HOSTILE}) }};" + " " * 300 + "y = <b>;",
    ],
)
def test_nothing_of_a_program_becomes_a_tag(program: str) -> None:
    with pytest.raises(axon.ProgramError) as caught:
        axon.compile(program)
    html = caught.value._repr_html_()
    page = _Tags(html)
    assert page.tags <= {"div", "span", "b", "style"}
    assert page.attributes <= {"class"}
    assert not any(sign in html for sign in "\x1b\u202e\u2028")


def test_nothing_of_a_comment_becomes_a_tag() -> None:
    net = axon.compile(f"# <script>{HOSTILE}\nf = fn (x) {{ x }};")
    page = _Tags(net.f._repr_html_())
    assert "script" not in page.tags and "<script>" in page.text
    assert page.attributes <= {"class", "colspan", "alt", "src"}


def test_a_line_that_is_long_or_wide() -> None:
    for text in (
        "f = fn (x) { " + "x + " * 100 + "nope + 1 };",
        "f = fn (x) { x } # 漢字\ny = 漢;",
    ):
        html = diagnostic_html(check_text(text).diagnostics[0])
        page = _Tags(html)
        assert max(map(len, page.text.splitlines())) < 800
        assert "axon-primary" in html
