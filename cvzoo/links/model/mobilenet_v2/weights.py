"""Published weights of MobileNetV2: (arch, width), then the name that a user gives.

torchvision's, timm's and ChainerCV's names in a MobileNetV2, and cvzoo's.
"""

import functools
from collections.abc import Mapping
from typing import Literal

import numpy as np

from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.labels.imagenet import imagenet_label_names
from cvzoo.links.model.mobilenet_v2.extractor import ROWS, STAGES, Arch
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.classifier import ClassWeights
from cvzoo.links.model.pretrained.names import Names
from cvzoo.links.model.publishers.chainercv import chainercv_classifier
from cvzoo.links.model.publishers.timm import TIMM_AROUND, TIMM_MARKS, timm_classifier, timm_places
from cvzoo.links.model.publishers.torchvision import torchvision_classifier
from cvzoo.weights.record import Signature

_TORCHVISION_EXPAND = (("0.0", "expand/conv"), ("0.1", "expand/bn"))
_TORCHVISION_LAST = (
    ("{0}.0", "depthwise/conv"),
    ("{0}.1", "depthwise/bn"),
    ("{1}", "project/conv"),
    ("{2}", "project/bn"),
)


def torchvision_places() -> dict[str, str]:
    """cvzoo's path of each module of torchvision's."""
    places = {"features.0.0": "extractor/stem/conv", "features.0.1": "extractor/stem/bn"}
    for i, row in enumerate(ROWS):
        theirs, ours = f"features.{i + 1}.conv", f"extractor/blocks/{i}"
        first = 0 if row.factor == 1 else 1
        if first:
            places.update({f"{theirs}.{name}": f"{ours}/{path}" for name, path in _TORCHVISION_EXPAND})
        for name, path in _TORCHVISION_LAST:
            places[f"{theirs}.{name.format(first, first + 1, first + 2)}"] = f"{ours}/{path}"
    last = f"features.{len(ROWS) + 1}"
    return {**places, f"{last}.0": "extractor/last/conv", f"{last}.1": "extractor/last/bn", "classifier.1": "fc"}


def timm_mobilenet_v2_places() -> dict[str, str]:
    """cvzoo's path of each module of timm's."""
    places, counts = dict(TIMM_AROUND), dict.fromkeys(range(len(STAGES)), 0)
    stage_of = [s for s, stage in enumerate(STAGES) for _ in range(stage.n_block)]
    for i, row in enumerate(ROWS):
        s = stage_of[i]
        block = f"blocks.{s}.{counts[s]}", f"extractor/blocks/{i}"
        places.update(timm_places(*block, expand=row.factor > 1, excite=False))
        counts[s] += 1
    return places


def chainercv_places() -> dict[str, str]:
    """cvzoo's path of each link of ChainerCV's."""
    links = {"conv": "extractor/stem", "conv1": "extractor/last"}
    for i, row in enumerate(ROWS):
        for role in ("expand", "depthwise", "project") if row.factor > 1 else ("depthwise", "project"):
            links[f"expanded_conv_{i}/{role}" if i else f"expanded_conv/{role}"] = f"extractor/blocks/{i}/{role}"
    places = {"logits_conv/conv": "fc"}
    for theirs, ours in links.items():
        places.update({f"{theirs}/conv/conv": f"{ours}/conv", f"{theirs}/bn": f"{ours}/bn"})
    return places


def mobilenet_v2_names(arch: Arch) -> Mapping[str, Names]:
    """Publisher -> its array names; "tf": ChainerCV's files of TensorFlow's networks, with a different padding."""
    of_tf, of_torch = (
        functools.partial(_checked, theirs=theirs, expected_arch=arch) for theirs in ("tf", "torchvision")
    )
    return {
        "tf": Names(
            marks=("logits_conv/conv/W",),
            modules=chainercv_places(),
            values=[("fc/W", lambda array: array.reshape(array.shape[:2]))],  # a 1 x 1 convolution as a matrix
            finish=of_tf,
        ),
        "timm": Names(marks=TIMM_MARKS, modules=timm_mobilenet_v2_places(), finish=of_torch),
        "torchvision": Names(marks=("features.0.0.weight",), modules=torchvision_places(), finish=of_torch),
    }


def _checked(
    named: dict[str, np.ndarray], n_class: int | None, *, theirs: str, expected_arch: str
) -> dict[str, np.ndarray]:
    if theirs != expected_arch:
        raise WeightsMismatchError(
            "MobileNetV2: the file's network has a different padding",
            expected=f"arch={expected_arch!r}",
            got=f"arch={theirs!r}",
        )
    return named


TF_PREPARATION = CenterCrop(mean=(128 / 255, 128 / 255, 128 / 255), std=(128 / 255, 128 / 255, 128 / 255))
TF_LABEL_NAMES = ("background", *imagenet_label_names)


def _chainercv(width: float, top1: float) -> ClassWeights:
    return chainercv_classifier(
        f"mobilenet_v2_tf_{width}_imagenet",
        f"mobilenet_v2_depth_multiplier_{width}_imagenet_converted_2019_05_13.npz",
        100 * top1,
        source="TensorFlow's checkpoint, converted by ChainerCV (after 0.13.1)",
        preparation=TF_PREPARATION,
        licence="not stated; TensorFlow's models are Apache-2.0",
        label_names=TF_LABEL_NAMES,
    )


_SIGNATURE = Signature(262, "features.0.0.weight", (32, 3, 3, 3))

WEIGHTS: dict[tuple[Literal["torchvision", "tf"], float], dict[str, ClassWeights]] = {
    ("torchvision", 1.0): {
        "imagenet": torchvision_classifier(
            "mobilenet_v2_imagenet",
            "mobilenet_v2-b0353104.pth",
            71.878,
            90.286,
            enum="MobileNet_V2_Weights.IMAGENET1K_V1",
            mib=13.555,
            signature=_SIGNATURE,
        ),
        "imagenet_v2": torchvision_classifier(
            "mobilenet_v2_imagenet_v2",
            "mobilenet_v2-7ebf99e0.pth",
            72.154,
            90.822,
            enum="MobileNet_V2_Weights.IMAGENET1K_V2",
            short=232,
            mib=13.598,
            signature=_SIGNATURE,
        ),
        "imagenet_timm": timm_classifier(
            "mobilenet_v2_imagenet_timm",
            "v0.1-weights/mobilenetv2_100_ra-b33bc2c4.pth",
            72.91,
            91.0,
            model="mobilenetv2_100.ra_in1k",
        ),
    },
    ("torchvision", 0.5): {
        "imagenet_timm": timm_classifier(
            "mobilenet_v2_0.5_imagenet_timm",
            "v0.1-weights/mobilenetv2_050-3d30d450.pth",
            65.928,
            86.114,
            model="mobilenetv2_050.lamb_in1k",
        ),
    },
    ("torchvision", 1.4): {
        "imagenet_timm": timm_classifier(
            "mobilenet_v2_1.4_imagenet_timm",
            "v0.1-weights/mobilenetv2_140_ra-21a4e913.pth",
            76.528,
            93.008,
            model="mobilenetv2_140.ra_in1k",
        ),
    },
    ("tf", 1.0): {"imagenet": _chainercv(1.0, 0.717)},
    ("tf", 1.4): {"imagenet": _chainercv(1.4, 0.757)},
}
