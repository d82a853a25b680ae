"""Statistics and gradients of batch normalization by our own kernels, against float64."""

import numpy as np
import pytest

from cvzoo.backends.native.library import why_no_native
from cvzoo.backends.native.plans import BITS, BYTES, NO_MASK, BatchNormPlan
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.backends.onednn.memory import new_dense
from cvzoo.backends.onednn.native_primitive import NativePrimitive

REASON = why_no_native() or why_no_onednn()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))

ROWS = [(1, 1), (3, 5), (49, 64), (130, 31), (1000, 3), (5003, 8), (2000, 77), (300, 600), (150, 2080), (40_000, 24)]
EPS = 1e-3


def kernel(name, plan, n_array):
    return NativePrimitive("batch normalization", name, plan, (0,) * n_array)


def statistics(x):
    mean, var = np.empty((2, x.shape[1]), np.float32)
    kernel("batch_statistics", BatchNormPlan(*x.shape), 3)(x, mean, var)
    return mean, var


@pytest.mark.parametrize(("rows", "c"), ROWS)
def test_statistics_are_float64s(rows, c):
    x = np.random.default_rng(0).random((rows, c), np.float32) + np.float32(0.5)
    mean, var = statistics(x)
    np.testing.assert_allclose(mean, x.mean(0, dtype=np.float64), rtol=1e-7)
    np.testing.assert_allclose(var, x.var(0, dtype=np.float64), rtol=3e-7, atol=1e-14)


@pytest.mark.parametrize("far", [1e3, 1e6])
def test_the_variance_keeps_its_digits_where_the_mean_is_large(far):
    x = (np.random.default_rng(0).normal(size=(4000, 20)) + far).astype(np.float32)
    np.testing.assert_allclose(statistics(x)[1], x.var(0, dtype=np.float64), rtol=1e-7)


@pytest.mark.parametrize("size", [1, 1e-3, 0])
def test_the_variance_keeps_its_digits_where_the_first_row_is_far_from_the_others(size):
    x = (np.random.default_rng(0).normal(size=(4000, 20)) * size + 0.1).astype(np.float32)
    x[0] = np.linspace(10, 1000, 20)
    np.testing.assert_allclose(statistics(x)[1], x.var(0, dtype=np.float64), rtol=4e-7)


def test_equal_numbers_have_no_variance():
    mean, var = statistics(np.full((3000, 10), 0.1, np.float32))
    assert (mean == np.float32(0.1)).all()
    assert (var == 0).all()


def test_statistics_of_what_is_not_a_number_are_none():
    x = np.ones((300, 40), np.float32)
    x[50:70, 3] = np.nan
    assert np.isnan(np.array(statistics(x))[:, 3]).all()
    assert np.isfinite(np.delete(np.array(statistics(x)), 3, 1)).all()


def wanted(x, gy, gamma, mean, var):
    inverse = 1 / np.sqrt(var.astype(np.float64) + np.float64(np.float32(EPS)))
    x_hat = (x.astype(np.float64) - mean) * inverse
    gbeta, ggamma = gy.sum(0, dtype=np.float64), (gy * x_hat).sum(0)
    return gamma * inverse * (gy - gbeta / len(x) - x_hat * ggamma / len(x)), ggamma, gbeta


@pytest.mark.parametrize("mask_kind", [NO_MASK, BYTES, BITS])
@pytest.mark.parametrize(("rows", "c"), ROWS)
def test_gradients_are_float64s(rows, c, mask_kind):
    if mask_kind == BITS and c % 8:
        pytest.skip("oneDNN has bits for multiples of 8 channels only")
    rng = np.random.default_rng(1)
    x, gy = rng.random((2, rows, c), np.float32)
    gamma, mean, var = rng.random((3, c), np.float32)
    passes = rng.random((rows, c)) < 0.5 if mask_kind != NO_MASK else np.ones((rows, c), bool)
    mask = passes.astype(np.uint8) if mask_kind == BYTES else np.packbits(passes, bitorder="little")
    expected = wanted(x, gy * passes, gamma, mean, var)
    terms = np.abs(gy * (x - mean)).sum(0) / np.sqrt(var + EPS)
    results = set()
    for threads in (1, 2, 3):
        gx, (ggamma, gbeta) = gy.copy(), np.empty((2, c), np.float32)
        run = kernel("batch_norm_grad", BatchNormPlan(rows, c, mask_kind, EPS), 8 + (mask_kind != NO_MASK))
        run._threads = threads
        run(x, gx, gx, gamma, mean, var, ggamma, gbeta, *([mask] if mask_kind else []))  # in the place of gy
        results.add((gx.tobytes(), ggamma.tobytes(), gbeta.tobytes()))
    np.testing.assert_allclose(gbeta, expected[2], rtol=4e-7, atol=1e-30)
    assert (np.abs(ggamma - expected[1]) <= 4e-7 * terms).all()
    np.testing.assert_allclose(gx, expected[0], rtol=1e-5, atol=1e-5)
    assert len(results) == 1


@pytest.mark.parametrize(("rows", "c"), [(70_000, 32), (4101, 512)])
@pytest.mark.parametrize("mask_kind", [NO_MASK, BYTES, BITS])
def test_large_gradients_are_written_past_the_cache_and_right(rows, c, mask_kind):
    rng = np.random.default_rng(2)
    x, gy = rng.random((2, rows, c), np.float32)
    gamma, mean, var = rng.random((3, c), np.float32)
    mask = rng.integers(0, 256, x.size // 8, np.uint8) if mask_kind == BITS else rng.integers(0, 2, x.size, np.uint8)
    gx, (ggamma, gbeta) = new_dense(x.shape), np.empty((2, c), np.float32)
    run = kernel("batch_norm_grad", BatchNormPlan(*x.shape, mask_kind, EPS), 8 + (mask_kind != NO_MASK))
    run(x, gy, gx, gamma, mean, var, ggamma, gbeta, *([mask] if mask_kind else []))
    if mask_kind:
        gy = gy * (np.unpackbits(mask, bitorder="little") if mask_kind == BITS else mask).reshape(gy.shape)
    expected = wanted(x, gy, gamma, mean, var)
    terms = np.abs(gy * (x - mean)).sum(0) / np.sqrt(var + EPS)
    np.testing.assert_allclose(gx, expected[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(gbeta, expected[2], rtol=4e-7)
    assert (np.abs(ggamma - expected[1]) <= 4e-7 * terms).all()


@pytest.mark.parametrize("c", [8, 40, 72, 256, 512])
def test_sums_of_gradients_keep_their_digits_where_numbers_are_large_and_vary_little(c):
    rng = np.random.default_rng(3)
    x, gy = ((rng.normal(size=(6000, c)) + far).astype(np.float32) for far in (1e4, 10))
    mean, var = x.mean(0, dtype=np.float64).astype(np.float32), x.var(0, dtype=np.float64).astype(np.float32)
    gamma, gx, (ggamma, gbeta) = np.ones(c, np.float32), np.empty_like(x), np.empty((2, c), np.float32)
    kernel("batch_norm_grad", BatchNormPlan(*x.shape, NO_MASK, EPS), 8)(x, gy, gx, gamma, mean, var, ggamma, gbeta)
    _, expected, sums = wanted(x, gy, gamma, mean, var)
    terms = np.abs(gy * (x - mean)).sum(0) / np.sqrt(var + EPS)
    np.testing.assert_allclose(gbeta, sums, rtol=4e-7)
    assert (np.abs(ggamma - expected) <= 4e-7 * terms).all()
