"""Our half of each benchmark of a GPU runs on a made-up one, whose times mean nothing and are never written."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve()
ROOT = HERE.parents[2]
SCRIPTS = ROOT / "benchmarks/gpu"
ON_A_MADE_UP_GPU = """
import runpy, sys
from fake_gpu.install import fake_gpu
sys.argv = sys.argv[1:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
sys.modules["torch"] = None
with fake_gpu():
    runpy.run_path(sys.argv[0], run_name="__main__")
"""
CASES = {
    "smoke": ("copy", "launches", "convolution float32", "product mixed_bf16"),
    "inference": ("resnet50", "resnet50"),
    "training": ("resnet50 step", "resnet50 losses"),
    "detection": ("retinanet_resnet50_fpn",),
}


def run(*command, **environment):
    paths = os.pathsep.join((str(ROOT), str(ROOT / "tests/support")))
    environment = {**os.environ, "PYTHONPATH": paths, **environment}
    return subprocess.run(
        [sys.executable, *map(str, command)], env=environment, capture_output=True, text=True, timeout=600
    )


@pytest.mark.parametrize(
    "name", ["smoke", *(pytest.param(name, marks=pytest.mark.slow) for name in CASES if name != "smoke")]
)
def test_our_half_runs_and_writes_no_result(name, tmp_path):
    pytest.importorskip("ml_dtypes")
    if shutil.which("g++") is None:
        pytest.skip("needs g++, which compiles the kernels for the host")
    out = tmp_path / "result.json"
    done = run("-c", ON_A_MADE_UP_GPU, SCRIPTS / f"{name}.py", "--quick", "--out", out)
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"case"')]
    found = [row["case"] for row in rows]
    for case in CASES[name]:
        assert case in found
    assert not any("error" in row for row in rows if "product" not in row["case"])
    assert not out.exists()


@pytest.mark.parametrize("name", CASES)
def test_without_a_gpu_it_says_so(name):
    # an installed CuPy would look for a GPU; none is to be found
    done = run(SCRIPTS / f"{name}.py", "--quick", CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 1
    assert f"{name}.py: no GPU can be used here: " in done.stderr


def test_smoke_finds_wrong_numbers(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import bench
    import numpy as np

    x = np.arange(4.0)
    assert bench.relative_error(x, x) == 0
    assert bench.relative_error(x + [0, 0, 0, 0.3], x) == pytest.approx(0.3 / 14**0.5)
    assert bench.relative_error(x * np.nan, x) == float("inf")
    assert bench.relative_error(x[:2], x) == float("inf")


@pytest.mark.parametrize(("step", "status", "words"), [("smoke", 1, "no GPU can be used"), ("b", 2, "no such step: b")])
def test_the_command_for_a_gpu_says_why_it_does_nothing(step, status, words, tmp_path):
    done = subprocess.run(
        [ROOT / "scripts/gpu", tmp_path / "out", "tests", step],
        env={**os.environ, "CVZOO_PYTHON": sys.executable, "CUDA_VISIBLE_DEVICES": "", "QUICK": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == status
    assert words in done.stderr


MADE_UP_PYTHON = """#!/bin/sh
# any command of Python's, on a made-up GPU
case $1 in
-c) exit 0 ;;
-m) shift 2; exec "{python}" -m pytest -p made_up_gpu "$@" ;;
*) exec "{python}" -c "$ON_A_MADE_UP_GPU" "$@" ;;
esac
"""


@pytest.mark.slow
def test_the_command_for_a_gpu_goes_on_when_a_step_fails(tmp_path):
    pytest.importorskip("ml_dtypes")
    if shutil.which("timeout") is None or shutil.which("g++") is None:
        pytest.skip("needs the command timeout, and g++, which compiles the kernels for the host")
    python = tmp_path / "python"
    python.write_text(MADE_UP_PYTHON.format(python=sys.executable))
    python.chmod(0o755)
    environment = {
        **os.environ,
        "CVZOO_PYTHON": str(python),
        "CVZOO_HOME": str(tmp_path / "home"),
        "ON_A_MADE_UP_GPU": ON_A_MADE_UP_GPU,
        "PYTHONPATH": str(ROOT / "tests/support"),
        "QUICK": "1",
    }
    done = subprocess.run(
        [ROOT / "scripts/gpu", tmp_path / "out", "convolutions", "smoke"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 1, done.stdout  # the made-up GPU has no cuDNN
    steps = (tmp_path / "out/steps.txt").read_text().splitlines()
    assert [line.partition(",")[0] for line in steps] == ["convolutions: status 1", "smoke: status 0"]
    assert '"case": "launches"' in (tmp_path / "out/smoke.log").read_text()
