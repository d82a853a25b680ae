"""What an SSD is trained with: the network and its loss as one link."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.device import get_device
from cvzoo.links.chain import Chain
from cvzoo.links.model.detector import AbstractOneStageDetector
from cvzoo.links.model.ssd.multibox_loss import multibox_loss
from cvzoo.reporting.reporter import report


class SSDLoss(Chain):
    """`SSDLoss(model)(x, mb_locs, mb_labels)` is what to make small; `optimizer.setup` takes it.

    model: an `SSD`, or another network with such heads (`SSDLite`)
    alpha: what the loss of offsets is multiplied by
    k: background boxes for each box that has an object, see `multibox_loss`

    Reports loss, loss/loc and loss/conf.
    """

    def __init__(self, model: AbstractOneStageDetector, *, alpha: float = 1.0, k: float = 3.0):
        self.alpha = alpha
        self.k = k
        with self.init_scope():
            self.model = model

    def forward(self, x: Any, mb_locs: Any, mb_labels: Any) -> Variable:
        """The loss, a number.

        x: (B, 3, H, W) float32, as the network wants it
        mb_locs, mb_labels: (B, A, 4) float32 and (B, A) int32 as `MultiboxCoder.encode` gives, on x's device
        Raises ShapeError if they do not fit.
        """
        loc, conf = self.model(x)
        loc_loss, conf_loss = multibox_loss(loc, conf, mb_locs, mb_labels, self.k)
        loss = loc_loss * self.alpha + conf_loss
        report({"loss": loss, "loss/loc": loc_loss, "loss/conf": conf_loss}, self)
        return loss


def collate_multibox(batch: Sequence[tuple], device: str | int | None = None) -> tuple[Any, Any, Any]:
    """(x (B, 3, H, W), mb_locs (B, A, 4), mb_labels (B, A)) of examples as `SSDTransform` gives: for updaters.

    device: where they shall be; None: on the CPU
    """
    arrays = [np.stack(each) for each in zip(*batch)]
    if device is not None:
        backend = get_device(device)
        arrays = [backend.asarray(array) for array in arrays]
    return tuple(arrays)
