"""Published weights of the EfficientNets: the variant, then the name that a user gives.

torchvision's and timm's names in an EfficientNet, and cvzoo's.
"""

from collections.abc import Mapping

from cvzoo.links.model.efficientnet.extractor import EfficientNetDimensions
from cvzoo.links.model.inverted_residual import sequential_places
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.timm import TIMM_AROUND, TIMM_MARKS, timm_classifier, timm_places
from cvzoo.links.model.publishers.torchvision import torchvision_classifier
from cvzoo.weights.record import Signature


def torchvision_places(plan: EfficientNetDimensions) -> dict[str, str]:
    """cvzoo's path of each module of torchvision's."""
    places = {"features.0.0": "extractor/stem/conv", "features.0.1": "extractor/stem/bn"}
    for s, stage in enumerate(plan.stages):
        for i in range(stage.n_block):
            theirs, ours = f"features.{s + 1}.{i}.block", f"extractor/stages/{s}/{i}"
            if stage.fused:
                for k, role in enumerate(("expand", "project") if stage.factor > 1 else ("expand",)):
                    places.update({f"{theirs}.{k}.0": f"{ours}/{role}/conv", f"{theirs}.{k}.1": f"{ours}/{role}/bn"})
            else:
                places.update(sequential_places(theirs, ours, expand=stage.factor > 1, excite=True))
    last = f"features.{len(plan.stages) + 1}"
    return {**places, f"{last}.0": "extractor/last/conv", f"{last}.1": "extractor/last/bn", "classifier.1": "fc"}


def timm_efficientnet_places(plan: EfficientNetDimensions) -> dict[str, str]:
    """cvzoo's path of each module of timm's; only for networks without fused blocks."""
    places = dict(TIMM_AROUND)
    for s, stage in enumerate(plan.stages):
        for i in range(stage.n_block):
            block = f"blocks.{s}.{i}", f"extractor/stages/{s}/{i}"
            places.update(timm_places(*block, expand=stage.factor > 1, excite=True))
    return places


def efficientnet_names(plan: EfficientNetDimensions) -> Mapping[str, Names]:
    """Publisher -> its array names in a network of this plan."""
    return {
        "timm": Names(marks=TIMM_MARKS, modules=timm_efficientnet_places(plan)),
        "torchvision": Names(marks=(), modules=torchvision_places(plan)),
    }


_B1 = Signature(439, "features.3.0.block.3.0.weight", (40, 144, 1, 1))

WEIGHTS = {
    "b0": {
        "imagenet": torchvision_classifier(
            "efficientnet_b0_imagenet",
            "efficientnet_b0_rwightman-7f5810bc.pth",
            77.692,
            93.532,
            enum="EfficientNet_B0_Weights.IMAGENET1K_V1",
            interpolation="bicubic",
            mib=20.451,
            signature=Signature(311, "features.8.0.weight", (1280, 320, 1, 1)),
        ),
        "imagenet_timm": timm_classifier(
            "efficientnet_b0_imagenet_timm",
            "v0.1-weights/efficientnet_b0_ra-3dd342df.pth",
            77.698,
            93.538,
            model="efficientnet_b0.ra_in1k",
        ),
    },
    "b1": {
        "imagenet": torchvision_classifier(
            "efficientnet_b1_imagenet",
            "efficientnet_b1_rwightman-bac287d4.pth",
            78.642,
            94.186,
            enum="EfficientNet_B1_Weights.IMAGENET1K_V1",
            crop=240,
            interpolation="bicubic",
            mib=30.134,
            signature=_B1,
        ),
        "imagenet_v2": torchvision_classifier(
            "efficientnet_b1_imagenet_v2",
            "efficientnet_b1-c27df63c.pth",
            79.838,
            94.934,
            enum="EfficientNet_B1_Weights.IMAGENET1K_V2",
            short=255,
            crop=240,
            mib=30.136,
            signature=_B1,
        ),
        "imagenet_timm": timm_classifier(
            "efficientnet_b1_imagenet_timm",
            "v0.1-weights/efficientnet_b1-533bc792.pth",
            77.592,
            93.636,
            model="efficientnet_b1.ft_in1k",
        ),
    },
    "b2": {
        "imagenet": torchvision_classifier(
            "efficientnet_b2_imagenet",
            "efficientnet_b2_rwightman-c35c1473.pth",
            80.608,
            95.31,
            enum="EfficientNet_B2_Weights.IMAGENET1K_V1",
            short=288,
            crop=288,
            interpolation="bicubic",
            mib=35.174,
            signature=Signature(439, "features.3.0.block.3.0.weight", (48, 144, 1, 1)),
        ),
        "imagenet_timm": timm_classifier(
            "efficientnet_b2_imagenet_timm",
            "v0.1-weights/efficientnet_b2_ra-bcdf34b7.pth",
            79.324,
            94.582,
            model="efficientnet_b2.ra_in1k",
            crop=256,
        ),
    },
    "b3": {
        "imagenet": torchvision_classifier(
            "efficientnet_b3_imagenet",
            "efficientnet_b3_rwightman-b3899882.pth",
            82.008,
            96.054,
            enum="EfficientNet_B3_Weights.IMAGENET1K_V1",
            short=320,
            crop=300,
            interpolation="bicubic",
            mib=47.184,
            signature=Signature(496, "features.8.0.weight", (1536, 384, 1, 1)),
        ),
        "imagenet_timm": timm_classifier(
            "efficientnet_b3_imagenet_timm",
            "v0.1-weights/efficientnet_b3_ra2-cf984f9c.pth",
            81.472,
            95.696,
            model="efficientnet_b3.ra2_in1k",
            crop=288,
        ),
    },
    "b4": {
        "imagenet": torchvision_classifier(
            "efficientnet_b4_imagenet",
            "efficientnet_b4_rwightman-23ab8bcd.pth",
            83.384,
            96.594,
            enum="EfficientNet_B4_Weights.IMAGENET1K_V1",
            short=384,
            crop=380,
            interpolation="bicubic",
            mib=74.489,
            signature=Signature(610, "features.8.0.weight", (1792, 448, 1, 1)),
        ),
        "imagenet_timm": timm_classifier(
            "efficientnet_b4_imagenet_timm",
            "v0.1-weights/efficientnet_b4_ra2_320-7eb33cd5.pth",
            82.658,
            96.134,
            model="efficientnet_b4.ra2_in1k",
            crop=320,
        ),
    },
    "b5": {
        "imagenet": torchvision_classifier(
            "efficientnet_b5_imagenet",
            "efficientnet_b5_lukemelas-1a07897c.pth",
            83.444,
            96.628,
            enum="EfficientNet_B5_Weights.IMAGENET1K_V1",
            short=456,
            crop=456,
            interpolation="bicubic",
            mib=116.864,
            signature=Signature(738, "features.8.0.weight", (2048, 512, 1, 1)),
        ),
    },
    "b6": {
        "imagenet": torchvision_classifier(
            "efficientnet_b6_imagenet",
            "efficientnet_b6_lukemelas-24a108a5.pth",
            84.008,
            96.916,
            enum="EfficientNet_B6_Weights.IMAGENET1K_V1",
            short=528,
            crop=528,
            interpolation="bicubic",
            mib=165.362,
            signature=Signature(852, "features.8.0.weight", (2304, 576, 1, 1)),
        ),
    },
    "b7": {
        "imagenet": torchvision_classifier(
            "efficientnet_b7_imagenet",
            "efficientnet_b7_lukemelas-c5b4e57e.pth",
            84.122,
            96.908,
            enum="EfficientNet_B7_Weights.IMAGENET1K_V1",
            short=600,
            crop=600,
            interpolation="bicubic",
            mib=254.675,
            signature=Signature(1037, "features.8.0.weight", (2560, 640, 1, 1)),
        ),
    },
    "v2_s": {
        "imagenet": torchvision_classifier(
            "efficientnet_v2_s_imagenet",
            "efficientnet_v2_s-dd5fe13b.pth",
            84.228,
            96.878,
            enum="EfficientNet_V2_S_Weights.IMAGENET1K_V1",
            short=384,
            crop=384,
            mib=82.704,
            signature=Signature(672, "features.7.0.weight", (1280, 256, 1, 1)),
        ),
    },
    "v2_m": {
        "imagenet": torchvision_classifier(
            "efficientnet_v2_m_imagenet",
            "efficientnet_v2_m-dc08266a.pth",
            85.112,
            97.156,
            enum="EfficientNet_V2_M_Weights.IMAGENET1K_V1",
            short=480,
            crop=480,
            mib=208.01,
            signature=Signature(963, "features.8.0.weight", (1280, 512, 1, 1)),
        ),
    },
    "v2_l": {
        "imagenet": torchvision_classifier(
            "efficientnet_v2_l_imagenet",
            "efficientnet_v2_l-59c71312.pth",
            85.808,
            97.788,
            enum="EfficientNet_V2_L_Weights.IMAGENET1K_V1",
            short=480,
            crop=480,
            interpolation="bicubic",
            mean=(0.5, 0.5, 0.5),
            std=(0.5, 0.5, 0.5),
            mib=454.573,
            signature=Signature(1331, "features.8.0.weight", (1280, 640, 1, 1)),
        ),
    },
}

# preprocessing of each variant, for any weights
PREPARATIONS = {variant: records["imagenet"].preparation for variant, records in WEIGHTS.items()}
