"""A small, fixed sample of scripts/sweep on each instruction set; and the sweep itself sees what it is made to see."""

import os
import pathlib
import subprocess
import sys

import pytest

from cvzoo.backends.onednn.library import why_no_onednn

pytestmark = pytest.mark.skipif(why_no_onednn() is not None, reason=f"no oneDNN: {why_no_onednn()}")

ROOT = pathlib.Path(__file__).resolve().parents[3]
SWEEP = ROOT / "benchmarks/sweep"


def python(*arguments, **environment):
    paths = [str(ROOT), str(ROOT / "benchmarks"), str(SWEEP), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("isa", ["SSE41", "AVX", "AVX2", "ALL"])
def test_a_sample_of_all_kernels_is_right_to_the_bit_with_two_threads(isa, tmp_path):
    out = tmp_path / "sweep.json"
    result = python(str(SWEEP / "sweep.py"), "--isa", isa, "--threads", "2", "--cases", "3", "--out", str(out))
    assert result.returncode == 0, result.stdout + result.stderr
    assert " 36 " in result.stdout  # three cases of twelve kinds
    assert "convolution" in out.read_text()


FAULTS = """
import numpy as np
from cases import Check
from worker import Guards, repeat

guards, count = Guards(), []

def taken(size, dtype=np.dtype("f4")):
    return guards.take((size,), (4,), dtype, 4 * size)

def right():
    y = taken(3)
    y[:] = [1, 2, 3]
    return y

def wrong():
    y = right()
    y[1] = 2.001
    return y

def unsteady():
    y = right()
    count.append(1)
    y[2] = np.nextafter(np.float32(3), np.float32(len(count)))
    return y

def half_written():
    y = taken(3)
    y[:2] = [1, 2]
    return y

def too_far():
    y = right()
    np.lib.stride_tricks.as_strided(y, (4,))[3] = 5
    return y

expected = [(np.array([1.0, 2.0, 3.0]), 1e-5)]
for run in (right, wrong, unsteady, half_written, too_far):
    print(run.__name__, repeat(Check("a call", run, expected), guards)[0])
"""


def test_what_is_wrong_unsteady_or_beyond_an_array_is_told():
    result = python("-c", FAULTS)
    found = dict(line.split(maxsplit=1) for line in result.stdout.splitlines())
    assert found == {
        "right": "None",
        "wrong": "wrong",
        "unsteady": "other bits",
        "half_written": "wrong",
        "too_far": "beyond memory",
    }, result.stderr


DEATHS = """
import pathlib
import sweep

dying = pathlib.Path({folder!r}) / "worker.py"
dying.write_text('''
import os, sys
print('{{"version": "3", "isa": "AVX2", "threads": 1}}', flush=True)
for line in sys.stdin:
    number = int(line.split("\\t")[1])
    if number == 1:
        os.abort()
    if number == 2:
        sys.stdin.readline()
    answer = '{{"words": "", "checks": 1, "worst": 0.5, "failures": [], "digest": "%s", "kernels": []}}'
    print(answer % os.getpid(), flush=True)
''')
sweep.__file__ = str(dying)
ask = sweep.Worker.ask

def impatient(worker, asked):
    sweep._PATIENCE = 1.0 if asked[1] == 2 else 100.0
    return ask(worker, asked)

sweep.Worker.ask = impatient
found = sweep.Sweep(0)
found.turn("AVX2", 1, [("moving", number) for number in range(4)])
found.turn("AVX2", 1, [])
print([failure["what"] for failure in found.failures])
print(found.failures[0]["again"])
"""


def test_a_crash_a_hang_and_other_bits_in_another_process_are_told_with_the_line_that_repeats_them(tmp_path):
    result = python("-c", DEATHS.format(folder=str(tmp_path)))
    *_, found, again = result.stdout.strip().splitlines()
    assert found == "['crash', 'hang', 'other bits', 'other bits']", result.stdout + result.stderr
    assert again == "scripts/sweep --seed 0 --isa AVX2 --threads 1 --kind 'moving' --first 1 --cases 1"
