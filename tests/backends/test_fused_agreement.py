"""What does two things in one pass over memory: the fast kernels against the reference ones, and against two passes."""

import numpy as np
import pytest

from cvzoo.backends.numpy import backend as numpy_backend
from cvzoo.backends.onednn import backend as onednn_backend
from cvzoo.backends.onednn.library import why_no_onednn

pytestmark = pytest.mark.skipif(why_no_onednn() is not None, reason=f"no oneDNN: {why_no_onednn()}")

REFERENCE, FAST = numpy_backend, onednn_backend
EPS = 1e-2


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def assert_agree(fast, reference, *, tolerance=1e-5, least=1e-30):
    assert type(fast) is np.ndarray
    assert fast.shape == reference.shape
    assert fast.dtype == reference.dtype
    largest = max(np.abs(reference).max(initial=0), least)
    np.testing.assert_allclose(fast, reference, rtol=0, atol=tolerance * largest)


SHAPES = [
    (4, 20, 9, 7),
    (4, 32, 9, 7),
    (2, 32, 31, 29),
    (1, 16, 1, 1),
    (3, 5, 1, 8),
    (64, 10),
    (2, 3, 40),
    (0, 4, 3, 3),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_batch_normalizations_with_relu_agree(shape):
    x, gy, c = draw(*shape) * 3 + 2, draw(*shape, seed=1), shape[1]
    gamma, beta = draw(c), draw(c, seed=1)
    *fast, mask = FAST.batch_norm_relu_train(x, gamma, beta, eps=EPS)
    *reference, reference_mask = REFERENCE.batch_norm_relu_train(x, gamma, beta, eps=EPS)
    for one, other in zip(fast, reference):
        assert_agree(one, other, least=20)
    got = FAST.batch_norm_relu_grad(gy, x, gamma, *fast[1:], mask, eps=EPS)
    expected = REFERENCE.batch_norm_relu_grad(gy, x, gamma, *reference[1:], reference_mask, eps=EPS)
    for one, other in zip(got, expected):
        assert_agree(one, other, least=10)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_batch_normalization_with_relu_is_one_and_then_a_relu(shape):
    x, gy, c = draw(*shape) * 3 + 2, draw(*shape, seed=1), shape[1]
    gamma, beta = draw(c), draw(c, seed=1)
    # to the bit for the numbers of channels that the library has its best kernel for
    tolerance = 0 if c % 16 == 0 else 1e-5
    y, mean, var, mask = FAST.batch_norm_relu_train(x, gamma, beta, eps=EPS)
    apart = FAST.eltwise("relu", FAST.batch_norm_train(x, gamma, beta, eps=EPS)[0])
    assert_agree(y, apart, tolerance=tolerance)
    again = FAST.batch_norm_relu_fixed(x, gamma, beta, mean, var, eps=EPS)
    assert_agree(again, y, tolerance=tolerance)
    got = FAST.batch_norm_relu_grad(gy, x, gamma, mean, var, mask, eps=EPS)
    through = FAST.eltwise_grad_from_output("relu", gy, apart)
    for one, other in zip(got, FAST.batch_norm_grad(through, x, gamma, mean, var, eps=EPS)):
        assert_agree(one, other, tolerance=tolerance, least=10)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_batch_normalizations_with_a_sum_and_relu_agree(shape):
    x, gy, add, c = draw(*shape) * 3 + 2, draw(*shape, seed=1), draw(*shape, seed=2), shape[1]
    gamma, beta = draw(c), draw(c, seed=1)
    *fast, mask = FAST.batch_norm_relu_train(x, gamma, beta, eps=EPS, add=add)
    *reference, reference_mask = REFERENCE.batch_norm_relu_train(x, gamma, beta, eps=EPS, add=add)
    for one, other in zip(fast, reference):
        assert_agree(one, other, least=20)
    for kernels, (y, mean, var) in ((FAST, fast), (REFERENCE, reference)):
        assert_agree(kernels.batch_norm_relu_fixed(x, gamma, beta, mean, var, eps=EPS, add=add), y, least=20)
    got = FAST.batch_norm_relu_grad(gy, x, gamma, *fast[1:], mask, eps=EPS, adds=True)
    expected = REFERENCE.batch_norm_relu_grad(gy, x, gamma, *reference[1:], reference_mask, eps=EPS, adds=True)
    for one, other in zip(got, expected, strict=True):
        assert_agree(one, other, least=10)
    for one, other in zip(FAST.batch_norm_relu_grad(gy, x, gamma, *fast[1:], mask, eps=EPS), got[:3], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kernels", [FAST, REFERENCE], ids=lambda kernels: kernels.name)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_sum_behind_a_batch_normalization_is_one_and_then_the_other_to_the_bit(shape, kernels):
    x, gy, add, c = draw(*shape) * 3 + 2, draw(*shape, seed=1), draw(*shape, seed=2), shape[1]
    gamma, beta = draw(c), draw(c, seed=1)
    y, mean, var, mask = kernels.batch_norm_relu_train(x, gamma, beta, eps=EPS, add=add)
    apart = kernels.add_relu(kernels.batch_norm_train(x, gamma, beta, eps=EPS)[0], add)
    np.testing.assert_array_equal(y, apart)
    got = kernels.batch_norm_relu_grad(gy, x, gamma, mean, var, mask, eps=EPS, adds=True)
    through = kernels.eltwise_grad_from_output("relu", gy, apart)
    for one, other in zip(got, (*kernels.batch_norm_grad(through, x, gamma, mean, var, eps=EPS), through), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("shape", [(2, 20, 9, 7), (2, 64, 20, 20), (3, 5), (0, 3, 2, 2)], ids=str)
def test_sums_with_relu_agree(shape):
    a, b = draw(*shape), draw(*shape, seed=1)
    for one, other in ((a, b), (FAST.asarray(a), b), (FAST.empty(shape), a)):
        one[...] = a
        y = FAST.add_relu(one, other)
        np.testing.assert_array_equal(y, REFERENCE.add_relu(one, other))
        np.testing.assert_array_equal(y, FAST.eltwise("relu", FAST.add(one, other)))


@pytest.mark.parametrize("groups", [1, 2, 8])
@pytest.mark.parametrize("dilate", [(1, 1), (2, 2)])
@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (2, 1)])
@pytest.mark.parametrize("ksize", [(1, 1), (3, 3), (2, 3)])
def test_a_gradient_to_which_something_is_added_agrees_to_the_bit(ksize, stride, dilate, groups):
    size, pad = (9, 8), (1, 0, 2, 1)
    out = [(size[k] + pad[2 * k] + pad[2 * k + 1] - dilate[k] * (ksize[k] - 1) - 1) // stride[k] + 1 for k in (0, 1)]
    w, gy, other = draw(16, 8 // groups, *ksize), draw(2, 16, *out), draw(2, 8, *size)
    settings = {"stride": stride, "pad": pad, "dilate": dilate, "groups": groups}
    both = FAST.conv_2d_input_grad(gy, w, size, add=other, **settings)
    assert_agree(both, REFERENCE.conv_2d_input_grad(gy, w, size, add=other, **settings))
    np.testing.assert_array_equal(both, FAST.conv_2d_input_grad(gy, w, size, **settings) + other)


def test_what_oneDNN_fuses_is_not_left_to_numpy(monkeypatch):
    def refuse(*arguments, **settings):
        raise AssertionError("NumPy was asked")

    for module, names in (
        ("batch_norm_relu", ("batch_norm_relu_train", "batch_norm_relu_fixed", "batch_norm_relu_grad")),
        ("conv", ("conv_2d_input_grad",)),
        ("eltwise", ("add_relu",)),
    ):
        for name in names:
            monkeypatch.setattr(f"cvzoo.backends.onednn.{module}.numpy_{name}", refuse)
    x, one, w = draw(2, 16, 40, 40), np.ones(16, np.float32), draw(32, 16, 3, 3)
    _, mean, var, mask = FAST.batch_norm_relu_train(x, one, one, eps=EPS)
    FAST.batch_norm_relu_fixed(x, one, one, mean, var, eps=EPS)
    FAST.batch_norm_relu_grad(x, x, one, mean, var, mask, eps=EPS)
    FAST.add_relu(x, x)
    add = FAST.channels_last(x)
    _, mean, var, mask = FAST.batch_norm_relu_train(x, one, one, eps=EPS, add=add)
    FAST.batch_norm_relu_fixed(x, one, one, mean, var, eps=EPS, add=add)
    FAST.batch_norm_relu_grad(x, x, one, mean, var, mask, eps=EPS, adds=True)
    gy = draw(2, 32, 40, 40)
    settings = {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}
    FAST.conv_2d_input_grad(gy, w, (40, 40), add=x, **settings)


@pytest.mark.parametrize("activation", [None, "relu", "leaky_relu", "clip", "swish", "tanh"])
@pytest.mark.parametrize(
    ("c", "o", "side", "ksize", "groups"), [(32, 40, 13, 3, 1), (16, 64, 9, 1, 1), (24, 24, 9, 3, 24), (8, 6, 1, 1, 1)]
)
def test_a_sum_behind_the_activation_of_a_convolution_is_a_sum_of_its_result(c, o, side, ksize, groups, activation):
    x, w, b = draw(2, c, side, side), draw(o, c // groups, ksize, ksize) / np.float32(ksize * c**0.5), draw(o)
    add = draw(2, o, side, side, seed=1)
    window = {"stride": (1, 1), "pad": (ksize // 2,) * 4, "dilate": (1, 1), "groups": groups, "winograd": True}
    how = {**window, "activation": activation, "alpha": 0.1, "beta": 0.9}
    together = FAST.conv_2d(x, w, b, add=add, adds_last=True, **how)
    np.testing.assert_array_equal(together, FAST.add(FAST.conv_2d(x, w, b, **how), FAST.channels_last(add)))
    assert_agree(together, REFERENCE.conv_2d(x, w, b, add=add, adds_last=True, **how))
