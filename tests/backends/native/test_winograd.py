"""Convolutions by Winograd's algorithm, against NumPy's in float64."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.dispatch import get_backend
from cvzoo.backends.native.library import why_no_native
from cvzoo.backends.native.plans import ACTIVATIONS, WinogradFiltersPlan, WinogradPlan
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.backends.onednn.memory import channels_last, new_bytes, new_channels_last
from cvzoo.backends.onednn.native_primitive import BoundNativeCall, NativePrimitive
from cvzoo.backends.onednn.primitives import local, strides_of

REASON = why_no_native() or why_no_onednn()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))
NUMBERS = 18  # of a transformed filter


def convolved(
    x, w, pad=(1, 1, 1, 1), b=None, add=None, activation=None, alpha=0.0, beta=0.0, adds_last=False, threads=1
):
    o, c = w.shape[:2]
    size = x.shape[2] + pad[0] + pad[1] - 2, x.shape[3] + pad[2] + pad[3] - 2
    filters = new_bytes(NUMBERS * 4 * c * (-(-o // 32) * 32))
    filters[...] = 255  # NaN, where nothing is written
    transform = NativePrimitive("reorder", "winograd_filters", WinogradFiltersPlan(o, c, *strides_of(w)), (0,) * 2)
    transform(w, filters)
    sizes = (x.shape[0], *x.shape[2:], c, o, *size, pad[0], pad[2])
    plan = WinogradPlan(*sizes, b is not None, (add is not None) + adds_last, ACTIVATIONS[activation], alpha, beta)
    arrays = [v for v in (b, add) if v is not None]
    with mock.patch.object(local, "threads", threads):
        run = NativePrimitive("convolution", "winograd", plan, (0,) * (3 + len(arrays)))
    y = new_channels_last(x.shape[0], o, *size)
    y[...] = np.nan
    run(x, filters, y, *arrays)
    return y


def exact(x, w, pad=(1, 1, 1, 1), b=None, add=None, activation=None, alpha=0.0, beta=0.0, adds_last=False):
    x, w, b, add = (None if v is None else v.astype(np.float64) for v in (x, w, b, add))
    window = {"stride": (1, 1), "pad": pad, "dilate": (1, 1), "groups": 1}
    after = {"activation": activation, "alpha": alpha, "beta": beta, "adds_last": adds_last}
    return get_backend("numpy").conv_2d(x, w, b, add=add, **window, **after)


def drawn(seed, b, c, h, w, o):
    rng = np.random.default_rng(seed)
    x = channels_last(rng.standard_normal((b, c, h, w), np.float32))
    return rng, x, rng.standard_normal((o, c, 3, 3), np.float32) / np.float32(3 * np.sqrt(c))


@settings(max_examples=60)
@given(
    seed=st.integers(0, 1000),
    b=st.integers(1, 3),
    c=st.sampled_from([16, 32, 48, 144, 272]),
    h=st.integers(1, 21),
    w=st.integers(1, 21),
    o=st.integers(1, 140),
    pad=st.tuples(*[st.integers(0, 3)] * 4),
    with_bias=st.booleans(),
    with_addend=st.booleans(),
    adds_last=st.booleans(),
    activation=st.sampled_from([(None, 0, 0), ("relu", 0, 0), ("leaky_relu", 0.1, 0), ("clip", 0, 6)]),
)
def test_a_convolution_of_any_shape_is_float64s(
    seed, b, c, h, w, o, pad, with_bias, with_addend, adds_last, activation
):
    assume(h + pad[0] + pad[1] > 2 and w + pad[2] + pad[3] > 2)
    rng, x, filters = drawn(seed, b, c, h, w, o)
    bias = rng.standard_normal(o, np.float32) if with_bias else None
    shape = b, o, h + pad[0] + pad[1] - 2, w + pad[2] + pad[3] - 2
    addend = channels_last(rng.standard_normal(shape, np.float32)) if with_addend else None
    case = pad, bias, addend, *activation, adds_last and with_addend
    results = [convolved(x, filters, *case, threads=threads) for threads in (1, 2, 3)]
    np.testing.assert_allclose(results[0], exact(x, filters, *case), rtol=0, atol=2e-5)
    assert len({y.tobytes() for y in results}) == 1


@pytest.mark.parametrize("size", [(20, 20), (22, 23), (21, 21), (5, 7), (2, 17)])
@pytest.mark.parametrize("c", [64, 256, 512])
def test_it_is_about_as_exact_as_direct_convolution(c, size):
    _, x, filters = drawn(0, 1, c, *size, 64)
    want = exact(x, filters)
    errors = np.abs(convolved(x, filters) - want) / np.abs(want).max()
    assert errors.max() < 4e-6
    assert np.sqrt(np.mean(errors**2)) < 6e-7


@pytest.mark.parametrize("activation", [("relu", 0, 0), ("leaky_relu", 0.1, 0), ("clip", -0.5, 0.5)])
def test_activations_are_those_of_eltwise(activation):
    kind, alpha, beta = activation
    _, x, filters = drawn(1, 1, 32, 9, 10, 40)
    linear = np.asarray(convolved(x, filters), np.float64)
    want = get_backend("numpy").eltwise(kind, linear, alpha=alpha, beta=beta)
    np.testing.assert_allclose(convolved(x, filters, (1, 1, 1, 1), None, None, *activation), want, atol=1e-6)


@pytest.mark.parametrize("size", [(17, 19), (8, 8), (9, 22), (13, 13), (4, 5)])
def test_an_image_does_not_depend_on_the_others_of_its_batch(size):
    _, x, filters = drawn(2, 5, 144, *size, 48)  # products of all numbers of tiles
    together = convolved(x, filters)
    for k in range(5):
        np.testing.assert_array_equal(together[k : k + 1], convolved(x[k : k + 1], filters))


def test_filters_of_any_memory_order_give_the_same_bits():
    _, x, filters = drawn(3, 1, 32, 12, 12, 33)
    strided = np.zeros((33, 64, 3, 3), np.float32)[:, ::2]
    strided[...] = filters
    want = convolved(x, filters).tobytes()
    assert convolved(x, channels_last(filters)).tobytes() == convolved(x, strided).tobytes() == want


def test_a_result_may_replace_its_addend():
    rng, x, filters = drawn(4, 2, 32, 13, 14, 40)
    addend = channels_last(rng.standard_normal((2, 40, 13, 14), np.float32))
    want = convolved(x, filters, add=addend)
    sizes = (2, 13, 14, 32, 40, 13, 14, 1, 1)
    transformed = new_bytes(NUMBERS * 4 * 32 * 64)
    NativePrimitive("reorder", "winograd_filters", WinogradFiltersPlan(40, 32, *strides_of(filters)), (0,) * 2)(
        filters, transformed
    )
    run = NativePrimitive("convolution", "winograd", WinogradPlan(*sizes, False, True, 0, 0, 0), (0,) * 4)
    run(x, transformed, addend, addend)
    np.testing.assert_array_equal(addend, want)


def test_nan_and_infinity_stay_visible_around_where_they_are():
    _, x, filters = drawn(5, 1, 32, 20, 20, 32)
    x[0, 3, 9, 9] = np.nan
    y = convolved(x, filters, activation="relu")
    assert np.isnan(y[:, :, 8:11, 8:11]).all()
    assert np.isfinite(y[:, :, :4]).all()
    assert np.isfinite(y[:, :, 16:]).all()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_nothing_beyond_the_scratch_memory_is_written(threads):
    _, x, filters = drawn(6, 2, 48, 21, 30, 70)
    transformed, y = new_bytes(NUMBERS * 4 * 48 * 96), new_channels_last(2, 70, 21, 30)
    plan = WinogradFiltersPlan(70, 48, *strides_of(filters))
    transform = NativePrimitive("reorder", "winograd_filters", plan, (0, 0))
    transform(filters, transformed)
    plan = WinogradPlan(2, 21, 30, 48, 70, 21, 30, 1, 1, False, False, 0, 0, 0)
    with mock.patch.object(local, "threads", threads):
        bound = BoundNativeCall(NativePrimitive("convolution", "winograd", plan, (0, 0, 0)))
    memory = np.full(bound.scratch_size + 2 * 4096, 165, np.uint8)
    start = -numpy_address(memory) % 64 + 4032
    for k, array in enumerate((x, transformed, y)):
        bound.bind(k, numpy_address(array))
    bound.bind_scratch(numpy_address(memory) + start)
    assert bound.run() == 0
    assert (memory[:start] == 165).all()
    assert (memory[start + bound.scratch_size :] == 165).all()
    np.testing.assert_array_equal(y, convolved(x, filters))


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_arrays_larger_than_the_last_level_cache_give_the_bits_of_their_parts(threads):
    _, x, filters = drawn(7, 2, 64, 300, 301, 48)
    assert x.nbytes > 46e6
    y = convolved(x, filters, threads=threads)
    for top, left in ((0, 0), (100, 200), (260, 260)):  # tiles begin at multiples of 4
        part = channels_last(x[1:, :, top : top + 40, left : left + 40])
        of_part, inside = convolved(part, filters), slice(4, 36)
        np.testing.assert_allclose(of_part, exact(part, filters), rtol=0, atol=2e-5)
        whole = y[1:, :, top + 4 : top + 36, left + 4 : left + 36]
        np.testing.assert_array_equal(whole, of_part[:, :, inside, inside])
