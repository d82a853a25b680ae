"""The DeepLabV3s that torchvision publishes, by name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.deeplab.deeplab_v3 import DeepLabV3
from cvzoo.links.model.dense_backbone import Backbone
from cvzoo.links.model.variant import variant


def _build(
    backbone: Backbone,
    n_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
    width: float = 1.0,
    short: int = 520,
) -> DeepLabV3:
    return DeepLabV3(backbone, n_class, pretrained_model, label_names=label_names, width=width, short=short)


DeepLabV3ResNet50 = variant("DeepLabV3ResNet50", _build, "resnet50", "A `DeepLabV3` on resnet50")
DeepLabV3ResNet101 = variant("DeepLabV3ResNet101", _build, "resnet101", "A `DeepLabV3` on resnet101")
DeepLabV3MobileNetV3Large = variant(
    "DeepLabV3MobileNetV3Large", _build, "mobilenet_v3_large", "A `DeepLabV3` on mobilenet_v3_large"
)
