"""Metrics for TensorBoard."""

import os
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cvzoo.errors.exceptions import FileFormatError
from cvzoo.links.link import Link
from cvzoo.training.extension import AbstractExtension
from cvzoo.training.interval_means import WHERE, IntervalMeans
from cvzoo.training.output_folder import write_or_warn
from cvzoo.training.tensorboard.event import Histogram, histogram_of
from cvzoo.training.tensorboard.event_file import EventFile

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer
    from cvzoo.training.triggers.abstract import TriggerLike


class TensorBoardReport(AbstractExtension):
    """Writes the means of every interval, with the iteration as step, to an event file: `tensorboard --logdir out`.

    keys: the values to write; None: all
    trigger: the interval
    link: histograms of its parameters ("conv1/W") and their gradients ("conv1/W/grad") are written, too
    folder: of the file, relative to the trainer's folder
    TensorBoard is not needed for writing. A resumed run continues the same file, without the events after its snapshot.
    If an event cannot be written, a warning is given, and the event is left out.
    """

    def __init__(
        self,
        keys: Sequence[str] | None = None,
        trigger: "TriggerLike" = (1, "epoch"),
        *,
        link: Link | None = None,
        folder: str = ".",
    ):
        self._means = IntervalMeans(trigger, keys)
        self._link = link
        self._folder = folder
        self._name: str | None = None
        self._keep: int | None = None
        self._path = ""
        self._file: EventFile | None = None

    def initialize(self, trainer: "Trainer") -> None:
        folder = os.path.join(trainer.out, self._folder)
        os.makedirs(folder, exist_ok=True)
        now, keep = time.time(), self._keep
        if self._name is not None and keep is not None:
            self._path = os.path.join(folder, self._name)
            try:
                self._file = EventFile(self._path, wall_time=now, keep=keep)
                return
            except (FileNotFoundError, FileFormatError) as error:
                warnings.warn(f"earlier events for TensorBoard are lost: {error}", RuntimeWarning, stacklevel=2)
        else:
            _remove_events(folder)  # of a run that this one replaces: TensorBoard would join the curves of both
        self._name = f"events.out.tfevents.{int(now)}.cvzoo"
        self._path = os.path.join(folder, self._name)
        self._file = EventFile(self._path, wall_time=now)

    def __call__(self, trainer: "Trainer") -> None:
        entry = self._means(trainer)
        file = self._file
        if entry is None or file is None:
            return
        values: dict[str, float | Histogram] = {key: value for key, value in entry.items() if key not in WHERE}
        values["epoch"] = trainer.updater.epoch_detail
        if self._link is not None:
            values.update(_histograms(self._link))
        step = trainer.updater.iteration
        write_or_warn(self._path, lambda: file.write(values, step=step, wall_time=time.time()))

    def finalize(self) -> None:
        if self._file is not None:
            self._keep = self._file.synced_size()
            self._file.close()
            self._file = None

    def state(self) -> dict[str, Any]:
        n_byte = self._file.synced_size() if self._file is not None else self._keep
        return {"means": self._means.state(), "name": self._name, "n_byte": n_byte}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self._means.load_state(state["means"])
        self._name, self._keep = state["name"], state["n_byte"]


def _histograms(link: Link) -> dict[str, Histogram]:
    histograms = {}
    for path, parameter in link.namedparams(include_uninit=False):
        for key, array in ((path[1:], parameter.array), (f"{path[1:]}/grad", parameter.grad)):
            histogram = None if array is None else histogram_of(array)
            if histogram is not None:
                histograms[key] = histogram
    return histograms


def _remove_events(folder: str) -> None:
    for name in os.listdir(folder):
        if name.startswith("events.out.tfevents.") and name.endswith(".cvzoo"):
            os.unlink(os.path.join(folder, name))
