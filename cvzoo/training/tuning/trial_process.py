"""Processes that train a trial up to the end of a rung."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cvzoo.backends.device import get_device
from cvzoo.config.switches import using_config
from cvzoo.errors.exceptions import CvzooError, ValueRangeError
from cvzoo.reporting.counted import counted
from cvzoo.training.recipes.config_file import read_recipe
from cvzoo.training.recipes.training import Training
from cvzoo.training.run.command import RECIPE_FILE, Command
from cvzoo.training.run.run import check_run_folder
from cvzoo.training.run.run_status import folder_lock
from cvzoo.training.triggers.abstract import AbstractTrigger

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer

LOG = "log.txt"  # in a trial's folder: what its process prints
PACKAGES = os.fspath(pathlib.Path(__file__).parents[3])
_MOST_WAITING = 300.0  # seconds for an earlier process of the trial to end
_INTERRUPTED = (130, 143)  # exit statuses after SIGINT and SIGTERM
_FAILED = "failed: "


class TrialProcess:
    """A process that trains the trial in a folder until its epochs reach those of a rung; starts at once.

    folder: with the trial's recipe.toml; its run is resumed if there is one
    epochs: of the rung
    start: the folder to train from, where relative paths of the data begin
    n_thread: number of threads of kernels
    options: compile, device and dtype, as of `cvzoo train`
    The process saves a snapshot and ends when this process ends, however that happens.
    """

    def __init__(
        self, folder: pathlib.Path, epochs: int, *, start: pathlib.Path, n_thread: int, options: Mapping[str, Any]
    ):
        self._folder = folder
        job = json.dumps({"folder": os.fspath(folder), "epochs": epochs, **options})
        variables = dict(os.environ, CVZOO_NUM_THREADS=str(n_thread), OMP_NUM_THREADS=str(n_thread))
        variables["PYTHONPATH"] = os.pathsep.join([PACKAGES, *filter(None, [os.environ.get("PYTHONPATH")])])
        with open(folder / LOG, "ab") as log:
            # a session of its own: Ctrl-C reaches this process only, which then stops the trials one time
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, job],
                cwd=start,
                env=variables,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def poll(self) -> int | None:
        """The exit status; None while it runs."""
        status = self._process.poll()
        if status is not None:
            self.stop()  # closes the pipe
        return status

    def stop(self) -> None:
        """Asks the process to save a snapshot and to end."""
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()

    def kill(self) -> None:
        """Ends the process at once; its last snapshot remains."""
        self.stop()
        self._process.kill()
        self._process.wait()

    @property
    def was_interrupted(self) -> bool:
        """Whether the process has ended because it was stopped."""
        return self.poll() in (*_INTERRUPTED, -signal.SIGTERM, -signal.SIGINT)

    def reason(self) -> str:
        """Why the process has failed, in a line."""
        status = self.poll()
        if status is not None and status < 0:
            name = signal.Signals(-status).name
            return f"its process was ended by {name}" + (", perhaps out of memory" if name == "SIGKILL" else "")
        lines = [line for line in _last_lines(self._folder / LOG) if line.startswith(_FAILED)]
        return lines[-1].removeprefix(_FAILED) if lines else f"its process ended with status {status}"


def _last_lines(path: pathlib.Path) -> list[str]:
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
    return []


class PauseTrigger(AbstractTrigger):
    """A stop trigger that fires when another one does, or after some epochs; its state is the other one's.

    A run that it paused can be resumed with the other trigger alone: schedules are those of the whole training.
    """

    def __init__(self, stop: AbstractTrigger, epochs: float):
        self._stop = stop
        self._epochs = epochs
        self._is_paused = False

    def __call__(self, trainer: "Trainer") -> bool:
        is_over = self._stop(trainer)
        self._is_paused = not is_over and trainer.updater.epoch_detail >= self._epochs - 1e-9
        return is_over or self._is_paused

    def training_length(self) -> tuple[float, str] | None:
        return self._stop.training_length()

    def reason(self) -> str | None:
        return f"paused after {counted(self._epochs, 'epoch', spec='g')}" if self._is_paused else self._stop.reason()

    def state(self) -> dict[str, Any]:
        return self._stop.state()

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._stop.load_state(state)


def train_trial(folder: pathlib.Path, epochs: int, *, compile: bool, device: str, dtype: str) -> None:
    """Trains the trial in a folder from its last snapshot until its epochs reach `epochs`, in this process.

    The run in the folder is one of `cvzoo train --config`; `cvzoo train --resume` trains it to its end.
    """
    _wait_for_lock(folder)
    words = ["train", "--config", os.path.relpath(folder / RECIPE_FILE), "--out", "{out}", "--no-check"]
    words += ["--compile"] if compile else []
    words += [word for name, value in (("device", device), ("dtype", dtype)) for word in (f"--{name}", value)]
    command = Command(None, "cvzoo", tuple(words), os.path.relpath(os.getcwd(), folder))
    resume_with = f"cvzoo train --resume {os.path.relpath(folder)}"
    recipe = read_recipe(folder / RECIPE_FILE)[1]
    where = get_device(device)
    with using_config("device", where.name), using_config("dtype", dtype), where:
        resume = check_run_folder(folder, resume=True, resume_with=resume_with) is not None
        training = Training(
            recipe, None, folder, resume=resume, compile=compile, command=command, resume_with=resume_with
        )
        trainer = training.trainer
        trainer.stop_trigger = PauseTrigger(trainer.stop_trigger, epochs)
        trainer.run()


def _wait_for_lock(folder: pathlib.Path) -> None:
    """Returns when no process trains in the folder: one whose parent was killed takes a while to save its snapshot."""
    end = time.monotonic() + _MOST_WAITING
    while True:
        try:
            with folder_lock(folder):
                return
        except ValueRangeError:
            if time.monotonic() > end:
                raise
        time.sleep(0.2)


def main(words: Sequence[str]) -> int:
    """The main function of a trial's process. words: the job as JSON"""
    job = json.loads(words[0])
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        train_trial(pathlib.Path(job.pop("folder")), job.pop("epochs"), **job)
    except Exception as error:
        if not isinstance(error, CvzooError):
            traceback.print_exc()
        said = (str(error) or type(error).__name__).strip().splitlines()
        print(_FAILED + " ".join(said[0].split()), flush=True)
        return 1
    return 0


def _end_with_parent() -> None:
    """Stops this process when the other end of standard input is closed: its parent asked for it, or has ended."""
    while os.read(0, 1):  # not sys.stdin, whose lock Python wants at its exit
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
