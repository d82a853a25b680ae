"""Training loss of RetinaNet."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.batch_part import AbstractBatchLoss, batch_count
from cvzoo.functions.loss.focal_loss import focal_loss
from cvzoo.functions.loss.giou_loss import giou_loss
from cvzoo.functions.loss.reduction import beside
from cvzoo.geometry.coding import SIZE_CLAMP, encode_bbox
from cvzoo.links.chain import Chain
from cvzoo.links.model.check_objects import check_objects
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.retinanet.targets import AnchorRows, Targets, assign_targets
from cvzoo.reporting.reporter import report
from cvzoo.typing.aliases import Array

# Number of input sizes with cached anchors: multi-scale training reuses a few sizes
_KEPT = 16


class RetinaNetLoss(AbstractBatchLoss, Chain):
    """Training loss of RetinaNet, a scalar: `RetinaNetLoss(model)(x, bboxes, labels)`.

    model: the network
    alpha, gamma: of the focal loss
    box_loss: "smooth_l1" of the offsets from the anchor, or "giou" of the boxes
    beta: smooth L1 is quadratic below it
    loc_weight: weight of the box regression loss
    positive, negative, keep_best: IoU thresholds of anchors, see `match_anchors`
    momentum: None: both losses are divided by the batch's number of anchors with an object (at least 1); else by its
        exponential moving average with this momentum (0.9: a steadier divisor for small batches)
    Raises ValueRangeError for a setting out of range.

    Reports loss, loss/loc and loss/conf.
    Source: Lin et al., "Focal Loss for Dense Object Detection", 2017, section 4; beta as in Detectron's code. Where we
    differ: as in the paper, the sum over the batch is divided by its number of positive anchors; torchvision divides
    each image's sum by its own.
    """

    normalizer: Array  # () float32, the mean number of positive anchors so far

    def __init__(
        self,
        model: RetinaNet,
        *,
        alpha: float | None = 0.25,
        gamma: float = 2.0,
        box_loss: Literal["smooth_l1", "giou"] = "smooth_l1",
        beta: float = 1 / 9,
        loc_weight: float = 1.0,
        positive: float = 0.5,
        negative: float = 0.4,
        keep_best: bool = True,
        momentum: float | None = None,
    ):
        if box_loss not in ("smooth_l1", "giou"):
            raise ValueRangeError(
                "RetinaNetLoss: box_loss is unknown", expected="smooth_l1 or giou", got=repr(box_loss)
            )
        if momentum is not None and not 0 <= momentum < 1:
            raise ValueRangeError("RetinaNetLoss: momentum must be at least 0 and below 1", got=momentum)
        self.alpha, self.gamma = alpha, gamma
        self.box_loss, self.beta, self.loc_weight = box_loss, beta, loc_weight
        self.positive, self.negative, self.keep_best = positive, negative, keep_best
        self.momentum = momentum
        self._rows: dict[tuple[int, int], AnchorRows] = {}
        with self.init_scope():
            self.model = model
        # persistent, so that a resumed run has the same divisor
        self.add_persistent("normalizer", np.zeros((), np.float32))

    def forward(
        self,
        x: Variable | Array,
        bboxes: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        ignored: Sequence[np.ndarray] | None = None,
    ) -> Variable:
        """The loss, a scalar.

        x: (B, 3, H, W) float32, preprocessed
        bboxes, labels: of each image (R, 4) float32, pixels of x, and (R,) int32
        ignored: of each image (R,) bool, see `assign_targets`
        Raises ShapeError if there is not one element per image.
        What `check_objects` raises.
        """
        if len(bboxes) != x.shape[0]:
            raise ShapeError(
                "RetinaNetLoss: bboxes must have one element per image", expected=x.shape[0], got=len(bboxes)
            )
        check_objects(type(self).__name__, bboxes, labels, self.model.n_fg_class)
        loc, conf = self.model(x)
        rows = self._anchor_rows((x.shape[2], x.shape[3]))
        targets = assign_targets(
            rows, bboxes, labels, ignored, positive=self.positive, negative=self.negative, keep_best=self.keep_best
        )
        divisor = self._divisor(len(targets.positive))
        conf_loss = focal_loss(conf, targets.label, alpha=self.alpha, gamma=self.gamma, normalizer=divisor)
        loc_loss = self._box_loss(loc, targets) * (self.loc_weight / divisor)
        loss = conf_loss + loc_loss
        report({"loss": loss, "loss/loc": loc_loss, "loss/conf": conf_loss}, self)
        return loss

    def _box_loss(self, loc: Variable, targets: Targets) -> Variable:
        code = widened(F.reshape(loc, (-1, 4))[targets.positive])
        if self.box_loss == "giou":
            return giou_loss(decoded(code, targets.anchor), targets.bbox, reduce="sum")
        return F.smooth_l1(code, encode_bbox(targets.bbox, targets.anchor), beta=self.beta, reduce="sum")

    def _divisor(self, n_positive: int) -> float:
        total, share = batch_count(n_positive)
        count = max(total, 1)
        if self.momentum is None:
            return float(count * share)
        before = float(self.normalizer)
        now = count if before == 0 else self.momentum * before + (1 - self.momentum) * count
        self.normalizer = np.asarray(now, np.float32)
        return float(self.normalizer) * share

    def _anchor_rows(self, size: tuple[int, int]) -> AnchorRows:
        rows = self._rows.pop(size, None)
        if rows is None:
            rows = AnchorRows(self.model.anchors(size))
            if len(self._rows) >= _KEPT:
                del self._rows[next(iter(self._rows))]
        self._rows[size] = rows  # the most recently used is last
        return rows


def decoded(code: Variable, anchor: np.ndarray) -> Variable:
    """Differentiable `decode_bbox`: (R, 4) boxes of (R, 4) offsets from (R, 4) anchors."""
    anchor = beside(anchor, code)
    size = anchor[:, 2:] - anchor[:, :2]
    center = code[:, :2] * size + (anchor[:, :2] + size / 2)
    half = F.exp(F.minimum(code[:, 2:], SIZE_CLAMP)) * (size / 2)
    return F.concat([center - half, center + half], axis=1)
