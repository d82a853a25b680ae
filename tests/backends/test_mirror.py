"""Every backend is a module with the functions of the interface, in files of the same names."""

import inspect
import pathlib

import pytest

from cvzoo.backends.abstract import AbstractBackend
from cvzoo.backends.cudnn import backend as cudnn_backend
from cvzoo.backends.cupy import backend as cupy_backend
from cvzoo.backends.numpy import backend as numpy_backend
from cvzoo.backends.onednn import backend as onednn_backend

BACKENDS = [numpy_backend, onednn_backend, cupy_backend, cudnn_backend]
KERNELS = sorted(name for name, _ in inspect.getmembers(AbstractBackend, inspect.isfunction) if name[0] != "_")


def names(module):
    """The functions that a backend's module holds."""
    return {name for name, value in vars(module).items() if inspect.isroutine(value) and not name.startswith("_")}


def signature(function):
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


def home(function):
    return pathlib.Path(inspect.getfile(inspect.unwrap(function)))


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda each: each.name)
def test_a_backend_has_the_kernels_of_the_interface_and_nothing_else(backend):
    assert sorted(names(backend)) == KERNELS


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("backend", BACKENDS, ids=lambda each: each.name)
def test_a_kernel_has_the_signature_of_the_interface(backend, kernel):
    function = getattr(backend, kernel)
    assert signature(function) == signature(getattr(AbstractBackend, kernel))[1:]  # a module has no self
    assert function.__name__ == kernel


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_lies_in_a_file_of_the_same_name_in_every_backend(kernel):
    files = {home(getattr(backend, kernel)) for backend in BACKENDS}
    assert len({file.name for file in files if file.parent.name != "cuda"}) <= 1  # whose files are of one source each


def test_a_backend_says_which_it_is():
    assert [backend.name for backend in BACKENDS] == ["numpy", "onednn", "cupy", "cudnn"]


def test_a_gpu_backend_has_no_other_attributes():
    with pytest.raises(AttributeError, match="no attribute 'conv_4d'"):
        cudnn_backend.conv_4d  # noqa: B018
