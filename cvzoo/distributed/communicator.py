"""The interface of communicators: ranks, collectives on arrays and objects, and those on a model."""

import abc
from collections.abc import Sequence
from types import TracebackType
from typing import Any, TypeVar

from cvzoo.backends.device import Device, get_device
from cvzoo.config.switches import switches
from cvzoo.distributed import model_arrays
from cvzoo.links.link import Link
from cvzoo.typing.aliases import Array

Self = TypeVar("Self", bound="AbstractCommunicator")


class AbstractCommunicator(abc.ABC):
    """Base class of communicators: the processes of a training, and messages between them.

    rank, size: number of this process, and of all
    intra_rank, intra_size: among those of this machine; inter_rank, inter_size: number of this machine, and of all
    device: where a model on this rank belongs, as in `model.to_device(comm.device)`

    Collectives are called by all ranks in the same order. They work in place: the array that is passed receives the
    result, which is also returned. Before data are sent, the ranks compare operation, shape and dtype, and all of them
    raise the same ShapeError if they differ, instead of hanging. Objects are sent as msgpack; nothing is unpickled:
    None, bool, numbers, str, bytes, arrays, lists (tuples arrive as lists) and dictionaries of those.

    >>> with create_communicator() as comm:
    ...     total = comm.allreduce(np.ones(3))

    Source: ChainerMN's CommunicatorBase. Where we differ: in place, msgpack instead of pickle, mismatches are errors.
    """

    name: str

    # --- ranks ------------------------------------------------------------------------------------------------------
    @property
    @abc.abstractmethod
    def rank(self) -> int:
        """The number of this process, from 0."""

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """The number of processes."""

    @property
    @abc.abstractmethod
    def intra_rank(self) -> int:
        """The number of this process on its machine."""

    @property
    @abc.abstractmethod
    def intra_size(self) -> int:
        """The number of processes on this machine."""

    @property
    @abc.abstractmethod
    def inter_rank(self) -> int:
        """The number of this machine."""

    @property
    @abc.abstractmethod
    def inter_size(self) -> int:
        """The number of machines."""

    @property
    def device(self) -> Device:
        """The device of this process: that of `config.device`, or the GPU whose arrays are sent by NCCL."""
        return get_device(switches.device)

    @abc.abstractmethod
    def split(self: Self, color: int, key: int = 0) -> Self:
        """The communicator of the ranks with the same `color`, in the order of `key`; equal keys keep their order."""

    # --- arrays -----------------------------------------------------------------------------------------------------
    @abc.abstractmethod
    def allreduce(self, x: Array, op: str = "sum") -> Array:
        """`x`, with the "sum", "max", "min" or "mean" over all ranks in it."""

    @abc.abstractmethod
    def reduce(self, x: Array, op: str = "sum", root: int = 0) -> Array | None:
        """On the root `x` with the result of all ranks in it; None on others, whose `x` is not changed."""

    @abc.abstractmethod
    def bcast(self, x: Array | None = None, root: int = 0) -> Array:
        """The root's array: in `x` where one is passed, else in a new one."""

    @abc.abstractmethod
    def gather(self, x: Array, root: int = 0) -> tuple[Array, ...] | None:
        """On the root the arrays of all ranks by rank, which may have different shapes; None on others."""

    @abc.abstractmethod
    def allgather(self, x: Array) -> tuple[Array, ...]:
        """The arrays of all ranks by rank, which may have different shapes."""

    @abc.abstractmethod
    def allgather_equal(self, x: Array) -> Array:
        """(size, ...): the arrays of all ranks, whose shapes and dtypes are the same; one message, not compared."""

    @abc.abstractmethod
    def alltoall(self, xs: Sequence[Array]) -> tuple[Array, ...]:
        """The arrays that the ranks sent to this one, by rank; `xs[r]` is sent to rank r."""

    @abc.abstractmethod
    def scatter(self, xs: Sequence[Array] | None = None, root: int = 0) -> Array:
        """The root's `xs[rank]`."""

    @abc.abstractmethod
    def send(self, x: Array | Sequence[Array], dest: int, tag: int = 0) -> None:
        """Sends an array, or several as one message, to a rank that calls `recv`."""

    @abc.abstractmethod
    def recv(self, source: int, tag: int = 0) -> Array | tuple[Array, ...]:
        """The array, or arrays, that another rank sends."""

    @abc.abstractmethod
    def barrier(self) -> None:
        """Returns when all ranks have called it."""

    # --- objects ----------------------------------------------------------------------------------------------------
    @abc.abstractmethod
    def bcast_obj(self, value: Any = None, root: int = 0) -> Any:
        """The root's object."""

    @abc.abstractmethod
    def gather_obj(self, value: Any, root: int = 0) -> list[Any] | None:
        """On the root the objects of all ranks by rank; None on others."""

    @abc.abstractmethod
    def allgather_obj(self, value: Any) -> list[Any]:
        """The objects of all ranks by rank."""

    @abc.abstractmethod
    def alltoall_obj(self, values: Sequence[Any]) -> list[Any]:
        """The objects that the ranks sent to this one, by rank."""

    @abc.abstractmethod
    def scatter_obj(self, values: Sequence[Any] | None = None, root: int = 0) -> Any:
        """The root's `values[rank]`."""

    @abc.abstractmethod
    def send_obj(self, value: Any, dest: int, tag: int = 0) -> None:
        """Sends an object to a rank that calls `recv_obj`."""

    @abc.abstractmethod
    def recv_obj(self, source: int, tag: int = 0) -> Any:
        """The object that another rank sends."""

    def allreduce_obj(self, value: Any) -> Any:
        """The sum of the ranks' objects, by `+`, from rank 0 on."""
        first, *others = self.allgather_obj(value)
        for other in others:
            first = first + other
        return first

    # --- models -----------------------------------------------------------------------------------------------------
    def bcast_data(self, model: Link) -> None:
        """Gives all ranks the same parameters and persistent values: those of the lowest rank that has them.

        Raises WeightsMismatchError on all ranks, naming the parameter, if the models differ.
        """
        model_arrays.broadcast(self, model)

    def allreduce_grad(self, model: Link) -> None:
        """Replaces the gradients by their mean over all ranks; a rank without a gradient counts as zeros.

        Parameters without a gradient on all ranks stay so. Raises WeightsMismatchError as `bcast_data`.
        """
        model_arrays.average_gradients(self, model)

    def allreduce_persistent(self, model: Link) -> None:
        """Replaces persistent arrays, such as batch normalization's running statistics, by their mean over all ranks.

        Raises WeightsMismatchError as `bcast_data`.
        """
        model_arrays.average_persistents(self, model)

    # --- the end ----------------------------------------------------------------------------------------------------
    @abc.abstractmethod
    def abort(self, reason: str) -> None:
        """Ends the processes of all ranks at once, after printing the reason."""

    @abc.abstractmethod
    def close(self) -> None:
        """Frees the communicator; may be called repeatedly."""

    def __deepcopy__(self: Self, memo: dict[int, object]) -> Self:
        return self  # copies of a model use the same processes

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # after an error the other ranks would be waited for, which wait for this one
        if error is None:
            self.close()

    def __repr__(self) -> str:
        return f"<{self.name} communicator, rank {self.rank} of {self.size}>"
