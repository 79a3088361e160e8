"""What `net.on` takes by name: absurd values are refused with a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import axon

NET = axon.compile("""
f = fn (x : f32 [b,n]) { softmax(x) };
g = fn (p : { w : f32 [n,m] }, x : f32 [b,n]) { x @ p.w };
u = fn (x) { x + 1f };
higher = fn (f, x : f32 [n]) { map(f, x) };
words = fn (table : f32 [v,d], ids : i64 [b]) { table[ids] };
either = fn (table : f32 [v,d], ids : i [b]) { table[ids] };
""")


def says(call: Callable[[], object]) -> str:
    with pytest.raises((axon.ArgumentError, ValueError)) as problem:
        call()
    assert type(problem.value) in (axon.ArgumentError, ValueError)
    return str(problem.value)


# --- buckets -----------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [np.int64(8), np.array(8), np.array([4, 8]), range(4, 9), (8, 4)])
def test_buckets_are_numbers_of_any_library(given: Any) -> None:
    x = np.random.default_rng(0).normal(size=(2, 7)).astype("float32")
    bucketed = NET.on("jax", buckets={"n": given}).f
    assert np.allclose(bucketed(x), NET.f(x), atol=1e-6)
    assert bucketed.report().dimensions[1].bucketed


@pytest.mark.parametrize(
    "given",
    [
        *(
            0,
            -4,
            2.5,
            True,
            None,
            "",
            "pow3",
            b"ab",
            [],
            [1],
            [True, 4],
            {4, 8},
            {"a": 8},
            object(),
        ),
        *(np.array([4.0]), np.array([]), np.array([[4]]), np.array("x"), float("nan")),
    ],
)
def test_what_is_no_bucket(given: Any) -> None:
    text = says(lambda: NET.on("jax", buckets={"n": given}))
    assert text.startswith("the dimension `n` cannot have the buckets ")


def test_a_list_of_buckets_has_an_end() -> None:
    text = says(lambda: NET.on("jax", buckets={"n": range(2, 10**30)}))
    assert text == "the dimension `n` has more than 10000 buckets"


@pytest.mark.parametrize("given", [[], "", "AUTO", 3, {3: 8}, np.array([4, 8]), ("n", 8)])
def test_what_is_no_dict_of_buckets(given: Any) -> None:
    assert "are no buckets: " in says(lambda: NET.on("jax", buckets=given))


def test_a_report_of_many_dimensions_is_short() -> None:
    bucketed = NET.on("jax", buckets="auto").g
    bucketed({"w": np.ones((3, 4), "float32")}, np.ones((5, 3), "float32"))
    assert str(bucketed.report()).splitlines()[1:] == [
        "  n, m: exact, because it is a size of weights",
        "  b: padded to powers of two, 38% padding",
    ]


def test_a_report_of_ragged_rows() -> None:
    means = axon.compile("f = fn (x : f32 [n,*]) { map(fn (r) { mean(r) }, x) };")
    bucketed = means.on("jax", buckets="auto").f
    bucketed([[1.0], [2.0, 3.0]])
    assert str(bucketed.report()).endswith("1 at exact sizes: its rows vary in size")


# --- meshes ------------------------------------------------------------------------------------


def test_wrong_meshes() -> None:
    assert says(lambda: NET.on("jax", shard={"b": "d"})) == (
        'shard= needs a mesh, whose axes it names: mesh={"data": 4}'
    )
    for size in (0, -1, True, 1.0, "4", None):
        text = says(lambda size=size: NET.on("jax", mesh={"d": size}, shard={"b": "d"}))  # type: ignore[misc]
        assert text == f"the axis `d` of a mesh has a size of 1 or more, not {size!r}"


def test_costs_of_open_sizes_and_of_too_many_axes() -> None:
    assert says(lambda: NET.g.sharding({"d": 1}, n=4)) == (
        "g.sharding: the sizes of `p : { w : f32 [4,m] }`, `x : f32 [b,4]` are open; "
        "give them by name: sharding(mesh, b=…, m=…)"
    )
    assert says(lambda: NET.u.sharding({"d": 1})).endswith("sharding(mesh, s=(…))")
    assert "`f : f32 -> a` are not known" in says(lambda: NET.higher.sharding({"d": 1}, n=2))
    axes = {f"a{i}": 1 for i in range(1000)}
    assert says(lambda: NET.g.sharding(axes, b=2, n=2, m=2)) == (
        "g cannot be sharded: there are more than 5,000 ways to cut 3 sizes along 1000 axes: "
        "give a mesh of fewer axes"
    )


# --- others ------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["yes", "", 1, 0, None, 2.5])
def test_compiled_is_a_truth_value(given: Any) -> None:
    text = f"compiled= is True or False, and not {given!r}"
    assert says(lambda: NET.on("numpy", compiled=given)) == text
    assert says(lambda: axon.compile("k = 3;", compiled=given)) == text


@pytest.mark.parametrize("given", ["yes", "", 1, 0, None, 2.5])
def test_whether_layers_are_stacked_is_a_truth_value(given: Any) -> None:
    text = f"stack_layers= is True or False, and not {given!r}"
    assert says(lambda: NET.on("jax", stack_layers=given)) == text


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_layers_are_stacked_on_jax_alone(backend: str) -> None:
    text = f"stack_layers=True is for the backend 'jax', not for '{backend}'"
    assert says(lambda: NET.on(backend, stack_layers=True)) == text


@pytest.mark.parametrize("given", ["", 3, True, b"folder", []])
def test_what_is_no_folder_for_the_cache(given: Any) -> None:
    text = says(lambda: NET.on("jax", cache=given))
    assert text == f"cache= is the path of a folder, and not {given!r}"


def test_a_file_is_no_folder_for_the_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    text = says(lambda: NET.on("jax", cache=tmp_path / "file"))
    assert text == f"{tmp_path / 'file'} cannot be the cache: it is no folder"
    assert "cannot be the cache" in says(lambda: NET.on("jax", cache="\0"))


@pytest.mark.parametrize("option", ["like", "sizes", "rules"])
@pytest.mark.parametrize("given", [3, "n=3", [("n", 3)], {3: 4}])
def test_what_is_given_by_names_is_a_dict(option: str, given: Any) -> None:
    text = f"g.init: {option}= is a dict by names, and not {given!r}"
    assert says(lambda: NET.g.init(0, **{option: given})) == text


def test_integers_that_jax_makes_of_32_bits() -> None:
    import jax

    table, ids = np.eye(3, dtype="float32"), np.array([2, 0])
    assert (np.asarray(jax.jit(NET.either.jax)(table, ids)) == table[ids]).all()
    text = says(lambda: jax.jit(NET.words.jax)(table, ids))
    assert "JAX makes i32 of i64 without jax.config.update" in text
    with jax.enable_x64(True):
        assert (np.asarray(jax.jit(NET.words.jax)(table, ids)) == table[ids]).all()
        text = says(lambda: jax.jit(NET.words.jax)(table, ids.astype("int32")))
        assert "JAX makes" not in text
