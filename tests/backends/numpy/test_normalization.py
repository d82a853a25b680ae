import numpy as np
import pytest

from cvzoo.backends.numpy.normalization import (
    batch_norm_fixed,
    batch_norm_grad,
    batch_norm_train,
    layer_norm,
    layer_norm_grad,
    local_response_norm,
    local_response_norm_grad,
)


def slope(function, x, direction, step=1e-6):
    return (function(x + step * direction) - function(x - step * direction)) / (2 * step)


def draw(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


@pytest.mark.parametrize("shape", [(8, 3), (4, 3, 5), (3, 4, 5, 2)])
def test_batch_normalization_normalizes_each_channel(shape):
    x, c = draw(*shape) * 3 + 5, shape[1]
    y, mean, var = batch_norm_train(x, np.ones(c), np.zeros(c), eps=0.0)
    rows = np.moveaxis(x, 1, 0).reshape(c, -1)
    np.testing.assert_allclose(mean, rows.mean(1))
    np.testing.assert_allclose(var, rows.var(1))
    rows = np.moveaxis(y, 1, 0).reshape(c, -1)
    np.testing.assert_allclose(rows.mean(1), 0, atol=1e-12)
    np.testing.assert_allclose(rows.std(1), 1)


@pytest.mark.parametrize("shape", [(8, 3), (4, 3, 5), (3, 4, 5, 2)])
def test_batch_normalization_s_gradients_are_slopes(shape):
    x, gy, c = draw(*shape), draw(*shape, seed=1), shape[1]
    gamma, beta, eps = draw(c), draw(c, seed=1), 0.1
    _, mean, var = batch_norm_train(x, gamma, beta, eps=eps)
    gx, ggamma, gbeta = batch_norm_grad(gy, x, gamma, mean, var, eps=eps)
    d, dc = draw(*shape, seed=2), draw(c, seed=2)
    for got, function, at, direction in (
        (gx, lambda v: batch_norm_train(v, gamma, beta, eps=eps)[0], x, d),
        (ggamma, lambda v: batch_norm_train(x, v, beta, eps=eps)[0], gamma, dc),
        (gbeta, lambda v: batch_norm_train(x, gamma, v, eps=eps)[0], beta, dc),
    ):
        np.testing.assert_allclose(
            np.vdot(got, direction), np.vdot(slope(function, at, direction), gy), rtol=1e-6, atol=1e-8
        )


def test_fixed_statistics_give_the_formula():
    x, gamma, beta, mean, var = draw(2, 3, 4, 5), draw(3), draw(3, seed=1), draw(3, seed=2), np.abs(draw(3, seed=3))
    expected = [gamma[k] * (x[:, k] - mean[k]) / np.sqrt(var[k] + 0.1) + beta[k] for k in range(3)]
    np.testing.assert_allclose(batch_norm_fixed(x, gamma, beta, mean, var, eps=0.1), np.stack(expected, 1))


@pytest.mark.parametrize("n", [1, 3, 4, 5, 9])
def test_local_response_normalization_by_loops_and_its_slope(n):
    x, gy, d = draw(2, 7, 3, 2), draw(2, 7, 3, 2, seed=1), draw(2, 7, 3, 2, seed=2)
    settings = {"n": n, "k": 1.5, "alpha": 0.3, "beta": 0.75}
    expected = np.empty_like(x)
    for c in range(7):
        near = x[:, max(c - n // 2, 0) : max(c - n // 2 + n, 0)]
        expected[:, c] = x[:, c] / (1.5 + 0.3 * (near**2).sum(1)) ** 0.75
    np.testing.assert_allclose(local_response_norm(x, **settings), expected)
    rise = slope(lambda v: local_response_norm(v, **settings), x, d)
    np.testing.assert_allclose(
        np.vdot(local_response_norm_grad(gy, x, **settings), d), np.vdot(rise, gy), rtol=1e-6, atol=1e-8
    )


def test_layer_normalization_normalizes_each_row():
    y, mean, var = layer_norm(draw(5, 7) * 3 + 5, np.ones(7), np.zeros(7), eps=0.0)
    np.testing.assert_allclose(mean, (draw(5, 7) * 3 + 5).mean(1))
    np.testing.assert_allclose(var, (draw(5, 7) * 3).var(1))
    np.testing.assert_allclose(y.mean(1), 0, atol=1e-12)
    np.testing.assert_allclose(y.std(1), 1)


def test_layer_normalization_s_gradients_are_slopes():
    x, gy, gamma, beta, eps = draw(5, 7), draw(5, 7, seed=1), draw(7), draw(7, seed=1), 0.1
    _, mean, var = layer_norm(x, gamma, beta, eps=eps)
    gx, ggamma, gbeta = layer_norm_grad(gy, x, gamma, mean, var, eps=eps)
    d, dc = draw(5, 7, seed=2), draw(7, seed=2)
    for got, function, at, direction in (
        (gx, lambda v: (layer_norm(v, gamma, beta, eps=eps)[0] * gy).sum(), x, d),
        (ggamma, lambda v: (layer_norm(x, v, beta, eps=eps)[0] * gy).sum(), gamma, dc),
        (gbeta, lambda v: (layer_norm(x, gamma, v, eps=eps)[0] * gy).sum(), beta, dc),
    ):
        np.testing.assert_allclose((got * direction).sum(), slope(function, at, direction), rtol=1e-6)
