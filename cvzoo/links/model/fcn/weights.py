"""Published weights of FCN."""

from cvzoo.datasets.labels.voc import voc_semantic_segmentation_label_names
from cvzoo.links.model.short_side_preparation import describe_short_side
from cvzoo.links.model.torchvision_record import torchvision_weights
from cvzoo.weights.record import Weights

_COCO_VOC = {
    "preprocessing": describe_short_side(520),
    "data": "COCO train2017, the photos and pixels of the 20 classes of Pascal VOC",
    "label_names": voc_semantic_segmentation_label_names,
}

# backbone -> name -> record; scores on COCO val2017's photos with these classes, as the publisher says
RECORDS: dict[str, dict[str, Weights]] = {
    "resnet50": {
        "coco_voc": torchvision_weights(
            "fcn_resnet50",
            "fcn_resnet50_coco-1167a1af.pth",
            enum="FCN_ResNet50_Weights.COCO_WITH_VOC_LABELS_V1",
            score={"miou": 0.605, "pixel_accuracy": 0.914},
            **_COCO_VOC,
        )
    },
    "resnet101": {
        "coco_voc": torchvision_weights(
            "fcn_resnet101",
            "fcn_resnet101_coco-7ecb50ca.pth",
            enum="FCN_ResNet101_Weights.COCO_WITH_VOC_LABELS_V1",
            score={"miou": 0.637, "pixel_accuracy": 0.919},
            **_COCO_VOC,
        )
    },
}
