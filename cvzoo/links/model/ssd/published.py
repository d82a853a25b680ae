"""The SSDs that others know by a name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.ssd.settings import SSD300_SETTINGS, SSD512_SETTINGS
from cvzoo.links.model.ssd.ssd import SSD
from cvzoo.links.model.ssd.weights import SSD300_WEIGHTS, SSD512_WEIGHTS


def SSD300(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> SSD:
    """An `SSD` that sees 300 x 300 pixels; arguments as there.

    pretrained_model: "voc0712" (the authors'), "voc0712_chainercv" (trained anew), "coco" (torchvision's, whose default
        boxes are others), "imagenet" (VGG16 alone, to train on), or a path
    """
    settings = SSD300_SETTINGS if pretrained_model in (None, "imagenet") else None
    return SSD(n_fg_class, pretrained_model, label_names=label_names, settings=settings, records=SSD300_WEIGHTS)


def SSD512(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> SSD:
    """An `SSD` that sees 512 x 512 pixels; arguments as there.

    pretrained_model: "voc0712" (the authors'), "voc0712_chainercv" (trained anew), "imagenet" (VGG16 alone, to train
        on), or a path
    """
    return SSD(n_fg_class, pretrained_model, label_names=label_names, settings=SSD512_SETTINGS, records=SSD512_WEIGHTS)
