"""A report of the backends on this machine."""

import os
import platform

import numpy as np

from cvzoo.backends.cudnn.library import library as cudnn_library
from cvzoo.backends.cudnn.library import why_no_cudnn
from cvzoo.backends.cupy.library import cupy, why_no_cupy
from cvzoo.backends.native.library import native, why_no_native
from cvzoo.backends.onednn.int8_sums import has_int8_sums
from cvzoo.backends.onednn.library import library, why_no_onednn
from cvzoo.backends.onednn.pool import pool
from cvzoo.backends.openmp import threads_now, waiting_threads
from cvzoo.backends.threads import load
from cvzoo.config.switches import switches

_INSTRUCTIONS = "yes, by instructions of the processor"
_BF16 = {True: _INSTRUCTIONS, False: "no: the processor has no instructions for it"}


def _without_instructions() -> str:
    if has_int8_sums():
        return "yes, by our own kernels in C: the processor has no instructions for it"
    return "right but no faster: computed in float32"


def _blas() -> str:
    blas = np.show_config(mode="dicts").get("Build Dependencies", {}).get("blas", {})
    return f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()


def _blas_threads() -> str:
    """Number of threads of NumPy's matrix products; the rest of NumPy is single-threaded."""
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
        if os.environ.get(name):
            return f"{os.environ[name]} in NumPy's BLAS ({name})"
    return "as many as NumPy's BLAS likes; OPENBLAS_NUM_THREADS sets them"


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB"


def backend_facts() -> dict[str, str]:
    """The available backends, those in use and why, one short text per name; loads oneDNN if it is installed.

    Names: "backend", "oneDNN", "oneDNN library", "instructions", "int8", "bfloat16", "threads", "waiting threads",
    "memory pool", "own kernels", "NumPy", "CPU", "load". Those about oneDNN are absent where it cannot be
    used.
    """
    reason = why_no_onednn()
    requested = switches.backend
    runs = requested if requested != "auto" else "onednn" if reason is None else "numpy"
    facts = {"backend": runs if runs == requested else f"{runs} (asked for: {requested})"}
    if reason is None:
        onednn = library()
        facts["oneDNN"] = f"{onednn.version}, {onednn.runtime}"
        facts["oneDNN library"] = onednn.path
        facts["instructions"] = onednn.isa
        facts["int8"] = _INSTRUCTIONS if onednn.has_int8 else _without_instructions()
        facts["bfloat16"] = _BF16[onednn.has_bf16]
        count, why = threads_now()
        facts["threads"] = f"{count} ({why})"
        facts["waiting threads"] = waiting_threads()
        limit = f"at most {_megabytes(pool.limit)} idle, {_megabytes(pool.idle_bytes)} now"
        facts["memory pool"] = limit if pool.limit else "off (CVZOO_MEMORY_POOL=0)"
    else:
        facts["oneDNN"] = f"not used, NumPy computes everything: {reason}" if runs == "numpy" else reason
        facts["threads"] = _blas_threads()
    why_not, own = why_no_native(), native()
    facts["own kernels"] = own.words if own else f"none, so inference takes up to twice as long: {why_not}"
    facts["NumPy"] = f"{np.__version__}, BLAS {_blas()}"
    facts["CPU"] = f"{platform.machine()}, {os.cpu_count()} CPUs"
    facts["load"] = load()
    return facts


def gpu_facts() -> dict[str, str]:
    """The GPUs and libraries, and why they are or are not used, one short text per name.

    Names: "GPU" with the reason if there is none; else "CuPy", "CUDA", "cuDNN", "gpu:0", "gpu:1" ...
    """
    reason = why_no_cupy()
    if reason is not None:
        return {"GPU": f"none used: {reason}"}
    runtime = cupy().cuda.runtime
    missing = why_no_cudnn()
    facts = {
        "CuPy": cupy().__version__,
        "CUDA": f"runtime {_version(runtime.runtimeGetVersion())}, driver for {_version(runtime.driverGetVersion())}",
        "cuDNN": f"not used, CuPy and our own kernels compute everything: {missing}" if missing else _cudnn_version(),
    }
    for number in range(runtime.getDeviceCount()):
        about = runtime.getDeviceProperties(number)
        name = about["name"]
        name = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
        facts[f"gpu:{number}"] = (
            f"{name}, sm_{about['major']}{about['minor']}, {about['totalGlobalMem'] / 2**30:.0f} GiB"
        )
    return facts


def _version(number: int) -> str:
    """The version as text: "13.0" for 13000."""
    return f"{number // 1000}.{number % 1000 // 10}"


def _cudnn_version() -> str:
    version = cudnn_library().version
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}"
