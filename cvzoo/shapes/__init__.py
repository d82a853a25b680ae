"""Checks and arithmetic of shapes."""

from cvzoo.shapes.check import check_shape, pair
from cvzoo.shapes.pads import end_pad, pads
from cvzoo.shapes.sizes import conv_out_size, deconv_out_size

__all__ = ["check_shape", "conv_out_size", "deconv_out_size", "end_pad", "pads", "pair"]
