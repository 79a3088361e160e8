"""PyTorch's transforms, and its complex numbers, which are two tensors each."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from tests.importers.torch_archives import Exported, Tensor, infer
from tests.importers.torch_calls import close, floats, run, tensor, types


def program(shapes: list[str], make: Any) -> Exported:
    p = Exported()
    made = make(p, *(tensor(p, f"x{i}", f"f32 {shape}") for i, shape in enumerate(shapes)))
    p.output(made)
    return p


def as_real(p: Exported, x: Tensor) -> Any:
    return p.call("aten.view_as_real.default", self=x)


def parts(z: Any) -> Any:
    return numpy.stack([z.real, z.imag], axis=-1)


def complex_of(p: Exported, re: Tensor, im: Tensor) -> Any:
    return p.call("aten.complex.default", real=re, imag=im)


@pytest.mark.parametrize("name", ["fft", "ifft"])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_a_transform_and_its_factor(name: str, norm: str) -> None:
    def make(p: Exported, x: Tensor) -> Any:
        return as_real(p, p.call(f"aten.fft_{name}.default", self=x, dim=0, norm=norm))

    p = program(["[n,m]"], make)
    assert types(p) == "f32 [n,m,2]"
    x = floats(6, 3)
    close(p, [x], parts(getattr(numpy.fft, name)(x, axis=0, norm=norm)))


def test_half_of_a_transform_tells_the_rest() -> None:
    def make(p: Exported, x: Tensor) -> Any:
        half = p.call("aten.fft_rfft2.default", self=x, norm="ortho")
        return p.call("aten.fft_irfft2.default", self=half, s=[6, 5], norm="ortho")

    p = program(["[b,6,5]"], make)
    assert types(p) == "f32 [b,6,5]"
    x = floats(2, 6, 5)
    close(p, [x], x)


def test_transforms_of_core() -> None:
    def make(p: Exported, x: Tensor) -> Any:
        half = p.call("aten._fft_r2c.default", self=x, dim=[1], normalization=0, onesided=True)
        whole = p.call("aten._fft_c2c.default", self=half, dim=[0], normalization=1, forward=True)
        return as_real(p, whole)

    p = program(["[n,m]"], make)
    assert types(p) == "f32 [n,m/2+1,2]"
    x = floats(4, 7)
    close(p, [x], parts(numpy.fft.fft(numpy.fft.rfft(x), axis=0, norm="ortho")))


def test_frames_of_a_signal() -> None:
    def make(p: Exported, x: Tensor, window: Tensor) -> Any:
        found = p.call("aten.stft.default", self=x, n_fft=8, hop_length=4, win_length=6,
                       window=window, return_complex=True)  # fmt: skip
        return p.call("aten.abs.default", self=found)

    p = program(["[b,20]", "[6]"], make)
    assert types(p) == "f32 [b,5,4]"
    x, window = floats(2, 20), floats(6)
    frames = numpy.stack([x[:, i : i + 8] * numpy.pad(window, 1) for i in range(0, 13, 4)], -1)
    close(p, [x, window], abs(numpy.fft.rfft(frames, axis=1)))


def test_arithmetic_of_complex_numbers() -> None:
    def make(p: Exported, a: Tensor, b: Tensor) -> Any:
        x, y = complex_of(p, a, b), complex_of(p, b, a)
        product = p.call("aten.mul.Tensor", self=x, other=y)
        moved = p.call("aten.add.Tensor", self=product, other=a, alpha=2)
        turned = p.call("aten._conj.default", self=moved)
        return as_real(p, p.call("aten.div.Tensor", self=turned, other=y))

    p = program(["[n,3]", "[n,3]"], make)
    assert types(p) == "f32 [n,3,2]"
    a, b = floats(4, 3), floats(4, 3, seed=1)
    x, y = a + 1j * b, b + 1j * a
    close(p, [a, b], parts((x * y + 2 * a).conj() / y))


def test_numbers_may_be_complex() -> None:
    def make(p: Exported, x: Tensor) -> Any:
        turned = p.call("aten.exp.default", self=p.call("aten.mul.Tensor", self=x, other=2j))
        moved = p.call("aten.add.Tensor", self=turned, other=1 - 3j)
        product = p.call("aten.mul.Tensor", self=moved, other=2 + 1j)
        return as_real(p, p.call("aten.div.Tensor", self=product, other=1 + 4j))

    p = program(["[n,3]"], make)
    assert types(p) == "f32 [n,3,2]"
    x = floats(4, 3)
    close(p, [x], parts((numpy.exp(2j * x) + 1 - 3j) * (2 + 1j) / (1 + 4j)))


def test_shifted_transforms() -> None:
    def make(p: Exported, x: Tensor) -> Any:
        z = p.call("aten.fft_fft.default", self=x)
        moved = p.call("aten.fft_fftshift.default", self=z)
        return as_real(p, moved), as_real(p, p.call("aten.fft_ifftshift.default", self=z, dim=[1]))

    p = Exported()
    for made in make(p, tensor(p, "x", "f32 [4,5]")):
        p.output(made)
    x = floats(4, 5)
    z = numpy.fft.fft(x)
    close(p, [x], parts(numpy.fft.fftshift(z)), parts(numpy.fft.ifftshift(z, axes=1)))


def test_complex_numbers_are_moved_around() -> None:
    def make(p: Exported, a: Tensor, b: Tensor) -> Any:
        x, y = complex_of(p, a, b), complex_of(p, b, a)
        first = p.call("aten.slice.Tensor", self=x, dim=1, start=0, end=2)
        both = p.call("aten.cat.default", tensors=[first, y], dim=1)
        row = p.call("aten.select.int", self=both, dim=0, index=0)
        wide = p.call("aten.unsqueeze.default", self=row, dim=0)
        return as_real(p, p.call("aten.permute.default", self=wide, dims=[1, 0]))

    p = program(["[n,3]", "[n,3]"], make)
    assert types(p) == "f32 [5,1,2]"
    a, b = floats(4, 3), floats(4, 3, seed=1)
    both = numpy.concatenate([(a + 1j * b)[:, :2], b + 1j * a], axis=1)
    close(p, [a, b], parts(both[0][None].T))


def test_positions_that_turn() -> None:
    """Rotary embeddings, as Llama has them."""

    def make(p: Exported, x: Tensor, angle: Tensor) -> Any:
        pairs = p.call("aten.view_as_complex.default", self=x)
        ones = p.call("aten.ones_like.default", self=angle)
        turn = p.call("aten.polar.default", abs=ones, angle=angle)
        return as_real(p, p.call("aten.mul.Tensor", self=pairs, other=turn))

    p = program(["[b,s,h,4,2]", "[s,1,4]"], make)
    assert types(p) == "f32 [b,s,h,4,2]"
    x, angle = floats(2, 3, 2, 4, 2), floats(3, 1, 4)
    close(p, [x, angle], parts((x[..., 0] + 1j * x[..., 1]) * numpy.exp(1j * angle)))


def test_a_buffer_of_complex_numbers() -> None:
    p = Exported()
    x, turn = tensor(p, "x", "f32 [n,3,2]"), numpy.exp(1j * floats(5, 3)).astype("c8")
    held = p.weight("turn", turn, kind="buffer", elem="c64")
    first = p.call("aten.slice.Tensor", self=held, dim=0, start=1, end=2)
    made = p.call("aten.mul.Tensor", self=p.call("aten.view_as_complex.default", self=x),
                  other=first)  # fmt: skip
    p.output(as_real(p, made))
    assert types(p) == "f32 [n,3,2]"
    array = floats(4, 3, 2)
    close(p, [array], parts((array[..., 0] + 1j * array[..., 1]) * turn[1]))


def test_a_product_of_complex_matrices() -> None:
    def make(p: Exported, a: Tensor, b: Tensor) -> Any:
        x, y = complex_of(p, a, a), complex_of(p, b, a)
        turned = p.call("aten.transpose.int", self=y, dim0=0, dim1=1)
        made = p.call("aten.mm.default", self=x, mat2=turned)
        return p.call("aten.angle.default", self=made)

    p = program(["[n,3]", "[n,3]"], make)
    assert types(p) == "f32 [n,n]"
    a, b = floats(4, 3), floats(4, 3, seed=1)
    close(p, [a, b], numpy.angle((a + 1j * a) @ (b + 1j * a).T))


def test_what_is_not_done_with_complex_numbers_is_said() -> None:
    def make(p: Exported, a: Tensor, b: Tensor) -> Any:
        return p.call("aten.tanh.default", self=complex_of(p, a, b))

    p = program(["[n]", "[n]"], make)
    [found] = infer(p).diagnostics
    assert "complex numbers" in found.message and found.severity.value == "warning"


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("name", ["hann", "hamming", "blackman", "bartlett"])
def test_windows(name: str, periodic: bool) -> None:
    p = Exported()
    name_ = {"hann": "hanning"}.get(name, name)
    p.output(p.call(f"aten.{name}_window.periodic", window_length=8, periodic=periodic))
    assert types(p) == "f32 [8]"
    expected = getattr(numpy, name_)(9 if periodic else 8)[:8]
    numpy.testing.assert_allclose(run(p)[0], expected, atol=1e-6)
