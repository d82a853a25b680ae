"""The zoo's families of networks: their architectures, and their trained models."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from cvzoo.links.chain import Chain
from cvzoo.links.model.alexnet.alexnet import AlexNet, AlexNetConfig
from cvzoo.links.model.alexnet.weights import WEIGHTS as ALEXNET_WEIGHTS
from cvzoo.links.model.architecture import Architecture
from cvzoo.links.model.cifar_resnet.cifar_resnet import CIFARResNet, CIFARResNetConfig
from cvzoo.links.model.cifar_resnet.weights import WEIGHTS as CIFAR_RESNET_WEIGHTS
from cvzoo.links.model.classifier import AbstractClassifier
from cvzoo.links.model.convnext.convnext import ConvNeXt, ConvNeXtConfig
from cvzoo.links.model.convnext.weights import WEIGHTS as CONVNEXT_WEIGHTS
from cvzoo.links.model.darknet.detector import DarknetConfig, DarknetDetector, mobilenet_v2_yolo_v3_nano, yolo_fastest
from cvzoo.links.model.darknet.weights import MOBILENET_V2_YOLO_V3_NANO_VOC, YOLO_FASTEST_COCO
from cvzoo.links.model.deeplab.deeplab_v3 import DeepLabV3
from cvzoo.links.model.deeplab.deeplab_v3_plus import DeepLabV3plusConfig, DeepLabV3plusXception65
from cvzoo.links.model.deeplab.weights import V3_PLUS_RECORDS, V3_RECORDS
from cvzoo.links.model.dense_backbone import DenseSegmenterConfig
from cvzoo.links.model.densenet.densenet import DenseNet, DenseNetConfig
from cvzoo.links.model.densenet.weights import WEIGHTS as DENSENET_WEIGHTS
from cvzoo.links.model.efficientnet.efficientnet import EfficientNet, EfficientNetConfig
from cvzoo.links.model.efficientnet.weights import WEIGHTS as EFFICIENTNET_WEIGHTS
from cvzoo.links.model.espnet.espnet import ESPNet, ESPNetConfig
from cvzoo.links.model.espnet.weights import RECORDS as ESPNET_WEIGHTS
from cvzoo.links.model.faster_rcnn.faster_rcnn_vgg16 import FasterRCNNVGG16, FasterRCNNVGG16Config
from cvzoo.links.model.faster_rcnn.weights import WEIGHTS as FASTER_RCNN_WEIGHTS
from cvzoo.links.model.faster_rcnn_fpn.config import FasterRCNNFPNConfig
from cvzoo.links.model.faster_rcnn_fpn.faster_rcnn_fpn import (
    FasterRCNNFPN,
    FasterRCNNFPNMobileNetV3Large,
    FasterRCNNFPNMobileNetV3Large320,
    FasterRCNNFPNResNet50,
    FasterRCNNFPNResNet101,
    FasterRCNNFPNResNeXt101,
)
from cvzoo.links.model.faster_rcnn_fpn.weights import WEIGHTS as FASTER_RCNN_FPN_WEIGHTS
from cvzoo.links.model.fcis.fcis_resnet101 import FCISConfig, FCISResNet101
from cvzoo.links.model.fcis.weights import WEIGHTS as FCIS_WEIGHTS
from cvzoo.links.model.fcn.fcn import FCN
from cvzoo.links.model.fcn.weights import RECORDS as FCN_WEIGHTS
from cvzoo.links.model.fcos.fcos import FCOS, FCOSConfig, FCOSResNet50FPN
from cvzoo.links.model.fcos.weights import WEIGHTS as FCOS_WEIGHTS
from cvzoo.links.model.googlenet.googlenet import GoogLeNet
from cvzoo.links.model.googlenet.inception_v3 import InceptionV3
from cvzoo.links.model.googlenet.mixed import InceptionConfig
from cvzoo.links.model.googlenet.weights import GOOGLENET, INCEPTION_V3
from cvzoo.links.model.keypoint_rcnn.keypoint_rcnn_fpn import (
    KeypointRCNNFPN,
    KeypointRCNNFPNConfig,
    KeypointRCNNFPNResNet50,
    KeypointRCNNFPNResNet101,
    KeypointRCNNFPNResNeXt101,
)
from cvzoo.links.model.keypoint_rcnn.weights import WEIGHTS as KEYPOINT_RCNN_WEIGHTS
from cvzoo.links.model.light_head_rcnn.light_head_rcnn_resnet101 import LightHeadRCNNConfig, LightHeadRCNNResNet101
from cvzoo.links.model.light_head_rcnn.weights import WEIGHTS as LIGHT_HEAD_RCNN_WEIGHTS
from cvzoo.links.model.lraspp.lraspp import LRASPPConfig, LRASPPMobileNetV3Large
from cvzoo.links.model.lraspp.weights import RECORDS as LRASPP_WEIGHTS
from cvzoo.links.model.mask_rcnn.mask_rcnn_fpn import (
    MaskRCNNFPN,
    MaskRCNNFPNConfig,
    MaskRCNNFPNResNet50,
    MaskRCNNFPNResNet101,
    MaskRCNNFPNResNeXt101,
)
from cvzoo.links.model.mask_rcnn.weights import WEIGHTS as MASK_RCNN_WEIGHTS
from cvzoo.links.model.mnasnet.mnasnet import MNASNet, MNASNetConfig
from cvzoo.links.model.mnasnet.weights import WEIGHTS as MNASNET_WEIGHTS
from cvzoo.links.model.mobilenet_v2.mobilenet_v2 import MobileNetV2, MobileNetV2Config
from cvzoo.links.model.mobilenet_v2.weights import WEIGHTS as MOBILENET_V2_WEIGHTS
from cvzoo.links.model.mobilenet_v3.mobilenet_v3 import MobileNetV3, MobileNetV3Config
from cvzoo.links.model.mobilenet_v3.weights import WEIGHTS as MOBILENET_V3_WEIGHTS
from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.pspnet.pspnet import PSPNet, PSPNetConfig
from cvzoo.links.model.pspnet.weights import RECORDS as PSPNET_WEIGHTS
from cvzoo.links.model.regnet.regnet import RegNet, RegNetConfig
from cvzoo.links.model.regnet.weights import WEIGHTS as REGNET_WEIGHTS
from cvzoo.links.model.resnet.resnet import ResNet, ResNetConfig
from cvzoo.links.model.resnet.weights import CLASS_WEIGHTS
from cvzoo.links.model.retinanet.config import RetinaNetConfig
from cvzoo.links.model.retinanet.retinanet import RetinaNet, retinanet_resnet50_fpn, retinanet_resnet50_fpn_v2
from cvzoo.links.model.retinanet.text import RETINANET_TEXT, retinanet_text
from cvzoo.links.model.retinanet.weights import WEIGHTS as RETINANET_WEIGHTS
from cvzoo.links.model.segnet.segnet_basic import SegNetBasic, SegNetConfig
from cvzoo.links.model.segnet.weights import RECORDS as SEGNET_WEIGHTS
from cvzoo.links.model.shufflenet_v2.shufflenet_v2 import ShuffleNetV2, ShuffleNetV2Config
from cvzoo.links.model.shufflenet_v2.weights import WEIGHTS as SHUFFLENET_V2_WEIGHTS
from cvzoo.links.model.squeezenet.squeezenet import SqueezeNet, SqueezeNetConfig
from cvzoo.links.model.squeezenet.weights import WEIGHTS as SQUEEZENET_WEIGHTS
from cvzoo.links.model.ssd.config import SSDConfig
from cvzoo.links.model.ssd.ssd import SSD, SSD300, SSD512
from cvzoo.links.model.ssd.weights import SSD300_WEIGHTS, SSD512_WEIGHTS
from cvzoo.links.model.ssdlite.config import SSDLiteConfig
from cvzoo.links.model.ssdlite.ssdlite import SSDLite, SSDLite320MobileNetV3Large
from cvzoo.links.model.ssdlite.weights import WEIGHTS as SSDLITE_WEIGHTS
from cvzoo.links.model.swin.swin import SwinConfig, SwinTransformer
from cvzoo.links.model.swin.weights import WEIGHTS as SWIN_WEIGHTS
from cvzoo.links.model.ultra_light_face.ultra_light_face import UltraLightFace, UltraLightFaceConfig
from cvzoo.links.model.ultra_light_face.weights import WEIGHTS as ULTRA_LIGHT_FACE_WEIGHTS
from cvzoo.links.model.vgg.vgg import VGG, VGGConfig
from cvzoo.links.model.vgg.weights import WEIGHTS as VGG_WEIGHTS
from cvzoo.links.model.vit.vit import ViT, ViTConfig
from cvzoo.links.model.vit.weights import WEIGHTS as VIT_WEIGHTS
from cvzoo.links.model.yolo.weights import YOLO_V2_TINY_WEIGHTS, YOLO_V2_WEIGHTS, YOLO_V3_WEIGHTS
from cvzoo.links.model.yolo.yolo_v2 import YOLOv2, YOLOv2Config, YOLOv2Tiny, YOLOv2TinyConfig
from cvzoo.links.model.yolo.yolo_v3 import YOLOv3, YOLOv3Config
from cvzoo.links.model.zoo_member import Task, ZooMember
from cvzoo.weights.record import Weights


def trained_members(
    makers: Iterable[tuple[Callable[..., Chain], Mapping[str, Weights]]], task: Task = "detection"
) -> list[ZooMember]:
    """One member per record, in the order of the tables.

    makers: constructors that take `pretrained_model`, each with its table, name -> record; other arguments are bound
        by `functools.partial`
    """
    return [
        ZooMember(record.name, functools.partial(make, pretrained_model=key), record, (record,), task)
        for make, records in makers
        for key, record in records.items()
    ]


def classifier_members(
    makers: Iterable[tuple[Callable[..., AbstractClassifier], Mapping[str, ClassWeights]]],
) -> list[ZooMember]:
    """`trained_members` for tables that also contain the preprocessing."""
    return trained_members(
        ((make, {key: each.record for key, each in records.items()}) for make, records in makers), "classification"
    )


def region_members(
    weights: Mapping[str, tuple[Weights, FasterRCNNFPNConfig]], makers: Mapping[str, Callable[..., Chain]], task: Task
) -> list[ZooMember]:
    """A member for each record. makers: variant, a prefix of the records' names -> constructor."""
    members = []
    for name, (record, _) in weights.items():
        variant = next(variant for variant in makers if name.startswith(f"{variant}_"))
        make = functools.partial(makers[variant], pretrained_model=name.removeprefix(f"{variant}_"))
        members.append(ZooMember(record.name, make, record, (record,), task))
    return members


Model = TypeVar("Model", bound=Chain)
Records = TypeVar("Records")


class Family(NamedTuple):
    """Networks of one kind: their architectures, and their trained models."""

    architectures: tuple[Architecture, ...]
    members: Sequence[ZooMember]


def _each(make: Callable[..., Model], tables: Mapping[Any, Records]) -> Iterator[tuple[Callable[..., Model], Records]]:
    """For each table of records, the constructor with the table's key as its first argument."""
    return ((partial(make, key), records) for key, records in tables.items())


def _without(records: Mapping[str, Records], *names: str) -> dict[str, Records]:
    """The records except those of backbones alone."""
    return {key: record for key, record in records.items() if key not in names}


def _retinanets() -> list[ZooMember]:
    members = [ZooMember(RETINANET_TEXT.name, retinanet_text, RETINANET_TEXT, ())]
    for make, key in ((retinanet_resnet50_fpn, "coco"), (retinanet_resnet50_fpn_v2, "coco_v2")):
        record, _ = RETINANET_WEIGHTS[key]
        whole = partial(make, pretrained_model=key)
        members.append(ZooMember(record.name.removesuffix("_coco"), whole, record, (record,)))
    return members


FAMILIES = (
    Family((Architecture("AlexNet", AlexNet, AlexNetConfig),), classifier_members([(AlexNet, ALEXNET_WEIGHTS)])),
    Family(
        (Architecture("CIFARResNet", CIFARResNet, CIFARResNetConfig),),
        trained_members(_each(CIFARResNet, CIFAR_RESNET_WEIGHTS), "classification"),
    ),
    Family(
        (Architecture("ConvNeXt", ConvNeXt, ConvNeXtConfig),), classifier_members(_each(ConvNeXt, CONVNEXT_WEIGHTS))
    ),
    Family(
        (Architecture("DarknetDetector", DarknetDetector, DarknetConfig),),
        (
            ZooMember("yolo_fastest", yolo_fastest, YOLO_FASTEST_COCO.weights, tuple(YOLO_FASTEST_COCO)),
            ZooMember(
                "mobilenet_v2_yolo_v3_nano",
                mobilenet_v2_yolo_v3_nano,
                MOBILENET_V2_YOLO_V3_NANO_VOC.weights,
                tuple(MOBILENET_V2_YOLO_V3_NANO_VOC),
            ),
        ),
    ),
    Family(
        (
            Architecture("DeepLabV3", DeepLabV3, DenseSegmenterConfig),
            Architecture("DeepLabV3plusXception65", DeepLabV3plusXception65, DeepLabV3plusConfig),
        ),
        trained_members([*_each(DeepLabV3, V3_RECORDS), (DeepLabV3plusXception65, V3_PLUS_RECORDS)], "segmentation"),
    ),
    Family(
        (Architecture("DenseNet", DenseNet, DenseNetConfig),), classifier_members(_each(DenseNet, DENSENET_WEIGHTS))
    ),
    Family(
        (Architecture("EfficientNet", EfficientNet, EfficientNetConfig),),
        classifier_members(_each(EfficientNet, EFFICIENTNET_WEIGHTS)),
    ),
    Family(
        (Architecture("ESPNet", ESPNet, ESPNetConfig),), trained_members([(ESPNet, ESPNET_WEIGHTS)], "segmentation")
    ),
    Family(
        (Architecture("FasterRCNNVGG16", FasterRCNNVGG16, FasterRCNNVGG16Config),),
        trained_members([(FasterRCNNVGG16, {key: FASTER_RCNN_WEIGHTS[key] for key in ("voc0712", "voc07")})]),
    ),
    Family(
        (Architecture("FasterRCNNFPN", FasterRCNNFPN, FasterRCNNFPNConfig, key="settings"),),
        region_members(
            FASTER_RCNN_FPN_WEIGHTS,
            # longer names first, since one is a prefix of the other
            {
                "mobilenet_v3_large_320": FasterRCNNFPNMobileNetV3Large320,
                "mobilenet_v3_large": FasterRCNNFPNMobileNetV3Large,
                "resnext101_32x8d": FasterRCNNFPNResNeXt101,
                "resnet101": FasterRCNNFPNResNet101,
                "resnet50": FasterRCNNFPNResNet50,
            },
            "detection",
        ),
    ),
    Family(
        (Architecture("FCISResNet101", FCISResNet101, FCISConfig),),
        trained_members([(FCISResNet101, _without(FCIS_WEIGHTS, "imagenet"))], "instance segmentation"),
    ),
    Family((Architecture("FCN", FCN, DenseSegmenterConfig),), trained_members(_each(FCN, FCN_WEIGHTS), "segmentation")),
    Family(
        (Architecture("FCOS", FCOS, FCOSConfig, key="settings"),), trained_members([(FCOSResNet50FPN, FCOS_WEIGHTS)])
    ),
    Family(
        (
            Architecture("GoogLeNet", GoogLeNet, InceptionConfig),
            Architecture("InceptionV3", InceptionV3, InceptionConfig),
        ),
        classifier_members([(GoogLeNet, GOOGLENET), (InceptionV3, INCEPTION_V3)]),
    ),
    Family(
        (Architecture("KeypointRCNNFPN", KeypointRCNNFPN, KeypointRCNNFPNConfig),),
        region_members(
            KEYPOINT_RCNN_WEIGHTS,
            {
                "resnet50": KeypointRCNNFPNResNet50,
                "resnet101": KeypointRCNNFPNResNet101,
                "resnext101_32x8d": KeypointRCNNFPNResNeXt101,
            },
            "keypoints",
        ),
    ),
    Family(
        (Architecture("LightHeadRCNNResNet101", LightHeadRCNNResNet101, LightHeadRCNNConfig),),
        trained_members([(LightHeadRCNNResNet101, {"coco": LIGHT_HEAD_RCNN_WEIGHTS["coco"]})]),
    ),
    Family(
        (Architecture("LRASPPMobileNetV3Large", LRASPPMobileNetV3Large, LRASPPConfig),),
        trained_members([(LRASPPMobileNetV3Large, LRASPP_WEIGHTS)], "segmentation"),
    ),
    Family(
        (Architecture("MaskRCNNFPN", MaskRCNNFPN, MaskRCNNFPNConfig),),
        region_members(
            MASK_RCNN_WEIGHTS,
            {
                "resnet50": MaskRCNNFPNResNet50,
                "resnet101": MaskRCNNFPNResNet101,
                "resnext101_32x8d": MaskRCNNFPNResNeXt101,
            },
            "instance segmentation",
        ),
    ),
    Family((Architecture("MNASNet", MNASNet, MNASNetConfig),), classifier_members(_each(MNASNet, MNASNET_WEIGHTS))),
    Family(
        (Architecture("MobileNetV2", MobileNetV2, MobileNetV2Config),),
        classifier_members(
            (partial(MobileNetV2, arch=arch, width=width), records)
            for (arch, width), records in MOBILENET_V2_WEIGHTS.items()
        ),
    ),
    Family(
        (Architecture("MobileNetV3", MobileNetV3, MobileNetV3Config),),
        classifier_members(_each(MobileNetV3, MOBILENET_V3_WEIGHTS)),
    ),
    Family(
        (Architecture("PSPNet", PSPNet, PSPNetConfig),), trained_members(_each(PSPNet, PSPNET_WEIGHTS), "segmentation")
    ),
    Family((Architecture("RegNet", RegNet, RegNetConfig),), classifier_members(_each(RegNet, REGNET_WEIGHTS))),
    Family(
        (Architecture("ResNet", ResNet, ResNetConfig),),
        classifier_members(
            (partial(ResNet, n_layer, groups=groups, base_width=base_width, se=16 if gated else 0), records)
            for (n_layer, groups, base_width, gated), records in CLASS_WEIGHTS.items()
        ),
    ),
    Family((Architecture("RetinaNet", RetinaNet, RetinaNetConfig, key="settings"),), _retinanets()),
    Family(
        (Architecture("SegNetBasic", SegNetBasic, SegNetConfig),),
        trained_members([(SegNetBasic, SEGNET_WEIGHTS)], "segmentation"),
    ),
    Family(
        (Architecture("ShuffleNetV2", ShuffleNetV2, ShuffleNetV2Config),),
        classifier_members(_each(ShuffleNetV2, SHUFFLENET_V2_WEIGHTS)),
    ),
    Family(
        (Architecture("SqueezeNet", SqueezeNet, SqueezeNetConfig),),
        classifier_members(_each(SqueezeNet, SQUEEZENET_WEIGHTS)),
    ),
    Family(
        (Architecture("SSD", SSD, SSDConfig, key="settings"),),
        trained_members(
            [(SSD300, _without(SSD300_WEIGHTS, "imagenet")), (SSD512, _without(SSD512_WEIGHTS, "imagenet"))]
        ),
    ),
    Family(
        (Architecture("SSDLite", SSDLite, SSDLiteConfig, key="settings"),),
        trained_members([(SSDLite320MobileNetV3Large, SSDLITE_WEIGHTS)]),
    ),
    Family(
        (Architecture("SwinTransformer", SwinTransformer, SwinConfig),),
        classifier_members(_each(SwinTransformer, SWIN_WEIGHTS)),
    ),
    Family(
        (Architecture("UltraLightFace", UltraLightFace, UltraLightFaceConfig),),
        [
            ZooMember(record.name, partial(UltraLightFace, key, variant), record, (record,))
            for variant, records in ULTRA_LIGHT_FACE_WEIGHTS.items()
            for key, record in records.items()
        ],
    ),
    Family(
        (Architecture("VGG", VGG, VGGConfig),),
        classifier_members(
            (partial(VGG, n_layer, norm=norm), records) for (n_layer, norm), records in VGG_WEIGHTS.items()
        ),
    ),
    Family((Architecture("ViT", ViT, ViTConfig),), classifier_members(_each(ViT, VIT_WEIGHTS))),
    Family(
        (
            Architecture("YOLOv2", YOLOv2, YOLOv2Config),
            Architecture("YOLOv2Tiny", YOLOv2Tiny, YOLOv2TinyConfig),
            Architecture("YOLOv3", YOLOv3, YOLOv3Config),
        ),
        trained_members([(YOLOv2, YOLO_V2_WEIGHTS), (YOLOv2Tiny, YOLO_V2_TINY_WEIGHTS), (YOLOv3, YOLO_V3_WEIGHTS)]),
    ),
)


def zoo_members() -> tuple[ZooMember, ...]:
    """All trained models, sorted by name; nothing is downloaded."""
    members = [member for family in FAMILIES for member in family.members]
    return tuple(sorted(members, key=lambda member: member.name))
