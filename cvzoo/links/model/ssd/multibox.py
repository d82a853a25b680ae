"""SSD's heads: offsets and scores for the default boxes of every map."""

from collections.abc import Sequence
from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.initializers.uniform import LeCunUniform
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.convolution_2d import Convolution2D


class Multibox(Chain):
    """A 3 x 3 convolution for offsets and one for scores at each level.

    in_channels: of the maps; None: learned from the first input
    n_class: with the background
    aspect_ratios: of each level, as in `default_boxes`: a place has 2 + 2 * len boxes
    initialW, initial_bias: of all convolutions

    Source: Liu et al., SSD: Single Shot MultiBox Detector, ECCV 2016, section 2.1.
    """

    def __init__(
        self,
        n_class: int,
        aspect_ratios: Sequence[Sequence[float]],
        *,
        in_channels: Sequence[int | None] | None = None,
        initialW: Any = None,
        initial_bias: Any = None,
    ):
        self.n_class = n_class
        initialW = LeCunUniform() if initialW is None else initialW
        channels = [None] * len(aspect_ratios) if in_channels is None else in_channels
        if len(channels) != len(aspect_ratios):
            raise ShapeError("Multibox: channels for each level", expected=len(aspect_ratios), got=len(channels))
        with self.init_scope():
            self.loc, self.conf = ChainList(), ChainList()
            for n_in, ratios in zip(channels, aspect_ratios):
                n_box = 2 + 2 * len(ratios)
                for each, n_out in ((self.loc, 4), (self.conf, n_class)):
                    each.append(
                        Convolution2D(n_in, n_box * n_out, 3, pad=1, initialW=initialW, initial_bias=initial_bias)
                    )

    def forward(self, maps: Sequence[Any]) -> tuple[Variable, Variable]:
        """mb_loc (B, A, 4): dy dx dh dw; mb_conf (B, A, n_class): scores before the softmax, background first.

        maps: (B, C, H, W) each, the finest first
        Raises ShapeError if their number is another.
        """
        if len(maps) != len(self.loc):
            raise ShapeError("Multibox: a map for each level", expected=len(self.loc), got=len(maps))
        locs = [flat_boxes(loc(h), 4) for loc, h in zip(self.loc, maps)]
        confs = [flat_boxes(conf(h), self.n_class) for conf, h in zip(self.conf, maps)]
        return F.concat(locs, axis=1), F.concat(confs, axis=1)


def flat_boxes(h: Variable, n_out: int) -> Variable:
    """(B, H * W * K, n_out) of (B, K * n_out, H, W): no copy where channels lie last in memory."""
    return F.reshape(F.transpose(h, (0, 2, 3, 1)), (h.shape[0], -1, n_out))
