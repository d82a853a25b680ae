"""A report of this machine's GPUs and their libraries."""

from cvzoo.backends.cudnn.library import library, why_no_cudnn
from cvzoo.backends.cupy.library import cupy, why_no_cupy


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
    version = library().version
    return f"{version // 10000}.{version // 100 % 100}.{version % 100}"
