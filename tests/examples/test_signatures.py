"""The types that a reader of the examples sees. A better one may take the place of what is here."""

from __future__ import annotations

import pytest

from tests.examples.common import EXAMPLES, program

SIGNATURES = {
    "recurrent.lstm": (
        "(t [n]@s@[i], (t s@[h], t s@[h]), t [i,4*h], t [h,4*h], t [4*h])"
        " -> ((t s@[h], t s@[h]), t [n]@s@[h])"
    ),
    "recurrent.bidirectional": (
        "(a, (a, t p) -> (a, u q@[h]), b, (b, t p) -> (b, u q@[k]), t [n]@p) -> u [n]@q@[h+k]"
    ),
    "recurrent.residual": "(a, (a, t s) -> (a, t s), t [n]@s) -> t [n]@s",
    "multihead.split_heads": "(t [b,n,h*k], dim h) -> t [b,h,n,k]",
    "multihead.join_heads": "t [b,h,n,k] -> t [b,n,h*k]",
    "multihead.causal_attention": (
        "(t [b,n,d], t [d,4*a], t [d,4*a], t [d,4*c], t [4*c,e]) -> t [b,n,e]"
    ),
    "transformer.decoder_layer": (
        "(t [b,m,d], t [2,b,h,n,k], t [d], t [d,3*h*k], t [h*k,d], t [d], t [d,a], t [a,d])"
        " -> (t [b,m,d], t [2,b,h,m+n,k])"
    ),
    "unet.up": (
        "(t [b,c,h,w], t [b,k,2*h,2*w], (t [a,c+k,3,3], t [a], t [a,a,3,3], t [a]))"
        " -> t [b,a,2*h,2*w]"
    ),
    "unet.down": "(t [b,c,h,w], (t [a,c,3,3], t [a], t [a,a,3,3], t [a])) -> t [b,a,h/2,w/2]",
    "ragged.self_attention": "(t [n,*a,d], t [d,k], t [d,k], t [d,e]) -> t [n,*a,e]",
    "ragged.classifier": (
        "(t [n,*,d], t [d,k], t [d,k], t [d,e], t [e], t [e,c], t [c]) -> t [n,c]"
    ),
    "spirals.score": "((t [2,a], t [a], t [a,c], t [c], t [c,1], t [1]), t [b,2]) -> t [b]",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signature(name: str) -> None:
    file, _, definition = name.partition(".")
    assert program(file)[definition].signature == SIGNATURES[name]


@pytest.mark.parametrize("file", sorted(path.stem for path in EXAMPLES.glob("*.axon")))
def test_nothing_is_left_to_say(file: str) -> None:
    """No example has an error, nor a note about its names."""
    assert program(file)._checked.diagnostics == ()
