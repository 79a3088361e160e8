"""The playground as a user drives it: Python in the browser, and Python beside it."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from axon.playground.server import BUILT, CHECKOUT, Server, files_of_the_page
from tests.browser.playground import EDITOR, PATIENCE_MS, ROOT, Playground, need_the_page

BROKEN = """net = fn (x : f32 [n,3], y : f32 [4,m]) {
  z = matmul(x, y);
  z
};
"""
FINE = "net = fn (x : f32 [n,3], w) {\n  y = matmul(x, w);\n  relu(y)\n};\n"


def _context(chromium: Any, **options: Any) -> Any:
    return chromium.new_context(viewport={"width": 1280, "height": 800}, **options)


def _served(server: Any) -> Iterator[Any]:
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def static() -> Iterator[Any]:
    """The files alone, as a site has them."""
    need_the_page()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(CHECKOUT))
    yield from _served(http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler))


@pytest.fixture(scope="module")
def in_browser(chromium: Any, static: Any) -> Iterator[Playground]:
    """One page for many tests: Python takes seconds to load."""
    context = _context(chromium)
    found = Playground(context.new_page(), f"http://127.0.0.1:{static.server_address[1]}/")
    yield found.open()
    context.close()


@pytest.fixture
def play(in_browser: Playground) -> Iterator[Playground]:
    in_browser.tab("types")
    yield in_browser
    assert not in_browser.wrong


@pytest.fixture(scope="module")
def here() -> Iterator[Server]:
    """`axon play` of a wheel: without Python for the browser."""
    need_the_page()
    yield from _served(Server(files_of_the_page((BUILT,)), run_seconds=3))


@pytest.fixture
def beside(chromium: Any, here: Server) -> Iterator[Playground]:
    context = _context(chromium)
    found = Playground(context.new_page(), here.address)
    yield found.open()
    context.close()
    assert not found.wrong


# --- in the browser ------------------------------------------------------------------------------


def test_types_appear_at_the_ends_of_lines_while_typing(play: Playground) -> None:
    play.clear()
    play.type("f = fn (x : f32 [n,3], w) {\n")
    play.type("y = matmul(x, w);\ny")
    assert [line.strip() for line in play.text().split("\n")[1:3]] == ["y = matmul(x, w);", "y"]
    assert "y : f32 [n,a]" in play.hints()
    assert any("w : f32 [3,a]" in hint and "→ f32 [n,a]" in hint for hint in play.hints())
    assert "f : (f32 [n,3], f32 [3,a]) -> f32 [n,a]" in play.said("types")


def test_a_mistake_is_underlined_and_its_text_is_shown(play: Playground) -> None:
    play.write(BROKEN)
    underlined = play.page.eval_on_selector_all(
        "#editor .cm-lintRange-error", "all => all.map((each) => each.textContent)"
    )
    assert underlined == ["x"]
    assert play.page.inner_text("#count-problems") == "1"  # while another tab is open
    play.tab("problems")
    text = play.said("problems")
    assert "matmul: the inner sizes differ, 3 and 4" in text
    assert "second-last size 4, from `y : f32 [4,m]` (line 1)" in text
    play.page.hover("#editor .cm-lintRange-error")
    shown = play.page.wait_for_selector("#editor .cm-tooltip-lint").inner_text()
    assert "second-last size 4" in shown
    play.page.mouse.move(5, 5)
    play.page.keyboard.press("Escape")
    play.tab("types")
    assert play.said("types") == "net : no type, see Problems"
    play.tab("problems")
    play.write(BROKEN.replace("[4,m]", "[3,m]"))
    assert play.said("problems") == "No problems."
    assert play.page.query_selector("#editor .cm-lintRange-error") is None


def test_the_keyboard_goes_to_a_mistake_and_asks_for_types(play: Playground) -> None:
    play.write(BROKEN)
    play.page.keyboard.press("Control+Home")
    play.page.keyboard.press("F8")
    assert play.page.inner_text("#place") == "line 2, column 15"
    play.wait("document.querySelector('#live').textContent.includes('the inner sizes differ')")
    play.write(FINE)
    play.page.keyboard.press("Control+Home")
    for _ in range(3):
        play.page.keyboard.press("ArrowRight")
    play.page.keyboard.press("F2")
    about = play.page.wait_for_selector("#editor .cm-about").inner_text()
    assert "net : (x : f32 [n,3], w : f32 [3,a]) -> f32 [n,a]" in about
    play.wait("document.querySelector('#live').textContent.startsWith('net : ')")
    play.page.keyboard.press("Escape")
    assert play.page.query_selector("#editor .cm-about") is None


def test_names_are_completed(play: Playground) -> None:
    play.write("f = fn (x : f32 [n,3]) { }")
    play.page.keyboard.press("ArrowLeft")
    play.page.keyboard.type("transpo", delay=30)
    play.page.wait_for_selector("#editor .cm-tooltip-autocomplete [aria-selected=true]")
    play.page.wait_for_timeout(150)  # at once, Enter would end the line
    play.page.keyboard.press("Enter")
    play.type("(x) ")
    assert "transpose(x)" in play.text()
    assert "f : f32 [n,3] -> f32 [3,n]" in play.said("types")


def test_letters_of_two_units_move_no_place(play: Playground) -> None:
    play.write("# 🂡🂡 cards\n" + BROKEN)
    marked = play.page.eval_on_selector_all(
        "#editor .cm-lintRange-error", "all => all.map((each) => each.textContent)"
    )
    assert marked == ["x"]


def test_a_derivation_is_stepped_through(play: Playground) -> None:
    play.write(FINE)
    play.tab("derivation")
    play.page.wait_for_selector("#step h2")
    assert play.page.inner_text("#step h2") == "The constraints"
    play.page.click("#step-next")
    assert play.page.inner_text("#step-count").startswith("1 of ")
    first = play.said("step")
    assert "Still to solve" in first and "Known" in first
    marked = play.page.eval_on_selector_all(
        "#editor .cm-mark-here", "all => all.map((each) => each.textContent)"
    )
    assert marked and all(each in FINE for each in marked)
    play.page.focus("#derivation")
    play.page.keyboard.press("ArrowRight")
    assert play.page.inner_text("#step-count").startswith("2 of ")
    assert play.said("step") != first
    play.page.keyboard.press("End")
    assert "Solved: net : (f32 [n,3], f32 [3,a]) -> f32 [n,a]" in play.said("step")
    play.page.keyboard.press("Home")
    assert play.page.query_selector("#editor .cm-mark-here") is None


def test_a_contradiction_is_the_last_step(play: Playground) -> None:
    play.write(BROKEN)
    play.tab("derivation")
    play.page.wait_for_selector("#steps:not([hidden])")
    play.page.click("#step-last")
    assert "A contradiction" in play.said("step")
    marked = play.page.eval_on_selector_all(
        "#editor .cm-mark-here", "all => all.map((each) => each.textContent)"
    )
    assert len(marked) >= 2


def test_the_graph_is_drawn_and_opens(play: Playground) -> None:
    play.write(f"{FINE}all = fn (x : f32 [n,3], w) {{ softmax(net(x, w)) }};\n")
    play.tab("graph")
    titles = "all => all.map((each) => each.textContent)"
    play.page.select_option("#definition", "all")
    play.wait("document.querySelector('#scene').textContent.includes('softmax')")  # not net's
    found = play.page.eval_on_selector_all("#scene .box > .title", titles)
    assert any("net" in each for each in found) and "matmul" not in found
    play.page.click("#open-all")
    opened = play.page.eval_on_selector_all("#scene .box > .title", titles)
    assert "matmul" in opened
    play.page.select_option("#definition", "net")
    play.wait("document.querySelector('#scene').textContent.includes('relu')")
    assert play.page.inner_text("#graph-said").startswith("5 boxes")


def test_examples_of_the_paper_and_imports_among_them(play: Playground) -> None:
    names = play.page.eval_on_selector_all(
        "#examples option", "all => all.map((each) => each.value)"
    )
    ours = {path.name for path in (ROOT / "examples").glob("*.axon")}
    papers = {path.name for path in (ROOT / "examples" / "paper").glob("*.axon")}
    assert ours | papers <= set(names)
    before = play.checks()
    play.page.select_option("#examples", "transformer.axon")
    play.checked_after(before)
    assert "multihead.axon" in play.text()
    play.tab("problems")
    assert play.said("problems") == "No problems."


def test_a_link_carries_the_program(play: Playground, chromium: Any) -> None:
    text = '# Grüße, 🂡 and "quotes" <b>&amp;\nf = fn (x) { x };'
    play.write(text)
    play.page.click("#share")
    play.wait("location.hash.startsWith('#p=')")
    link = play.page.url
    context = _context(chromium)
    other = context.new_page()
    page = Playground(other, play.address)
    other.goto(link)
    page.wait("document.body.dataset.ready === 'yes'")
    assert page.text() == text
    # a short link that stands for a very long text, and one that is damaged, are refused
    for fragment, said in (
        (_bomb(), "longer than 200 kB"),
        ("%%%", "is damaged"),
        ("AAAA", "is damaged"),
    ):
        other.goto("about:blank")
        other.goto(f"{play.address}#p={fragment}")
        page.wait("document.body.dataset.ready === 'yes'")
        assert said in other.inner_text("#notice-text")
    context.close()
    play.page.evaluate("history.replaceState(null, '', location.pathname)")


def _bomb() -> str:
    import base64
    import zlib

    squeeze = zlib.compressobj(9, wbits=-15)
    data = squeeze.compress(b"x" * 50_000_000) + squeeze.flush()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def test_an_onnx_model_is_inferred_where_it_is(play: Playground) -> None:
    play.drop("my.onnx", (ROOT / "examples" / "onnx" / "encoder.onnx").read_bytes())
    play.page.wait_for_selector("#model:not([hidden])", timeout=PATIENCE_MS)
    assert "my.onnx, 66 nodes" in play.page.inner_text("#model-text")
    assert "model : i64 [batch,seq] -> f32 [batch,seq,16]" in play.said("types")
    play.tab("graph")
    play.page.wait_for_selector("#scene .box")
    play.drop("broken.onnx", (ROOT / "examples" / "onnx" / "broken.onnx").read_bytes())
    play.page.wait_for_selector("#problems:not([hidden]) .problem", timeout=PATIENCE_MS)
    assert "the inner sizes differ, 16 and 17" in play.said("problems")
    play.drop("no.onnx", b"\x89PNG and so on")
    play.notice("not an ONNX model")
    play.page.click("#model-close")
    assert play.page.is_hidden("#model")


def test_a_pytorch_program_is_inferred_where_it_is(play: Playground) -> None:
    play.drop("my.pt2", (ROOT / "examples" / "torch" / "encoder.pt2").read_bytes())
    play.page.wait_for_selector("#model:not([hidden])", timeout=PATIENCE_MS)
    assert "model : i64 [s23,s27] -> f32 [s23,s27,8]" in play.said("types")
    play.tab("graph")
    play.page.wait_for_selector("#scene .box")
    play.drop("no.pt2", b"\x89PNG and so on")
    play.notice("not a .pt2 archive")
    play.write(FINE)  # who edits the program sees it again
    assert play.page.is_hidden("#model")
    play.tab("types")
    assert "net : (f32 [n,3], f32 [3,a])" in play.said("types")


def test_what_takes_too_long_is_stopped_and_the_page_lives_on(play: Playground) -> None:
    long = "".join(f"f{i} = fn (x, w) {{ relu(matmul(x, w)) }};\n" for i in range(20_000))
    play.paste(long)
    play.notice("was stopped", 40_000)
    play.page.wait_for_selector("#state[data-state=ready]", timeout=PATIENCE_MS)
    play.write(FINE)
    assert "net : (f32 [n,3], f32 [3,a])" in play.said("types")
    assert play.page.is_hidden("#notice")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(play: Playground, theme: str) -> None:
    play.page.emulate_media(color_scheme=theme)
    play.write(BROKEN + FINE.replace("net", "other"))
    for tab in ("types", "derivation", "graph", "problems"):
        play.tab(tab)
        play.page.wait_for_timeout(600)
        if tab == "derivation":
            play.page.click("#step-next")
        assert play.serious() == [], tab


def test_everything_is_reached_by_keyboard(play: Playground) -> None:
    play.write(FINE.replace("net", "keys"))  # of which no step is shown yet
    play.page.keyboard.press("Tab")
    focus = "(document.activeElement.shadowRoot?.activeElement ?? document.activeElement).id"
    assert play.page.evaluate(focus) == "tab-types"
    play.page.keyboard.press("ArrowRight")
    assert play.page.evaluate(focus) == "tab-derivation"
    play.wait("document.querySelector('#step h2')?.textContent === 'The constraints'")
    seen = []
    for _ in range(6):
        play.page.keyboard.press("Tab")
        seen.append(play.page.evaluate(focus))
    assert {"definition", "derivation", "step-next"} <= set(seen)


def test_the_page_is_usable_on_a_phone(play: Playground) -> None:
    play.page.set_viewport_size({"width": 390, "height": 800})
    play.write(FINE)
    wide = play.page.evaluate("document.documentElement.scrollWidth")
    play.tab("derivation")
    play.page.wait_for_selector("#steps:not([hidden])")
    wide = max(wide, play.page.evaluate("document.documentElement.scrollWidth"))
    play.write("".join(FINE.replace("net", f"net{i}") for i in range(20)))  # which scrolls
    assert play.serious() == []
    play.page.set_viewport_size({"width": 1280, "height": 800})
    assert wide <= 390


# --- beside the browser --------------------------------------------------------------------------


def test_a_definition_runs(beside: Playground) -> None:
    beside.write(FINE)
    assert "y : f32 [n,a]" in beside.hints()
    beside.tab("run")
    assert beside.page.input_value("#arguments") == "x=rand[2,3]\nw=rand[3,3]"
    beside.page.click("#run-go")
    beside.wait("document.querySelector('#run-result').textContent.includes('f32 [2,3]')")
    beside.page.fill("#arguments", "x=rand[2,3]\nw=rand[4,3]")
    beside.page.click("#run-go")
    beside.page.wait_for_selector("#run-result.bad")
    assert "4" in beside.said("run-result")


def test_a_run_without_end_is_stopped(beside: Playground) -> None:
    body = "fold(0f, fn (s, y) { s + y * sum(ones([3000,3000])) }, x)"
    beside.write(f"main = fn (x : f32 [n]) {{ {body} }};")
    beside.tab("run")
    beside.page.fill("#arguments", "x=zeros[10000000]")
    beside.page.click("#run-go")
    beside.wait("/was stopped|rror/.test(document.querySelector('#run-result').textContent)")
    assert "longer than 3 seconds" in beside.said("run-result")


def test_the_first_screen_without_a_program(chromium: Any, here: Server) -> None:
    """Before anything is loaded the editor is there, and says what it waits for."""
    context = _context(chromium)
    page = context.new_page()
    page.route("**/api/answer", lambda route: None)
    page.goto(here.address)
    page.wait_for_selector(EDITOR)
    page.click(EDITOR)
    page.keyboard.type("# typed at once")
    assert "typed at once" in page.inner_text(EDITOR)
    context.close()


def test_what_is_built_is_small(static: Any) -> None:
    size = sum(path.stat().st_size for path in BUILT.rglob("*") if path.is_file())
    assert size < 1_500_000


def test_the_licences_of_what_is_in_it_are_there(static: Any) -> None:
    text = (BUILT / "licences.txt").read_text(encoding="utf-8")
    for name in ("@codemirror/view", "@lezer/highlight", "pyodide", "style-mod"):
        assert f"{name} " in text
    assert text.count("Permission is hereby granted") >= 8
