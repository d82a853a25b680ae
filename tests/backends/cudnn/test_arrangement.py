"""Photos and weights laid out for tensor cores: moved exactly, zeros in the gaps, in any order of threads."""

import ml_dtypes
import numpy as np
import pytest
from host_cuda import thread_order

from cvzoo.backends.cudnn.arrangement import Shapes, arranged, arranged_bias, arranged_weights, cut_back, weights_back

DTYPES = [np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]
ORDERS = ("forward", "reverse", "shuffled")


def draw(shape, dtype):
    return np.random.default_rng(0).standard_normal(shape, np.float32).astype(dtype)


def in_blocks(x, dims, block=(1, 1), begin=(0, 0)):
    """What `arranged` is to give, number by number."""
    y = np.zeros(dims, x.dtype)
    b, c, h, w = x.shape
    for n, p, row, column in np.ndindex(*dims):
        place, channel = divmod(p, c)
        i, j = divmod(place, block[1])
        v, u = row * block[0] + i - begin[0], column * block[1] + j - begin[1]
        if n < b and i < block[0] and 0 <= v < h and 0 <= u < w:
            y[n, p, row, column] = x[n, channel, v, u]
    return y


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    "case",
    [
        ((2, 3, 5, 7), (2, 8, 5, 7), (1, 1), (0, 0)),  # more channels
        ((2, 3, 5, 7), (2, 3, 4, 6), (1, 1), (0, 0)),  # fewer pixels
        ((2, 3, 5, 7), (2, 16, 4, 5), (2, 2), (1, 1)),
        ((1, 3, 8, 8), (1, 48, 2, 2), (4, 4), (0, 0)),
        ((1, 1, 4, 9), (3, 8, 4, 4), (1, 3), (0, 2)),  # more photos, which are zeros
        ((1, 2, 1, 1), (1, 32, 2, 2), (3, 5), (2, 1)),
    ],
    ids=str,
)
def test_blocks_are_what_they_are_said_to_be(gpu, case, dtype):
    machine, _ = gpu
    shape, dims, block, begin = case
    x = draw(shape, dtype)
    want = in_blocks(x, dims, block, begin)
    for given in (machine.cupy.array(x), machine.cupy.array(x[:, :, ::-1, ::-1])[:, :, ::-1, ::-1]):
        for order in ORDERS:
            with thread_order(order):
                y = arranged(given, dims, block, begin)
            np.testing.assert_array_equal(y.get().view(f"u{dtype.itemsize}"), want.view(f"u{dtype.itemsize}"))
            assert y.transpose(0, 2, 3, 1).flags.c_contiguous


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("block", [(1, 1), (2, 2), (4, 3)], ids=str)
def test_weights_come_back(gpu, block, dtype):
    machine, _ = gpu
    w = draw((5, 3, 7, 6), dtype)
    shapes = Shapes(
        (1, 3, 20, 20), 5, (7, 8), (7, 6), dtype, block, (0, 0, 0, 0), (1, 1), 1, strict=False, may_block=True
    )
    assert shapes.block == block
    for order in ORDERS:
        with thread_order(order):
            there = arranged_weights(machine.cupy.array(w), shapes, None)
            back = weights_back(there, w.shape, block)
        assert there.shape == shapes.w
        assert back.flags.c_contiguous
        np.testing.assert_array_equal(back.get(), w)


def test_what_lies_well_is_itself(gpu):
    machine, _ = gpu
    x = machine.cupy.array(draw((2, 5, 7, 8), DTYPES[1])).transpose(0, 3, 1, 2)
    assert arranged(x, x.shape) is x
    bias = machine.cupy.array(draw((8,), DTYPES[1]))
    assert arranged_bias(bias, 8, DTYPES[1]).data.ptr == bias.data.ptr
    assert cut_back(x, x.shape) is x
    w = machine.cupy.array(draw((5, 3, 1, 1), DTYPES[0]))
    assert weights_back(w, w.shape, (1, 1)) is w


def test_a_bias_gets_zeros_and_its_dtype(gpu):
    machine, _ = gpu
    bias = machine.cupy.array(draw((9,), DTYPES[0]))
    y = arranged_bias(bias[1:], 16, DTYPES[2])
    np.testing.assert_array_equal(y.get(), np.pad(bias.get()[1:].astype(DTYPES[2]), (0, 8)))
    y = arranged_bias(bias[1:], 8, DTYPES[0])
    assert y.data.ptr % 16 == 0
    np.testing.assert_array_equal(y.get(), bias.get()[1:])


def test_what_was_cut_off_comes_from_the_rest(gpu):
    machine, _ = gpu
    y, rest = draw((1, 8, 3, 4), DTYPES[0]), draw((1, 5, 4, 4), DTYPES[0])
    got = cut_back(machine.cupy.array(y), (1, 5, 4, 4), machine.cupy.array(rest)).get()
    np.testing.assert_array_equal(got[:, :, :3], y[:, :5])
    np.testing.assert_array_equal(got[:, :, 3:], rest[:, :, 3:])
    got = cut_back(machine.cupy.array(y), (1, 5, 4, 4)).get()
    assert not got[:, :, 3:].any()
