"""A real training whose processes are killed has the same bits at its end."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image

from cvzoo.studio.jobs.conductor import Conductor, attempt_folder, iteration_of
from cvzoo.studio.jobs.spec import TrainSpec, argv_of
from cvzoo.studio.worker.supervise import STARTED

pytestmark = pytest.mark.slow
SETTINGS = (("epochs", "30"), ("validate_every", "5"), ("processes", "0"), ("batch_size", "4"))


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


@pytest.mark.parametrize("who", ["trainer", "supervisor", "server"])
def test_a_training_that_was_killed_ends_with_the_bits_of_an_undisturbed_one(studio, data, tmp_path, who):
    spec = TrainSpec("cifar_resnet20", f"folder:{data}", SETTINGS)
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
            pid = json.loads(started.read_text())["pid"]
            for each in children(pid) if who == "trainer" else [pid]:
                os.kill(each, signal.SIGKILL)
        time.sleep(0.01)
    for conductor in conductors:
        while conductor.n_child:
            conductor.tick()
            time.sleep(0.01)
    assert job.state == "succeeded", (job, sys.executable)
    assert not at
    assert (job.attempt > 1) is (who != "server")
    assert (run / "best.safetensors").read_bytes() == (tmp_path / "undisturbed" / "best.safetensors").read_bytes()
    for name in ("metrics.jsonl", "iterations.jsonl"):
        assert untimed(run / name) == untimed(tmp_path / "undisturbed" / name)
