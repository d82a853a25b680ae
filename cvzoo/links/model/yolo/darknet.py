"""Darknet-19 and Darknet-53, the backbones of YOLOv2 and YOLOv3."""

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_convolution import leaky
from cvzoo.links.link import InitialValue
from cvzoo.links.model.darknet.convolution import BN_EPS, take_convolution
from cvzoo.typing.aliases import Array
from cvzoo.weights.formats.darknet import DarknetWeightsFile


def block(
    in_channels: int, out_channels: int, ksize: int, stride: int = 1, *, initialW: InitialValue = None
) -> Conv2DBNActiv:
    """Convolution with same padding, batch normalization and leaky ReLU, as in darknet."""
    return Conv2DBNActiv(
        in_channels, out_channels, ksize, stride, ksize // 2, initialW=initialW, activ=leaky, bn_eps=BN_EPS
    )


def pool(x: Variable | Array) -> Variable:
    """2 x 2 max pooling: half the height and width."""
    return F.max_pooling_2d(x, 2, 2, cover_all=False)


def load_darknet(
    model: Chain, path: str | os.PathLike, *, instead: Mapping[str, Convolution2D] = MappingProxyType({})
) -> None:
    """Fill all convolutions of the model, in the order they were made in, from a `.weights` of exactly its size.

    instead: path -> convolution that is filled instead of the model's
    Raises FileFormatError that names the layer in which the file ends or how much is left over.
    """
    with DarknetWeightsFile(path) as file:
        # the file has no names: layers follow in the order in which the network defines them
        inside = set()
        for name, link in model.namedlinks():
            if isinstance(link, Conv2DBNActiv):
                # visited once more as a link of its own
                inside.add(link.conv)
                _take(file, name, link.conv, link.bn)
            elif isinstance(link, Convolution2D) and link not in inside:
                _take(file, name, instead.get(name.strip("/"), link), None)
        file.expect_end()


def _take(file: DarknetWeightsFile, name: str, conv: Convolution2D, bn: BatchNormalization | None) -> None:
    take_convolution(file, conv, bn, in_channels=conv.W.shape[1] * conv.groups, name=name)


class Darknet19Extractor(Chain):
    """Darknet-19, the backbone of YOLOv2: its 18 convolutions before the classifier.

    base_channels: of the first convolution; 32 in the paper; the others in proportion
    initialW: initial weights of the convolutions

    `channels` are the maps' channels.
    Source: Redmon and Farhadi, YOLO9000, CVPR 2017, table 6.
    """

    def __init__(self, *, base_channels: int = 32, initialW: InitialValue = None):
        n = base_channels
        self.channels = (16 * n, 32 * n)
        with self.init_scope():
            self.conv1 = block(3, n, 3, initialW=initialW)
            self.conv2 = block(n, 2 * n, 3, initialW=initialW)
            self.conv3 = block(2 * n, 4 * n, 3, initialW=initialW)
            self.conv4 = block(4 * n, 2 * n, 1, initialW=initialW)
            self.conv5 = block(2 * n, 4 * n, 3, initialW=initialW)
            self.conv6 = block(4 * n, 8 * n, 3, initialW=initialW)
            self.conv7 = block(8 * n, 4 * n, 1, initialW=initialW)
            self.conv8 = block(4 * n, 8 * n, 3, initialW=initialW)
            self.conv9 = block(8 * n, 16 * n, 3, initialW=initialW)
            self.conv10 = block(16 * n, 8 * n, 1, initialW=initialW)
            self.conv11 = block(8 * n, 16 * n, 3, initialW=initialW)
            self.conv12 = block(16 * n, 8 * n, 1, initialW=initialW)
            self.conv13 = block(8 * n, 16 * n, 3, initialW=initialW)
            self.conv14 = block(16 * n, 32 * n, 3, initialW=initialW)
            self.conv15 = block(32 * n, 16 * n, 1, initialW=initialW)
            self.conv16 = block(16 * n, 32 * n, 3, initialW=initialW)
            self.conv17 = block(32 * n, 16 * n, 1, initialW=initialW)
            self.conv18 = block(16 * n, 32 * n, 3, initialW=initialW)

    def forward(self, x: Variable | Array) -> tuple[Variable, Variable]:
        """(B, channels[i], H / s, W / s) for s = 16, 32, of x (B, 3, H, W), RGB in [0, 1]."""
        h = pool(self.conv1(x))
        h = pool(self.conv2(h))
        h = pool(self.conv5(self.conv4(self.conv3(h))))
        h = pool(self.conv8(self.conv7(self.conv6(h))))
        h = self.conv11(self.conv10(self.conv9(h)))
        fine = self.conv13(self.conv12(h))
        h = self.conv16(self.conv15(self.conv14(pool(fine))))
        return fine, self.conv18(self.conv17(h))


class ResidualBlock(Chain):
    """Residual block x + conv2(conv1(x)): 1x1 to half the channels, 3x3 back."""

    def __init__(self, channels: int, *, initialW: InitialValue = None):
        with self.init_scope():
            self.conv1 = block(channels, channels // 2, 1, initialW=initialW)
            self.conv2 = block(channels // 2, channels, 3, initialW=initialW)

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape (B, C, H, W)."""
        return F.add(x, self.conv2(self.conv1(x)))


class Stage(Chain):
    """Stage of Darknet-53: a convolution of stride 2 to twice the channels, then residual blocks."""

    def __init__(self, in_channels: int, n_block: int, *, initialW: InitialValue = None):
        with self.init_scope():
            self.down = block(in_channels, 2 * in_channels, 3, 2, initialW=initialW)
            self.blocks = ChainList(*(ResidualBlock(2 * in_channels, initialW=initialW) for _ in range(n_block)))

    def forward(self, x: Variable | Array) -> Variable:
        """(B, 2 * C, H / 2, W / 2) of x (B, C, H, W)."""
        h = self.down(x)
        for each in self.blocks:
            h = each(h)
        return h


class Darknet53Extractor(Chain):
    """Darknet-53, the backbone of YOLOv3: its 52 convolutions before the classifier.

    base_channels: of the first convolution; 32 in the paper; the others in proportion
    blocks: residual blocks of each of the five stages
    initialW: initial weights of the convolutions

    `channels` are the maps' channels.
    Source: Redmon and Farhadi, YOLOv3: An Incremental Improvement, 2018, table 1.
    """

    def __init__(
        self, *, base_channels: int = 32, blocks: Sequence[int] = (1, 2, 8, 8, 4), initialW: InitialValue = None
    ):
        n = base_channels
        n2, n4, n8, n16, n32 = blocks
        self.channels = (8 * n, 16 * n, 32 * n)
        with self.init_scope():
            self.stem = block(3, n, 3, initialW=initialW)
            self.stage2 = Stage(n, n2, initialW=initialW)
            self.stage4 = Stage(2 * n, n4, initialW=initialW)
            self.stage8 = Stage(4 * n, n8, initialW=initialW)
            self.stage16 = Stage(8 * n, n16, initialW=initialW)
            self.stage32 = Stage(16 * n, n32, initialW=initialW)

    def forward(self, x: Variable | Array) -> tuple[Variable, Variable, Variable]:
        """(B, channels[i], H / s, W / s) for s = 8, 16, 32, of x (B, 3, H, W)."""
        h8 = self.stage8(self.stage4(self.stage2(self.stem(x))))
        h16 = self.stage16(h8)
        return h8, h16, self.stage32(h16)
