"""Hyperparameter search over a recipe's settings, in a folder, by processes."""

import dataclasses
import json
import math
import os
import pathlib
import shlex
import shutil
import time
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol

from cvzoo.backends.threads import thread_count
from cvzoo.errors.exceptions import ConfigError, CvzooError, ValueRangeError
from cvzoo.files.atomic_write import atomic_write
from cvzoo.reporting.as_time import as_time
from cvzoo.reporting.counted import counted
from cvzoo.training.interrupt import DeferredInterrupt
from cvzoo.training.output_folder import make_output_folder, write_or_warn, write_text
from cvzoo.training.recipes.config_file import recipe_to_toml
from cvzoo.training.recipes.recipe import AbstractRecipe
from cvzoo.training.recipes.settings import with_settings
from cvzoo.training.run.command import RECIPE_FILE
from cvzoo.training.run.run_status import folder_lock, read_status
from cvzoo.training.tuning.ray_process import RayTrialProcess
from cvzoo.training.tuning.search import FAILED, FINISHED, Job, Search, Trial
from cvzoo.training.tuning.search_space import read_space, value_text
from cvzoo.training.tuning.trial_process import TrialProcess
from cvzoo.training.tuning.tuning_report import write_table, write_tuning_report
from cvzoo.typing.aliases import FilePath

METRICS = "metrics.jsonl"  # of a run
STATE, TRIALS, BEST_RECIPE, BEST_MODEL = "search.json", "trials", "best.toml", "best.safetensors"
Engine = Literal["processes", "ray"]
_FORMAT = 1  # of the tuning's file
_SAVED_EVERY, _REPORT_EVERY = 30.0, 10.0  # seconds
_POLL = 0.2  # seconds between looks at processes
_HOPELESS = 5  # failures without a success after which a search without an end is given up


class AbstractTrialProcess(Protocol):
    """What trains a trial: a TrialProcess, or a test's stand-in."""

    def poll(self) -> int | None: ...
    def stop(self) -> None: ...
    def kill(self) -> None: ...
    def reason(self) -> str: ...
    @property
    def was_interrupted(self) -> bool: ...


_Running = dict[int, tuple[Job, AbstractTrialProcess, float]]  # number -> job, its process, time of its start


@dataclasses.dataclass(frozen=True, kw_only=True)
class TuningSettings:
    """What a search is made of, as saved in its folder.

    recipe: name of the listed recipe; spaces: search spaces of its settings as text, by name
    rungs: epochs at which trials are compared, ascending; one: random search
    factor: the best 1 / factor of a rung are promoted
    seed: of the trials' settings
    trials: maximum number of trials; hours: maximum time in all; None: no limit
    processes: number of trials that are trained at the same time
    compile, device, dtype: as of `cvzoo train`
    engine: what starts trials: processes of this machine, or Ray
    folder: where the search was started, relative to its own folder
    """

    recipe: str
    spaces: Mapping[str, Any]
    rungs: tuple[int, ...]
    factor: int = 3
    seed: int = 0
    trials: int | None = None
    hours: float | None = None
    processes: int = 1
    compile: bool = False
    device: str = "cpu"
    dtype: str = "float32"
    engine: Engine = "processes"
    folder: str = "."

    def __post_init__(self) -> None:
        if self.trials is None and self.hours is None:
            raise ConfigError("the search has no end", hint="--trials N, --hours H, or both")
        for name, least in (("trials", 1), ("processes", 1), ("factor", 2)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueRangeError(f"{name} must be at least {least}", got=value)
        if self.hours is not None and not 0 < self.hours < math.inf:
            raise ValueRangeError("the budget of hours must be positive", got=self.hours)


class Tuning:
    """A hyperparameter search in a folder: `run` trains the trials, each a run of `cvzoo train` in trials/NUMBER.

    out: the folder; settings: of the search; recipe: with the fixed settings
    trials, seconds: of a search that is resumed: its trials, and the time spent
    start: starts a process for a job, with the trial's folder; None: TrialProcess
    tell: takes a line about each event; clock, wait: seconds, for tests

    search.json has the state, written at each event; trials.csv and report.html the table of trials; best.safetensors
    and best.toml the best model and its recipe. `resume_tuning` reads the folder.
    """

    def __init__(
        self,
        out: FilePath,
        settings: TuningSettings,
        recipe: AbstractRecipe,
        *,
        trials: tuple[Trial, ...] = (),
        seconds: float = 0.0,
        start: Callable[[Job, pathlib.Path], AbstractTrialProcess] | None = None,
        tell: Callable[[str], None] = print,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
    ):
        self.out = pathlib.Path(out)
        self.settings = settings
        self.recipe = recipe
        self.search = Search(
            {name: read_space(recipe, name, words) for name, words in settings.spaces.items()},
            rungs=settings.rungs,
            factor=settings.factor,
            n_trial=settings.trials,
            seed=settings.seed,
            trials=trials,
        )
        self.stopped = ""  # why the search ended before its last trial
        self._before = seconds
        self._begun: float | None = None
        self._start = start or self._start_process
        self._tell = tell
        self._clock = clock
        self._wait = wait
        self._saved = self._reported = -math.inf
        # number, score and epochs of the trial whose model is best.safetensors
        self._kept: tuple[int, float, float] | None = None

    @property
    def seconds(self) -> float:
        """The time spent so far, in all sessions."""
        return self._before + (0.0 if self._begun is None else self._clock() - self._begun)

    @property
    def is_spent(self) -> bool:
        """Whether the budget of hours is spent."""
        return self.settings.hours is not None and self.seconds >= 3600 * self.settings.hours

    def run(self) -> Trial | None:
        """Trains until the budget is spent or nothing is left to train; returns the best trial, None without one.

        After Ctrl-C, SIGTERM or SIGHUP, running trials save a snapshot, and KeyboardInterrupt or SystemExit is raised;
        a second signal ends them at once. Either way the search can be resumed.
        Raises OSError if the folder cannot be written, ValueRangeError if another process tunes there.
        """
        make_output_folder(self.out)
        (self.out / TRIALS).mkdir(exist_ok=True)
        with folder_lock(self.out), DeferredInterrupt() as interrupt:
            self._begun = self._clock()
            processes: _Running = {}
            try:
                self._loop(processes, interrupt)
            finally:
                for job, process, begun in processes.values():
                    process.kill()
                    self._interrupt(job.trial, begun)
                self._before, self._begun = self.seconds, None
                self._save()
                self._report()
            if interrupt.requested:
                raise interrupt.error()
        return self.search.best

    def _loop(self, processes: _Running, interrupt: DeferredInterrupt) -> None:
        while True:
            self.stopped = self._why_stop(interrupt)
            while not self.stopped and len(processes) < self.settings.processes:
                job = self.search.next_job()
                if job is None:
                    break
                self._save()  # before its folder exists
                processes[job.trial.number] = job, self._begin(job), self._clock()
            if not processes:
                return
            if self.stopped:
                for _, process, _ in processes.values():
                    process.stop()
            ended = [number for number, (_, process, _) in processes.items() if process.poll() is not None]
            for number in ended:
                job, process, begun = processes[number]
                self._record(job, process, begun)
                del processes[number]
                self._save()
            if ended and self._clock() > self._reported + _REPORT_EVERY:
                self._report()
            if not ended:
                if self._clock() > self._saved + _SAVED_EVERY:
                    self._save()
                self._wait(_POLL)

    def _why_stop(self, interrupt: DeferredInterrupt) -> str:
        if interrupt.requested:
            return "interrupted"
        hours = self.settings.hours
        if self.is_spent and hours is not None:
            return f"the budget of {counted(hours, 'hour', spec='g')} is spent"
        trials = self.search.trials
        failed = [trial for trial in trials if trial.state == FAILED]
        if len(failed) >= _HOPELESS and len(failed) == len(trials):
            return f"all of the first {len(failed)} trials failed, the last one: {failed[-1].reason}"
        return ""

    # --- trials ---
    def folder_of(self, trial: Trial) -> pathlib.Path:
        """The folder of a trial's run."""
        return self.out / TRIALS / f"{trial.number:04}"

    def recipe_of(self, trial: Trial) -> AbstractRecipe:
        """The recipe with the trial's settings. Raises ValueRangeError if they exclude each other."""
        return with_settings(self.recipe, trial.settings)

    def _begin(self, job: Job) -> AbstractTrialProcess:
        trial, folder = job.trial, self.folder_of(job.trial)
        folder.mkdir(exist_ok=True)
        words = "  ".join(f"{name}={value_text(value)}" for name, value in trial.settings.items())
        begins = f"resumed after {trial.epochs:g}" if trial.epochs else "started"
        self._tell(f"trial {trial.number} {begins}, until epoch {job.epochs} of {self.recipe.epochs}: {words}")
        try:
            text = recipe_to_toml(self.settings.recipe, self.recipe_of(trial))
        except CvzooError as error:
            return _NotStarted(str(error).splitlines()[0])
        if not (folder / RECIPE_FILE).is_file():
            write_text(folder / RECIPE_FILE, text)
        return self._start(job, folder)

    def _start_process(self, job: Job, folder: pathlib.Path) -> AbstractTrialProcess:
        settings = self.settings
        options = {"compile": settings.compile, "device": settings.device, "dtype": settings.dtype}
        n_thread = max(thread_count()[0] // settings.processes, 1)
        start = pathlib.Path(os.path.normpath(self.out.resolve() / settings.folder))
        start = start if start.is_dir() else pathlib.Path.cwd()
        kind = RayTrialProcess if settings.engine == "ray" else TrialProcess
        return kind(folder.resolve(), job.epochs, start=start, n_thread=n_thread, options=options)

    def _record(self, job: Job, process: AbstractTrialProcess, begun: float) -> None:
        trial, folder = job.trial, self.folder_of(job.trial)
        if process.was_interrupted:
            self._interrupt(trial, begun)
            return
        trial.seconds += self._clock() - begun
        if process.poll() != 0:
            self.search.fail(trial, process.reason())
            self._tell(f"trial {trial.number} failed: {trial.reason}")
            return
        status = read_status(folder)
        epochs, reason = (None, "") if status is None else (min(status.epoch, job.epochs), status.reason)
        reason = "" if reason.startswith("paused") else reason
        self.search.complete(trial, best_score(folder, self.recipe.best), epochs=epochs, reason=reason)
        self._tell(f"trial {trial.number} {trial.state}: {self._words(trial)}; {self._progress()}")
        self._keep_best()

    def _interrupt(self, trial: Trial, begun: float) -> None:
        trial.seconds += self._clock() - begun
        self.search.interrupt(trial)

    def _words(self, trial: Trial) -> str:
        if not trial.scores:
            return trial.reason
        return f"{self.recipe.best} {trial.score:.4g} after {counted(trial.epochs, 'epoch', spec='g')}"

    def _progress(self) -> str:
        best, hours = self.search.best, self.settings.hours
        of = "" if hours is None else f" of {as_time(3600 * hours)}"
        return (
            f"best: {'none' if best is None else f'{best.score:.4g}, trial {best.number}'}; {as_time(self.seconds)}{of}"
        )

    def _keep_best(self) -> None:
        """Copies the best trial's model, and writes its recipe."""
        trial = self.search.best
        if trial is None or self._kept == (trial.number, trial.score, trial.epochs):
            return
        model, copy = self.folder_of(trial) / BEST_MODEL, self.out / BEST_MODEL
        text = recipe_to_toml(self.settings.recipe, self.recipe_of(trial))
        if write_or_warn(copy, lambda: _copy(model, copy)) and write_or_warn(
            self.out / BEST_RECIPE, lambda: write_text(self.out / BEST_RECIPE, text)
        ):
            self._kept = trial.number, trial.score, trial.epochs

    # --- files ---
    def _save(self) -> None:
        tree = {
            "format": _FORMAT,
            "settings": dataclasses.asdict(self.settings),
            "seconds": self.seconds,
            "trials": [dataclasses.asdict(trial) for trial in self.search.trials],
        }
        write_text(self.out / STATE, json.dumps(tree, indent=1, ensure_ascii=False) + "\n")
        self._saved = self._clock()

    def _report(self) -> None:
        table, page = self.out / "trials.csv", self.out / "report.html"
        write_or_warn(table, lambda: write_table(table, self.search, self.recipe.best))
        report = lambda: write_tuning_report(  # noqa: E731
            page, self.search, self.recipe, seconds=self.seconds, stopped=self.stopped, commands=self.commands()
        )
        write_or_warn(page, report)
        self._reported = self._clock()

    def commands(self) -> tuple[tuple[str, str], ...]:
        """(purpose, command line) for the best model; empty without one."""
        trial = self.search.best
        if trial is None:
            return ()
        model, recipe = (shlex.quote(os.fspath(self.out / each)) for each in (BEST_MODEL, BEST_RECIPE))
        lines = [("use it", f"cvzoo predict IMAGE.jpg --model {model} --out FOLDER")]
        if trial.state != FINISHED:
            folder = shlex.quote(os.fspath(self.folder_of(trial)))
            lines.append((f"train it to epoch {self.recipe.epochs}", f"cvzoo train --resume {folder}"))
        longer = f"cvzoo train --config {recipe} --out FOLDER epochs={3 * self.recipe.epochs}"
        return (*lines, ("train it longer", longer))


class _NotStarted:
    """Stands for the process of a trial whose settings exclude each other."""

    was_interrupted = False

    def __init__(self, reason: str):
        self._reason = reason

    def poll(self) -> int:
        return 2

    def stop(self) -> None:
        """Nothing to stop."""

    def kill(self) -> None:
        """Nothing to end."""

    def reason(self) -> str:
        return self._reason


def best_score(folder: pathlib.Path, key: str) -> float:
    """The highest value of a metric in the run of a folder so far; NaN without one."""
    path = folder / METRICS
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.is_file() else []
    rows = [json.loads(line) for line in lines if line.endswith("\n")]
    return max((row[key] for row in rows if row.get(key) is not None), default=math.nan)


def _copy(source: pathlib.Path, target: pathlib.Path) -> None:
    with open(source, "rb") as file, atomic_write(target) as copy:
        shutil.copyfileobj(file, copy)
