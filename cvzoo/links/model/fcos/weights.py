"""torchvision's weights of FCOS."""

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.model.torchvision_record import torchvision_weights
from cvzoo.weights.record import Weights

WEIGHTS: dict[str, Weights] = {
    "coco": torchvision_weights(
        "fcos_resnet50_fpn_coco",
        "fcos_resnet50_fpn_coco-99b0c9b7.pth",
        enum="FCOS_ResNet50_FPN_Weights.COCO_V1",
        score={"COCO val2017 AP": 0.392},
        preprocessing="short side 800, long side at most 1333, bilinear without antialiasing, padded to multiples of "
        "32, RGB; (x / 255 - (.485, .456, .406)) / (.229, .224, .225)",
        label_names=coco_bbox_label_names,
    )
}
