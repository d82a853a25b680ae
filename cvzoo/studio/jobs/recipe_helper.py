"""Questions about recipes, answered by a process that may import networks."""

import functools
import shlex
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

from cvzoo.errors.exceptions import ConfigError
from cvzoo.studio.jobs.answer_of import answer_of
from cvzoo.studio.jobs.spec import TrainSpec
from cvzoo.studio.worker.attempt import kept_environment

_TIMEOUT_S = 120
_TRIAL_TIMEOUT_S = 600
_ONE_TRIAL = threading.Semaphore(1)
_AT_ONCE = threading.Semaphore(2)


def recipes() -> dict[str, dict[str, Any]]:
    """The listed recipes by name, with task, summary and fields; asked once."""
    return {recipe["name"]: recipe for recipe in _listing()["recipes"]}


def tasks_of_architectures() -> dict[str, str]:
    """Of the architectures of model files whose predictions can be shown: name -> task; asked once."""
    tasks: dict[str, str] = _listing()["tasks"]
    return tasks


def anchors_of_recipes() -> dict[str, dict[str, Any]]:
    """The anchors of detectors by the name of the recipe, as `worker.recipes` has them; asked once."""
    anchors: dict[str, dict[str, Any]] = _listing()["anchors"]
    return anchors


@functools.cache
def _listing() -> dict[str, Any]:
    return _ask({})


def check(recipe: str, data: str, settings: Mapping[str, str]) -> dict[str, str]:
    """What is wrong with a training, by field; empty if it can be started."""
    fields: dict[str, str] = _ask({"recipe": recipe, "data": data, "settings": dict(settings)})["fields"]
    return fields


def preview(recipe: str, data: str, settings: Mapping[str, str]) -> dict[str, Any]:
    """{"fields": what is wrong}, and if nothing is, "preview", of `worker.recipes.preview_of`."""
    return _ask({"recipe": recipe, "data": data, "settings": dict(settings), "preview": True})


def tried(spec: TrainSpec) -> tuple[str, str]:
    """The command that trains for 20 iterations without leaving files, and what it prints: times, memory, the end.

    Raises ConfigError if another one runs, after ten minutes, or with the end of its output if it fails.
    """
    words = [*spec.trial_words()]
    if not _ONE_TRIAL.acquire(blocking=False):
        raise ConfigError("another training is being tried: two at once would only measure each other")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "cvzoo", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_TRIAL_TIMEOUT_S,
            env=kept_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ConfigError(f"20 iterations took more than {_TRIAL_TIMEOUT_S} s, and were ended") from None
    finally:
        _ONE_TRIAL.release()
    text = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode:
        raise ConfigError(f"20 iterations failed: {text[-1000:]}")
    return shlex.join(["cvzoo", *words]), text


def _ask(question: dict[str, Any]) -> dict[str, Any]:
    with _AT_ONCE:
        answer: dict[str, Any] = answer_of(
            ["cvzoo.studio.worker.recipes"],
            failed="the settings could not be checked",
            timeout=_TIMEOUT_S,
            question=question,
        )
    return answer
