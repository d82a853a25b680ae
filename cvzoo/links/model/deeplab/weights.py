"""Published weights of the DeepLabs."""

from cvzoo.labels.ade20k import ade20k_semantic_segmentation_label_names
from cvzoo.labels.cityscapes import cityscapes_semantic_segmentation_label_names
from cvzoo.labels.voc import voc_semantic_segmentation_label_names
from cvzoo.links.model.preparation.as_is import AsIs
from cvzoo.links.model.publishers.chainercv import chainercv_weights
from cvzoo.links.model.publishers.gluon_cv import gluon_segmenter
from cvzoo.links.model.publishers.torchvision import torchvision_segmenter
from cvzoo.weights.record import Weights

# backbone -> name -> record
V3_RECORDS: dict[str, dict[str, Weights]] = {
    "resnet50": {
        "coco_voc": torchvision_segmenter("deeplabv3_resnet50_coco", "cd0a2569", "DeepLabV3_ResNet50", 0.664, 0.924)
    },
    "resnet101": {
        "coco_voc": torchvision_segmenter("deeplabv3_resnet101_coco", "586e9e4e", "DeepLabV3_ResNet101", 0.674, 0.924)
    },
    "mobilenet_v3_large": {
        "coco_voc": torchvision_segmenter(
            "deeplabv3_mobilenet_v3_large", "fc3c493d", "DeepLabV3_MobileNet_V3_Large", 0.603, 0.912
        )
    },
    "resnet50s": {
        "ade20k": gluon_segmenter("deeplab_resnet50", "ade20k", "c7789b237adc7253405bee57c84d53b15db45942"),
        "cityscapes": gluon_segmenter("deeplab_resnet50", "cityscapes", "cf6a7bb3d55360933de647a8505f7936003902a4"),
    },
    "resnet101s": {
        "voc": gluon_segmenter("deeplab_resnet101", "voc", "311ed22c63f3ac28b5f1e1663c458f26600e62da", 0.862),
        "coco_voc": gluon_segmenter("deeplab_resnet101", "coco_voc", "ed817f76086abb4c3404af62ec1b5487c67642b7"),
        "ade20k": gluon_segmenter("deeplab_resnet101", "ade20k", "bf1584dfcec12063eff3075ee643e181c0f6d443"),
        "cityscapes": gluon_segmenter("deeplab_resnet101", "cityscapes", "eb8477a91efc244c85b364c0736664078aaf0e65"),
    },
}

# RGB in [-1, 1]
IN_ONE = AsIs(mean=(127.5,) * 3, std=(127.5,) * 3, arithmetic="x / std - mean / std")


def _v3_plus(name: str, date: str, data: str, data_licence: str, miou: float, label_names: tuple[str, ...]) -> Weights:
    return chainercv_weights(
        f"deeplabv3plus_xception65_{name}",
        f"deeplabv3plus_xception65_{name}_converted_{date}.npz",
        licence="not stated; converted from TensorFlow's DeepLab, whose code is Apache-2.0; ChainerCV's code is MIT",
        data=data,
        data_licence=data_licence,
        score={"miou": miou},  # one scale, as ChainerCV says
        source="ChainerCV 0.13, converted from TensorFlow's model garden",
        label_names=label_names,
        preprocessing=f"{IN_ONE.describe()}; a grey margin below and at the right of small photos",
    )


V3_PLUS_RECORDS: dict[str, Weights] = {
    "voc": _v3_plus(
        "voc",
        "2019_02_15",
        "Pascal VOC 2012 with additional annotations (trainaug)",
        "Flickr's terms, each photo by its owner",
        0.8236,
        voc_semantic_segmentation_label_names,
    ),
    "cityscapes": _v3_plus(
        "cityscapes",
        "2019_02_15",
        "Cityscapes, finely labelled training frames",
        "Cityscapes terms: research, no commercial use",
        0.7914,
        cityscapes_semantic_segmentation_label_names,
    ),
    "ade20k": _v3_plus(
        "ade20k",
        "2019_03_08",
        "ADE20K, training photos",
        "ADE20K terms: research, no commercial use",
        0.4252,
        ade20k_semantic_segmentation_label_names,
    ),
}
# the smallest input, (H, W), that each was trained with
MIN_INPUT_SIZES = {"voc": (513, 513), "cityscapes": (1025, 2049), "ade20k": (513, 513)}
