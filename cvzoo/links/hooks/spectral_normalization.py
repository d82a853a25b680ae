"""Spectral normalization of weights."""

from typing import Any

import numpy as np

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.arrays import to_numpy
from cvzoo.backends.dispatch import backend_of
from cvzoo.config.randomness import random_generator
from cvzoo.config.switches import switches
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.functions.array.axes import moveaxis, reshape
from cvzoo.functions.math.arithmetic import multiply
from cvzoo.functions.math.sum import sum
from cvzoo.links.connection.deconvolution_2d import Deconvolution2D
from cvzoo.links.hooks.weight_hook import AbstractWeightHook
from cvzoo.links.link import Link
from cvzoo.typing.aliases import Array


class PowerIteration(FunctionNode):
    """One power iteration: from W (O, I) to approximations u (O,) and v (I,) of its first singular vectors.

    u: the previous approximation, updated in place if `learn`
    No gradient: as in the paper both vectors are constants.
    """

    def __init__(self, u: Array, n_iteration: int, eps: float, *, learn: bool):
        self.effect = u if learn else None
        self._kept = None if learn else u
        self._n_iteration = n_iteration
        self._eps = eps

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array | Any, ...]:
        (W,) = inputs
        xp = backend_of(W).xp
        u = self._kept if self.effect is None else self.effect
        v: Any = None
        for _ in range(self._n_iteration):
            v = u @ W
            v = v / (xp.sqrt((v * v).sum()) + self._eps)
            u = W @ v
            u = u / (xp.sqrt((u * u).sum()) + self._eps)
        if self.effect is not None:
            self.effect[...] = u
        return u, v

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable | None, ...]) -> tuple[Variable | None, ...]:
        return (None,) * len(indexes)


class SpectralNormalization(AbstractWeightHook):
    """Spectral normalization: a layer's weight is divided by an approximation of its largest singular value.

    n_power_iteration: power iterations per call in training
    eps: added to the norms that vectors are divided by
    use_gamma: multiply by a learned scalar `gamma`, initially that singular value
    factor: multiply by this number
    weight_name: the parameter: (O, ...), of a `Deconvolution2D` (I, O, ...)
    name: of the hook, for `Link.delete_hook`

    The layer keeps the approximated singular vector as a persistent value, W_u (O,).

    >>> layer = L.Convolution2D(3, 16, 3).add_hook(SpectralNormalization())

    Source: Miyato et al., "Spectral normalization for generative adversarial networks", ICLR 2018. Where we differ:
    Chainer's iterates in inference, too.
    """

    name = "SpectralNormalization"

    def __init__(
        self,
        n_power_iteration: int = 1,
        eps: float = 1e-6,
        use_gamma: bool = False,
        factor: float | None = None,
        weight_name: str = "W",
        name: str | None = None,
    ):
        super().__init__(weight_name, name)
        if n_power_iteration < 1:
            raise ValueRangeError("SpectralNormalization: n_power_iteration must be positive", got=n_power_iteration)
        self.n_power_iteration = n_power_iteration
        self.eps = eps
        self.use_gamma = use_gamma
        self.factor = factor
        self.vector_name = f"{weight_name}_u"
        self._vectors: tuple[Array, Array] | None = None  # of the last call in training, for gradient checkpointing

    def added(self, link: Link | Any) -> None:
        super().added(link)
        if vars(link)[self.weight_name].is_initialized:
            self._prepare(link, vars(link)[self.weight_name])

    def deleted(self, link: Link | Any) -> None:
        """Removes what `added` gave to the layer."""
        if self.vector_name in vars(link):
            delattr(link, self.vector_name)
        if self.use_gamma and "gamma" in vars(link):
            delattr(link, "gamma")

    def _prepare(self, link: Any, W: Parameter) -> None:
        matrix = to_numpy(_as_matrix(link, W)._array)
        if not matrix.size:
            raise ValueRangeError(f"SpectralNormalization: {self.weight_name} is empty", got=W.shape)
        u = random_generator().normal(size=len(matrix)).astype(matrix.dtype)
        link.add_persistent(self.vector_name, W.device.asarray(u))
        if self.use_gamma:
            with link.init_scope():
                link.gamma = Parameter(np.linalg.norm(matrix, 2), ())
            link.gamma.to_device(W.device)

    def weight(self, link: Any, W: Parameter) -> Variable:
        """W divided by the approximation of its largest singular value."""
        if self.vector_name not in vars(link):
            self._prepare(link, W)
        matrix = _as_matrix(link, W)
        u, v = self._singular_vectors(link, matrix)
        # a sum, since a matrix product may be rounded to 16 bits in mixed precision
        sigma = sum(multiply(matrix, multiply(reshape(u, (-1, 1)), v)))
        scaled = W / sigma
        scaled = scaled if self.factor is None else scaled * self.factor
        return link.gamma * scaled if self.use_gamma else scaled

    def _singular_vectors(self, link: Link, matrix: Variable) -> tuple[Variable | Array, Variable | Array]:
        if switches.in_recomputing and self._vectors is not None:
            return self._vectors
        learn = switches.train and not switches.in_recomputing
        start = vars(link)[self.vector_name]
        u, v = PowerIteration(start, self.n_power_iteration, self.eps, learn=learn).apply((matrix,))
        if learn:
            self._vectors = u._array, v._array  # not `array`: a graph recorder would notice its read
        return u, v


def _as_matrix(link: Link, W: Parameter) -> Variable:
    """(O, the rest) of a layer's weight."""
    rows = moveaxis(W, 1, 0) if isinstance(link, Deconvolution2D) else W
    assert rows.shape is not None, "a weight that is normalized has its shape"
    return reshape(rows, (rows.shape[0], -1))
