"""Fixtures that every room's tests may use."""

import os
import pathlib
import shutil
import signal

import hypothesis
import pytest

# the same examples in every run; a slow machine is no failure
hypothesis.settings.register_profile("cvzoo", derandomize=True, deadline=None)
hypothesis.settings.load_profile("cvzoo")

# a shell's background job is born deaf to Ctrl-C, which tests send
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Long tests are for who asks; processes that share the tests must call them by the same names."""
    for item in items:
        if item.get_closest_marker("long") and not os.environ.get("CVZOO_LONG_TESTS"):
            item.add_marker(pytest.mark.skip(reason="minutes: set CVZOO_LONG_TESTS=1"))
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"a test's name has an address in it, give its cases ids: {item.nodeid}")


SHARED = pathlib.Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared():
    """The folder of real data and weights that lies beside the checkout; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("needs the folder ../shared with real data and weights")
    return SHARED


@pytest.fixture
def fake_gpu():
    """`with fake_gpu(devices=2) as machine:` puts made-up GPUs where `import cupy` finds them."""
    if shutil.which("g++") is None:
        pytest.skip("needs g++, which compiles the kernels for the host")
    from fake_gpu.install import fake_gpu

    return fake_gpu
