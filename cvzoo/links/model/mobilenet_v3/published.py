"""The MobileNetV3s of the paper, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.mobilenet_v3.mobilenet_v3 import MobileNetV3


def MobileNetV3Large(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> MobileNetV3:
    """A large `MobileNetV3`; arguments as there."""
    return MobileNetV3("large", n_class, pretrained_model, label_names=label_names)


def MobileNetV3Small(
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> MobileNetV3:
    """A small `MobileNetV3`; arguments as there."""
    return MobileNetV3("small", n_class, pretrained_model, label_names=label_names)
