"""Extensions of a trainer: logs, plots, snapshots, evaluation, learning rate schedules."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.training.extensions.allreduce_persistent import AllreducePersistent
    from cvzoo.training.extensions.averaged import Averaged
    from cvzoo.training.extensions.best_model import BestModel
    from cvzoo.training.extensions.csv_report import CSVReport
    from cvzoo.training.extensions.detection_vis_report import DetectionVisReport
    from cvzoo.training.extensions.dump_graph import DumpGraph, dump_graph
    from cvzoo.training.extensions.evaluator import Evaluator
    from cvzoo.training.extensions.fail_on_non_number import FailOnNonNumber
    from cvzoo.training.extensions.json_lines_report import JSONLinesReport
    from cvzoo.training.extensions.log_report import LogReport
    from cvzoo.training.extensions.multi_node_checkpointer import MultiNodeCheckpointer, create_multi_node_checkpointer
    from cvzoo.training.extensions.observation_aggregator import ObservationAggregator
    from cvzoo.training.extensions.observe_lr import observe_lr, observe_value
    from cvzoo.training.extensions.parameter_statistics import ParameterStatistics
    from cvzoo.training.extensions.plot_report import PlotReport
    from cvzoo.training.extensions.print_report import PrintReport
    from cvzoo.training.extensions.progress_bar import ProgressBar
    from cvzoo.training.extensions.run_report import RunReport
    from cvzoo.training.extensions.shifts.abstract import AbstractShift
    from cvzoo.training.extensions.shifts.cosine_shift import CosineShift
    from cvzoo.training.extensions.shifts.exponential_shift import ExponentialShift
    from cvzoo.training.extensions.shifts.linear_shift import LinearShift
    from cvzoo.training.extensions.shifts.make_shift import make_shift
    from cvzoo.training.extensions.shifts.one_cycle_shift import OneCycleShift
    from cvzoo.training.extensions.shifts.polynomial_shift import PolynomialShift
    from cvzoo.training.extensions.shifts.step_shift import MultistepShift, StepShift
    from cvzoo.training.extensions.shifts.warmup_shift import WarmupShift
    from cvzoo.training.extensions.snapshot import Snapshot, snapshot
    from cvzoo.training.extensions.snapshot_object import SnapshotObject, snapshot_object
    from cvzoo.training.extensions.tensorboard_report import TensorBoardReport
    from cvzoo.training.extensions.variable_statistics_plot import VariableStatisticsPlot

__all__ = [
    "AbstractShift",
    "AllreducePersistent",
    "Averaged",
    "BestModel",
    "CosineShift",
    "create_multi_node_checkpointer",
    "CSVReport",
    "DetectionVisReport",
    "dump_graph",
    "DumpGraph",
    "Evaluator",
    "ExponentialShift",
    "FailOnNonNumber",
    "JSONLinesReport",
    "LinearShift",
    "LogReport",
    "make_shift",
    "MultiNodeCheckpointer",
    "MultistepShift",
    "ObservationAggregator",
    "observe_lr",
    "observe_value",
    "OneCycleShift",
    "ParameterStatistics",
    "PlotReport",
    "PolynomialShift",
    "PrintReport",
    "ProgressBar",
    "RunReport",
    "snapshot",
    "Snapshot",
    "snapshot_object",
    "SnapshotObject",
    "StepShift",
    "TensorBoardReport",
    "VariableStatisticsPlot",
    "WarmupShift",
]

import_on_demand(__name__)
