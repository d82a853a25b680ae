"""A Swin Transformer's block, and how two stages are joined."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.config.switches import switches
from cvzoo.initializers.normal import Normal
from cvzoo.initializers.uniform import GlorotUniform
from cvzoo.links.chain import Chain
from cvzoo.links.connection.fused_linear import fused_linear
from cvzoo.links.connection.layer_normalization_2d import LayerNormalization2D
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.swin.window_attention import WindowAttention
from cvzoo.links.model.swin.windows import windows_of

EPS = 1e-5


class SwinBlock(Chain):
    """x + attention(norm1(x)), then that + mlp(norm2(that)); the second version normalizes behind, not before.

    n_unit: channels of a pixel, four times as many between the mlp's two layers; n_head: heads; window: its side
    shifted: whether windows lie half a window further
    drop_path: the probability with which a photo goes round a branch while training
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

    def forward(self, x: Any) -> Variable:
        """x's shape; x is (B, n_unit, H, W)."""
        windows = windows_of(x.shape[2:], self.window, shifted=self.shifted)
        if self.version == 2:
            h = x + self._dropped(self.norm1(self.attention(x, windows)))
            return h + self._dropped(self.norm2(self._mlp(h)))
        if switches.train and self.drop_path:
            h = x + self._dropped(self.attention(self.norm1(x), windows))
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
    """2 x 2 pixels become one with twice the channels; odd sides get a row or column of zeros.

    n_unit: channels of x
    version: 1: the four pixels' channels are normalized, then mixed; 2: the other way round
    """

    def __init__(self, n_unit: int, version: int):
        self.version = version
        with self.init_scope():
            self.reduction = Linear(4 * n_unit, 2 * n_unit, nobias=True, initialW=Normal(0.02))
            self.norm = LayerNormalization2D((4 if version == 1 else 2) * n_unit, EPS)

    def forward(self, x: Any) -> Variable:
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
