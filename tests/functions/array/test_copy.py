import numpy as np
import pytest

import cvzoo
import cvzoo.functions as F
from cvzoo.backends import device_of, get_device
from cvzoo.errors.exceptions import BackendError, DtypeError, ValueRangeError

X = np.random.default_rng(0).normal(size=(2, 3, 4, 5)).astype("float32")


def test_values_cross_devices_and_gradients_come_back(fake_gpu):
    with fake_gpu(devices=2):
        x = cvzoo.Variable(X)
        on_0 = F.copy(x, "gpu:0")
        on_1 = F.copy(on_0 * 2, "gpu:1")
        y = F.copy(F.sum(on_1 * on_1), "cpu")
        assert [device_of(v.array).name for v in (on_0, on_1, y)] == ["gpu:0", "gpu:1", "cpu"]
        y.backward()
        assert isinstance(x.grad, np.ndarray)
        np.testing.assert_allclose(x.grad, 8 * X, rtol=1e-6)


def test_it_is_differentiable_twice(fake_gpu):
    with fake_gpu(devices=2):
        x = cvzoo.Variable(X)
        y = F.sum(F.copy(x, "gpu:1") ** 3)
        (gx,) = cvzoo.grad([y], [x], enable_double_backprop=True)
        assert isinstance(gx.array, np.ndarray)
        F.sum(gx * gx).backward()
        np.testing.assert_allclose(x.grad, 36 * X**3, rtol=1e-5)


def test_channels_stay_last(fake_gpu):
    with fake_gpu(devices=2):
        x = np.ascontiguousarray(X.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
        for y in (F.copy(x, "gpu:0"), F.copy(F.copy(x, "gpu:0"), "gpu:1"), F.copy(F.copy(x, "gpu:0"), "cpu")):
            assert y.array.strides == x.strides


def test_what_lies_on_several_devices_is_not_computed_with(fake_gpu):
    with fake_gpu(devices=2):
        a, b = get_device("gpu:0").asarray(X), get_device("gpu:1").asarray(X)
        with pytest.raises(DtypeError, match=r"different devices(.|\n)*gpu:0, gpu:1"):
            F.add(a, b)
        with pytest.raises(DtypeError, match="gpu:0, cpu"):
            F.add(a, X)


def test_there_must_be_such_a_device(fake_gpu):
    with fake_gpu(devices=2), pytest.raises(BackendError, match="no device gpu:2"):
        F.copy(X, "gpu:2")
    with pytest.raises(ValueRangeError, match="no such device"):
        F.copy(X, "tpu")
