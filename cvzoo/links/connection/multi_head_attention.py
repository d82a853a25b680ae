"""Multi-head self-attention."""

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError, ValueRangeError
from cvzoo.functions.array.axes import reshape, transpose
from cvzoo.functions.attention.scaled_dot_product_attention import scaled_dot_product_attention
from cvzoo.initializers.uniform import GlorotUniform
from cvzoo.links.chain import Chain
from cvzoo.links.connection.fused_linear import fused_linear
from cvzoo.links.connection.linear import Linear
from cvzoo.typing.aliases import Array


class MultiHeadAttention(Chain):
    """Multi-head self-attention (Vaswani et al., 2017) of n_head heads.

    n_unit: channels of a token, a multiple of n_head
    n_head: number of heads

    The layers are qkv (3 * n_unit outputs: queries, keys, values, each ordered by head) and proj.
    Source: Vaswani et al., Attention is all you need, NeurIPS 2017.
    """

    def __init__(self, n_unit: int, n_head: int):
        if n_head < 1 or n_unit % n_head:
            raise ValueRangeError("MultiHeadAttention: heads share the channels evenly", got=f"{n_unit} / {n_head}")
        self.n_unit, self.n_head = n_unit, n_head
        with self.init_scope():
            self.qkv = Linear(n_unit, 3 * n_unit, initialW=GlorotUniform())
            self.proj = Linear(n_unit, n_unit, initialW=GlorotUniform())

    def forward(
        self, x: Variable | Array, *, bias: Variable | Array | None = None, add: Variable | Array | None = None
    ) -> Variable:
        """(B, N, n_unit) of x (B, N, n_unit).

        bias: added to the scores (B, n_head, N, N), with which it broadcasts; None: nothing
        add: (B, N, n_unit) added to the result, such as a residual connection; None: nothing
        """
        x = as_variable(x)
        n_unit = self.n_unit
        if x.ndim != 3 or x.shape[2] != n_unit:
            raise ShapeError("MultiHeadAttention wants tokens", expected=f"(B, N, {n_unit})", got=x.shape)
        b, n, _ = x.shape
        qkv = reshape(fused_linear(self.qkv, x), (b, n, 3, self.n_head, n_unit // self.n_head))
        qkv = transpose(qkv, (2, 0, 3, 1, 4))  # (3, B, n_head, N, D)
        y = scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], bias=bias)
        return fused_linear(self.proj, reshape(transpose(y, (0, 2, 1, 3)), (b, n, n_unit)), add=add)
