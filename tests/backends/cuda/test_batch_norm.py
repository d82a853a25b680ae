"""Batch normalization's kernels against NumPy in float64."""

import numpy as np
import pytest
from kernel_proofs import FLOATS, TOLERANCES, assert_near, draw, on_device, run_in_every_order, wide, wide_dtype

from cvzoo.backends.cuda.normalization import (
    batch_norm_apply,
    batch_norm_forward,
    batch_norm_gradients,
    batch_norm_statistics,
)
from cvzoo.backends.numpy import normalization as reference

EPS = 1e-3
SHAPES = [
    (2, 16, 5, 7),  # whole groups of eight channels
    (3, 3, 4, 4),
    (1, 19, 3, 3),
    (5, 70, 1, 1),  # two blocks of channels
    (2, 128, 9, 9),
    (1, 8, 60, 60),  # several blocks of rows
    (1, 64, 1, 1),  # a single pixel
    (4, 8),
    (2, 5, 6),
    (0, 4, 3, 3),
    (2, 0, 3, 3),
]


@pytest.fixture
def machine(fake_gpu):
    with fake_gpu() as machine:
        yield machine


def parameters(c, dtype):
    rng = np.random.default_rng(c)
    return (rng.standard_normal(c) + 1).astype(dtype), rng.standard_normal(c).astype(dtype)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("adds", [False, True])
@pytest.mark.parametrize("relu", [False, True])
def test_learning_and_its_gradients_are_numpys(machine, shape, dtype, adds, relu):
    x, gy = draw(shape, dtype, mean=3), draw(shape, dtype, seed=1)
    add = draw(shape, dtype, seed=2) if adds else None
    gamma, beta = parameters(shape[1], wide_dtype(dtype))
    y, mean, var, mask = run_in_every_order(
        machine, lambda *a: batch_norm_forward(*a[:3], eps=EPS, add=a[3], relu=relu), x, gamma, beta, add
    )
    wanted, wanted_mean, wanted_var = reference.batch_norm_train(wide(x), wide(gamma), wide(beta), eps=EPS)
    near = 1e-5
    if adds:
        near += TOLERANCES[dtype.name] * np.abs(wanted).max(initial=0)  # what is added to is rounded first
        wanted += wide(add)
    positive = wanted > 0
    if relu:
        wanted = np.maximum(wanted, 0)
    assert_near(y, wanted, dtype)
    assert_near(mean, wanted_mean, wide_dtype(dtype), scale=4)
    assert_near(var, wanted_var, wide_dtype(dtype))
    assert (mask is None) == (not relu)
    if relu:
        # rounding may have moved what is nearly 0 to the other side
        bits = np.unpackbits(mask, axis=1, bitorder="little")[:, : shape[1]]
        bits = np.moveaxis(bits.reshape(shape[0], *shape[2:], shape[1]), -1, 1).astype(bool)
        assert not ((bits != positive) & (np.abs(wanted) > near)).any()
        positive = bits
    gx, ggamma, gbeta, gadd = run_in_every_order(
        machine,
        lambda *a: batch_norm_gradients(*a[:5], eps=EPS, mask=a[5], adds=adds),
        gy,
        x,
        gamma,
        mean,
        var,
        mask,
    )
    passed = wide(gy) * positive if relu else wide(gy)
    wanted = reference.batch_norm_grad(passed, wide(x), wide(gamma), wanted_mean, wanted_var, eps=EPS)
    if x.size // max(shape[1], 1) > 1:  # one pixel's gradient is 0, and what is left of it is rounding
        assert_near(gx, wanted[0], dtype)
    assert_near(ggamma, wanted[1], wide_dtype(dtype), scale=np.abs(passed).sum() / max(shape[1], 1) + 1)
    assert_near(gbeta, wanted[2], wide_dtype(dtype), scale=np.abs(passed).sum() / max(shape[1], 1) + 1)
    assert (gadd is None) == (not adds)
    if adds:
        np.testing.assert_array_equal(wide(gadd), passed)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_given_statistics_give_the_bits_that_learning_gave(machine, shape, dtype):
    x = draw(shape, dtype)
    gamma, beta = parameters(shape[1], wide_dtype(dtype))
    for relu in (False, True):
        y, mean, var, _ = run_in_every_order(
            machine, lambda *a, relu=relu: batch_norm_forward(*a, eps=EPS, relu=relu), x, gamma, beta
        )
        (again,) = run_in_every_order(
            machine, lambda *a, relu=relu: batch_norm_apply(*a, eps=EPS, relu=relu), x, gamma, beta, mean, var
        )
        assert again.tobytes() == y.tobytes()


@pytest.mark.parametrize("order", ["c_order", "sliced", "flipped", "odd_start"])
def test_arrays_may_lie_in_any_way(machine, order):
    x = draw((2, 16, 5, 6), np.float32)
    gamma, beta = parameters(16, np.float32)
    xp = machine.cupy
    if order == "c_order":
        there = xp.array(np.ascontiguousarray(x))
    elif order == "sliced":
        big = xp.zeros((2, 9, 9, 20), np.float32).transpose(0, 3, 1, 2)
        there = big[:, 2:18, 1:6, 2:8]
        there[...] = xp.array(x)
    elif order == "flipped":
        there = xp.array(np.ascontiguousarray(x[:, ::-1, ::-1]))[:, ::-1, ::-1]
    else:  # no access of 16 bytes is allowed
        flat = xp.empty(x.size + 1, np.float32)[1:]
        there = flat.reshape(2, 5, 6, 16).transpose(0, 3, 1, 2)
        there[...] = xp.array(x)
    y, mean, var, _ = batch_norm_forward(there, xp.array(gamma), xp.array(beta), eps=EPS)
    wanted = reference.batch_norm_train(wide(x), wide(gamma), wide(beta), eps=EPS)
    assert y.transpose(0, 2, 3, 1).flags.c_contiguous
    for got, want in zip((y, mean, var), wanted):
        assert_near(got.get(), want, np.float32)


def test_statistics_survive_a_mean_a_thousand_times_the_deviation(machine):
    x = draw((2, 8, 40, 40), np.float64, mean=1000.0).astype(np.float32)
    x[:, :, 0, 0] = 0  # where a shift would have been taken from
    mean, var = run_in_every_order(machine, batch_norm_statistics, x)
    np.testing.assert_allclose(mean, wide(x).mean(axis=(0, 2, 3)), rtol=3e-7)
    np.testing.assert_allclose(var, wide(x).var(axis=(0, 2, 3)), rtol=3e-6)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_nan_and_infinity_stay_in_their_channels(machine, dtype):
    x = draw((2, 9, 4, 4), dtype)
    x[0, 1, 2, 3], x[1, 4, 0, 0] = np.nan, np.inf
    gamma, beta = parameters(9, wide_dtype(dtype))
    y, _, var, _ = run_in_every_order(machine, lambda *a: batch_norm_forward(*a, eps=EPS, relu=True), x, gamma, beta)
    touched = np.isin(np.arange(9), (1, 4))
    np.testing.assert_array_equal(np.isnan(wide(var)), touched)
    np.testing.assert_array_equal(np.isnan(wide(y)).any(axis=(0, 2, 3)), touched)
    assert np.isfinite(wide(y)[:, ~touched]).all()


def test_a_training_step_is_three_launches_forward_and_three_back(machine):
    xp = machine.cupy
    x = on_device(machine, draw((2, 8, 4, 4), np.float32))
    gamma, beta = xp.ones(8, "float32"), xp.zeros(8, "float32")
    machine.recorder.clear()
    _, mean, var, mask = batch_norm_forward(x, gamma, beta, eps=EPS, relu=True)
    batch_norm_gradients(x, x, gamma, mean, var, eps=EPS, mask=mask)
    launched = [entry.name for entry in machine.recorder if entry.kind == "launch"]
    assert launched == [
        "bn_statistics_f32",
        "bn_merge_f32",
        "bn_apply_f32",
        "bn_gradient_sums_f32",
        "bn_gradient_merge_f32",
        "bn_gradient_apply_f32",
    ]
