"""Several steps are one launch on a GPU, with the processor's numbers."""

import numpy as np
import pytest
from on_device import assert_near, put

from cvzoo.backends.cupy import backend as cupy_backend
from cvzoo.backends.numpy import backend as numpy_backend

ml_dtypes = pytest.importorskip("ml_dtypes")
CPU, GPU = numpy_backend, cupy_backend
STEPS = [
    [("add",), ("relu", 0.0, 0.0)],
    [("multiply",), ("swish", 1.5, 0.0), ("subtract",), ("clip", -1.0, 2.0)],
    [("linear", 2.0, -1.0), ("sigmoid", 0.0, 0.0), ("divide",), ("linear", 0.5, 3.0)],
    [("abs", 0.0, 0.0)],
    [],
]


@pytest.fixture
def gpu(fake_gpu):
    with fake_gpu() as machine:
        yield machine


def test_a_chain_is_one_launch(gpu):
    steps = max(STEPS, key=len)
    x = put(gpu.cupy, np.ones((2, 8, 4, 5), "float32"))
    others = [x for step in steps if len(step) == 1]
    gpu.recorder.clear()
    GPU.chain(x, steps, others)
    assert gpu.recorder.counts()["launch"] == 1


@pytest.mark.parametrize("steps", STEPS, ids=str)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-6), ("float64", 1e-14), (ml_dtypes.bfloat16, 8e-3)])
def test_chains(gpu, steps, dtype, tolerance):
    random = np.random.default_rng(1)
    x = random.standard_normal((2, 4, 5, 8)).astype(dtype).transpose(0, 3, 1, 2)
    wanted = [step for step in steps if len(step) == 1]
    shapes = [(8, 1, 1), (2, 8, 4, 5)]
    others = [random.uniform(0.5, 2, shapes[i]).astype(dtype) for i, _ in enumerate(wanted)]
    y = GPU.chain(put(gpu.cupy, x), steps, [put(gpu.cupy, other) for other in others])
    assert_near(y, CPU.chain(x, steps, others), tolerance)
    assert y.strides == x.strides


def test_what_is_no_float_goes_step_by_step(gpu):
    x = np.arange(6, dtype="int32").reshape(2, 3)
    steps = [("add",), ("multiply",), ("relu", 0, 0), ("divide",)]
    y = GPU.chain(put(gpu.cupy, x), steps, [put(gpu.cupy, x)] * 3)
    with np.errstate(all="ignore"):
        assert_near(y, CPU.chain(x, steps, [x] * 3), 1e-6)
