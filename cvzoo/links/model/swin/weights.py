"""Published weights of the Swin Transformers: the size, then what a user asks for."""

from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.publishers.makers import maker_record
from cvzoo.links.model.publishers.torchvision import torchvision_classifier

_SITE = "https://github.com/SwinTransformer/storage/releases/download/"
_USUAL_DATA = "ImageNet-1K, ILSVRC 2012 training photos"
_LARGER_DATA = f"ImageNet-22K, then {_USUAL_DATA}"


def _torchvision(size: str, digits: str, top1: float, top5: float, short: int, crop: int = 224) -> ClassWeights:
    return torchvision_classifier(
        f"swin_{size}_imagenet",
        f"swin_{size}-{digits}.pth",
        top1,
        top5,
        enum=f"Swin_{size.upper()}_Weights.IMAGENET1K_V1",
        short=short,
        crop=crop,
        interpolation="bicubic",
    )


def _maker(name: str, file: str, top1: float, top5: float, *, data: str = _USUAL_DATA) -> ClassWeights:
    source, licence = "microsoft/Swin-Transformer", "MIT"
    return maker_record(name, _SITE + file, top1, top5, source=source, licence=licence, crop=224, share=0.9, data=data)


_MAKER = "v1.0.0/swin_{}_patch4_window7_224.pth"
WEIGHTS = {
    "t": {
        "imagenet": _torchvision("t", "704ceda3", 81.474, 95.776, 232),
        "imagenet_ms": _maker("swin_t_imagenet_ms", _MAKER.format("tiny"), 81.388, 95.54),
    },
    "s": {
        "imagenet": _torchvision("s", "5e29d889", 83.196, 96.36, 246),
        "imagenet_ms": _maker("swin_s_imagenet_ms", _MAKER.format("small"), 83.228, 96.326),
    },
    "b": {
        "imagenet": _torchvision("b", "68c6b09e", 83.582, 96.64, 238),
        "imagenet_ms": _maker("swin_b_imagenet_ms", _MAKER.format("base"), 83.604, 96.45),
        "imagenet_22k": _maker(
            "swin_b_imagenet_22k", "v1.0.0/swin_base_patch4_window7_224_22kto1k.pth", 85.276, 97.566, data=_LARGER_DATA
        ),
    },
    "v2_t": {"imagenet": _torchvision("v2_t", "b137f0e2", 82.072, 96.132, 260, 256)},
    "v2_s": {"imagenet": _torchvision("v2_s", "637d8ceb", 83.712, 96.816, 260, 256)},
    "v2_b": {"imagenet": _torchvision("v2_b", "781e5279", 84.112, 96.864, 272, 256)},
}
