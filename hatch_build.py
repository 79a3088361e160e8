"""The compiled build: the modules that inference spends its time in, as C extensions.

mypyc makes them of the same files that run as they are everywhere else, and that stay beside them
in the wheel. Off unless asked for: `make compiled`, or hatchling with HATCH_BUILD_HOOKS_ENABLE=1
and a C compiler at hand (pip would build it twice, the first time for its metadata).
AXON_OPT_LEVEL=0 is for tests: sooner built, and slower.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPILED = (
    "source.py",
    "syntax/*.py",
    "syntax/*/*.py",
    "types/*.py",
    "solver/*.py",
    "ops/operator.py",
    "ops/scheme.py",
    "ops/traits.py",
    "inference/*.py",
    "inference/*/*.py",
    "contents/*.py",
    "importers/*.py",
    "importers/*/*.py",
    "importers/*/*/*.py",
    "importers/*/*/*/*.py",
)
LEFT_OUT = {
    "types/atoms.py",  # its objects are held weakly
    "syntax/ast.py",  # its classes are made at run time, by
    "syntax/node.py",
    "importers/onnx/wire.py",  # its messages have the fields of a table
    "importers/torch/dynamic/module.py",  # it makes a class of PyTorch's, where that is there
}
FLAGS = ("-fvisibility=hidden", "-fno-semantic-interposition", "-fno-plt", "-fcommon")
SETUP = """
import os
import sys
from mypyc.build import mypycify
from setuptools import setup

options = ["--ignore-missing-imports", "--explicit-package-bases"]
modules = sys.argv[1:]
importers = [name for name in modules if "importers" in name]
parts = [
    ([name for name in modules if name not in importers], "axon"),
    (importers, "axon_importers"),
]
level = os.environ.get("AXON_OPT_LEVEL", "2")
made = mypycify(
    [*options, *modules], opt_level=level, debug_level="0", multi_file=True, separate=parts
)
script = ["build_ext", "--inplace", "--parallel", "2"]
setup(name="axon-compiled", packages=[], ext_modules=made, script_args=script)
"""


class CompiledBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles in a folder of its own, and adds what comes out of it to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel" or version == "editable":
            return
        self._folder = TemporaryDirectory()
        folder = Path(self._folder.name)
        package = folder / "axon"
        shutil.copytree(Path(self.root, "src", "axon"), package)
        modules = sorted(str(path.relative_to(folder)) for path in compiled(package))
        command = [sys.executable, "-c", SETUP, *modules]
        made = subprocess.run(
            command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False
        )
        if made.returncode:
            raise RuntimeError(f"mypyc failed:\n{made.stdout[-4000:]}\n{made.stderr[-4000:]}")
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
        for suffix in (".so", ".pyd"):
            libraries = [*folder.glob(f"*{suffix}"), *package.rglob(f"*{suffix}")]
            names = {str(path): path.relative_to(folder).as_posix() for path in libraries}
            build_data["force_include"].update(names)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if hasattr(self, "_folder"):
            self._folder.cleanup()


def _environment() -> dict[str, str]:
    """Calls inside a part are direct; the headers that both parts share define what each exports,
    and one definition of it is meant.
    """
    flags = "" if os.name == "nt" else " ".join(FLAGS)
    return {**os.environ, "CFLAGS": f"{os.environ.get('CFLAGS', '')} {flags}"}


def compiled(package: Path) -> set[Path]:
    found = {path for pattern in COMPILED for path in package.glob(pattern)}
    return found - {package / name for name in LEFT_OUT}
