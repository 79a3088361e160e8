"""The programs of the repository whose syntax is right."""

from __future__ import annotations

from pathlib import Path

from tests.format.laws import tree
from tests.markdown import blocks

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("examples", "src/axon/stdlib", "tests/golden", "docs", "README.md")


def _texts() -> dict[str, str]:
    found: dict[str, str] = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.axon")):
            found[str(path.relative_to(ROOT))] = path.read_text("utf-8-sig")
        place = ROOT / folder
        for path in [place] if place.is_file() else sorted(place.rglob("*.md")):
            for block in blocks(path.read_text()):
                if block.tag.startswith("axon"):
                    found[f"{path.relative_to(ROOT)}:{block.line}"] = block.text
    return found


PROGRAMS = {name: text for name, text in _texts().items() if tree(text) is not None}
