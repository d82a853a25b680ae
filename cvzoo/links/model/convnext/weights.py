"""Published weights of ConvNeXt: the size, then what a user asks for."""

from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.publishers.makers import maker_record
from cvzoo.links.model.publishers.torchvision import torchvision_classifier

_SITE = "https://dl.fbaipublicfiles.com/convnext/"
_LICENCE = "Apache-2.0, as timm says; the makers' code is MIT"
_LARGER_DATA = "ImageNet-22K, then ImageNet-1K, ILSVRC 2012 training photos"


def _torchvision(size: str, digits: str, top1: float, top5: float, short: int) -> ClassWeights:
    enum = f"ConvNeXt_{size.capitalize()}_Weights.IMAGENET1K_V1"
    file = f"convnext_{size}-{digits}.pth"
    return torchvision_classifier(f"convnext_{size}_imagenet", file, top1, top5, enum=enum, short=short)


def _maker(size: str, top1: float, top5: float) -> ClassWeights:
    return maker_record(
        f"convnext_{size}_imagenet_fb",
        f"{_SITE}convnext_{size}_1k_224_ema.pth",
        top1,
        top5,
        source="facebookresearch/ConvNeXt",
        licence=_LICENCE,
        crop=224,
        share=0.875,
    )


def _maker_22k(size: str, top1: float, top5: float) -> ClassWeights:
    return maker_record(
        f"convnext_{size}_imagenet_22k",
        f"{_SITE}convnext_{size}_22k_1k_384.pth",
        top1,
        top5,
        source="facebookresearch/ConvNeXt",
        licence=_LICENCE,
        crop=384,
        share=1.0,
        data=_LARGER_DATA,
    )


WEIGHTS = {
    "tiny": {
        "imagenet": _torchvision("tiny", "983f1562", 82.52, 96.146, 236),
        "imagenet_fb": _maker("tiny", 82.066, 95.854),
        "imagenet_22k": _maker_22k("tiny", 84.098, 97.138),
    },
    "small": {
        "imagenet": _torchvision("small", "0c510722", 83.616, 96.65, 230),
        "imagenet_fb": _maker("small", 83.144, 96.432),
        "imagenet_22k": _maker_22k("small", 85.752, 97.878),
    },
    "base": {
        "imagenet": _torchvision("base", "6075fbad", 84.062, 96.87, 232),
        "imagenet_fb": _maker("base", 83.838, 96.746),
        "imagenet_22k": _maker_22k("base", 86.826, 98.244),
    },
    "large": {
        "imagenet": _torchvision("large", "ea097f82", 84.414, 96.976, 232),
        "imagenet_fb": _maker("large", 84.304, 96.892),
        "imagenet_22k": _maker_22k("large", 87.456, 98.38),
    },
}
