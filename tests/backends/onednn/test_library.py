import os
import subprocess
import sys

import pytest

import cvzoo.backends.onednn.library as library_file
from cvzoo.backends.onednn.library import library, why_no_onednn
from cvzoo.errors.exceptions import BackendError

needs_onednn = pytest.mark.skipif(why_no_onednn() is not None, reason=f"no oneDNN: {why_no_onednn()}")

CONVOLVE = """
import numpy as np
from cvzoo.backends.dispatch import get_backend
backend = get_backend({name!r})
x, w = np.ones((1, 16, 20, 20), "f"), np.ones((16, 16, 3, 3), "f")
settings = dict(stride=(1, 1), pad=(0, 0, 0, 0), dilate=(1, 1), groups=1)
"""


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@needs_onednn
def test_the_library_is_version_3():
    assert library().version.startswith("3.")
    assert library() is library()


def test_a_missing_openmp_runtime_names_the_package(monkeypatch):
    def fail(path):
        raise OSError("libgomp.so.1: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(library_file.ctypes, "CDLL", fail)
    with pytest.raises(BackendError, match=r"(?s)libgomp\.so\.1, which is not installed.*apt-get install libgomp1"):
        library_file._open("libdnnl.so.3")


def test_importing_the_backends_does_not_load_the_library():
    code = "import cvzoo.backends; maps = open('/proc/self/maps').read(); assert 'libdnnl' not in maps"
    result = run(code)
    assert result.returncode == 0, result.stderr


def test_a_missing_library_is_named_and_numpy_does_the_work():
    code = CONVOLVE.format(name="auto") + "print(backend.name, backend.conv_2d(x, w, None, **settings)[0, 0, 0, 0])"
    result = run(code, CVZOO_ONEDNN="/nowhere/libdnnl.so.3")
    assert result.stdout.split() == ["numpy", "144.0"], result.stderr
    result = run(CONVOLVE.format(name="onednn"), CVZOO_ONEDNN="/nowhere/libdnnl.so.3")
    assert result.returncode != 0
    assert "BackendError" in result.stderr
    assert "/nowhere/libdnnl.so.3" in result.stderr


def test_a_library_that_is_something_else_is_refused(tmp_path):
    file = tmp_path / "libdnnl.so.3"
    file.write_bytes(b"no library at all")
    code = "from cvzoo.backends.onednn.library import why_no_onednn; print(why_no_onednn())"
    assert str(file) in run(code, CVZOO_ONEDNN=str(file)).stdout
    assert "is not oneDNN" in run(code, CVZOO_ONEDNN="libm.so.6").stdout


@needs_onednn
def test_the_number_of_threads_is_obeyed():
    code = CONVOLVE.format(name="onednn") + (
        "backend.conv_2d(x, w, None, **settings)\n"
        "from cvzoo.backends.onednn.library import library\n"
        "print(library().calls.omp_get_max_threads())"
    )
    assert run(code, CVZOO_NUM_THREADS="3").stdout.strip() == "3"
    result = run(code, CVZOO_NUM_THREADS="many")
    assert "CVZOO_NUM_THREADS" in result.stderr


@needs_onednn
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_works_alone_and_does_not_hang():
    code = CONVOLVE.format(name="onednn") + (
        "import os, faulthandler\n"
        "before = backend.conv_2d(x, w, None, **settings)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    faulthandler.dump_traceback_later(60, exit=True)\n"
        "    from cvzoo.backends.onednn.library import library\n"
        "    from cvzoo.backends.openmp import threads_now\n"
        "    after = backend.conv_2d(x, w, None, **settings)\n"
        "    alone = threads_now()[0] == 1 and library().calls.omp_get_max_threads() == 1\n"
        "    os._exit(0 if np.array_equal(before, after) and alone else 1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), threads_now()[0] if child == 0 else '')"
    )
    result = run(code, CVZOO_NUM_THREADS="2")
    assert result.stdout.strip() == "0", result.stderr
