"""A real training whose processes are killed has the same bits at its end."""

import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image

from cvzoo.studio.jobs.conductor import Conductor, attempt_folder, iteration_of
from cvzoo.studio.jobs.spec import TrainSpec, argv_of
from cvzoo.studio.worker.attempt import STARTED

pytestmark = pytest.mark.slow
SETTINGS = {"epochs": "30", "validate_every": "5", "processes": "0", "batch_size": "4"}


@pytest.fixture
def data(tmp_path):
    """Images of two classes."""
    rng = np.random.default_rng(0)
    for split, name, i in ((s, n, i) for s in ("train", "val") for n in ("cat", "dog") for i in range(8)):
        path = tmp_path / "data" / split / name / f"{i}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, (32, 32, 3), np.uint8)).save(path)
    return tmp_path / "data"


def untimed(path):
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [{key: value for key, value in row.items() if key != "elapsed_time"} for row in rows]


def children(pid):
    return [int(each) for each in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def kill(who, started):
    """Kills the supervisor of an attempt, or what it has started; what has ended already is left."""
    pid = json.loads(started.read_text())["pid"]
    with contextlib.suppress(ProcessLookupError, FileNotFoundError):
        for each in children(pid) if who == "trainer" else [pid]:
            os.kill(each, signal.SIGKILL)


def assert_same(run, undisturbed):
    assert (run / "best.safetensors").read_bytes() == (undisturbed / "best.safetensors").read_bytes()
    for name in ("metrics.jsonl", "iterations.jsonl"):
        assert untimed(run / name) == untimed(undisturbed / name)


def processes(run):
    """The ids of processes whose command names the run."""
    found = []
    for each in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found += [each.parent.name] if str(run).encode() in each.read_bytes() else []
    return found


@pytest.mark.parametrize("who", ["trainer", "supervisor", "server"])
def test_a_training_that_was_killed_ends_with_the_bits_of_an_undisturbed_one(studio, data, tmp_path, who):
    spec = TrainSpec("cifar_resnet20", f"folder:{data}", tuple(SETTINGS.items()))
    subprocess.run(argv_of(spec, tmp_path / "undisturbed"), check=True, capture_output=True)
    job = studio.jobs.create("mine", spec, None)
    run = studio.place.run(job.id)
    conductors = [Conductor(studio.jobs, studio.place)]
    at = [11, 47, 90]  # iterations of 120
    end = time.monotonic() + 300
    while studio.jobs.get(job.id).state not in ("succeeded", "failed", "stopped"):
        assert time.monotonic() < end
        conductors[-1].tick()
        job = studio.jobs.get(job.id)
        started = attempt_folder(run, job.attempt) / STARTED
        if at and job.state == "running" and iteration_of(run, since=started) >= at[0]:
            at.pop(0)
            if who == "server":
                conductors.append(Conductor(studio.jobs, studio.place))
                continue
            kill(who, started)
        time.sleep(0.01)
    for conductor in conductors:
        while conductor.n_child:
            conductor.tick()
            time.sleep(0.01)
    assert job.state == "succeeded", (job, sys.executable)
    assert not at
    assert (job.attempt > 1) is (who != "server")
    assert_same(run, tmp_path / "undisturbed")


@pytest.mark.parametrize("who", ["trainer", "supervisor"])
def test_forty_kills_at_random_moments_change_no_bit(studio, data, tmp_path, who):
    settings = tuple((SETTINGS | {"epochs": "80", "validate_every": "20"}).items())
    spec = TrainSpec("cifar_resnet20", f"folder:{data}", settings)
    begin = time.monotonic()
    subprocess.run(argv_of(spec, tmp_path / "undisturbed"), check=True, capture_output=True)
    longest = min((time.monotonic() - begin) / 12, 5)  # seconds: on a fast machine, too, it is killed 40 times
    segments = set(os.listdir("/dev/shm"))
    job = studio.jobs.create("mine", spec, None)
    run = studio.place.run(job.id)
    conductor = Conductor(studio.jobs, studio.place)
    moments = random.Random(who)
    n_kill, killed, due = 0, 0, None  # killed: the last attempt that was
    end = time.monotonic() + 1200
    while job.state != "succeeded":
        assert time.monotonic() < end
        conductor.tick()
        job = studio.jobs.get(job.id)
        if job.state == "failed":  # after three kills without progress; a user starts it again
            assert "without progress" in job.detail, job
            studio.jobs.apply(job, "retry")
        started = attempt_folder(run, job.attempt) / STARTED
        if n_kill < 40 and job.attempt > killed and started.is_file():
            due = time.monotonic() + moments.uniform(0, longest) if due is None else due
            if time.monotonic() >= due:
                kill(who, started)
                n_kill, killed, due = n_kill + 1, job.attempt, None
        time.sleep(0.01)
    while conductor.n_child:
        conductor.tick()
        time.sleep(0.01)
    assert n_kill == 40
    assert_same(run, tmp_path / "undisturbed")
    assert not processes(run)
    assert set(os.listdir("/dev/shm")) <= segments
