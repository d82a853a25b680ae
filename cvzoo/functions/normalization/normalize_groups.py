"""Values brought to mean 0 and variance 1, group by group: what layer and group normalization share."""

from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.normalization.batch_normalization import BatchNormalization


def normalize_groups(x: Variable, n_group: int, eps: float) -> Variable:
    """x's shape; each n_group-th part of its values, in row-major order, has mean 0 and variance 1.

    A group is a channel of a batch of one, so the kernel and its derivatives are batch normalization's.
    """
    xp = backend_of(x.array).xp
    flat = reshape(x, (1, n_group, x.size // max(n_group, 1)))
    ones, zeros = xp.ones(n_group, x.dtype), xp.zeros(n_group, x.dtype)
    return reshape(BatchNormalization(eps).apply((flat, ones, zeros))[0], x.shape)
