"""The FCNs that torchvision publishes, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.fcn.fcn import FCN


def FCNResNet50(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    width: float = 1.0,
    short: int = 520,
) -> FCN:
    """A `FCN` on resnet50; arguments as there."""
    return FCN("resnet50", n_class, pretrained_model, label_names=label_names, width=width, short=short)


def FCNResNet101(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    width: float = 1.0,
    short: int = 520,
) -> FCN:
    """A `FCN` on resnet101; arguments as there."""
    return FCN("resnet101", n_class, pretrained_model, label_names=label_names, width=width, short=short)
