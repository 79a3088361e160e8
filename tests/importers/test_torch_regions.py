"""torchvision's operators in PyTorch's programs."""

from __future__ import annotations

import numpy

from tests.importers.torch_calls import Given, call, close, floats, run, types

REGIONS = numpy.array([[1, 0, 0, 4, 4], [0, 2, 2, 6, 6]], "f4")


def test_boxes_that_overlap_a_better_one_are_left_out() -> None:
    p = call("torchvision.nms.default", dets=Given("f32 [n,4]"), scores=Given("f32 [n]"),
             iou_threshold=0.5)  # fmt: skip
    assert types(p) == "i64 [a]"
    boxes = numpy.array([[0, 0, 4, 4], [0, 0, 4, 3.9], [5, 5, 9, 9], [0, 0, 4, 1]], "f4")
    scores = numpy.array([0.5, 0.9, 0.6, 0.1], "f4")
    numpy.testing.assert_array_equal(run(p, boxes, scores)[0], [1, 2, 3])


def test_regions_of_one_size() -> None:
    images, rois = Given("f32 [n,c,h,w]"), Given("f32 [r,5]")
    given = {"input": images, "rois": rois, "pooled_height": 2, "pooled_width": 3}
    p = call("torchvision.roi_align.default", **given, spatial_scale=0.5, sampling_ratio=2,
             aligned=True)  # fmt: skip
    assert types(p) == "f32 [r,c,2,3]"
    x = numpy.ones((2, 3, 8, 8), "f4")
    close(p, [x, REGIONS], numpy.ones((2, 3, 2, 3)))
    p = call("torchvision.roi_pool.default", 2, **given, spatial_scale=1.0)
    assert types(p) == "f32 [r,c,2,3], i32 [r,c,2,3]"


def test_a_filter_that_looks_aside_by_nothing_is_a_convolution() -> None:
    p = call(
        "torchvision.deform_conv2d.default", input=Given("f32 [n,4,h,w]"),
        weight=Given("f32 [6,4,3,3]"), offset=Given("f32 [n,18,h,w]"), mask=Given("f32 [n,0,1,1]"),
        bias=Given("f32 [6]"), stride_h=1, stride_w=1, pad_h=1, pad_w=1, dilation_h=1, dilation_w=1,
        groups=1, offset_groups=1, use_mask=False,
    )  # fmt: skip
    assert types(p) == "f32 [n,6,h,w]"
    x, f, b = floats(2, 4, 5, 6), floats(6, 4, 3, 3), floats(6)
    plain = call("aten.conv2d.default", input=Given("f32 [n,4,h,w]"),
                 weight=Given("f32 [6,4,3,3]"), bias=Given("f32 [6]"), padding=[1, 1])  # fmt: skip
    nothing = [numpy.zeros((2, 18, 5, 6), "f4"), numpy.zeros((2, 0, 1, 1), "f4")]
    close(p, [x, f, *nothing, b], *run(plain, x, f, b))
