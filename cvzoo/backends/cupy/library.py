"""CuPy, imported when a GPU is first asked for."""

import functools
import sys
from types import ModuleType

from cvzoo.errors.exceptions import BackendError

HINT = 'pip install "cvzoo[cuda13]", or "cvzoo[cuda12]" for an older driver'


@functools.cache
def why_no_cupy() -> str | None:
    """Why CuPy cannot compute here, or None if it can."""
    try:
        import cupy
    except ImportError as error:
        return f"CuPy cannot be imported ({error})"
    except Exception as error:  # what a broken installation of CUDA's libraries raises is no one class
        return f"CuPy does not start ({type(error).__name__}: {error})"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:
        return f"CUDA finds no GPU ({error})"
    return None if count else "CUDA finds no GPU"


@functools.cache
def cupy() -> ModuleType:
    """The module. Raises BackendError with the reason if it cannot be used, and how to install it."""
    reason = why_no_cupy()
    if reason is not None:
        raise BackendError(f"no GPU can be used here: {reason}", hint=HINT)
    return sys.modules["cupy"]


def forget() -> None:
    """Search again next time: for tests, and after CuPy was installed."""
    why_no_cupy.cache_clear()
    cupy.cache_clear()
