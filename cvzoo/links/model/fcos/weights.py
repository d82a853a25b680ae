"""torchvision's weights of FCOS."""

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.model.preparation.torchvision_detector import torchvision_detector_preparation
from cvzoo.links.model.publishers.torchvision import torchvision_weights
from cvzoo.weights.record import Weights

WEIGHTS: dict[str, Weights] = {
    "coco": torchvision_weights(
        "fcos_resnet50_fpn_coco",
        "fcos_resnet50_fpn_coco-99b0c9b7.pth",
        enum="FCOS_ResNet50_FPN_Weights.COCO_V1",
        score={"COCO val2017 AP": 0.392},
        preprocessing=torchvision_detector_preparation(800, 1333, antialias=False).describe(),
        label_names=coco_bbox_label_names,
    )
}
