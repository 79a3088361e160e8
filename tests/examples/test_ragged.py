"""examples/ragged.axon against one text after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import axon
from tests.examples import reference
from tests.examples.common import Arrays, both, close, program, wide

LENGTHS = [[3, 1, 4, 1], [2], [5, 5], [1, 1, 1]]
lengths = pytest.mark.parametrize("lengths", LENGTHS)


def weighted(tokens: Any, query: Any) -> Any:
    return reference.softmax(tokens @ query) @ tokens


def attended(tokens: Any, wq: Any, wk: Any, wv: Any) -> Any:
    sees_all = np.ones((len(tokens), len(tokens)), bool)
    return reference.one_head(tokens @ wq, tokens @ wk, tokens @ wv, sees_all)


def classifier_weights(make: Arrays, d: int) -> tuple[Any, ...]:
    return make(d, 2), make(d, 2), make(d, 5), make(5), make(5, 3), make(3)


def classified(text: Any, wq: Any, wk: Any, wv: Any, query: Any, w: Any, b: Any) -> Any:
    return weighted(attended(text, wq, wk, wv), query) @ w + b


@both
@lengths
def test_pools(backend: str, lengths: list[int]) -> None:
    make = Arrays(*lengths)
    rows = [make(n, 3) for n in lengths]
    query = make(3)
    net = program("ragged", backend)
    close(
        net.weighted_tokens(rows, query), np.stack([weighted(wide(r), wide(query)) for r in rows])
    )
    close(net.mean_tokens(rows), np.stack([wide(r).mean(axis=0) for r in rows]))
    close(net.max_tokens(rows), np.stack([wide(r).max(axis=0) for r in rows]))


@both
@pytest.mark.parametrize("lengths", [*LENGTHS, [2, 0, 3], [0]])
def test_self_attention(backend: str, lengths: list[int]) -> None:
    """A ragged result; a text may have no tokens."""
    make = Arrays(*lengths)
    rows, w = [make(n, 3) for n in lengths], (make(3, 2), make(3, 2), make(3, 4))
    given = program("ragged", backend).self_attention(rows, *w)
    assert isinstance(given, axon.Ragged)
    assert given.lengths.tolist() == lengths
    for row, text in zip(given.rows, rows, strict=True):
        close(row, attended(wide(text), *wide(w)))


@both
@lengths
def test_classifier(backend: str, lengths: list[int]) -> None:
    make = Arrays(*lengths)
    rows, w = [make(n, 4) for n in lengths], classifier_weights(make, 4)
    expected = np.stack([classified(wide(row), *wide(w)) for row in rows])
    close(program("ragged", backend).classifier(rows, *w), expected)


@both
@lengths
@pytest.mark.parametrize("packed", [True, False])
def test_token_classifier(backend: str, lengths: list[int], packed: bool) -> None:
    """The texts as a list of them, or packed."""
    make = Arrays(*lengths)
    table, w = make(11, 4), classifier_weights(make, 4)
    texts = [make.random.integers(0, 11, n) for n in lengths]
    given: Any = texts
    if packed:
        given = axon.Ragged.from_packed(np.concatenate(texts), np.cumsum([0, *lengths]))
    expected = np.stack([classified(wide(table)[text], *wide(w)) for text in texts])
    close(program("ragged", backend).token_classifier(given, table, *w), expected)


@both
def test_an_equal_batch(backend: str) -> None:
    """Texts that happen to be of one length give what they give one by one."""
    make = Arrays(1)
    texts, w = make(3, 2, 4), classifier_weights(make, 4)
    net = program("ragged", backend)
    whole = net.classifier(list(texts), *w)
    parts = [net.classifier([text], *w)[0] for text in texts]
    close(np.asarray(whole), np.stack(parts))


@both
def test_no_texts(backend: str) -> None:
    make = Arrays(2)
    none = axon.Ragged.from_packed(make(0, 4), np.zeros(1, np.int64))
    assert program("ragged", backend).classifier(none, *classifier_weights(make, 4)).shape == (0, 3)


def test_texts_with_tokens_of_another_size() -> None:
    make = Arrays(3)
    with pytest.raises(axon.ArgumentError, match="classifier cannot be called"):
        program("ragged").classifier([make(2, 5), make(1, 5)], *classifier_weights(make, 4))
