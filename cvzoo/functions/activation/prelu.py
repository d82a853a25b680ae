"""PReLU: a ReLU with a trainable slope for negative inputs."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import DtypeError, ShapeError
from cvzoo.functions.array.broadcast_to import sum_to
from cvzoo.functions.array.dtypes import agreed_pair
from cvzoo.functions.array.reshape import reshape
from cvzoo.functions.math.elementwise import floating_backend
from cvzoo.typing.aliases import Array


class PReLU(FunctionNode):
    """Of x and a slope with as many axes as x."""

    in_float32 = True

    def forward(self, inputs: tuple) -> tuple:
        x, slope = inputs
        xp = floating_backend(x, "prelu").xp
        if x.dtype != slope.dtype:
            raise DtypeError("prelu: x and W must have one dtype", got=f"{x.dtype} and {slope.dtype}")
        self.retain_inputs((0, 1))
        return (xp.maximum(x, 0) + xp.minimum(x, 0) * slope,)  # twice as fast as where()

    def backward(self, indexes: tuple, gys: tuple) -> tuple:
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
