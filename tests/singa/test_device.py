"""The processor, and GPUs as the rest of cvzoo finds them."""

import numpy as np
import pytest

from cvzoo.backends import get_device
from cvzoo.errors import BackendError, ValueRangeError
from cvzoo.singa import autograd, device, tensor


def test_the_processor_is_the_default():
    dev = device.get_default_device()
    assert device.create_cpu_device() is dev
    assert dev.id() == -1
    assert repr(dev) == "Device(cpu)"


@pytest.mark.parametrize(
    "ask",
    [
        lambda: device.create_cuda_gpu(),
        lambda: device.create_cuda_gpu_on(0),
        lambda: device.create_cuda_gpus(2),
        lambda: device.create_cuda_gpus_on([0, 2]),
    ],
)
def test_where_there_is_no_gpu_the_error_is_that_of_all_of_cvzoo(ask):
    if device.get_num_gpus():
        pytest.skip("there is a GPU")
    with pytest.raises(BackendError) as wanted:
        get_device("gpu:0")
    with pytest.raises(BackendError) as got:
        ask()
    assert str(got.value) == str(wanted.value)


def test_opencl_is_refused():
    with pytest.raises(BackendError, match="OpenCL"):
        device.create_opencl_device()


def test_gpus_are_found_as_the_rest_finds_them(fake_gpu):
    with fake_gpu(devices=2):
        assert device.get_num_gpus() == 2
        first, second = device.create_cuda_gpus(2)
        assert device.create_cuda_gpu() is first
        assert device.create_cuda_gpus_on([1]) == [second]
        assert [first.id(), second.id(), repr(second)] == [0, 1, "Device(gpu:1)"]
        with pytest.raises(BackendError, match="no device gpu:2"):
            device.create_cuda_gpus(3)
        with pytest.raises(ValueRangeError, match="index of a GPU"):
            device.create_cuda_gpu_on(-1)
        second.Sync()


def test_tensors_lie_where_they_are_made_and_move(fake_gpu):
    with fake_gpu(devices=2):
        first, second = device.create_cuda_gpus(2)
        t = tensor.from_numpy(np.arange(6, dtype="float32").reshape(2, 3), first)
        assert t.device is first
        assert (t + t).device is first
        t += 1.0
        t *= np.full(3, 2, "float32")
        t.copy_from_numpy(tensor.to_numpy(t) + 1)
        assert tensor.to_numpy(t).tolist() == [[3, 5, 7], [9, 11, 13]]
        assert (t.l1(), tensor.to_numpy(t > 5).sum()) == (8, 4)
        t.to_device(second)
        assert t.device is second
        t.gaussian(0, 1)
        assert t.set_value(2).device is second
        t.to_host()
        assert t.device is device.get_default_device()
        assert tensor.to_numpy(t).tolist() == [[2, 2, 2], [2, 2, 2]]


def test_what_programs_call_is_there():
    dev = device.get_default_device()
    dev.EnableGraph(True)
    assert dev.graph_enabled()
    dev.EnableGraph(False)
    assert not dev.graph_enabled()
    dev.ResetGraph()
    dev.Sync()
    device.enable_lazy_alloc(True)


def test_times_want_a_level_that_there_is(capsys):
    dev = device.get_default_device()
    for bad in (3, -1, "2"):
        with pytest.raises(ValueRangeError):
            dev.SetVerbosity(bad)
    with pytest.raises(ValueRangeError):
        dev.SetSkipIteration(-1)
    dev.SetVerbosity(1)
    dev.SetSkipIteration(1)
    for seconds in (9.0, 0.25, 0.75):
        dev.add_seconds("forward", seconds)
    dev.add_seconds("backward", 9.0)
    dev.PrintTimeProfiling()
    assert capsys.readouterr().out == "Time Profiling:\nForward Propagation Time : 0.5 sec\n"


def test_what_is_looked_at_on_the_host_comes_back_to_the_gpu(fake_gpu):
    numbers = np.array([[0.0, 1.5, -2.0], [3.0, 0.0, 0.25]], "float32")
    asked = [
        lambda t: tensor.einsum("ij->ji", t),
        lambda t: tensor.tensordot(t, t.transpose(), 1),
        lambda t: tensor.mult(t, t.transpose(), tensor.zeros((2, 2), t.device), 2.0, 0.0),
        lambda t: tensor.axpy(2.0, t, t.clone()),
        lambda t: autograd.gather(t, 1, tensor.from_numpy(np.array([2, 0]), t.device)),
        lambda t: autograd.where(t, t * 2.0, t > 0),
        lambda t: autograd.mse_loss(t, t * 2.0),
    ]
    with fake_gpu():
        for ask in asked:
            here, there = (ask(tensor.from_numpy(numbers, dev)) for dev in (None, device.create_cuda_gpu()))
            assert there.device.id() == 0
            np.testing.assert_allclose(tensor.to_numpy(there), tensor.to_numpy(here), rtol=1e-5)
