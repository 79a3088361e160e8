"""PyTorch's convolutions, pools and images."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from tests.importers.torch_archives import Exported, SymInt, infer
from tests.importers.torch_calls import Given, call, close, floats, run, types

IMAGES = Given("f32 [n,4,h,w]")


def test_a_convolution_of_a_batch_and_of_one_image() -> None:
    options = {"stride": [2, 1], "padding": [1, 0], "dilation": [1, 2], "groups": 2}
    filters = Given("f32 [6,2,3,3]")
    p = call("aten.conv2d.default", input=IMAGES, weight=filters, bias=Given("f32 [6]"), **options)
    assert types(p) == "f32 [n,6,(h+1)/2,w-4]"
    one = call("aten.conv2d.default", input=Given("f32 [4,h,w]"), weight=filters, **options)
    assert types(one) == "f32 [6,(h+1)/2,w-4]"
    x, f = floats(1, 4, 7, 8), floats(6, 2, 3, 3)
    whole = run(p, x, f, numpy.zeros(6, "f4"))[0]
    close(one, [x[0], f], whole[0])
    assert whole[0, 0, 1, 2] == pytest.approx(float((x[0, :2, 1:4, 2:7:2] * f[0]).sum()), rel=1e-4)


def test_of_an_input_of_unknown_rank_the_last_sizes_are_known() -> None:
    p = Exported()
    x, w = p.input("x", "f32", ["n", 4, "h", "w"]), numpy.zeros((6, 4, 3, 3), "f4")
    made = p.call("aten.conv2d.default", input=x, weight=p.weight("w", w), padding=[1, 1])
    p.output(made)
    found = infer(p, forget=True).tensors
    assert found["x"].shape is None and found["x"].partial == "a @ [4, b, c]"
    assert found[made.name].partial == "a @ [6, b, c]"


@pytest.mark.parametrize(("padding", "made"), [("same", "[n,6,h,w]"), ("valid", "[n,6,h-2,w-1]")])
def test_padding_as_a_word(padding: str, made: str) -> None:
    weight = Given("f32 [6,4,3,2]")
    p = call("aten.conv2d.padding", input=IMAGES, weight=weight, padding=padding)
    assert types(p) == f"f32 {made}"
    x, f = floats(1, 4, 5, 6), floats(6, 4, 3, 2)
    around = [(0, 0), (0, 0), (1, 1), (0, 1)] if padding == "same" else [(0, 0)] * 4
    padded, found = numpy.pad(x, around), run(p, x, f)[0]
    assert found[0, 2, 1, 3] == pytest.approx(
        float((padded[0, :, 1:4, 3:5] * f[2]).sum()), rel=1e-4
    )


def test_as_many_groups_as_there_are_images() -> None:
    """Filters for each image of a batch, as a style makes them."""
    p = Exported()
    x, f = p.input("x", "f32", ["n", 4, 5, 6]), p.input("f", "f32", ["n", 3, 4, 3, 3])
    count = p.call("aten.sym_size.int", kind=SymInt, self=x, dim=0)
    wide = p.call("aten.reshape.default", self=x, shape=[1, -1, 5, 6])
    filters = p.call("aten.reshape.default", self=f, shape=[-1, 4, 3, 3])
    made = p.call("aten.conv2d.default", input=wide, weight=filters, groups=count)
    p.output(p.call("aten.view.default", self=made, size=[count, 3, 3, 4]))
    assert types(p) == "f32 [n,3,3,4]"
    images, each = floats(2, 4, 5, 6), floats(2, 3, 4, 3, 3)
    one = call("aten.conv2d.default", input=IMAGES, weight=Given("f32 [3,4,3,3]"))
    found = [run(one, images[i : i + 1], each[i])[0][0] for i in range(2)]
    close(p, [images, each], numpy.stack(found))


def test_transposed_convolutions_of_both_levels_agree() -> None:
    weight = Given("f32 [4,3,3,2]")
    options: dict[str, Any] = {"stride": [2, 2], "padding": [1, 0], "output_padding": [1, 0]}
    exported = call("aten.conv_transpose2d.input", input=IMAGES, weight=weight, **options)
    core = call(
        "aten.convolution.default", input=IMAGES, weight=weight, dilation=[1, 1], transposed=True,
        groups=1, **options,
    )  # fmt: skip
    assert types(exported) == types(core) == "f32 [n,3,2*h,2*w]"
    x, f = floats(2, 4, 5, 6), floats(4, 3, 3, 2)
    close(core, [x, f], *run(exported, x, f))


def test_a_transposed_convolution_to_a_given_size() -> None:
    """`nn.ConvTranspose2d(…)(y, output_size=x.shape[2:])`, which adds what is lacking."""
    p = Exported()
    y, weight = p.input("y", "f32", ["n", 4, "h", 6]), p.input("w", "f32", [4, 3, 3, 3])
    like = p.input("x", "f32", ["n", 3, "k", 12])
    sizes = [p.call("aten.sym_size.int", self=t, dim=2, kind=SymInt) for t in (like, y)]
    twice = p.call("_operator.mul", a=sizes[1], b=2, kind=SymInt)
    least = p.call("_operator.sub", a=twice, b=1, kind=SymInt)
    lacking = p.call("_operator.sub", a=sizes[0], b=least, kind=SymInt)
    made = p.call(
        "aten.conv_transpose2d.input", input=y, weight=weight, stride=[2, 2], padding=[1, 1],
        output_padding=[lacking, 1],
    )  # fmt: skip
    p.output(made)
    assert types(p) == "f32 [n,3,k,12]"
    x, f = floats(2, 4, 5, 6), floats(4, 3, 3, 3)
    for extra in (0, 1):
        options: dict[str, Any] = {"stride": [2, 2], "padding": [1, 1]}
        fixed = call(
            "aten.conv_transpose2d.input", input=IMAGES, weight=Given("f32 [4,3,3,3]"),
            output_padding=[extra, 1], **options,
        )  # fmt: skip
        close(p, [x, f, floats(2, 3, 9 + extra, 12)], *run(fixed, x, f))


def test_a_pool_past_the_end_counts_only_what_is_there() -> None:
    options: dict[str, Any] = {
        "kernel_size": [3, 3], "stride": [2, 2], "padding": [1, 1], "ceil_mode": True,
    }  # fmt: skip
    p = call("aten.avg_pool2d.default", self=Given("f32 [n,4,8,12]"), **options)
    assert types(p) == "f32 [n,4,5,7]"
    x = floats(1, 4, 8, 12)
    found = run(p, x)[0]
    padded = numpy.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    assert found[0, 0, 4, 6] == pytest.approx(float(padded[0, 0, 8:, 12:].mean()), rel=1e-4)


def test_indices_of_a_pool_are_within_a_channel() -> None:
    p = call("aten.max_pool2d_with_indices.default", 2, self=IMAGES, kernel_size=[2, 2])
    assert types(p) == "f32 [n,4,h/2,w/2], i64 [n,4,h/2,w/2]"
    x = floats(2, 4, 4, 6)
    best, places = run(p, x)
    flat = x.reshape(2, 4, 24)
    found = numpy.take_along_axis(flat, places.reshape(2, 4, 6), axis=2).reshape(best.shape)
    numpy.testing.assert_array_equal(found, best)


def test_a_divisor_of_ones_own() -> None:
    given: dict[str, Any] = {"self": IMAGES, "kernel_size": [2, 2], "divisor_override": 3}
    p = call("aten.avg_pool2d.default", **given)
    x = floats(1, 4, 4, 4)
    expected = x.reshape(1, 4, 2, 2, 2, 2).sum(axis=(3, 5)) / 3
    close(p, [x], expected)


def test_adaptive_pools() -> None:
    p = call("aten.adaptive_avg_pool2d.default", self=IMAGES, output_size=[2, 3])
    assert types(p) == "f32 [n,4,2,3]"
    x = floats(1, 4, 6, 6)
    close(p, [x], x.reshape(1, 4, 2, 3, 3, 2).mean(axis=(3, 5)))
    one = call("aten.adaptive_avg_pool2d.default", self=IMAGES, output_size=[1, 1])
    close(one, [x], x.mean(axis=(2, 3), keepdims=True))
    p = call("aten.adaptive_max_pool2d.default", 2, self=IMAGES, output_size=[2, 3])
    assert types(p) == "f32 [n,4,2,3], i64 [n,4,2,3]"


def test_columns_and_back() -> None:
    how = {"kernel_size": [2, 3], "dilation": [1, 1], "padding": [0, 0], "stride": [2, 3]}
    p = call("aten.im2col.default", self=Given("f32 [n,c,4,6]"), **how)
    assert types(p) == "f32 [n,6*c,4]"
    x = floats(2, 3, 4, 6)
    columns = run(p, x)[0]
    p = call("aten.col2im.default", self=Given("f32 [n,18,4]"), output_size=[4, 6], **how)
    assert types(p) == "f32 [n,3,4,6]"
    close(p, [columns], x)  # the windows do not overlap


@pytest.mark.parametrize("shape", ["[n,c,h,w]", "[c,h,w]"])
def test_pixels_are_shuffled_and_put_back(shape: str) -> None:
    p = call("aten.pixel_unshuffle.default", self=Given(f"f32 {shape}"), downscale_factor=2)
    report = infer(p)
    assert not report.unsupported
    x = floats(*(4 if name in "nc" else 6 for name in shape[1:-1].split(",")))
    back = call("aten.pixel_shuffle.default", self=Given(f"f32 {shape}"), upscale_factor=2)
    close(back, run(p, x), x)


def test_channels_are_dealt_out() -> None:
    p = call("aten.channel_shuffle.default", self=Given("f32 [n,6,h,w]"), groups=2)
    assert types(p) == "f32 [n,6,h,w]"
    x = floats(2, 6, 3, 4)
    close(p, [x], x[:, [0, 3, 1, 4, 2, 5]])


def test_sizes_between_the_sizes() -> None:
    images = Given("f32 [n,c,h,w]")
    p = call("aten.upsample_nearest2d.vec", input=images, scale_factors=[2.0, 2.0])
    assert types(p) == "f32 [n,c,2*h,2*w]"
    x = floats(1, 2, 3, 4)
    close(p, [x], x.repeat(2, axis=2).repeat(2, axis=3))
    p = call("aten.upsample_bilinear2d.vec", input=images, output_size=[7, 5], align_corners=True)
    assert types(p) == "f32 [n,c,7,5]"
    found = run(p, x)[0]
    numpy.testing.assert_allclose(found[..., 0, 0], x[..., 0, 0], rtol=1e-5)
    numpy.testing.assert_allclose(found[..., -1, -1], x[..., -1, -1], rtol=1e-5)
    half = call(
        "aten.upsample_bicubic2d.vec", input=images, scale_factors=[0.5, 0.5], align_corners=False
    )
    assert types(half) == "f32 [n,c,h/2,w/2]"


def test_a_grid_of_places() -> None:
    theta = numpy.broadcast_to(numpy.eye(2, 3, dtype="f4"), (2, 2, 3)).copy()
    p = call("aten.affine_grid_generator.default", theta=Given("f32 [2,2,3]"), size=[2, 3, 4, 5],
             align_corners=False)  # fmt: skip
    assert types(p) == "f32 [2,4,5,2]"
    grid, x = run(p, theta)[0], floats(2, 3, 4, 5)
    p = call(
        "aten.grid_sampler.default", input=Given("f32 [n,c,h,w]"), grid=Given("f32 [n,a,b,2]"),
        interpolation_mode=0, padding_mode=0, align_corners=False,
    )  # fmt: skip
    assert types(p) == "f32 [n,c,a,b]"
    close(p, [x, grid], x)


def test_a_convolution_along_time_that_comes_first() -> None:
    p = call(
        "aten.conv_tbc.default", self=Given("f32 [n,b,3]"), weight=Given("f32 [2,3,4]"),
        bias=Given("f32 [4]"), pad=1,
    )  # fmt: skip
    assert types(p) == "f32 [n+1,b,4]"
    x, filters, bias = floats(5, 2, 3), floats(2, 3, 4), floats(4)
    padded = numpy.pad(x, [(1, 1), (0, 0), (0, 0)])
    close(p, [x, filters, bias], sum(padded[i : i + 6] @ filters[i] for i in (0, 1)) + bias)
