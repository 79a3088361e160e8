"""JAX's persistent cache on request: another process compiles nothing again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import axon

PROGRAM = """
import json, sys
import jax, numpy as np
import axon

seen = {"cache_hits": 0, "cache_misses": 0}

def count(event, **_):
    name = event.rsplit("/", 1)[-1]
    if "/compilation_cache/" in event and name in seen:
        seen[name] += 1

jax.monitoring.register_event_listener(count)
net = axon.compile("f = fn (x : f32 [m,n], w) { softmax(x @ w) }").on("jax", cache=sys.argv[1])
for m in (2, 3):
    x = np.arange(m * 4, dtype=np.float32).reshape(m, 4)
    made = net.f(x, np.ones((4, 5), np.float32))
try:
    net.on("jax", cache=sys.argv[1] + "/another")
except axon.ArgumentError as error:
    said = str(error)
net.on("jax", cache=sys.argv[1] + "/")
print(json.dumps([seen, np.asarray(made).tolist(), said]))
"""


def ran(folder: Path) -> tuple[dict[str, int], object]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder)], capture_output=True, text=True, check=True
    )
    seen, values, said = json.loads(done.stdout)
    assert said == (
        f"{folder}/another cannot be the cache: JAX has one for a process, and that is {folder}"
    )
    return seen, values


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "of JAX"
    first, values = ran(folder)
    assert first["cache_misses"] >= 2
    assert first["cache_hits"] == 0
    second, again = ran(folder)
    assert second["cache_misses"] == 0
    assert second["cache_hits"] >= 2
    assert again == values


def test_a_folder_that_cannot_be_written_to_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    net = axon.compile("f = fn (x) { x + x }")
    with pytest.raises(axon.ArgumentError, match="file/cache cannot be the cache: Not a directory"):
        net.on("jax", cache=tmp_path / "file" / "cache")
    with pytest.raises(axon.ArgumentError, match=r"cannot be the cache: .*null"):
        net.on("jax", cache="a\0b")
    np.testing.assert_array_equal(net.on("jax").f(np.ones(2, np.float32)), [2, 2])


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_the_cache_is_for_jax(backend: str) -> None:
    with pytest.raises(ValueError, match="cache=… is for the backend 'jax'"):
        axon.compile("f = fn (x) { x + x }").on(backend, cache="folder")
