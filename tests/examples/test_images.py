"""examples/resnet.axon and examples/unet.axon against convolutions written as loops."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import axon
from tests.examples import reference
from tests.examples.common import Arrays, both, close, program, wide

# --- resnet ---------------------------------------------------------------------------------------


def block_weights(make: Arrays, c: int) -> tuple[Any, ...]:
    return make(c, c, 3, 3), make.norm(c), make(c, c, 3, 3), make.norm(c)


def down_weights(make: Arrays, c: int, k: int) -> tuple[Any, ...]:
    shortcut = make(k, c, 1, 1), make.norm(k)
    return make(k, c, 3, 3), make.norm(k), make(k, k, 3, 3), make.norm(k), *shortcut


def block(x: Any, f1: Any, norm1: Any, f2: Any, norm2: Any) -> Any:
    y = reference.relu(reference.batch_norm(reference.conv(x, f1, pad=1), norm1))
    return reference.relu(x + reference.batch_norm(reference.conv(y, f2, pad=1), norm2))


def down_block(x: Any, f1: Any, norm1: Any, f2: Any, norm2: Any, f3: Any, norm3: Any) -> Any:
    y = reference.relu(reference.batch_norm(reference.conv(x, f1, stride=2, pad=1), norm1))
    small = reference.batch_norm(reference.conv(x, f3, stride=2), norm3)
    return reference.relu(small + reference.batch_norm(reference.conv(y, f2, pad=1), norm2))


@both
@pytest.mark.parametrize(("b", "c", "h", "w"), [(2, 3, 5, 6), (1, 1, 1, 1), (0, 2, 3, 3)])
def test_block(backend: str, b: int, c: int, h: int, w: int) -> None:
    make = Arrays(b, c, h, w)
    x, weights = make(b, c, h, w), block_weights(make, c)
    close(program("resnet", backend).block(x, *weights), block(wide(x), *wide(weights)))


@both
@pytest.mark.parametrize(
    ("b", "c", "k", "h", "w"), [(2, 3, 4, 5, 6), (1, 2, 1, 1, 2), (2, 1, 2, 4, 3)]
)
def test_down_block(backend: str, b: int, c: int, k: int, h: int, w: int) -> None:
    make = Arrays(b, c, k, h, w)
    x, weights = make(b, c, h, w), down_weights(make, c, k)
    given = program("resnet", backend).down_block(x, *weights)
    close(given, down_block(wide(x), *wide(weights)))
    assert given.shape == (b, k, (h + 1) // 2, (w + 1) // 2)


@both
@pytest.mark.parametrize(("b", "h", "w"), [(2, 9, 8), (1, 1, 1), (3, 4, 7)])
def test_resnet(backend: str, b: int, h: int, w: int) -> None:
    make = Arrays(b, h, w)
    images, stem, first = make(b, 3, h, w), (make(4, 3, 3, 3), make.norm(4)), block_weights(make, 4)
    second, third, last = (
        down_weights(make, 4, 5),
        down_weights(make, 5, 6),
        (make(6, 10), make(10)),
    )
    given = program("resnet", backend).resnet(images, stem, first, second, third, last)

    x = reference.conv(wide(images), wide(stem[0]), pad=1)
    x = block(reference.relu(reference.batch_norm(x, wide(stem[1]))), *wide(first))
    x = down_block(down_block(x, *wide(second)), *wide(third))
    close(given, x.mean(axis=(2, 3)) @ wide(last[0]) + wide(last[1]), 1e-3)


# --- u-net ----------------------------------------------------------------------------------------


def double(make: Arrays, c: int, k: int) -> tuple[Any, ...]:
    return make(k, c, 3, 3), make(k), make(k, k, 3, 3), make(k)


def convolved(x: Any, weights: tuple[Any, ...]) -> Any:
    f1, b1, f2, b2 = weights
    x = reference.relu(reference.conv(x, f1, pad=1) + b1[:, None, None])
    return reference.relu(reference.conv(x, f2, pad=1) + b2[:, None, None])


def raised(x: Any, skip: Any, weights: tuple[Any, ...]) -> Any:
    return convolved(np.concatenate([skip, reference.doubled(x)], axis=1), weights)


def unet_arguments(make: Arrays, b: int, c: int, h: int, w: int) -> tuple[Any, ...]:
    weights = (
        double(make, c, 2),
        double(make, 2, 3),
        double(make, 3, 4),
        double(make, 4 + 3, 3),
        double(make, 3 + 2, 2),
    )
    return make(b, c, h, w), weights, make(5, 2, 1, 1), make(5)


@both
@pytest.mark.parametrize(("b", "c", "h", "w"), [(1, 3, 4, 8), (2, 1, 12, 4), (0, 1, 4, 4)])
def test_unet(backend: str, b: int, c: int, h: int, w: int) -> None:
    arguments = unet_arguments(Arrays(b, c, h, w), b, c, h, w)
    given = program("unet", backend).unet(*arguments)

    image, (enter, down1, down2, up1, up2), head, bias = wide(arguments)
    large = convolved(image, enter)
    medium = convolved(reference.halved(large), down1)
    small = convolved(reference.halved(medium), down2)
    result = raised(raised(small, medium, up1), large, up2)
    close(given, reference.conv(result, head) + bias[:, None, None])


@both
@pytest.mark.parametrize(("h", "w"), [(2, 3), (2, 2), (5, 4)])
def test_down(backend: str, h: int, w: int) -> None:
    """An image may be halved until one element is left of it."""
    make = Arrays(h, w)
    x, weights = make(2, 3, h, w), double(make, 3, 2)
    given = program("unet", backend).down(x, weights)
    close(given, convolved(reference.halved(wide(x)), wide(weights)))


def test_what_cannot_be_halved() -> None:
    make = Arrays(1, 1)
    with pytest.raises(axon.ArgumentError, match="the window is larger than the padded input"):
        program("unet").down(make(2, 3, 1, 1), double(make, 3, 2))


def test_sizes_that_cannot_be_halved_twice() -> None:
    with pytest.raises(axon.ArgumentError, match="size 2 of `image` is 6"):
        program("unet").unet(*unet_arguments(Arrays(1), 1, 3, 6, 4))


def test_gradient() -> None:
    """The slope along a direction is the one that a small step shows."""
    make = Arrays(2)
    image, weights, head, bias = unet_arguments(make, 1, 2, 4, 4)
    direction = make(*image.shape)
    unet = program("unet").unet.jax

    def loss(image: Any, *rest: Any) -> Any:
        return (unet(image, *rest) ** 2).sum()

    with jax.enable_x64(True):  # for the reference; f32 stays f32
        slope = (jax.jit(jax.grad(loss))(image, weights, head, bias) * direction).sum()
        assert slope.dtype == np.float32
        image, direction, *rest = wide((image, direction, weights, head, bias))
        below, above = (jax.jit(loss)(image + step * direction, *rest) for step in (-1e-6, 1e-6))
        assert slope == pytest.approx(float(above - below) / 2e-6, rel=1e-2)
