"""Users' kernels as a C++ compiler understands them: what NumPy's reading of them is compared with."""

import ctypes
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import numpy as np
import pytest

C_NAMES = {
    "float32": "float",
    "float64": "double",
    "int32": "int",
    "int64": "long long",
    "uint32": "unsigned int",
    "uint8": "unsigned char",
    "int8": "signed char",
    "bool": "bool",
}
PRELUDE = """
#include <cmath>
#include <type_traits>
using namespace std;
#define PICK(NAME, FLOAT, SIGN)                                                 \\
    template <class A, class B> auto NAME(A a, B b) -> common_type_t<A, B> {     \\
        common_type_t<A, B> x = a, y = b;                                        \\
        if constexpr (is_floating_point_v<common_type_t<A, B>>) return FLOAT(x, y); \\
        else return x SIGN y ? x : y;                                            \\
    }
PICK(max, fmax, >)
PICK(min, fmin, <)
template <class A> auto rsqrt(A a) { return 1 / sqrt(a); }
"""


def need_compiler():
    if shutil.which("g++") is None:
        pytest.skip("needs g++")


def build(source):
    """The library of a C++ text, built once for each text."""
    folder = pathlib.Path(tempfile.gettempdir()) / "cvzoo-c-kernels" / hashlib.sha256(source.encode()).hexdigest()[:24]
    library = folder / "kernel.so"
    if not library.exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = folder / f"{os.getpid()}.so"
        command = ["g++", "-std=c++17", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-x", "c++", "-", "-o", made]
        done = subprocess.run(command, input=source.encode(), capture_output=True)
        if done.returncode:
            raise AssertionError(f"g++ refuses:\n{source}\n{done.stderr.decode()}")
        made.rename(library)
    return ctypes.CDLL(str(library))


def run_elementwise(operation, inputs, outputs, types=()):
    """Run the statements for each place of 1-D arrays of one length.

    inputs, outputs: name -> array; outputs are written into
    types: (name, dtype) of names such as T
    """
    need_compiler()
    size = next(iter(outputs.values())).size
    lines = [f"typedef {C_NAMES[str(dtype)]} {name};" for name, dtype in types]
    arrays = {**inputs, **outputs}
    signature = ", ".join(f"{C_NAMES[str(a.dtype)]}* {name}_" for name, a in arrays.items())
    loads = "".join(f"const {C_NAMES[str(a.dtype)]} {name} = {name}_[i];" for name, a in inputs.items())
    loads += "".join(f"{C_NAMES[str(a.dtype)]}& {name} = {name}_[i];" for name, a in outputs.items())
    body = f"for (long long i = 0; i < n; ++i) {{ {loads} {operation}; }}"
    library = build(f'{PRELUDE}{"".join(lines)}\nextern "C" void kernel(long long n, {signature}) {{ {body} }}')
    library.kernel(ctypes.c_longlong(size), *(ctypes.c_void_p(a.ctypes.data) for a in arrays.values()))
    return {name: np.array(a) for name, a in outputs.items()}
