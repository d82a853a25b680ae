"""The SSDLite that others know by a name."""

import os
from collections.abc import Sequence

from cvzoo.links.model.ssdlite.config import SSDLiteConfig
from cvzoo.links.model.ssdlite.ssdlite import SSDLite


def SSDLite320MobileNetV3Large(
    n_fg_class: int | None = None,
    pretrained_model: str | os.PathLike | None = None,
    *,
    label_names: Sequence[str] | None = None,
) -> SSDLite:
    """An `SSDLite` as torchvision's `ssdlite320_mobilenet_v3_large`; arguments as there, COCO's weights are "coco"."""
    return SSDLite(n_fg_class, pretrained_model, label_names=label_names, settings=SSDLiteConfig())
