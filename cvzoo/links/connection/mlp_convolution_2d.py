"""A convolution followed by 1 x 1 convolutions (network in network)."""

from collections.abc import Callable, Sequence

from cvzoo.autodiff.variable import Variable
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.activation.relu import relu
from cvzoo.links.chain import ChainList
from cvzoo.links.connection.convolution_2d import Convolution2D
from cvzoo.links.link import InitialValue
from cvzoo.typing.aliases import Array


class MLPConvolution2D(ChainList):
    """A convolution, then 1 x 1 convolutions, with an activation between them.

    in_channels: None: inferred from the first input
    out_channels: of each convolution
    ksize, stride, pad: of the first
    activation: called between convolutions, not after the last
    conv_init, bias_init: initial filters and biases; LeCunNormal and 0 by default
    Raises ValueRangeError without a convolution.

    Source: Lin, Chen and Yan, "Network in network", ICLR 2014.
    """

    def __init__(
        self,
        in_channels: int | None,
        out_channels: Sequence[int],
        ksize: int | tuple[int, int],
        stride: int | tuple[int, int] = 1,
        pad: int | Sequence[int] = 0,
        activation: Callable[[Variable], Variable] = relu,
        conv_init: InitialValue = None,
        bias_init: InitialValue = None,
    ):
        if not out_channels:
            raise ValueRangeError("MLPConvolution2D: out_channels must name a convolution", got=repr(out_channels))
        first, *rest = out_channels
        super().__init__(Convolution2D(in_channels, first, ksize, stride, pad, False, conv_init, bias_init))
        for n_in, n_out in zip(out_channels, rest):
            self.append(Convolution2D(n_in, n_out, 1, 1, 0, False, conv_init, bias_init))
        self.activation = activation

    def forward(self, x: Variable | Array) -> Variable:
        """(B, out_channels[-1], OH, OW) of x (B, in_channels, H, W)."""
        first, *rest = self
        for conv in rest:
            x, first = self.activation(first(x)), conv
        return first(x)
