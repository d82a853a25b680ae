"""Fixtures of the zoo's tests."""

import contextlib
import shutil

import pytest
from neighbour import neighbour

from cvzoo.backends.cupy.library import why_no_cupy
from cvzoo.config.switches import using_config

REASON = why_no_cupy()


@pytest.fixture(scope="session")
def seeds():
    """The module seeded_weights.py: networks of torchvision whose numbers their names seed."""
    return neighbour(__file__, "seeded_weights")


@pytest.fixture(
    params=[
        "auto",
        pytest.param("numpy", marks=pytest.mark.slow),
        pytest.param("stand-in", marks=pytest.mark.slow),
        pytest.param("gpu", marks=[pytest.mark.gpu, pytest.mark.skipif(REASON is not None, reason=str(REASON))]),
    ]
)
def on_device(request):
    """`with on_device(model):` lets the model compute with oneDNN, NumPy, the stand-in for a GPU or a real GPU."""
    if request.param in ("auto", "numpy"):
        with using_config("backend", request.param):
            yield contextlib.nullcontext
        return
    if request.param == "gpu":
        yield on_gpu
        return
    if shutil.which("g++") is None:
        pytest.skip("g++ compiles the kernels for the host")
    from fake_gpu.install import fake_gpu

    with fake_gpu():
        yield on_gpu


@contextlib.contextmanager
def on_gpu(model):
    try:
        yield model.to_device("gpu:0")
    finally:
        model.to_device("cpu")
