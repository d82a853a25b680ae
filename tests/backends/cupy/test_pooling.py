"""Maxima and means over windows on a GPU are NumPy's, of every dtype, wherever the padding falls."""

import numpy as np
import pytest
from kernel_proofs import FLOATS, TOLERANCES, assert_near, channels_last, draw, run_in_every_order, wide

from cvzoo.backends.cupy import pooling
from cvzoo.backends.numpy import pooling as reference
from cvzoo.errors.exceptions import DtypeError

CASES = {
    # shape, ksize, stride, pad
    "a network's first": ((2, 16, 9, 7), (3, 3), (2, 2), (1, 1, 1, 1)),
    "halves": ((1, 5, 8, 8), (2, 2), (2, 2), (0, 0, 0, 0)),
    "oblong": ((2, 8, 6, 6), (3, 2), (1, 3), (1, 0, 1, 2)),
    "last pixels left out": ((1, 3, 5, 5), (2, 2), (2, 2), (0, -1, 0, -1)),
    "padded at the end": ((2, 8, 7, 7), (3, 3), (3, 3), (0, 2, 0, 2)),
    "whole photos": ((3, 70, 4, 5), (4, 5), (1, 1), (0, 0, 0, 0)),
    "windows of padding": ((1, 8, 3, 3), (2, 2), (1, 1), (2, 2, 2, 2)),
    "no photos": ((0, 4, 5, 5), (2, 2), (1, 1), (0, 0, 0, 0)),
    "more than 127 pixels": ((1, 2, 15, 15), (13, 13), (1, 1), (6, 6, 6, 6)),
    "more than 32767 pixels": ((1, 1, 182, 184), (182, 182), (1, 1), (0, 0, 0, 0)),
}


@pytest.fixture
def machine(fake_gpu):
    with fake_gpu() as machine:
        yield machine


def window(case):
    shape, ksize, stride, pad = CASES[case]
    return shape, {"ksize": ksize, "stride": stride, "pad": pad}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_maxima_are_numpys_with_equals_nan_and_infinities(machine, case, dtype):
    shape, given = window(case)
    rng = np.random.default_rng(0)
    x = channels_last(rng.integers(-9, 9, shape).astype(dtype))
    chance = rng.random(shape)
    x[chance < 0.03], x[chance > 0.97] = np.nan, -np.inf
    y, kept = run_in_every_order(machine, pooling.max_pool_2d, x, keep=True, **given)
    unkept, nothing = run_in_every_order(machine, pooling.max_pool_2d, x, keep=False, **given)
    (indices,) = run_in_every_order(machine, pooling.max_pool_2d_indices, x, **given)
    wanted, wanted_kept = reference.max_pool_2d(wide(x), keep=True, **given)
    assert y.dtype == unkept.dtype == dtype
    np.testing.assert_array_equal(wide(y), wanted)
    np.testing.assert_array_equal(wide(unkept), wanted)
    np.testing.assert_array_equal(kept, wanted_kept)
    assert nothing is None
    np.testing.assert_array_equal(indices, reference.max_pool_2d_indices(wide(x), **given))
    gy = draw(y.shape, dtype)
    (gx,) = run_in_every_order(machine, lambda *a: pooling.max_pool_2d_grad(*a, shape, **given), gy, kept)
    assert_near(gx, reference.max_pool_2d_grad(wide(gy), wanted_kept, shape, **given), dtype)


@pytest.mark.parametrize(("pixels", "dtype"), [(128, "int8"), (129, "int16"), (32768, "int16"), (32769, "int32")])
def test_what_is_kept_is_as_small_as_the_window_allows(machine, pixels, dtype):
    x = np.zeros((1, 1, 1, pixels), np.float32)
    x[..., -1] = 1
    given = {"ksize": (1, pixels), "stride": (1, 1), "pad": (0, 0, 0, 0)}
    y, kept = run_in_every_order(machine, pooling.max_pool_2d, x, keep=True, **given)
    assert y.item() == 1
    assert kept.item() == pixels - 1
    assert kept.dtype == dtype


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("count_pad", [False, True])
def test_means_are_numpys(machine, case, count_pad, dtype):
    shape, given = window(case)
    x = draw(shape, dtype)
    (y,) = run_in_every_order(machine, pooling.average_pool_2d, x, count_pad=count_pad, **given)
    assert_near(y, reference.average_pool_2d(wide(x), count_pad=count_pad, **given), dtype, scale=1)
    gy = draw(y.shape, dtype)
    (gx,) = run_in_every_order(
        machine, lambda a: pooling.average_pool_2d_grad(a, shape, count_pad=count_pad, **given), gy
    )
    assert_near(gx, reference.average_pool_2d_grad(wide(gy), shape, count_pad=count_pad, **given), dtype)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
@pytest.mark.parametrize("case", ["oblong", "windows of padding"])
def test_integers_are_pooled_as_numpy_does(machine, case, dtype):
    shape, given = window(case)
    high = 2**62 if dtype == "int64" else 100
    x = channels_last(np.random.default_rng(0).integers(0, high, shape).astype(dtype))
    y, _ = run_in_every_order(machine, pooling.max_pool_2d, x, keep=False, **given)
    wanted, _ = reference.max_pool_2d(x, keep=False, **given)
    assert y.dtype == wanted.dtype
    np.testing.assert_array_equal(y, wanted)
    (y,) = run_in_every_order(machine, pooling.average_pool_2d, x, count_pad=False, **given)
    wanted = reference.average_pool_2d(x.astype(np.float64), count_pad=False, **given)
    assert y.dtype == reference.average_pool_2d(x, count_pad=False, **given).dtype
    np.testing.assert_allclose(y, wanted, rtol=TOLERANCES[y.dtype.name])


def test_integers_that_no_kernel_can_compare_are_refused(machine):
    x = machine.cupy.zeros((1, 1, 2, 2), "uint64")
    with pytest.raises(DtypeError, match="uint64"):
        pooling.max_pool_2d(x, ksize=(2, 2), stride=(1, 1), pad=(0, 0, 0, 0), keep=False)


def test_results_lie_channels_last(machine):
    x = machine.cupy.array(np.ascontiguousarray(draw((2, 8, 6, 6), np.float32)))
    y, _ = pooling.max_pool_2d(x, ksize=(2, 2), stride=(2, 2), pad=(0, 0, 0, 0), keep=False)
    assert y.transpose(0, 2, 3, 1).flags.c_contiguous
