"""Training loss of SSD."""

from collections.abc import Sequence

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable, as_array, as_variable
from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.device import get_device
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.loss.batch_part import AbstractBatchLoss, batch_divisor, is_part
from cvzoo.functions.loss.softmax_cross_entropy import softmax_cross_entropy
from cvzoo.links.chain import Chain
from cvzoo.links.model.detector import AbstractOneStageDetector
from cvzoo.reporting.reporter import report
from cvzoo.typing.aliases import Array


def multibox_loss(
    mb_locs: Variable | Array,
    mb_confs: Variable | Array,
    gt_mb_locs: Variable | Array,
    gt_mb_labels: Variable | Array,
    k: float,
    *,
    n_positive: float | None = None,
) -> tuple[Variable, Variable]:
    """(loss of the offsets, loss of the classes): two scalars, divided by the number of positive default boxes.

    mb_locs: (B, A, 4); mb_confs: (B, A, 1 + L) logits, background first
    gt_mb_locs: (B, A, 4) float32; gt_mb_labels: (B, A) integers, 0 background, -1 ignored
    k: hard negative mining: of an image's background boxes those with the highest loss, k times as many as positive
    n_positive: the divisor; None: the positive boxes of the batch, at least 1.
    Without any object the classification loss is 0, since there are no hard negatives.
    Raises ShapeError for arrays of wrong shapes, ValueRangeError if k is negative.

    Source: Liu et al., SSD: Single Shot MultiBox Detector, ECCV 2016, section 2.2, equations 1 to 3.
    """
    mb_locs, mb_confs = as_variable(mb_locs), as_variable(mb_confs)
    gt_mb_locs, gt_mb_labels = as_array(gt_mb_locs), as_array(gt_mb_labels)
    rows = mb_locs.shape[:2]
    if (
        mb_locs.ndim != 3
        or mb_confs.shape[:2] != rows
        or gt_mb_locs.shape != mb_locs.shape
        or gt_mb_labels.shape != rows
    ):
        raise ShapeError(
            "multibox_loss: the arrays have wrong shapes",
            expected="(B, A, 4), (B, A, 1 + L), (B, A, 4), (B, A)",
            got=f"{mb_locs.shape}, {mb_confs.shape}, {gt_mb_locs.shape}, {gt_mb_labels.shape}",
        )
    if not k >= 0:
        raise ValueRangeError("multibox_loss: k must not be negative", got=k)
    if n_positive is not None and not n_positive > 0:
        raise ValueRangeError("multibox_loss: n_positive must be positive", got=n_positive)
    xp = backend_of(gt_mb_labels).xp
    positive = gt_mb_labels > 0
    off, wanted = F.reshape(mb_locs, (-1, 4)), gt_mb_locs.reshape(-1, 4)
    if is_device_array(gt_mb_labels):  # without device synchronization: the host does not know their number
        each = F.huber_loss(off, wanted, 1.0, reduce="no")
        loc_loss = F.sum(each * positive.reshape(-1, 1).astype(each.dtype))
        divisor = xp.maximum(positive.sum(), 1).astype(each.dtype) if n_positive is None else n_positive
    else:
        index = xp.flatnonzero(positive)
        loc_loss = F.huber_loss(off[index], wanted[index], 1.0, reduce="sum")
        divisor = max(int(positive.sum()), 1) if n_positive is None else n_positive
    n_class = mb_confs.shape[2]
    labels = xp.maximum(gt_mb_labels, 0).reshape(-1)
    losses = softmax_cross_entropy(F.reshape(mb_confs, (-1, n_class)), labels, reduce="no")
    counted = positive | hard_negatives(losses.array.reshape(rows), gt_mb_labels, k)
    conf_loss = F.sum(losses * counted.reshape(-1).astype(losses.dtype))
    return loc_loss * (1 / divisor), conf_loss * (1 / divisor)


def hard_negatives(loss: np.ndarray, label: np.ndarray, k: float) -> np.ndarray:
    """(B, A) bool: hard negatives: each image's background boxes of highest loss, k times as many as positive ones.

    loss: (B, A); label: (B, A) integers, 0 background; of equal losses the first
    """
    xp = backend_of(label).xp
    negative = label == 0
    order = xp.argsort(xp.where(negative, -loss, xp.inf), axis=1, kind="stable")
    n_taken = xp.minimum((k * (label > 0).sum(axis=1)).astype(xp.int64), negative.sum(axis=1))
    taken = xp.zeros(label.shape, bool)
    xp.put_along_axis(taken, order, xp.arange(label.shape[1])[None] < n_taken[:, None], axis=1)
    return taken


class SSDLoss(AbstractBatchLoss, Chain):
    """Training loss of SSD, a scalar: `SSDLoss(model)(x, mb_locs, mb_labels)`.

    model: an `SSD`, or another network with such heads (`SSDLite`)
    alpha: weight of the box regression loss
    k: negative boxes per positive box, see `multibox_loss`

    Reports loss, loss/loc and loss/conf.
    """

    def __init__(self, model: AbstractOneStageDetector, *, alpha: float = 1.0, k: float = 3.0):
        self.alpha = alpha
        self.k = k
        with self.init_scope():
            self.model = model

    def forward(self, x: Variable | Array, mb_locs: Variable | Array, mb_labels: Variable | Array) -> Variable:
        """The loss, a scalar.

        x: (B, 3, H, W) float32, preprocessed
        mb_locs, mb_labels: (B, A, 4) float32 and (B, A) int32 as `MultiboxCoder.encode` gives, on x's device
        Raises ShapeError for wrong shapes.
        """
        loc, conf = self.model(x)
        n_positive = batch_divisor(int((as_array(mb_labels) > 0).sum())) if is_part() else None
        loc_loss, conf_loss = multibox_loss(loc, conf, mb_locs, mb_labels, self.k, n_positive=n_positive)
        loss = loc_loss * self.alpha + conf_loss
        report({"loss": loss, "loss/loc": loc_loss, "loss/conf": conf_loss}, self)
        return loss


def collate_multibox(batch: Sequence[tuple], device: str | int | None = None) -> tuple[Array, Array, Array]:
    """(x (B, 3, H, W), mb_locs (B, A, 4), mb_labels (B, A)) of examples of `SSDTransform`; a converter for updaters.

    device: of the batch; None: the CPU
    """
    x, loc, label = (np.stack(each) for each in zip(*batch))
    if device is None:
        return x, loc, label
    backend = get_device(device)
    return backend.asarray(x), backend.asarray(loc), backend.asarray(label)
