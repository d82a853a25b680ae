"""What the YOLO networks are built of, and how darknet's numbers get into them."""

import os
import pathlib
from collections.abc import Mapping
from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_activation import leaky
from cvzoo.links.model.darknet.convolution import BN_EPS, take_convolution
from cvzoo.links.model.pretrained import pretrained_path
from cvzoo.links.model.yolo.chainercv_names import from_chainercv, is_chainercv_yolo
from cvzoo.weights.darknet import DarknetWeightsFile
from cvzoo.weights.record import Weights
from cvzoo.weights.sniff import read_arrays


def block(in_channels: int, out_channels: int, ksize: int, stride: int = 1, *, initialW: Any = None) -> Conv2DBNActiv:
    """A convolution that keeps the size (at stride 1), batch normalization and leaky ReLU, as in darknet."""
    return Conv2DBNActiv(
        in_channels, out_channels, ksize, stride, ksize // 2, initialW=initialW, activ=leaky, bn_eps=BN_EPS
    )


def pool(x: Any) -> Variable:
    """Half the height and width."""
    return F.max_pooling_2d(x, 2, 2, cover_all=False)


def load_pretrained(model: Chain, pretrained_model: str | os.PathLike, records: Mapping[str, Weights]) -> None:
    """Fill the model from darknet's `.weights`, or from a file with names: ChainerCV's, or one that cvzoo saved.

    pretrained_model: a name in `records`, or a path
    Raises FileFormatError that names the layer in which a `.weights` ends or how much is left over;
    WeightsMismatchError that lists the names of another file.
    """
    path = pretrained_path(pretrained_model, records)
    if path.suffix.lower() == ".weights":
        load_darknet(model, path)
    else:
        arrays = read_arrays(path)
        model.load_arrays(from_chainercv(arrays) if is_chainercv_yolo(arrays) else arrays)


def load_darknet(model: Chain, path: str | os.PathLike) -> None:
    """Fill all convolutions of the model, in the order they were made in, from a `.weights` of exactly its size."""
    with DarknetWeightsFile(pathlib.Path(path)) as file:
        inside = set()
        for name, link in model.namedlinks():
            if isinstance(link, Conv2DBNActiv):
                inside.add(link.conv)
                _take(file, name, link.conv, link.bn)
            elif isinstance(link, Convolution2D) and link not in inside:
                _take(file, name, link, None)
        file.expect_end()


def _take(file: DarknetWeightsFile, name: str, conv: Convolution2D, bn: Any) -> None:
    take_convolution(file, conv, bn, in_channels=conv.W.shape[1] * conv.groups, name=name)
