"""Objects that a model finds in an image, by boxes, masks or points, for the terminal and for JSON."""

from typing import Any

import numpy as np

from cvzoo.cli.json_records import photo_record
from cvzoo.cli.presentation import Presentation
from cvzoo.cli.result_table import result_table
from cvzoo.links.model.detector import AbstractDetector
from cvzoo.links.model.instance_segmenter import AbstractInstanceSegmenter
from cvzoo.links.model.keypoint_detector import AbstractKeypointDetector
from cvzoo.visualizations.draw_bbox import DrawStyle


def _table(record: dict[str, Any]) -> str:
    return result_table(record["photo"], record["objects"])


def _draw(result: Any, i: int, img: np.ndarray, style: DrawStyle) -> np.ndarray:
    drawn: np.ndarray = result.draw(i, img=img, **style._asdict())
    return drawn


BOXES = Presentation(AbstractDetector, photo_record, _table, _draw)
# in JSON an object has its mask, COCO's run-length encoding, or its points besides
MASKS = Presentation(AbstractInstanceSegmenter, photo_record, _table, _draw)
KEY_POINTS = Presentation(AbstractKeypointDetector, photo_record, _table, _draw)
