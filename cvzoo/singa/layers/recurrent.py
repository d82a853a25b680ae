"""Recurrent layers over lists of inputs, one per time step."""

from collections.abc import Sequence
from typing import Any

from cvzoo.errors.exceptions import BackendError, UnsupportedError, ValueRangeError
from cvzoo.singa.layers.layer import Layer
from cvzoo.singa.operators.arrays import matmul
from cvzoo.singa.operators.elementwise import add, add_bias, mul, relu, sigmoid, tanh
from cvzoo.singa.tensor_class import Tensor

_GATES = ("i", "f", "o", "g")


def _check_plain(layer: str, num_layers: int, bias: bool, batch_first: bool, dropout: float, two_ways: bool) -> None:
    if (num_layers, bool(bias), bool(batch_first), dropout, bool(two_ways)) != (1, True, False, 0, False):
        raise UnsupportedError(
            f"{layer}: SINGA ignores this argument; here it is not supported",
            expected="num_layers=1, bias=True, batch_first=False, dropout=0, bidirectional=False",
        )


class RNN(Layer):
    """h' = tanh(h Wh + x Wx + b), or relu, step by step: (outs, h) of xs, a list of (B, input_size), and h0.

    Wx (input_size, hidden_size) and Wh (hidden_size, hidden_size) start normal with standard deviation 1,
    b (hidden_size,) from 0.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0,
        bidirectional: bool = False,
    ):
        _check_plain("RNN", num_layers, bias, batch_first, dropout, bidirectional)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueRangeError(f"RNN: unknown nonlinearity {nonlinearity!r}", expected="'tanh' or 'relu'")
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.nonlinearity = nonlinearity

    def initialize(self, xs: Sequence[Tensor], h0: Tensor) -> None:
        """Create Wx, Wh and b."""
        self.Wx = Tensor((self.input_size, self.hidden_size), stores_grad=True).gaussian(0.0, 1.0)
        self.Wh = Tensor((self.hidden_size, self.hidden_size), stores_grad=True).gaussian(0.0, 1.0)
        self.b = Tensor((self.hidden_size,), stores_grad=True)

    def forward(self, xs: Sequence[Tensor], h0: Tensor) -> tuple[list[Tensor], Tensor]:
        """(each step's h, the last h) of xs, T times (B, input_size), and h0 (B, hidden_size)."""
        outs, h = [], h0
        for x in xs:
            h = self.step_forward(x, h, self.Wx, self.Wh, self.b)
            outs.append(h)
        return outs, h

    def step_forward(self, x: Tensor, h: Tensor, Wx: Tensor, Wh: Tensor, b: Tensor) -> Tensor:
        """The next h."""
        y = add_bias(add(matmul(h, Wh), matmul(x, Wx)), b)
        return tanh(y) if self.nonlinearity == "tanh" else relu(y)


class LSTM(Layer):
    """Long short-term memory, step by step: (outs, h, c) of xs, a list of (B, input_size), and (h0, c0).

    For each of the gates i, f, o and the candidate g: Wx (input_size, hidden_size) and Wh (hidden_size, hidden_size)
    start from a normal distribution of standard deviation 0.01, Bx and Bh (hidden_size,) from 0.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        nonlinearity: str = "tanh",
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0,
        bidirectional: bool = False,
    ):
        _check_plain("LSTM", num_layers, bias, batch_first, dropout, bidirectional)
        if nonlinearity != "tanh":
            raise ValueRangeError(f"LSTM: unsupported nonlinearity {nonlinearity!r}", expected="'tanh'")
        self.input_size = input_size
        self.hidden_size = hidden_size

    def initialize(self, xs: Sequence[Tensor], h0_c0: Sequence[Tensor]) -> None:
        """Create the parameters."""
        for gate in _GATES:
            setattr(self, f"Wx_{gate}", self._weight(self.input_size))
        for gate in _GATES:
            setattr(self, f"Wh_{gate}", self._weight(self.hidden_size))
        for name in ("Bx", "Bh"):
            for gate in _GATES:
                setattr(self, f"{name}_{gate}", Tensor((self.hidden_size,), stores_grad=True))

    def _weight(self, n: int) -> Tensor:
        return Tensor((n, self.hidden_size), stores_grad=True).gaussian(0.0, 0.01)

    def forward(self, xs: Sequence[Tensor], h0_c0: Sequence[Tensor]) -> tuple[list[Tensor], Tensor, Tensor]:
        """(each step's h, the last h, the last c) of xs, T times (B, input_size), and (h0, c0) (B, hidden_size)."""
        h, c = h0_c0
        outs = []
        for x in xs:
            h, c = self.step_forward(x, h, c)
            outs.append(h)
        return outs, h, c

    def step_forward(self, x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        """The next h and c."""
        i, f, o = (sigmoid(self._gate(x, h, gate)) for gate in "ifo")
        g = tanh(self._gate(x, h, "g"))
        c = add(mul(f, c), mul(i, g))
        return mul(o, tanh(c)), c

    def _gate(self, x: Tensor, h: Tensor, gate: str) -> Tensor:
        Wx, Bx, Wh, Bh = (getattr(self, f"{name}_{gate}") for name in ("Wx", "Bx", "Wh", "Bh"))
        return add(add_bias(matmul(x, Wx), Bx), add_bias(matmul(h, Wh), Bh))


class CudnnRNN(Layer):
    """Raises BackendError: it stands for cuDNN's recurrent networks, and this version has none."""

    def __init__(self, hidden_size: int, *args: Any, **kwargs: Any):
        raise BackendError("CudnnRNN: cuDNN's recurrent layers are not called here", hint="layer.LSTM")
