"""VGG networks (Simonyan and Zisserman, 2015)."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.model.vgg.vgg import VGG16

__all__ = [
    "VGG16",
]

import_on_demand(__name__)
