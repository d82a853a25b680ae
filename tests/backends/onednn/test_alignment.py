"""Where what kernels write and read lies, on processors with other instructions, too."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from cvzoo.backends.arrays import numpy_address
from cvzoo.backends.dispatch import get_backend
from cvzoo.backends.onednn.bound_call import BoundCall
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.backends.onednn.pool import ALIGNMENT, aligned_memory, laid_out
from cvzoo.backends.onednn.primitives import local
from cvzoo.errors.exceptions import BackendError

pytestmark = pytest.mark.skipif(why_no_onednn() is not None, reason=f"no oneDNN: {why_no_onednn()}")


def run(code, **environment):
    """What a process prints that has one thread: with more, results must be larger to pass by the cache."""
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "CVZOO_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr or f"ended by signal {-result.returncode}"
    return result.stdout.split()


def behind(offset, shape, strides=None):
    """Float32 so many bytes behind an aligned address."""
    strides = strides or [4 * int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
    memory, start = aligned_memory(4 * int(np.prod(shape)) + ALIGNMENT)
    return np.ndarray(shape, np.float32, memory, start + offset, strides)


# --- the check --------------------------------------------------------------------------------------------------------
@pytest.fixture
def watched(monkeypatch):
    """From a kernel to the last primitive that it calls, made while addresses are watched, and its arrays."""

    def watch(call):
        seen = []
        monkeypatch.setattr(local, "recorder", lambda *asked: seen.append(asked))
        call(get_backend("onednn"))
        monkeypatch.setattr(local, "recorder", None)
        return seen[-1]

    local.start()  # forgets primitives that were made unwatched
    monkeypatch.setattr(local, "watches_addresses", True)
    yield watch
    local.start()


def test_a_result_that_is_not_aligned_is_refused_where_the_primitive_runs(watched):
    primitive, (x, y) = watched(lambda backend: backend.eltwise("exp", np.ones(4096, np.float32)))
    with pytest.raises(BackendError, match="write argument 1"):
        primitive(x, behind(16, y.shape))
    primitive(behind(4, x.shape), y)  # reads may be anywhere


def test_a_replayed_primitive_is_checked_as_well(watched):
    primitive, (x, y) = watched(lambda backend: backend.eltwise("exp", np.ones(4096, np.float32)))
    bound = BoundCall(primitive)
    bound.bind(0, numpy_address(behind(4, x.shape)))
    with pytest.raises(BackendError, match="write argument 1"):
        bound.bind(1, numpy_address(behind(32, y.shape)))


def test_statistics_are_results_in_training_only(watched):
    x, v = np.ones((2, 8, 4, 4), np.float32), np.ones(8, np.float32)
    primitive, arrays = watched(lambda backend: backend.layer_norm(x[0, 0], v[:4], v[:4], eps=1e-5))
    with pytest.raises(BackendError, match="write argument 4"):
        primitive(*arrays[:4], behind(16, (4,)), arrays[5])
    primitive, arrays = watched(lambda backend: backend.batch_norm_fixed(x, v, v, v, v, eps=1e-5))
    primitive(*arrays[:4], behind(16, (8,)), arrays[5])


# --- who allocates ----------------------------------------------------------------------------------------------------
def test_a_sum_is_not_put_by_onednn_where_it_would_not_be_aligned(watched):
    a, out = np.full((300, 300), 2, np.float32), behind(16, (300, 300))
    assert get_backend("onednn").add(a, a, out=out) is out
    assert (out == 4).all()


@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (7, 9), (2, 3, 4, 5), (300, 300)], ids=str)
def test_empty_arrays_are_aligned(shape):
    for dtype in ("float32", "uint8", "float64"):
        x = get_backend("onednn").empty(shape, dtype)
        assert (x.shape, x.dtype) == (shape, dtype)
        assert numpy_address(x) % ALIGNMENT == 0


def test_an_array_laid_out_anew_is_aligned_and_lies_as_it_should():
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    y = laid_out(x, (96, 4, 12))
    assert y.strides == (96, 4, 12)
    assert numpy_address(y) % ALIGNMENT == 0
    np.testing.assert_array_equal(y, x)
    assert laid_out(x[:0], (48, 16, 4)).shape == (0, 3, 4)


# --- on any processor -------------------------------------------------------------------------------------------------
LARGE = """
import numpy as np, cvzoo, cvzoo.functions as F, cvzoo.links as L
class Net(cvzoo.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(3, 32, 1)
    def forward(self, x):
        return F.upsample_nearest(self.conv(x), 2)
net, size = Net(), {size}
x = np.random.default_rng(0).random((1, 3, size, size), np.float32)
with cvzoo.no_backprop_mode():
    wanted = net(x).array
    net.compile(x)
    print(np.array_equal(net(x).array, wanted), np.array_equal(wanted[..., ::2, 1::2], net.conv(x).array))
"""


def size_of_maps(channels=32):
    """Height of maps that double in size to more than all of the last-level cache."""
    path = pathlib.Path("/sys/devices/system/cpu/cpu0/cache/index3/size")
    cache = int(path.read_text().strip().rstrip("K")) << 10 if path.exists() else 32 << 20
    return int((1.2 * cache / (4 * 4 * channels)) ** 0.5) + 1


@pytest.mark.parametrize("isa", ["ALL", "AVX2"])
def test_results_larger_than_the_cache_are_right_without_the_pool_and_compiled(isa):
    code = LARGE.format(size=size_of_maps())
    environment = {"CVZOO_MEMORY_POOL": "0", "CVZOO_CHECK_ALIGNMENT": "1", "ONEDNN_MAX_CPU_ISA": isa}
    assert run(code, **environment) == ["True", "True"]


UNALIGNED = """
import numpy as np, cvzoo, cvzoo.functions as F
class Net(cvzoo.Chain):
    def forward(self, x):
        y = F.average_pooling_2d(x, 2, stride=1)
        return F.average_pooling_2d(y[1:], 2, stride=1) + F.average_pooling_2d(x[1:], 3, stride=1)
def at(offset, shape):
    n, c, h, w = shape
    memory = np.zeros(4 * n * c * h * w + 128, np.uint8)
    x = np.ndarray((n, h, w, c), "f4", memory, -memory.ctypes.data % 64 + offset).transpose(0, 3, 1, 2)
    x[...] = np.random.default_rng(0).normal(size=x.shape)
    return x
with cvzoo.no_backprop_mode():
    for c in (24, 3):
        for first, second in ((0, 4), (4, 0), (8, 12)):
            net, shape = Net(), (2, c, 3, 3)
            wanted, other = [net(at(offset, shape)).array for offset in (0, second)]
            net.compile(at(first, shape))
            print(np.array_equal(wanted, other), np.array_equal(wanted, net(at(second, shape)).array))
"""


def test_what_lies_anywhere_is_read_by_processors_that_read_aligned_memory_only():
    found = run(UNALIGNED, ONEDNN_MAX_CPU_ISA="SSE41", CVZOO_CHECK_ALIGNMENT="1")
    assert found == ["True"] * 12
