"""Base class of the recipes of instance segmentation: metric, validation, drawings."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from cvzoo.datasets.bbox_splits import coco_pair
from cvzoo.datasets.instance_splits import MASK_KINDS
from cvzoo.datasets.layouts.data_spec import DataSpec
from cvzoo.evaluations.evaluators.instance_segmentation_coco_evaluator import InstanceSegmentationCOCOEvaluator
from cvzoo.geometry.rle import RLEs
from cvzoo.iterators.serial_iterator import SerialIterator
from cvzoo.reporting.counted import counted
from cvzoo.training.recipes.detection_recipe import DRAWN_SCORE, METRICS
from cvzoo.training.recipes.recipe import RecipeModel, Splits
from cvzoo.typing.aliases import BBox, Image, Label, Mask
from cvzoo.visualizations.draw_bbox import draw_bbox
from cvzoo.visualizations.draw_mask import draw_mask

MASK_METRICS: Mapping[str, str] = MappingProxyType({"coco": METRICS["coco"]})
MASK_METRIC_HELP = "metric that selects the best model: AP of masks over IoU 0.50:0.95 by COCO's"


def mask_evaluator(model: RecipeModel, splits: Splits) -> InstanceSegmentationCOCOEvaluator:
    """COCO's average precision of masks on the validation set."""
    val = splits.val.slice[:, ("img", "mask", "label", "area", "crowded")]
    iterator = SerialIterator(val, 1, repeat=False, shuffle=False)
    return InstanceSegmentationCOCOEvaluator(iterator, model, label_names=splits.label_names)


def checked_mask_parts(data: str) -> tuple[DataSpec, ...]:
    """COCO's two files, which are checked as such; none for masks in label maps, whose examples are read instead."""
    return () if data.partition(":")[0] in MASK_KINDS else coco_pair(data) or ()


def draw_masks(
    img: Image, mask: Mask | RLEs, bbox: BBox, label: Label, label_names: Sequence[str]
) -> tuple[Image, str]:
    """The image in [0, 255] with boxes and masks, and their number."""
    drawn = draw_bbox(draw_mask(img, mask, label), bbox, label, label_names=label_names)
    return drawn, counted(len(bbox), "mask")


def draw_found_masks(model: RecipeModel, img: Image, label_names: Sequence[str]) -> tuple[Image, str]:
    """The image with predicted instances of a score of 0.3 or more, and their number."""
    result = model.predict([img])
    shown = result.scores[0] >= DRAWN_SCORE
    tinted = draw_mask(img, result.masks[0][shown], result.labels[0][shown])
    rest = result.labels[0][shown], result.scores[0][shown]
    drawn = draw_bbox(tinted, result.bboxes[0][shown], *rest, label_names=label_names)
    return drawn, f"{counted(int(shown.sum()), 'mask')}, score {DRAWN_SCORE} or more"
