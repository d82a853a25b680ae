"""Batch normalization, learned and frozen."""

from collections.abc import Callable

import numpy as np

from cvzoo.autodiff.parameter import Parameter
from cvzoo.autodiff.variable import Variable, as_array
from cvzoo.backends.device import Device, device_of, get_device
from cvzoo.backends.dispatch import backend_of
from cvzoo.config.switches import switches
from cvzoo.functions.normalization.batch_normalization import batch_normalization
from cvzoo.functions.normalization.fixed_batch_normalization import fixed_batch_normalization
from cvzoo.links.link import InitialValue, Link
from cvzoo.typing.aliases import Array

Normalize = Callable[..., Variable]  # with the arguments of `batch_normalization`


class BatchNormalization(Link):
    """Normalizes each channel, by the batch's statistics while training and by the running ones otherwise.

    size: the number of channels; None: inferred from the first input
    decay: of the running statistics at each training step
    eps: added to the variance
    use_gamma, use_beta: whether a scale and a shift are learned; without them they are 1 and 0
    normalize: the function that is used while training; one over several processes is set by `create_mnbn_model`
    frozen: False; True: the running statistics are used also while training, and stay as they are (`freeze`)

    gamma, beta (C,) are parameters; avg_mean, avg_var (C,) and N (number of fine-tuning steps) are persistent.
    Source: Ioffe and Szegedy, Batch Normalization, ICML 2015; defaults are Chainer's.
    """

    def __init__(
        self,
        size: int | None = None,
        decay: float = 0.9,
        eps: float = 2e-5,
        use_gamma: bool = True,
        use_beta: bool = True,
        initial_gamma: InitialValue = 1,
        initial_beta: InitialValue = 0,
    ):
        self.decay = decay
        self.eps = eps
        self.frozen = False
        self.normalize: Normalize = batch_normalization
        with self.init_scope():
            self.gamma = Parameter(initial_gamma) if use_gamma else None
            self.beta = Parameter(initial_beta) if use_beta else None
        self.add_persistent("avg_mean", None)
        self.add_persistent("avg_var", None)
        self.add_persistent("N", 0)
        if size is not None:
            self._initialize(size, get_device(switches.device))

    def _initialize(self, size: int, device: Device) -> None:
        dtype = "float64" if switches.dtype == "float64" else "float32"
        self.avg_mean = device.asarray(np.zeros(size, dtype))
        self.avg_var = device.asarray(np.ones(size, dtype))
        for parameter in (self.gamma, self.beta):
            if parameter is not None:
                parameter.initialize((size,))

    def forward(self, x: Variable | Array, finetune: bool = False) -> Variable:
        """x's shape; x is (B, C, ...).

        finetune: in training, the running statistics become the mean over all fine-tuning steps instead of a moving
            average (to adapt a trained network to another data set's statistics)
        """
        if self.avg_mean is None:
            self._initialize(x.shape[1], device_of(as_array(x)))
        xp = backend_of(self.avg_mean).xp
        gamma = self.gamma if self.gamma is not None else xp.ones_like(self.avg_mean)
        beta = self.beta if self.beta is not None else xp.zeros_like(self.avg_mean)
        if not switches.train or self.frozen:
            return fixed_batch_normalization(x, gamma, beta, self.avg_mean, self.avg_var, eps=self.eps)
        for parameter in (self.gamma, self.beta):
            if parameter is not None:
                parameter.touch()  # invalidates weights prepared with the old running statistics
        decay = self.decay
        if finetune and not switches.in_recomputing:
            self.N += 1
        if finetune:
            decay = 1 - 1 / self.N  # the N-th step has weight 1 / N, which makes the average an unweighted mean
        return self.normalize(
            x, gamma, beta, eps=self.eps, running_mean=self.avg_mean, running_var=self.avg_var, decay=decay
        )

    def start_finetuning(self) -> None:
        """Begin a new mean: the next `finetune=True` step discards the running statistics."""
        self.N = 0

    def describe(self) -> str:
        size = "?" if self.avg_mean is None else len(self.avg_mean)
        return f"{size}, eps={self.eps}, decay={self.decay}"


_NONE = 1e-30  # changes no variance, and keeps one of 0 from dividing by 0


class FrozenBatchNormalization(Link):
    """gamma * (x - avg_mean) / sqrt(avg_var + eps) + beta, also while training.

    size: the number of channels
    eps: added to the variance; 0 for none

    gamma, beta, avg_mean, avg_var (C,) and N are persistent and have the same names as in BatchNormalization, so files
    are compatible. There are no parameters.
    """

    gamma: Array
    beta: Array
    avg_mean: Array
    avg_var: Array

    def __init__(self, size: int, eps: float = 1e-5):
        self.eps = eps
        self.add_persistent("gamma", np.ones(size, np.float32))
        self.add_persistent("beta", np.zeros(size, np.float32))
        self.add_persistent("avg_mean", np.zeros(size, np.float32))
        self.add_persistent("avg_var", np.ones(size, np.float32))
        self.add_persistent("N", 0)

    def forward(self, x: Variable | Array) -> Variable:
        """x's shape; x is (B, C, ...)."""
        eps = max(self.eps, _NONE)
        return fixed_batch_normalization(x, self.gamma, self.beta, self.avg_mean, self.avg_var, eps=eps)

    def describe(self) -> str:
        return f"{len(self.gamma)}, eps={self.eps}"
