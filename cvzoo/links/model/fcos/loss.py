"""What an FCOS is trained with: the network and its loss as one link."""

from collections.abc import Sequence
from typing import Any

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.array.dtypes import widened
from cvzoo.functions.loss.focal_loss import focal_loss
from cvzoo.functions.loss.giou_loss import giou_loss
from cvzoo.functions.loss.labels import beside
from cvzoo.links.chain import Chain
from cvzoo.links.model.check_objects import check_objects
from cvzoo.links.model.fcos.fcos import FCOS
from cvzoo.links.model.fcos.targets import assign_targets
from cvzoo.reporting.reporter import report


class FCOSLoss(Chain):
    """`FCOSLoss(model)(x, bboxes, labels)` is what to make small; `optimizer.setup` takes it.

    model: the network
    alpha, gamma: of the focal loss

    The sum of the focal loss of the classes, the GIoU loss of the boxes and the cross entropy of the centredness, each
    divided by the places that have an object (at least 1). Reports loss, loss/loc, loss/conf and loss/center.
    Source: Tian et al., FCOS, ICCV 2019, equation 2; GIoU and the unweighted boxes as in torchvision.
    """

    def __init__(self, model: FCOS, *, alpha: float = 0.25, gamma: float = 2.0):
        self.alpha, self.gamma = alpha, gamma
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

        x: (B, 3, H, W) float32, as the network wants it (`RetinaNetTransform` and `collate_photos` make it so)
        bboxes, labels: of each photo (R, 4) float32, pixels of x, and (R,) int32
        ignored: of each photo (R,) bool, see `assign_targets`
        Raises ShapeError if there is not one element a photo.
        What `check_objects` raises.
        """
        if len(bboxes) != x.shape[0]:
            raise ShapeError("FCOSLoss: bboxes must be one a photo", expected=x.shape[0], got=len(bboxes))
        check_objects(type(self).__name__, bboxes, labels, self.model.n_fg_class)
        loc, conf, center = self.model(x)
        places = self.model.decoding.places(x.shape[2:])
        targets = assign_targets(places, bboxes, labels, ignored, radius=self.model.settings.radius)
        divisor = float(max(len(targets.positive), 1))
        conf_loss = focal_loss(conf, targets.label, alpha=self.alpha, gamma=self.gamma, normalizer=divisor)
        place = targets.positive % len(places.center)
        middle, stride = places.center[place], places.stride[place][:, None]
        code = widened(F.reshape(loc, (-1, 4))[targets.positive])
        score = F.reshape(center, (-1,))[targets.positive]
        target = centredness(targets.bbox, middle)
        middle, stride = beside(middle, code), beside(stride, code)
        code = code * stride
        bbox = F.concat([middle - code[:, :2], middle + code[:, 2:]], axis=1)
        loc_loss = giou_loss(bbox, targets.bbox, reduce="sum") * (1 / divisor)
        center_loss = F.sigmoid_cross_entropy(score, target, reduce="sum") * (1 / divisor)
        loss = conf_loss + loc_loss + center_loss
        report({"loss": loss, "loss/loc": loc_loss, "loss/conf": conf_loss, "loss/center": center_loss}, self)
        return loss


def centredness(bbox: np.ndarray, place: np.ndarray) -> np.ndarray:
    """(R,) float32, 1 in the middle of bbox (R, 4) and 0 at its edge, for place (R, 2), y x, inside.

    Source: Tian et al., FCOS, ICCV 2019, equation 3.
    """
    low, high = place - bbox[:, :2], bbox[:, 2:] - place
    return np.sqrt((np.minimum(low, high) / np.maximum(low, high)).prod(axis=1))
