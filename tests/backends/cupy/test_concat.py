"""Arrays laid one after another on a GPU, up to eight a launch."""

import numpy as np
import pytest
from on_device import assert_near, put

from cvzoo.backends.cupy import backend as cupy_backend
from cvzoo.backends.numpy import backend as numpy_backend

ml_dtypes = pytest.importorskip("ml_dtypes")
CPU, GPU = numpy_backend, cupy_backend


@pytest.fixture
def gpu(fake_gpu):
    with fake_gpu() as machine:
        yield machine


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", ml_dtypes.bfloat16, "int32", "uint8"], ids=str)
@pytest.mark.parametrize("count", [1, 3, 8, 9, 17])
def test_photos(gpu, dtype, count):
    random = np.random.default_rng(count)
    for axis in (0, 1, 2, 3, -1):
        xs = []
        for i in range(count):
            shape = [3, 4, 2, 5]
            shape[axis] = int(random.integers(0, 9)) + (i == 0)
            x = (random.standard_normal(shape) * 9).astype(dtype)
            xs.append(x if i % 2 else CPU.channels_last(x))
        y = GPU.concat([put(gpu.cupy, x) for x in xs], axis=axis)
        wanted = CPU.concat(xs, axis=axis)
        assert_near(y, wanted, 0)
        assert y.transpose(0, 2, 3, 1).flags.c_contiguous


def test_rows_slices_and_mixed_dtypes(gpu):
    random = np.random.default_rng(0)
    xs = [random.standard_normal((5, k)).astype("float32") for k in (1, 4, 3)]
    there = [put(gpu.cupy, x) for x in xs]
    assert_near(GPU.concat(there, axis=1), np.concatenate(xs, 1), 0)
    sliced = [x[::2, 1:] for x in there[1:]]
    assert_near(GPU.concat(sliced, axis=1), np.concatenate([x[::2, 1:] for x in xs[1:]], 1), 0)
    mixed = GPU.concat([there[0], put(gpu.cupy, xs[1].astype("float64"))], axis=1)
    assert_near(mixed, np.concatenate([xs[0], xs[1].astype("float64")], 1), 0)


def test_nothing_at_all(gpu):
    y = GPU.concat([gpu.cupy.empty((0, 3)), gpu.cupy.empty((0, 3))], axis=0)
    assert y.shape == (0, 3)


def test_channels_of_four_maps_are_one_launch_of_16_bytes_a_thread(gpu):
    xs = [put(gpu.cupy, CPU.zeros((2, 8, 3, 3))) for _ in range(4)]
    gpu.recorder.clear()
    GPU.concat(xs, axis=1)
    assert [entry.name for entry in gpu.recorder.of("launch")] == ["concat_16"]
