"""Selection of the backend for an array; its module is imported at first use."""

import functools
from importlib import import_module
from typing import Any

import numpy as np

from cvzoo.backends.abstract import AbstractBackend
from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.cudnn.library import why_no_cudnn
from cvzoo.backends.cupy.library import cupy
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import BackendError, DtypeError

_GPU = ("cudnn", "cupy")
_backends: dict[str, AbstractBackend] = {}
_on_cpu: dict[str, AbstractBackend] = {}  # by config.backend, for arrays of the CPU
_on_gpu: dict[str, AbstractBackend] = {}  # by config.backend, for arrays on a GPU


def _module(name: str) -> AbstractBackend:
    module: Any = import_module(f"cvzoo.backends.{name}.backend")
    return module


def _imported(name: str) -> AbstractBackend:
    if name == "numpy":
        return _module("numpy")
    if name in ("onednn", "auto"):
        reason = why_no_onednn()
        if reason is None:
            return _module("onednn")
        if name == "auto":
            return get_backend("numpy")
        raise BackendError(f"the oneDNN backend cannot run here: {reason}", hint="pip install onednn-cpu-gomp")
    if name == "cupy":
        return _module("cupy")
    if name == "cudnn":
        reason = why_no_cudnn()
        if reason is None:
            return _module("cudnn")
        raise BackendError(f"the cuDNN backend cannot run here: {reason}", hint="config.backend = 'cupy'")
    raise BackendError(f"there is no backend {name!r} in this installation", expected="onednn, numpy, cudnn or cupy")


def get_backend(name: str | None = None) -> AbstractBackend:
    """The backend of that name; without a name that of config.backend for the CPU.

    Raises BackendError if it cannot run here; the message says why.
    """
    if name is None:
        requested = switches.backend
        backend = _on_cpu.get(requested)
        if backend is None:
            # with a GPU's backend configured, arrays on the CPU use the best CPU backend
            backend = _on_cpu[requested] = get_backend("auto" if requested in _GPU else requested)
        return backend
    backend = _backends.get(name)
    if backend is None:
        backend = _backends[name] = _imported(name)
    return backend


def gpu_backend() -> AbstractBackend:
    """The backend of config.backend for a GPU: cudnn where libcudnn is found, else cupy.

    Raises BackendError if no GPU can be used; the message says why.
    """
    requested = switches.backend
    backend = _on_gpu.get(requested)
    if backend is None:
        cupy()
        name = requested if requested in _GPU else "cudnn" if why_no_cudnn() is None else "cupy"
        backend = _on_gpu[requested] = get_backend(name)
    return backend


def forget_gpu() -> None:
    """Reset the cached GPU backends, after a change of the GPUs that CuPy detects."""
    _on_gpu.clear()
    for name in _GPU:
        _backends.pop(name, None)


def backend_of(array: object) -> AbstractBackend:
    """The backend that runs the kernels for `array`.

    Raises DtypeError if it is not an array that cvzoo can compute with.
    """
    if isinstance(array, np.ndarray | np.generic):
        return _on_cpu.get(switches.backend) or get_backend()
    if is_device_array(array):
        return _on_gpu.get(switches.backend) or gpu_backend()
    raise DtypeError(
        "cvzoo computes with numpy.ndarray and cupy.ndarray",
        got=type(array).__name__,
        hint="numpy.asarray(x, 'float32')",
    )


NumpyBackend = functools.partial(get_backend, "numpy")
OneDNNBackend = functools.partial(get_backend, "onednn")
