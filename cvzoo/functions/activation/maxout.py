"""The largest of groups of channels; both signs of a channel."""

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.activation.relu import relu
from cvzoo.functions.array.axes import one_axis
from cvzoo.functions.array.concat import concat
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.math.add import negative
from cvzoo.functions.math.extremum import max
from cvzoo.typing.aliases import Array


def maxout(x: Variable | Array, pool_size: int, axis: int = 1) -> Variable:
    """The largest of each `pool_size` neighbours along `axis`, whose size shrinks by that factor.

    Raises ShapeError if the axis does not divide so.
    Source: Maxout networks (Goodfellow et al., ICML 2013).
    """
    x = as_variable(x)
    axis = one_axis(axis, x.ndim, "maxout")
    size = x.shape[axis]
    if pool_size < 1 or size % pool_size:
        raise ShapeError(f"maxout: {size} do not divide into groups of {pool_size}", got=x.shape)
    return max(reshape(x, (*x.shape[:axis], size // pool_size, pool_size, *x.shape[axis + 1 :])), axis + 1)


def crelu(x: Variable | Array, axis: int = 1) -> Variable:
    """relu(x) and relu(-x), one after the other along `axis`.

    Source: Understanding and improving convolutional neural networks via concatenated rectified linear units
    (Shang et al., ICML 2016).
    """
    return relu(concat([x, negative(x)], axis))
