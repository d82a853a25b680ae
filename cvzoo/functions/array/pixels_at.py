"""Bilinear sampling of feature maps at points."""

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.functions.array.axes import expand_dims
from cvzoo.functions.array.dtypes import cast, widened
from cvzoo.functions.math.arithmetic import add, multiply, subtract
from cvzoo.typing.aliases import Array, ArrayModule


class Fraction(FunctionNode):
    """x - floor(x); the slope is 1."""

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        (x,) = inputs
        return (x - backend_of(x).xp.floor(x),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        return gys


class PixelsAt(FunctionNode):
    """x (B, C, H, W) and points' rows and columns (B, P) to (B, P, C): the pixel `down` and `right` of each point's
    upper left one, 0 outside of x.

    The points are inputs instead of settings, so that captured graphs record how they are computed; they get no
    gradient here.
    """

    def __init__(self, down: int, right: int):
        self._step = down, right

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        x, rows, columns = inputs
        self.retain_inputs((1, 2))
        self._shape = b, c, h, w = x.shape
        backend = backend_of(x)
        ids, inside = _places(backend.xp, rows, columns, self._shape, self._step)
        return (backend.embed_id(x.transpose(0, 2, 3, 1).reshape(b * h * w, c), ids, inside),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        rows, columns = self.get_retained_inputs()
        return tuple(
            # no gradient of the points here: which pixels are read is piecewise constant, only their weights change
            [None if i else PixelsAtGrad(self._step, self._shape).apply((*gys, rows, columns))[0] for i in indexes]
        )


class PixelsAtGrad(FunctionNode):
    """gy (B, P, C) and the points to gx (B, C, H, W): each number added to the pixel that it was taken from."""

    def __init__(self, step: tuple[int, int], shape: tuple[int, ...]):
        self._step = step
        self._shape = shape

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        gy, rows, columns = inputs
        self.retain_inputs((1, 2))
        b, c, h, w = self._shape
        backend = backend_of(gy)
        ids, inside = _places(backend.xp, rows, columns, self._shape, self._step)
        gx = backend.embed_id_grad(gy, ids, inside, (b * h * w, c))
        return (gx.reshape(b, h, w, c).transpose(0, 3, 1, 2),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        rows, columns = self.get_retained_inputs()
        return tuple([None if i else PixelsAt(*self._step).apply((*gys, rows, columns))[0] for i in indexes])


def _places(
    xp: ArrayModule, rows: Array, columns: Array, shape: tuple[int, ...], step: tuple[int, int]
) -> tuple[Array, Array]:
    """(B, P) int64: which of the B * H * W pixels; (B, P) bool: whether the point is inside of x."""
    b, _, h, w = shape
    # points far outside and NaN must not overflow the integers
    y, x = [
        xp.nan_to_num(xp.clip(xp.floor(place), -2, size + 1), nan=-2).astype("int64") + move
        for place, size, move in zip((rows, columns), (h, w), step)
    ]
    inside = (y >= 0) & (y < h) & (x >= 0) & (x < w)
    flat = (xp.arange(b)[:, None] * h + xp.clip(y, 0, h - 1)) * w + xp.clip(x, 0, w - 1)
    return flat, inside


def pixels_between(x: Variable, rows: Variable, columns: Variable) -> Variable:
    """Bilinear sampling: (B, P, C) in x's dtype, the values of x at points, with zeros outside of x.

    x: (B, C, H, W)
    rows, columns: (B, P) floating, in pixels; integers are pixel centers
    Both x and the points get gradients; 16-bit values are computed in float32.
    """
    dtype = x.dtype
    x = widened(x)
    rows, columns = [cast(widened(each), x.dtype) for each in (rows, columns)]
    lower, later = [expand_dims(Fraction().apply((each,))[0], 2) for each in (rows, columns)]
    upper, earlier = subtract(1.0, lower), subtract(1.0, later)
    parts = [
        multiply(PixelsAt(down, right).apply((x, rows, columns))[0], multiply(y_share, x_share))
        for down, y_share in enumerate((upper, lower))
        for right, x_share in enumerate((earlier, later))
    ]
    return cast(add(*parts), dtype)
