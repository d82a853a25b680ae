"""The FCNs that torchvision publishes, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.dense_backbone import Backbone
from cvzoo.links.model.fcn.fcn import FCN
from cvzoo.links.model.variant import variant


def _build(
    backbone: Backbone,
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    width: float = 1.0,
    short: int = 520,
) -> FCN:
    return FCN(backbone, n_class, pretrained_model, label_names=label_names, width=width, short=short)


FCNResNet50 = variant("FCNResNet50", _build, "resnet50", "A `FCN` on resnet50")
FCNResNet101 = variant("FCNResNet101", _build, "resnet101", "A `FCN` on resnet101")
