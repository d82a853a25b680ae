"""Published weights of FCN."""

from cvzoo.datasets.labels.voc import voc_semantic_segmentation_label_names
from cvzoo.links.model.gluon_segmentation import gluon_segmenter
from cvzoo.links.model.short_side_preparation import describe_short_side
from cvzoo.links.model.torchvision_record import torchvision_weights
from cvzoo.weights.record import Weights

_COCO_VOC = {
    "preprocessing": describe_short_side(520),
    "data": "COCO train2017, the photos and pixels of the 20 classes of Pascal VOC",
    "label_names": voc_semantic_segmentation_label_names,
}

# backbone -> name -> record; torchvision's scores are on COCO val2017's photos with these classes
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
    "resnet50s": {"ade20k": gluon_segmenter("fcn_resnet50", "ade20k", "3479525af7bdbf345e74e150aaae2e48174c0c5f")},
    "resnet101s": {
        "voc": gluon_segmenter("fcn_resnet101", "voc", "12c2b9b3be7d4e133e52477150a9b3e616626a82"),
        "coco_voc": gluon_segmenter("fcn_resnet101", "coco_voc", "766cdf9cc3e5b980b141643f054db5b48863f634"),
        "ade20k": gluon_segmenter("fcn_resnet101", "ade20k", "d544440a35586f662ed1a5405ab9aa89cd750558"),
    },
}
