"""What cannot be learned is refused, with the photo's place, before anything is computed."""

import numpy as np
import pytest

from cvzoo.errors.exceptions import CvzooError
from cvzoo.links.model.check_objects import check_objects
from cvzoo.links.model.faster_rcnn.faster_rcnn_vgg16 import FasterRCNNVGG16
from cvzoo.links.model.faster_rcnn.train_chain import FasterRCNNTrainChain
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNSettings
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.faster_rcnn_fpn.loss import FasterRCNNFPNLoss
from cvzoo.links.model.fcos.fcos import FCOS, FCOSSettings
from cvzoo.links.model.fcos.loss import FCOSLoss
from cvzoo.links.model.retinanet.config import RetinaNetSettings
from cvzoo.links.model.retinanet.loss import RetinaNetLoss
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.yolo.loss import YOLOLoss
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2Tiny

BOX = np.array([[5, 5, 50, 40]], np.float32)
WRONG = [
    (BOX, np.array([-1]), "image 1: a label is no class"),
    (BOX, np.array([3]), "0 to 2"),
    (BOX, np.array([0.5]), "labels must be integers"),
    (BOX, np.array([0, 1]), "do not fit together"),
    (BOX[0], np.array([0]), "do not fit together"),
    (np.array([[5, np.nan, 50, 40]], np.float32), np.array([0]), "boxes must be finite"),
    (np.array([[5, 5, np.inf, 40]], np.float32), np.array([0]), "boxes must be finite"),
]


def fpn():
    settings = FasterRCNNFPNSettings(n_layer=10, base_channels=4, channels=8, head_width=8, min_size=64, max_size=64)
    return FasterRCNNFPNLoss(FasterRCNNFPN(3, settings=settings))


def vgg():
    return FasterRCNNTrainChain(FasterRCNNVGG16(3, base_channels=2, rpn_channels=4, fc_channels=4))


def retinanet():
    return RetinaNetLoss(RetinaNet(3, settings=RetinaNetSettings(n_layer=10, base_channels=4, channels=8)))


def fcos():
    narrow = FCOSSettings(n_layer=10, base_channels=4, norm="batch", channels=8, head_groups=4)
    return FCOSLoss(FCOS(3, settings=narrow))


def yolo():
    return YOLOLoss(YOLOv2Tiny(3, insize=64, base_channels=2, mid_channels=8))


@pytest.mark.parametrize("make", [fpn, vgg, retinanet, fcos, yolo])
def test_losses_refuse_what_cannot_be_learned(make):
    loss, x = make(), np.zeros((2, 3, 64, 64), np.float32)
    for bbox, label, says in WRONG:
        with pytest.raises(CvzooError, match=says):
            loss(x, [BOX, bbox], [np.array([2]), label])


def test_photos_without_objects_are_fine():
    check_objects("a loss", [np.zeros((0, 4), np.float32), BOX], [np.zeros(0), np.array([2], np.uint8)], 3)
