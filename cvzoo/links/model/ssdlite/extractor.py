"""SSDLite's backbone."""

from collections.abc import Sequence

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import GraphError
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_bn_activ import ConvNormActiv
from cvzoo.links.model.inverted_residual import InvertedResidual
from cvzoo.links.model.mobilenet_v3.extractor import MobileNetV3Extractor
from cvzoo.typing.aliases import Array

# the layer whose first convolution is the finest map: the last of stride 16
SPLIT = 13


class SSDLiteExtractor(Chain):
    """Feature extractor of SSDLite: maps of MobileNetV3 (large) of strides 16 and 32, and of extra blocks of 64 and on.

    extras: channels of the coarser maps, each with half the side
    width, reduced_tail, eps: see `SSDLiteConfig`

    `channels` are the maps' channels.
    """

    def __init__(self, extras: Sequence[int], *, width: float = 1.0, reduced_tail: bool = True, eps: float = 1e-3):
        with self.init_scope():
            self.base = MobileNetV3Extractor("large", width=width, reduced_tail=reduced_tail, eps=eps)
            self.extras = ChainList()
            n_in = self.base.channels[-1]
            for n_out in extras:
                self.extras.append(ExtraBlock(n_in, n_out, eps=eps))
                n_in = n_out
        fine = self._split()[0].conv.out_channels
        self.channels = (fine, self.base.channels[-1], *extras)

    def _split(self) -> tuple[ConvNormActiv, InvertedResidual]:
        """The expansion whose output is the finest map, and its block."""
        block = self.base.layers[SPLIT]
        if not isinstance(block, InvertedResidual) or block.expand is None:
            raise GraphError(
                "SSDLite: the layer that gives the finest map is not an inverted residual with an expansion"
            )
        return block.expand, block

    def forward(self, x: Variable | Array) -> list[Variable]:
        """(B, channels[i], H, W) each, the finest first, of x (B, 3, H, W)."""
        layers = self.base.layers
        for layer in layers[:SPLIT]:
            x = layer(x)
        expand, block = self._split()
        maps = [expand(x)]
        h = block.after_expand(maps[0])
        for layer in layers[SPLIT + 1 :]:
            h = layer(h)
        maps.append(h)
        for extra in self.extras:
            h = extra(h)
            maps.append(h)
        return maps


class ExtraBlock(Chain):
    """1 x 1 to half the channels, 3 x 3 depthwise with stride 2, 1 x 1 to n_out."""

    def __init__(self, n_in: int, n_out: int, *, eps: float):
        mid = n_out // 2
        with self.init_scope():
            self.conv1 = ConvNormActiv(n_in, mid, 1, activ=F.relu6, eps=eps, decay=0.97)
            self.conv2 = ConvNormActiv(mid, mid, 3, 2, groups=mid, activ=F.relu6, eps=eps, decay=0.97)
            self.conv3 = ConvNormActiv(mid, n_out, 1, activ=F.relu6, eps=eps, decay=0.97)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, n_out, H / 2, W / 2), sides rounded up, of x (B, n_in, H, W)."""
        return self.conv3(self.conv2(self.conv1(x)))
