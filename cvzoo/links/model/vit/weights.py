"""Published weights of the Vision Transformers: the size, then the name that a user gives.

torchvision's names in a Vision Transformer, and cvzoo's.
"""

import re

from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.torchvision import torchvision_classifier
from cvzoo.weights.record import Signature

# of modules
_AROUND = {"conv_proj": "patches", "encoder.ln": "norm", "heads.head": "head"}
_IN_BLOCK = {
    "ln_1": "norm1",
    "self_attention.out_proj": "attention/proj",
    "ln_2": "norm2",
    "mlp.0": "widen",
    "mlp.3": "narrow",
    # as the first published files have them
    "mlp.linear_1": "widen",
    "mlp.linear_2": "narrow",
}
_BLOCK = r"encoder\.layers\.encoder_layer_(\d+)\."


def vit_place(module: str) -> str | None:
    """Our path of a module of torchvision's: "blocks/3/norm1" of "encoder.layers.encoder_layer_3.ln_1", or None."""
    match = re.match(_BLOCK, module)
    if match:
        place = _IN_BLOCK.get(module[match.end() :])
        return None if place is None else f"blocks/{match[1]}/{place}"
    return _AROUND.get(module)


NAMES = {
    "torchvision": Names(
        marks=(),
        modules=vit_place,
        rules=[
            (r"^class_token$", "token"),
            (r"^encoder\.pos_embedding$", "positions"),
            (f"^{_BLOCK}self_attention\\.in_proj_weight$", r"blocks/\1/attention/qkv/W"),
            (f"^{_BLOCK}self_attention\\.in_proj_bias$", r"blocks/\1/attention/qkv/b"),
        ],
    )
}


_SWAG_LICENCE = "CC-BY-NC-4.0"
_SWAG_DATA = "3.6 billion images with hashtags (SWAG), then ImageNet-1K, ILSVRC 2012 training images"


_SIGNATURES = {
    "b_16": Signature(152, "conv_proj.weight", (768, 3, 16, 16)),
    "b_32": Signature(152, "conv_proj.weight", (768, 3, 32, 32)),
    "l_16": Signature(296, "conv_proj.weight", (1024, 3, 16, 16)),
    "l_32": Signature(296, "conv_proj.weight", (1024, 3, 32, 32)),
    "h_14": Signature(392, "encoder.layers.encoder_layer_31.mlp.3.weight", (1280, 5120)),
}


def _plain(size: str, digits: str, top1: float, top5: float, short: int, mib: float) -> ClassWeights:
    enum = f"ViT_{size.upper()}_Weights.IMAGENET1K_V1"
    return torchvision_classifier(
        f"vit_{size}_imagenet",
        f"vit_{size}-{digits}.pth",
        top1,
        top5,
        enum=enum,
        short=short,
        mib=mib,
        signature=_SIGNATURES[size],
    )


def _swag(size: str, digits: str, top1: float, top5: float, side: int, mib: float) -> ClassWeights:
    """Weights trained on SWAG; then on ImageNet all layers where images are larger than 224, else the last."""
    whole = side > 224
    return torchvision_classifier(
        f"vit_{size}_imagenet_swag" + ("" if whole else "_linear"),
        f"vit_{size}_{'swag' if whole else 'lc_swag'}-{digits}.pth",
        top1,
        top5,
        enum=f"ViT_{size.upper()}_Weights.IMAGENET1K_SWAG_{'E2E' if whole else 'LINEAR'}_V1",
        short=side,
        crop=side,
        interpolation="bicubic",
        licence=_SWAG_LICENCE,
        data=_SWAG_DATA,
        mib=mib,
        signature=_SIGNATURES[size],
    )


WEIGHTS = {
    "b_16": {
        "imagenet": _plain("b_16", "c867db91", 81.072, 95.318, 256, 330.285),
        "imagenet_swag": _swag("b_16", "9ac1b537", 85.304, 97.65, 384, 331.398),
        "imagenet_swag_linear": _swag("b_16", "4e70ced5", 81.886, 96.18, 224, 330.285),
    },
    "b_32": {"imagenet": _plain("b_32", "d86f8d99", 75.912, 92.466, 256, 336.604)},
    "l_16": {
        "imagenet": _plain("l_16", "852ce7e3", 79.662, 94.638, 242, 1161.023),
        "imagenet_swag": _swag("l_16", "4f3808c9", 88.064, 98.512, 512, 1164.258),
        "imagenet_swag_linear": _swag("l_16", "4d563306", 85.146, 97.422, 224, 1161.023),
    },
    "l_32": {"imagenet": _plain("l_32", "c7638314", 76.972, 93.07, 256, 1169.449)},
    "h_14": {
        "imagenet_swag": _swag("h_14", "80465313", 88.552, 98.694, 518, 2416.643),
        "imagenet_swag_linear": _swag("h_14", "c1eb923e", 85.708, 97.73, 224, 2411.209),
    },
}
