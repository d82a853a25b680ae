"""Training loss of YOLO."""

from collections.abc import Sequence

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.transfer import on_host
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import ShapeError, UnsupportedError, ValueRangeError
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.reduction import beside
from cvzoo.functions.loss.softmax_cross_entropy import softmax_cross_entropy
from cvzoo.links.chain import Chain
from cvzoo.links.model.check_objects import check_objects
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.decoding.grid_cells import RegionHead, YoloHead
from cvzoo.links.model.yolo.targets import Targets, assign_targets, head_grid
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2, YOLOv2Tiny
from cvzoo.links.model.yolo.yolo_v3 import YOLOv3
from cvzoo.reporting.reporter import report
from cvzoo.typing.aliases import Array


class YOLOLoss(Chain):
    """Training loss of YOLOv2, YOLOv3 and darknet's relatives, a scalar: `YOLOLoss(model)(x, bboxes, labels)`.

    model: the network; UnsupportedError for heads of Scaled-YOLOv4 (new_coords)
    ignore_thresh: see `assign_targets`
    sizes: sides, multiples of 32, to one of which a training batch is resized, drawn anew every `every` batches; None:
        no multi-scale training
    seed: of these random draws, which continue after a resume

    The sum over all predictions, divided by the number of images, of cross entropies (objectness, classes, center in
    its cell, less its minimum) and half the squared differences of the logarithms of the sides. Reports loss,
    loss/box, loss/object and loss/conf.
    Source: Redmon and Farhadi, YOLOv3, 2018, section 2.1, with darknet's derivatives. Where we differ: YOLOv2's
    networks learn by the same loss (their classes by a softmax's cross entropy); its authors had squares throughout;
    iou_loss= of a cfg is not read.
    """

    n_batch: Array  # () int64, how many batches were resized

    def __init__(
        self,
        model: YOLOv2 | YOLOv2Tiny | YOLOv3 | DarknetDetector,
        *,
        ignore_thresh: float = 0.7,
        sizes: Sequence[int] | None = None,
        every: int = 10,
        seed: int = 0,
    ):
        if sizes is not None and (not len(sizes) or any(side < 32 or side % 32 for side in sizes)):
            raise ValueRangeError("YOLOLoss: sizes must be multiples of 32", got=repr(sizes)[:80])
        if every < 1:
            raise ValueRangeError("YOLOLoss: every must be positive", got=every)
        if any(isinstance(head, YoloHead) and head.new_coords for head in model.heads):
            raise UnsupportedError("YOLOLoss: heads with new_coords=1 (Scaled-YOLOv4) cannot be trained")
        self.ignore_thresh = ignore_thresh
        self.sizes = None if sizes is None else tuple(sizes)
        self.every, self.seed = every, seed
        with self.init_scope():
            self.model = model
        # persistent, so that a resumed run draws the same sizes
        self.add_persistent("n_batch", np.zeros((), np.int64))

    def forward(
        self,
        x: Variable | Array,
        bboxes: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        ignored: Sequence[np.ndarray] | None = None,
    ) -> Variable:
        """The loss, a scalar.

        x: (B, 3, H, W) float32 RGB in [0, 1], sides multiples of 32
        bboxes, labels: of each image (R, 4) float32, pixels of x, and (R,) int32
        ignored: of each image (R,) bool, see `assign_targets`
        Raises ShapeError if there is not one element per image.
        What `check_objects` raises.
        """
        if len(bboxes) != x.shape[0]:
            raise ShapeError("YOLOLoss: bboxes must have one element per image", expected=x.shape[0], got=len(bboxes))
        check_objects(type(self).__name__, bboxes, labels, self.model.n_fg_class)
        if self.sizes is not None and switches.train:
            x, bboxes = self._resized(x, bboxes, self.sizes)
        y = self.model(x)
        outputs: tuple[Variable, ...] = y if isinstance(y, tuple) else (y,)
        heads, n_value = self.model.heads, 5 + self.model.n_fg_class
        rows = [F.reshape(F.transpose(y, (0, 2, 3, 1)), (y.shape[0], -1, n_value)) for y in outputs]
        row = widened(F.concat(rows, axis=1) if len(rows) > 1 else rows[0])
        grid = head_grid(heads, [(y.shape[2], y.shape[3]) for y in outputs], x.shape[2:])
        (code,) = on_host((row.array[:, :, :4],))
        targets = assign_targets(code, grid, heads, bboxes, labels, ignored, ignore_thresh=self.ignore_thresh)
        scale = 1 / x.shape[0]
        object_loss = F.sigmoid_cross_entropy(row[:, :, 4], targets.objectness, reduce="sum") * scale
        own = F.reshape(row, (-1, n_value))[targets.positive]
        box_loss = _box_loss(own, targets) * scale
        if isinstance(heads[0], RegionHead) and heads[0].softmax:
            conf_loss = softmax_cross_entropy(own[:, 5:], targets.label, reduce="sum") * scale
        else:
            onehot = np.zeros((len(targets.label), n_value - 5), np.int32)
            onehot[np.arange(len(onehot)), targets.label] = 1
            conf_loss = F.sigmoid_cross_entropy(own[:, 5:], onehot, reduce="sum") * scale
        loss = box_loss + object_loss + conf_loss
        report({"loss": loss, "loss/box": box_loss, "loss/object": object_loss, "loss/conf": conf_loss}, self)
        return loss

    def _resized(
        self, x: Variable | Array, bboxes: Sequence[np.ndarray], sizes: Sequence[int]
    ) -> tuple[Variable | Array, list[np.ndarray]]:
        turn = int(self.n_batch) // self.every
        self.n_batch = np.asarray(int(self.n_batch) + 1)
        side = int(np.random.default_rng((self.seed, turn)).choice(sizes))
        if x.shape[2:] == (side, side):
            return x, list(bboxes)
        ratio = np.tile(np.asarray((side, side), np.float32) / np.asarray(x.shape[2:], np.float32), 2)
        x = F.resize_images(x, (side, side), align_corners=False, antialias=True)
        return x, [np.asarray(bbox, np.float32) * ratio for bbox in bboxes]


def _box_loss(own: Variable, targets: Targets) -> Variable:
    """The sum over the (P, 5 + L) rows that have an object."""
    center, side, weight = (a.astype(own.dtype) for a in (targets.center, targets.side, targets.weight))
    inner = np.clip(center, 1e-12, 1 - 1e-7)
    # the cross entropy of a perfect prediction, subtracted so that its loss is 0 though the targets are fractions
    least = -(inner * np.log(inner) + (1 - inner) * np.log(1 - inner))
    # x y in darknet's outputs, y x in ours
    middle = F.sigmoid_cross_entropy(own[:, 0:2], center[:, ::-1], reduce="no") - beside(least[:, ::-1], own)
    off = own[:, 2:4] - beside(side[:, ::-1], own)
    return F.sum((F.sum(middle, axis=1) + F.sum(off * off, axis=1) * 0.5) * beside(weight, own))
