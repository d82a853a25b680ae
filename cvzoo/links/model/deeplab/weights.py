"""Published weights of the DeepLabs.

Publishers' names in the DeepLabs and the FCNs, and cvzoo's.
"""

from collections.abc import Mapping

from cvzoo.labels.ade20k import ade20k_semantic_segmentation_label_names
from cvzoo.labels.cityscapes import cityscapes_semantic_segmentation_label_names
from cvzoo.labels.voc import voc_semantic_segmentation_label_names
from cvzoo.links.model.mobilenet_v3.extractor import network_plan
from cvzoo.links.model.mobilenet_v3.weights import extractor_places
from cvzoo.links.model.preparation.as_is import AsIs
from cvzoo.links.model.pretrained.names import Names, Rule, place_of
from cvzoo.links.model.publishers.chainercv import chainercv_weights
from cvzoo.links.model.publishers.gluon_cv import gluon_segmenter
from cvzoo.links.model.publishers.torchvision import torchvision_segmenter
from cvzoo.links.model.resnet.weights import resnet_place
from cvzoo.weights.record import Signature, Weights

_FCN_HEAD = {"0": "conv/conv", "1": "conv/bn", "4": "out"}
_DEEPLAB_HEAD = {
    "0.convs.0.0": "aspp/near/conv",
    "0.convs.0.1": "aspp/near/bn",
    **{f"0.convs.{i}.0": f"aspp/atrous/{i - 1}/conv" for i in (1, 2, 3)},
    **{f"0.convs.{i}.1": f"aspp/atrous/{i - 1}/bn" for i in (1, 2, 3)},
    "0.convs.4.1": "aspp/whole/conv",
    "0.convs.4.2": "aspp/whole/bn",
    "0.project.0": "aspp/project/conv",
    "0.project.1": "aspp/project/bn",
    "1": "conv/conv",
    "2": "conv/bn",
    "4": "out",
}
_AUX_HEAD = {f"aux_classifier.{theirs}": f"aux/{ours}" for theirs, ours in _FCN_HEAD.items()}
_DEEPLAB_MARK = "classifier.0.convs.0.0.weight"
_MOBILENET_MARK = "backbone.0.0.weight"
# of gluon-cv's modules, also in a PSPNet; the first match of the whole name is used
_GLUON = (
    (r"conv1\.([036])", lambda m: f"backbone/layers/conv1/{int(m[1]) // 3}/conv"),
    (r"conv1\.([14])", lambda m: f"backbone/layers/conv1/{int(m[1]) // 3}/bn"),
    (r"bn1", "backbone/layers/conv1/2/bn"),
    (r"layer(\d)\.(\d+)\.conv(\d)", lambda m: f"backbone/layers/res{int(m[1]) + 1}/{m[2]}/conv{m[3]}/conv"),
    (r"layer(\d)\.(\d+)\.bn(\d)", lambda m: f"backbone/layers/res{int(m[1]) + 1}/{m[2]}/conv{m[3]}/bn"),
    (r"layer(\d)\.(\d+)\.downsample\.0", lambda m: f"backbone/layers/res{int(m[1]) + 1}/{m[2]}/shortcut/conv"),
    (r"layer(\d)\.(\d+)\.downsample\.1", lambda m: f"backbone/layers/res{int(m[1]) + 1}/{m[2]}/shortcut/bn"),
    (r"head\.aspp\.concurent\.0\.0", "head/aspp/near/conv"),
    (r"head\.aspp\.concurent\.0\.1", "head/aspp/near/bn"),
    (r"head\.aspp\.concurent\.([123])\.0", lambda m: f"head/aspp/atrous/{int(m[1]) - 1}/conv"),
    (r"head\.aspp\.concurent\.([123])\.1", lambda m: f"head/aspp/atrous/{int(m[1]) - 1}/bn"),
    (r"head\.aspp\.concurent\.4\.gap\.1", "head/aspp/whole/conv"),
    (r"head\.aspp\.concurent\.4\.gap\.2", "head/aspp/whole/bn"),
    (r"head\.aspp\.project\.0", "head/aspp/project/conv"),
    (r"head\.aspp\.project\.1", "head/aspp/project/bn"),
    (r"head\.psp\.conv(\d)\.0", lambda m: f"head/ppm/{int(m[1]) - 1}/conv"),
    (r"head\.psp\.conv(\d)\.1", lambda m: f"head/ppm/{int(m[1]) - 1}/bn"),
    (r"head\.block\.0", "head/conv/conv"),
    (r"head\.block\.1", "head/conv/bn"),
    (r"head\.block\.4", "head/out"),
    (r"auxlayer\.block\.0", "aux/conv/conv"),
    (r"auxlayer\.block\.1", "aux/conv/bn"),
    (r"auxlayer\.block\.4", "aux/out"),
)


def gluon_place(module: str) -> str | None:
    """cvzoo's path of a module of gluon-cv's segmenters, or None."""
    return place_of(module, _GLUON)


def _torchvision(head: Mapping[str, str], *marks: str) -> Names:
    modules = {f"classifier.{theirs}": f"head/{ours}" for theirs, ours in head.items()} | _AUX_HEAD
    if _MOBILENET_MARK in marks:
        plan = network_plan("large", dilated=True)
        return Names(marks=marks, modules=modules | extractor_places(plan, theirs="backbone", ours="backbone/layers"))

    def place_of(module: str) -> str | None:
        if module in modules or not module.startswith("backbone."):
            return modules.get(module)
        place = resnet_place(module.removeprefix("backbone."))
        return None if place is None else place.replace("extractor/", "backbone/layers/", 1)

    return Names(marks=marks, modules=place_of)


# of DeepLabV3 and FCN
# class names of published FCNs and DeepLabs
USUAL_NAMES = (
    voc_semantic_segmentation_label_names,
    cityscapes_semantic_segmentation_label_names,
    ade20k_semantic_segmentation_label_names,
)
NAMES = {
    "gluon-cv": Names(marks=("head.block.4.weight",), modules=gluon_place),
    "torchvision DeepLabV3 on MobileNetV3": _torchvision(_DEEPLAB_HEAD, _DEEPLAB_MARK, _MOBILENET_MARK),
    "torchvision DeepLabV3": _torchvision(_DEEPLAB_HEAD, _DEEPLAB_MARK),
    "torchvision FCN on MobileNetV3": _torchvision(_FCN_HEAD, _MOBILENET_MARK),
    "torchvision FCN": _torchvision(_FCN_HEAD),
}
# each rule is applied to the result of the previous ones
_V3_PLUS: tuple[Rule, ...] = (
    (r"/middleflow_block(\d+)/", lambda match: f"/middleflow/{int(match[1]) - 1}/"),
    (r"^aspp/atrous(\d)/", lambda match: f"aspp/atrous/{int(match[1]) - 1}/"),
    (r"/(depthwise|pointwise)/W$", r"/\1/conv/W"),
    (r"/dw_bn/", "/depthwise/bn/"),
    (r"/pw_bn/", "/pointwise/bn/"),
)
V3_PLUS_NAMES = {"chainercv": Names(marks=(), rules=_V3_PLUS)}


# backbone -> name -> record
V3_RECORDS: dict[str, dict[str, Weights]] = {
    "resnet50": {
        "coco_voc": torchvision_segmenter(
            "deeplabv3_resnet50_coco",
            "cd0a2569",
            "DeepLabV3_ResNet50",
            0.664,
            0.924,
            mib=160.515,
            signature=Signature(309, "backbone.conv1.weight", (64, 3, 7, 7)),
        )
    },
    "resnet101": {
        "coco_voc": torchvision_segmenter(
            "deeplabv3_resnet101_coco",
            "586e9e4e",
            "DeepLabV3_ResNet101",
            0.674,
            0.924,
            mib=233.217,
            signature=Signature(564, "backbone.layer4.2.conv3.weight", (2048, 512, 1, 1)),
        )
    },
    "mobilenet_v3_large": {
        "coco_voc": torchvision_segmenter(
            "deeplabv3_mobilenet_v3_large",
            "fc3c493d",
            "DeepLabV3_MobileNet_V3_Large",
            0.603,
            0.912,
            mib=42.301,
            signature=Signature(306, "backbone.16.0.weight", (960, 160, 1, 1)),
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
IN_ONE = AsIs(mean=(127.5, 127.5, 127.5), std=(127.5, 127.5, 127.5), arithmetic="x / std - mean / std")


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
        preprocessing=f"{IN_ONE.describe()}; a grey margin below and at the right of small images",
    )


V3_PLUS_RECORDS: dict[str, Weights] = {
    "voc": _v3_plus(
        "voc",
        "2019_02_15",
        "Pascal VOC 2012 with additional annotations (trainaug)",
        "Flickr's terms, each image by its owner",
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
        "ADE20K, training images",
        "ADE20K terms: research, no commercial use",
        0.4252,
        ade20k_semantic_segmentation_label_names,
    ),
}
# the training size (H, W) of each
MIN_INPUT_SIZES = {"voc": (513, 513), "cityscapes": (1025, 2049), "ade20k": (513, 513)}
