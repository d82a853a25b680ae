"""The RetinaNets that others know by a name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.retinanet.config import RetinaNetConfig
from cvzoo.links.model.retinanet.retinanet import RetinaNet
from cvzoo.links.model.retinanet.weights import RESNET50_FPN, RESNET50_FPN_V2


def retinanet_resnet18(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RetinaNet:
    """A `RetinaNet` on a ResNet-18; arguments as there."""
    settings = RetinaNetConfig(n_layer=18) if pretrained_model is None else None
    if pretrained_model in ("imagenet", "imagenet_v2"):
        settings = RetinaNetConfig(n_layer=18, norm="frozen")
    return RetinaNet(n_fg_class, pretrained_model, label_names=label_names, settings=settings)


def retinanet_resnet50_fpn(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RetinaNet:
    """A `RetinaNet` as torchvision's `retinanet_resnet50_fpn`; arguments as there, COCO's weights are "coco".

    A file of a detector is built as the file has it.
    """
    return RetinaNet(n_fg_class, pretrained_model, label_names=label_names, default_settings=RESNET50_FPN)


def retinanet_resnet50_fpn_v2(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> RetinaNet:
    """A `RetinaNet` as torchvision's `retinanet_resnet50_fpn_v2`; arguments as there, COCO's weights are "coco_v2".

    A file of a detector is built as the file has it.
    """
    return RetinaNet(n_fg_class, pretrained_model, label_names=label_names, default_settings=RESNET50_FPN_V2)
