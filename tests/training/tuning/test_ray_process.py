"""Trials as tasks of Ray: with a stand-in for Ray, and with Ray where it is installed."""

import importlib.util
import sys
import types

import pytest

from cvzoo.errors import MissingExtraError
from cvzoo.training.tuning import ray_process
from cvzoo.training.tuning.ray_process import RayTrialProcess

OPTIONS = {"compile": False, "device": "cpu", "dtype": "float32"}


class RayError(Exception):
    """Ray's error of a lost worker."""


@pytest.fixture
def cluster(monkeypatch):
    """A stand-in for Ray: a task runs when it is asked for; what was asked of Ray is noted."""
    noted = {"cancelled": [], "lost": False, "running": True, "initialized": 0}

    def remote(**resources):
        noted["resources"] = resources
        return lambda function: types.SimpleNamespace(remote=lambda *args: (function, args))

    def get(task):
        if noted["lost"]:
            raise RayError("the worker died\nand more")
        return task[0](*task[1])

    fake = types.SimpleNamespace(
        remote=remote,
        get=get,
        wait=lambda tasks, timeout: ([] if noted["running"] else tasks, []),
        cancel=lambda task, force: noted["cancelled"].append(force),
        is_initialized=lambda: noted["initialized"] > 0,
        init=lambda **settings: noted.update(initialized=noted["initialized"] + 1),
        exceptions=types.SimpleNamespace(RayError=RayError),
    )
    monkeypatch.setitem(sys.modules, "ray", fake)
    return noted


class Process:
    """Stands for a TrialProcess: ends with status 3, or with 143 once it is stopped."""

    def __init__(self, folder, epochs, *, start, n_thread, options):
        self.looks, self.was_interrupted, self.folder = 0, False, folder

    def poll(self):
        self.looks += 1
        return 143 if self.was_interrupted else 3 if self.looks == 2 and not (self.folder / ".stop").exists() else None

    def stop(self):
        self.was_interrupted = True

    def reason(self):
        return "stopped" if self.was_interrupted else "main/loss is nan"


@pytest.fixture
def task(cluster, monkeypatch, tmp_path):
    """A task whose TrialProcess is a stand-in."""
    monkeypatch.setattr(ray_process, "TrialProcess", Process)
    monkeypatch.setattr(ray_process.time, "sleep", lambda seconds: None)
    return RayTrialProcess(tmp_path, 3, start=tmp_path, n_thread=2, options=OPTIONS)


def test_a_task_gives_the_status_and_the_reason_of_its_process(cluster, task):
    assert task.poll() is None
    assert (cluster["resources"]["num_cpus"], cluster["initialized"]) == (2, 1)
    cluster["running"] = False
    assert (task.poll(), task.was_interrupted, task.reason()) == (3, False, "main/loss is nan")


def test_a_task_is_stopped_by_a_file(cluster, task, tmp_path):
    task.stop()
    cluster["running"] = False
    assert (task.poll(), task.was_interrupted) == (143, True)
    again = RayTrialProcess(tmp_path, 3, start=tmp_path, n_thread=2, options=OPTIONS)
    assert (again.poll(), again.was_interrupted) == (3, False)
    again.kill()
    assert cluster["cancelled"] == [True]


def test_a_lost_worker_is_a_failure_with_rays_words(cluster, task):
    cluster.update(running=False, lost=True)
    assert (task.poll(), task.was_interrupted, task.reason()) == (1, False, "Ray: the worker died")


def test_a_machine_without_ray_is_told_how_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"cvzoo\[ray\]"):
        RayTrialProcess(tmp_path, 3, start=tmp_path, n_thread=2, options=OPTIONS)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs Ray")
def test_a_real_task_says_why_its_trial_failed(tmp_path):
    (tmp_path / "recipe.toml").write_text('recipe = "cifar_resnet20"\ndata = "folder:nowhere"\n')
    task = RayTrialProcess(tmp_path, 1, start=tmp_path, n_thread=1, options=OPTIONS)
    while task.poll() is None:
        pass
    assert task.poll() == 1
    assert "nowhere" in task.reason()
