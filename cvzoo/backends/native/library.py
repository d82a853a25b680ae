"""Finding and loading the library of our own kernels."""

import ctypes
import functools
import os
import pathlib
import platform

from cvzoo.backends.native.build import FOLDER, NAME, SOURCES, hash_of_sources
from cvzoo.backends.openmp import idle_threads, parallel_function
from cvzoo.errors.exceptions import BackendError, ConfigError

_INSTRUCTIONS = ("plain", "avx2", "avx512")
_PLAIN = "NEON, tested under emulation only" if platform.machine() == "aarch64" else "baseline instructions"
_WORDS = {"plain": _PLAIN, "avx2": "AVX2", "avx512": "AVX-512"}
_HOW = "python -m cvzoo.backends.native.build"
_KERNELS = (
    "sum",
    "running_sum",
    "average_pool",
    "batch_statistics",
    "batch_norm_grad",
    "layer_norm_grad",
    "depthwise_weight_grad",
    "softmax",
    "swish",
    "winograd",
    "winograd_filters",
    "rows",
    "rows_matrix",
    "int8_convolution",
    "elementwise",
    "suppression",
    "softmax_above",
    "best_of_parts",
    "region_means",
    "prepare",
    "run_difference",
    "run_strings",
    "run_sums",
    "run_texts",
    "polygon_changes",
    "polygon_runs",
    "records",
    "vertices",
)
_WITH_SCRATCH = ("winograd", "rows", "int8_convolution")


class Native:
    """The loaded library.

    path: of the library
    instructions: "plain", "avx2" or "avx512"
    kernels: by name, functions of the address of a plan, the address of an array of addresses, and the number of
        threads; they return 0, or 1 if out of memory. They run without the interpreter lock
    scratch_sizes: by name of a kernel that needs scratch memory, its address being the last one of the array, functions
        of the address of a plan and the number of threads; they return its size in bytes
    """

    def __init__(self, path: str, library: ctypes.CDLL, instructions: str):
        self.path = path
        self.instructions = instructions
        self.words = _WORDS[instructions]
        self.kernels = {}
        for name in _KERNELS:
            function = getattr(library, f"{name}_{instructions}")
            function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
            self.kernels[name] = function
        self.scratch_sizes = {}
        for name in _WITH_SCRATCH:
            size = getattr(library, f"{name}_scratch_{instructions}")
            size.argtypes, size.restype = [ctypes.c_void_p, ctypes.c_int], ctypes.c_int64
            self.scratch_sizes[name] = size


def _instructions(best: int) -> str:
    """The widest instruction set that the CPU has and CVZOO_NATIVE allows."""
    requested = os.environ.get("CVZOO_NATIVE")
    if not requested:
        return _INSTRUCTIONS[best]
    if requested not in _INSTRUCTIONS:
        raise ConfigError(
            "CVZOO_NATIVE has an unknown value", expected=f"0, {', '.join(_INSTRUCTIONS)}", got=repr(requested)
        )
    return _INSTRUCTIONS[min(best, _INSTRUCTIONS.index(requested))]


def _load(path: pathlib.Path) -> Native:
    try:
        library = ctypes.CDLL(str(path))
        library.hash_of_sources.restype = ctypes.c_char_p
        built_from = library.hash_of_sources().decode()
    except (OSError, AttributeError) as error:
        raise BackendError(f"{path} cannot be loaded: {error}") from None
    if SOURCES.is_dir() and built_from != hash_of_sources():
        raise BackendError(f"{path.name} was built from other sources ({_HOW})")
    library.use_threads_of.argtypes = [ctypes.c_void_p]
    library.use_threads_of(parallel_function())
    library.spread_threads.argtypes = [ctypes.c_int]
    idle_threads.spread = library.spread_threads
    return Native(str(path), library, _instructions(library.best_instructions()))


@functools.cache
def _search() -> Native | BackendError:
    if os.environ.get("CVZOO_NATIVE") == "0":
        return BackendError("CVZOO_NATIVE is 0")
    # absolute: a name without a folder means the system's libraries
    path = pathlib.Path(os.environ.get("CVZOO_NATIVE_LIBRARY") or FOLDER / NAME).absolute()
    if not path.is_file():
        return BackendError(f"{path.name} is not built ({_HOW})")
    try:
        return _load(path)
    except BackendError as error:
        return error


def native() -> Native | None:
    """The library, loaded at the first call; None if there is none, and callers fall back to other kernels."""
    result = _search()
    return None if isinstance(result, BackendError) else result


def why_no_native() -> str | None:
    """Why our own kernels are not used here, in words; None if they are."""
    result = _search()
    return str(result) if isinstance(result, BackendError) else None
