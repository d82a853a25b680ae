"""A block of a Vision Transformer."""

from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.initializers.normal import Normal
from cvzoo.initializers.uniform import GlorotUniform
from cvzoo.links.chain import Chain
from cvzoo.links.connection.fused_linear import fused_linear
from cvzoo.links.connection.layer_normalization import LayerNormalization
from cvzoo.links.connection.linear import Linear
from cvzoo.links.connection.multi_head_attention import MultiHeadAttention


class ViTBlock(Chain):
    """x + attention(norm1(x)), then that + narrow(gelu(widen(norm2(that)))).

    n_unit: channels of a token; n_head: heads; n_hidden: outputs of `widen`
    """

    def __init__(self, n_unit: int, n_head: int, n_hidden: int):
        with self.init_scope():
            self.norm1 = LayerNormalization(n_unit, eps=1e-6)
            self.attention = MultiHeadAttention(n_unit, n_head)
            self.norm2 = LayerNormalization(n_unit, eps=1e-6)
            self.widen = Linear(n_unit, n_hidden, initialW=GlorotUniform(), initial_bias=Normal(1e-6))
            self.narrow = Linear(n_hidden, n_unit, initialW=GlorotUniform(), initial_bias=Normal(1e-6))

    def forward(self, x: Any) -> Variable:
        """(B, N, n_unit) of x (B, N, n_unit)."""
        h = self.attention(self.norm1(x), add=x)
        return fused_linear(self.narrow, fused_linear(self.widen, self.norm2(h), with_gelu=True), add=h)
