"""Writer of TensorBoard event files, without TensorBoard."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.training.tensorboard.event import Histogram, histogram_of
    from cvzoo.training.tensorboard.event_file import EventFile

__all__ = ["EventFile", "Histogram", "histogram_of"]

import_on_demand(__name__)
