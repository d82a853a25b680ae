"""Boxes that a detector finds in a photo, for the terminal and for JSON."""

from typing import Any

import numpy as np

from cvzoo.cli.json_records import photo_record
from cvzoo.cli.presentation import Presentation
from cvzoo.cli.result_table import result_table
from cvzoo.links.model.detections import Detections
from cvzoo.links.model.detector import AbstractDetector


def _table(record: dict[str, Any]) -> str:
    return result_table(record["photo"], record["objects"])


def _draw(found: Detections, i: int, img: np.ndarray) -> np.ndarray:
    return found.draw(i, img=img)


BOXES = Presentation(AbstractDetector, photo_record, _table, _draw)
