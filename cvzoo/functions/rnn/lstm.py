"""One step of a long short-term memory."""

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.errors.exceptions import ShapeError
from cvzoo.functions.activation.sigmoid import sigmoid, tanh
from cvzoo.functions.array.axes import reshape
from cvzoo.functions.array.concat import concat
from cvzoo.functions.array.indexing import get_item
from cvzoo.functions.math.arithmetic import add, multiply
from cvzoo.typing.aliases import Array


def lstm(c_prev: Variable | Array, x: Variable | Array) -> tuple[Variable, Variable]:
    """The next cell state c (B', U) and the output h (B, U).

    c_prev: (B', U), the cell state before; the rows after the first B are passed on as they are (sequences of
        different lengths, longest first)
    x: (B, 4 * U) with B <= B'; unit u has its input a and its gates i (input), f (forget) and o (output), in this
        order, in the columns 4 * u to 4 * u + 3
    c = tanh(a) * sigmoid(i) + c_prev * sigmoid(f), h = tanh(c) * sigmoid(o). Further axes of both are carried along.
    Raises ShapeError if the sizes do not fit.
    Source: Hochreiter and Schmidhuber, 1997, with the forget gate of Gers et al., 2000; the order is Chainer's.
    """
    c_prev = as_variable(c_prev)
    x = as_variable(x)
    if (
        x.ndim < 2
        or c_prev.ndim != x.ndim
        or x.shape[1] != 4 * c_prev.shape[1]
        or x.shape[0] > c_prev.shape[0]
        or x.shape[2:] != c_prev.shape[2:]
    ):
        raise ShapeError(
            "lstm: x must hold an input and three gates for each unit of c_prev",
            expected="c_prev (B', U), x (B, 4 * U), B <= B'",
            got=f"c_prev {c_prev.shape}, x {x.shape}",
        )
    b, units = x.shape[0], c_prev.shape[1]
    gates = reshape(x, (b, units, 4) + x.shape[2:])
    every = slice(None)
    a, i, f, o = (get_item(gates, (every, every, k)) for k in range(4))
    running = c_prev if b == c_prev.shape[0] else get_item(c_prev, slice(None, b))
    c = add(multiply(tanh(a), sigmoid(i)), multiply(running, sigmoid(f)))
    h = multiply(tanh(c), sigmoid(o))
    if running is not c_prev:
        c = concat([c, get_item(c_prev, slice(b, None))], axis=0)
    return c, h
