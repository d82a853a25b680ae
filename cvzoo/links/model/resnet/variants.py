"""The ResNets of the paper, ResNeXts, Wide ResNets, SE-ResNets and SE-ResNeXts, by name."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from cvzoo.links.model.conv_norm_activ import Norm
from cvzoo.links.model.resnet.block import Arch
from cvzoo.links.model.resnet.extractor import Stem
from cvzoo.links.model.resnet.resnet import ResNet
from cvzoo.links.model.variant import variant


def _of_depth(
    n_layer: int,
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    arch: Arch | None = None,
    stem: Stem = "photo",
    norm: Norm = "batch",
) -> ResNet:
    return ResNet(n_layer, n_class, pretrained_model, label_names=label_names, arch=arch, stem=stem, norm=norm)


ResNet18 = variant("ResNet18", _of_depth, 18, "A `ResNet` of 18 layers")
ResNet34 = variant("ResNet34", _of_depth, 34, "A `ResNet` of 34 layers")
ResNet50 = variant("ResNet50", _of_depth, 50, "A `ResNet` of 50 layers")
ResNet101 = variant("ResNet101", _of_depth, 101, "A `ResNet` of 101 layers")
ResNet152 = variant("ResNet152", _of_depth, 152, "A `ResNet` of 152 layers")


_SE = 16  # times fewer units in a gate than channels


class _Kind(NamedTuple):
    n_layer: int
    groups: int = 1
    base_width: int = 64
    se: int = 0


def _resnet(
    kind: _Kind,
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    norm: Norm = "batch",
) -> ResNet:
    n_layer, groups, base_width, se = kind
    return ResNet(
        *(n_layer, n_class, pretrained_model),
        label_names=label_names,
        groups=groups,
        base_width=base_width,
        se=se,
        norm=norm,
    )


ResNeXt50_32x4d = variant(
    "ResNeXt50_32x4d",
    _resnet,
    _Kind(50, groups=32, base_width=4),
    "A `ResNet` of 50 layers with 32 groups of 4 channels",
)
ResNeXt101_32x4d = variant(
    "ResNeXt101_32x4d",
    _resnet,
    _Kind(101, groups=32, base_width=4),
    "A `ResNet` of 101 layers with 32 groups of 4 channels",
)
ResNeXt101_32x8d = variant(
    "ResNeXt101_32x8d",
    _resnet,
    _Kind(101, groups=32, base_width=8),
    "A `ResNet` of 101 layers with 32 groups of 8 channels",
)
ResNeXt101_64x4d = variant(
    "ResNeXt101_64x4d",
    _resnet,
    _Kind(101, groups=64, base_width=4),
    "A `ResNet` of 101 layers with 64 groups of 4 channels",
)
WideResNet50_2 = variant(
    "WideResNet50_2", _resnet, _Kind(50, base_width=128), "A `ResNet` of 50 layers, twice as wide inside its blocks"
)
WideResNet101_2 = variant(
    "WideResNet101_2", _resnet, _Kind(101, base_width=128), "A `ResNet` of 101 layers, twice as wide inside its blocks"
)
SEResNet50 = variant("SEResNet50", _resnet, _Kind(50, se=_SE), "A `ResNet` of 50 layers with gates")
SEResNet101 = variant("SEResNet101", _resnet, _Kind(101, se=_SE), "A `ResNet` of 101 layers with gates")
SEResNet152 = variant("SEResNet152", _resnet, _Kind(152, se=_SE), "A `ResNet` of 152 layers with gates")
SEResNeXt50 = variant(
    "SEResNeXt50",
    _resnet,
    _Kind(50, groups=32, base_width=4, se=_SE),
    "A `ResNet` of 50 layers with 32 groups of 4 channels and gates",
)
SEResNeXt101 = variant(
    "SEResNeXt101",
    _resnet,
    _Kind(101, groups=32, base_width=4, se=_SE),
    "A `ResNet` of 101 layers with 32 groups of 4 channels and gates",
)


def SEResNet(
    n_layer: int,
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> ResNet:
    """A `ResNet` of `n_layer` layers with gates, as `SEResNet50` is one of 50; arguments as there."""
    return _resnet(_Kind(n_layer, se=_SE), n_class, pretrained_model, label_names=label_names)


def SEResNeXt(
    n_layer: int,
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> ResNet:
    """A `ResNet` of `n_layer` layers with 32 groups and gates, as `SEResNeXt50` is one of 50; arguments as there."""
    return _resnet(_Kind(n_layer, groups=32, base_width=4, se=_SE), n_class, pretrained_model, label_names=label_names)
