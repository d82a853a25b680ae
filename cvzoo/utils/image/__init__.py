"""ChainerCV's `chainercv.utils.image`: its names, which other rooms define."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.images.read_image import read_image
    from cvzoo.images.read_label import read_label
    from cvzoo.images.write_image import write_image
    from cvzoo.visualizations.tile_images import tile_images

__all__ = [
    "read_image",
    "read_label",
    "tile_images",
    "write_image",
]

import_on_demand(__name__)
