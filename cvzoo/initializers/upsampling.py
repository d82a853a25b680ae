"""Initializer of transposed convolutions for bilinear upsampling."""

import numpy as np

from cvzoo.errors.exceptions import ShapeError
from cvzoo.typing.aliases import Array


class UpsamplingDeconvFilter:
    """Fills w (C, 1 or C, K, K) with the bilinear kernel of each channel.

    Source: Long et al., Fully Convolutional Networks, CVPR 2015 (Caffe's `bilinear` filler).
    """

    def __call__(self, array: Array) -> None:
        if array.ndim != 4 or array.shape[2] != array.shape[3] or array.shape[1] not in (1, array.shape[0]):
            raise ShapeError("UpsamplingDeconvFilter fills (C, 1 or C, K, K)", got=array.shape)
        size = array.shape[2]
        factor = (size + 1) // 2
        centre = factor - 1 if size % 2 else factor - 0.5
        line = 1 - np.abs(np.arange(size) - centre) / factor
        array.fill(0)
        own = np.arange(array.shape[0])
        array[own, own if array.shape[1] > 1 else 0] = np.outer(line, line)
