"""What the YOLO networks are built of, and how darknet's numbers get into them."""

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_activation import leaky
from cvzoo.links.model.darknet.convolution import BN_EPS, take_convolution
from cvzoo.weights.formats.darknet import DarknetWeightsFile


def block(in_channels: int, out_channels: int, ksize: int, stride: int = 1, *, initialW: Any = None) -> Conv2DBNActiv:
    """A convolution that keeps the size (at stride 1), batch normalization and leaky ReLU, as in darknet."""
    return Conv2DBNActiv(
        in_channels, out_channels, ksize, stride, ksize // 2, initialW=initialW, activ=leaky, bn_eps=BN_EPS
    )


def pool(x: Any) -> Variable:
    """Half the height and width."""
    return F.max_pooling_2d(x, 2, 2, cover_all=False)


def load_darknet(
    model: Chain, path: str | os.PathLike, *, instead: Mapping[str, Convolution2D] = MappingProxyType({})
) -> None:
    """Fill all convolutions of the model, in the order they were made in, from a `.weights` of exactly its size.

    instead: path -> convolution to be filled in place of the model's
    Raises FileFormatError that names the layer in which the file ends or how much is left over.
    """
    with DarknetWeightsFile(path) as file:
        inside = set()
        for name, link in model.namedlinks():
            if isinstance(link, Conv2DBNActiv):
                inside.add(link.conv)
                _take(file, name, link.conv, link.bn)
            elif isinstance(link, Convolution2D) and link not in inside:
                _take(file, name, instead.get(name.strip("/"), link), None)
        file.expect_end()


def _take(file: DarknetWeightsFile, name: str, conv: Convolution2D, bn: Any) -> None:
    take_convolution(file, conv, bn, in_channels=conv.W.shape[1] * conv.groups, name=name)
