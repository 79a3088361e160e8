"""JAX's persistent cache: what it has compiled is in a folder, for other processes.

JAX has one cache for a process. Whoever asks for it turns it on for all that JAX compiles there.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

import jax


class Unusable(Exception):
    """A folder that cannot be JAX's cache, with the reason as a sentence."""


def keep_in(folder: str) -> None:
    """From now on JAX looks into the folder before it compiles, and leaves there what it has
    compiled, however small and however soon.
    """
    path = os.path.abspath(os.path.expanduser(folder))
    current = jax.config.values["jax_compilation_cache_dir"]
    if current is not None and os.path.abspath(current) != path:
        raise Unusable(
            f"{folder} cannot be the cache: JAX has one for a process, and that is {current}"
        )
    try:
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        if isinstance(problem, FileExistsError):
            reason = "it is no folder"
        raise Unusable(f"{folder} cannot be the cache: {reason}") from None
    config: Any = jax.config
    config.update("jax_persistent_cache_min_compile_time_secs", 0)
    config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    config.update("jax_compilation_cache_dir", path)
