"""`axon ops`: the reference, with search."""

from __future__ import annotations

from pathlib import Path

import pytest

from axon.ops import OPERATORS
from axon.reference.operators import every_name, find, search
from tests.shell import axon


def test_an_operator_by_name_and_by_sign(tmp_path: Path) -> None:
    found = axon(["ops", "softmax"], tmp_path)
    assert found.status == 0
    assert found.stdout.startswith("softmax : t s@[n] -> t s@[n] where t : float\n")
    assert "  axis=-1" in found.stdout
    assert axon(["ops", "//"], tmp_path).stdout.startswith("// : ")
    assert axon(["ops", "**"], tmp_path).stdout.startswith("pow : ")


def test_a_function_of_the_library_says_where_it_is(tmp_path: Path) -> None:
    found = axon(["ops", "gated_mlp"], tmp_path).stdout
    assert found.startswith("gated_mlp : (x : t s@[i], ")
    assert "std/layers.axon" in found


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("unsqueeze", "expand_dims"),
        ("permute", "transpose"),
        ("log_s", "log_softmax"),
        ("k largest", "top_k"),
        ("concatenate tensors", "concat"),
        ("multiply matrix", "project"),
    ],
)
def test_search(words: str, first: str) -> None:
    assert search(words)[0].name == first


def test_the_list_has_every_operator_and_fits_a_terminal(tmp_path: Path) -> None:
    lines = axon(["ops"], tmp_path).stdout.splitlines()
    listed = {line.split()[0] for line in lines if line.startswith("  ")}
    assert set(OPERATORS) <= listed
    assert max(map(len, lines)) <= 100


def test_everything_listed_has_an_entry() -> None:
    for name in every_name():
        entry = find(name)
        assert entry is not None
        assert entry.signature != "?"


def test_nothing_found(tmp_path: Path) -> None:
    found = axon(["ops", "softmx"], tmp_path)
    assert found.status == 2
    assert "did you mean `softmax`" in found.stderr
    assert found.stdout == ""
