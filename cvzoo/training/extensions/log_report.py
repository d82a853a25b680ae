"""Means of what was observed, as a list that is also a file."""

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


class LogReport(AbstractExtension):
    """Adds a line of means to `log` whenever its trigger fires, and writes them all as JSON into the trainer's folder.

    keys: what to observe; None: everything that is a number
    trigger: over how long the means are taken; the extension itself wants to be called at every iteration
    postprocess: called with each new line, a dictionary that it may change
    filename: within the trainer's folder; None: no file. A mean that is no number is null there

    log: the lines, dictionaries of means by key, and "epoch", "iteration", "elapsed_time" in seconds
    A run that goes on from a snapshot has the lines up to there, in the file as well: none is lost, none comes twice.
    """

    trigger = (1, "iteration")
    priority = PRIORITY_READER
    default_name = "LogReport"

    def __init__(
        self,
        keys: Iterable[str] | None = None,
        trigger: Any = (1, "epoch"),
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
        if self.log:  # a run that goes on: what was logged after its snapshot will be logged again
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


def _as_json(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
