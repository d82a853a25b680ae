"""What a GPU's backend says of normalization is what NumPy's says."""

import numpy as np
import pytest
from kernel_proofs import FLOATS, assert_near, draw, on_device, run_in_every_order, wide, wide_dtype

from cvzoo.backends.cupy import backend
from cvzoo.backends.numpy import batch_norm_relu as reference_relu
from cvzoo.backends.numpy import normalization as reference


@pytest.fixture
def machine(fake_gpu):
    with fake_gpu() as machine:
        yield machine


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", [(2, 12, 3, 4), (6, 8)])
def test_batch_norm_and_the_rectifier_are_numpys(machine, shape, dtype):
    x, gy, param = draw(shape, dtype), draw(shape, dtype, seed=1), wide_dtype(dtype)
    gamma, beta = draw(shape[1:2], param, mean=1), draw(shape[1:2], param, seed=1)
    given = (wide(x), wide(gamma), wide(beta))
    for name, theirs in (("batch_norm", reference), ("batch_norm_relu", reference_relu)):
        train, fixed, grad = [vars(backend)[f"{name}_{kind}"] for kind in ("train", "fixed", "grad")]
        got = run_in_every_order(machine, lambda *a, train=train: train(*a, eps=0.1), x, gamma, beta)
        wanted = vars(theirs)[f"{name}_train"](*given, eps=0.1)
        for one, two, kind in zip(got[:3], wanted[:3], (dtype, param, param)):
            assert_near(one, two, kind)
        (y,) = run_in_every_order(machine, lambda *a, fixed=fixed: fixed(*a, eps=0.1), x, gamma, beta, *got[1:3])
        assert_near(y, wanted[0], dtype)
        got = run_in_every_order(machine, lambda *a, grad=grad: grad(*a, eps=0.1), gy, x, gamma, *got[1:])
        wanted = vars(theirs)[f"{name}_grad"](wide(gy), *given[:2], *wanted[1:], eps=0.1)
        for one, two, kind in zip(got, wanted, (dtype, param, param)):
            assert_near(one, two, kind, scale=max(np.abs(two).max(), 8))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", [(2, 12, 3, 4), (6, 8)])
def test_batch_norm_a_sum_and_the_rectifier_are_numpys(machine, shape, dtype):
    x, gy, add = [draw(shape, dtype, seed=k) for k in range(3)]
    param = wide_dtype(dtype)
    gamma, beta = draw(shape[1:2], param, mean=1), draw(shape[1:2], param, seed=1)
    train, fixed, grad = [vars(backend)[f"batch_norm_relu_{kind}"] for kind in ("train", "fixed", "grad")]
    got = run_in_every_order(machine, lambda *a: train(*a[:3], eps=0.1, add=a[3]), x, gamma, beta, add)
    given = (wide(x), wide(gamma), wide(beta))
    wanted = reference_relu.batch_norm_relu_train(*given, eps=0.1, add=wide(add))
    for one, two, kind in zip(got[:3], wanted[:3], (dtype, param, param)):
        assert_near(one, two, kind)
    (y,) = run_in_every_order(machine, lambda *a: fixed(*a[:5], eps=0.1, add=a[5]), x, gamma, beta, *got[1:3], add)
    np.testing.assert_array_equal(y, got[0])
    grads = run_in_every_order(machine, lambda *a: grad(*a, eps=0.1, adds=True), gy, x, gamma, *got[1:])
    wanted = reference_relu.batch_norm_relu_grad(wide(gy), *given[:2], *wanted[1:], eps=0.1, adds=True)
    for one, two, kind in zip(grads, wanted, (dtype, param, param, dtype), strict=True):
        assert_near(one, two, kind, scale=max(np.abs(two).max(), 8))
    fewer = run_in_every_order(machine, lambda *a: grad(*a, eps=0.1), gy, x, gamma, *got[1:])
    for one, two in zip(fewer, grads[:3], strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", [(2, 12, 3, 4), (3, 64, 9, 9), (6, 8)])
def test_one_call_gives_the_bits_of_three(machine, shape, dtype):
    x, gy, add = [draw(shape, dtype, seed=k) for k in range(3)]
    gamma, beta = draw(shape[1:2], wide_dtype(dtype), mean=1), draw(shape[1:2], wide_dtype(dtype), seed=1)
    x, gy, add, gamma, beta = [on_device(machine, each) for each in (x, gy, add, gamma, beta)]
    y, mean, var, mask = backend.batch_norm_relu_train(x, gamma, beta, eps=0.1, add=add)
    apart = backend.eltwise("relu", backend.add(backend.batch_norm_train(x, gamma, beta, eps=0.1)[0], add))
    np.testing.assert_array_equal(y.get(), apart.get())
    grads = backend.batch_norm_relu_grad(gy, x, gamma, mean, var, mask, eps=0.1, adds=True)
    through = backend.eltwise_grad_from_output("relu", gy, apart)
    wanted = (*backend.batch_norm_grad(through, x, gamma, mean, var, eps=0.1), through)
    for one, other in zip(grads, wanted, strict=True):
        np.testing.assert_array_equal(one.get(), other.get())


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_what_becomes_0_by_rounding_has_no_slope(machine, dtype):
    x = draw((2, 8, 3, 4), dtype)
    one, tiny = np.ones(8, wide_dtype(dtype)), np.full(8, 1e-9, wide_dtype(dtype))
    x, one, tiny = [on_device(machine, each) for each in (x, one, tiny)]
    y, mean, var, mask = backend.batch_norm_relu_train(x, tiny, tiny, eps=0.1)
    gbeta = backend.batch_norm_relu_grad(machine.cupy.ones_like(x), x, tiny, mean, var, mask, eps=0.1)[2]
    np.testing.assert_array_equal(gbeta.get(), np.count_nonzero(y.get() > 0, axis=(0, 2, 3)))
    assert (y.get() > 0).any() == (dtype != np.float16)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_layer_norm_is_numpys(machine, dtype):
    x, param = draw((5, 24), dtype), wide_dtype(dtype)
    gamma, beta = draw((24,), param), draw((24,), param, seed=1)
    got = run_in_every_order(machine, lambda *a: backend.layer_norm(*a, eps=0.1), x, gamma, beta)
    wanted = reference.layer_norm(wide(x), wide(gamma), wide(beta), eps=0.1)
    for one, two, kind in zip(got, wanted, (dtype, param, param)):
        assert_near(one, two, kind)
    got = run_in_every_order(machine, lambda *a: backend.layer_norm_grad(*a, eps=0.1), x, x, gamma, *got[1:])
    wanted = reference.layer_norm_grad(wide(x), wide(x), wide(gamma), *wanted[1:], eps=0.1)
    for one, two, kind in zip(got, wanted, (dtype, param, param)):
        assert_near(one, two, kind)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("shape", [(2, 16, 3, 4), (1, 3, 5, 5), (0, 4, 2, 2)])
@pytest.mark.parametrize("n", [5, 4, 1])
def test_local_response_norm_is_numpys(machine, shape, n, dtype):
    x, gy = draw(shape, dtype), draw(shape, dtype, seed=1)
    given = {"n": n, "k": 2.0, "alpha": 1e-1, "beta": 0.75}
    (y,) = run_in_every_order(machine, backend.local_response_norm, x, **given)
    assert_near(y, reference.local_response_norm(wide(x), **given), dtype)
    (gx,) = run_in_every_order(machine, backend.local_response_norm_grad, gy, x, **given)
    assert_near(gx, reference.local_response_norm_grad(wide(gy), wide(x), **given), dtype)


def test_negative_sums_give_nan_as_numpy_does(machine):
    x = draw((1, 4, 2, 2), np.float32)
    (y,) = run_in_every_order(machine, backend.local_response_norm, x, n=3, k=-100.0, alpha=1e-4, beta=0.75)
    assert np.isnan(y).all()
