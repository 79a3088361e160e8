"""Put the playground together: the built page, Python for the browser, and Axon for that Python.

    python scripts/playground.py build/playground

`npm run build` in `playground/` must have built the page.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "src" / "axon" / "playground" / "built"
PYODIDE = ROOT / "playground" / "node_modules" / "pyodide"
PYTHON_FILES = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
LEFT_OUT = ("axon/playground/built/", "axon/cli/", "axon/lsp/", "axon/repl/", "axon/notebook/")
"""Parts of the wheel that the page does not ask."""


def main(target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(BUILT, target)
    (target / "pyodide").mkdir()
    for name in PYTHON_FILES:
        shutil.copyfile(PYODIDE / name, target / "pyodide" / name)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
        built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if built.returncode:
            sys.exit(f"the wheel was not built:\n{built.stdout}{built.stderr}")
        (wheel,) = Path(folder).glob("*.whl")
        repack(wheel, target / "axon.zip")


def repack(wheel: Path, target: Path) -> None:
    """The modules of a wheel that a page needs."""
    with (
        zipfile.ZipFile(wheel) as source,
        zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made,
    ):
        for each in sorted(source.namelist()):
            if each.startswith("axon/") and not each.startswith(LEFT_OUT):
                made.writestr(zipfile.ZipInfo(each), source.read(each), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
