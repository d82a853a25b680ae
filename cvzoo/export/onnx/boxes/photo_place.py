"""Where in a detector's input a photo lies."""

import numpy as np

from cvzoo.links.chain import Chain
from cvzoo.links.model.darknet.detector import DarknetDetector
from cvzoo.links.model.faster_rcnn.abstract_faster_rcnn import AbstractFasterRCNN
from cvzoo.links.model.faster_rcnn.fit_photo import fitted_size as fitted_photo
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import FasterRCNNFPN
from cvzoo.links.model.faster_rcnn_fpn.fit import seen_size
from cvzoo.links.model.fcis.fcis_resnet101 import FCISResNet101
from cvzoo.links.model.fcos.fcos import FCOS
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import KeypointRCNNFPN
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import MaskRCNNFPN
from cvzoo.links.model.retinanet.fit import fitted_size
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2
from cvzoo.links.model.yolo.yolo_v2_tiny import YOLOv2Tiny
from cvzoo.links.model.yolo.yolo_v3 import YOLOv3
from cvzoo.transforms.letterbox import letterbox_frame

Size = tuple[int, int]


def photo_place(model: Chain, size: Size, input_size: Size) -> np.ndarray:
    """(4,) float32, y_min x_min y_max x_max in pixels of the network's input: the photo's part of it.

    size: (H, W) of the photo; input_size: of what `prepare` makes of it
    Boxes (box - place[:2]) * size / (place[2:] - place[:2]) are in the photo's own pixels.
    """
    y = x = 0
    h, w = input_size
    if isinstance(model, RetinaNet | FCOS):
        h, w = fitted_size(size, model.settings.min_size, model.settings.max_size)
    elif isinstance(model, FasterRCNNFPN | MaskRCNNFPN | KeypointRCNNFPN):
        h, w = seen_size(size, model.settings)
    elif isinstance(model, AbstractFasterRCNN):
        h, w = (side * w / size[1] for side in size)  # the width's scale is for both axes
    elif isinstance(model, FCISResNet101):
        seen_width = fitted_photo(size, model.min_size, model.max_size)[1]
        h, w = (side * seen_width / size[1] for side in size)
    elif isinstance(model, YOLOv2 | YOLOv2Tiny | YOLOv3) or (
        isinstance(model, DarknetDetector) and model.resize == "letterbox"
    ):
        (h, w), (y, x) = letterbox_frame(size, input_size)
    return np.array([y, x, y + h, x + w], np.float32)
