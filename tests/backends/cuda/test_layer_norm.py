"""Layer normalization's kernels against NumPy in float64."""

import numpy as np
import pytest
from kernel_proofs import FLOATS, assert_near, draw, run_in_every_order, wide, wide_dtype

from cvzoo.backends.cuda.normalization import layer_norm, layer_norm_grad
from cvzoo.backends.numpy import normalization as reference

EPS = 1e-5
SHAPES = [(5, 16), (3, 7), (9, 768), (2, 5000), (2, 4096), (300, 33), (1, 1), (0, 4), (4, 0)]


@pytest.fixture
def machine(fake_gpu):
    with fake_gpu() as machine:
        yield machine


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_rows_and_their_gradients_are_numpys(machine, shape, dtype):
    x, gy = draw(shape, dtype, mean=2), draw(shape, dtype, seed=1)
    gamma, beta = draw(shape[1:], wide_dtype(dtype), mean=1), draw(shape[1:], wide_dtype(dtype), seed=1)
    y, mean, var = run_in_every_order(machine, lambda *a: layer_norm(*a, eps=EPS), x, gamma, beta)
    wanted = reference.layer_norm(wide(x), wide(gamma), wide(beta), eps=EPS)
    assert_near(y, wanted[0], dtype)
    assert_near(mean, wanted[1], wide_dtype(dtype), scale=4)
    assert_near(var, wanted[2], wide_dtype(dtype), scale=4)
    got = run_in_every_order(machine, lambda *a: layer_norm_grad(*a, eps=EPS), gy, x, gamma, mean, var)
    wanted = reference.layer_norm_grad(wide(gy), wide(x), wide(gamma), *wanted[1:], eps=EPS)
    if shape[1] > 1:  # a row of one number has the gradient 0, and what is left of it is rounding
        assert_near(got[0], wanted[0], dtype)
        assert_near(got[1], wanted[1], wide_dtype(dtype), scale=shape[0] + 4)
    assert_near(got[2], wanted[2], wide_dtype(dtype), scale=shape[0] + 4)


def test_statistics_survive_a_mean_a_thousand_times_the_deviation(machine):
    x = draw((3, 1000), np.float64, mean=1000.0).astype(np.float32)
    ones = np.ones(1000, np.float32)
    _, mean, var = run_in_every_order(machine, lambda *a: layer_norm(*a, eps=EPS), x, ones, ones)
    np.testing.assert_allclose(mean, wide(x).mean(axis=1), rtol=3e-7)
    np.testing.assert_allclose(var, wide(x).var(axis=1), rtol=3e-6)


@pytest.mark.parametrize("length", [40, 5000])
def test_nan_stays_in_its_row(machine, length):
    x = draw((3, length), np.float32)
    x[1, 7] = np.nan
    ones = np.ones(length, np.float32)
    y, _, _ = run_in_every_order(machine, lambda *a: layer_norm(*a, eps=EPS), x, ones, ones)
    np.testing.assert_array_equal(np.isnan(y).all(axis=1), [False, True, False])
    np.testing.assert_array_equal(np.isnan(y).any(axis=1), [False, True, False])
