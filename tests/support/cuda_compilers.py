"""CUDA C compiled for a GPU that is not here, by NVRTC where its library is found, else by nvcc."""

import ctypes
import functools
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)
# each takes a compiler some tenths of a second a kernel: one in every run, all when asked
ONE_OF_ARCHITECTURES = [each if each == 90 else pytest.param(each, marks=pytest.mark.slow) for each in ARCHITECTURES]
_AS_CUPY = ("-ftz=true", "--device-as-default-execution-space")  # what CuPy adds to every compilation


@functools.cache
def nvrtc():
    """libnvrtc, from beside CuPy's wheels or from the loader's path; None if it is nowhere."""
    for folder in sys.path:
        for found in sorted(pathlib.Path(folder or ".").glob("nvidia/*/lib/libnvrtc.so.1?")):
            return ctypes.CDLL(str(found))
    for name in ("libnvrtc.so.13", "libnvrtc.so.12"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


def _by_nvrtc(text, architecture):
    library, program = nvrtc(), ctypes.c_void_p()
    options = [f"--gpu-architecture=sm_{architecture}", "--std=c++17", "--ptxas-options=-v", *_AS_CUPY]
    assert library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernels.cu", 0, None, None) == 0
    code = library.nvrtcCompileProgram(
        program, len(options), (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
    )
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    library.nvrtcDestroyProgram(ctypes.byref(program))
    assert code == 0, log.value.decode()
    return log.value.decode()


def _by_nvcc(nvcc, text, architecture, folder):
    path = folder / "kernels.cu"
    path.write_text(text)
    command = [
        nvcc,
        "-std=c++17",
        "-ftz=true",
        "-cubin",
        f"-arch=sm_{architecture}",
        "-Xptxas",
        "-v",
        "-o",
        "/dev/null",
        str(path),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


def ptxas_report(text, architecture, folder):
    """What ptxas says of each kernel of `text`, the whole source; what the compiler refuses fails the test.

    Skips the test where there is no compiler. Only NVRTC shows that a source needs no header.
    """
    if nvrtc() is not None:
        return _by_nvrtc(text, architecture)
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        pytest.skip("neither libnvrtc nor nvcc is here")
    return _by_nvcc(nvcc, text, architecture, folder)


def spills(report):
    """The kernels that ptxas gave memory to: a stack frame, or registers put aside."""
    found = re.findall(
        r"Function properties for (\w+)\s+(?:ptxas\s+\.\s+)?"
        r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads",
        report,
    )
    assert found, report
    return [row for row in found if row[1:] != ("0", "0", "0")]
