"""The pictures of the README and of the documentation, made by Axon's own tools.

python scripts/pictures.py          write them
python scripts/pictures.py --check  exit 1 if one is not as it would be written
"""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from axon.cli import main as axon
from axon.diagnostics.text import render_all
from axon.driver import check
from axon.files import find_import, read_source
from axon.pages.figure import figure_of
from axon.pages.terminal import terminal_svg
from axon.source import Source
from scripts.solver_pictures import solver_pictures

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
MLP = """mlp = fn (x : f32 [b,784], w1 : f32 [784,256], w2 : f32 [128,10]) {
  h = relu(matmul(x, w1));
  matmul(h, w2)
};
"""


def pictures() -> dict[str, str]:
    """Every picture by the name of its file."""
    checked = check(Source("mlp.axon", MLP))
    said = render_all(checked.diagnostics, colour=True)
    return {
        "bug.svg": terminal_svg("axon check mlp.axon", said, "A shape bug, and the message"),
        "bug-graph.svg": figure_of(Source("mlp.axon", MLP), "mlp").svg,
        "attention.svg": _example("attention.axon", "attention", 1),
        "decoder.svg": _example("transformer.axon", "decoder_layer", 0),
        "encoder.svg": _model("encoder.onnx"),
        **solver_pictures(),
    }


def _example(path: str, name: str, depth: int) -> str:
    source = read_source(str(ROOT / "examples" / path))
    return figure_of(source, name, find_import, depth).svg


def _model(name: str) -> str:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.svg"
        with contextlib.redirect_stdout(io.StringIO()):
            status = axon(["graph", str(ROOT / "examples" / "onnx" / name), "-o", str(path)])
        assert status == 0
        return path.read_text(encoding="utf-8")


def main() -> int:
    stale = []
    for name, text in pictures().items():
        path = IMAGES / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in sys.argv[1:]:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(path.relative_to(ROOT))
    if "--check" in sys.argv[1:] and stale:
        print(f"not up to date: {', '.join(stale)}; `make pictures` writes them", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
