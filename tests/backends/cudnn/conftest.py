"""cuDNN as it is, where it is installed, and a stand-in for it that computes on the host."""

import pathlib

import pytest

pytest.importorskip("ml_dtypes", reason="bfloat16 needs ml_dtypes")

from fake_gpu.fake_cudnn import FakeCudnn, installed

from cvzoo.backends.cudnn import library as library_file
from cvzoo.backends.cudnn.library import CudnnError
from cvzoo.backends.cudnn.planner import Target

REAL = library_file.why_no_cudnn()
H100 = pathlib.Path(__file__).with_name("h100.json")


@pytest.fixture
def fake_cudnn(monkeypatch):
    """The stand-in, in the place of the library."""
    fake = FakeCudnn()
    monkeypatch.setattr(library_file, "_search", fake.as_library)
    yield fake
    assert not [call for call in fake.calls if call[0] == "failed"]


@pytest.fixture
def gpu(fake_gpu):
    """A made-up GPU with the stand-in of cuDNN: (machine, library)."""
    with fake_gpu() as machine, installed(machine) as fake:
        yield machine, fake


@pytest.fixture(params=["fake", "real"])
def h100(request, monkeypatch):
    """An H100 by its description, for the stand-in and for the real library."""
    if request.param == "fake":
        monkeypatch.setattr(library_file, "_search", FakeCudnn().as_library)
    elif REAL is not None:
        pytest.skip(f"no cuDNN: {REAL}")
    return _described()


@pytest.fixture
def real_h100():
    """An H100 by its description, for the real library."""
    if REAL is not None:
        pytest.skip(f"no cuDNN: {REAL}")
    return _described()


def _described():
    try:
        return Target.described(H100.read_bytes())
    except CudnnError as error:  # 9.28 plans only where libcuda.so.1 can be loaded
        if "status 1008" in str(error):
            pytest.skip(f"this cuDNN plans only where a driver is installed: {error}")
        raise
