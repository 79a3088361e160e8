"""Every program of the repository: the files and the blocks of the documentation."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from axon.source import Source
from tests.markdown import blocks

ROOT = Path(__file__).resolve().parents[2]
CORNERS = Source(
    "corners",
    """import "a.axon" as import_;
import "b.axon" as b;
op where' : (t [(mod a 2), ?k], bool ?s) -> t [2*a mod 3, *k, min(a, 1)] where a >= 1, t : num;
op shape : (t s) -> i64 [rank(s)] where
  # a comment behind the word
  s = [2]@r;
type f32_2(d) = { type : f32 [d], w : f32 [d mod 2] };
as = 1e-5; op = 1.5e+3; import' = 0f; dim = inf;
f = fn (x : shape [a,b], y : shape s, z : dim 2, k : dim (a mod 2)) where (a + 1) >= 2 { x };
g = fn(mod, where, shape, dim) { where(mod, shape (x), dim), reduce(where, -inf, x), mod, dim }
\t# blanks, and a comment that ends in them \t
h   =   fn (x) { x.w'.f32[..., None, ?k, 1:2:3] |> f (x) ** -2 // 3 % y != "a \\" b" };
if not f32' and bf16 or i8 == None { 'quoted' } else { 1.5.2 + .5 + 1e + 2x + ? + 3'a' }
“smart” "no end # nor a comment
ä + 😀 & 1
""",
)
"""What stands in no other program, mistakes too."""

READABLE_CORNERS = Source("readable", "\n".join(CORNERS.text.split("\n")[:9]) + "\n")

FOLDERS = ("examples", "src/axon/stdlib", "tests/golden")


@cache
def programs() -> tuple[Source, ...]:
    found = [CORNERS, READABLE_CORNERS]
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.axon")):
            text = path.read_bytes().decode("utf-8", errors="replace")
            found.append(Source(path.relative_to(ROOT).as_posix(), text))
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.tag in ("axon", "axon-error"):
                name = f"{page.relative_to(ROOT).as_posix()}:{block.line}"
                found.append(Source(name, block.text))
    return tuple(found)
