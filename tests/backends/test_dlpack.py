import numpy as np
import pytest

from cvzoo.backends import device_of, from_dlpack
from cvzoo.errors.exceptions import BackendError, DtypeError


class Foreign:
    """What another library's array shows of itself."""

    def __init__(self, array, device):
        self._array, self._device = array, device

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._device


def test_memory_of_the_processor_is_shared():
    x = np.arange(6, dtype="float32").reshape(2, 3)
    y = from_dlpack(Foreign(x, (1, 0)))
    assert np.shares_memory(x, y)
    assert y.strides == x.strides
    assert y.dtype == np.float32


def test_memory_of_a_gpu_is_shared(fake_gpu):
    with fake_gpu(devices=2):
        x = np.arange(6, dtype="float32").reshape(2, 3)
        y = from_dlpack(Foreign(x, (2, 1)))
        assert device_of(y).name == "gpu:1"
        assert y.data.ptr == x.ctypes.data
        np.testing.assert_array_equal(y.get(), x)


def test_what_cannot_be_taken_is_told():
    with pytest.raises(DtypeError, match="supports DLPack"):
        from_dlpack([1, 2])
    with pytest.raises(BackendError, match="kind 8"):
        from_dlpack(Foreign(np.zeros(2), (8, 0)))
