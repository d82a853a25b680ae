"""Log of the means of observed values, as a list and a JSON file."""

import json
import math
import pathlib
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from cvzoo.reporting.summary import DictSummary
from cvzoo.training.extension import PRIORITY_READER, AbstractExtension
from cvzoo.training.output_folder import write_or_warn, write_text
from cvzoo.training.triggers.get_trigger import get_trigger

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer
    from cvzoo.training.triggers.abstract import TriggerLike


class LogReport(AbstractExtension):
    """Appends means to `log` whenever its trigger fires, and writes the log as JSON into the trainer's folder.

    keys: the values to log; None: all numbers
    trigger: the interval of the means; the extension itself must be called at every iteration
    postprocess: called with each new entry, a dictionary that it may change
    filename: in the trainer's folder; None: no file. Means that are not finite are null there

    log: the entries, dictionaries of means by key, and "epoch", "iteration", "elapsed_time" in seconds
    A run resumed from a snapshot has the entries up to it, also in the file: none is lost or repeated.
    """

    trigger = (1, "iteration")
    priority = PRIORITY_READER
    default_name = "LogReport"

    def __init__(
        self,
        keys: Iterable[str] | None = None,
        trigger: "TriggerLike" = (1, "epoch"),
        postprocess: Callable[[MutableMapping[str, Any]], None] | None = None,
        filename: str | None = "log",
    ):
        self.log: list[dict[str, Any]] = []
        self.filename = filename
        self._keys = None if keys is None else tuple(keys)
        self._due = get_trigger(trigger)
        self._postprocess = postprocess
        self._summary = DictSummary()

    def __call__(self, trainer: "Trainer") -> None:
        observed = trainer.observation
        if self._keys is not None:
            observed = {key: observed[key] for key in self._keys if key in observed}
        self._summary.add(observed)
        if trainer.is_before_training or not self._due(trainer):
            return
        line: dict[str, Any] = self._summary.compute_mean()
        line["epoch"] = trainer.updater.epoch
        line["iteration"] = trainer.updater.iteration
        line["elapsed_time"] = trainer.elapsed_time
        if self._postprocess is not None:
            self._postprocess(line)
        self.log.append(line)
        self._summary = DictSummary()
        self._write(trainer)

    def initialize(self, trainer: "Trainer") -> None:
        if self.log:  # a resumed run: entries after its snapshot are dropped and will be logged again
            self._write(trainer)

    def _write(self, trainer: "Trainer") -> None:
        if self.filename is not None:
            path = pathlib.Path(trainer.out) / self.filename
            lines = [{key: _as_json(value) for key, value in line.items()} for line in self.log]
            write_or_warn(path, lambda: write_text(path, json.dumps(lines, indent=4, allow_nan=False) + "\n"))

    def state(self) -> dict[str, Any]:
        return {"log": [dict(line) for line in self.log], "summary": self._summary.state(), "due": self._due.state()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.log = [dict(line) for line in state["log"]]
        self._summary.load_state(state["summary"])
        self._due.load_state(state["due"])


def _as_json(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
