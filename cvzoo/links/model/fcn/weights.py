"""Published weights of FCN."""

from cvzoo.links.model.publishers.gluon_cv import gluon_segmenter
from cvzoo.links.model.publishers.torchvision import torchvision_segmenter
from cvzoo.weights.record import Signature, Weights

# backbone -> name -> record
RECORDS: dict[str, dict[str, Weights]] = {
    "resnet50": {
        "coco_voc": torchvision_segmenter(
            "fcn_resnet50_coco",
            "1167a1af",
            "FCN_ResNet50",
            0.605,
            0.914,
            mib=135.009,
            signature=Signature(279, "backbone.layer4.2.conv3.weight", (2048, 512, 1, 1)),
        )
    },
    "resnet101": {
        "coco_voc": torchvision_segmenter(
            "fcn_resnet101_coco",
            "7ecb50ca",
            "FCN_ResNet101",
            0.637,
            0.919,
            mib=207.711,
            signature=Signature(534, "backbone.layer4.2.conv3.weight", (2048, 512, 1, 1)),
        )
    },
    "resnet50s": {"ade20k": gluon_segmenter("fcn_resnet50", "ade20k", "3479525af7bdbf345e74e150aaae2e48174c0c5f")},
    "resnet101s": {
        "voc": gluon_segmenter("fcn_resnet101", "voc", "12c2b9b3be7d4e133e52477150a9b3e616626a82"),
        "coco_voc": gluon_segmenter("fcn_resnet101", "coco_voc", "766cdf9cc3e5b980b141643f054db5b48863f634"),
        "ade20k": gluon_segmenter("fcn_resnet101", "ade20k", "d544440a35586f662ed1a5405ab9aa89cd750558"),
    },
}
