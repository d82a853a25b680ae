"""The backends have the same files with the same functions, so that a reader of one finds the way in all."""

import inspect
import pathlib

import pytest

import cvzoo.backends.numpy.backend
from cvzoo.backends.abstract import AbstractBackend
from cvzoo.backends.cudnn.backend import CudnnBackend
from cvzoo.backends.cupy.backend import CupyBackend
from cvzoo.backends.numpy.backend import NumpyBackend
from cvzoo.backends.onednn.backend import OneDNNBackend

FOLDERS = pathlib.Path(cvzoo.backends.numpy.backend.__file__).parents[1]
KERNEL_FILES = {
    "backend.py",
    "batch_norm_relu.py",
    "bfloat16.py",
    "chain.py",
    "concat.py",
    "conv.py",
    "eltwise.py",
    "matmul.py",
    "memory.py",
    "normalization.py",
    "pooling.py",
    "quantized.py",
    "resize.py",
    "softmax.py",
}
BACKENDS = [NumpyBackend, OneDNNBackend, CupyBackend, CudnnBackend]
METHODS = sorted(AbstractBackend.__abstractmethods__)


@pytest.mark.parametrize("folder", ["numpy", "onednn", "cupy"])
def test_every_backend_has_the_files_of_kernels(folder):
    assert {path.name for path in (FOLDERS / folder).glob("*.py")} >= KERNEL_FILES


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_every_method_is_a_function_of_its_own_file_with_the_signature_of_the_interface(backend, method):
    wanted = inspect.signature(getattr(AbstractBackend, method))
    function = getattr(backend, method)
    wanted = [(p.name, p.kind, p.default) for p in list(wanted.parameters.values())[1:]]
    got = [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]
    assert got == wanted
    assert function.__name__ == method
    assert pathlib.Path(inspect.getfile(inspect.unwrap(function))).name in KERNEL_FILES


@pytest.mark.parametrize("method", METHODS)
def test_a_method_lies_in_the_same_file_in_every_backend(method):
    files = {pathlib.Path(inspect.getfile(inspect.unwrap(getattr(backend, method)))).name for backend in BACKENDS}
    assert len(files) == 1


def test_a_backend_says_which_it_is():
    assert [backend.name for backend in BACKENDS] == ["numpy", "onednn", "cupy", "cudnn"]
