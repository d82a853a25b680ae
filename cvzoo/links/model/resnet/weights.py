"""Published weights of the ResNets: torchvision's, timm's, ChainerCV's.

Array names of torchvision, timm, ChainerCV and cvzoo in a ResNet; differences between their networks.
"""

import dataclasses
import re
from collections.abc import Callable

import numpy as np

from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.links.model.config import ModelConfig
from cvzoo.links.model.preparation.center_crop import CenterCrop, Interpolation
from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.pretrained.names import Arrays, Names, Rule, place_of
from cvzoo.links.model.publishers.chainercv import chainercv_classifier
from cvzoo.links.model.publishers.imagenet import imagenet_classifier
from cvzoo.links.model.publishers.torchvision import torchvision_classifier
from cvzoo.weights.record import Signature, Weights

# Caffe's networks take values of 0 to 255 less the mean of each channel
CAFFE_PREPARATION = CenterCrop(
    mean=(123.15163 / 255, 115.90288 / 255, 103.06262 / 255), std=(1 / 255, 1 / 255, 1 / 255)
)

# of torchvision's modules (timm's are the same, with squeeze-and-excitation); the first match of the whole name is used
_MODULES = (
    (r"(?:layer0\.)?conv1", r"extractor/conv1/conv"),
    (r"(?:layer0\.)?bn1", r"extractor/conv1/bn"),
    (r"layer1\.(\d+)\.(.+)", r"extractor/res2/\1/\2"),
    (r"layer2\.(\d+)\.(.+)", r"extractor/res3/\1/\2"),
    (r"layer3\.(\d+)\.(.+)", r"extractor/res4/\1/\2"),
    (r"layer4\.(\d+)\.(.+)", r"extractor/res5/\1/\2"),
    (r"fc|last_linear", r"fc"),
)
# of the links of a block
_IN_BLOCK = (
    (r"/conv([123])$", r"/conv\1/conv"),
    (r"/bn([123])$", r"/conv\1/bn"),
    (r"/downsample\.0$", r"/shortcut/conv"),
    (r"/downsample\.1$", r"/shortcut/bn"),
    (r"/(?:se|se_module)\.fc1$", r"/se/down"),
    (r"/(?:se|se_module)\.fc2$", r"/se/up"),
)
# of ChainerCV's arrays in a block, in any model with a ResNet
CHAINERCV_RULES: tuple[Rule, ...] = (
    (r"(^|/)(res[2-5])/a/", r"\1\2/0/"),
    (r"(^|/)(res[2-5])/b(\d+)/", r"\1\2/\3/"),
    (r"(^|/)(res[2-5]/\d+)/residual_conv/", r"\1\2/shortcut/"),
)


def resnet_place(module: str) -> str | None:
    """Our path of a module of torchvision's ResNet: "extractor/res2/0/conv1/bn" of "layer1.0.bn1", or None."""
    path = place_of(module, _MODULES)
    if path is not None and "/res" in path:
        for inner, ours in _IN_BLOCK:
            path = re.sub(inner, ours, path)
    return path


def without_first_bias(named: dict[str, np.ndarray], n_class: int | None = None) -> dict[str, np.ndarray]:
    """The arrays of ChainerCV's files: a bias of the first convolution is subtracted from the mean of the
    following normalization, which is equivalent.
    """
    named = dict(named)
    for name in [name for name in named if re.search(r"(^|/)conv1/conv/b$", name) and "/res" not in f"/{name}"]:
        bias = named.pop(name)
        mean = name.removesuffix("conv/b") + "bn/avg_mean"
        named[mean] = named[mean] - bias
    return named


def _gate(array: np.ndarray) -> np.ndarray:
    """1 x 1 convolutions of squeeze-and-excitation in torch's files as matrices."""
    return array[:, :, 0, 0] if array.ndim == 4 and array.shape[2:] == (1, 1) else array


_GATES = [(".*/se/.*", _gate)]
_CHAINERCV = Names(
    marks=("res2/a/conv1/conv/W",),
    rules=(*CHAINERCV_RULES, (r"^(res[2-5]|conv1)/", r"extractor/\1/"), (r"^fc6/", "fc/")),
    finish=without_first_bias,
    preparation=CAFFE_PREPARATION,
)
NAMES = {
    # only the paper's files have a bias in the first convolution
    "the authors": dataclasses.replace(_CHAINERCV, marks=("res2/a/conv1/conv/W", "conv1/conv/b")),
    "chainercv": _CHAINERCV,
    # the first port of SE networks to torch
    "legacy": Names(marks=("layer0.conv1.weight",), modules=resnet_place, values=_GATES),
    "torchvision": Names(marks=("conv1.weight", "layer4.0.conv1.weight"), modules=resnet_place, values=_GATES),
}


def backbone_names(
    config: Callable[[ModelConfig, Arrays, Arrays], ModelConfig], *, inside: str = ""
) -> dict[str, Names]:
    """torchvision's array names of a classifier and cvzoo's of the backbone of a detector.

    config: as in `Names`
    inside: the path of the link whose `extractor` the backbone is, such as "regions/"
    """
    whole = Names(
        marks=("extractor/conv1/conv/W",),
        rules=[("^", inside)] if inside else (),
        drop=(f"{inside}fc/",),
        only=(f"{inside}extractor/",),
        config=config,
    )
    torchvision = NAMES["torchvision"]
    return {
        "torchvision's ResNet": dataclasses.replace(whole, marks=torchvision.marks, modules=torchvision.modules),
        "cvzoo's ResNet": whole,
    }


def depth_of(arrays: Arrays, *, inside: str = "") -> int:
    """The number of layers of the ResNet whose arrays, by our names, these are.

    inside: the path of the link whose `extractor` it is
    Raises WeightsMismatchError for an unknown depth.
    """
    inside += "extractor/"
    blocks = len({name.removeprefix(inside).split("/")[1] for name in arrays if name.startswith(f"{inside}res4/")})
    bottleneck = f"{inside}res2/0/conv3/conv/W" in arrays
    known = {(1, False): 10, (2, False): 18, (6, False): 34, (6, True): 50, (23, True): 101, (36, True): 152}
    if (blocks, bottleneck) not in known:
        raise WeightsMismatchError("the file holds no ResNet of a known depth", got=f"{blocks} blocks in stage 4")
    return known[blocks, bottleneck]


# depth, groups, base_width, whether there is squeeze-and-excitation
Kind = tuple[int, int, int, bool]

_TIMM = "https://github.com/rwightman/pytorch-image-models/releases/download/v0.1-"
_GLUON = "https://github.com/rwightman/pytorch-pretrained-gluonresnet/releases/download/v0.1/gluon_"


def _torchvision(
    name: str, enum: str, signature: Signature, *versions: tuple[str, float, float, float]
) -> dict[str, ClassWeights]:
    """versions: (first digits of the hash, top1, top5, MiB) of IMAGENET1K_V1, and V2."""
    return {
        f"imagenet{'' if i == 1 else '_v2'}": torchvision_classifier(
            f"{name}_imagenet{'' if i == 1 else '_v2'}",
            f"{name}-{digits}.pth",
            top1,
            top5,
            enum=f"{enum}_Weights.IMAGENET1K_V{i}",
            short=256 if i == 1 else 232,
            mib=mib,
            signature=signature,
        )
        for i, (digits, top1, top5, mib) in enumerate(versions, start=1)
    }


def _timm(name: str, url: str, model: str, top1: float, top5: float, *, interpolation: Interpolation) -> ClassWeights:
    preparation = CenterCrop(interpolation=interpolation)
    source = f"timm, {model}"
    return imagenet_classifier(name, url, top1, top5, source=source, licence="Apache-2.0", preparation=preparation)


def _chainercv(name: str, file: str, error: float, source: str) -> ClassWeights:
    """error: top-1 error of one crop, percent."""
    return chainercv_classifier(name, f"{file}.npz", 100 - error, source=source, preparation=CAFFE_PREPARATION)


def _chainercv_resnet(n_layer: int, trained: float, converted: float) -> dict[str, ClassWeights]:
    file = f"resnet{n_layer}_imagenet"
    he = "the paper's authors, converted by ChainerCV"
    return {
        "imagenet_chainercv": _chainercv(f"{file}_chainercv", f"{file}_trained_2018_11_26", trained, "ChainerCV"),
        "imagenet_he": _chainercv(f"{file}_he", f"{file}_converted_2018_03_07", converted, he),
    }


def _chainercv_gated(name: str, date: str, error: float) -> dict[str, ClassWeights]:
    file = f"{name}_imagenet_converted_{date}"
    name = f"{name.replace('_', '')}_imagenet_chainercv"
    return {"imagenet_chainercv": _chainercv(name, file, error, "the paper's authors, converted by ChainerCV")}


def _legacy(name: str, url: str, top1: float, top5: float) -> dict[str, ClassWeights]:
    url = f"{_TIMM}{url}.pth"
    return {"imagenet": _timm(f"{name}_imagenet", url, f"legacy_{name}.in1k", top1, top5, interpolation="bilinear")}


def _modern(key: str, name: str, url: str, model: str, top1: float, top5: float) -> dict[str, ClassWeights]:
    return {key: _timm(f"{name}_{key}", f"{url}.pth", model, top1, top5, interpolation="bicubic")}


CLASS_WEIGHTS: dict[Kind, dict[str, ClassWeights]] = {
    (18, 1, 64, False): _torchvision(
        "resnet18", "ResNet18", Signature(102, "conv1.weight", (64, 3, 7, 7)), ("f37072fd", 69.758, 89.078, 44.661)
    ),
    (34, 1, 64, False): _torchvision(
        "resnet34", "ResNet34", Signature(182, "conv1.weight", (64, 3, 7, 7)), ("b627a593", 73.314, 91.42, 83.275)
    ),
    (50, 1, 64, False): {
        **_torchvision(
            "resnet50",
            "ResNet50",
            Signature(267, "layer1.0.conv1.weight", (64, 64, 1, 1)),
            ("0676ba61", 76.13, 92.862, 97.781),
            ("11ad3fa6", 80.858, 95.434, 97.79),
        ),
        **_chainercv_resnet(50, 23.51, 24.8),
    },
    (101, 1, 64, False): {
        **_torchvision(
            "resnet101",
            "ResNet101",
            Signature(522, "layer1.0.conv1.weight", (64, 64, 1, 1)),
            ("63fe2227", 77.374, 93.546, 170.511),
            ("cd907fc2", 81.886, 95.78, 170.53),
        ),
        **_chainercv_resnet(101, 22.07, 23.6),
    },
    (152, 1, 64, False): {
        **_torchvision(
            "resnet152",
            "ResNet152",
            Signature(777, "layer4.2.conv3.weight", (2048, 512, 1, 1)),
            ("394f9c45", 78.312, 94.046, 230.434),
            ("f82ba261", 82.284, 96.002, 230.474),
        ),
        **_chainercv_resnet(152, 21.67, 23.2),
    },
    (50, 32, 4, False): _torchvision(
        "resnext50_32x4d",
        "ResNeXt50_32X4D",
        Signature(267, "layer1.0.conv2.weight", (128, 4, 3, 3)),
        ("7cdf4587", 77.618, 93.698, 95.789),
        ("1a0047aa", 81.198, 95.34, 95.833),
    ),
    (101, 32, 4, False): _modern(
        "imagenet",
        "resnext101_32x4d",
        f"{_GLUON}resnext101_32x4d-b253c8c4",
        "resnext101_32x4d.gluon_in1k",
        80.336,
        94.908,
    ),
    (101, 32, 8, False): _torchvision(
        "resnext101_32x8d",
        "ResNeXt101_32X8D",
        Signature(522, "layer1.0.conv2.weight", (256, 8, 3, 3)),
        ("8ba56ff5", 79.312, 94.526, 339.586),
        ("110c445d", 82.834, 96.228, 339.673),
    ),
    (101, 64, 4, False): {
        "imagenet": torchvision_classifier(
            "resnext101_64x4d_imagenet",
            "resnext101_64x4d-173b62eb.pth",
            83.246,
            96.454,
            enum="ResNeXt101_64X4D_Weights.IMAGENET1K_V1",
            short=232,
            mib=319.318,
            signature=Signature(522, "layer1.0.conv2.weight", (256, 4, 3, 3)),
        )
    },
    (50, 1, 128, False): _torchvision(
        "wide_resnet50_2",
        "Wide_ResNet50_2",
        Signature(267, "layer1.0.conv2.weight", (128, 128, 3, 3)),
        ("95faca4d", 78.468, 94.086, 131.82),
        ("9ba9bcbe", 81.602, 95.758, 263.124),
    ),
    (101, 1, 128, False): _torchvision(
        "wide_resnet101_2",
        "Wide_ResNet101_2",
        Signature(522, "layer1.0.conv1.weight", (128, 64, 1, 1)),
        ("32ee1156", 78.848, 94.284, 242.896),
        ("d733dc28", 82.51, 96.02, 484.747),
    ),
    (50, 1, 64, True): {
        **_legacy("seresnet50", "cadene/se_resnet50-ce0d4300", 77.65, 93.732),
        **_modern(
            "imagenet_ra2",
            "seresnet50",
            f"{_TIMM}weights/seresnet50_ra_224-8efdb4bb",
            "seresnet50.ra2_in1k",
            80.26,
            95.068,
        ),
        **_chainercv_gated("se_resnet50", "2018_06_25", 22.7),
    },
    (101, 1, 64, True): {
        **_legacy("seresnet101", "cadene/se_resnet101-7e38fcc6", 78.37, 94.264),
        **_chainercv_gated("se_resnet101", "2018_06_25", 21.8),
    },
    (152, 1, 64, True): {
        **_legacy("seresnet152", "cadene/se_resnet152-d17c99b7", 78.662, 94.37),
        **_chainercv_gated("se_resnet152", "2018_06_25", 21.4),
    },
    (50, 32, 4, True): {
        **_legacy("seresnext50_32x4d", "weights/legacy_se_resnext50_32x4d-f3651bad", 79.08, 94.428),
        **_modern(
            "imagenet_racm",
            "seresnext50_32x4d",
            f"{_TIMM}weights/seresnext50_32x4d_racm-a304a460",
            "seresnext50_32x4d.racm_in1k",
            81.268,
            95.624,
        ),
        **_chainercv_gated("se_resnext50", "2018_06_28", 20.9),
    },
    (101, 32, 4, True): {
        **_legacy("seresnext101_32x4d", "weights/legacy_se_resnext101_32x4d-37725eac", 80.274, 95.032),
        **_modern(
            "imagenet_gluon",
            "seresnext101_32x4d",
            f"{_GLUON}seresnext101_32x4d-cf52900d",
            "seresnext101_32x4d.gluon_in1k",
            80.886,
            95.268,
        ),
        **_chainercv_gated("se_resnext101", "2018_06_28", 19.7),
    },
}

# number of layers -> name -> record of torchvision: backbones of detectors
WEIGHTS: dict[int, dict[str, Weights]] = {
    n_layer: {key: each.record for key, each in records.items() if key in ("imagenet", "imagenet_v2")}
    for (n_layer, groups, base_width, gated), records in CLASS_WEIGHTS.items()
    if (groups, base_width, gated) == (1, 64, False)
}
