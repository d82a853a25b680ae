"""Convolution, its transpose, and their derivatives."""

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from cvzoo.autodiff.gradient_check import check_backward, check_double_backward
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import no_backprop_mode
from cvzoo.errors.exceptions import DtypeError, GraphError, ShapeError, ValueRangeError
from cvzoo.functions.connection.convolution_2d import convolution_2d, deconvolution_2d

# x, filters, ksize, settings; small, as derivatives are compared with differences for each element
CASES = {
    "plain": ((2, 2, 4, 3), 3, (3, 3), {}),
    "1x1": ((2, 3, 3, 2), 2, (1, 1), {}),
    "padded, stride 2": ((2, 2, 5, 4), 2, (3, 3), {"stride": 2, "pad": 1}),
    "a stride that leaves pixels over": ((1, 2, 6, 7), 2, (2, 3), {"stride": (3, 2)}),
    "dilated": ((1, 2, 5, 4), 2, (3, 2), {"dilate": (2, 3), "pad": (1, 2)}),
    "groups": ((1, 4, 3, 4), 6, (3, 3), {"groups": 2, "pad": 1}),
    "depthwise": ((2, 3, 3, 4), 3, (3, 3), {"groups": 3, "pad": 1, "stride": 2}),
    "depthwise with two filters a channel": ((1, 2, 4, 4), 4, (3, 3), {"groups": 2, "pad": 1}),
    "asymmetrical padding": ((1, 2, 4, 5), 2, (3, 3), {"pad": (0, 2, 1, 0)}),
    "one pixel": ((1, 1, 1, 1), 1, (1, 1), {}),
    "padding larger than the window": ((1, 1, 2, 2), 1, (2, 2), {"pad": 3}),
}


def _arrays(case, seed=0, dtype="float64"):
    (n, c, h, w), o, ksize, settings = CASES[case]
    random = np.random.default_rng(seed)
    x = random.normal(size=(n, c, h, w)).astype(dtype)
    W = random.normal(size=(o, c // settings.get("groups", 1), *ksize)).astype(dtype)
    return x, W, random.normal(size=o).astype(dtype), settings


def _four(pad):
    if isinstance(pad, int):
        return (pad,) * 4
    return (pad[0], pad[0], pad[1], pad[1]) if len(pad) == 2 else pad


def _two(value):
    return (value, value) if isinstance(value, int) else value


def naive_convolution(x, W, b, stride=1, pad=0, dilate=1, groups=1):
    """Loops over everything."""
    top, bottom, left, right = _four(pad)
    (sy, sx), (dy, dx) = _two(stride), _two(dilate)
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)))
    n, _, h, w = x.shape
    o, c_group, kh, kw = W.shape
    oh, ow = (h - dy * (kh - 1) - 1) // sy + 1, (w - dx * (kw - 1) - 1) // sx + 1
    y = np.zeros((n, o, oh, ow), x.dtype)
    for f, i, j in itertools.product(range(o), range(oh), range(ow)):
        first = f // (o // groups) * c_group
        rows = slice(i * sy, i * sy + dy * (kh - 1) + 1, dy)
        columns = slice(j * sx, j * sx + dx * (kw - 1) + 1, dx)
        y[:, f, i, j] = (x[:, first : first + c_group, rows, columns] * W[f]).sum((1, 2, 3)) + b[f]
    return y


@pytest.mark.parametrize("case", CASES)
def test_convolution_is_what_the_loops_say(case, backend):
    for dtype, tolerance in (("float64", 1e-10), ("float32", 2e-5)):
        x, W, b, settings = _arrays(case, dtype=dtype)
        y = convolution_2d(x, W, b, **settings)
        np.testing.assert_allclose(y.array, naive_convolution(x, W, b, **settings), rtol=tolerance, atol=tolerance)
        assert y.dtype == dtype


@pytest.mark.parametrize("case", CASES)
def test_derivatives_of_convolution(case, backend):
    x, W, b, settings = _arrays(case)
    check_backward(lambda x, W, b: convolution_2d(x, W, b, **settings), (x, W, b))
    check_double_backward(lambda x, W, b: convolution_2d(x, W, b, **settings), (x, W, b))


def _deconvolution_arrays(case):
    """What brings the convolution's output back to its input's size."""
    x, W, _, settings = _arrays(case)
    y = convolution_2d(x, W, **settings).array
    return x, y, W, np.arange(x.shape[1], dtype="float64"), settings


@pytest.mark.parametrize("case", CASES)
def test_deconvolution_is_the_transpose_of_convolution(case, backend):
    x, y, W, _, settings = _deconvolution_arrays(case)
    gy = np.random.default_rng(1).normal(size=y.shape)
    back = deconvolution_2d(gy, W, outsize=x.shape[2:], **settings)
    assert back.shape == x.shape
    np.testing.assert_allclose((back.array * x).sum(), (gy * y).sum(), rtol=1e-9)


@pytest.mark.parametrize("case", CASES)
def test_derivatives_of_deconvolution(case, backend):
    x, y, W, b, settings = _deconvolution_arrays(case)

    def run(y, W, b):
        return deconvolution_2d(y, W, b, outsize=x.shape[2:], **settings)

    check_backward(run, (y, W, b))
    check_double_backward(run, (y, W, b))


def test_deconvolution_without_outsize_gives_the_smallest_one():
    x, W = np.ones((1, 2, 3, 3)), np.ones((2, 1, 3, 3))
    assert deconvolution_2d(x, W, stride=2, pad=1).shape == (1, 1, 5, 5)
    assert deconvolution_2d(x, W, stride=2, pad=1, outsize=(6, 5)).shape == (1, 1, 6, 5)
    with pytest.raises(ShapeError, match="would not give x's size"):
        deconvolution_2d(x, W, stride=2, pad=1, outsize=(7, 5))


def test_cover_all_gives_one_place_more_for_left_over_pixels(backend):
    x, W = np.arange(25.0).reshape(1, 1, 5, 5), np.ones((1, 1, 2, 2))
    assert convolution_2d(x, W, stride=2).shape == (1, 1, 2, 2)
    y = convolution_2d(x, W, stride=2, cover_all=True)
    assert y.shape == (1, 1, 3, 3)
    assert y.array[0, 0, 2, 2] == 24


def test_a_batch_of_no_photos(backend):
    W = Variable(np.ones((4, 3, 3, 3), "f"))
    x = Variable(np.zeros((0, 3, 5, 5), "f"))
    y = convolution_2d(x, W)
    assert y.shape == (0, 4, 3, 3)
    y.grad = np.zeros_like(y.array)
    y.backward()
    assert x.grad.shape == x.shape
    np.testing.assert_array_equal(W.grad, 0)


def test_inputs_may_lie_in_memory_in_any_way(backend):
    x, W, b, settings = _arrays("groups", dtype="float32")
    wanted = convolution_2d(x, W, b, **settings).array
    turned = np.ascontiguousarray(x.transpose(3, 1, 0, 2)).transpose(2, 1, 3, 0)
    backwards = np.ascontiguousarray(W[:, :, ::-1, ::-1])[:, :, ::-1, ::-1]
    np.testing.assert_allclose(convolution_2d(turned, backwards, b, **settings).array, wanted, rtol=1e-5, atol=1e-5)


def test_output_lies_channels_last(backend):
    x, W, b, _ = _arrays("plain", dtype="float32")
    assert convolution_2d(x, W, b).array.transpose(0, 2, 3, 1).flags.c_contiguous


def test_inputs_are_left_as_they_are(backend):
    x, W, b, settings = _arrays("padded, stride 2", dtype="float32")
    before = x.copy(), W.copy(), b.copy()
    v = Variable(x), Variable(W), Variable(b)
    y = convolution_2d(*v, **settings)
    y.grad = np.ones_like(y.array)
    y.backward()
    for now, then in zip((x, W, b), before):
        np.testing.assert_array_equal(now, then)


def test_a_parameter_changed_between_two_calls_counts_at_once(backend):
    x = np.ones((1, 3, 8, 8), "f")
    W = Parameter(np.ones((4, 3, 3, 3), "f"))
    with no_backprop_mode():
        first = convolution_2d(x, W).array
        W.array[...] = 2
        second = convolution_2d(x, W).array
        W.array = np.full((4, 3, 3, 3), 3, "f")
        third = convolution_2d(x, W).array
    np.testing.assert_allclose(second, 2 * first)
    np.testing.assert_allclose(third, 3 * first)


def test_settings_may_be_lists_and_arrays():
    x, W = np.ones((1, 1, 5, 5)), np.ones((1, 1, 3, 3))
    assert convolution_2d(x, W, stride=[2, 1], pad=np.array([1, 0])).shape == (1, 1, 3, 3)


BAD = {
    "wrong channels": (((2, 3, 5, 5), (4, 64, 3, 3), None), {}, ShapeError, r"x has 3 channels, W wants 64"),
    "one photo without a batch": (((3, 5, 5), (4, 3, 3, 3), None), {}, ShapeError, r"x\[None\]"),
    "a matrix for W": (((1, 3, 5, 5), (4, 3), None), {}, ShapeError, "4-D"),
    "groups do not divide": (((1, 4, 5, 5), (3, 2, 3, 3), None), {"groups": 2}, ShapeError, "3 filters .* 2 groups"),
    "bias too long": (((1, 3, 5, 5), (4, 3, 3, 3), (5,)), {}, ShapeError, "one number for each filter"),
    "window too large": (((1, 3, 2, 9), (4, 3, 3, 3), None), {}, ShapeError, "does not fit in 2"),
    "no stride": (((1, 3, 5, 5), (4, 3, 3, 3), None), {"stride": 0}, ValueRangeError, "stride"),
    "no dilate": (((1, 3, 5, 5), (4, 3, 3, 3), None), {"dilate": (1, 0)}, ValueRangeError, "dilate"),
    "no groups": (((1, 3, 5, 5), (4, 3, 3, 3), None), {"groups": 0}, ValueRangeError, "groups"),
    "negative pad": (((1, 3, 5, 5), (4, 3, 3, 3), None), {"pad": -1}, ValueRangeError, "pad"),
    "three pads": (((1, 3, 5, 5), (4, 3, 3, 3), None), {"pad": (1, 2, 3)}, DtypeError, "pad must be"),
    "stride in words": (((1, 3, 5, 5), (4, 3, 3, 3), None), {"stride": "same"}, DtypeError, "stride"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_calls_teach(case):
    shapes, settings, error, message = BAD[case]
    arrays = [None if shape is None else np.zeros(shape, "f") for shape in shapes]
    with pytest.raises(error, match=message):
        convolution_2d(*arrays, **settings)


def test_dtypes_are_not_mixed():
    with pytest.raises(DtypeError, match="one dtype"):
        convolution_2d(np.zeros((1, 3, 5, 5), np.uint8), np.zeros((4, 3, 3, 3), "f"))
    with pytest.raises(DtypeError, match="one dtype"):
        convolution_2d(np.zeros((1, 3, 5, 5), "f"), np.zeros((4, 3, 3, 3), "f"), np.zeros(4))
    with pytest.raises(DtypeError):
        convolution_2d([[1.0]], np.zeros((4, 3, 3, 3), "f"))


def test_a_parameter_without_value_is_named():
    with pytest.raises(GraphError, match="no value yet"):
        convolution_2d(np.zeros((1, 3, 5, 5), "f"), Parameter())


def test_deconvolution_refuses_what_does_not_fit():
    with pytest.raises(ShapeError, match="x has 3 channels, W wants 2"):
        deconvolution_2d(np.zeros((1, 3, 5, 5)), np.zeros((2, 1, 3, 3)))
    with pytest.raises(ShapeError, match="cannot be split"):
        deconvolution_2d(np.zeros((1, 3, 5, 5)), np.zeros((3, 1, 3, 3)), groups=2)
    with pytest.raises(ShapeError, match="one number for each filter"):
        deconvolution_2d(np.zeros((1, 3, 5, 5)), np.zeros((3, 1, 3, 3)), np.zeros(3))


@st.composite
def geometries(draw):
    """Any photo, window and settings that fit, small."""
    small = st.integers(1, 3)
    groups, c_group, o_group = draw(small), draw(small), draw(small)
    h, w = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    kh, kw = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    dilate = draw(small), draw(small)
    pad = tuple(draw(st.integers(0, 3)) for _ in range(4))
    assume(h + pad[0] + pad[1] > dilate[0] * (kh - 1) and w + pad[2] + pad[3] > dilate[1] * (kw - 1))
    window = {"stride": (draw(small), draw(small)), "pad": pad, "dilate": dilate, "groups": groups}
    return (draw(small), groups * c_group, h, w), (groups * o_group, c_group, kh, kw), window


@given(geometry=geometries())
@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_geometry(geometry, backend):
    """The value is that of the loops; the three functions are each other's transposes."""
    x_shape, w_shape, window = geometry
    random = np.random.default_rng(0)
    x, W, b = (random.normal(size=shape).astype("f") for shape in (x_shape, w_shape, w_shape[:1]))
    v, weights = Variable(x), Variable(W)
    y = convolution_2d(v, weights, b, **window)
    np.testing.assert_allclose(y.array, naive_convolution(x, W, b, **window), rtol=1e-4, atol=1e-4)
    y.grad = gy = random.normal(size=y.shape).astype("f")
    y.backward()
    inner = float((gy * (y.array - b[:, None, None])).sum())
    np.testing.assert_allclose((v.grad * x).sum(), inner, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose((weights.grad * W).sum(), inner, rtol=1e-3, atol=1e-3)
    back = deconvolution_2d(gy, W, outsize=x_shape[2:], **window)
    np.testing.assert_allclose(back.array, v.grad, rtol=1e-4, atol=1e-4)
