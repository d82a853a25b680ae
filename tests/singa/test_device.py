"""The one device, and what it says about others."""

import pytest

from cvzoo.errors import BackendError, ValueRangeError
from cvzoo.singa import device


def test_there_is_one_device():
    dev = device.get_default_device()
    assert device.create_cpu_device() is dev
    assert dev.id() == -1
    assert device.get_num_gpus() == 0
    assert repr(dev) == "Device(cpu)"


@pytest.mark.parametrize(
    "ask",
    [
        lambda: device.create_cuda_gpu(),
        lambda: device.create_cuda_gpu_on(0),
        lambda: device.create_cuda_gpus(2),
        lambda: device.create_cuda_gpus_on([0, 2]),
        lambda: device.create_opencl_device(),
    ],
)
def test_gpus_are_refused_with_what_to_do(ask):
    with pytest.raises(BackendError, match=r"CPU only[\s\S]*get_default_device"):
        ask()


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
