"""What a command prints, as an SVG of a terminal: text with the colours of its escape sequences."""

from __future__ import annotations

import re
from collections.abc import Iterator

from axon.pages.palette import DARK, LIGHT
from axon.pages.svg import escaped

WIDE, HIGH = 8.43, 20.0
PAD, BAR = 18.0, 30.0
_STYLE = re.compile("\x1b\\[([0-9;]*)m")
_HUES = {
    "31": ("red", "#b3261e", "#ff9a91"),
    "32": ("green", "#12703a", "#7fd6a0"),
    "33": ("yellow", "#8a5a00", "#e0ad3c"),
    "34": ("blue", "#0b5cad", "#7db7f5"),
    "35": ("purple", "#6b3fb0", "#c3a6f5"),
    "36": ("cyan", "#0b6e75", "#74cbd1"),
}


def terminal_svg(command: str, output: str, title: str) -> str:
    """A command and what it prints."""
    lines = [f"$ {command}", *output.rstrip("\n").split("\n")]
    width = max(len(_STYLE.sub("", line)) for line in lines) * WIDE + 2 * PAD
    height = len(lines) * HIGH + BAR + PAD
    return "".join(_parts(lines, title, round(width), round(height)))


def _parts(lines: list[str], title: str, width: int, height: int) -> Iterator[str]:
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
    yield f'width="{width}" height="{height}" role="img" aria-labelledby="t" class="term">\n'
    yield f'<title id="t">{escaped(title)}</title>\n<style>{_style()}</style>\n'
    yield f'<rect class="window" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="9"/>\n'
    for i in range(3):
        yield f'<circle class="dot" cx="{20 + 18 * i}" cy="16" r="5"/>\n'
    for i, line in enumerate(lines):
        y = BAR + PAD / 2 + HIGH * (i + 0.5)
        name = ' class="prompt"' if i == 0 else ""
        yield f'<text x="{PAD:g}" y="{y:g}"{name} xml:space="preserve">{_line(line)}</text>\n'
    yield "</svg>\n"


def _line(line: str) -> str:
    """A line with a `tspan` for each change of style."""
    parts = _STYLE.split(line)
    out, current = [escaped(parts[0])], set[str]()
    for codes, text in zip(parts[1::2], parts[2::2], strict=True):
        for code in codes.split(";") or [""]:
            if code in ("", "0"):
                current = set()
            elif code == "1":
                current.add("bold")
            elif code in _HUES or code.replace("9", "3", 1) in _HUES:
                current.add(_HUES[code if code in _HUES else code.replace("9", "3", 1)][0])
        if text:
            names = " ".join(sorted(current))
            out.append(
                f'<tspan class="{names}">{escaped(text)}</tspan>' if names else escaped(text)
            )
    return "".join(out)


def _style() -> str:
    light = _rules(LIGHT, 1)
    dark = _rules(DARK, 2)
    font = 'ui-monospace,"SF Mono","Cascadia Code",Menlo,Consolas,"DejaVu Sans Mono",monospace'
    return (
        f".term text{{font:14px {font};white-space:pre}}.term .bold{{font-weight:700}}"
        f"{light}@media(prefers-color-scheme:dark){{{dark}}}"
    )


def _rules(names: dict[str, str], at: int) -> str:
    hues = "".join(f".term .{hue[0]}{{fill:{hue[at]}}}" for hue in _HUES.values())
    return (
        f".term .window{{fill:{names['operator']};stroke:{names['operator-line']}}}"
        f".term .dot{{fill:{names['operator-line']}}}.term text{{fill:{names['ink']}}}"
        f".term .prompt{{fill:{names['soft']}}}{hues}"
    )
