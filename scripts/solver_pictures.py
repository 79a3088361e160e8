"""The pictures of docs/solver.md. `scripts/pictures.py` writes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from axon.driver import check
from axon.pages.derivation import page_model
from axon.pages.palette import DARK, LIGHT, SYMBOLS, SYMBOLS_DARK
from axon.pages.svg import escaped
from axon.source import Source

HIGH = 30.0
"""Of a cell."""
MLP = """mlp = fn (x : f32 [b,784], w1 : f32 [784,256], w2 : f32 [128,10]) {
  h = relu(matmul(x - mean(x), w1));
  softmax(matmul(h, w2))
};
"""
"""The program of the conflict, as in docs/solver.md."""
CHAR = 8.43
"""The width of a character in the font of code, at 14 px."""
MONO = 'ui-monospace,"SF Mono","Cascadia Code",Menlo,Consolas,"DejaVu Sans Mono",monospace'
SANS = 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","DejaVu Sans",sans-serif'


@dataclass(slots=True)
class Canvas:
    """Shapes and text, in the order in which they are drawn."""

    name: str
    title: str
    width: int
    height: int
    parts: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> None:
        place = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}" class="{kind}"'
        self.parts.append(f'<text {place} xml:space="preserve">{escaped(words)}</text>')

    def cell(self, x: float, y: float, words: str, kind: str = "", wide: float = 0) -> float:
        """A box around a text in code; where it ends."""
        wide = wide or len(words) * CHAR + 20
        box = f'x="{x:g}" y="{y:g}" width="{wide:g}" height="{HIGH:g}" rx="5"'
        self.parts.append(f'<rect {box} class="cell {kind}"/>')
        self.text(x + wide / 2, y + HIGH / 2 + 5, words, f"code on {kind}", "middle")
        return x + wide

    def line(self, points: str, kind: str = "") -> None:
        self.parts.append(f'<path d="{points}" class="edge {kind}"/>')

    def arrow(self, x: float, y: float, to_x: float, to_y: float, kind: str = "") -> None:
        """A line with a head, which lies on the horizontal or the vertical."""
        self.line(f"M{x:g} {y:g}L{to_x:g} {to_y:g}", kind)
        if abs(to_x - x) > abs(to_y - y):
            back = -6 if to_x > x else 6
            head = f"M{to_x + back:g} {to_y - 4:g}L{to_x:g} {to_y:g}L{to_x + back:g} {to_y + 4:g}"
        else:
            back = -6 if to_y > y else 6
            head = f"M{to_x - 4:g} {to_y + back:g}L{to_x:g} {to_y:g}L{to_x + 4:g} {to_y + back:g}"
        self.line(head, kind)

    def svg(self) -> str:
        size = f'viewBox="0 0 {self.width} {self.height}" width="{self.width}"'
        start = f'<svg xmlns="http://www.w3.org/2000/svg" {size} height="{self.height}" role="img" '
        names = f'aria-labelledby="t-{self.name}" class="ax-{self.name}">'
        title = f'<title id="t-{self.name}">{escaped(self.title)}</title>'
        paper = f'<rect class="paper" width="{self.width}" height="{self.height}" rx="9"/>'
        style = f"<style>{_style(f'.ax-{self.name} ')}</style>"
        return "\n".join([start + names, title, style, paper, *self.parts, "</svg>\n"])


def _style(at: str) -> str:
    always = (
        f"{at}text{{font:14px {SANS}}}{at}.code{{font-family:{MONO}}}{at}.edge{{fill:none;"
        f"stroke-width:1.6}}{at}.cell{{stroke-width:1.4}}{at}.thick{{stroke-width:2.4}}"
        f"{at}.faint{{opacity:.5}}{at}.dash{{stroke-dasharray:5 4}}{at}.bold{{font-weight:700}}"
        f"{at}.small{{font-size:12.5px}}"
    )
    light = "".join(_colours(at, LIGHT, SYMBOLS))
    dark = "".join(_colours(at, DARK, SYMBOLS_DARK))
    return f"{always}{light}@media(prefers-color-scheme:dark){{{dark}}}"


def _colours(at: str, names: dict[str, str], symbols: tuple[str, ...]) -> Iterator[str]:
    yield f"{at}.paper{{fill:{names['paper']}}}{at}text{{fill:{names['ink']}}}"
    yield f"{at}.soft{{fill:{names['soft']}}}{at}.edge{{stroke:{names['edge']}}}"
    yield f"{at}.cell{{fill:{names['operator']};stroke:{names['operator-line']}}}"
    yield f"{at}.cell.wait{{fill:{names['weight']};stroke:{names['weight-line']}}}"
    yield f"{at}.cell.wrong{{fill:{names['wrong-wash']};stroke:{names['wrong']}}}"
    yield f"{at}.edge.wrong{{stroke:{names['wrong']}}}{at}text.wrong{{fill:{names['wrong']}}}"
    yield f"{at}.cell.known{{fill:{names['function']};stroke:{names['function-line']}}}"
    for i, hue in enumerate(symbols[:3]):
        yield f"{at}text.c{i}{{fill:{hue}}}{at}.edge.c{i},{at}.cell.c{i}{{stroke:{hue}}}"


# --- the pictures -----------------------------------------------------------------------------


def solver_pictures() -> dict[str, str]:
    """Every picture by the name of its file."""
    drawn = (word(), sizes(), waiting(), conflict())
    return {f"solver-{each.name}.svg": each.svg() for each in drawn}


def word() -> Canvas:
    """s@[m,k] = [4,8,16]: what stands at the ends is compared, and goes."""
    title = "The word equation s@[m,k] = [4,8,16] loses its ends: k = 16, m = 8, s = [4]"
    canvas = Canvas("word", title, 660, 276)
    rows = (
        ("the equation", ("s", "m", "k"), ("4", "8", "16"), 3, ""),
        ("last with last", ("s", "m", "k"), ("4", "8", "16"), 2, "k = 16"),
        ("again", ("s", "m"), ("4", "8"), 1, "m = 8"),
        ("what is left", ("s",), ("4",), 0, "s = [4]"),
    )
    for at, (says, left, right, keep, found) in enumerate(rows):
        y = 22.0 + 62 * at
        canvas.text(20, y + 20, says, "soft")
        for side, words in enumerate((left, right)):
            for i, words_at in enumerate(words):
                gone = at in (1, 2) and i == len(words) - 1
                kind = "known" if words_at == "s" else ""
                kind = f"c{2 - at} thick" if gone else kind
                canvas.cell(148 + 200 * side + 50 * i, y, words_at, kind, 44)
        canvas.text(321, y + 20, "=", "code")
        if found:
            hue = {1: "c1", 2: "c0", 3: "bold"}[at]
            canvas.arrow(512, y + 15, 544, y + 15)
            canvas.text(556, y + 20, found, f"code {hue}")
        if at in (1, 2):
            ends = 148 + 50 * keep + 22, 348 + 50 * keep + 22
            bow = f"M{ends[0]:g} {y + HIGH:g}C{ends[0] + 20:g} {y + 54:g} {ends[1] - 20:g} "
            canvas.line(f"{bow}{y + 54:g} {ends[1]:g} {y + HIGH:g}", f"c{2 - at}")
    return canvas


def sizes() -> Canvas:
    """Sizes that are equal form a tree, each edge with its reason."""
    title = "Sizes of a matmul whose keys were not transposed: k, n1 and n all point to d"
    canvas = Canvas("sizes", title, 700, 236)
    canvas.text(20, 28, "argument 1", "soft")
    canvas.text(20, 48, "s@[m1,k] = [b,m,d]", "code")
    canvas.text(20, 84, "argument 2", "soft")
    canvas.text(20, 104, "s@[k,n1] = [b,n,d]", "code")
    for i, line in enumerate(
        (
            "Each size points to the one that",
            "stands for it: the outer before the",
            "inner, your names before ours,",
            "the older before the newer.",
        )
    ):
        canvas.text(20, 150 + 18 * i, line, "soft small")
    canvas.cell(310, 30, "m", "known", 44)
    canvas.cell(310, 110, "m1", "", 44)
    canvas.arrow(332, 110, 332, 62)
    canvas.text(332, 158, "argument 1", "soft small", "middle")
    canvas.cell(510, 30, "d", "known", 44)
    for x, name, why, kind in (
        (430, "k", "argument 1", ""),
        (510, "n1", "argument 2", ""),
        (590, "n", "k = n", "wrong"),
    ):
        canvas.cell(x, 110, name, kind, 44)
        canvas.line(f"M{x + 22:g} 110L{532 + (x - 510) / 8:g} 61", kind)
        canvas.text(x + 22, 158, why, "wrong small" if kind else "soft small", "middle")
    canvas.line("M528 68L532 61L536 68")
    canvas.text(532, 190, "argument 2 says k = n, and k is d already:", "wrong small", "middle")
    canvas.text(532, 208, "two of your names are one size (AX301)", "wrong small", "middle")
    return canvas


def waiting() -> Canvas:
    """[n] + [m]: the broadcast waits in the type, and is decided at each use."""
    title = "The broadcast of n and m waits in the type, and is decided at each use"
    canvas = Canvas("broadcast", title, 700, 300)
    canvas.text(20, 30, "in the definition", "soft")
    canvas.cell(20, 44, "a = broadcast(n, m)", "wait")
    canvas.text(212, 64, "n and m are unknown: nothing is forced, so it waits,", "small")
    canvas.text(212, 82, "registered with both, and becomes part of the type", "small")
    end = canvas.cell(212, 100, "([n], [m]) -> [a] where a = broadcast(n, m)", "wait")
    middle = (212 + end) / 2
    columns = (
        (20, "x : [8], y : [1]", "a = broadcast(8, 1)", "a = 8", "known"),
        (250, "x : [8], y : [m]", "a = broadcast(8, m)", "a = 8, m is 1 or 8", "wait"),
        (480, "x : [8], y : [3]", "a = broadcast(8, 3)", "neither is 1: an error", "wrong"),
    )
    for x, given, becomes, result, kind in columns:
        canvas.line(f"M{middle:g} {130:g}L{x + 94:g} 166", "dash")
        canvas.text(x + 94, 186, given, "code soft small", "middle")
        canvas.cell(x, 196, becomes, "wait", 190)
        canvas.arrow(x + 94, 226, x + 94, 248, "wrong" if kind == "wrong" else "")
        canvas.cell(x, 250, result, kind, 204)
    return canvas


def conflict() -> Canvas:
    """What cannot hold together, and what has nothing to do with it, by the derivation itself."""
    found = page_model(check(Source("mlp.axon", MLP)))
    definition, origins = found["definitions"][0], found["origins"]
    needed = set(definition["conflict"]["keys"])
    rows = [
        (definition["texts"][text], origins[origin]["text"], key in needed)
        for key, text, origin in definition["constraints"]
    ]
    title = f"Of {len(rows)} constraints {len(needed)} cannot hold together: 256 = n = k1 = 128"
    canvas = Canvas("conflict", title, 760, 56 + 34 * len(rows))
    canvas.text(20, 30, "all constraints", "soft")
    for i, (what, where, in_it) in enumerate(rows):
        y = 44 + 34.0 * i
        canvas.cell(20, y, what, "wrong" if in_it else "faint", 190)
        canvas.text(222, y + 20, where, f"soft small {'' if in_it else 'faint'}")
    canvas.text(470, 30, "the sizes behind the conflict", "soft")
    chain = (
        ("256", "w1 : f32 [784,256]"),
        ("n", "last size of matmul(…, w1)"),
        ("k1", "last size of h, after relu"),
        ("128", "w2 : f32 [128,10]"),
    )
    for i, (size, where) in enumerate(chain):
        y = 50 + 66.0 * i
        canvas.cell(470, y, size, "wrong" if size.isdigit() else "", 60)
        canvas.text(542, y + 20, where, "soft small")
        if i:
            canvas.line(f"M500 {y - 36:g}L500 {y:g}", "wrong thick")
            canvas.text(510, y - 13, "=", "code wrong")
    canvas.text(470, 316, "Without any one of the red ones,", "small")
    canvas.text(470, 334, "or either annotation, nothing is wrong.", "small")
    return canvas
