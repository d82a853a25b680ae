"""ResNeXts, Wide ResNets, SE-ResNets and SE-ResNeXts, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.resnet.norm import Norm
from cvzoo.links.model.resnet.resnet import ResNet

_SE = 16  # times fewer units in a gate than channels


def ResNeXt50_32x4d(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    norm: Norm = "batch",
) -> ResNet:
    """A `ResNet` of 50 layers with 32 groups of 4 channels; arguments as there."""
    return ResNet(50, n_class, pretrained_model, label_names=label_names, groups=32, base_width=4, norm=norm)


def ResNeXt101_32x4d(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    norm: Norm = "batch",
) -> ResNet:
    """A `ResNet` of 101 layers with 32 groups of 4 channels; arguments as there."""
    return ResNet(101, n_class, pretrained_model, label_names=label_names, groups=32, base_width=4, norm=norm)


def ResNeXt101_32x8d(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    norm: Norm = "batch",
) -> ResNet:
    """A `ResNet` of 101 layers with 32 groups of 8 channels; arguments as there."""
    return ResNet(101, n_class, pretrained_model, label_names=label_names, groups=32, base_width=8, norm=norm)


def ResNeXt101_64x4d(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    norm: Norm = "batch",
) -> ResNet:
    """A `ResNet` of 101 layers with 64 groups of 4 channels; arguments as there."""
    return ResNet(101, n_class, pretrained_model, label_names=label_names, groups=64, base_width=4, norm=norm)


def WideResNet50_2(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    norm: Norm = "batch",
) -> ResNet:
    """A `ResNet` of 50 layers, twice as wide inside its blocks; arguments as there."""
    return ResNet(50, n_class, pretrained_model, label_names=label_names, base_width=128, norm=norm)


def WideResNet101_2(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    norm: Norm = "batch",
) -> ResNet:
    """A `ResNet` of 101 layers, twice as wide inside its blocks; arguments as there."""
    return ResNet(101, n_class, pretrained_model, label_names=label_names, base_width=128, norm=norm)


def SEResNet50(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    norm: Norm = "batch",
) -> ResNet:
    """A `ResNet` of 50 layers with gates; arguments as there."""
    return ResNet(50, n_class, pretrained_model, label_names=label_names, se=_SE, norm=norm)


def SEResNet101(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    norm: Norm = "batch",
) -> ResNet:
    """A `ResNet` of 101 layers with gates; arguments as there."""
    return ResNet(101, n_class, pretrained_model, label_names=label_names, se=_SE, norm=norm)


def SEResNet152(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    norm: Norm = "batch",
) -> ResNet:
    """A `ResNet` of 152 layers with gates; arguments as there."""
    return ResNet(152, n_class, pretrained_model, label_names=label_names, se=_SE, norm=norm)


def SEResNeXt50(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    norm: Norm = "batch",
) -> ResNet:
    """A `ResNet` of 50 layers with 32 groups of 4 channels and gates; arguments as there."""
    return ResNet(50, n_class, pretrained_model, label_names=label_names, groups=32, base_width=4, se=_SE, norm=norm)


def SEResNeXt101(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    norm: Norm = "batch",
) -> ResNet:
    """A `ResNet` of 101 layers with 32 groups of 4 channels and gates; arguments as there."""
    return ResNet(101, n_class, pretrained_model, label_names=label_names, groups=32, base_width=4, se=_SE, norm=norm)
