"""ResNet, ResNeXt, Wide ResNet, SE-ResNet and SE-ResNeXt by name."""

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


_SE = 16  # reduction of squeeze-and-excitation


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
    "ResNeXt-50 32x4d (Xie et al., 2017), a `ResNet` with grouped convolutions",
)
ResNeXt101_32x4d = variant(
    "ResNeXt101_32x4d",
    _resnet,
    _Kind(101, groups=32, base_width=4),
    "ResNeXt-101 32x4d (Xie et al., 2017), a `ResNet` with grouped convolutions",
)
ResNeXt101_32x8d = variant(
    "ResNeXt101_32x8d",
    _resnet,
    _Kind(101, groups=32, base_width=8),
    "ResNeXt-101 32x8d (Xie et al., 2017), a `ResNet` with grouped convolutions",
)
ResNeXt101_64x4d = variant(
    "ResNeXt101_64x4d",
    _resnet,
    _Kind(101, groups=64, base_width=4),
    "ResNeXt-101 64x4d (Xie et al., 2017), a `ResNet` with grouped convolutions",
)
WideResNet50_2 = variant(
    "WideResNet50_2",
    _resnet,
    _Kind(50, base_width=128),
    "Wide ResNet-50-2 (Zagoruyko and Komodakis, 2016), a `ResNet` with twice the bottleneck width",
)
WideResNet101_2 = variant(
    "WideResNet101_2",
    _resnet,
    _Kind(101, base_width=128),
    "Wide ResNet-101-2 (Zagoruyko and Komodakis, 2016), a `ResNet` with twice the bottleneck width",
)
SEResNet50 = variant(
    "SEResNet50", _resnet, _Kind(50, se=_SE), "SE-ResNet-50 (Hu et al., 2018), a `ResNet` with squeeze-and-excitation"
)
SEResNet101 = variant(
    "SEResNet101",
    _resnet,
    _Kind(101, se=_SE),
    "SE-ResNet-101 (Hu et al., 2018), a `ResNet` with squeeze-and-excitation",
)
SEResNet152 = variant(
    "SEResNet152",
    _resnet,
    _Kind(152, se=_SE),
    "SE-ResNet-152 (Hu et al., 2018), a `ResNet` with squeeze-and-excitation",
)
SEResNeXt50 = variant(
    "SEResNeXt50",
    _resnet,
    _Kind(50, groups=32, base_width=4, se=_SE),
    "SE-ResNeXt-50 32x4d (Hu et al., 2018), a `ResNet` with squeeze-and-excitation",
)
SEResNeXt101 = variant(
    "SEResNeXt101",
    _resnet,
    _Kind(101, groups=32, base_width=4, se=_SE),
    "SE-ResNeXt-101 32x4d (Hu et al., 2018), a `ResNet` with squeeze-and-excitation",
)


def SEResNet(
    n_layer: int,
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> ResNet:
    """SE-ResNet of `n_layer` layers, an image classifier (Hu et al., 2018); arguments as there."""
    return _resnet(_Kind(n_layer, se=_SE), n_class, pretrained_model, label_names=label_names)


def SEResNeXt(
    n_layer: int,
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> ResNet:
    """SE-ResNeXt of `n_layer` layers with 32 groups, an image classifier (Hu et al., 2018); arguments as there."""
    return _resnet(_Kind(n_layer, groups=32, base_width=4, se=_SE), n_class, pretrained_model, label_names=label_names)
