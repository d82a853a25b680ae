"""The training loop: trainer, updaters, triggers and extensions."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.training import extensions, triggers, updaters
    from cvzoo.training.concat_examples import concat_examples
    from cvzoo.training.evaluator_extension import EvaluatorExtension
    from cvzoo.training.extension import (
        PRIORITY_EDITOR,
        PRIORITY_READER,
        PRIORITY_WRITER,
        AbstractExtension,
        FunctionExtension,
        make_extension,
    )
    from cvzoo.training.find_learning_rate import LearningRateCurve, find_learning_rate
    from cvzoo.training.run.anchor_reach import anchor_reach, write_anchor_reach
    from cvzoo.training.run.data_fingerprint import data_fingerprint, same_data
    from cvzoo.training.run.rerun import Rerun, rerun
    from cvzoo.training.run.run import Run
    from cvzoo.training.run.run_report import write_run_report
    from cvzoo.training.run.script_parser import script_parser
    from cvzoo.training.trainer import Trainer
    from cvzoo.training.triggers.abstract import AbstractTrigger
    from cvzoo.training.triggers.get_trigger import get_trigger
    from cvzoo.training.updaters.abstract import AbstractUpdater
    from cvzoo.training.updaters.parallel_updater import ParallelUpdater
    from cvzoo.training.updaters.standard_updater import StandardUpdater

__all__ = [
    "AbstractExtension",
    "AbstractTrigger",
    "AbstractUpdater",
    "anchor_reach",
    "concat_examples",
    "data_fingerprint",
    "EvaluatorExtension",
    "extensions",
    "find_learning_rate",
    "FunctionExtension",
    "get_trigger",
    "LearningRateCurve",
    "make_extension",
    "ParallelUpdater",
    "PRIORITY_EDITOR",
    "PRIORITY_READER",
    "PRIORITY_WRITER",
    "Rerun",
    "rerun",
    "Run",
    "same_data",
    "script_parser",
    "StandardUpdater",
    "Trainer",
    "triggers",
    "updaters",
    "write_anchor_reach",
    "write_run_report",
]

import_on_demand(__name__)
