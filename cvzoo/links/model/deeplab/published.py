"""The DeepLabV3s that torchvision publishes, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.deeplab.deeplab_v3 import DeepLabV3


def DeepLabV3ResNet50(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    width: float = 1.0,
    short: int = 520,
) -> DeepLabV3:
    """A `DeepLabV3` on resnet50; arguments as there."""
    return DeepLabV3("resnet50", n_class, pretrained_model, label_names=label_names, width=width, short=short)


def DeepLabV3ResNet101(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    width: float = 1.0,
    short: int = 520,
) -> DeepLabV3:
    """A `DeepLabV3` on resnet101; arguments as there."""
    return DeepLabV3("resnet101", n_class, pretrained_model, label_names=label_names, width=width, short=short)


def DeepLabV3MobileNetV3Large(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    width: float = 1.0,
    short: int = 520,
) -> DeepLabV3:
    """A `DeepLabV3` on mobilenet_v3_large; arguments as there."""
    return DeepLabV3("mobilenet_v3_large", n_class, pretrained_model, label_names=label_names, width=width, short=short)
