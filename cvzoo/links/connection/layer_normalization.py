"""Layer normalization of rows, and of each pixel's channels."""

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.array.axes import transpose
from cvzoo.functions.normalization.layer_normalization import layer_normalization
from cvzoo.links.link import InitialValue, Link
from cvzoo.typing.aliases import Array


class LayerNormalization(Link):
    """Normalizes each row, then scales and shifts.

    size: the length of a row; None: inferred from the first input
    eps: added to the variance
    gamma, beta (size,) are parameters, initially 1 and 0.
    Source: Ba, Kiros and Hinton, Layer Normalization, 2016.
    """

    def __init__(
        self,
        size: int | None = None,
        eps: float = 1e-6,
        initial_gamma: InitialValue = None,
        initial_beta: InitialValue = None,
    ):
        self.eps = eps
        with self.init_scope():
            self.gamma = Parameter(1 if initial_gamma is None else initial_gamma)
            self.beta = Parameter(0 if initial_beta is None else initial_beta)
        if size is not None:
            self._initialize(size)

    def _initialize(self, size: int) -> None:
        self.gamma.initialize((size,))
        self.beta.initialize((size,))

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape; x is (N, size)."""
        if not self.gamma.is_initialized:
            self._initialize(x.shape[-1])
        return layer_normalization(x, self.gamma, self.beta, self.eps)


class LayerNormalization2D(Link):
    """Normalizes the channels of each pixel of a map, then scales and shifts; nothing is copied.

    size: number of channels
    eps: added to the variance
    gamma, beta (size,) are parameters, initially 1 and 0.
    Source: as ConvNeXt has it (Liu et al., CVPR 2022).
    """

    def __init__(self, size: int, eps: float = 1e-6):
        self.eps = eps
        with self.init_scope():
            self.gamma = Parameter(1, size)
            self.beta = Parameter(0, size)

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape; x is (B, size, H, W), channels-last in memory."""
        y = layer_normalization(transpose(x, (0, 2, 3, 1)), self.gamma, self.beta, self.eps)
        return transpose(y, (0, 3, 1, 2))
