"""The parser of `editors/tree-sitter-axon`, compiled for a test."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from tests.highlight.needed import EDITORS, needed, run

FOLDER = EDITORS / "tree-sitter-axon"


def language(folder: Path) -> Any:
    """The language, compiled into this folder."""
    needed("cc")
    from tree_sitter import Language

    library = folder / "axon.so"
    source = FOLDER / "src"
    run(
        "cc", "-shared", "-fPIC", "-O0", f"-I{source}", "-o", str(library), str(source / "parser.c")
    )
    make = ctypes.CDLL(str(library)).tree_sitter_axon
    make.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype = ctypes.py_object
    capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return Language(capsule(make(), b"tree_sitter.Language", None))
