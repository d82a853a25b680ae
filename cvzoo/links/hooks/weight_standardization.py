"""Weight standardization."""

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.normalization.group_normalization import group_normalization
from cvzoo.links.hooks.weight_hook import AbstractWeightHook
from cvzoo.links.link import Link


class WeightStandardization(AbstractWeightHook):
    """Weight standardization: a layer's weight has mean 0 and variance 1 for each output channel.

    eps: added to the variance
    weight_name: the parameter, (O, ...)
    name: of the hook, for `Link.delete_hook`

    >>> layer = L.Convolution2D(3, 16, 3).add_hook(WeightStandardization())

    Source: Qiao et al., "Micro-batch training with batch-channel normalization and weight standardization", 2019.
    """

    name = "WeightStandardization"

    def __init__(self, *, eps: float = 1e-5, weight_name: str = "W", name: str | None = None):
        super().__init__(weight_name, name)
        self.eps = eps

    def weight(self, link: Link, W: Parameter) -> Variable:
        """W, each of its rows standardized."""
        shape = W.shape or ()
        if len(shape) < 2:
            raise ShapeError(f"WeightStandardization: {self.weight_name} must be (O, ...)", got=shape)
        backend, size = backend_of(W._array), shape[1]
        return group_normalization(W, 1, backend.xp.ones(size, W.dtype), backend.xp.zeros(size, W.dtype), eps=self.eps)
