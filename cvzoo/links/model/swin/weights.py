"""Published weights of the Swin Transformers: the size, then the name that a user gives.

Array names of torchvision, the authors, timm and cvzoo.
"""

import functools
import math
import re
from collections.abc import Callable, Mapping

import numpy as np

from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.imagenet import maker_record
from cvzoo.links.model.publishers.torchvision import torchvision_classifier
from cvzoo.links.model.swin.window_attention import relative_index, relative_places, windows_of
from cvzoo.weights.record import Signature

_TORCHVISION = {
    "features.0.0": "extractor/patches/conv",
    "features.0.2": "extractor/patches/norm",
    "norm": "norm",
    "head": "fc",
}
_TORCHVISION_IN_BLOCK = {
    "norm1": "norm1",
    "norm2": "norm2",
    "attn.qkv": "attention/qkv",
    "attn.proj": "attention/proj",
    "attn.cpb_mlp.0": "attention/widen",
    "attn.cpb_mlp.2": "attention/narrow",
    "mlp.0": "widen",
    "mlp.3": "narrow",
}
_TORCHVISION_BLOCK = r"features\.([1357])\.(\d+)\."
# the last is timm's
_MAKERS = {
    "patch_embed.proj": "extractor/patches/conv",
    "patch_embed.norm": "extractor/patches/norm",
    "norm": "norm",
    "head": "fc",
    "head.fc": "fc",
}
_MAKERS_IN_BLOCK = {
    "norm1": "norm1",
    "norm2": "norm2",
    "attn.qkv": "attention/qkv",
    "attn.proj": "attention/proj",
    "mlp.fc1": "widen",
    "mlp.fc2": "narrow",
}
_MAKERS_BLOCK = r"layers\.(\d)\.blocks\.(\d+)\."


def swin_names(window: int) -> Mapping[str, Names]:
    """Publisher -> its array names in a network of that window.

    Files have tables that follow from the window's and the image's size; where they are correct they are not loaded.
    """
    without_tables = functools.partial(_without_tables, window=window)
    makers_biases = [(f"^{_MAKERS_BLOCK}attn\\.relative_position_bias_table$", _maker_array("biases"))]
    return {
        "makers": Names(
            marks=("patch_embed.proj.weight", "layers.0.downsample.norm.weight"),
            modules=functools.partial(maker_place, later=1),
            rules=makers_biases,
            finish=without_tables,
        ),
        # patch merging belongs to the earlier stage in the authors' files, to the later in timm's
        "timm": Names(
            marks=("patch_embed.proj.weight",),
            modules=functools.partial(maker_place, later=0),
            rules=makers_biases,
            finish=without_tables,
        ),
        "torchvision": Names(
            marks=(),
            modules=torchvision_place,
            rules=[
                (f"^{_TORCHVISION_BLOCK}attn\\.relative_position_bias_table$", _torchvision_array("biases")),
                (f"^{_TORCHVISION_BLOCK}attn\\.logit_scale$", _torchvision_array("log_scale")),
            ],
            values=[(r"extractor/stage\d/\d+/attention/log_scale", np.ravel)],
            finish=without_tables,
        ),
    }


def torchvision_place(module: str) -> str | None:
    """Our path of a module of torchvision's: "extractor/stage1/0/norm1" of "features.1.0.norm1", or None."""
    match = re.fullmatch(r"features\.([246])\.(reduction|norm)", module)
    if match:
        return f"extractor/merging{int(match[1]) // 2 + 1}/{match[2]}"
    match = re.match(_TORCHVISION_BLOCK, module)
    if match:
        place = _TORCHVISION_IN_BLOCK.get(module[match.end() :])
        return None if place is None else f"extractor/stage{int(match[1]) // 2 + 1}/{match[2]}/{place}"
    return _TORCHVISION.get(module)


def maker_place(module: str, *, later: int) -> str | None:
    """cvzoo's path of a module of the authors' or timm's, or None.

    later: offset of the stage that patch merging belongs to from the file's stage
    """
    match = re.fullmatch(r"layers\.(\d)\.downsample\.(reduction|norm)", module)
    if match:
        return f"extractor/merging{int(match[1]) + 1 + later}/{match[2]}"
    match = re.match(_MAKERS_BLOCK, module)
    if match and module[match.end() :] in _MAKERS_IN_BLOCK:
        return f"extractor/stage{int(match[1]) + 1}/{match[2]}/{_MAKERS_IN_BLOCK[module[match.end() :]]}"
    return _MAKERS.get(module)


def _torchvision_array(leaf: str) -> Callable[[re.Match[str]], str]:
    return lambda match: f"extractor/stage{int(match[1]) // 2 + 1}/{match[2]}/attention/{leaf}"


def _maker_array(leaf: str) -> Callable[[re.Match[str]], str]:
    return lambda match: f"extractor/stage{int(match[1]) + 1}/{match[2]}/attention/{leaf}"


def _without_tables(named: dict[str, np.ndarray], n_class: int | None, *, window: int) -> dict[str, np.ndarray]:
    return {name: array for name, array in named.items() if not _is_table(name, array, window)}


def _is_table(name: str, array: np.ndarray, window: int) -> bool:
    """Whether it is one of the tables that follow from the window, with the correct values."""
    if not re.match(f"{_TORCHVISION_BLOCK}|{_MAKERS_BLOCK}", name):
        return False
    if name.endswith(".attn.relative_position_index"):
        return array.size == window**4 and bool((array.ravel() == relative_index(window)).all())
    if name.endswith(".attn.relative_coords_table"):
        places = relative_places(window)
        return array.size == places.size and np.allclose(array.reshape(-1, 2), places, atol=1e-5)
    if name.endswith(".attn_mask") and array.ndim == 3:
        side = math.isqrt(len(array)) * window  # of a square map
        hidden = windows_of((side, side), window, shifted=True).hidden()
        return hidden is not None and np.array_equal(array, hidden)
    return False


_SITE = "https://github.com/SwinTransformer/storage/releases/download/"
_USUAL_DATA = "ImageNet-1K, ILSVRC 2012 training images"
_LARGER_DATA = f"ImageNet-22K, then {_USUAL_DATA}"


def _torchvision(
    size: str, digits: str, top1: float, top5: float, short: int, mib: float, signature: Signature, *, crop: int = 224
) -> ClassWeights:
    return torchvision_classifier(
        f"swin_{size}_imagenet",
        f"swin_{size}-{digits}.pth",
        top1,
        top5,
        enum=f"Swin_{size.upper()}_Weights.IMAGENET1K_V1",
        short=short,
        crop=crop,
        interpolation="bicubic",
        mib=mib,
        signature=signature,
    )


def _maker(name: str, file: str, top1: float, top5: float, *, data: str = _USUAL_DATA) -> ClassWeights:
    source, licence = "microsoft/Swin-Transformer", "MIT"
    return maker_record(name, _SITE + file, top1, top5, source=source, licence=licence, crop=224, share=0.9, data=data)


_MAKER = "v1.0.0/swin_{}_patch4_window7_224.pth"
WEIGHTS = {
    "t": {
        "imagenet": _torchvision(
            "t", "704ceda3", 81.474, 95.776, 232, 108.19, Signature(185, "features.7.1.mlp.3.weight", (768, 3072))
        ),
        "imagenet_ms": _maker("swin_t_imagenet_ms", _MAKER.format("tiny"), 81.388, 95.54),
    },
    "s": {
        "imagenet": _torchvision(
            "s", "5e29d889", 83.196, 96.36, 246, 189.786, Signature(353, "features.0.0.weight", (96, 3, 4, 4))
        ),
        "imagenet_ms": _maker("swin_s_imagenet_ms", _MAKER.format("small"), 83.228, 96.326),
    },
    "b": {
        "imagenet": _torchvision(
            "b", "68c6b09e", 83.582, 96.64, 238, 335.364, Signature(353, "features.0.0.weight", (128, 3, 4, 4))
        ),
        "imagenet_ms": _maker("swin_b_imagenet_ms", _MAKER.format("base"), 83.604, 96.45),
        "imagenet_22k": _maker(
            "swin_b_imagenet_22k", "v1.0.0/swin_base_patch4_window7_224_22kto1k.pth", 85.276, 97.566, data=_LARGER_DATA
        ),
    },
    "v2_t": {
        "imagenet": _torchvision(
            "v2_t",
            "b137f0e2",
            82.072,
            96.132,
            260,
            108.626,
            Signature(233, "features.7.1.mlp.3.weight", (768, 3072)),
            crop=256,
        )
    },
    "v2_s": {
        "imagenet": _torchvision(
            "v2_s",
            "637d8ceb",
            83.712,
            96.816,
            260,
            190.675,
            Signature(449, "features.0.0.weight", (96, 3, 4, 4)),
            crop=256,
        )
    },
    "v2_b": {
        "imagenet": _torchvision(
            "v2_b",
            "781e5279",
            84.112,
            96.864,
            272,
            336.372,
            Signature(449, "features.0.0.weight", (128, 3, 4, 4)),
            crop=256,
        )
    },
}
