"""The ResNets of the paper, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.resnet.block import Arch
from cvzoo.links.model.resnet.extractor import Stem
from cvzoo.links.model.resnet.norm import Norm
from cvzoo.links.model.resnet.resnet import ResNet


def ResNet18(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    arch: Arch | None = None,
    stem: Stem = "photo",
    norm: Norm = "batch",
) -> ResNet:
    """A `ResNet` of 18 layers; arguments as there."""
    return ResNet(18, n_class, pretrained_model, label_names=label_names, arch=arch, stem=stem, norm=norm)


def ResNet34(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    arch: Arch | None = None,
    stem: Stem = "photo",
    norm: Norm = "batch",
) -> ResNet:
    """A `ResNet` of 34 layers; arguments as there."""
    return ResNet(34, n_class, pretrained_model, label_names=label_names, arch=arch, stem=stem, norm=norm)


def ResNet50(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    arch: Arch | None = None,
    stem: Stem = "photo",
    norm: Norm = "batch",
) -> ResNet:
    """A `ResNet` of 50 layers; arguments as there."""
    return ResNet(50, n_class, pretrained_model, label_names=label_names, arch=arch, stem=stem, norm=norm)


def ResNet101(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    arch: Arch | None = None,
    stem: Stem = "photo",
    norm: Norm = "batch",
) -> ResNet:
    """A `ResNet` of 101 layers; arguments as there."""
    return ResNet(101, n_class, pretrained_model, label_names=label_names, arch=arch, stem=stem, norm=norm)


def ResNet152(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    arch: Arch | None = None,
    stem: Stem = "photo",
    norm: Norm = "batch",
) -> ResNet:
    """A `ResNet` of 152 layers; arguments as there."""
    return ResNet(152, n_class, pretrained_model, label_names=label_names, arch=arch, stem=stem, norm=norm)
