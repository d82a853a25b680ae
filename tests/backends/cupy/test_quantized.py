"""Products of bytes and of bfloat16 of a GPU against the reference ones, on a made-up GPU."""

import numpy as np
import pytest

from cvzoo.backends.cupy import backend as cupy_backend
from cvzoo.backends.numpy import backend as numpy_backend
from cvzoo.backends.numpy.bfloat16 import from_bits, to_bits
from cvzoo.config.switches import using_config

REFERENCE, GPU = numpy_backend, cupy_backend
PLAIN = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}


@pytest.fixture(autouse=True)
def machine(fake_gpu):
    with fake_gpu() as machine:
        yield machine


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def bytes_of(*shape, signed, seed=0):
    low, high, dtype = (-128, 128, np.int8) if signed else (0, 256, np.uint8)
    return np.random.default_rng([seed, *shape]).integers(low, high, shape).astype(dtype)


def on_gpu(value):
    return GPU.asarray(value) if isinstance(value, np.ndarray) else value


def both(method, *arrays, **settings):
    """What the GPU and the reference give."""
    moved = {name: on_gpu(value) for name, value in settings.items()}
    got = getattr(GPU, method)(*map(on_gpu, arrays), **moved).get()
    return got, getattr(REFERENCE, method)(*arrays, **settings)


CONVS = [
    # batch, channels in and out, groups, size, window
    (2, 3, 8, 1, (9, 11), (3, 3)),
    (2, 16, 32, 1, (5, 5), (1, 1)),
    (1, 64, 33, 1, (7, 5), (3, 2)),
    (1, 70, 5, 1, (4, 5), (3, 3)),  # more products than float32 holds
    (1, 600, 4, 1, (2, 3), (1, 1)),
    (1, 2, 2, 1, (26, 26), (25, 25)),  # a window alone has more
    (1, 240, 4, 2, (4, 4), (3, 3)),
    (3, 8, 8, 8, (9, 8), (3, 3)),
    (2, 12, 18, 3, (8, 9), (3, 3)),
    (0, 4, 4, 1, (6, 6), (3, 3)),
]
GEOMETRIES = [
    ((1, 1), (1, 1, 1, 1), (1, 1)),
    ((2, 3), (2, 0, 1, 2), (1, 1)),
    ((1, 1), (2, 2, 2, 2), (2, 2)),
    ((1, 2), (0, -1, 0, -2), (1, 1)),
]


@pytest.mark.parametrize("mode", ["float32", "tf32"])
@pytest.mark.parametrize("signed", [False, True], ids=["uint8", "int8"])
@pytest.mark.parametrize("case", CONVS, ids=str)
def test_convolutions_of_bytes_have_the_same_bits(case, signed, mode):
    b, c, o, groups, size, ksize = case
    x, w = bytes_of(b, c, *size, signed=signed), bytes_of(o, c // groups, *ksize, signed=True)
    # without rounding in the floats behind them
    scale, bias = np.exp2(np.arange(o) % 3 - 4.0).astype(np.float32), np.arange(o, dtype=np.float32)
    for stride, pad, dilate in GEOMETRIES:
        if min(size[k] + pad[2 * k] + pad[2 * k + 1] - dilate[k] * (ksize[k] - 1) - 1 for k in (0, 1)) < 0:
            continue
        how = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
        for to in ({}, {"out_scale": 64.0, "out_signed": True}, {"out_scale": 64.0}):
            with using_config("dtype", mode):
                got, expected = both("conv_2d_int8", x, w, scale, bias, **how, **to)
            assert got.dtype == expected.dtype
            np.testing.assert_array_equal(got, expected)


def test_the_largest_sums_do_not_overflow():
    x, w = np.full((1, 512, 3, 3), 255, np.uint8), np.full((2, 512, 3, 3), 127, np.int8)
    got, expected = both("conv_2d_int8", x, w, np.ones(2, np.float32), None, **PLAIN)
    np.testing.assert_array_equal(got, expected)
    assert got[0, 0, 1, 1] == np.float32(512 * 9 * 255 * 127)
    got, expected = both("linear_int8", x[:, :, 0, 0], w[:, :, 0, 0], np.ones(2, np.float32), None)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("kind", [None, "relu", "leaky_relu", "clip", "swish"])
def test_a_convolution_of_bytes_adds_and_activates_in_that_order(kind):
    x, w = bytes_of(2, 32, 5, 5, signed=False), bytes_of(8, 32, 3, 3, signed=True)
    scale, b, add = np.abs(draw(8)) / 30000, draw(8), draw(2, 8, 5, 5)
    how = PLAIN | {"activation": kind, "alpha": 0.25, "beta": 1.0}
    got, expected = both("conv_2d_int8", x, w, scale, b, add=add, **how)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    add = bytes_of(2, 8, 5, 5, signed=True)
    got, expected = both("conv_2d_int8", x, w, scale, b, add=add, add_scale=0.03, **how)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("signed", [False, True], ids=["uint8", "int8"])
@pytest.mark.parametrize("n", [0, 1, 64])
@pytest.mark.parametrize("wide", [30, 1300])
def test_linear_layers_of_bytes_have_the_same_bits(n, wide, signed):
    x, w = bytes_of(n, wide, signed=signed), bytes_of(13, wide, signed=True)
    scale, b = np.exp2(np.arange(13) % 3 - 4.0).astype(np.float32), np.arange(13, dtype=np.float32)
    pack = {}
    for bias in (None, b):
        for way in (None, pack, pack):
            got, expected = both("linear_int8", x, w, scale, bias, pack=way)
            np.testing.assert_array_equal(got, expected)


def test_floats_of_weights_are_kept_where_the_owner_says():
    x, w = bytes_of(2, 16, 5, 5, signed=True), bytes_of(8, 16, 3, 3, signed=True)
    pack = {}
    for _ in range(2):
        got, expected = both("conv_2d_int8", x, w, np.ones(8, np.float32), None, pack=pack, **PLAIN)
        np.testing.assert_array_equal(got, expected)
    assert len(pack) == 2


@pytest.mark.parametrize("case", CONVS[:3] + CONVS[7:], ids=str)
def test_convolutions_of_bfloat16_agree(case):
    b, c, o, groups, size, ksize = case
    x, w, bias = draw(b, c, *size), draw(o, c // groups, *ksize), draw(o)
    how = PLAIN | {"groups": groups, "pad": (2, 2, 2, 2)}
    add = draw(*REFERENCE.conv_2d(x, w, bias, **how).shape, seed=5)
    pack = {}
    for each in ({}, {"add": add, "activation": "relu"}, {"add": to_bits(add)}):
        for _ in range(2):
            moved = {name: on_gpu(value) for name, value in each.items()}
            got = GPU.conv_2d_bf16(*map(on_gpu, (x, w, bias)), pack=pack, **how, **moved)
            expected = REFERENCE.conv_2d_bf16(x, w, bias, **how, **each)
            assert got.dtype == np.float32
            np.testing.assert_allclose(got.get(), expected, rtol=0, atol=1e-5 * max(np.abs(expected).max(initial=0), 1))


def test_bits_of_bfloat16_are_read_and_given():
    x, w, b = to_bits(draw(2, 8, 5, 5)), draw(8, 8, 3, 3), draw(8)
    got, expected = both("conv_2d_bf16", x, w, b, out_bits=True, activation="relu", **PLAIN)
    assert got.dtype == np.uint16
    np.testing.assert_allclose(from_bits(got), from_bits(expected), rtol=2**-7, atol=1e-5)
    assert (got != expected).mean() < 0.01  # a last bit of a float may decide
