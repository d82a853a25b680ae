"""LSTM layer with state."""

import numpy as np

from cvzoo.autodiff.variable import Variable, as_variable
from cvzoo.backends.dispatch import backend_of
from cvzoo.functions.rnn.lstm import lstm
from cvzoo.links.chain import Chain
from cvzoo.links.connection.linear import Linear
from cvzoo.typing.aliases import Array


class LSTM(Chain):
    """LSTM layer: one time step per call; `reset_state()` begins a new sequence.

    in_size: the length of an input row; None: inferred from the first input
    out_size: the number of units
    c, h: cell state and output (N, out_size) after the last call, None before the first
    The order of the gates is that of `functions.lstm`. Forget gates have an initial bias of 1.
    Source: Hochreiter and Schmidhuber, 1997; the layout is Chainer's.
    """

    c: Variable | None
    h: Variable | None

    def __init__(self, in_size: int | None, out_size: int):
        bias = np.zeros((out_size, 4), np.float32)
        bias[:, 2] = 1
        with self.init_scope():
            self.upward = Linear(in_size, 4 * out_size, initial_bias=bias.reshape(-1))
            self.lateral = Linear(out_size, 4 * out_size, nobias=True)
        self.out_size = out_size
        self.reset_state()

    def reset_state(self) -> None:
        """Clear c and h."""
        self.c = self.h = None

    def forward(self, x: Variable | Array) -> Variable:
        """h (N, out_size) of x (N, in_size)."""
        x = as_variable(x)
        z = self.upward(x)
        if self.h is not None:
            z = z + self.lateral(self.h)
        if self.c is None:
            self.c = Variable(backend_of(x.array).zeros((x.shape[0], self.out_size), x.dtype), requires_grad=False)
        self.c, self.h = lstm(self.c, z)
        return self.h
