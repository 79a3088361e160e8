"""Build what a release consists of, check it, try it, and say what would be uploaded.

    python scripts/release.py

Nothing is uploaded. The version of pyproject.toml, `axon.__version__` and the newest entry of
CHANGELOG.md must agree; the metadata must be what an index accepts; the wheel must be small and
have the page of `axon play`, which `make playground` builds; and in an empty environment, where it
is all there is of Axon, the first example of the README must print what the README says, and
`axon play` must find its page.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.markdown import blocks

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
MOST_BYTES = 5_000_000
"""Of a wheel."""
PAGE = "axon/playground/built/index.html"
HAS_PAGE = """
from axon.playground.server import files_of_the_page
assert "index.html" in files_of_the_page()
"""


class Refused(Exception):
    """Why this is not released."""


def main() -> int:
    try:
        version = agreed_version(ROOT)
        files = build(DIST)
        for line in first_example(*files):
            print(line)
    except Refused as reason:
        print(f"release: {reason}", file=sys.stderr)
        return 1
    print(f"\n== to upload, as axon-shapes {version} (nothing has been uploaded)")
    for path in files:
        data = path.read_bytes()
        print(f"{path.relative_to(ROOT)}  {len(data):,} bytes  {hashlib.sha256(data).hexdigest()}")
    return 0


def agreed_version(root: Path) -> str:
    """The version that is stated in three places."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    init = (root / "src" / "axon" / "__init__.py").read_text(encoding="utf-8")
    log = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    stated = {
        "pyproject.toml": project["version"],
        "axon.__version__": _first(r'^__version__ = "(.*)"$', init),
        "CHANGELOG.md": _first(r"^## \[([0-9][^\]]*)\] - \d{4}-\d\d-\d\d$", log),
    }
    if len(set(stated.values())) > 1:
        raise Refused(f"the versions differ: {', '.join(f'{k} {v}' for k, v in stated.items())}")
    return str(project["version"])


def _first(pattern: str, text: str) -> str | None:
    found = re.search(pattern, text, re.MULTILINE)
    return found and found[1]


def build(into: Path) -> tuple[Path, Path]:
    """A source distribution, and a wheel built from that; their metadata is checked."""
    for old in (*into.glob("axon_shapes-*.tar.gz"), *into.glob("axon_shapes-*-none-any.whl")):
        old.unlink()
    print("== building", flush=True)
    python = sys.executable
    _run(python, "-m", "build", "--no-isolation", "--outdir", str(into), str(ROOT))
    (archive,) = into.glob("axon_shapes-*.tar.gz")
    (wheel,) = into.glob("axon_shapes-*-none-any.whl")
    print("== checking the metadata", flush=True)
    _run(python, "-m", "twine", "--no-color", "check", "--strict", str(archive), str(wheel))
    if wheel.stat().st_size > MOST_BYTES:
        raise Refused(f"the wheel has {wheel.stat().st_size:,} bytes, more than {MOST_BYTES:,}")
    with zipfile.ZipFile(wheel) as found:
        if PAGE not in found.namelist():
            raise Refused(f"the wheel has no {PAGE}: `make playground` builds it")
    return archive, wheel


def first_example(archive: Path, wheel: Path) -> list[str]:
    """What the first command of the README prints in an environment that has only the wheel."""
    program, name, command, expected = readme_example((ROOT / "README.md").read_text("utf-8"))
    print("== the first example of the README, in an empty environment", flush=True)
    with TemporaryDirectory() as folder:
        home = Path(folder)
        venv.create(home / "venv", with_pip=True)
        scripts = home / "venv" / ("Scripts" if os.name == "nt" else "bin")
        _run(str(scripts / "python"), "-m", "pip", "install", "--quiet", str(wheel))
        (home / name).write_text(program, encoding="utf-8")
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "AXON_"))}
        ran = subprocess.run(
            [scripts / "axon", *command],
            cwd=home,
            env=clean | {"NO_COLOR": "1"},
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        _run(str(scripts / "python"), "-I", "-c", HAS_PAGE)
    if ran.stdout.strip() != expected.strip():
        raise Refused(f"`axon {' '.join(command)}` prints\n{ran.stdout}and not\n{expected}")
    return [f"$ axon {' '.join(command)}", ran.stdout.rstrip()]


def readme_example(readme: str) -> tuple[str, str, list[str], str]:
    """The first program that has a name, and the first `axon` command after it with what it
    prints.
    """
    program = name = ""
    for block in blocks(readme):
        if block.tag in ("axon", "axon-error") and not name:
            program, name = block.text, block.settings.get("file", "")
        elif block.tag == "console" and name and block.text.startswith("$ axon "):
            line, _, printed = block.text.partition("\n")
            return program, name, line.split()[2:], printed.split("\n$ ")[0]
    raise Refused("the README has no example: a program with a name, and a command after it")


def _run(*command: str) -> None:
    """Run a command; what it prints is shown if it fails."""
    ran = subprocess.run(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if ran.returncode:
        raise Refused(f"{' '.join(command)} fails:\n{ran.stdout}")


if __name__ == "__main__":
    sys.exit(main())
