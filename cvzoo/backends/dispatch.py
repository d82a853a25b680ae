"""Which backend runs the kernels for an array."""

from typing import Any

import numpy as np

from cvzoo.backends.abstract import AbstractBackend
from cvzoo.backends.numpy.backend import NumpyBackend
from cvzoo.backends.onednn.backend import OneDNNBackend
from cvzoo.backends.onednn.library import why_no_onednn
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import BackendError, DtypeError

_made: dict[str, AbstractBackend] = {}


def _make(name: str) -> AbstractBackend:
    if name == "numpy":
        return NumpyBackend()
    if name in ("onednn", "auto"):
        reason = why_no_onednn()
        if reason is None:
            return OneDNNBackend()
        if name == "auto":
            return get_backend("numpy")
        raise BackendError(f"the oneDNN backend cannot run here: {reason}", hint="pip install onednn-cpu-gomp")
    raise BackendError(f"there is no backend {name!r} in this installation", expected="onednn or numpy")


def get_backend(name: str | None = None) -> AbstractBackend:
    """The backend of that name; without a name the one that config.backend asks for on the CPU.

    Raises BackendError if it cannot run here; the message says why.
    """
    if name is None:
        name = switches.backend
    backend = _made.get(name)
    if backend is None:
        backend = _made[name] = _make(name)
    return backend


def backend_of(array: Any) -> AbstractBackend:
    """The backend that runs the kernels for `array`.

    Raises DtypeError if it is not an array that cvzoo can compute with.
    """
    if isinstance(array, np.ndarray | np.generic):
        return _made.get(switches.backend) or get_backend(switches.backend)
    raise DtypeError("cvzoo computes with numpy.ndarray", got=type(array).__name__, hint="numpy.asarray(x, 'float32')")
