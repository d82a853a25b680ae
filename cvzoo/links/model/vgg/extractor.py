"""Convolutional layers of VGG (Simonyan and Zisserman, 2015), of any depth and width."""

from collections.abc import Iterator, Sequence
from typing import Literal

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.initializers.normal import HeNormal
from cvzoo.links.chain import Chain
from cvzoo.links.connection.conv_2d_bn_activ import Conv2DActiv, Conv2DBNActiv
from cvzoo.typing.aliases import Array

VGGNorm = Literal["batch"]

# layers, the fully connected ones counted -> convolutions in each of the five stages
DEPTHS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


class VGGExtractor(Chain):
    """VGG backbone (Simonyan and Zisserman, 2015): its feature maps by name, conv1_1, conv1_2, pool1 ... pool5.

    n_layer: 11, 13, 16 or 19
    names: of the feature maps that `forward` returns; layers after the last of them are not built
    base_channels: of the first stage; the others have 2, 4, 8 and 8 times as many
    norm: None, or "batch" for batch normalization after each convolution (eps 1e-5)
    cover_all: whether pooling rounds output sizes up, as Caffe does, or down, as torchvision does
    Raises ValueRangeError for an unknown depth, norm or name.

    `layer_names` are the names of all feature maps that are computed, `channels` those of the maps in `names`.
    Source: Simonyan and Zisserman, Very Deep Convolutional Networks for Large-Scale Image Recognition, ICLR 2015.
    """

    def __init__(
        self,
        n_layer: int = 16,
        names: Sequence[str] = ("pool5",),
        *,
        base_channels: int = 64,
        norm: VGGNorm | None = None,
        cover_all: bool = False,
    ):
        for name, value, known in (("n_layer", n_layer, tuple(DEPTHS)), ("norm", norm, (None, "batch"))):
            if value not in known:
                raise ValueRangeError(
                    f"VGG: {name} is not supported", expected=" or ".join(map(repr, known)), got=repr(value)
                )
        widths = {}
        for stage, count in enumerate(DEPTHS[n_layer]):
            for i in range(count):
                widths[f"conv{stage + 1}_{i + 1}"] = base_channels * min(2**stage, 8)
            widths[f"pool{stage + 1}"] = base_channels * min(2**stage, 8)
        unknown = [name for name in names if name not in widths]
        if unknown or isinstance(names, str) or not names:
            raise ValueRangeError("VGG: names of feature maps are invalid", expected=", ".join(widths), got=repr(names))
        last = max(list(widths).index(name) for name in names)
        self.names = tuple(names)
        self.layer_names = tuple(widths)[: last + 1]
        self.channels = tuple(widths[name] for name in names)
        self.cover_all = cover_all
        n_in = 3
        for name in self.layer_names:
            if name.startswith("conv"):
                self.add_link(name, _convolution(n_in, widths[name], norm))
                n_in = widths[name]

    def stages(self, x: Variable | Array) -> Iterator[tuple[str, Variable]]:
        """Each map's name and the map, as they are computed, of x (B, 3, H, W)."""
        h = x
        for name in self.layer_names:
            h = self[name](h) if name.startswith("conv") else F.max_pooling_2d(h, 2, 2, cover_all=self.cover_all)
            yield name, h

    def forward(self, x: Variable | Array) -> tuple[Variable, ...]:
        """The maps called `names`, (B, channels[i], H', W') each, of x (B, 3, H, W)."""
        maps = {name: h for name, h in self.stages(x) if name in self.names}
        return tuple(maps[name] for name in self.names)


def _convolution(n_in: int, n_out: int, norm: VGGNorm | None) -> Conv2DActiv | Conv2DBNActiv:
    start = HeNormal(1.0, "fan_out")
    if norm is None:
        return Conv2DActiv(n_in, n_out, 3, 1, 1, initialW=start)
    return Conv2DBNActiv(n_in, n_out, 3, 1, 1, nobias=False, initialW=start, bn_eps=1e-5)
