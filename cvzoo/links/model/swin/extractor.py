"""Backbone of the Swin Transformers."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.initializers.normal import Normal
from cvzoo.initializers.uniform import GlorotUniform
from cvzoo.links.chain import Chain, ChainList
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.connection.fused_linear import fused_linear
from cvzoo.links.connection.layer_normalization import LayerNormalization2D
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.plan_checks import check_plan_numbers, one_of
from cvzoo.links.model.swin.window_attention import WindowAttention, windows_of
from cvzoo.typing.aliases import Array

EPS = 1e-5


class SwinBlock(Chain):
    """Swin Transformer block: h = x + attention(norm1(x)), then h + mlp(norm2(h)); V2 normalizes after each.

    n_unit: channels, four times as many in the MLP; n_head: attention heads; window: its side
    shifted: whether windows are shifted by half a window
    drop_path: stochastic depth: the probability that an image skips a branch in training
    version: 1 or 2
    """

    def __init__(self, n_unit: int, n_head: int, window: int, *, shifted: bool, drop_path: float, version: int):
        self.window = window
        self.shifted = shifted
        self.drop_path = drop_path
        self.version = version
        with self.init_scope():
            self.norm1 = LayerNormalization2D(n_unit, EPS)
            self.attention = WindowAttention(n_unit, n_head, window, version)
            self.norm2 = LayerNormalization2D(n_unit, EPS)
            self.widen = Linear(n_unit, 4 * n_unit, initialW=GlorotUniform(), initial_bias=Normal(1e-6))
            self.narrow = Linear(4 * n_unit, n_unit, initialW=GlorotUniform(), initial_bias=Normal(1e-6))

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape; x is (B, n_unit, H, W)."""
        windows = windows_of((x.shape[2], x.shape[3]), self.window, shifted=self.shifted)
        if self.version == 2:
            h = F.add(x, self._dropped(self.norm1(self.attention(x, windows))))
            return h + self._dropped(self.norm2(self._mlp(h)))
        if switches.train and self.drop_path:
            h = F.add(x, self._dropped(self.attention(self.norm1(x), windows)))
            return h + self._dropped(self._mlp(self.norm2(h)))
        h = self.attention(self.norm1(x), windows, add=x)
        return self._mlp(self.norm2(h), add=h)

    def _mlp(self, x: Variable, add: Variable | None = None) -> Variable:
        h = fused_linear(self.widen, F.transpose(x, (0, 2, 3, 1)), with_gelu=True)
        h = fused_linear(self.narrow, h, add=None if add is None else F.transpose(add, (0, 2, 3, 1)))
        return F.transpose(h, (0, 3, 1, 2))

    def _dropped(self, branch: Variable) -> Variable:
        return F.stochastic_depth(branch, self.drop_path)


class PatchMerging(Chain):
    """Patch merging: 2 x 2 pixels become one with twice the channels; odd sides are padded with zeros.

    n_unit: channels of x
    version: 1: normalization, then the linear layer; 2: in the reverse order
    """

    def __init__(self, n_unit: int, version: int):
        self.version = version
        with self.init_scope():
            self.reduction = Linear(4 * n_unit, 2 * n_unit, nobias=True, initialW=Normal(0.02))
            self.norm = LayerNormalization2D((4 if version == 1 else 2) * n_unit, EPS)

    def forward(self, x: Variable | Array) -> Variable:
        """(B, 2 * n_unit, (H + 1) // 2, (W + 1) // 2) of x (B, n_unit, H, W)."""
        b, c, h, w = x.shape
        if h % 2 or w % 2:
            x = F.pad(x, ((0, 0), (0, 0), (0, h % 2), (0, w % 2)))
            h, w = h + h % 2, w + w % 2
        x = F.reshape(F.transpose(x, (0, 2, 3, 1)), (b, h // 2, 2, w // 2, 2, c))
        # upper left, lower left, upper right, lower right
        x = F.reshape(F.transpose(x, (0, 1, 3, 4, 2, 5)), (b, h // 2, w // 2, 4 * c))
        if self.version == 1:
            x = F.transpose(self.norm(F.transpose(x, (0, 3, 1, 2))), (0, 2, 3, 1))
        x = F.transpose(fused_linear(self.reduction, x), (0, 3, 1, 2))
        return x if self.version == 1 else self.norm(x)


Size = Literal["t", "s", "b", "v2_t", "v2_s", "v2_b"]


class SwinDimensions(NamedTuple):
    """Depths and widths of a Swin Transformer.

    n_channel: channels of the first stage; they double with each stage
    depths, heads: of the four stages: blocks, attention heads
    window: side of the windows, in patches of 4 pixels at the first stage
    drop_path: stochastic depth: the probability that the last block is skipped in training; it grows linearly from 0
    version: 1 or 2
    """

    n_channel: int
    depths: tuple[int, ...]
    heads: tuple[int, ...]
    window: int
    drop_path: float
    version: int = 1


# the papers' tables; drop_path as torchvision trained them
PLANS: dict[str, SwinDimensions] = {
    "t": SwinDimensions(96, (2, 2, 6, 2), (3, 6, 12, 24), 7, 0.2),
    "s": SwinDimensions(96, (2, 2, 18, 2), (3, 6, 12, 24), 7, 0.3),
    "b": SwinDimensions(128, (2, 2, 18, 2), (4, 8, 16, 32), 7, 0.5),
    "v2_t": SwinDimensions(96, (2, 2, 6, 2), (3, 6, 12, 24), 8, 0.2, 2),
    "v2_s": SwinDimensions(96, (2, 2, 18, 2), (3, 6, 12, 24), 8, 0.3, 2),
    "v2_b": SwinDimensions(128, (2, 2, 18, 2), (4, 8, 16, 32), 8, 0.5, 2),
}


def plan_of(size: str, plan: SwinDimensions | None) -> SwinDimensions:
    """The plan, or without one that of the size. Raises ValueRangeError for an unknown size or invalid values."""
    usual = one_of(PLANS, size, "SwinTransformer: there is no size")
    if plan is None:
        return usual
    what = "SwinTransformer: plan"
    counts: dict[str, int | Iterable[int]] = {
        "n_channel": plan.n_channel,
        "depths": plan.depths,
        "heads": plan.heads,
        "window": plan.window,
    }
    check_plan_numbers(what, counts, drop_path=plan.drop_path)
    if not 1 <= len(plan.depths) == len(plan.heads) <= 8 or plan.version not in (1, 2) or plan.window > 64:
        raise ValueRangeError(
            what, expected="as many heads as depths, windows of at most 64, version 1 or 2", got=repr(plan)[:200]
        )
    for i, n_head in enumerate(plan.heads):
        if plan.n_channel * 2**i % n_head:
            raise ValueRangeError(
                what, expected="channels divisible by the heads", got=f"{n_head} heads in stage {i + 1}"
            )
    return plan


class SwinPatches(Chain):
    """Patch embedding norm(conv(x)): 4 x 4 pixels become one patch."""

    def __init__(self, n_channel: int):
        with self.init_scope():
            self.conv = Convolution2D(3, n_channel, 4, 4, initialW=Normal(0.02))
            self.norm = LayerNormalization2D(n_channel, EPS)

    def forward(self, x: Variable | Array) -> Variable:
        return self.norm(self.conv(x))


class SwinExtractor(Chain):
    """Swin Transformer backbone (Liu et al., 2021 and 2022): maps C2 to C5 of strides 4, 8, 16 and 32.

    plan: depths and widths
    channels: of the feature maps
    """

    def __init__(self, plan: SwinDimensions):
        self.n_stage = len(plan.depths)
        self.channels = tuple([plan.n_channel * 2**i for i in range(self.n_stage)])
        n_block = sum(plan.depths)
        rates = iter([plan.drop_path * i / max(n_block - 1, 1) for i in range(n_block)])
        with self.init_scope():
            self.patches = SwinPatches(plan.n_channel)
            for i, (n_channel, depth, n_head) in enumerate(zip(self.channels, plan.depths, plan.heads)):
                if i:
                    self.add_link(f"merging{i + 1}", PatchMerging(self.channels[i - 1], plan.version))
                blocks = [
                    SwinBlock(
                        n_channel,
                        n_head,
                        plan.window,
                        shifted=k % 2 == 1,
                        drop_path=next(rates),
                        version=plan.version,
                    )
                    for k in range(depth)
                ]
                self.add_link(f"stage{i + 1}", ChainList(*blocks))

    def stage(self, i: int, x: Variable | Array) -> Variable:
        """The output of stage i (from 0), from the previous one's or the patches."""
        h = self[f"merging{i + 1}"](x) if i else as_variable(x)
        for block in self[f"stage{i + 1}"].children():
            h = block(h)
        return h

    def forward(self, x: Variable | Array) -> tuple[Variable, ...]:
        """Maps (B, channels[i], H / 4 / 2^i, W / 4 / 2^i), rounded up but for the first, of x (B, 3, H, W)."""
        h = self.patches(x)
        maps = []
        for i in range(self.n_stage):
            h = self.stage(i, h)
            maps.append(h)
        return tuple(maps)
