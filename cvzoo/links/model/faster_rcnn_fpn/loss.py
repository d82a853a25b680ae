"""What a Faster R-CNN on a pyramid is trained with: the network and its losses as one link."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain
from cvzoo.links.model.check_objects import check_objects
from cvzoo.links.model.faster_rcnn.losses import reported_sum
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.faster_rcnn_fpn.region_losses import RegionLosses, RegionSampling
from cvzoo.links.model.faster_rcnn_fpn.sampling import truths


class FasterRCNNFPNLoss(Chain):
    """`FasterRCNNFPNLoss(model)(x, bboxes, labels)` is what to make small; `optimizer.setup` takes it.

    model: the network
    sampling: which anchors and regions are learned from

    The sum of four losses, each a mean over what was sampled in the whole batch: both stages are trained at once.
    Reports loss, loss/rpn_loc, loss/rpn_conf, loss/loc and loss/conf.
    Source: Ren et al., Faster R-CNN, 2015, section 3.1.2; numbers as Lin et al., Feature Pyramid Networks, 2017, and
    Detectron have them.
    """

    def __init__(self, model: FasterRCNNFPN, *, sampling: RegionSampling = RegionSampling()):  # noqa: B008, it is frozen
        self._losses = RegionLosses(sampling)
        with self.init_scope():
            self.model = model

    def forward(
        self,
        x: Any,
        bboxes: Sequence[np.ndarray],
        labels: Sequence[np.ndarray],
        ignored: Sequence[np.ndarray] | None = None,
    ) -> Variable:
        """The loss, a number.

        x: (B, 3, H, W) float32, as the network wants it
        bboxes, labels: of each photo (R, 4) float32, pixels of x, and (R,) int32
        ignored: of each photo (R,) bool: crowds, difficult objects: what they cover is not learned
        Raises ShapeError if there is not one element a photo.
        What `check_objects` raises.
        """
        check_objects(type(self).__name__, bboxes, labels, self.model.n_fg_class)
        losses, _, _ = self._losses(self.model.regions, x, truths(bboxes, labels, ignored))
        return reported(losses, self)


def reported(losses: dict[str, Variable], link: Chain) -> Variable:
    """The sum of the losses, which is told to the reporter as well as each of them."""
    return reported_sum({f"loss/{name}": each for name, each in losses.items()}, link)
