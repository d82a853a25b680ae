"""torchvision's weights of RetinaNet: they carry the first digits of their hash in the file's name."""

from cvzoo.labels.coco import coco_bbox_label_names
from cvzoo.links.model.preparation.torchvision_detector import torchvision_detector_preparation
from cvzoo.links.model.publishers.torchvision import torchvision_weights
from cvzoo.links.model.retinanet.config import RetinaNetConfig
from cvzoo.weights.record import Weights

_SIZES = ((32, 40, 50), (64, 80, 101), (128, 161, 203), (256, 322, 406), (512, 645, 812))

# its normalizations divide by the plain standard deviation
RESNET50_FPN = RetinaNetConfig(norm="frozen", bn_eps=0.0, anchor_sizes=_SIZES, anchor_rounded=True, antialias=False)
RESNET50_FPN_V2 = RetinaNetConfig(
    extra_from="C5", head_groups=32, anchor_sizes=_SIZES, anchor_rounded=True, antialias=False
)


def _record(version: int, file_name: str, score: float) -> Weights:
    suffix = "" if version == 1 else "_v2"
    return torchvision_weights(
        f"retinanet_resnet50_fpn{suffix}_coco",
        file_name,
        enum=f"RetinaNet_ResNet50_FPN{suffix.upper()}_Weights.COCO_V1",
        score={"COCO val2017 AP": score},
        preprocessing=torchvision_detector_preparation(800, 1333, antialias=False).describe(),
        data="COCO 2017 train, on a backbone from ImageNet-1K",
        data_licence="annotations CC BY 4.0, photos Flickr terms of use; ImageNet terms of access",
        label_names=coco_bbox_label_names,
    )


# name -> (record, how the network is built)
WEIGHTS: dict[str, tuple[Weights, RetinaNetConfig]] = {
    "coco": (_record(1, "retinanet_resnet50_fpn_coco-eeacb38b.pth", 0.364), RESNET50_FPN),
    "coco_v2": (_record(2, "retinanet_resnet50_fpn_v2_coco-5905b1c5.pth", 0.415), RESNET50_FPN_V2),
}
