"""The library is optional, says why it is not there, and obeys CVZOO_NATIVE."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import cvzoo
from cvzoo.backends.native import build
from cvzoo.backends.native.library import _search, native, why_no_native

needs_library = pytest.mark.skipif(native() is None, reason=f"no library: {why_no_native()}")
TELL = """
from cvzoo.backends.native.library import native, why_no_native
print(why_no_native() or native().instructions)
"""
WORKS = """
import numpy as np
from cvzoo.backends.sums import sum_along
x = np.random.default_rng(0).random((3, 40, 50, 7), np.float32)
np.testing.assert_allclose(sum_along(x, (1, 2)), x.sum((1, 2), dtype=np.float64), rtol=4e-7)
"""


def run(code, **environment):
    environment = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


def test_a_plan_lives_until_its_kernel_has_read_it():
    """`addressof` of a structure without a name frees it at once, and threads take its memory; `byref` keeps it."""
    sources = [*pathlib.Path(cvzoo.__file__).parent.rglob("*.py"), *pathlib.Path(__file__).parent.rglob("*.py")]
    assert not [str(path) for path in sources if re.search(r"addressof\(\w+\(", path.read_text(encoding="utf-8"))]


@needs_library
@pytest.mark.parametrize("asked", ["plain", "avx2"])
def test_fewer_instructions_may_be_asked_for(asked):
    if native().instructions == "plain":
        pytest.skip("this processor has no more")
    assert run(TELL, CVZOO_NATIVE=asked).stdout.strip() == asked


def test_without_the_library_sums_keep_their_digits():
    assert run(TELL, CVZOO_NATIVE="0").stdout.strip() == "CVZOO_NATIVE is 0"
    result = run(WORKS, CVZOO_NATIVE="0")
    assert result.returncode == 0, result.stderr


@needs_library
def test_instructions_that_nobody_knows_are_an_error():
    assert "CVZOO_NATIVE has an unknown value" in run(TELL, CVZOO_NATIVE="mmx").stderr


@needs_library
def test_a_library_from_other_sources_is_not_used(tmp_path):
    library = tmp_path / build.NAME
    shutil.copy(native().path, library)
    old = build.hash_of_sources().encode()
    library.write_bytes(library.read_bytes().replace(old, old[::-1]))
    result = run(TELL + WORKS, CVZOO_NATIVE_LIBRARY=str(library))
    assert "was built from other sources" in result.stdout
    assert result.returncode == 0, result.stderr


def test_a_file_that_is_no_library_is_not_used(tmp_path):
    (tmp_path / build.NAME).write_text("no library")
    assert "cannot be loaded" in run(TELL, CVZOO_NATIVE_LIBRARY=str(tmp_path / build.NAME), CVZOO_NATIVE="").stdout


@needs_library
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_adds_alone():
    code = WORKS.replace("(3, 40", "(30, 400") + (
        "import faulthandler, os\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    faulthandler.dump_traceback_later(60, exit=True)\n"
        "    sum_along(x, (1, 2))\n"
        "    os._exit(0)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
    )
    assert run(code, CVZOO_NUM_THREADS="2").stdout.strip() == "0"


def test_a_library_in_the_current_folder_is_the_one_that_is_loaded(tmp_path, monkeypatch):
    (tmp_path / "own.so").write_text("no library")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CVZOO_NATIVE_LIBRARY", "own.so")
    monkeypatch.delenv("CVZOO_NATIVE", raising=False)
    found = _search.__wrapped__()
    assert str(tmp_path / "own.so") in str(found)
    assert "no such file" not in str(found).lower()
