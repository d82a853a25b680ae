"""VOC's mAP of instance masks on the examples of an iterator."""

from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator
from cvzoo.evaluations.voc.accumulators import InstanceSegmentationVOCAccumulator


class InstanceSegmentationVOCEvaluator(AbstractEvaluator):
    """VOC's average precision of masks: keys `main/map` and, with names, `main/ap/<name>`.

    iterator: examples (img, mask, label); target: `predict(imgs)` gives masks, labels, scores
    iou_thresh, use_07_metric: as for `eval_instance_segmentation_voc`; label_names, hook: as for AbstractEvaluator
    """

    def __init__(self, iterator, target, iou_thresh=0.5, use_07_metric=False, label_names=None, *, hook=None):
        super().__init__(iterator, target, label_names=label_names, hook=hook)
        self.iou_thresh = iou_thresh
        self.use_07_metric = use_07_metric

    @property
    def example(self):
        return "img", "mask", "label"

    def new_accumulator(self):
        n_fg_class = None if self.label_names is None else len(self.label_names)
        return InstanceSegmentationVOCAccumulator(iou_thresh=self.iou_thresh, n_fg_class=n_fg_class)

    def update(self, accumulator, predicted, truths):
        accumulator.update(*predicted, *truths)

    def result_of(self, accumulator):
        return accumulator.compute(use_07_metric=self.use_07_metric)

    def scores_of(self, result):
        return {"map": result.map} | self.by_class("ap", result.ap)
