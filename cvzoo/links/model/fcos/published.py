"""The FCOS that others know by a name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.fcos.config import FCOSConfig
from cvzoo.links.model.fcos.fcos import FCOS


def FCOSResNet50FPN(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> FCOS:
    """An `FCOS` as torchvision's `fcos_resnet50_fpn`; arguments as there, COCO's weights are "coco"."""
    return FCOS(n_fg_class, pretrained_model, label_names=label_names, settings=FCOSConfig())
