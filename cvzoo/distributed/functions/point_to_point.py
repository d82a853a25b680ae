"""Values sent to another rank, whose gradients come back."""

from collections.abc import Sequence
from typing import Any

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.distributed.functions.delegate import communicated, new_delegate, zero
from cvzoo.errors.exceptions import GraphError
from cvzoo.typing.aliases import Array


class _Send(FunctionNode):
    def __init__(self, comm: AbstractCommunicator, rank: int, tag: int):
        self._comm = comm
        self._rank = rank
        self._tag = tag

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        self._comm.send(inputs, self._rank, self._tag)
        return (zero(),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable | None, ...]) -> tuple[Variable | None, ...]:
        grads = self._comm.recv(self._rank, self._tag)
        return tuple([Variable(grads[i], requires_grad=False) for i in indexes])


class _Recv(FunctionNode):
    def __init__(self, comm: AbstractCommunicator, rank: int, tag: int):
        self._comm = comm
        self._rank = rank
        self._tag = tag

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        arrays = self._comm.recv(self._rank, self._tag)
        self._received = tuple(arrays) if isinstance(arrays, tuple) else (arrays,)
        return self._received

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable | None, ...]) -> tuple[Variable | None, ...]:
        grads = [x * 0 if gy is None else gy.array for x, gy in zip(self._received, gys)]
        self._comm.send(grads, self._rank, self._tag)
        return tuple([Variable(zero(), requires_grad=False) for _ in indexes])


class _PseudoConnect(FunctionNode):
    """A delegate variable and values, to the values."""

    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        return inputs[1:]

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable | None, ...]) -> tuple[Variable | None, ...]:
        return tuple([Variable(zero(), requires_grad=False) if i == 0 else gys[i - 1] for i in indexes])


def send(
    x: Variable | Array | Sequence[Variable | Array], communicator: AbstractCommunicator, rank: int, tag: int = 0
) -> Variable:
    """A delegate variable, (1,), after the values were sent to another rank, which calls `recv`.

    x: one value or several, of floats

    Their gradients come from that rank when the delegate variable is reached by backpropagation: call `backward()` on
    it, or connect it with other values by `pseudo_connect`. Raises GraphError for this rank itself.
    Source: ChainerMN's function.
    """
    if rank == communicator.rank:
        raise GraphError("send: a rank cannot send to itself", got=f"rank {rank}")
    xs: tuple[Any, ...] = tuple(x) if isinstance(x, list | tuple) else (x,)
    return communicated(_Send(communicator, rank, tag), *xs)[0]


def recv(
    communicator: AbstractCommunicator,
    rank: int,
    delegate_variable: Variable | None = None,
    tag: int = 0,
    force_tuple: bool = False,
) -> Variable | tuple[Variable, ...]:
    """The value that another rank sends by `send`, or a tuple of several; backward sends their gradients to it.

    delegate_variable: of an earlier `send`, whose backward then follows this one's
    force_tuple: a tuple also of one value
    Raises GraphError for this rank itself. Source: ChainerMN's function.
    """
    if rank == communicator.rank:
        raise GraphError("recv: a rank cannot receive from itself", got=f"rank {rank}")
    delegate = new_delegate() if delegate_variable is None else delegate_variable
    ys = communicated(_Recv(communicator, rank, tag), delegate)
    return ys[0] if len(ys) == 1 and not force_tuple else ys


def pseudo_connect(delegate_variable: Variable, *actual_variables: Variable | Array) -> Variable | tuple[Variable, ...]:
    """The values, whose backpropagation then reaches the delegate variable, too, so that its `send` gets gradients.

    Source: ChainerMN's function.
    """
    ys = communicated(_PseudoConnect(), delegate_variable, *actual_variables)
    return ys[0] if len(ys) == 1 else ys
