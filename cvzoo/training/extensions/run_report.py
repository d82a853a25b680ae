"""A run's page, written anew while it goes on."""

import os
import sys
from typing import TYPE_CHECKING

from cvzoo.training.extension import AbstractExtension
from cvzoo.training.output_folder import write_or_warn
from cvzoo.training.run.run_report import FILENAME, write_run_report

if TYPE_CHECKING:
    from cvzoo.training.trainer import Trainer


class RunReport(AbstractExtension):
    """Writes report.html into the trainer's folder, now and then and at the end.

    best, best_is: the score by which the best row is chosen, as for `write_run_report`
    """

    trigger = (1, "epoch")
    priority = -500  # after those who write the files it reads

    def __init__(self, best: str | None = None, best_is: str = "largest"):
        self._best = best
        self._best_is = best_is
        self._out: str | None = None
        self._epoch = 0.0

    def initialize(self, trainer: "Trainer") -> None:
        self._out = trainer.out

    def __call__(self, trainer: "Trainer") -> None:
        self._write(f"running, at epoch {trainer.updater.epoch_detail:.4g}")

    def finalize(self) -> None:
        if self._out is None:
            return
        error = sys.exc_info()[1]  # finalize is called also on the way out of an error
        if error is None:
            status = "finished"
        elif isinstance(error, KeyboardInterrupt):
            status = "stopped by Ctrl-C"
        else:
            status = f"failed: {type(error).__name__}: {error}".splitlines()[0]
        self._write(status)

    def _write(self, status: str) -> None:
        path = os.path.join(self._out, FILENAME)
        write_or_warn(path, lambda: write_run_report(self._out, best=self._best, best_is=self._best_is, status=status))
