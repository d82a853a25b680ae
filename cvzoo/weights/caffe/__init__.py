"""Readers of Caffe's `.caffemodel` and `.prototxt`."""

from cvzoo.weights.caffe.net import CaffeLayer, CaffeNet, read_caffe

__all__ = ["CaffeLayer", "CaffeNet", "read_caffe"]
