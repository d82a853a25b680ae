"""Feature pyramid network (Lin et al., 2017)."""

from collections.abc import Sequence
from typing import Literal

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.initializers.uniform import LeCunUniform
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.conv_2d_bn_activ import ConvNormActiv, Norm
from cvzoo.links.connection.convolution_2d import Convolution2D

Extra = Literal["P5", "C5", "pool"]


class FPN(Chain):
    """Feature pyramid network (Lin et al., 2017): maps of one width at every scale, from those of a backbone.

    in_channels: channels of the maps, the finest first
    out_channels: of all output maps
    n_extra: number of additional coarser maps, each with half the sides
    extra_from: input of the first of them: "P5" (the coarsest output map) or "C5" (the coarsest input map), with 3 x 3
        convolutions of stride 2, and a relu before each but the first; "pool": subsampling of the previous map
    norm, eps: None: the convolutions have biases; otherwise they are normalized, see `ConvNormActiv`
    Raises ValueRangeError for an unknown source.

    Source: Lin et al., Feature Pyramid Networks, CVPR 2017; P6 and P7 as in Lin et al., Focal Loss for Dense Object
    Detection, ICCV 2017 (from C5; later networks take P5).
    """

    def __init__(
        self,
        in_channels: Sequence[int],
        out_channels: int = 256,
        *,
        n_extra: int = 0,
        extra_from: Extra = "P5",
        norm: Norm | None = None,
        eps: float = 1e-5,
    ):
        if extra_from not in ("P5", "C5", "pool"):
            raise ValueRangeError("FPN: extra_from is unknown", expected="'P5', 'C5' or 'pool'", got=repr(extra_from))
        self.extra_from = extra_from
        self.n_extra = n_extra
        with self.init_scope():
            self.inner = ChainList(*(_block(n, out_channels, 1, norm, eps) for n in in_channels))
            self.outer = ChainList(*(_block(out_channels, out_channels, 3, norm, eps) for _ in in_channels))
            self.extra = ChainList()
            for i in range(n_extra if extra_from != "pool" else 0):
                n_in = in_channels[-1] if extra_from == "C5" and i == 0 else out_channels
                self.extra.append(_conv(n_in, out_channels, 3, 2))

    def forward(self, maps: Sequence[Variable]) -> tuple[Variable, ...]:
        """One map (B, out_channels, H, W) per input map, then the coarser ones.

        maps: (B, in_channels[i], H, W), the finest first
        Raises ShapeError for a wrong number of maps.
        """
        if len(maps) != len(self.inner):
            raise ShapeError("FPN: a map for each of in_channels", expected=len(self.inner), got=len(maps))
        h = self.inner[-1](maps[-1])
        outs = [self.outer[-1](h)]
        for i in range(len(maps) - 2, -1, -1):
            lateral = self.inner[i](maps[i])
            # to the exact size of the finer map, since an odd side is not twice the coarser one
            h = lateral + F.resize_images(h, lateral.shape[2:], mode="nearest")
            outs.insert(0, self.outer[i](h))
        if self.extra_from == "pool":
            for _ in range(self.n_extra):
                outs.append(F.max_pooling_2d(outs[-1], 1, 2, cover_all=False))
            return tuple(outs)
        h = maps[-1] if self.extra_from == "C5" else outs[-1]
        for i, conv in enumerate(self.extra):
            h = conv(h if i == 0 else F.relu(h))
            outs.append(h)
        return tuple(outs)


def _block(n_in: int, n_out: int, ksize: int, norm: Norm | None, eps: float) -> Convolution2D | ConvNormActiv:
    if norm is None:
        return _conv(n_in, n_out, ksize)
    return ConvNormActiv(n_in, n_out, ksize, norm=norm, eps=eps, activ=None)


def _conv(n_in: int, n_out: int, ksize: int, stride: int = 1) -> Convolution2D:
    # variance 1 / fan in preserves the scale of activations
    return Convolution2D(n_in, n_out, ksize, stride, ksize // 2, initialW=LeCunUniform())
