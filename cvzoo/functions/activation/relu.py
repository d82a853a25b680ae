"""ReLU and its variants, PReLU and maxout."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import DtypeError, ShapeError, ValueRangeError
from cvzoo.functions.array.axes import one_axis, reshape
from cvzoo.functions.array.broadcast import sum_to
from cvzoo.functions.array.concat import concat
from cvzoo.functions.array.dtypes import agreed_pair, floating_backend
from cvzoo.functions.math.arithmetic import negative
from cvzoo.functions.math.elementwise import AbstractElementwiseOfOutput
from cvzoo.functions.math.extremum import Clip, max
from cvzoo.typing.aliases import Array


class ReLU(AbstractElementwiseOfOutput):
    kind = "relu"

    def slope(self, y: Variable) -> Variable | Array:
        array = y.array
        return (array > 0).astype(array.dtype)


def relu(x: Variable | Array) -> Variable:
    """max(x, 0); any shape, floating. The slope at 0 is taken as 0. NaN stays NaN; of -inf oneDNN may make NaN.

    Source: Rectified linear units improve restricted Boltzmann machines (Nair and Hinton, ICML 2010).
    """
    return ReLU().apply((x,))[0]


def clipped_relu(x: Variable | Array, z: float = 20.0) -> Variable:
    """min(max(x, 0), z); of NaN as `clip`. The derivative at 0 and at z is 0.

    Raises ValueRangeError if z is negative.
    """
    if not z >= 0:
        raise ValueRangeError("clipped_relu: z must not be negative", got=z)
    return Clip(0.0, float(z), open_bounds=True).apply((x,))[0]


def relu6(x: Variable | Array) -> Variable:
    """min(max(x, 0), 6); of NaN as `clip`. The derivative at 0 and at 6 is 0.

    Source: MobileNetV2: inverted residuals and linear bottlenecks (Sandler et al., CVPR 2018).
    """
    return Clip(0.0, 6.0, open_bounds=True).apply((x,))[0]


class LeakyReLU(AbstractElementwiseOfOutput):
    # the sign of x is read from the output, which is why a slope must not be negative
    kind = "leaky_relu"

    def __init__(self, slope: float):
        self.alpha = slope

    def slope(self, y: Variable) -> Variable | Array:
        array = y.array
        return (array > 0) * array.dtype.type(1 - self.alpha) + array.dtype.type(self.alpha)


def leaky_relu(x: Variable | Array, slope: float = 0.2) -> Variable:
    """x where it is above 0, else slope * x.

    slope: at least 0
    Raises ValueRangeError if it is negative.
    """
    if not slope >= 0:
        raise ValueRangeError("leaky_relu: the slope must not be negative", expected="at least 0", got=slope)
    return LeakyReLU(slope).apply((x,))[0]


class PReLU(FunctionNode):
    """Of x and a slope with as many axes as x."""

    in_float32 = True

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, slope = inputs
        xp = floating_backend(x, "prelu").xp
        if x.dtype != slope.dtype:
            raise DtypeError("prelu: x and W must have one dtype", got=f"{x.dtype} and {slope.dtype}")
        self.retain_inputs((0, 1))
        return (xp.maximum(x, 0) + xp.minimum(x, 0) * slope,)  # twice as fast as where()

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        x, slope = self.get_retained_inputs()
        (gy,) = gys
        above = (x.array > 0).astype(x.dtype)
        below = gy * (1 - above)
        return tuple([sum_to(below * x, slope.shape) if i else gy * above + below * slope for i in indexes])


def prelu(x: Variable | Array, W: Variable | Array) -> Variable:
    """x where it is above 0, else W * x.

    x: (B, ...); W: the shape of x's axes from the second on, as many as it has, for example (C,); () is one for all
    Raises ShapeError if W does not fit x, DtypeError if dtypes differ.
    Source: Delving deep into rectifiers (He et al., ICCV 2015).
    """
    x, W = agreed_pair(as_variable(x), as_variable(W))
    shape = W.shape
    if x.shape[1 : 1 + len(shape)] != shape:
        raise ShapeError(
            "prelu: W has another shape than x from its second axis on",
            expected=x.shape[1 : 1 + len(shape)],
            got=f"W {shape}, x {x.shape}",
        )
    if x.ndim:
        W = reshape(W, (1, *shape, *(1,) * (x.ndim - 1 - len(shape))))
    return PReLU().apply((x, W))[0]


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
