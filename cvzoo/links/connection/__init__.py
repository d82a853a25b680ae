"""Layers."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.links.connection.conv_2d_bn_activ import Conv2DActiv, Conv2DBNActiv, SeparableConv2DBNActiv
    from cvzoo.links.connection.se_block import SEBlock

__all__ = [
    "Conv2DActiv",
    "Conv2DBNActiv",
    "SEBlock",
    "SeparableConv2DBNActiv",
]

import_on_demand(__name__)
