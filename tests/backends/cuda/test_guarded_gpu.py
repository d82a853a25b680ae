"""No kernel reads or writes beyond its arrays: in processes where that is the end."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
KERNELS = (
    *("cuda/test_batch_norm.py", "cuda/test_depthwise.py", "cuda/test_elementwise.py"),
    *("cuda/test_layer_norm.py", "cuda/test_nms.py", "cuda/test_prepare.py"),
    *("cuda/test_scatter.py", "cuda/test_selection.py", "cupy"),
)
OVERRUN = """
import numpy as np
from cvzoo.backends.gpu_kernels import KernelModule

TEXT = 'extern "C" __global__ void look(float *x, int k) { x[16] = x[k]; }'

def test_overrun(fake_gpu):
    with fake_gpu() as machine:
        x = machine.cupy.zeros(32, "float32")
        KernelModule.from_source("look", TEXT).launch("look", (1, 1, 1), (1, 1, 1), (x, np.int32(AT)))
"""
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs mprotect"),
    pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++"),
]


def run_guarded(side, *paths):
    path = os.pathsep.join([os.fspath(ROOT), os.fspath(ROOT / "tests/support")])
    environment = dict(os.environ, PYTHONPATH=path, CVZOO_GUARD=side)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--all",
        "-p",
        "guarded_gpu",
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
        *paths,
    ]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("side", "at", "is_sound"), [("end", 31, True), ("end", 32, False), ("start", -1, False)])
def test_the_guard_guards(side, at, is_sound, tmp_path):
    path = tmp_path / "test_overrun.py"
    path.write_text(OVERRUN.replace("AT", str(at)))
    (tmp_path / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text())
    done = run_guarded(side, os.fspath(path))
    assert (done.returncode == 0) is is_sound, done.stdout
    assert is_sound or "Segmentation fault" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("side", ["start", "end"])
def test_kernels_stay_within_their_arrays(side):
    done = run_guarded(side, *[os.fspath(ROOT / "tests/backends" / name) for name in KERNELS])
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
