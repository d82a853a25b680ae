"""Copies that oneDNN makes, and whether one is needed."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from cvzoo.backends.dispatch import get_backend
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.backends.onednn.memory import _is_view, reshaped
from cvzoo.backends.onednn.primitives import local

pytestmark = pytest.mark.skipif(why_no_onednn() is not None, reason=f"no oneDNN: {why_no_onednn()}")


@st.composite
def arrays_and_shapes(draw):
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    gaps = draw(st.lists(st.integers(0, 1), min_size=len(sizes), max_size=len(sizes)))
    order = draw(st.permutations(range(len(sizes))))
    whole = np.arange(np.prod([n + gap for n, gap in zip(sizes, gaps)]), dtype=np.float32)
    x = whole.reshape([n + gap for n, gap in zip(sizes, gaps)])[tuple([slice(n) for n in sizes])].transpose(order)
    rest, shape = x.size, []
    while rest > 1:
        divisor = draw(st.sampled_from([n for n in range(2, rest + 1) if rest % n == 0]))
        shape += [divisor] + [1] * draw(st.integers(0, 1))
        rest //= divisor
    return x, shape


@given(arrays_and_shapes())
def test_whether_a_view_is_possible_is_known_without_trying(case):
    x, shape = case
    assert _is_view(x.shape, x.strides, shape) == np.shares_memory(x, x.reshape(shape))


CASES = [
    ((1, 8, 7, 8, 7, 96), (0, 1, 3, 2, 4, 5), (1, 64, 49, 96)),
    ((2, 14, 14, 2, 58), (0, 1, 2, 4, 3), (2, 14, 14, 116)),
    ((1, 12, 197, 64), (0, 2, 1, 3), (1, 197, -1)),
    ((64, 600), (1, 0), (-1,)),
]


@pytest.mark.parametrize(("size", "order", "shape"), CASES)
def test_a_copy_holds_the_values_in_row_major_order(size, order, shape):
    x = np.arange(np.prod(size), dtype=np.float32).reshape(size).transpose(order)
    calls = []
    local.recorder = lambda primitive, arrays: calls.append(primitive)
    try:
        y = reshaped(x, shape)
    finally:
        local.recorder = None
    assert len(calls) == 1
    assert y.flags.c_contiguous
    np.testing.assert_array_equal(y, x.reshape(shape))


@pytest.mark.parametrize(
    "x",
    [
        np.zeros((0, 3), np.float32).T,
        np.ones((200, 300)).T,
        np.broadcast_to(np.float32(3), (200, 300)),
        np.arange(60000, dtype=np.float32).reshape(200, 300)[::-1].T,
    ],
    ids=["empty", "float64", "repeated", "turned around"],
)
def test_what_oneDNN_does_not_read_is_left_to_numpy(x):
    np.testing.assert_array_equal(
        reshaped(x, (-1, 1)) if x.size else reshaped(x, (0,)), x.reshape((-1, 1) if x.size else (0,))
    )


def test_shapes_that_do_not_fit_are_numpys_to_refuse():
    x = np.zeros((200, 300), np.float32).T
    for shape in ((7, 7), (-1, 7), (-1, -1)):
        with pytest.raises(ValueError, match="reshape"):
            reshaped(x, shape)


# --- float32 by any other name ----------------------------------------------------------------------------------------
F32 = np.dtype(np.float32)
ANOTHER_F32 = pickle.loads(pickle.dumps(F32.newbyteorder("=")))
SAME_SIZE = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}
HALVES = {"ksize": (2, 2), "stride": (2, 2), "pad": (0, 0, 0, 0)}
RESIZED = {"mode": "bilinear", "align_corners": False, "antialias": False}
RESPONSE = {"n": 5, "k": 1.0, "alpha": 1e-4, "beta": 0.75}
KERNELS = {
    "conv_2d": lambda b, x, w, v: b.conv_2d(x, w, v, **SAME_SIZE),
    "conv_2d_input_grad": lambda b, x, w, v: b.conv_2d_input_grad(x, w, x.shape[2:], **SAME_SIZE),
    "conv_2d_weight_grad": lambda b, x, w, v: b.conv_2d_weight_grad(x, x, (3, 3), **SAME_SIZE),
    "matmul": lambda b, x, w, v: b.matmul(x[0], x[0]),
    "linear": lambda b, x, w, v: b.linear(x[0, 0], x[0, 1], None),
    "max_pool_2d": lambda b, x, w, v: b.max_pool_2d(x, keep=False, **HALVES)[0],
    "average_pool_2d": lambda b, x, w, v: b.average_pool_2d(x, count_pad=True, **HALVES),
    "average_pool_2d_grad": lambda b, x, w, v: b.average_pool_2d_grad(x, (1, 8, 96, 96), count_pad=True, **HALVES),
    "batch_norm_train": lambda b, x, w, v: b.batch_norm_train(x, v, v, eps=1e-5)[0],
    "batch_norm_relu_fixed": lambda b, x, w, v: b.batch_norm_relu_fixed(x, v, v, v, v * v, eps=1e-5),
    "layer_norm": lambda b, x, w, v: b.layer_norm(x.reshape(-1, 8), v, v, eps=1e-5)[0],
    "local_response_norm": lambda b, x, w, v: b.local_response_norm(x, **RESPONSE),
    "eltwise": lambda b, x, w, v: b.eltwise("exp", x),
    "eltwise_grad": lambda b, x, w, v: b.eltwise_grad("exp", x, x),
    "chain": lambda b, x, w, v: b.chain(x, [("add",), ("relu", 0.0, 0.0)], [x]),
    "add": lambda b, x, w, v: b.add(x, x),
    "add_relu": lambda b, x, w, v: b.add_relu(np.tile(x, (5, 1, 1, 1)), np.tile(x, (5, 1, 1, 1))),
    "softmax": lambda b, x, w, v: b.softmax(x, axis=3),  # NumPy is faster along the others
    "concat": lambda b, x, w, v: b.concat([x, x], axis=1),
    "resize_2d": lambda b, x, w, v: b.resize_2d(x, (96, 96), **RESIZED),
    "resize_2d_grad": lambda b, x, w, v: b.resize_2d_grad(x, (24, 24), **RESIZED),
    "channels_last": lambda b, x, w, v: b.channels_last(x),
    "reshaped": lambda b, x, w, v: b.reshaped(x.transpose(3, 0, 1, 2), (-1,)),
    "quantize": lambda b, x, w, v: b.quantize(x, scale=0.1, signed=True),
}


def primitives_of(call):
    """How many primitives a call runs, and its result."""
    seen = []
    local.recorder = lambda *asked: seen.append(asked)
    try:
        return call(), len(seen)
    finally:
        local.recorder = None


@pytest.mark.parametrize("name", KERNELS)
def test_a_dtype_that_was_pickled_is_float32_as_well(name):
    generator = np.random.default_rng(0)
    arrays = [generator.random(shape, np.float32) for shape in ((1, 8, 48, 48), (8, 8, 3, 3), (8,))]
    others = [each.view(ANOTHER_F32) for each in arrays]
    assert others[0].dtype is not F32
    backend = get_backend("onednn")
    wanted, n_primitive = primitives_of(lambda: KERNELS[name](backend, *arrays))
    found, n_of_others = primitives_of(lambda: KERNELS[name](backend, *others))
    assert n_of_others == n_primitive > 0
    np.testing.assert_array_equal(found, wanted)


# --- arrays that lie as the library cannot be told --------------------------------------------------------------------
def field(x):
    """x as a field of records, whose strides are no multiples of its numbers' size."""
    records = np.zeros(x.shape, [("value", x.dtype), ("rest", "V2")])
    records["value"] = x
    return records["value"]


def overlapping(x):
    """The first numbers of x, each axis a step of one number."""
    return as_strided(np.ascontiguousarray(x), x.shape, (x.itemsize,) * x.ndim)


def every_second(x):
    """x as every second number of rows of an odd length."""
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1] - 1), x.dtype)
    wide[..., ::2] = x
    return wide[..., ::2]


@pytest.mark.parametrize("laid", [field, overlapping, every_second])
@pytest.mark.parametrize("name", KERNELS)
def test_numbers_are_right_however_arrays_lie(name, laid):
    generator = np.random.default_rng(1)
    arrays = [laid(generator.random(shape, np.float32)) for shape in ((1, 8, 48, 48), (8, 8, 3, 3), (8,))]
    wanted = KERNELS[name](get_backend("numpy"), *[np.ascontiguousarray(each) for each in arrays])
    found = KERNELS[name](get_backend("onednn"), *arrays)
    assert np.abs(found - wanted).max() <= 1e-4 * np.abs(wanted).max()


def test_statistics_of_layers_may_lie_apart():
    x, v = np.random.default_rng(0).random((6, 8), np.float32), np.ones(8, np.float32)
    _, mean, var = get_backend("onednn").layer_norm(x, v, v, eps=1e-5)
    apart = [np.repeat(each, 2)[::2] for each in (mean, var)]
    wanted = get_backend("onednn").layer_norm_grad(x, x, v, mean, var, eps=1e-5)
    for found, each in zip(get_backend("onednn").layer_norm_grad(x, x, v, *apart, eps=1e-5), wanted):
        np.testing.assert_array_equal(found, each)
