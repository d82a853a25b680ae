"""darknet's [connected]: a fully connected layer."""

from typing import Any

import cvzoo.functions as F
from cvzoo.autodiff.variable import Variable
from cvzoo.links.chain import Chain
from cvzoo.links.connection.batch_normalization import BatchNormalization
from cvzoo.links.connection.linear import Linear
from cvzoo.links.model.darknet.activation import Activation, read_activation
from cvzoo.links.model.darknet.convolution import BN_EPS
from cvzoo.links.model.darknet.layer import DarknetLayer, Shape, check_n_weight, get_size
from cvzoo.weights.formats.darknet import DarknetSection, DarknetWeightsFile


class DarknetConnected(Chain):
    """Matrix product, batch normalization (or a bias), activation; the output is (B, O, 1, 1)."""

    def __init__(self, in_size: int, out_size: int, *, batch_normalize: bool, activation: Activation | None):
        self.in_size = in_size
        self.out_size = out_size
        self.activation = activation
        with self.init_scope():
            self.fc = Linear(None, out_size, nobias=batch_normalize)
            self.bn = BatchNormalization(out_size, eps=BN_EPS) if batch_normalize else None

    @property
    def n_number(self) -> int:
        """How many numbers it holds, or will."""
        return self.out_size * (self.in_size + 4)

    def initialize(self) -> None:
        """Let W start from random numbers."""
        self.fc.W.initialize((self.out_size, self.in_size))

    def load(self, file: DarknetWeightsFile, name: str) -> None:
        """Take this layer's numbers from the file; `name` is what an error calls it."""
        bias = file.take(self.out_size, f"{name}, biases")
        if file.transposed:
            self.fc.W.array = file.take((self.in_size, self.out_size), f"{name}, weights").T.copy()
        else:
            self.fc.W.array = file.take((self.out_size, self.in_size), f"{name}, weights")
        if self.bn is None:
            self.fc.b.array = bias
        else:
            self.bn.beta.array = bias
            self.bn.gamma.array = file.take(self.out_size, f"{name}, scales")
            self.bn.avg_mean = file.take(self.out_size, f"{name}, rolling means")
            self.bn.avg_var = file.take(self.out_size, f"{name}, rolling variances")

    def forward(self, x: Any) -> Variable:
        """(B, O, 1, 1) of x (B, C, H, W)."""
        h = self.fc(F.reshape(x, (x.shape[0], -1)))
        if self.bn is not None:
            h = self.bn(h)
        h = F.reshape(h, (*h.shape, 1, 1))
        return h if self.activation is None else self.activation(h)


def build_connected(section: DarknetSection, index: int, shape: Shape) -> DarknetLayer:
    """The layer behind an output (C, H, W). Raises FileFormatError or UnsupportedError that names the line."""
    in_size, out_size = shape[0] * shape[1] * shape[2], get_size(section, "output", 1)
    check_n_weight(section, out_size, in_size)
    link = DarknetConnected(
        in_size,
        out_size,
        batch_normalize=section.get_bool("batch_normalize", False),
        activation=read_activation(section, "logistic"),
    )
    return DarknetLayer(section, (index - 1,), link, (out_size, 1, 1))
