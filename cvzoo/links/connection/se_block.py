"""Squeeze and excitation: a gate a channel, from the photo's mean."""

from collections.abc import Callable
from typing import Any

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.activation.relu import relu
from cvzoo.functions.activation.sigmoid import sigmoid
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.pooling.global_average_pooling_2d import global_average_pooling_2d
from cvzoo.links.chain import Chain
from cvzoo.links.connection.linear import Linear


class SEBlock(Chain):
    """x times a gate in [0, 1] for each channel: gate(up(activ(down(mean of x)))).

    n_channel: channels of x
    ratio: the hidden layer has n_channel // ratio units
    activ, gate: the functions after `down` and after `up`
    Source: Hu, Shen and Sun, Squeeze-and-Excitation Networks, CVPR 2018.
    """

    def __init__(
        self,
        n_channel: int,
        ratio: int = 16,
        *,
        activ: Callable[[Variable], Variable] = relu,
        gate: Callable[[Variable], Variable] = sigmoid,
    ):
        if n_channel // ratio < 1:
            raise ValueRangeError(
                "SEBlock: no hidden unit is left", expected=f"ratio <= {n_channel} channels", got=f"ratio={ratio}"
            )
        self.activ = activ
        self.gate = gate
        with self.init_scope():
            self.down = Linear(n_channel, n_channel // ratio)
            self.up = Linear(n_channel // ratio, n_channel)

    def forward(self, x: Any) -> Variable:
        """x's shape; x is (B, n_channel, H, W)."""
        b, c = x.shape[:2]
        z = reshape(global_average_pooling_2d(x), (b, c))
        z = self.gate(self.up(self.activ(self.down(z))))
        return x * reshape(z, (b, c, 1, 1))
