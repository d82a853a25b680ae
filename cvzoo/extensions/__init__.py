"""ChainerCV's `chainercv.extensions`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.evaluations.evaluators.detection_coco_evaluator import DetectionCOCOEvaluator
    from cvzoo.evaluations.evaluators.detection_voc_evaluator import DetectionVOCEvaluator
    from cvzoo.evaluations.evaluators.instance_segmentation_coco_evaluator import InstanceSegmentationCOCOEvaluator
    from cvzoo.evaluations.evaluators.instance_segmentation_voc_evaluator import InstanceSegmentationVOCEvaluator
    from cvzoo.evaluations.evaluators.semantic_segmentation_evaluator import SemanticSegmentationEvaluator
    from cvzoo.training.extensions.detection_vis_report import DetectionVisReport

__all__ = [
    "DetectionCOCOEvaluator",
    "DetectionVisReport",
    "DetectionVOCEvaluator",
    "InstanceSegmentationCOCOEvaluator",
    "InstanceSegmentationVOCEvaluator",
    "SemanticSegmentationEvaluator",
]

import_on_demand(__name__)
