"""A run that is killed again and again ends with the same bits as one that was never stopped."""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

from cvzoo.weights.formats.npz import read_npz

SCRIPT = pathlib.Path(__file__).with_name("killed_run.py")
ROOT = pathlib.Path(__file__).parents[3]


def run(out, seed, kills, *more):
    environment = dict(
        os.environ, PYTHONPATH=str(ROOT), CVZOO_BACKEND="numpy", OMP_NUM_THREADS="1", CVZOO_NUM_THREADS="1"
    )
    environment["OPENBLAS_NUM_THREADS"] = "1"  # a forked process has no other threads
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(out), str(seed), str(kills), *more],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    return run(tmp_path_factory.mktemp("straight") / "run", 0, 0)


def final(out):
    arrays = read_npz(out / "final.npz")
    arrays["tree"] = json.loads(arrays["tree"].tobytes())["tree"]
    return arrays


def untimed(line):
    return {key: value for key, value in line.items() if key != "elapsed_time"}


def log(out, name):
    return [untimed(line) for line in json.loads((out / name).read_text())]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "more"), [(1, ()), (2, ("--processes",))])
def test_twenty_kills_change_no_bit(straight, tmp_path, seed, more):
    killed = run(tmp_path / "run", seed, 20, *more)
    resumed = re.findall(r"after iteration (\d+)", (killed / "said").read_text())
    assert len(set(resumed)) > 5, "hardly a life got further than the one before"
    expected, found = final(straight), final(killed)
    assert list(expected) == list(found)
    assert expected.pop("tree") == found.pop("tree")
    for name, array in expected.items():
        assert array.dtype == found[name].dtype, name
        np.testing.assert_array_equal(array, found[name], err_msg=name)
    for name in ("log", "often"):
        assert log(straight, name) == log(killed, name)
    lines = log(killed, "often")
    assert [line["iteration"] for line in lines] == list(range(3, lines[-1]["iteration"] + 1, 3))
    rows = [
        [untimed(json.loads(line)) for line in (out / "metrics.jsonl").read_text().splitlines()]
        for out in (straight, killed)
    ]
    assert rows[0] == rows[1]
    texts = [(out / "metrics.csv").read_text().splitlines() for out in (straight, killed)]
    tables = [list(map(untimed, csv.DictReader(text))) for text in texts]
    assert tables[0] == tables[1]
    assert len(tables[0]) == 24
    assert (straight / "best.npz").read_bytes() == (killed / "best.npz").read_bytes()


def test_the_folder_holds_what_it_should_and_no_scraps(straight):
    snapshots = sorted(path.name for path in straight.glob("snapshot_iter_*"))
    assert len(snapshots) in (2, 3)  # the newest two, and the best
    assert not list(straight.glob(".*"))
