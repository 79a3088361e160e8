"""The page with the graph and the derivation, in Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from axon.cli import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BROKEN = """mlp = fn (x : f32 [b,784], w1 : f32 [784,256], w2 : f32 [128,10]) {
  h = relu(matmul(x, w1));
  matmul(h, w2)
};
"""


def _open(page: Any, tmp_path: Path, *arguments: str, status: int = 0) -> None:
    out = tmp_path / "g.html"
    assert main(["graph", *arguments, "-o", str(out)]) == status
    page.goto(out.as_uri())
    page.wait_for_selector("#scene .box")


def _titles(page: Any) -> list[str]:
    found: list[str] = page.eval_on_selector_all(
        "#scene .box > .title", "all => all.map((each) => each.textContent)"
    )
    return found


@pytest.fixture
def attention(page: Any, tmp_path: Path) -> Any:
    _open(page, tmp_path, str(EXAMPLES / "attention.axon"))
    return page


def test_boxes_open_and_close(attention: Any) -> None:
    assert "▸ softmax" in _titles(attention)
    attention.locator("#scene .box.function").click()
    opened = _titles(attention)
    assert "▾ softmax" in opened and opened.count("▸ map") == 2 and "exp" in opened
    # nothing overlaps: boxes of a drawing are apart, those inside are inside
    frames = attention.eval_on_selector_all(
        "#scene .box",
        """all => all.map((each) => {
          const r = each.querySelector(".body").getBoundingClientRect();
          return [each.dataset.path, r.left, r.top, r.right, r.bottom];
        })""",
    )
    for i, (path, left, top, right, bottom) in enumerate(frames):
        for other, a, b, c, d in frames[i + 1 :]:
            if other.startswith(f"{path}/"):
                assert left <= a and top <= b and c <= right and d <= bottom
            elif path.rpartition("/")[0] == other.rpartition("/")[0]:
                assert c <= left or right <= a or d <= top or bottom <= b
    attention.locator("#scene .box.function > .title").click()
    assert "▸ softmax" in _titles(attention) and "exp" not in _titles(attention)


def test_all_levels_open_by_keyboard(attention: Any) -> None:
    attention.locator("#canvas").focus()
    attention.keyboard.press("]")
    attention.keyboard.press("]")
    assert _titles(attention).count("▾ map") == 2 and "reduce" in _titles(attention)
    attention.keyboard.press("[")
    assert "reduce" not in _titles(attention)


def test_a_box_opens_by_keyboard_and_keeps_the_focus(attention: Any) -> None:
    box = attention.locator("#scene .box.function")
    box.focus()
    assert box.get_attribute("aria-expanded") == "false"
    attention.keyboard.press("Enter")
    assert attention.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    assert "softmax" in attention.locator("#details").inner_text()
    attention.keyboard.press("Escape")
    assert attention.locator("#details").is_hidden()


def test_an_edge_says_its_type_and_why(attention: Any) -> None:
    attention.locator("#scene .wire .hit").nth(2).dispatch_event("click")
    details = attention.locator("#details")
    assert "→" in details.inner_text() and "t [" in details.inner_text()
    attention.locator("#scene .box:has-text('matmul')").first.click()
    assert "Why" in details.inner_text()
    details.locator("button.link").first.click()
    assert attention.locator("#tab-derivation").get_attribute("aria-selected") == "true"
    assert attention.locator("#step").is_visible() and attention.locator("#graph").is_hidden()


def test_the_two_views(attention: Any) -> None:
    assert attention.locator("#main").is_hidden()
    attention.locator("#tab-graph").focus()
    attention.keyboard.press("ArrowRight")
    assert attention.locator("#main").is_visible() and attention.locator("#controls").is_visible()
    attention.locator("#definition").select_option("0")
    attention.locator("#tab-graph").click()
    assert "exp" in _titles(attention)


def test_search_opens_what_it_finds(attention: Any) -> None:
    attention.keyboard.press("/")
    attention.keyboard.type("reduce")
    assert attention.locator("#found").inner_text() == "1 of 1"
    assert "reduce" in _titles(attention) and "▾ softmax" in _titles(attention)
    attention.locator("#search").fill("no such box")
    assert attention.locator("#found").inner_text() == "nothing found"


def test_zoom_and_move(attention: Any) -> None:
    def at() -> str:
        found: str = attention.locator("#view").get_attribute("transform")
        return found

    before = at()
    attention.locator("#zoom-in").click()
    assert at() != before
    attention.locator("#canvas").focus()
    moved = at()
    attention.keyboard.press("ArrowRight")
    assert at() != moved
    attention.mouse.move(100, 600)
    moved = at()
    attention.mouse.down()
    attention.mouse.move(180, 640)
    attention.mouse.up()
    assert at() != moved
    attention.keyboard.press("0")


def test_a_symbol_has_one_colour_on_the_page(attention: Any) -> None:
    attention.keyboard.press("]")
    found = attention.eval_on_selector_all(
        "#scene tspan[class^=c]", "all => all.map((e) => [e.textContent, getComputedStyle(e).fill])"
    )
    colours: dict[str, set[str]] = {}
    for name, colour in found:
        colours.setdefault(name, set()).add(colour)
    assert set(colours) == {"a", "b", "c", "d"}
    assert all(len(each) == 1 for each in colours.values())
    assert len({next(iter(each)) for each in colours.values()}) == 4
    signature = attention.eval_on_selector_all(
        "#signature .v", "all => all.map((e) => [e.textContent, getComputedStyle(e).color])"
    )
    assert {name for name, _ in signature} >= set(colours)
    assert all({colour} == colours[name] for name, colour in signature if name in colours)


def test_an_error_is_shown_at_once(page: Any, tmp_path: Path) -> None:
    program = tmp_path / "mlp.axon"
    program.write_text(BROKEN, encoding="utf-8")
    _open(page, tmp_path, str(program), status=1)
    assert page.locator("#scene .box.wrong").count() == 4
    assert page.locator("#scene .edge.wrong").count() >= 4
    assert "inner sizes differ" in page.locator("#details").inner_text()


def test_a_model(page: Any, tmp_path: Path) -> None:
    _open(page, tmp_path, str(EXAMPLES / "onnx" / "encoder.onnx"))
    assert "▸ layer ×2" in _titles(page)
    assert page.locator("#tabs").is_hidden() and page.locator("#controls").is_hidden()
    assert page.locator("#signature .c0").all_inner_texts() == ["batch", "batch"]
    page.locator("#scene .box.function").click()
    assert "Softmax" in _titles(page)


def test_a_large_graph(page: Any, tmp_path: Path) -> None:
    """Only what can be seen is in the document; all of it is there from afar."""
    lines = ["f = fn (x0 : f32 [b,8], w : f32 [8,8]) {"]
    for i in range(1_200):
        lines.append(f"  x{i + 1} = {f'matmul(x{i}, w)' if i % 3 else f'relu(x{i})'};")
    program = tmp_path / "large.axon"
    program.write_text("\n".join([*lines, "  x1200", "};"]), encoding="utf-8")
    _open(page, tmp_path, str(program))
    assert 2 < page.locator("#scene .box").count() < 300
    page.locator("#canvas").focus()
    page.keyboard.press("0")
    assert page.locator("#scene .far-away").count() == 1
    page.locator("#search").fill("x1199")
    page.wait_for_function("document.querySelectorAll('#scene .hit-found').length > 0")


def test_explain_html_has_the_graph_too(page: Any, tmp_path: Path) -> None:
    out = tmp_path / "e.html"
    assert main(["explain", "--html", str(out), str(EXAMPLES / "attention.axon")]) == 0
    page.goto(out.as_uri())
    assert page.locator("#step").is_visible() and page.locator("#graph").is_hidden()
    page.locator("#forward").click()
    assert "step 1" in page.locator("#count").inner_text()
    page.locator("#tab-graph").click()
    page.wait_for_selector("#scene .box")
    assert page.locator("#main").is_hidden()
