"""Kernels are loaded late, once a device, and say what is wrong."""

import types

import numpy as np
import pytest

from cvzoo.backends import gpu_kernels
from cvzoo.backends.gpu_kernels import KernelModule, blocks, common_source, source
from cvzoo.errors.exceptions import BackendError


class _Function:
    max_dynamic_shared_size_bytes = 48 << 10

    def __init__(self, log, name):
        self.log, self.name = log, name

    def __call__(self, grid, block, args, *, shared_mem):
        self.log.append((self.name, grid, block, args, shared_mem, self.max_dynamic_shared_size_bytes))


class _Cupy:
    """As much of CuPy as a loader sees."""

    def __init__(self, compiles=True):
        self.device, self.compiled, self.launched, self.compiles = 0, [], [], compiles
        self.cuda = types.SimpleNamespace(runtime=types.SimpleNamespace(getDevice=lambda: self.device))

    def RawModule(self, *, code, options, backend):
        if not self.compiles:
            raise ValueError('kernel.cu(3): error: identifier "oops" is undefined')
        self.compiled.append((code, options, backend))
        return types.SimpleNamespace(get_function=lambda name: _Function(self.launched, name))


@pytest.fixture
def fake(monkeypatch):
    fake = _Cupy()
    monkeypatch.setattr(gpu_kernels, "cupy", lambda: fake)
    return fake


def test_a_family_is_compiled_once_a_device(fake):
    kernels = KernelModule("batch_norm")
    for device in (0, 0, 1, 0, 1):
        fake.device = device
        kernels.launch("a", (1, 1, 1), (32, 1, 1), ())
        kernels.launch("b", (1, 1, 1), (32, 1, 1), ())
    assert len(fake.compiled) == 2
    assert len(fake.launched) == 10
    code, options, backend = fake.compiled[0]
    assert code.startswith(common_source())
    assert options == ("--std=c++17",)
    assert backend == "nvrtc"


def test_nothing_is_compiled_before_the_first_launch(fake):
    KernelModule("batch_norm")
    assert not fake.compiled


def test_none_is_a_null_pointer_and_large_shared_memory_is_asked_for(fake):
    kernels = KernelModule.from_source("mine", 'extern "C" __global__ void f(float *x) {}')
    kernels.launch("f", [2, 1, 1], [64, 1, 1], [None, np.int32(3)], shared=64 << 10)
    ((name, grid, block, args, shared, most),) = fake.launched
    assert (name, grid, block, shared, most) == ("f", (2, 1, 1), (64, 1, 1), 65536, 65536)
    assert args == (0, 3)
    assert args[0].dtype == np.uint64


def test_generated_text_has_the_common_part_in_front(fake):
    kernels = KernelModule.from_source("mine", "// text")
    assert kernels.source() == common_source() + "\n// text"
    assert source("batch_norm").startswith(common_source())


def test_a_source_that_does_not_compile_is_refused_with_the_compilers_log(fake):
    fake.compiles = False
    with pytest.raises(BackendError, match=r'mine cannot be used.*"oops" is undefined'):
        KernelModule.from_source("mine", "oops").launch("f", (1, 1, 1), (1, 1, 1), ())


def test_another_cupy_gets_other_kernels(fake, monkeypatch):
    kernels = KernelModule("batch_norm")
    kernels.launch("a", (1, 1, 1), (32, 1, 1), ())
    other = _Cupy()
    monkeypatch.setattr(gpu_kernels, "cupy", lambda: other)
    kernels.launch("a", (1, 1, 1), (32, 1, 1), ())
    assert len(other.launched) == 1


@pytest.mark.parametrize(("n", "wanted"), [(0, 1), (1, 1), (256, 1), (257, 2), (1 << 40, 65535 * 8)])
def test_a_grid_has_a_thread_for_each_element_up_to_a_bound(n, wanted):
    assert blocks(n) == (wanted, 1, 1)
