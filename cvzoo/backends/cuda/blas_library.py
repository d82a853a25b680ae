"""Finding and loading libcublas and libcublasLt, which come with CuPy."""

import contextlib
import ctypes
import functools
import os
import pathlib
import site
import sys
from collections.abc import Sequence

from cvzoo.errors.exceptions import BackendError

_MAJORS = (13, 12)
# of NVIDIA's wheels, in a folder of packages
_FOLDERS = {13: "nvidia/cu13/lib", 12: "nvidia/cublas/lib"}
# types of arguments: p pointer, i int, q int64, z size_t
_CUBLAS = {
    "cublasCreate_v2": "p",
    "cublasDestroy_v2": "p",
    "cublasSetStream_v2": "pp",
    "cublasSetWorkspace_v2": "ppz",
    "cublasGemmEx_64": "piiqqqppiqpiqppiqii",
    "cublasGemmStridedBatchedEx_64": "piiqqqppiqqpiqqppiqqqii",
}
_CUBLAS_LT = {
    "cublasLtCreate": "p",
    "cublasLtDestroy": "p",
    "cublasLtMatmulDescCreate": "pii",
    "cublasLtMatmulDescDestroy": "p",
    "cublasLtMatmulDescSetAttribute": "pipz",
    "cublasLtMatrixLayoutCreate": "piqqq",
    "cublasLtMatrixLayoutDestroy": "p",
    "cublasLtMatmulPreferenceCreate": "p",
    "cublasLtMatmulPreferenceDestroy": "p",
    "cublasLtMatmulPreferenceSetAttribute": "pipz",
    "cublasLtMatmulAlgoGetHeuristic": "pppppppipp",
    "cublasLtMatmul": "ppppppppppppppzp",
}
SIGNATURES = _CUBLAS | _CUBLAS_LT
TYPES = {"p": ctypes.c_void_p, "i": ctypes.c_int, "q": ctypes.c_int64, "z": ctypes.c_size_t}
STATUSES = {
    1: "not initialized",
    3: "out of memory",
    7: "an invalid value",
    8: "not for this GPU",
    11: "no memory mapped",
    13: "the GPU failed to run it",
    14: "an internal error",
    15: "not supported",
    16: "a license is missing",
}


def _candidates(name: str, majors: Sequence[int]) -> list[str]:
    bases = [*sys.path, *site.getsitepackages(), site.getusersitepackages()]
    paths = []
    for major in majors:
        file = f"lib{name}.so.{major}"
        for base in dict.fromkeys(bases):
            path = pathlib.Path(base or ".") / _FOLDERS[major] / file
            if path.is_file():
                paths.append(str(path))
        paths.append(file)
    return list(dict.fromkeys(paths))


def open_library(name: str, major: int | None = None) -> ctypes.CDLL:
    """The library "cublas" or "cublasLt": the one that CuPy has loaded, else NVIDIA's package's, else the loader's.

    major: CUDA's version that it must belong to; None: the newest
    Raises OSError if there is none.
    """
    majors = _MAJORS if major is None else (major,)
    for each in majors:
        with contextlib.suppress(OSError):
            return ctypes.CDLL(f"lib{name}.so.{each}", mode=ctypes.DEFAULT_MODE | os.RTLD_NOLOAD)
    tried = []
    for path in _candidates(name, majors):
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            tried.append(str(error))
    raise OSError("; ".join(tried) or f"lib{name} is not known for CUDA {major}")


def _open(name: str, signatures: dict[str, str], major: int | None) -> ctypes.CDLL:
    library = open_library(name, major)
    for function, kinds in signatures.items():
        try:
            call = getattr(library, function)
        except AttributeError:
            raise OSError(f"lib{name} has no {function}") from None
        call.argtypes = [TYPES[kind] for kind in kinds]
        call.restype = ctypes.c_int
    return library


@functools.cache
def cublas(major: int | None = None) -> ctypes.CDLL:
    """libcublas with its functions' types set. Raises OSError if it cannot be loaded."""
    return _open("cublas", _CUBLAS, major)


@functools.cache
def cublas_lt(major: int | None = None) -> ctypes.CDLL:
    """libcublasLt with its functions' types set. Raises OSError if it cannot be loaded."""
    return _open("cublasLt", _CUBLAS_LT, major)


@functools.cache
def why_no_cublas(major: int | None = None) -> str | None:
    """Why libcublas cannot be used, or None if it can."""
    try:
        cublas(major)
    except OSError as error:
        return str(error)
    return None


@functools.cache
def has_cublas_lt(major: int | None = None) -> bool:
    """Whether libcublasLt can be used."""
    try:
        cublas_lt(major)
    except OSError:
        return False
    return True


def forget() -> None:
    """Discard the loaded libraries."""
    for each in (cublas, cublas_lt, why_no_cublas, has_cublas_lt):
        each.cache_clear()


def check(status: int, what: str) -> None:
    """Raise BackendError unless the call succeeded."""
    if status:
        raise BackendError(f"cuBLAS: {what} failed: {STATUSES.get(status, 'status')} ({status})")
