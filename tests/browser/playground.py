"""The playground in Chromium: what a test does on the page, and what it sees."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from axon.playground.server import BUILT, CHECKOUT

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "playground" / "node_modules" / "axe-core" / "axe.min.js"
EDITOR = "#editor .cm-content"
PATIENCE_MS = 120_000
"""How long a page may take on a machine that is busy with other things."""


def need_the_page() -> None:
    """Skip the test if `make playground` was not run; in CI it fails."""
    needed = (BUILT / "main.js", CHECKOUT / "axon.zip", AXE)
    missing = [path for path in needed if not path.is_file()]
    if missing:
        what = f"`make playground` was not run: there is no {missing[0].name}"
        if os.environ.get("CI"):
            pytest.fail(what)
        pytest.skip(what)


class Playground:
    """One page, open. What goes wrong in it, and requests to elsewhere, are in `wrong`."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        self.address = address
        self.wrong: list[str] = []
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", self._hear)
        page.on("request", lambda r: self._see(r.url))

    def _hear(self, message: Any) -> None:
        # Chromium's own editing tries to set styles, which the policy forbids: at no line of ours
        by_itself = "Applying inline style" in message.text and message.location["lineNumber"] == 0
        if message.type == "error" and not by_itself:
            self.wrong.append(message.text)

    def _see(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "blob:")):
            self.wrong.append(f"a request to {url}")

    def open(self, path: str = "") -> Playground:
        self.page.goto(self.address + path)
        self.wait("document.body.dataset.ready === 'yes'")
        self.page.wait_for_selector("#state[data-state=ready]", timeout=PATIENCE_MS)
        return self

    def wait(self, condition: str, timeout: int = PATIENCE_MS) -> None:
        self.page.wait_for_function(f"() => {condition}", timeout=timeout)

    # --- the program ---

    def write(self, text: str) -> None:
        """Everything anew; then it is checked."""
        before = self.checks()
        self.paste(text)
        self.checked_after(before)

    def clear(self) -> None:
        before = self.checks()
        self.page.click(EDITOR)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.press("Delete")
        self.checked_after(before)

    def paste(self, text: str) -> None:
        """Everything anew, in one piece however long it is, as from the clipboard."""
        self.page.click(EDITOR)
        self.page.keyboard.press("Control+a")
        self.page.evaluate(
            """(text) => {
              const clipboardData = new DataTransfer();
              clipboardData.setData("text/plain", text);
              const root = document.querySelector("#editor").shadowRoot;
              const how = { clipboardData, bubbles: true, cancelable: true };
              root.querySelector(".cm-content").dispatchEvent(new ClipboardEvent("paste", how));
            }""",
            text,
        )

    def type(self, text: str) -> None:
        """Key by key, at the cursor."""
        before = self.checks()
        self.page.keyboard.type(text, delay=10)
        self.checked_after(before)

    def checks(self) -> int:
        return int(self.page.evaluate("Number(document.body.dataset.checked ?? 0)"))

    def checked_after(self, before: int) -> None:
        """Until the text that is there now was checked."""
        self.wait(f"Number(document.body.dataset.checked) > {before}")
        self.page.wait_for_timeout(400)
        self.page.wait_for_selector("#state[data-state=ready]", timeout=PATIENCE_MS)

    def text(self) -> str:
        lines = self.page.eval_on_selector_all(
            "#editor .cm-line",
            """all => all.map((line) => {
              const own = line.cloneNode(true);
              for (const each of own.querySelectorAll(".cm-types")) each.remove();
              return own.textContent;
            })""",
        )
        return "\n".join(lines)

    def hints(self) -> list[str]:
        found: list[str] = self.page.eval_on_selector_all(
            "#editor .cm-types", "all => all.map((each) => each.textContent)"
        )
        return found

    # --- what is beside it ---

    def tab(self, name: str) -> None:
        self.page.click(f"#tab-{name}")
        self.page.wait_for_selector(f"#{name}:not([hidden])", state="attached")

    def notice(self, words: str, timeout: int = PATIENCE_MS) -> None:
        """Until the page says so below the editor."""
        self.wait(
            f"document.querySelector('#notice-text').textContent.includes('{words}')", timeout
        )

    def said(self, panel: str) -> str:
        found: str = self.page.inner_text(f"#{panel}")
        return found

    def drop(self, name: str, data: bytes) -> None:
        """Drop a file on the page."""
        handle = self.page.evaluate_handle(
            """([name, bytes]) => {
              const found = new DataTransfer();
              found.items.add(new File([new Uint8Array(bytes)], name));
              return found;
            }""",
            [name, list(data)],
        )
        for event in ("dragenter", "dragover", "drop"):
            self.page.dispatch_event("#main", event, {"dataTransfer": handle})

    def serious(self) -> list[str]:
        return serious(self.page)


def serious(page: Any) -> list[str]:
    """What axe finds that is serious or critical. An experimental rule is left out: it wants the
    words of a box to follow each other in its label as they do in the drawing.
    """
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(
        """async () => {
          const rules = { "label-content-name-mismatch": { enabled: false } };
          const asked = { resultTypes: ["violations"], rules };
          const { violations } = await axe.run(document, asked);
          const where = (node) => `${node.target.join(" ")} ${node.any[0]?.message ?? ""}`;
          const told = ({ impact, id, nodes }) => [impact, id, nodes.slice(0, 3).map(where)];
          return violations.map(told);
        }"""
    )
    return [f"{rule}: {at}" for impact, rule, at in found if impact in ("serious", "critical")]
