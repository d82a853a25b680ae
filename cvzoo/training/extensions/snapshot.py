"""Snapshots: the complete state of a training, from which it can be resumed."""

import contextlib
import math
import os
import pathlib
import sys
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cvzoo.errors.exceptions import FileError, ValueRangeError
from cvzoo.serializers.state_file import read_state, state_order, write_state
from cvzoo.training.extension import PRIORITY_SNAPSHOT, AbstractExtension
from cvzoo.training.extensions.numbered_names import has_place, numbered, pattern_of, with_plain_places
from cvzoo.training.output_folder import write_or_warn

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer

_FILENAME = "snapshot_iter_{iteration}.npz"


class Snapshot(AbstractExtension):
    """Saves the trainer's complete state to files in its folder; see `snapshot` for the arguments."""

    trigger = (1, "epoch")
    priority = PRIORITY_SNAPSHOT
    default_name = "snapshot"

    def __init__(
        self,
        filename: str = _FILENAME,
        *,
        n_retains: int = 2,
        autoload: bool = False,
        keep_best: str | None = None,
        best_is: str = "largest",
        resume_with: str | None = None,
    ):
        filename = with_plain_places(filename)
        if not has_place(filename) or os.path.basename(filename) != filename:
            raise ValueRangeError(
                "snapshot: filename has no placeholder for a number, or has a folder",
                expected="a name with {iteration} or {epoch} in it",
                got=repr(filename),
            )
        if n_retains == 0 or n_retains < -1:
            raise ValueRangeError("snapshot: n_retains must be positive, or -1 for all", got=n_retains)
        if best_is not in ("largest", "smallest"):
            raise ValueRangeError("snapshot: best_is is unknown", expected="'largest' or 'smallest'", got=repr(best_is))
        self.filename = filename
        self.n_retains = n_retains
        self.autoload = autoload
        self.keep_best = keep_best
        self.best_is = best_is
        self.resume_with = resume_with
        self._written: list[str] = []  # names of this run's files, oldest first
        self._best: str | None = None
        self._best_value = math.nan
        self._saved_iteration = -1
        # of the newest file in the folder, of this run or another one; not its time, since clocks may be set back
        self._order = 0

    # --- writing ----------------------------------------------------------------------------------------------------
    def __call__(self, trainer: "Trainer") -> None:
        self.save(trainer)

    def save(self, trainer: "Trainer") -> bool:
        """Saves the state and then removes old files; returns whether the state could be written."""
        name = numbered(self.filename, trainer)
        path = pathlib.Path(trainer.out) / name
        before = self.state()
        self._count(name, trainer.observation)  # first, since the file contains this extension's state as well
        if not write_or_warn(path, lambda: write_state(path, trainer.state(), order=self._order + 1)):
            self.load_state(before)
            return False
        self._order += 1
        self._saved_iteration = trainer.updater.iteration
        self._prune(path.parent)
        return True

    def _count(self, name: str, observation: Mapping[str, Any]) -> None:
        self._written = [each for each in self._written if each != name] + [name]
        if self.keep_best is None or self.keep_best not in observation:
            return
        value = float(observation[self.keep_best])
        sign = 1 if self.best_is == "largest" else -1
        # `not <` instead of `>=`: the best value is NaN at first, which no comparison satisfies
        if math.isfinite(value) and not sign * value < sign * self._best_value:
            self._best, self._best_value = name, value

    def _prune(self, folder: pathlib.Path) -> None:
        if self.n_retains == -1:
            return
        for name in self._written[: -self.n_retains]:
            if name != self._best:
                with contextlib.suppress(OSError):
                    (folder / name).unlink()
        kept = self._written[-self.n_retains :]
        self._written = ([self._best] if self._best is not None and self._best not in kept else []) + kept

    # --- resuming ---------------------------------------------------------------------------------------------------
    def restore(self, trainer: "Trainer") -> None:
        self._sweep(pathlib.Path(trainer.out))
        files = _found(trainer.out, self.filename, warns=self.autoload)
        self._order = max((order for (order, _), _, _ in files), default=0)
        if not self.autoload:
            return
        path = _load_newest(trainer, files)
        if path is not None:
            self._saved_iteration = trainer.updater.iteration
            print(f"resumes from {path}, after iteration {trainer.updater.iteration}", file=sys.stderr)

    def _sweep(self, folder: pathlib.Path) -> None:
        # incomplete files of a killed process
        prefix = self.filename.partition("{")[0]
        for path in folder.glob(f".{prefix}*.part") if prefix else ():
            with contextlib.suppress(OSError):
                path.unlink()

    def on_interrupt(self, trainer: "Trainer") -> str:
        if self._saved_iteration == trainer.updater.iteration or self.save(trainer):
            resume_with = self.resume_with or "a trainer with extensions.snapshot(autoload=True) in this folder"
            return f"saved in {trainer.out}; resume with: {resume_with}"
        return f"the state could not be saved; there may be an older one in {trainer.out}"

    def state(self) -> dict[str, Any]:
        return {"written": list(self._written), "best": self._best, "best_value": self._best_value}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._written = list(state["written"])
        self._best = state["best"]
        self._best_value = float(state["best_value"])


def snapshot(
    filename: str = _FILENAME,
    *,
    n_retains: int = 2,
    autoload: bool = False,
    keep_best: str | None = None,
    best_is: str = "largest",
    resume_with: str | None = None,
) -> Snapshot:
    """An extension that saves the complete state of training, by default after every epoch.

    filename: in the trainer's folder; {iteration} and {epoch} are filled in, as are Chainer's {.updater.iteration} and
        {.updater.epoch}
    n_retains: number of files that are kept, the newest ones of this run; -1: all
    autoload: resume from the newest complete file in the trainer's folder, if there is one; damaged ones are skipped
        with a warning that names them
    keep_best: a key of the observation, such as "validation/main/map": the file of its best value is kept, too, of
        equal ones the last
    best_is: "largest" or "smallest"
    resume_with: the command that resumes the run, for the line that is printed after Ctrl-C

    A resumed run ends with the same bits as an uninterrupted one: weights, optimizers, random states, iterators,
    triggers and logs. Files are written atomically. If one cannot be written (a full disk), a warning is given, older
    ones are kept, and training continues. It runs after all other extensions of an iteration.
    Source: Chainer's extension of this name. Where we differ: `n_retains` is 2, not all; `keep_best`.
    """
    return Snapshot(
        filename,
        n_retains=n_retains,
        autoload=autoload,
        keep_best=keep_best,
        best_is=best_is,
        resume_with=resume_with,
    )


def _found(folder: str, filename: str, *, warns: bool = True) -> list[tuple[tuple[int, int], int, pathlib.Path]]:
    """(order, iteration, path) of the snapshots in the folder with a readable header, newest first.

    warns: whether to warn of damaged ones
    """
    name = pattern_of(with_plain_places(filename))
    files = []
    for path in pathlib.Path(folder).iterdir():
        match = name.fullmatch(path.name)
        if match is None:
            continue
        try:
            files.append((state_order(path), int(match[1]), path))
        except FileError as error:
            if warns:
                _warn_of_damage(error)
    return sorted(files, reverse=True)


def _load_newest(trainer: "Trainer", files: list[tuple[tuple[int, int], int, pathlib.Path]]) -> str | None:
    for _, _, path in files:
        try:
            state = read_state(path)
        except FileError as error:
            _warn_of_damage(error)
            continue
        for note in trainer.load_state(state):
            warnings.warn(f"{path}: {note}", RuntimeWarning, stacklevel=2)
        return os.fspath(path)
    return None


def _warn_of_damage(error: FileError) -> None:
    warnings.warn(f"a damaged snapshot is skipped: {error}", RuntimeWarning, stacklevel=3)
