"""The communicator of one process, which needs no package."""

from collections.abc import Sequence
from typing import Any, TypeVar

from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.distributed.messages import decode, encode
from cvzoo.errors.exceptions import GraphError, ShapeError, ValueRangeError
from cvzoo.typing.aliases import Array

Self = TypeVar("Self", bound="NullCommunicator")


class NullCommunicator(AbstractCommunicator):
    """The communicator of one process: collectives return what they are given, so programs need no special case."""

    name = "null"

    @property
    def rank(self) -> int:
        return 0

    @property
    def size(self) -> int:
        return 1

    @property
    def intra_rank(self) -> int:
        return 0

    @property
    def intra_size(self) -> int:
        return 1

    @property
    def inter_rank(self) -> int:
        return 0

    @property
    def inter_size(self) -> int:
        return 1

    def split(self: Self, color: int, key: int = 0) -> Self:
        return self

    def allreduce(self, x: Array, op: str = "sum") -> Array:
        return x

    def reduce(self, x: Array, op: str = "sum", root: int = 0) -> Array:
        check_root(root, 1)
        return x

    def bcast(self, x: Array | None = None, root: int = 0) -> Array:
        check_root(root, 1)
        if x is None:
            raise ShapeError("bcast: the root passes no array")
        return x

    def gather(self, x: Array, root: int = 0) -> tuple[Array, ...]:
        check_root(root, 1)
        return (x,)

    def allgather(self, x: Array) -> tuple[Array, ...]:
        return (x,)

    def allgather_equal(self, x: Array) -> Array:
        return x[None]

    def alltoall(self, xs: Sequence[Array]) -> tuple[Array, ...]:
        check_one_per_rank("alltoall", xs, 1)
        return tuple(xs)

    def scatter(self, xs: Sequence[Array] | None = None, root: int = 0) -> Array:
        check_root(root, 1)
        check_one_per_rank("scatter", xs, 1)
        assert xs is not None
        return xs[0]

    def send(self, x: Array | Sequence[Array], dest: int, tag: int = 0) -> None:
        raise GraphError("send: there is no other rank", hint="cvzoo launch -n 2 PROGRAM")

    def recv(self, source: int, tag: int = 0) -> Array:
        raise GraphError("recv: there is no other rank", hint="cvzoo launch -n 2 PROGRAM")

    def barrier(self) -> None:
        """Returns at once."""

    def bcast_obj(self, value: Any = None, root: int = 0) -> Any:
        check_root(root, 1)
        return decode(encode(value))

    def gather_obj(self, value: Any, root: int = 0) -> list[Any]:
        check_root(root, 1)
        return [decode(encode(value))]

    def allgather_obj(self, value: Any) -> list[Any]:
        return [decode(encode(value))]

    def alltoall_obj(self, values: Sequence[Any]) -> list[Any]:
        check_one_per_rank("alltoall_obj", values, 1)
        return [decode(encode(value)) for value in values]

    def scatter_obj(self, values: Sequence[Any] | None = None, root: int = 0) -> Any:
        check_root(root, 1)
        check_one_per_rank("scatter_obj", values, 1)
        assert values is not None
        return decode(encode(values[0]))

    def send_obj(self, value: Any, dest: int, tag: int = 0) -> None:
        raise GraphError("send_obj: there is no other rank", hint="cvzoo launch -n 2 PROGRAM")

    def recv_obj(self, source: int, tag: int = 0) -> Any:
        raise GraphError("recv_obj: there is no other rank", hint="cvzoo launch -n 2 PROGRAM")

    def abort(self, reason: str) -> None:
        raise SystemExit(reason)

    def close(self) -> None:
        """Does nothing."""


def check_root(root: int, size: int) -> None:
    """Raises ValueRangeError unless it is a rank."""
    if not 0 <= root < size:
        raise ValueRangeError("there is no such rank", expected=f"0 to {size - 1}", got=root)


def check_one_per_rank(what: str, values: Sequence[Any] | None, size: int) -> None:
    """Raises ShapeError unless there is one value per rank."""
    if values is None or len(values) != size:
        raise ShapeError(f"{what} takes one value per rank", expected=size, got=None if values is None else len(values))
