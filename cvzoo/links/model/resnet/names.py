"""torchvision's, timm's and ChainerCV's names in a ResNet, and ours; what their makers built otherwise."""

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.links.model.pretrained.names import Arrays, Names, Rule, place_of

# Caffe's networks see 0 to 255, and the mean of each channel is taken off
CAFFE_PREPARATION = CenterCrop(mean=(123.15163 / 255, 115.90288 / 255, 103.06262 / 255), std=(1 / 255,) * 3)

# of torchvision's modules (timm's are the same, with gates); the first that fits the whole name counts
_MODULES = (
    (r"(?:layer0\.)?conv1", r"extractor/conv1/conv"),
    (r"(?:layer0\.)?bn1", r"extractor/conv1/bn"),
    (r"layer1\.(\d+)\.(.+)", r"extractor/res2/\1/\2"),
    (r"layer2\.(\d+)\.(.+)", r"extractor/res3/\1/\2"),
    (r"layer3\.(\d+)\.(.+)", r"extractor/res4/\1/\2"),
    (r"layer4\.(\d+)\.(.+)", r"extractor/res5/\1/\2"),
    (r"fc|last_linear", r"fc"),
)
# of what stands in a block
_IN_BLOCK = (
    (r"/conv([123])$", r"/conv\1/conv"),
    (r"/bn([123])$", r"/conv\1/bn"),
    (r"/downsample\.0$", r"/shortcut/conv"),
    (r"/downsample\.1$", r"/shortcut/bn"),
    (r"/(?:se|se_module)\.fc1$", r"/se/down"),
    (r"/(?:se|se_module)\.fc2$", r"/se/up"),
)
# of ChainerCV's arrays in a block, wherever the ResNet stands
CHAINERCV_RULES: tuple[Rule, ...] = (
    (r"(^|/)(res[2-5])/a/", r"\1\2/0/"),
    (r"(^|/)(res[2-5])/b(\d+)/", r"\1\2/\3/"),
    (r"(^|/)(res[2-5]/\d+)/residual_conv/", r"\1\2/shortcut/"),
)


def resnet_place(module: str) -> str | None:
    """Our path of a module of torchvision's ResNet: "extractor/res2/0/conv1/bn" of "layer1.0.bn1"; None: none."""
    path = place_of(module, _MODULES)
    if path is not None and "/res" in path:
        for inner, ours in _IN_BLOCK:
            path = re.sub(inner, ours, path)
    return path


def without_first_bias(named: dict[str, np.ndarray], n_class: int | None = None) -> dict[str, np.ndarray]:
    """The arrays of ChainerCV's files: where the first convolution has a bias, it is taken off the mean of the
    normalization behind, which is the same.
    """
    named = dict(named)
    for name in [name for name in named if re.search(r"(^|/)conv1/conv/b$", name) and "/res" not in f"/{name}"]:
        bias = named.pop(name)
        mean = name.removesuffix("conv/b") + "bn/avg_mean"
        named[mean] = named[mean] - bias
    return named


def _gate(array: np.ndarray) -> np.ndarray:
    """Gates that torch's files have as convolutions of 1 x 1 are rows here."""
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
    # the first port of the gated networks to torch
    "legacy": Names(marks=("layer0.conv1.weight",), modules=resnet_place, values=_GATES),
    "torchvision": Names(marks=("conv1.weight", "layer4.0.conv1.weight"), modules=resnet_place, values=_GATES),
}


def backbone_names(config: Callable[[Any, Arrays, Arrays], Any], *, inside: str = "") -> dict[str, Names]:
    """torchvision's names of a classifier, and ours, whose convolutions are the backbone of a detector.

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
    Raises WeightsMismatchError if it is none that is known.
    """
    inside += "extractor/"
    blocks = len({name.removeprefix(inside).split("/")[1] for name in arrays if name.startswith(f"{inside}res4/")})
    bottleneck = f"{inside}res2/0/conv3/conv/W" in arrays
    known = {(1, False): 10, (2, False): 18, (6, False): 34, (6, True): 50, (23, True): 101, (36, True): 152}
    if (blocks, bottleneck) not in known:
        raise WeightsMismatchError("the file holds no ResNet of a known depth", got=f"{blocks} blocks in stage 4")
    return known[blocks, bottleneck]
