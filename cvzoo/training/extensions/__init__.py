"""What can hang on a trainer."""

from cvzoo.training.extensions.evaluator import Evaluator
from cvzoo.training.extensions.log_report import LogReport
from cvzoo.training.extensions.print_report import PrintReport
from cvzoo.training.extensions.progress_bar import ProgressBar
from cvzoo.training.extensions.snapshot import Snapshot, load_newest_snapshot, snapshot
from cvzoo.training.extensions.snapshot_object import SnapshotObject, snapshot_object

__all__ = [
    "Evaluator",
    "load_newest_snapshot",
    "LogReport",
    "PrintReport",
    "ProgressBar",
    "Snapshot",
    "snapshot",
    "snapshot_object",
    "SnapshotObject",
]
