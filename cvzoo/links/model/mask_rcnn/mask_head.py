"""The third head: which pixels of a region belong to its object."""

from typing import Any

import numpy as np

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import is_device_array
from cvzoo.backends.dispatch import backend_of
from cvzoo.functions.array.dtypes import widened
from cvzoo.initializers.normal import Normal
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.deconvolution_2d import Deconvolution2D
from cvzoo.links.model.faster_rcnn_fpn.box_head import region_conv
from cvzoo.links.model.mask_rcnn.config import MaskHeadConfig
from cvzoo.links.model.resnet.norm import Norm


class MaskHead(Chain):
    """Convolutions, one that doubles the sides, and a map of scores for each class.

    in_channels: of the regions; norm: of the convolutions, None: they have biases
    """

    rows_vary = True

    def __init__(self, in_channels: int, n_fg_class: int, settings: MaskHeadConfig, *, norm: Norm | None = None):
        s = settings
        with self.init_scope():
            self.convs = ChainList()
            width = in_channels
            for _ in range(s.depth):
                self.convs.append(region_conv(width, s.channels, norm))
                width = s.channels
            self.up = Deconvolution2D(width, s.channels, 2, 2, initialW=Normal((2 / (4 * s.channels)) ** 0.5))
            self.out = Convolution2D(s.channels, n_fg_class, 1, initialW=Normal(0.01))

    def features(self, x: Any) -> Variable:
        """(R, channels, 2 * size, 2 * size), what the scores are made of; x: (R, in_channels, size, size)."""
        for conv in self.convs:
            x = conv(x)
        return F.relu(self.up(x))

    def forward(self, x: Any) -> Variable:
        """(R, n_fg_class, 2 * size, 2 * size), before the sigmoid."""
        return self.out(self.features(x))

    def probabilities(self, x: Any, label: np.ndarray) -> np.ndarray:
        """(R, 2 * size, 2 * size) float32 of the class label (R,) of each region alone: the others are not computed."""
        h = widened(self.features(x))
        if is_device_array(h.array):
            return self._on_device(h, label)
        h = h.array
        n, channels, height, width = h.shape
        rows = h.transpose(0, 2, 3, 1).reshape(n, height * width, channels)
        filters = self.out.W.array[label, :, 0, 0]
        # not by BLAS, which would wake all its threads for each region's few numbers
        logit = np.einsum("rpc,rc->rp", rows, filters) + self.out.b.array[label][:, None]
        with np.errstate(over="ignore"):  # 1 / (1 + inf) is the 0 that is meant
            return (1 / (1 + np.exp(-logit))).reshape(n, height, width)

    def _on_device(self, h: Variable, label: Any) -> Any:
        # a GPU computes all classes sooner than it sorts out filters
        logit = widened(self.out(h)).array
        own = logit[backend_of(logit).xp.arange(logit.shape[0]), label]
        return F.sigmoid(own).array
