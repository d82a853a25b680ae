"""VOC's mAP of a detector on the examples of an iterator."""

from cvzoo.evaluations.evaluators.abstract import AbstractEvaluator
from cvzoo.evaluations.voc.accumulators import DetectionVOCAccumulator


class DetectionVOCEvaluator(AbstractEvaluator):
    """VOC's average precision: keys `main/map` and, with names, `main/ap/<name>`; NaN for a class without objects.

    iterator: examples (img, bbox, label) or (img, bbox, label, difficult)
    target: `predict(imgs)` gives bboxes, labels, scores
    use_07_metric, iou_thresh, plus: as for `eval_detection_voc`
    label_names, hook: as for AbstractEvaluator

    >>> dataset = VOCBboxDataset(year="2007", split="test", use_difficult=True, return_difficult=True)
    >>> it = SerialIterator(dataset, batch_size=2, repeat=False, shuffle=False)
    >>> result = DetectionVOCEvaluator(it, model, use_07_metric=True, label_names=voc_bbox_label_names)()

    VOC's published scores want the difficult objects there and marked, as above: without them, what finds one of them
    counts as wrong.
    """

    def __init__(self, iterator, target, use_07_metric=False, label_names=None, *, iou_thresh=0.5, plus=1, hook=None):
        super().__init__(iterator, target, label_names=label_names, hook=hook)
        self.use_07_metric = use_07_metric
        self.iou_thresh = iou_thresh
        self.plus = plus

    @property
    def example(self):
        return "img", "bbox", "label", "[difficult]"

    def new_accumulator(self):
        n_fg_class = None if self.label_names is None else len(self.label_names)
        return DetectionVOCAccumulator(iou_thresh=self.iou_thresh, plus=self.plus, n_fg_class=n_fg_class)

    def update(self, accumulator, predicted, truths):
        accumulator.update(*predicted, *truths)

    def result_of(self, accumulator):
        return accumulator.compute(use_07_metric=self.use_07_metric)

    def scores_of(self, result):
        return {"map": result.map} | self.by_class("ap", result.ap)
