"""Training loss of semantic segmentation."""

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.loss.batch_part import AbstractBatchLoss, as_batch_mean, is_part
from cvzoo.links.chain import Chain
from cvzoo.links.link import Link
from cvzoo.links.model.segmenter import AbstractSegmenter
from cvzoo.reporting.reporter import report
from cvzoo.typing.aliases import Array


class PixelwiseSoftmaxClassifier(AbstractBatchLoss, Chain):
    """Training loss of semantic segmentation, a scalar: the mean softmax cross entropy of the pixels, of `(x, t)`.

    predictor: the segmenter, or another link from x to logits (B, n_class, H, W)
    ignore_label: pixels with this label are ignored
    class_weight: (n_class,) weights of the pixels of each class, or None
    aux_weight: weight of the losses of auxiliary heads, if the predictor has any
    Raises ShapeError if the weights are not one per class, ValueRangeError for a negative aux_weight.

    Reports loss; with auxiliary heads loss/main and loss/aux, too.
    Source: ChainerCV's link of this name; aux_weight as in Zhao et al., Pyramid Scene Parsing Network, CVPR 2017.
    """

    def __init__(
        self,
        predictor: Link,
        ignore_label: int = -1,
        class_weight: Array | None = None,
        *,
        aux_weight: float = 0.4,
    ):
        if class_weight is not None:
            class_weight = np.asarray(class_weight, np.float32)
            if isinstance(predictor, AbstractSegmenter) and class_weight.shape != (predictor.n_class,):
                raise ShapeError(
                    "class_weight must have one value per class", expected=(predictor.n_class,), got=class_weight.shape
                )
        if aux_weight < 0:
            raise ValueRangeError("aux_weight must not be negative", got=aux_weight)
        self.ignore_label = ignore_label
        self.class_weight = class_weight
        self.aux_weight = aux_weight
        self._align_corners = isinstance(predictor, AbstractSegmenter) and predictor.align_corners
        with self.init_scope():
            self.predictor = predictor

    def forward(self, x: Variable | Array, t: Variable | Array) -> Variable:
        """The loss, a scalar.

        x: (B, C, H, W) float32, preprocessed
        t: (B, H', W') integers, classes or ignore_label; logits are resized to (H', W') if the sizes differ
        """
        main, *aux = [self._loss(scores, t) for scores in self._scores(x)]
        if not aux:
            report({"loss": main}, self)
            return main
        rest = aux[0]
        for each in aux[1:]:
            rest = rest + each
        loss = main + self.aux_weight * rest
        report({"loss": loss, "loss/main": main, "loss/aux": rest}, self)
        return loss

    def _scores(self, x: Variable | Array) -> tuple[Variable, ...]:
        """The predictor's logits, and those of its auxiliary heads."""
        if isinstance(self.predictor, AbstractSegmenter):
            return self.predictor.training_scores(x)
        return (self.predictor(x),)

    def _loss(self, scores: Variable, t: Variable | Array) -> Variable:
        if scores.shape[2:] != t.shape[1:]:
            scores = F.resize_images(scores, t.shape[1:], align_corners=self._align_corners)
        loss = F.softmax_cross_entropy(scores, t, class_weight=self.class_weight, ignore_label=self.ignore_label)
        return as_batch_mean(loss, int((as_array(t) != self.ignore_label).sum())) if is_part() else loss
