"""A source of CUDA C as a shared library of the host, kept below the temporary folder by what it says."""

import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
FLAGS = ("-std=c++17", "-O2", "-march=native", "-ffp-contract=off", "-fno-strict-aliasing", "-fwrapv", "-fPIC", "-w")
_BOUNDS = r"(?:__launch_bounds__\s*\([^()]*\)\s*)?"
_KERNEL = re.compile(rf'extern\s*"C"\s*__global__\s*{_BOUNDS}void\s+{_BOUNDS}(\w+)\s*\(')
_DYNAMIC = re.compile(r"extern\s+__shared__\s+(?:__align__\s*\(\s*\d+\s*\)\s*)?([\w ]+?)\s+(\w+)\s*\[\s*\]\s*;")


class HostCudaError(RuntimeError):
    """The source does not compile for the host, or a launch is one that no device would accept."""


@functools.cache
def _gxx() -> str:
    found = shutil.which("g++")
    if found is None:
        raise HostCudaError("g++ is not on the path")
    return found


def _run(command: list[str], text: str) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        raise HostCudaError(f"g++ refuses the source:\n{done.stderr[:8000]}")
    return done.stdout


def _folder() -> pathlib.Path:
    folder = pathlib.Path(tempfile.gettempdir()) / f"cvzoo-host-cuda-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@functools.cache
def _machine() -> str:
    """What -march=native means here: a folder may outlive the machine."""
    return _run([_gxx(), "-march=native", "-dM", "-E", "-x", "c++", "-"], "")


def build(source: str) -> tuple[pathlib.Path, tuple[str, ...]]:
    """The library of `source`, and the names of its kernels; compiled if no library of that text is there."""
    header = (HERE / "host_cuda.h").read_text()
    key = hashlib.sha256("\0".join((source, header, _machine(), *FLAGS)).encode()).hexdigest()[:32]
    library = _folder() / f"{key}.so"
    names = _folder() / f"{key}.names"
    if not (library.is_file() and names.is_file()):
        # the first pass writes macros out, so that the kernels' names can be seen
        text = _run([_gxx(), "-std=c++17", "-E", "-P", "-x", "c++", "-DCVZOO_HOST=1", "-"], source)
        text = _DYNAMIC.sub(r"\1* \2 = (\1*)host_cuda::dynamic_shared;", text)
        found = _KERNEL.findall(text)
        if not found:
            raise HostCudaError('the source has no `extern "C" __global__ void name(...)`')
        text += "".join(f"\nHOST_CUDA_KERNEL({name})" for name in found) + "\n"
        fresh = _folder() / f"{key}.{os.getpid()}.new"
        compiler = [_gxx(), *FLAGS, "-shared", "-include", str(HERE / "host_cuda.h"), "-x", "c++", "-"]
        _run([*compiler, "-o", str(fresh)], text)
        os.replace(fresh, library)
        fresh.write_text("\n".join(found))
        os.replace(fresh, names)
    return library, tuple(names.read_text().split())
