"""torchvision's weights of SSDLite."""

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.model.publishers.torchvision import torchvision_weights
from cvzoo.links.model.ssdlite.config import ssdlite_preparation
from cvzoo.weights.record import Weights

WEIGHTS: dict[str, Weights] = {
    "coco": torchvision_weights(
        "ssdlite320_mobilenet_v3_large_coco",
        "ssdlite320_mobilenet_v3_large_coco-a79551df.pth",
        enum="SSDLite320_MobileNet_V3_Large_Weights.COCO_V1",
        score={"COCO val2017 AP": 0.213},
        preprocessing=ssdlite_preparation(320).describe(),
        label_names=coco_bbox_label_names,
    )
}
