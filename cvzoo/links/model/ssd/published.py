"""The SSDs that others know by a name."""

import os
from collections.abc import Sequence

from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.model.ssd.config import SSD300_SETTINGS, SSD512_SETTINGS
from cvzoo.links.model.ssd.ssd import SSD
from cvzoo.links.model.ssd.weights import SSD300_WEIGHTS, SSD512_WEIGHTS

_ONLY_VGG16 = (None, "imagenet")  # whose file does not say how the rest is built


def SSD300(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> SSD:
    """An `SSD` that sees 300 x 300 pixels; arguments as there.

    pretrained_model: "voc0712" (the authors'), "voc0712_chainercv" (trained anew), "coco" (torchvision's, whose default
        boxes are others), "voc0712_gluon", "coco_gluon" (gluon-cv's), "imagenet" (VGG16 alone, to train on), or a path
    Raises ValueRangeError if the file's network sees another size.
    """
    settings = SSD300_SETTINGS if pretrained_model in _ONLY_VGG16 else None
    model = SSD(n_fg_class, pretrained_model, label_names=label_names, settings=settings, records=SSD300_WEIGHTS)
    return _of_size(model, 300)


def SSD512(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> SSD:
    """An `SSD` that sees 512 x 512 pixels; arguments as there.

    pretrained_model: "voc0712" (the authors'), "voc0712_chainercv" (trained anew), "voc0712_gluon", "coco_gluon"
        (gluon-cv's), "imagenet" (VGG16 alone, to train on), or a path
    Raises ValueRangeError if the file's network sees another size.
    """
    settings = SSD512_SETTINGS if pretrained_model in _ONLY_VGG16 else None
    model = SSD(n_fg_class, pretrained_model, label_names=label_names, settings=settings, records=SSD512_WEIGHTS)
    return _of_size(model, 512)


def _of_size(model: SSD, insize: int) -> SSD:
    if model.insize != insize:
        raise ValueRangeError(
            f"SSD{insize}: the file holds an SSD of another size",
            expected=insize,
            got=model.insize,
            hint="SSD(pretrained_model=...) takes any",
        )
    return model
