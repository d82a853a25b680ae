"""The stand-in's convolutions against loops, and nothing of the package behind them."""

import ast
import inspect
import itertools

import numpy as np
import pytest
from fake_gpu import direct_conv

CASES = {
    "plain": ((2, 4, 5, 6), (6, 4, 3, 3), {"stride": (1, 1), "pad": (1, 1, 1, 1), "dilate": (1, 1), "groups": 1}),
    "grouped, uneven": (
        (1, 4, 6, 7),
        (6, 2, 3, 2),
        {"stride": (2, 3), "pad": (2, 0, 1, 2), "dilate": (1, 2), "groups": 2},
    ),
    "cropped": ((2, 2, 6, 6), (3, 2, 2, 2), {"stride": (1, 2), "pad": (0, -1, 0, -2), "dilate": (1, 1), "groups": 1}),
}


def by_loops(x, w, stride, pad, dilate, groups):
    top, bottom, left, right = pad
    x = x[:, :, : x.shape[2] + min(bottom, 0), : x.shape[3] + min(right, 0)]
    x = np.pad(x, ((0, 0), (0, 0), (top, max(bottom, 0)), (left, max(right, 0))))
    n_out, n_in, kh, kw = w.shape
    oh = (x.shape[2] - dilate[0] * (kh - 1) - 1) // stride[0] + 1
    ow = (x.shape[3] - dilate[1] * (kw - 1) - 1) // stride[1] + 1
    y = np.zeros((len(x), n_out, oh, ow))
    for b, o, i, j, c, k, l in itertools.product(*map(range, (len(x), n_out, oh, ow, n_in, kh, kw))):
        channel = o // (n_out // groups) * n_in + c
        y[b, o, i, j] += x[b, channel, i * stride[0] + k * dilate[0], j * stride[1] + l * dilate[1]] * w[o, c, k, l]
    return y


@pytest.mark.parametrize("case", CASES)
def test_values_are_those_of_loops_and_gradients_are_their_adjoints(case):
    x_shape, w_shape, settings = CASES[case]
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal(x_shape), rng.standard_normal(w_shape)
    y = by_loops(x, w, **settings)
    np.testing.assert_allclose(direct_conv.forward(x, w, **settings), y, rtol=1e-5, atol=1e-5)
    gy = rng.standard_normal(y.shape)
    gx = direct_conv.input_grad(gy, w, x_shape[2:], **settings)
    gw = direct_conv.weight_grad(x, gy, w_shape[2:], **settings)
    np.testing.assert_allclose((gx * x).sum(), (gy * y).sum(), rtol=1e-5)
    np.testing.assert_allclose((gw * w).sum(), (gy * y).sum(), rtol=1e-5)
    dx, dw = rng.standard_normal(x_shape), rng.standard_normal(w_shape)
    np.testing.assert_allclose((gx * dx).sum(), (gy * by_loops(dx, w, **settings)).sum(), rtol=1e-4)
    np.testing.assert_allclose((gw * dw).sum(), (gy * by_loops(x, dw, **settings)).sum(), rtol=1e-4)


def test_nothing_of_the_package_computes_them():
    tree = ast.parse(inspect.getsource(direct_conv))
    modules = [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    modules += [n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)]
    assert modules == ["numpy"]
