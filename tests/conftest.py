"""Fixtures that every room's tests may use."""

import gc
import hashlib
import pathlib
import re
import shutil
import signal
import sys
import time

import hypothesis
import pytest
from fake_gpu import install
from real_gpu import real_gpu

from cvzoo.backends.cupy.library import why_no_cupy

# the same examples in every run; a slow machine is no failure
hypothesis.settings.register_profile("cvzoo", derandomize=True, deadline=None)
hypothesis.settings.load_profile("cvzoo")

# a shell's background job is born deaf to Ctrl-C, one under nohup to SIGHUP; tests send both
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


DEADLINE = pytest.StashKey[float | None]()
# files of tests that have kernels compiled for the host
STAND_INS = re.compile(r"tests/(backends/(cuda|cudnn|cupy)|optimizers/on_device)/|_on_a_gpu\.py")


def pytest_addoption(parser):
    group = parser.getgroup("cvzoo")
    group.addoption("--all", action="store_true", help="also the slow tests and those of the stand-in for a GPU")
    group.addoption("--slow", action="store_true", help="those alone")
    group.addoption("--minutes", type=float, metavar="N", help="skip what was not begun N minutes after the start")
    group.addoption("--shuffle", metavar="WORD", help="run the files in an order drawn from WORD")


def pytest_configure(config):
    minutes = config.getoption("--minutes")
    config.stash[DEADLINE] = None if minutes is None else time.monotonic() + 60 * minutes


def pytest_collection_modifyitems(config, items):
    """What a change needs, or all of it; processes that share the tests must call them by the same names."""
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"a test's name has an address in it, give its cases ids: {item.nodeid}")
    if not config.getoption("--all"):
        only_slow = config.getoption("--slow")
        config.hook.pytest_deselected(items=[item for item in items if is_slow(item) is not only_slow])
        items[:] = [item for item in items if is_slow(item) is only_slow]
    word = config.getoption("--shuffle")
    if word:  # stable: tests of one file stay together and in order
        items.sort(key=lambda item: hashlib.sha256(f"{word} {item.location[0]}".encode()).digest())


@pytest.hookimpl(trylast=True)
def pytest_collection_finish():
    """Tests and imported modules stay to the end: no search for garbage looks through them."""
    gc.collect()
    gc.freeze()


def is_slow(item):
    """Marked so, or computed by the stand-in for a GPU, which compiles kernels for the host."""
    fixtures = getattr(item, "fixturenames", ())
    asked = "fake_gpu" in fixtures or "gpu" in fixtures or hasattr(getattr(item, "module", None), "fake_gpu")
    on_stand_in = asked or STAND_INS.search(item.nodeid)
    return bool(on_stand_in) or item.get_closest_marker("slow") is not None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    deadline = item.config.stash[DEADLINE]
    if deadline is not None and time.monotonic() > deadline:
        pytest.skip("not begun within --minutes")


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item):
    """A hook that a test leaves behind would change what every later test of this process sees."""
    module = sys.modules.get("cvzoo.autodiff.function_hook")
    if module is not None and (module.this_thread.hooks or module.this_thread.link_hooks):
        left = *module.this_thread.hooks, *module.this_thread.link_hooks
        module.this_thread.hooks = module.this_thread.link_hooks = ()
        pytest.fail(f"the test left hooks active: {left}")


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


@pytest.fixture(scope="module", params=["stand-in", pytest.param("gpu", marks=pytest.mark.gpu)])
def gpu(request):
    """A GPU: the stand-in for one, and the real one of this machine (`pytest -m gpu`)."""
    if request.param == "gpu":
        reason = why_no_cupy()
        if reason is not None:
            pytest.skip(str(reason))
    elif shutil.which("g++") is None:
        pytest.skip("needs g++, which compiles the kernels for the host")
    with (real_gpu if request.param == "gpu" else install.fake_gpu)() as machine:
        yield machine


@pytest.fixture
def write(tmp_path):
    """`write(data, name)`: the path of a file that holds `data`."""

    def write(data, name="file"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write
