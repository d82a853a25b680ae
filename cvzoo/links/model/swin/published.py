"""The Swin Transformers of the two papers, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.swin.swin import SwinTransformer

Source = str | os.PathLike | None


def SwinT(
    n_class: int | None = None, pretrained_model: Source = None, *, label_names: Sequence[str] | None = None
) -> SwinTransformer:
    """The first paper's tiny `SwinTransformer`, 28 million parameters; arguments as there."""
    return SwinTransformer("t", n_class, pretrained_model, label_names=label_names)


def SwinS(
    n_class: int | None = None, pretrained_model: Source = None, *, label_names: Sequence[str] | None = None
) -> SwinTransformer:
    """The first paper's small `SwinTransformer`, 50 million parameters; arguments as there."""
    return SwinTransformer("s", n_class, pretrained_model, label_names=label_names)


def SwinB(
    n_class: int | None = None, pretrained_model: Source = None, *, label_names: Sequence[str] | None = None
) -> SwinTransformer:
    """The first paper's base `SwinTransformer`, 88 million parameters; arguments as there."""
    return SwinTransformer("b", n_class, pretrained_model, label_names=label_names)


def SwinV2T(
    n_class: int | None = None, pretrained_model: Source = None, *, label_names: Sequence[str] | None = None
) -> SwinTransformer:
    """The second paper's tiny `SwinTransformer`, 28 million parameters; arguments as there."""
    return SwinTransformer("v2_t", n_class, pretrained_model, label_names=label_names)


def SwinV2S(
    n_class: int | None = None, pretrained_model: Source = None, *, label_names: Sequence[str] | None = None
) -> SwinTransformer:
    """The second paper's small `SwinTransformer`, 50 million parameters; arguments as there."""
    return SwinTransformer("v2_s", n_class, pretrained_model, label_names=label_names)


def SwinV2B(
    n_class: int | None = None, pretrained_model: Source = None, *, label_names: Sequence[str] | None = None
) -> SwinTransformer:
    """The second paper's base `SwinTransformer`, 88 million parameters; arguments as there."""
    return SwinTransformer("v2_b", n_class, pretrained_model, label_names=label_names)
