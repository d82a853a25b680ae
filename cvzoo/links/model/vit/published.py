"""The Vision Transformers of the paper, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.variant import variant
from cvzoo.links.model.vit.plan import Size
from cvzoo.links.model.vit.vit import ViT


def _vit(
    size: Size,
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    insize: int | None = None,
) -> ViT:
    return ViT(size, n_class, pretrained_model, label_names=label_names, insize=insize)


ViTB16 = variant("ViTB16", _vit, "b_16", "The base `ViT` on patches of 16 pixels, 87 million parameters")
ViTB32 = variant("ViTB32", _vit, "b_32", "The base `ViT` on patches of 32 pixels, 88 million parameters")
ViTL16 = variant("ViTL16", _vit, "l_16", "The large `ViT` on patches of 16 pixels, 304 million parameters")
ViTL32 = variant("ViTL32", _vit, "l_32", "The large `ViT` on patches of 32 pixels, 307 million parameters")
ViTH14 = variant("ViTH14", _vit, "h_14", "The huge `ViT` on patches of 14 pixels, 632 million parameters")
