"""Caffe's SoftmaxWithLoss."""

import numpy as np

from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.activation.softmax import softmax
from cvzoo.functions.array.axes import moveaxis
from cvzoo.functions.loss.softmax_cross_entropy import softmax_cross_entropy
from cvzoo.functions.math.sum import sum as sum_of
from cvzoo.links.link import Link
from cvzoo.typing.aliases import Array
from cvzoo.weights.formats.caffe.net import CaffeLayer


class SoftmaxWithLoss(Link):
    """The softmax cross entropy of x and the labels, and the softmax itself as a second output.

    Labels equal to `ignore_label` are ignored. The sum is divided by the number of other labels (VALID, the default),
    of all labels (FULL), of images (BATCH_SIZE), or by nothing (NONE).
    """

    def __init__(self, layer: CaffeLayer):
        params = layer.params.get("loss_param", {})
        self.axis = layer.params.get("softmax_param", {}).get("axis", 1)
        self.ignore_label = params.get("ignore_label")
        default = "VALID" if params.get("normalize", True) else "BATCH_SIZE"
        self.normalization = params.get("normalization", default)
        self.weight = layer.loss_weights[0] if layer.loss_weights else 1.0
        self.n_top = len(layer.tops)
        self.label = str(layer)

    def forward(self, x: Variable | Array, t: Variable | Array) -> Variable | tuple[Variable, ...]:
        """The loss (), times the layer's loss_weight.

        x: (B, L, ...) scores
        t: integers, or integral floats, of x's shape without the class axis; axes of size 1 are ignored
        """
        x = as_variable(x)
        axis = self.axis + x.ndim if self.axis < 0 else self.axis
        shape = x.shape[:axis] + x.shape[axis + 1 :]
        t = np.asarray(as_array(t))
        if t.size != np.prod(shape, dtype=int):
            raise ShapeError(f"{self.label}: labels have the wrong shape", expected=shape, got=t.shape)
        t = t.reshape(shape).astype(np.int32)
        scores = x if axis == 1 else moveaxis(x, axis, 1)
        labels = t
        valid = np.ones(labels.shape, bool) if self.ignore_label is None else labels != self.ignore_label
        labels = np.where(valid, labels, np.int32(-1))
        loss = sum_of(softmax_cross_entropy(scores, labels, ignore_label=-1, reduce="no"))
        count = {
            "VALID": max(int(valid.sum()), 1),
            "FULL": valid.size,
            "BATCH_SIZE": x.shape[0],
            "NONE": 1,
        }[self.normalization]
        loss = loss * (self.weight / count)
        return loss if self.n_top < 2 else (loss, softmax(x, axis=self.axis))
