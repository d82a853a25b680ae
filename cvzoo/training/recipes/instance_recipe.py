"""Base class of the recipes of instance segmentation: metric, validation, drawings."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cvzoo.evaluations.evaluators.instance_segmentation_coco_evaluator import InstanceSegmentationCOCOEvaluator
from cvzoo.geometry.rle import RLEs
from cvzoo.iterators.serial_iterator import SerialIterator
from cvzoo.training.recipes.detection_recipe import DRAWN_SCORE, METRICS
from cvzoo.training.recipes.recipe import Splits
from cvzoo.typing.aliases import BBox, Image, Label, Mask
from cvzoo.visualizations.draw_bbox import draw_bbox
from cvzoo.visualizations.draw_mask import draw_mask

MASK_METRICS: Mapping[str, str] = MappingProxyType({"coco": METRICS["coco"]})
MASK_METRIC_HELP = "metric that selects the best model: AP of masks over IoU 0.50:0.95 by COCO's"


def mask_evaluator(model: Any, splits: Splits) -> InstanceSegmentationCOCOEvaluator:
    """COCO's average precision of masks on the validation set."""
    val = splits.val.slice[:, ("img", "mask", "label", "area", "crowded")]
    iterator = SerialIterator(val, 1, repeat=False, shuffle=False)
    return InstanceSegmentationCOCOEvaluator(iterator, model, label_names=splits.label_names)


def draw_masks(
    img: Image, mask: Mask | RLEs, bbox: BBox, label: Label, label_names: Sequence[str]
) -> tuple[Image, str]:
    """The image in [0, 255] with boxes and masks, and their number."""
    drawn = draw_bbox(draw_mask(img, mask, label), bbox, label, label_names=label_names)
    return drawn, f"{len(bbox)} masks"


def draw_found_masks(model: Any, img: Image, label_names: Sequence[str]) -> tuple[Image, str]:
    """The image with predicted instances of a score of 0.3 or more, and their number."""
    found = model.predict([img])
    shown = found.scores[0] >= DRAWN_SCORE
    tinted = draw_mask(img, found.masks[0][shown], found.labels[0][shown])
    rest = found.labels[0][shown], found.scores[0][shown]
    drawn = draw_bbox(tinted, found.bboxes[0][shown], *rest, label_names=label_names)
    return drawn, f"{shown.sum()} masks, score {DRAWN_SCORE} or more"
