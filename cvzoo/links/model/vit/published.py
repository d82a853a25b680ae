"""The Vision Transformers of the paper, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.vit.vit import ViT

Source = str | os.PathLike | None
Names = Sequence[str] | None


def ViTB16(
    n_class: int | None = None, pretrained_model: Source = None, *, label_names: Names = None, insize: int | None = None
) -> ViT:
    """The base `ViT` on patches of 16 pixels, 87 million parameters; arguments as there."""
    return ViT("b_16", n_class, pretrained_model, label_names=label_names, insize=insize)


def ViTB32(
    n_class: int | None = None, pretrained_model: Source = None, *, label_names: Names = None, insize: int | None = None
) -> ViT:
    """The base `ViT` on patches of 32 pixels, 88 million parameters; arguments as there."""
    return ViT("b_32", n_class, pretrained_model, label_names=label_names, insize=insize)


def ViTL16(
    n_class: int | None = None, pretrained_model: Source = None, *, label_names: Names = None, insize: int | None = None
) -> ViT:
    """The large `ViT` on patches of 16 pixels, 304 million parameters; arguments as there."""
    return ViT("l_16", n_class, pretrained_model, label_names=label_names, insize=insize)


def ViTL32(
    n_class: int | None = None, pretrained_model: Source = None, *, label_names: Names = None, insize: int | None = None
) -> ViT:
    """The large `ViT` on patches of 32 pixels, 307 million parameters; arguments as there."""
    return ViT("l_32", n_class, pretrained_model, label_names=label_names, insize=insize)


def ViTH14(
    n_class: int | None = None, pretrained_model: Source = None, *, label_names: Names = None, insize: int | None = None
) -> ViT:
    """The huge `ViT` on patches of 14 pixels, 632 million parameters; arguments as there."""
    return ViT("h_14", n_class, pretrained_model, label_names=label_names, insize=insize)
