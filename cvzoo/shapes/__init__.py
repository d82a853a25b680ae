"""Checks and arithmetic of shapes."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.shapes.check import check_shape, pair
    from cvzoo.shapes.sizes import conv_out_size, deconv_out_size, end_pad, pads

__all__ = ["check_shape", "conv_out_size", "deconv_out_size", "end_pad", "pads", "pair"]

import_on_demand(__name__)
