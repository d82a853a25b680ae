"""Arrays that go from device to device and library to library on real GPUs; with one, half of the tests skip."""

import pathlib

import ml_dtypes
import numpy as np
import pytest
from neighbour import module_at
from real_gpu import real_gpu

import cvzoo
import cvzoo.functions as F
from cvzoo.backends import device_of, from_dlpack
from cvzoo.backends.cupy.library import cupy

tests = pathlib.Path(__file__).parents[1]
copy = module_at(tests / "functions/array/test_copy.py")
parallel = module_at(tests / "training/updaters/test_parallel_updater.py")
staging = module_at(tests / "backends/cuda/test_staging.py")

TWO_DEVICES = [
    copy.test_values_cross_devices_and_gradients_come_back,
    copy.test_it_is_differentiable_twice,
    copy.test_channels_stay_last,
    copy.test_what_lies_on_several_devices_is_not_computed_with,
    parallel.test_two_devices_learn_what_one_learns,
    parallel.test_a_batch_smaller_than_the_devices_is_learnt_by_some,
]


@pytest.mark.parametrize("test", TWO_DEVICES, ids=lambda test: test.__name__)
def test_two_devices(test):
    test(real_gpu)


@pytest.mark.parametrize(
    "test",
    [
        staging.test_each_array_lies_where_the_widest_loads_may_read_it,
        staging.test_the_hosts_arrays_may_change_at_once_and_results_are_their_own,
        staging.test_channels_last_stays_channels_last,
    ],
    ids=lambda test: test.__name__,
)
def test_staging(test):
    with real_gpu() as machine:
        test(machine)


def test_values_go_to_the_gpu_and_gradients_come_back():
    x = cvzoo.Variable(copy.X)
    there = F.copy(x, "gpu:0")
    y = F.copy(F.sum(there * there), "cpu")
    y.backward()
    assert device_of(there.array).name == "gpu:0"
    assert isinstance(x.grad, np.ndarray)
    np.testing.assert_allclose(x.grad, 2 * copy.X, rtol=1e-6)


def test_one_updater_of_one_gpu_learns_what_the_processor_learns():
    _, alone = parallel.trained(parallel.training.StandardUpdater)
    _, there = parallel.trained(lambda i, o: parallel.training.ParallelUpdater(i, o, devices={"main": "gpu:0"}))
    for path, expected in alone.items():
        np.testing.assert_allclose(there[path], expected, rtol=2e-5, atol=2e-6, err_msg=path)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", ml_dtypes.bfloat16], ids=str)
def test_pytorch_and_cvzoo_see_the_same_memory(dtype):
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    name = np.dtype(dtype).name
    theirs = torch.arange(24, device="cuda").reshape(2, 3, 4).to(vars(torch)[name])
    ours = from_dlpack(theirs.transpose(1, 2))
    assert device_of(ours).name == "gpu:0"
    assert ours.shape == (2, 4, 3)
    assert ours.dtype == np.dtype(dtype)
    assert ours.data.ptr == theirs.data_ptr()
    np.testing.assert_array_equal(ours.get().astype("f8"), np.arange(24).reshape(2, 3, 4).transpose(0, 2, 1))
    ours += ours.dtype.type(1)
    cupy().cuda.Device().synchronize()
    assert float(theirs.sum()) == 300
    back = torch.from_dlpack(ours)
    assert back.data_ptr() == theirs.data_ptr()
    assert back.dtype == theirs.dtype
    y = cvzoo.Variable(ours) * 2 if name.startswith("float") else None
    if y is not None:
        assert float(torch.from_dlpack(y.array).sum()) == 600
