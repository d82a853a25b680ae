"""Published weights of the RegNets: the design, then the name that a user gives.

torchvision's names in a RegNet, and cvzoo's.
"""

import re

from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.torchvision import torchvision_classifier
from cvzoo.weights.record import Signature

_BLOCK = re.compile(r"trunk_output\.block(\d+)\.block\d+-(\d+)\.(.+)")
_IN_BLOCK = {
    "proj.0": "shortcut/conv",
    "proj.1": "shortcut/bn",
    "f.a.0": "conv1/conv",
    "f.a.1": "conv1/bn",
    "f.b.0": "conv2/conv",
    "f.b.1": "conv2/bn",
    "f.se.fc1": "se/fc1",
    "f.se.fc2": "se/fc2",
    "f.c.0": "conv3/conv",
    "f.c.1": "conv3/bn",
}
_AROUND = {"stem.0": "extractor/stem/conv", "stem.1": "extractor/stem/bn", "fc": "fc"}


def regnet_place(module: str) -> str | None:
    """Our path of a module of torchvision's; None if it has none."""
    match = _BLOCK.fullmatch(module)
    if match is None or match[3] not in _IN_BLOCK:
        return _AROUND.get(module)
    return f"extractor/stages/{int(match[1]) - 1}/{match[2]}/{_IN_BLOCK[match[3]]}"


NAMES = {"torchvision": Names(marks=(), modules=regnet_place)}


_SWAG = "CC-BY-NC-4.0"
_INSTAGRAM = "3.6 billion Instagram images by their hashtags (SWAG), then ImageNet-1K, ILSVRC 2012 training images"

Version = tuple[str, float, float, float]  # first digits of the hash, top1, top5, MiB


def _design(
    design: str, signature: Signature, usual: tuple[Version, ...], swag: tuple[Version, ...] = ()
) -> dict[str, ClassWeights]:
    """Records of a design. usual: IMAGENET1K_V1, V2; swag: SWAG, then ImageNet for all layers, or for the last."""
    name, enum = f"regnet_{design}", f"RegNet_{design.upper()}_Weights.IMAGENET1K_"
    records = {
        f"imagenet{suffix}": torchvision_classifier(
            f"{name}_imagenet{suffix}",
            f"{name}-{digits}.pth",
            top1,
            top5,
            enum=f"{enum}{version}",
            short=short,
            mib=mib,
            signature=signature,
        )
        for (digits, top1, top5, mib), suffix, version, short in zip(usual, ("", "_v2"), ("V1", "V2"), (256, 232))
    }
    for (digits, top1, top5, mib), is_whole in zip(swag, (True, False)):
        key = "imagenet_swag" if is_whole else "imagenet_swag_linear"
        records[key] = torchvision_classifier(
            f"{name}_{key}",
            f"{name}_{'swag' if is_whole else 'lc_swag'}-{digits}.pth",
            top1,
            top5,
            enum=f"{enum}SWAG_{'E2E' if is_whole else 'LINEAR'}_V1",
            short=384 if is_whole else 224,
            crop=384 if is_whole else 224,
            interpolation="bicubic",
            licence=_SWAG,
            data=_INSTAGRAM,
            mib=mib,
            signature=signature,
        )
    return records


WEIGHTS = {
    "x_400mf": _design(
        "x_400mf",
        Signature(357, "trunk_output.block1.block1-0.proj.0.weight", (32, 32, 1, 1)),
        usual=(("adf1edd5", 72.834, 90.95, 21.258), ("62229a5f", 74.864, 92.322, 21.257)),
    ),
    "x_800mf": _design(
        "x_800mf",
        Signature(267, "stem.0.weight", (32, 3, 3, 3)),
        usual=(("ad17e45c", 75.212, 92.348, 27.945), ("94a99ebd", 77.522, 93.826, 27.945)),
    ),
    "x_1_6gf": _design(
        "x_1_6gf",
        Signature(297, "trunk_output.block4.block4-1.f.c.0.weight", (912, 912, 1, 1)),
        usual=(("e3633e7f", 77.04, 93.44, 35.339), ("a12f2b72", 79.668, 94.922, 35.339)),
    ),
    "x_3_2gf": _design(
        "x_3_2gf",
        Signature(402, "trunk_output.block4.block4-1.f.c.0.weight", (1008, 1008, 1, 1)),
        usual=(("f342aeae", 78.364, 93.992, 58.756), ("7071aa85", 81.196, 95.43, 58.756)),
    ),
    "x_8gf": _design(
        "x_8gf",
        Signature(372, "trunk_output.block1.block1-0.proj.0.weight", (80, 32, 1, 1)),
        usual=(("03ceed89", 79.344, 94.686, 151.456), ("2b70d774", 81.682, 95.678, 151.456)),
    ),
    "x_16gf": _design(
        "x_16gf",
        Signature(357, "trunk_output.block1.block1-0.proj.0.weight", (256, 32, 1, 1)),
        usual=(("2007eb11", 80.058, 94.944, 207.627), ("ba3796d7", 82.716, 96.196, 207.627)),
    ),
    "x_32gf": _design(
        "x_32gf",
        Signature(372, "trunk_output.block1.block1-0.proj.0.weight", (336, 32, 1, 1)),
        usual=(("9d47f8d0", 80.622, 95.248, 412.039), ("6eb8fdc6", 83.014, 96.288, 412.039)),
    ),
    "y_400mf": _design(
        "y_400mf",
        Signature(331, "trunk_output.block4.block4-5.f.c.0.weight", (440, 440, 1, 1)),
        usual=(("c65dace8", 74.046, 91.716, 16.806), ("e6988f5f", 75.804, 92.742, 16.806)),
    ),
    "y_800mf": _design(
        "y_800mf",
        Signature(293, "trunk_output.block4.block4-1.f.c.0.weight", (784, 784, 1, 1)),
        usual=(("1b27b58c", 76.42, 93.136, 24.774), ("58fc7688", 78.828, 94.502, 24.774)),
    ),
    "y_1_6gf": _design(
        "y_1_6gf",
        Signature(540, "trunk_output.block4.block4-1.f.c.0.weight", (888, 888, 1, 1)),
        usual=(("b11a554e", 77.95, 93.966, 43.152), ("0d7bc02a", 80.876, 95.444, 43.152)),
    ),
    "y_3_2gf": _design(
        "y_3_2gf",
        Signature(426, "trunk_output.block4.block4-0.f.c.0.weight", (1512, 1512, 1, 1)),
        usual=(("b5a9779c", 78.948, 94.576, 74.567), ("9180c971", 81.982, 95.972, 74.567)),
    ),
    "y_8gf": _design(
        "y_8gf",
        Signature(350, "trunk_output.block4.block4-0.f.c.0.weight", (2016, 2016, 1, 1)),
        usual=(("d0d0e4a8", 80.032, 95.048, 150.701), ("dc2b1b54", 82.828, 96.33, 150.701)),
    ),
    "y_16gf": _design(
        "y_16gf",
        Signature(369, "trunk_output.block4.block4-0.f.c.0.weight", (3024, 3024, 1, 1)),
        usual=(("9e6ed7dd", 80.424, 95.24, 319.49), ("3e4a00f9", 82.886, 96.328, 319.49)),
        swag=(("43afe44d", 86.012, 98.054, 319.49), ("f3ec0043", 83.976, 97.244, 319.49)),
    ),
    "y_32gf": _design(
        "y_32gf",
        Signature(407, "trunk_output.block4.block4-0.f.c.0.weight", (3712, 3712, 1, 1)),
        usual=(("4dee3f7a", 80.878, 95.34, 554.076), ("8db6d4b5", 83.368, 96.498, 554.076)),
        swag=(("04fdfa75", 86.838, 98.362, 554.076), ("e1583746", 84.622, 97.48, 554.076)),
    ),
    "y_128gf": _design(
        "y_128gf",
        Signature(540, "trunk_output.block4.block4-0.f.c.0.weight", (7392, 7392, 1, 1)),
        usual=(),
        swag=(("c8ce3e52", 88.228, 98.682, 2461.564), ("cbe8ce12", 86.068, 97.844, 2461.564)),
    ),
}
