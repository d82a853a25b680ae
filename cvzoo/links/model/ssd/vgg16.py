"""VGG16 backbone of SSD: without its last layers, with extra layers of coarser maps."""

from collections.abc import Sequence
from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import switches
from cvzoo.initializers.uniform import LeCunUniform
from cvzoo.links.chain import Chain
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import fused_convolution
from cvzoo.links.link import Link
from cvzoo.links.model.ssd.config import Extra
from cvzoo.typing.aliases import Array


class Normalize(Link):
    """L2 normalization over channels with a trained scale: scale * x / (|x| + eps) (ParseNet, Liu et al., 2015).

    n_channel: C
    initial: initial value of `scale` (C,)

    Source: Liu et al., ParseNet, 2015, section 3.3; SSD's conv4_3 starts from 20.
    """

    def __init__(self, n_channel: int, initial: Any = 1, eps: float = 1e-5):
        self.eps = eps
        with self.init_scope():
            self.scale = Parameter(initial, (n_channel,))

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape (B, C, H, W)."""
        length = F.norm(x, axis=1, keepdims=True) + self.eps
        return F.multiply(x, F.reshape(self.scale, (1, -1, 1, 1))) / length


# ksize, stride and pad of the second convolution of each level after conv7
_WINDOWS = {"halve": (3, 2, 1), "valid": (3, 1, 0), "valid4": (4, 1, 1)}


class SSDVGG16Extractor(Chain):
    """VGG16 backbone of SSD (Liu et al., 2016): maps conv4_3 (normalized), conv7, conv8_2, conv9_2 ...

    extras: what follows conv7, see `SSDConfig`; four levels for 300 x 300, five for 512 x 512
    base_channels: of the first convolution

    `channels` are the maps' channels. conv6 and conv7 are the fully connected layers of VGG16, subsampled; conv6 has a
    dilation of 6.
    Source: Liu et al., SSD: Single Shot MultiBox Detector, ECCV 2016, section 3; the names of the levels as there.
    """

    def __init__(self, extras: Sequence[Extra] = ("halve", "halve", "valid", "valid"), *, base_channels: int = 64):
        n = base_channels
        with self.init_scope():
            self.conv1_1 = _conv(3, n)
            self.conv1_2 = _conv(n, n)
            self.conv2_1 = _conv(n, 2 * n)
            self.conv2_2 = _conv(2 * n, 2 * n)
            self.conv3_1 = _conv(2 * n, 4 * n)
            self.conv3_2 = _conv(4 * n, 4 * n)
            self.conv3_3 = _conv(4 * n, 4 * n)
            self.conv4_1 = _conv(4 * n, 8 * n)
            self.conv4_2 = _conv(8 * n, 8 * n)
            self.conv4_3 = _conv(8 * n, 8 * n)
            self.norm4 = Normalize(8 * n, 20)
            self.conv5_1 = _conv(8 * n, 8 * n)
            self.conv5_2 = _conv(8 * n, 8 * n)
            self.conv5_3 = _conv(8 * n, 8 * n)
            self.conv6 = _conv(8 * n, 16 * n, pad=6, dilate=6)
            self.conv7 = _conv(16 * n, 16 * n, 1, pad=0)
        self.channels: tuple[int, ...] = (8 * n, 16 * n)
        self.n_extra = len(extras)
        for i, extra in enumerate(extras):
            mid, out = (4 * n, 8 * n) if i == 0 else (2 * n, 4 * n)
            ksize, stride, pad = _WINDOWS[extra]
            self.add_link(f"conv{8 + i}_1", _conv(self.channels[-1], mid, 1, pad=0))
            self.add_link(f"conv{8 + i}_2", _conv(mid, out, ksize, stride, pad))
            self.channels += (out,)

    def forward(self, x: Variable | Array) -> list[Variable]:
        """(B, channels[i], H, W) each, the finest first, of x (B, 3, H, W)."""
        h = _halved(conv_relu(self.conv1_2, conv_relu(self.conv1_1, x)))
        h = _halved(conv_relu(self.conv2_2, conv_relu(self.conv2_1, h)))
        h = _halved(conv_relu(self.conv3_3, conv_relu(self.conv3_2, conv_relu(self.conv3_1, h))))
        h = conv_relu(self.conv4_3, conv_relu(self.conv4_2, conv_relu(self.conv4_1, h)))
        maps = [self.norm4(h)]
        h = conv_relu(self.conv5_3, conv_relu(self.conv5_2, conv_relu(self.conv5_1, _halved(h))))
        h = F.max_pooling_2d(h, 3, 1, 1, cover_all=False)
        h = conv_relu(self.conv7, conv_relu(self.conv6, h))
        maps.append(h)
        convs = {name: link for name, link in self.named_children() if isinstance(link, Convolution2D)}
        for i in range(8, 8 + self.n_extra):
            h = conv_relu(convs[f"conv{i}_2"], conv_relu(convs[f"conv{i}_1"], h))
            maps.append(h)
        return maps


def conv_relu(conv: Convolution2D, x: Any) -> Variable:
    """relu(conv(x)) (B, out_channels, OH, OW) of x (B, in_channels, H, W)."""
    if switches.enable_backprop or not conv.W.is_initialized:
        return F.relu(conv(x))
    return fused_convolution(conv)(x, activation="relu")


def _conv(n_in: int, n_out: int, ksize: int = 3, stride: int = 1, pad: int = 1, dilate: int = 1) -> Convolution2D:
    return Convolution2D(n_in, n_out, ksize, stride, pad, initialW=LeCunUniform(), dilate=dilate)


def _halved(x: Any) -> Variable:
    # a side of 75 becomes 38, as in Caffe
    return F.max_pooling_2d(x, 2, 2, cover_all=True)


def VGG16Extractor300() -> SSDVGG16Extractor:
    """The extractor of `SSD300`: six maps of 300 x 300 pixels."""
    return SSDVGG16Extractor()


def VGG16Extractor512() -> SSDVGG16Extractor:
    """The extractor of `SSD512`: seven maps of 512 x 512 pixels."""
    return SSDVGG16Extractor(("halve", "halve", "halve", "halve", "valid4"))
