"""Collective communication of values, whose gradients go the other way."""

from collections.abc import Sequence

from cvzoo.autodiff.function_node import FunctionNode
from cvzoo.autodiff.variable import Variable
from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.distributed.functions.delegate import communicated, new_delegate, zero
from cvzoo.typing.aliases import Array


class _Collective(FunctionNode):
    def __init__(self, comm: AbstractCommunicator, root: int = 0):
        self._comm = comm
        self._root = root

    @property
    def _is_root(self) -> bool:
        return self._comm.rank == self._root


def _constants(arrays: Sequence[Array]) -> tuple[Variable, ...]:
    return tuple([Variable(array, requires_grad=False) for array in arrays])


def _filled(gys: Sequence[Variable | None], like: Sequence[Array]) -> list[Array]:
    return [x * 0 if gy is None else gy.array for gy, x in zip(gys, like)]


class _Bcast(_Collective):
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        return (self._comm.bcast(inputs[0].copy() if self._is_root else None, self._root),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        total = self._comm.reduce(gys[0].array.copy(), root=self._root)
        return _constants([zero() if total is None else total])


class _Gather(_Collective):
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        self._ys = self._comm.gather(inputs[0], self._root) or (zero(),)
        return self._ys

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable | None, ...]) -> tuple[Variable | None, ...]:
        return _constants([self._comm.scatter(_filled(gys, self._ys) if self._is_root else None, self._root)])


class _Scatter(_Collective):
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        return (self._comm.scatter(inputs if self._is_root else None, self._root).copy(),)

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable, ...]) -> tuple[Variable | None, ...]:
        grads = self._comm.gather(gys[0].array, self._root)
        return _constants([zero() for _ in indexes] if grads is None else [grads[i] for i in indexes])


class _Allgather(_Collective):
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        self._ys = self._comm.allgather(inputs[0])
        return self._ys

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable | None, ...]) -> tuple[Variable | None, ...]:
        first, *others = self._comm.alltoall(_filled(gys, self._ys))
        for other in others:
            first = first + other
        return _constants([first])


class _Alltoall(_Collective):
    def forward(self, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
        self._ys = self._comm.alltoall(inputs)
        return self._ys

    def backward(self, indexes: tuple[int, ...], gys: tuple[Variable | None, ...]) -> tuple[Variable | None, ...]:
        grads = self._comm.alltoall(_filled(gys, self._ys))
        return _constants([grads[i] for i in indexes])


def bcast(comm: AbstractCommunicator, x: Variable | Array | None, root: int = 0) -> Variable:
    """The root's value, on all ranks; its gradient is the sum of theirs. Other ranks pass None.

    Source: ChainerMN's function.
    """
    return communicated(_Bcast(comm, root), new_delegate() if comm.rank != root or x is None else x)[0]


def gather(comm: AbstractCommunicator, x: Variable | Array, root: int = 0) -> tuple[Variable, ...]:
    """On the root the values of all ranks by rank, on others a delegate variable to call `backward()` on.

    Source: ChainerMN's function.
    """
    return communicated(_Gather(comm, root), x)


def scatter(comm: AbstractCommunicator, xs: Sequence[Variable | Array] | None, root: int = 0) -> Variable:
    """The root's `xs[rank]`. Other ranks pass None. Source: ChainerMN's function."""
    return communicated(_Scatter(comm, root), *(xs if comm.rank == root and xs is not None else [new_delegate()]))[0]


def allgather(comm: AbstractCommunicator, x: Variable | Array) -> tuple[Variable, ...]:
    """The values of all ranks by rank, on all of them. Source: ChainerMN's function."""
    return communicated(_Allgather(comm), x)


def alltoall(comm: AbstractCommunicator, xs: Sequence[Variable | Array]) -> tuple[Variable, ...]:
    """The values that the ranks send to this one, by rank; `xs[r]` is sent to rank r. Source: ChainerMN's function."""
    return communicated(_Alltoall(comm), *xs)
