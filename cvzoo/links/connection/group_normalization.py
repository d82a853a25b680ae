"""A group normalization layer."""

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.functions.normalization.group_normalization import group_normalization
from cvzoo.links.link import InitialValue, Link
from cvzoo.typing.aliases import Array


class GroupNormalization(Link):
    """Normalizes each image over groups of channels, then scales and shifts each channel.

    groups: number of groups of channels
    size: the number of channels; None: inferred from the first input
    eps: added to the variance
    gamma, beta (size,) are parameters, initially 1 and 0.
    Source: Wu and He, Group Normalization, ECCV 2018.
    """

    def __init__(
        self,
        groups: int,
        size: int | None = None,
        eps: float = 1e-5,
        initial_gamma: InitialValue = None,
        initial_beta: InitialValue = None,
    ):
        self.groups = groups
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
        """x's shape; x is (B, size, ...)."""
        if not self.gamma.is_initialized:
            self._initialize(x.shape[1])
        return group_normalization(x, self.groups, self.gamma, self.beta, self.eps)

    def describe(self) -> str:
        return f"groups={self.groups}, gamma={self.gamma.shape}, eps={self.eps}"
