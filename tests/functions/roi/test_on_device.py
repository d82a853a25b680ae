"""Regions of maps on a made-up GPU: the CPU's numbers, forward, backward and once more."""

import numpy as np
import pytest
from host_cuda import thread_order
from host_cuda.module import ORDERS

import cvzoo.functions as F
from cvzoo.autodiff.grad import grad
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.roi.roi_average_pooling_2d import roi_average_align_levels
from cvzoo.links.model.faster_rcnn_fpn.region_network import region_levels

SCALE = 0.25

CASES = {
    "average align": (F.roi_average_align_2d, 1, {}),
    "average align, two samples": (F.roi_average_align_2d, 1, {"sampling_ratio": 2, "aligned": True}),
    "average align, other samples": (F.roi_average_align_2d, 1, {"sampling_ratio": (None, 3), "aligned": True}),
    "max align": (F.roi_max_align_2d, 1, {}),
    "max align, two samples": (F.roi_max_align_2d, 1, {"sampling_ratio": 2, "aligned": True}),
    "average pooling": (F.roi_average_pooling_2d, 1, {}),
    "average pooling, inclusive": (F.roi_average_pooling_2d, 1, {"inclusive": True}),
    "max pooling": (F.roi_max_pooling_2d, 1, {}),
    "max pooling, inclusive": (F.roi_max_pooling_2d, 1, {"inclusive": True}),
    "ps average align": (F.ps_roi_average_align_2d, 2, {}),
    "ps max align": (F.ps_roi_max_align_2d, 2, {"sampling_ratio": 2, "aligned": True}),
    "ps average pooling": (F.ps_roi_average_pooling_2d, 2, {}),
    "ps max pooling": (F.ps_roi_max_pooling_2d, 2, {}),
}


@pytest.fixture
def machine(fake_gpu):
    with fake_gpu() as machine:
        yield machine


def draw(group, dtype=np.float64, *, whole=False, n=9):
    """Maps, regions of which some hang over the edge and some are empty, and which map each is on."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 5 * group**2, 11, 13)).astype(dtype)
    corner = rng.random((n, 2)) * 60 - 10
    size = rng.random((n, 2)) * 50 - 3
    rois = np.concatenate([corner, corner + size], axis=1).astype(np.float32)
    if whole:  # ties, and edges between pixels
        x, rois = np.round(x), np.round(rois / 2) * 2
    return x, rois, rng.integers(0, 2, n).astype(np.int32)


def called(function, group, x, rois, indices, options):
    out = ((5, 3, 4), SCALE, group) if group > 1 else ((3, 4), SCALE)
    return function(x, rois, indices, *out, **options)


def there_and_back(function, group, x, rois, indices, options, gy):
    """y and gx."""
    x = Variable(x)
    y = called(function, group, x, rois, indices, options)
    y.grad = gy
    y.backward()
    return y.array, x.grad


@pytest.mark.parametrize("deterministic", [True, False])
@pytest.mark.parametrize("whole", [False, True], ids=["anywhere", "whole numbers"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_those_of_the_cpu(machine, name, whole, deterministic):
    function, group, options = CASES[name]
    x, rois, indices = draw(group, whole=whole)
    gy = np.random.default_rng(1).normal(size=called(function, group, x, rois, indices, options).shape)
    want = there_and_back(function, group, x, rois, indices, options, gy)
    asarray = machine.cupy.asarray
    with using_config("deterministic", deterministic):
        got = there_and_back(function, group, asarray(x), asarray(rois), asarray(indices), options, asarray(gy))
    for one, two in zip(got, want):
        # weights are float32 on both
        np.testing.assert_allclose(one.get(), two, rtol=0, atol=2e-5)


@pytest.mark.parametrize("name", CASES)
def test_a_second_gradient_is_that_of_the_cpu(machine, name):
    function, group, options = CASES[name]
    x, rois, indices = draw(group)

    def second(asarray):
        v = Variable(asarray(x))
        y = called(function, group, v, asarray(rois), asarray(indices), options)
        u = Variable(asarray(np.cos(np.arange(y.size)).reshape(y.shape)))
        (gx,) = grad([F.sum(y * u)], [v], enable_double_backprop=True)
        (gu,) = grad([F.sum(gx * gx)], [u])
        return gu.array

    np.testing.assert_allclose(second(machine.cupy.asarray).get(), second(np.asarray), rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", CASES)
def test_no_order_of_threads_changes_a_bit(machine, name):
    function, group, options = CASES[name]
    x, rois, indices = draw(group, np.float32)
    asarray, seen = machine.cupy.asarray, set()
    gy = np.random.default_rng(1).normal(size=(9, 5, 3, 4)).astype(np.float32)
    for order in ORDERS:
        with thread_order(order):
            y, gx = there_and_back(function, group, asarray(x), asarray(rois), asarray(indices), options, asarray(gy))
        seen.add((y.get().tobytes(), gx.get().tobytes()))
    assert len(seen) == 1


@pytest.mark.parametrize("name", CASES)
def test_regions_of_the_host_do_as_well_and_none_at_all(machine, name):
    function, group, options = CASES[name]
    x, rois, indices = draw(group, np.float32)
    there = machine.cupy.asarray(x)
    y = called(function, group, there, rois, indices, options).array
    z = called(function, group, there, machine.cupy.asarray(rois), machine.cupy.asarray(indices), options).array
    np.testing.assert_array_equal(y.get(), z.get())
    v = Variable(there)
    none = called(function, group, v, rois[:0], indices[:0], options)
    assert none.shape == (0, 5, 3, 4)
    none.grad = none.array
    none.backward()
    assert not v.grad.get().any()


def test_levels_of_a_pyramid_are_one_launch(machine):
    rng = np.random.default_rng(2)
    maps = [rng.normal(size=(2, 3, 40 >> k, 48 >> k)).astype(np.float32) for k in range(3)]
    rois = np.concatenate([corner := rng.random((20, 2)) * 100, corner + rng.random((20, 2)) * 60], 1).astype(
        np.float32
    )
    indices, level = rng.integers(0, 2, 20).astype(np.int32), rng.integers(0, 3, 20)
    scales = [1 / 4, 1 / 8, 1 / 16]

    def both(asarray):
        inputs = [Variable(asarray(each)) for each in maps]
        y = roi_average_align_levels(inputs, asarray(rois), asarray(indices), asarray(level), 5, scales, 2)
        y.grad = asarray(np.cos(np.arange(y.size, dtype=np.float32)).reshape(y.shape))
        y.backward()
        return y.array, *[each.grad for each in inputs]

    machine.recorder.clear()
    got = both(machine.cupy.asarray)
    assert machine.recorder.names().count("roi_forward_f32") == 1
    for one, two in zip(got, both(np.asarray)):
        np.testing.assert_allclose(one.get(), two, rtol=0, atol=2e-5)


def test_levels_of_boxes_are_those_of_the_cpu(machine):
    rng = np.random.default_rng(3)
    sides = np.exp(rng.random((400, 2)) * 7)
    bbox = np.concatenate([corner := rng.random((400, 2)) * 100, corner + sides], axis=1).astype(np.float32)
    bbox[:5, 2:] = bbox[:5, :2]
    for strides in ((4, 8, 16, 32), (32, 32)):
        got = region_levels(machine.cupy.asarray(bbox), strides)
        np.testing.assert_array_equal(got.get(), region_levels(bbox, strides))


def test_what_does_not_fit_is_refused_and_values_of_the_gpu_are_not_read(machine):
    x, rois, indices = draw(1, np.float32)
    there = machine.cupy.asarray(x)
    with pytest.raises(ShapeError, match="one index for each region"):
        F.roi_average_align_2d(there, rois, indices[:2], 3, SCALE)
    with pytest.raises(ValueRangeError, match="name a map"):
        F.roi_average_align_2d(there, rois, indices + 5, 3, SCALE)
    with pytest.raises(ValueRangeError, match="finite"):
        F.roi_max_pooling_2d(there, rois * np.nan, indices, 3, SCALE)
    with pytest.raises(DtypeError, match="must be integers"):
        F.roi_max_pooling_2d(there, rois, indices.astype(np.float32), 3, SCALE)
    with pytest.raises(ShapeError, match="channels"):
        F.ps_roi_max_pooling_2d(there, rois, indices, (5, 3, 3), SCALE, 2)
    on_gpu = machine.cupy.asarray(rois), machine.cupy.asarray(indices)
    before = len(machine.recorder)
    F.roi_average_align_2d(there, *on_gpu, 3, SCALE)
    assert not [entry for entry in machine.recorder[before:] if entry.kind in ("h2d", "d2h", "sync")]
