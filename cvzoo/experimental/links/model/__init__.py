"""ChainerCV's `chainercv.experimental.links.model`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.experimental.links.model import fcis, pspnet, yolo

__all__ = [
    "fcis",
    "pspnet",
    "yolo",
]

import_on_demand(__name__)
