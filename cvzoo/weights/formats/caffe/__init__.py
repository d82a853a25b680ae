"""Readers of Caffe's `.caffemodel` and `.prototxt`."""

from typing import TYPE_CHECKING

from cvzoo.lazy_imports.on_demand import import_on_demand

if TYPE_CHECKING:
    from cvzoo.weights.formats.caffe.net import CaffeLayer, CaffeNet, read_caffe

__all__ = ["CaffeLayer", "CaffeNet", "read_caffe"]

import_on_demand(__name__)
