"""SSD, a one-stage detector (Liu et al., 2016)."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.model.ssd.loss import multibox_loss
    from cvzoo.links.model.ssd.multibox_coder import MultiboxCoder
    from cvzoo.links.model.ssd.ssd import SSD, SSD300, SSD512, Multibox, Normalize, VGG16Extractor300, VGG16Extractor512
    from cvzoo.transforms.random_crop_with_bbox_constraints import random_crop_with_bbox_constraints
    from cvzoo.transforms.random_distort import random_distort
    from cvzoo.transforms.resize_with_random_interpolation import resize_with_random_interpolation

__all__ = [
    "Multibox",
    "multibox_loss",
    "MultiboxCoder",
    "Normalize",
    "random_crop_with_bbox_constraints",
    "random_distort",
    "resize_with_random_interpolation",
    "SSD",
    "SSD300",
    "SSD512",
    "VGG16Extractor300",
    "VGG16Extractor512",
]

import_on_demand(__name__)
