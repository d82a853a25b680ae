"""Batch normalization, a sum and a rectifier in one function, and its gradients."""

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.gradient_check import check_backward
from cvzoo.autodiff.variable import Variable, variables_of
from cvzoo.functions.normalization.batch_normalization_relu import (
    BatchNormalizationReLU,
    BatchNormalizationReLUGrad,
    FixedBatchNormalizationReLU,
)

EPS = 0.1
SHAPES = {"rows": (6, 3), "photos": (2, 3, 3, 2), "sixteen channels": (2, 16, 2, 2)}


def drawn(shape, dtype):
    """x, gamma, beta and an addend; no sum so near 0 that a step to the side goes over it."""
    for seed in range(1000):
        random = np.random.default_rng(seed)
        x, add = random.normal(2, 3, size=(2, *shape)).astype(dtype)
        gamma, beta = random.normal(size=(2, shape[1])).astype(dtype)
        h = F.batch_normalization(x, gamma, beta, eps=EPS).array
        if min(np.abs(h + add).min(), np.abs(h).min()) > 5e-3:
            return x, gamma, beta, add
    raise AssertionError("no such numbers")


class Learned(FunctionNode):
    """The function with its gradient, as a replayed step has them: x, gamma, beta and perhaps an addend to y."""

    def forward(self, inputs):
        self.retain_inputs((0, 1))
        self.adds = len(inputs) > 3
        y, *self.kept = BatchNormalizationReLU(EPS).forward(inputs)
        return (y,)

    def backward(self, indexes, gys):
        x, gamma = [each.array for each in self.get_retained_inputs()]
        grads = BatchNormalizationReLUGrad(EPS, self.adds).forward((x, gamma, gys[0].array, *self.kept))
        assert len(grads) == 3 + self.adds
        found = list(variables_of(grads))
        return tuple([found[i] for i in indexes])


@pytest.mark.parametrize("n", [3, 4], ids=["alone", "with a sum"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_derivatives(shape, n, backend):
    check_backward(lambda *inputs: Learned().apply(inputs)[0], drawn(shape, "float64")[:n], eps=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_it_is_the_three_functions_to_the_bit(shape, dtype, backend):
    arrays = drawn(shape, dtype)
    gy = np.random.default_rng(5).normal(size=shape).astype(dtype)
    found = []
    for function in (
        lambda x, gamma, beta, add: F.relu(F.batch_normalization(x, gamma, beta, eps=EPS) + add),
        lambda *inputs: Learned().apply(inputs)[0],
    ):
        inputs = [Variable(each, requires_grad=True) for each in arrays]
        y = function(*inputs)
        y.grad = gy
        y.backward()
        found.append([y.array, *(each.grad for each in inputs)])
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
    x, gamma, beta, add = arrays
    _, mean, var, _ = BatchNormalizationReLU(EPS).forward(arrays)
    (again,) = FixedBatchNormalizationReLU(EPS).forward((x, gamma, beta, add, mean, var))
    np.testing.assert_allclose(again, found[0][0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [3, 4], ids=["alone", "with a sum"])
def test_a_gpu_gives_what_the_processor_gives(n, dtype, fake_gpu):
    shape = (2, 12, 3, 2)
    arrays = drawn(shape, dtype)[:n]
    gy = np.random.default_rng(5).normal(size=shape).astype(dtype)

    def learn(arrays, gy):
        inputs = [Variable(each, requires_grad=True) for each in arrays]
        y = Learned().apply(inputs)[0]
        y.grad = gy
        y.backward()
        return [y.array, *(each.grad for each in inputs)]

    wanted = learn(arrays, gy)
    with fake_gpu() as machine:
        got = [each.get() for each in learn([machine.cupy.asarray(x) for x in arrays], machine.cupy.asarray(gy))]
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=2e-5 if dtype == "float32" else 1e-13)
