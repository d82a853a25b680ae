"""Mathematics of arrays on a GPU: constants, pairs and the rest, with the processor's numbers and without waiting."""

import numpy as np
import pytest
from on_device import put

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import using_config

ml_dtypes = pytest.importorskip("ml_dtypes")
random = np.random.default_rng(0)
X, Y = random.uniform(0.2, 0.8, (3, 4)), random.uniform(0.2, 0.8, (4,))
CASES = {
    "a number added": lambda x, y: x + 3,
    "a number taken away": lambda x, y: x - 0.3,
    "taken from a number": lambda x, y: 1 - x,
    "a product with a number": lambda x, y: 2.5 * x,
    "divided by a number": lambda x, y: x / 3,
    "a number divided": lambda x, y: 2 / x,
    "a power": lambda x, y: x**2.5,
    "a number's power": lambda x, y: 3**x,
    "sum": lambda x, y: x + y,
    "difference": lambda x, y: y - x,
    "product": lambda x, y: x * y,
    "quotient": lambda x, y: x / y,
    "power": lambda x, y: F.power(x, y),
    "maximum": lambda x, y: F.maximum(x, y),
    "minimum with a number": lambda x, y: F.minimum(x, 0.5),
    "negative": lambda x, y: -x,
    "erf": lambda x, y: F.erf(x),
    "arctan2": lambda x, y: F.arctan2(x, y),
    "largest": lambda x, y: F.max(x, 1),
    "logsumexp": lambda x, y: F.logsumexp(x, 0),
    "prod": lambda x, y: F.prod(x, 1),
    "clip": lambda x, y: F.clip(x, 0.3, 0.6),
}


def _values(function, x, y):
    x, y = Variable(x), Variable(y)
    z = function(x, y)
    F.sum(z * z).backward(enable_double_backprop=True)
    grads = [v.grad_var for v in (x, y) if v.grad_var is not None]
    x.cleargrad()
    F.sum(grads[0] * grads[0]).backward()
    return [z.array, *[grad.array for grad in grads], x.grad]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-5), (ml_dtypes.bfloat16, 0.1)], ids=["f32", "bf16"])
def test_values_and_derivatives(fake_gpu, name, dtype, tolerance):
    x, y = X.astype(dtype), Y.astype(dtype)
    with using_config("backend", "numpy"):
        wanted = _values(CASES[name], x, y)
    with fake_gpu() as gpu:
        there = put(gpu.cupy, x), put(gpu.cupy, y)
        gpu.recorder.clear()
        got = _values(CASES[name], *there)
        assert not gpu.recorder.of("d2h", "h2d", "sync")
        got = [each.get() for each in got]
    for a, b in zip(got, wanted, strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        a, b = a.astype("float64"), b.astype("float64")
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * np.abs(b).max())


def test_integers(fake_gpu):
    x = np.arange(1, 7).reshape(2, 3)
    functions = [
        lambda x: x + 2,
        lambda x: 7 - x,
        lambda x: x * 3,
        lambda x: x // 2,
        lambda x: x**2,
        lambda x: F.maximum(x, 3),
        lambda x: F.power(x, x),
        lambda x: F.argmax(x, 1),
        lambda x: F.sign(x),
    ]
    with fake_gpu() as gpu:
        there = put(gpu.cupy, x)
        for function in functions:
            got, wanted = function(Variable(there)).array.get(), function(Variable(x)).array
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(got, wanted)


def test_zero_to_a_power_has_no_slope_by_it(fake_gpu):
    with fake_gpu() as gpu:
        a, b = Variable(put(gpu.cupy, np.array([0.0, 2.0]))), Variable(put(gpu.cupy, np.array([2.0, 3.0])))
        F.sum(F.power(a, b)).backward()
        np.testing.assert_allclose(b.grad.get(), [0, 8 * np.log(2)])


def test_a_constant_is_one_launch(fake_gpu):
    with fake_gpu() as gpu:
        x = Variable(put(gpu.cupy, X))
        gpu.recorder.clear()
        x * 2
        assert gpu.recorder.names() == ["each_multiply_constant"]
