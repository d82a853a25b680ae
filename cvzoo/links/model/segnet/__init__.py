"""SegNet, a semantic segmentation network (Badrinarayanan et al., 2017)."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.model.segnet.segnet_basic import SegNetBasic

__all__ = [
    "SegNetBasic",
]

import_on_demand(__name__)
