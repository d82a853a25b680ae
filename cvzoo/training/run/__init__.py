"""A run is one folder: what it was made from, how it went, and what came out."""

from cvzoo.training.run.data_fingerprint import data_fingerprint, same_data
from cvzoo.training.run.rerun import Rerun, rerun
from cvzoo.training.run.run import Run
from cvzoo.training.run.run_report import write_run_report

__all__ = ["data_fingerprint", "Rerun", "rerun", "Run", "same_data", "write_run_report"]
