"""Published weights of the RegNets: the design, then the name that a user gives.

torchvision's names in a RegNet, and cvzoo's.
"""

import re

from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.torchvision import torchvision_classifier

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

WEIGHTS = {
    "x_400mf": {
        "imagenet": torchvision_classifier(
            "regnet_x_400mf_imagenet",
            "regnet_x_400mf-adf1edd5.pth",
            72.834,
            90.95,
            enum="RegNet_X_400MF_Weights.IMAGENET1K_V1",
        ),
        "imagenet_v2": torchvision_classifier(
            "regnet_x_400mf_imagenet_v2",
            "regnet_x_400mf-62229a5f.pth",
            74.864,
            92.322,
            enum="RegNet_X_400MF_Weights.IMAGENET1K_V2",
            short=232,
        ),
    },
    "x_800mf": {
        "imagenet": torchvision_classifier(
            "regnet_x_800mf_imagenet",
            "regnet_x_800mf-ad17e45c.pth",
            75.212,
            92.348,
            enum="RegNet_X_800MF_Weights.IMAGENET1K_V1",
        ),
        "imagenet_v2": torchvision_classifier(
            "regnet_x_800mf_imagenet_v2",
            "regnet_x_800mf-94a99ebd.pth",
            77.522,
            93.826,
            enum="RegNet_X_800MF_Weights.IMAGENET1K_V2",
            short=232,
        ),
    },
    "x_1_6gf": {
        "imagenet": torchvision_classifier(
            "regnet_x_1_6gf_imagenet",
            "regnet_x_1_6gf-e3633e7f.pth",
            77.04,
            93.44,
            enum="RegNet_X_1_6GF_Weights.IMAGENET1K_V1",
        ),
        "imagenet_v2": torchvision_classifier(
            "regnet_x_1_6gf_imagenet_v2",
            "regnet_x_1_6gf-a12f2b72.pth",
            79.668,
            94.922,
            enum="RegNet_X_1_6GF_Weights.IMAGENET1K_V2",
            short=232,
        ),
    },
    "x_3_2gf": {
        "imagenet": torchvision_classifier(
            "regnet_x_3_2gf_imagenet",
            "regnet_x_3_2gf-f342aeae.pth",
            78.364,
            93.992,
            enum="RegNet_X_3_2GF_Weights.IMAGENET1K_V1",
        ),
        "imagenet_v2": torchvision_classifier(
            "regnet_x_3_2gf_imagenet_v2",
            "regnet_x_3_2gf-7071aa85.pth",
            81.196,
            95.43,
            enum="RegNet_X_3_2GF_Weights.IMAGENET1K_V2",
            short=232,
        ),
    },
    "x_8gf": {
        "imagenet": torchvision_classifier(
            "regnet_x_8gf_imagenet",
            "regnet_x_8gf-03ceed89.pth",
            79.344,
            94.686,
            enum="RegNet_X_8GF_Weights.IMAGENET1K_V1",
        ),
        "imagenet_v2": torchvision_classifier(
            "regnet_x_8gf_imagenet_v2",
            "regnet_x_8gf-2b70d774.pth",
            81.682,
            95.678,
            enum="RegNet_X_8GF_Weights.IMAGENET1K_V2",
            short=232,
        ),
    },
    "x_16gf": {
        "imagenet": torchvision_classifier(
            "regnet_x_16gf_imagenet",
            "regnet_x_16gf-2007eb11.pth",
            80.058,
            94.944,
            enum="RegNet_X_16GF_Weights.IMAGENET1K_V1",
        ),
        "imagenet_v2": torchvision_classifier(
            "regnet_x_16gf_imagenet_v2",
            "regnet_x_16gf-ba3796d7.pth",
            82.716,
            96.196,
            enum="RegNet_X_16GF_Weights.IMAGENET1K_V2",
            short=232,
        ),
    },
    "x_32gf": {
        "imagenet": torchvision_classifier(
            "regnet_x_32gf_imagenet",
            "regnet_x_32gf-9d47f8d0.pth",
            80.622,
            95.248,
            enum="RegNet_X_32GF_Weights.IMAGENET1K_V1",
        ),
        "imagenet_v2": torchvision_classifier(
            "regnet_x_32gf_imagenet_v2",
            "regnet_x_32gf-6eb8fdc6.pth",
            83.014,
            96.288,
            enum="RegNet_X_32GF_Weights.IMAGENET1K_V2",
            short=232,
        ),
    },
    "y_400mf": {
        "imagenet": torchvision_classifier(
            "regnet_y_400mf_imagenet",
            "regnet_y_400mf-c65dace8.pth",
            74.046,
            91.716,
            enum="RegNet_Y_400MF_Weights.IMAGENET1K_V1",
        ),
        "imagenet_v2": torchvision_classifier(
            "regnet_y_400mf_imagenet_v2",
            "regnet_y_400mf-e6988f5f.pth",
            75.804,
            92.742,
            enum="RegNet_Y_400MF_Weights.IMAGENET1K_V2",
            short=232,
        ),
    },
    "y_800mf": {
        "imagenet": torchvision_classifier(
            "regnet_y_800mf_imagenet",
            "regnet_y_800mf-1b27b58c.pth",
            76.42,
            93.136,
            enum="RegNet_Y_800MF_Weights.IMAGENET1K_V1",
        ),
        "imagenet_v2": torchvision_classifier(
            "regnet_y_800mf_imagenet_v2",
            "regnet_y_800mf-58fc7688.pth",
            78.828,
            94.502,
            enum="RegNet_Y_800MF_Weights.IMAGENET1K_V2",
            short=232,
        ),
    },
    "y_1_6gf": {
        "imagenet": torchvision_classifier(
            "regnet_y_1_6gf_imagenet",
            "regnet_y_1_6gf-b11a554e.pth",
            77.95,
            93.966,
            enum="RegNet_Y_1_6GF_Weights.IMAGENET1K_V1",
        ),
        "imagenet_v2": torchvision_classifier(
            "regnet_y_1_6gf_imagenet_v2",
            "regnet_y_1_6gf-0d7bc02a.pth",
            80.876,
            95.444,
            enum="RegNet_Y_1_6GF_Weights.IMAGENET1K_V2",
            short=232,
        ),
    },
    "y_3_2gf": {
        "imagenet": torchvision_classifier(
            "regnet_y_3_2gf_imagenet",
            "regnet_y_3_2gf-b5a9779c.pth",
            78.948,
            94.576,
            enum="RegNet_Y_3_2GF_Weights.IMAGENET1K_V1",
        ),
        "imagenet_v2": torchvision_classifier(
            "regnet_y_3_2gf_imagenet_v2",
            "regnet_y_3_2gf-9180c971.pth",
            81.982,
            95.972,
            enum="RegNet_Y_3_2GF_Weights.IMAGENET1K_V2",
            short=232,
        ),
    },
    "y_8gf": {
        "imagenet": torchvision_classifier(
            "regnet_y_8gf_imagenet",
            "regnet_y_8gf-d0d0e4a8.pth",
            80.032,
            95.048,
            enum="RegNet_Y_8GF_Weights.IMAGENET1K_V1",
        ),
        "imagenet_v2": torchvision_classifier(
            "regnet_y_8gf_imagenet_v2",
            "regnet_y_8gf-dc2b1b54.pth",
            82.828,
            96.33,
            enum="RegNet_Y_8GF_Weights.IMAGENET1K_V2",
            short=232,
        ),
    },
    "y_16gf": {
        "imagenet": torchvision_classifier(
            "regnet_y_16gf_imagenet",
            "regnet_y_16gf-9e6ed7dd.pth",
            80.424,
            95.24,
            enum="RegNet_Y_16GF_Weights.IMAGENET1K_V1",
        ),
        "imagenet_v2": torchvision_classifier(
            "regnet_y_16gf_imagenet_v2",
            "regnet_y_16gf-3e4a00f9.pth",
            82.886,
            96.328,
            enum="RegNet_Y_16GF_Weights.IMAGENET1K_V2",
            short=232,
        ),
        "imagenet_swag": torchvision_classifier(
            "regnet_y_16gf_imagenet_swag",
            "regnet_y_16gf_swag-43afe44d.pth",
            86.012,
            98.054,
            enum="RegNet_Y_16GF_Weights.IMAGENET1K_SWAG_E2E_V1",
            short=384,
            crop=384,
            interpolation="bicubic",
            licence=_SWAG,
            data=_INSTAGRAM,
        ),
        "imagenet_swag_linear": torchvision_classifier(
            "regnet_y_16gf_imagenet_swag_linear",
            "regnet_y_16gf_lc_swag-f3ec0043.pth",
            83.976,
            97.244,
            enum="RegNet_Y_16GF_Weights.IMAGENET1K_SWAG_LINEAR_V1",
            short=224,
            interpolation="bicubic",
            licence=_SWAG,
            data=_INSTAGRAM,
        ),
    },
    "y_32gf": {
        "imagenet": torchvision_classifier(
            "regnet_y_32gf_imagenet",
            "regnet_y_32gf-4dee3f7a.pth",
            80.878,
            95.34,
            enum="RegNet_Y_32GF_Weights.IMAGENET1K_V1",
        ),
        "imagenet_v2": torchvision_classifier(
            "regnet_y_32gf_imagenet_v2",
            "regnet_y_32gf-8db6d4b5.pth",
            83.368,
            96.498,
            enum="RegNet_Y_32GF_Weights.IMAGENET1K_V2",
            short=232,
        ),
        "imagenet_swag": torchvision_classifier(
            "regnet_y_32gf_imagenet_swag",
            "regnet_y_32gf_swag-04fdfa75.pth",
            86.838,
            98.362,
            enum="RegNet_Y_32GF_Weights.IMAGENET1K_SWAG_E2E_V1",
            short=384,
            crop=384,
            interpolation="bicubic",
            licence=_SWAG,
            data=_INSTAGRAM,
        ),
        "imagenet_swag_linear": torchvision_classifier(
            "regnet_y_32gf_imagenet_swag_linear",
            "regnet_y_32gf_lc_swag-e1583746.pth",
            84.622,
            97.48,
            enum="RegNet_Y_32GF_Weights.IMAGENET1K_SWAG_LINEAR_V1",
            short=224,
            interpolation="bicubic",
            licence=_SWAG,
            data=_INSTAGRAM,
        ),
    },
    "y_128gf": {
        "imagenet_swag": torchvision_classifier(
            "regnet_y_128gf_imagenet_swag",
            "regnet_y_128gf_swag-c8ce3e52.pth",
            88.228,
            98.682,
            enum="RegNet_Y_128GF_Weights.IMAGENET1K_SWAG_E2E_V1",
            short=384,
            crop=384,
            interpolation="bicubic",
            licence=_SWAG,
            data=_INSTAGRAM,
        ),
        "imagenet_swag_linear": torchvision_classifier(
            "regnet_y_128gf_imagenet_swag_linear",
            "regnet_y_128gf_lc_swag-cbe8ce12.pth",
            86.068,
            97.844,
            enum="RegNet_Y_128GF_Weights.IMAGENET1K_SWAG_LINEAR_V1",
            short=224,
            interpolation="bicubic",
            licence=_SWAG,
            data=_INSTAGRAM,
        ),
    },
}
