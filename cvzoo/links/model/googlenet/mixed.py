"""Common parts of GoogLeNet and Inception v3: the config, and blocks of parallel branches."""

import dataclasses
from collections.abc import Sequence
from typing import Literal, NamedTuple

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.initializers.normal import HeNormal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DBNActiv
from cvzoo.links.model.config import (
    AbstractConfig,
    classes_field,
    config_field,
    dropout_field,
    preparation_field,
    width_field,
)
from cvzoo.links.model.preparation.center_crop import CenterCrop
from cvzoo.typing.aliases import Array

EPS = 1e-3  # TensorFlow's, in which Inception v3 was trained
# the last branch: 3 x 3 average or max pooling, then its layers; or max pooling of stride 2 alone
Pool = Literal["mean", "max", "halve"]


class Layer(NamedTuple):
    """A convolution of a branch.

    name: of the link
    channels: of its output
    ksize: a number or (rows, columns)
    stride: 1 keeps the size; with 2 there is no padding
    """

    name: str
    channels: int
    ksize: int | tuple[int, int] = 1
    stride: int = 1


def convolution(in_channels: int, layer: Layer) -> Conv2DBNActiv:
    """The convolution with its normalization and relu."""
    kh, kw = (layer.ksize, layer.ksize) if isinstance(layer.ksize, int) else layer.ksize
    pad = (kh // 2, kw // 2) if layer.stride == 1 else 0
    start = HeNormal()
    return Conv2DBNActiv(in_channels, layer.channels, (kh, kw), layer.stride, pad, initialW=start, bn_eps=EPS)


class Mixed(Chain):
    """Inception block: the outputs of all branches, concatenated along the channels.

    in_channels: of x
    branches: the layers of each; if the names of the last two of a branch end in "a" and "b", they are parallel
    pool: pooling at the begin of the last branch

    `channels` is the number of output channels.
    """

    def __init__(self, in_channels: int, branches: Sequence[Sequence[Layer]], pool: Pool):
        self.pool = pool
        self.branches = tuple(tuple(layer.name for layer in branch) for branch in branches)
        self.channels = 0
        for branch in branches:
            n = in_channels
            for layer in branch:
                self.add_link(layer.name, convolution(n, layer))
                n = n if layer.name.endswith("a") else layer.channels
            ends = 2 if len(branch) > 1 and branch[-1].name.endswith("b") else 1
            self.channels += sum(layer.channels for layer in branch[-ends:]) if branch else in_channels

    def forward(self, x: Variable | Array) -> Variable:
        """(B, channels, H', W') of x (B, in_channels, H, W)."""
        outputs = []
        for names in self.branches[:-1]:
            outputs += self._branch(names, x)
        if self.pool == "mean":
            x = F.average_pooling_2d(x, 3, 1, 1)
        elif self.pool == "max":
            x = F.max_pooling_2d(x, 3, 1, 1, cover_all=False)
        else:
            x = F.max_pooling_2d(x, 3, 2, cover_all=False)
        outputs += self._branch(self.branches[-1], x)
        return F.concat(outputs, axis=1)

    def _branch(self, names: Sequence[str], x: Variable | Array) -> list[Variable]:
        h = as_variable(x)
        if len(names) > 1 and names[-1].endswith("b"):
            for name in names[:-2]:
                h = self[name](h)
            return [self[name](h) for name in names[-2:]]
        for name in names:
            h = self[name](h)
        return [h]


@dataclasses.dataclass(frozen=True, kw_only=True)
class InceptionConfig(AbstractConfig):
    """What a GoogLeNet or an Inception v3 is built from; its fields are the constructors' arguments."""

    n_class: int = classes_field()
    aux: bool = config_field(help="also the classifiers in the middle, which training alone needs")
    width: float = width_field()
    dropout: float = dropout_field()
    preparation: CenterCrop = preparation_field()
