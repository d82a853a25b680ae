"""COCO's numbers of instance masks on the examples of an iterator."""

from cvzoo.evaluations.eval_instance_segmentation_coco import InstanceSegmentationCOCOAccumulator
from cvzoo.evaluations.evaluators.abstract_coco import AbstractCOCOEvaluator


class InstanceSegmentationCOCOEvaluator(AbstractCOCOEvaluator):
    """COCO's average precisions and recalls of masks: keys `main/map/iou=0.50:0.95/area=all/max_dets=100` and so on.

    iterator: examples (img, mask, label) or (img, mask, label, area, crowded)
    target: `predict(imgs)` gives masks, labels, scores
    parameters: as for `eval_instance_segmentation_coco`; label_names, hook: as for AbstractEvaluator
    """

    def __init__(self, iterator, target, label_names=None, *, parameters=None, hook=None):
        super().__init__(iterator, target, label_names=label_names, hook=hook)
        self.parameters = parameters

    @property
    def example(self):
        return "img", "mask", "label", "[area]", "[crowded]"

    def new_accumulator(self):
        return InstanceSegmentationCOCOAccumulator(parameters=self.parameters)
