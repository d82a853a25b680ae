"""The VGG networks of the paper, by name; those with BN have batch normalizations."""

import os
from collections.abc import Sequence

from cvzoo.links.model.vgg.vgg import VGG


def VGG11(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> VGG:
    """A `VGG` of 11 layers; arguments as there."""
    return VGG(11, n_class, pretrained_model, label_names=label_names)


def VGG11BN(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> VGG:
    """A `VGG` of 11 layers with batch normalizations; arguments as there."""
    return VGG(11, n_class, pretrained_model, label_names=label_names, norm="batch")


def VGG13(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> VGG:
    """A `VGG` of 13 layers; arguments as there."""
    return VGG(13, n_class, pretrained_model, label_names=label_names)


def VGG13BN(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> VGG:
    """A `VGG` of 13 layers with batch normalizations; arguments as there."""
    return VGG(13, n_class, pretrained_model, label_names=label_names, norm="batch")


def VGG16(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> VGG:
    """A `VGG` of 16 layers; arguments as there."""
    return VGG(16, n_class, pretrained_model, label_names=label_names)


def VGG16BN(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> VGG:
    """A `VGG` of 16 layers with batch normalizations; arguments as there."""
    return VGG(16, n_class, pretrained_model, label_names=label_names, norm="batch")


def VGG19(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> VGG:
    """A `VGG` of 19 layers; arguments as there."""
    return VGG(19, n_class, pretrained_model, label_names=label_names)


def VGG19BN(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> VGG:
    """A `VGG` of 19 layers with batch normalizations; arguments as there."""
    return VGG(19, n_class, pretrained_model, label_names=label_names, norm="batch")
