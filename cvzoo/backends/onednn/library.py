"""Finding and loading libdnnl."""

import ctypes
import dataclasses
import functools
import os
import pathlib
import platform
import site
import sys
from collections.abc import Iterator

from cvzoo.backends.arrays import can_read_addresses
from cvzoo.backends.openmp import prepare_openmp
from cvzoo.errors.exceptions import BackendError

_FILE = "libdnnl.so.3"
_RUNTIMES = {0: "none", 1: "sequential", 2: "OpenMP", 4: "TBB", 8: "thread pool", 0x200: "SYCL"}
_ISAS = {
    0x0: "default",
    0x1: "SSE4.1",
    0x3: "AVX",
    0x7: "AVX2",
    0xF: "AVX2 with VNNI",
    0x27: "AVX-512",
    0x67: "AVX-512 with VNNI",
    0xE7: "AVX-512 with VNNI and bfloat16",
    0x1EF: "AVX-512 with float16",
    0xFEF: "AVX-512 with AMX",
}
_SSE41 = 0x1
_VNNI, _BF16 = 0x48, 0x80  # bits of the above; the first of AVX2 or AVX-512
# what each function takes after its first argument (where the result goes): p pointer, i int, q int64, f float
_DESCRIPTORS = {
    "convolution_forward": "piippppppppp",
    "convolution_backward_data": "pippppppppp",
    "convolution_backward_weights": "pipppppppppp",
    "deconvolution_forward": "piippppppppp",
    "pooling_forward": "piipppppppp",
    "pooling_backward": "pippppppppp",
    "batch_normalization_forward": "pippfip",
    "batch_normalization_backward": "pipppfipp",
    "layer_normalization_forward": "pipppfip",
    "layer_normalization_backward": "pippppfipp",
    "eltwise_forward": "piippffp",
    "eltwise_backward": "pipppffpp",
    "binary": "pipppp",
    "softmax_forward": "piippip",
    "softmax_backward": "pipppipp",
    "resampling_forward": "piipppp",
    "resampling_backward": "pippppp",
    "lrn_forward": "piippqfffp",
    "lrn_backward": "pipppqfffpp",
    "matmul": "pppppp",
    "inner_product_forward": "pippppp",
    "reorder": "ppppp",
    "concat": "ppiipp",
}
_TYPES = {"p": ctypes.c_void_p, "i": ctypes.c_int, "q": ctypes.c_int64, "f": ctypes.c_float}


class _Version(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("patch", ctypes.c_int),
        ("hash", ctypes.c_char_p),
        ("cpu_runtime", ctypes.c_uint),
        ("gpu_runtime", ctypes.c_uint),
    ]


@dataclasses.dataclass(frozen=True)
class Library:
    """The loaded library.

    calls: functions that may run long and release the interpreter lock
    quick: queries and setters, which do not release the lock
    path: its path, if known; version: "3.2.0"; runtime: "OpenMP"; isa: the instruction set in use
    has_int8, has_bf16: whether there are int8 and bfloat16 dot product instructions
    reads_aligned: whether reads must be aligned to 16 bytes, as without AVX
    engine: the address of the CPU's engine
    """

    calls: ctypes.CDLL
    quick: ctypes.PyDLL
    path: str
    version: str
    runtime: str
    isa: str
    has_int8: bool
    has_bf16: bool
    reads_aligned: bool
    engine: int


def _candidates() -> Iterator[str]:
    """Possible paths of the library by priority; the last one is searched by the loader."""
    paths = [pathlib.Path(sys.prefix) / "lib" / _FILE]
    if site.ENABLE_USER_SITE and site.USER_BASE:
        paths.append(pathlib.Path(site.USER_BASE) / "lib" / _FILE)
    yield from map(str, filter(pathlib.Path.is_file, paths))
    import importlib.metadata  # 20 ms, which the first command of a process would wait for

    try:
        files = importlib.metadata.distribution("onednn-cpu-gomp").files or ()
    except importlib.metadata.PackageNotFoundError:
        files = ()
    yield from [str(pathlib.Path(file.locate()).resolve()) for file in files if file.name == _FILE]
    yield _FILE


def _open(path: str) -> ctypes.CDLL:
    prepare_openmp()
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        if "libgomp" in str(error):
            raise BackendError(
                "oneDNN needs libgomp.so.1, which is not installed",
                hint="apt-get install libgomp1 (Debian, Ubuntu) or dnf install libgomp (Fedora)",
            ) from error
        raise BackendError(f"{path} cannot be loaded: {error}") from error


def _declare(calls: ctypes.CDLL, quick: ctypes.PyDLL) -> None:
    for name, letters in _DESCRIPTORS.items():
        # attribute access caches the function object, a subscript creates a new one at each use
        function = getattr(calls, f"dnnl_{name}_primitive_desc_create")
        function.argtypes = [_TYPES[letter] for letter in "p" + letters]
    p, i = ctypes.c_void_p, ctypes.c_int
    calls.dnnl_primitive_execute.argtypes = [p, p, i, p]
    calls.dnnl_primitive_create.argtypes = [p, p]
    quick.dnnl_memory_set_data_handle.argtypes = [p, p]
    quick.dnnl_memory_create.argtypes = [p, p, p, p]
    quick.dnnl_memory_get_memory_desc.argtypes = [p, p]
    quick.dnnl_primitive_get_primitive_desc.argtypes = [p, p]
    quick.dnnl_memory_desc_create_with_strides.argtypes = [p, i, p, i, p]
    quick.dnnl_memory_desc_create_with_tag.argtypes = [p, i, p, i, i]
    quick.dnnl_memory_desc_get_size.argtypes = [p]
    quick.dnnl_memory_desc_get_size.restype = ctypes.c_size_t
    quick.dnnl_memory_desc_equal.argtypes = [p, p]
    quick.dnnl_memory_desc_query.argtypes = [p, i, p]
    quick.dnnl_primitive_desc_query_md.argtypes = [p, i, i]
    quick.dnnl_primitive_desc_query_md.restype = p
    quick.dnnl_primitive_desc_query.argtypes = [p, i, i, p]
    quick.dnnl_primitive_attr_create.argtypes = [p]
    quick.dnnl_primitive_attr_set_scratchpad_mode.argtypes = [p, i]
    quick.dnnl_primitive_attr_set_post_ops.argtypes = [p, p]
    quick.dnnl_primitive_attr_set_scales_mask.argtypes = [p, i, i]
    quick.dnnl_post_ops_create.argtypes = [p]
    quick.dnnl_post_ops_append_eltwise.argtypes = [p, i, ctypes.c_float, ctypes.c_float]
    quick.dnnl_post_ops_append_sum.argtypes = [p, ctypes.c_float, i, i]
    quick.dnnl_post_ops_append_binary.argtypes = [p, i, p]
    for name in ("memory", "memory_desc", "primitive", "primitive_desc", "primitive_attr", "post_ops", "stream"):
        getattr(quick, f"dnnl_{name}_destroy").argtypes = [p]
    quick.dnnl_stream_create.argtypes = [p, p, ctypes.c_uint]
    q, f = ctypes.c_int64, ctypes.c_float
    calls.dnnl_sgemm.argtypes = [ctypes.c_char, ctypes.c_char, q, q, q, f, p, q, p, q, f, p, q]


def _load(path: str) -> Library:
    calls = _open(path)
    # calls of microseconds keep the interpreter lock, whose release costs more
    quick = ctypes.PyDLL(path)
    try:
        calls.dnnl_version.restype = ctypes.POINTER(_Version)
        version = calls.dnnl_version().contents
    except AttributeError:
        raise BackendError(f"{path} is not oneDNN") from None
    text = f"{version.major}.{version.minor}.{version.patch}"
    if version.major != 3:
        raise BackendError(f"{path} is another oneDNN", expected="version 3", got=text)
    runtime = _RUNTIMES.get(version.cpu_runtime, str(version.cpu_runtime))
    if runtime not in ("sequential", "OpenMP", "TBB"):
        raise BackendError(f"{path} was built for another runtime", expected="OpenMP", got=runtime)
    _declare(calls, quick)
    engine = ctypes.c_void_p()
    if calls.dnnl_engine_create(ctypes.byref(engine), 1, ctypes.c_size_t(0)) != 0:
        raise BackendError(f"{path} finds no CPU that it can use")
    isa = calls.dnnl_get_effective_cpu_isa()
    abilities = bool(isa & _VNNI), bool(isa & _BF16), isa == _SSE41
    return Library(calls, quick, path, text, runtime, _ISAS.get(isa, hex(isa)), *abilities, engine.value or 0)


@functools.cache
def _search() -> Library | BackendError:
    wanted = os.environ.get("CVZOO_ONEDNN")
    if platform.system() != "Linux":
        return BackendError(f"oneDNN is looked for on Linux only, this is {platform.system()}")
    if not can_read_addresses():
        return BackendError("this NumPy or Python keeps an array's address at an unknown place")
    refusal: BackendError | None = None
    for path in [wanted] if wanted else _candidates():
        try:
            return _load(path)
        except BackendError as error:
            # the error of the first candidate, which has the highest priority, is reported
            refusal = refusal or error
    return refusal or BackendError("oneDNN was not found")


def library() -> Library:
    """The library, loaded at the first call.

    Raises BackendError that says why it cannot be used.
    """
    loaded = _search()
    if isinstance(loaded, BackendError):
        raise loaded
    return loaded


def why_no_onednn() -> str | None:
    """Why oneDNN cannot be used here, in words; None if it can."""
    loaded = _search()
    return str(loaded) if isinstance(loaded, BackendError) else None


def why_no_bf16() -> str | None:
    """Why bfloat16 is not faster here, in words; None if it is."""
    loaded = _search()
    if isinstance(loaded, BackendError):
        return str(loaded)
    return None if loaded.has_bf16 else f"the CPU has no instructions for bfloat16, only {loaded.isa}"
