"""Event files as TensorBoard reads them, written without TensorBoard."""

from cvzoo.training.tensorboard.event import Histogram, histogram_of
from cvzoo.training.tensorboard.event_file import EventFile

__all__ = ["EventFile", "Histogram", "histogram_of"]
