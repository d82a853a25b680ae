"""Trials trained by tasks of Ray, on the machines of a cluster that share the search's folder."""

import importlib
import os
import pathlib
import signal
import threading
import time
from collections.abc import Mapping
from typing import Any

from cvzoo.errors.exceptions import MissingExtraError
from cvzoo.training.tuning.trial_process import PACKAGES, TrialProcess

_STOP = ".stop"  # a file in a trial's folder that asks the task to stop: tasks have no other ears
_POLL = 0.2  # seconds


class RayTrialProcess:
    """A task of Ray that trains the trial in a folder, as TrialProcess does; it starts when Ray has cores for it.

    folder, epochs, start, n_thread, options: as for TrialProcess; the folders are the same on all machines
    Connects to the cluster of the environment variable RAY_ADDRESS, else starts Ray on this machine.
    Raises MissingExtraError if Ray is not installed.
    """

    def __init__(
        self, folder: pathlib.Path, epochs: int, *, start: pathlib.Path, n_thread: int, options: Mapping[str, Any]
    ):
        self._folder = folder
        self._ray = _connected()
        (folder / _STOP).unlink(missing_ok=True)
        variables = {"PYTHONPATH": os.pathsep.join([PACKAGES, *filter(None, [os.environ.get("PYTHONPATH")])])}
        task = self._ray.remote(num_cpus=n_thread, max_retries=0, runtime_env={"env_vars": variables})(_train)
        self._task = task.remote(os.fspath(folder), epochs, os.fspath(start), n_thread, dict(options))
        self._ended: tuple[int, bool, str] | None = None  # status, whether interrupted, reason

    def poll(self) -> int | None:
        """The exit status; None while it runs, or waits for cores."""
        if self._ended is None and self._ray.wait([self._task], timeout=0)[0]:
            try:
                self._ended = self._ray.get(self._task)
            except self._ray.exceptions.RayError as error:  # the machine or the worker is lost
                self._ended = 1, False, f"Ray: {str(error).strip().splitlines()[0]}"
        return None if self._ended is None else self._ended[0]

    def stop(self) -> None:
        """Asks the task to save a snapshot and to end."""
        (self._folder / _STOP).touch()

    def kill(self) -> None:
        """Ends the task at once; its last snapshot remains."""
        self._ray.cancel(self._task, force=True)

    @property
    def was_interrupted(self) -> bool:
        """Whether the task has ended because it was stopped."""
        return self.poll() is not None and self._ended is not None and self._ended[1]

    def reason(self) -> str:
        """Why the task has failed, in a line."""
        return "" if self._ended is None else self._ended[2]


def _train(folder: str, epochs: int, start: str, n_thread: int, options: Mapping[str, Any]) -> tuple[int, bool, str]:
    """Of a Ray worker: the exit status of a TrialProcess, whether it was interrupted, and why it failed."""
    stop = pathlib.Path(folder, _STOP)
    process = TrialProcess(pathlib.Path(folder), epochs, start=pathlib.Path(start), n_thread=n_thread, options=options)
    while (status := process.poll()) is None:
        if stop.exists():
            process.stop()
        time.sleep(_POLL)
    return status, process.was_interrupted, process.reason() if status else ""


def _connected() -> Any:
    """The module ray, connected. Raises MissingExtraError."""
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError as error:
        raise MissingExtraError("Ray is not installed", hint='pip install "cvzoo[ray]"') from error
    if not ray.is_initialized():
        is_main = threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGTERM)
        ray.init(log_to_driver=False, logging_level="error")
        if is_main:
            signal.signal(signal.SIGTERM, before)  # Ray's own would end this process before the trials are saved
    return ray
