"""A call that does not fit: what is said of an argument is true of it.

A program of `programs.py` is called on its witness with one argument changed. What the labels say
of a parameter, or of a value that was computed before the mistake, is compared with the
interpreter's shapes; the names of sizes with those that `infer` shows.
"""

from __future__ import annotations

import re
from typing import Any

import numpy
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import axon
from tests.budget import HALF
from tests.properties.programs import Env, Fails, Program, Shape, Value, programs, show
from tests.properties.test_broken_programs import failing, with_other_rank, with_other_size

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
_SIZE = re.compile(r"(?:(last)|(\w+)(-last)?) size (\d+)(?=$|[:,])")
_SHAPE = re.compile(r"shape \[([\d,]*)\](?=$|[:,])")
_GIVEN = re.compile(r"`(\w+)` is ([^`]+) at the call")
_FROM = re.compile(r"([\w']+(?:\[\d+\])?)=(\d+) from (x\d+)")


@st.composite
def refused(draw: st.DrawFn) -> tuple[Program, tuple[Shape, ...]]:
    """A program and shapes that it does not run on, near those that it runs on."""
    program = draw(programs(calls=1))
    found = failing(program, draw(st.sampled_from([*[with_other_size] * 3, with_other_rank])))
    assume(found)
    return program, draw(st.sampled_from(found))


def computed(program: Program, shapes: tuple[Shape, ...]) -> Env:
    """The arguments, and what is bound up to where the program fails."""
    env: Env = dict(zip((p.name for p in program.params), shapes, strict=True))
    dims: dict[str, int] = {}
    try:
        for param, shape in zip(program.params, shapes, strict=True):
            param.take(shape, dims)
        known = env | {name: (size,) for name, size in dims.items()}
        for piece in program.pieces:
            made = piece.run(known)
            known |= made
            env |= made
    except Fails:
        pass
    return env


def stated_size(text: str) -> tuple[int, int] | None:
    """Which size a label states, counted as Python does, and the size."""
    match = _SIZE.search(text)
    if match is None:
        return None
    if match[1]:
        return -1, int(match[4])
    i = ORDINALS.index(match[2])
    return (-1 - i if match[3] else i), int(match[4])


def check_label(text: str, value: Value) -> None:
    """What a label says of a tensor is so."""
    assert isinstance(value, tuple)
    assert "taken" not in text, text
    size = stated_size(text)
    if size is not None:
        assert -len(value) <= size[0] < len(value) and value[size[0]] == size[1], (text, value)
    shape = _SHAPE.search(text)
    if shape is not None:
        assert shape[1] == ",".join(map(str, value)), (text, value)
    if text.startswith("a scalar"):
        assert value == (), (text, value)


@HALF
@given(refused())
def test_labels_state_what_the_arguments_have(case: tuple[Program, tuple[Shape, ...]]) -> None:
    program, shapes = case
    function = axon.compile(program.definition()).f
    args: list[Any] = [numpy.zeros(shape, numpy.float32) for shape in shapes]
    with pytest.raises(axon.AxonError) as caught:
        function(*args)
    env = computed(program, shapes)
    params = {p.name: shape for p, shape in zip(program.params, shapes, strict=True)}
    shown = {*re.findall(r"[A-Za-z_][\w']*", function.signature), *params}
    for name, _, param in _FROM.findall(caught.value.message):
        assert name.partition("[")[0] in shown, (caught.value.message, function.signature)
        assert param in params
    taken = function.signature.partition(" -> ")[0]
    for name, size, param in _FROM.findall(caught.value.message):
        alone = "[" in name or re.search(rf"[\[,]{name}[\],]", taken)
        assert not alone or int(size) in params[param], caught.value.message
    for diagnostic in caught.value.diagnostics:
        for label in diagnostic.labels:
            for name, type_ in _GIVEN.findall(label.text):
                assert type_ == show(params[name]), label.text
            said_of = label.span.text.partition(" :")[0]
            if said_of in env and not label.text.startswith(("declared", "asked")):
                check_label(label.text, env[said_of])
