"""Noise on a GPU is drawn there, from the seed, and is other noise than the processor's."""

import shutil

import numpy as np
import pytest

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.config.randomness import set_seed
from cvzoo.config.switches import using_config

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ compiles the kernels for the host")
X = np.random.default_rng(0).normal(size=(64, 4, 5, 6)).astype("float32")


@pytest.fixture(scope="module")
def gpu():
    from fake_gpu.install import fake_gpu

    with fake_gpu() as machine, using_config("train", True):
        yield machine


NOISES = {
    "dropout": lambda x: F.dropout(x, 0.3),
    "stochastic_depth": lambda x: F.stochastic_depth(x, 0.3),
    "gaussian": lambda x: F.gaussian(x * 0, x * 0),
}


@pytest.mark.parametrize("name", NOISES)
def test_the_seed_says_what_is_drawn_and_nothing_waits(gpu, name):
    x = gpu.cupy.asarray(X)
    draws = []
    for seed in (1, 1, 2):
        set_seed(seed)
        gpu.recorder.clear()
        with gpu.no_sync(name):
            y = NOISES[name](Variable(x))
        assert not gpu.recorder.of("h2d")
        draws.append((y.array.get(), NOISES[name](Variable(x)).array.get()))
    np.testing.assert_array_equal(draws[0], draws[1])
    assert (draws[0][0] != draws[2][0]).any()
    assert (draws[0][0] != draws[0][1]).any()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", ["dropout", "stochastic_depth"])
def test_what_is_kept_is_scaled_and_gradients_are_kept_alike(gpu, name, dtype):
    x = Variable(gpu.cupy.asarray(X.astype(dtype)))
    y = NOISES[name](x)
    assert y.dtype == dtype
    F.sum(y).backward()
    factor = x.grad.get()
    assert set(np.unique(factor)) == {0, np.dtype(dtype).type(1 / 0.7)}
    np.testing.assert_array_equal(y.array.get(), X.astype(dtype) * factor)
    assert 0.5 < (factor > 0).mean() < 0.9
    if name == "stochastic_depth":
        assert (factor == factor[:, :1, :1, :1]).all()


def test_normal_numbers_are_normal(gpu):
    x = gpu.cupy.zeros((100, 100), "float32")
    y = F.gaussian(x + 3, x + np.float32(np.log(4))).array.get()
    assert abs(y.mean() - 3) < 0.1
    assert abs(y.std() - 2) < 0.1


def test_a_mask_of_ones_own_is_taken(gpu):
    x = gpu.cupy.asarray(X)
    y, mask = F.dropout(Variable(x), 0.5, return_mask=True)
    again = F.dropout(Variable(x), 0.5, mask=mask)
    np.testing.assert_array_equal(y.array.get(), again.array.get())
