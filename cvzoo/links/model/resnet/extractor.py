"""The convolutions of a ResNet, of any depth and width."""

from collections.abc import Iterator
from typing import Any, Literal

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.model.resnet.block import Arch, BasicBlock, Bottleneck
from cvzoo.links.model.resnet.norm import ConvNorm, Norm

Stem = Literal["photo", "cifar"]

# layers -> (block, how many in each of the four stages); 10 is no depth of the paper
DEPTHS = {
    10: (BasicBlock, (1, 1, 1, 1)),
    18: (BasicBlock, (2, 2, 2, 2)),
    34: (BasicBlock, (3, 4, 6, 3)),
    50: (Bottleneck, (3, 4, 6, 3)),
    101: (Bottleneck, (3, 4, 23, 3)),
    152: (Bottleneck, (3, 8, 36, 3)),
}


class ResNetExtractor(Chain):
    """What a ResNet makes of photos: four feature maps, C2 to C5, of strides 4, 8, 16 and 32.

    n_layer: 10, 18, 34, 50, 101 or 152
    base_channels: of the first convolution; 64 in the paper; stages have 1, 2, 4 and 8 times as many (times 4 from 50
        layers on)
    arch: "v1.5", or "he": where a bottleneck has its stride (see `Bottleneck`)
    stem: "photo": 7 x 7 of stride 2 and a max pooling; "cifar": 3 x 3 of stride 1: strides are then 1, 2, 4 and 8
    norm: "batch"; "frozen": statistics, scale and shift stay as they are loaded; "group"
    eps: of the normalizations
    Raises ValueRangeError for another depth, arch, stem or norm.

    `channels` are the maps' channels.
    Source: He et al., Deep Residual Learning for Image Recognition, CVPR 2016; v1.5 as in torchvision.
    """

    def __init__(
        self,
        n_layer: int,
        *,
        base_channels: int = 64,
        arch: Arch = "v1.5",
        stem: Stem = "photo",
        norm: Norm = "batch",
        eps: float = 1e-5,
    ):
        for name, value, known in (
            ("n_layer", n_layer, tuple(DEPTHS)),
            ("arch", arch, ("v1.5", "he")),
            ("stem", stem, ("photo", "cifar")),
        ):
            if value not in known:
                raise ValueRangeError(f"ResNet: {name}", expected=" or ".join(map(repr, known)), got=repr(value))
        block, counts = DEPTHS[n_layer]
        self.n_layer = n_layer
        self.stem = stem
        mids = tuple(base_channels * 2**i for i in range(4))
        self.channels = tuple(mid * block.expansion for mid in mids)
        stages, width = [], base_channels
        with self.init_scope():
            ksize, stride = (7, 2) if stem == "photo" else (3, 1)
            self.conv1 = ConvNorm(3, base_channels, ksize, stride, norm=norm, eps=eps)
            for i, (mid, count) in enumerate(zip(mids, counts)):
                stage = ChainList()
                for k in range(count):
                    step = 2 if i and not k else 1
                    stage.append(block(width, mid, step, arch=arch, norm=norm, eps=eps))
                    width = mid * block.expansion
                stages.append(stage)
            self.res2, self.res3, self.res4, self.res5 = stages

    def stages(self, x: Any) -> Iterator[tuple[str, Variable]]:
        """conv1, pool1 (without a pooling with the stem "cifar"), res2, res3, res4, res5, as they are computed."""
        h = self.conv1(x)
        yield "conv1", h
        if self.stem == "photo":
            h = F.max_pooling_2d(h, 3, 2, 1, cover_all=False)
        yield "pool1", h
        for name, stage in zip(("res2", "res3", "res4", "res5"), (self.res2, self.res3, self.res4, self.res5)):
            for block in stage:
                h = block(h)
            yield name, h

    def forward(self, x: Any) -> tuple[Variable, Variable, Variable, Variable]:
        """C2, C3, C4, C5 (B, channels[i], H / stride, W / stride), sides rounded up, of x (B, 3, H, W)."""
        return tuple(h for name, h in self.stages(x) if name.startswith("res"))
