"""The arrays of a model on all ranks: compared, broadcast, averaged."""

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from cvzoo.backends.arrays import is_array, to_numpy
from cvzoo.backends.device import device_of
from cvzoo.backends.float_types import is_float
from cvzoo.errors.exceptions import WeightsMismatchError
from cvzoo.links.link import Link
from cvzoo.typing.aliases import Array


class Collectives(Protocol):
    """The part of a communicator that is needed here."""

    @property
    def size(self) -> int: ...
    def allreduce(self, x: Array, op: str = "sum") -> Array: ...
    def bcast(self, x: Array | None = None, root: int = 0) -> Array: ...
    def bcast_obj(self, value: Any = None, root: int = 0) -> Any: ...
    def allgather_obj(self, value: Any) -> list[Any]: ...


Rows = dict[str, tuple[Any, ...]]  # shape and dtype by path; () without a value


def describe(model: Link) -> Rows:
    """Shape and dtype of every parameter and persistent array by path; () for those without a value."""
    rows: Rows = {path: _row(param._array) for path, param in model.namedparams()}
    return rows | {path: _row(value) for path, value in model.namedpersistents()}


def _row(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    array = value if is_array(value) else np.asarray(value)
    return tuple(array.shape), str(array.dtype)


def check_same_model(comm: Collectives, model: Link) -> None:
    """Raises WeightsMismatchError on all ranks, naming the first parameter that differs, unless the models agree.

    Parameters without a value agree with any.
    """
    rows = describe(model)
    # their hash first: where models agree, which is the rule, one number per rank is enough
    digest = zlib.crc32(repr(list(rows.items())).encode())
    low, high = _range(comm, digest)
    if low != high:
        difference = _first_difference([{path: tuple(row) for path, row in each} for each in _all_rows(comm, rows)])
        if difference is not None:
            raise difference


def _range(comm: Collectives, number: int) -> tuple[int, int]:
    pair = comm.allreduce(np.array([-number, number], np.int64), "max")
    return -int(pair[0]), int(pair[1])


def _all_rows(comm: Collectives, rows: Rows) -> list[list[list[Any]]]:
    return comm.allgather_obj(list(rows.items()))


def _first_difference(ranks: Sequence[Mapping[str, tuple[Any, ...]]]) -> WeightsMismatchError | None:
    for path in dict.fromkeys(path for rows in ranks for path in rows):
        held = [(k, _text(rows.get(path))) for k, rows in enumerate(ranks) if rows.get(path) != ()]
        for k, text in held:
            if text != held[0][1]:
                return WeightsMismatchError(
                    f"the models of the ranks differ: {path} is {held[0][1]} on rank {held[0][0]}, {text} on rank {k}",
                    hint="build the same model on all ranks: same arguments, same data for what is inferred from them",
                )
    return None


def _text(row: tuple[Any, ...] | None) -> str:
    return "absent" if row is None else f"{tuple(row[0])} {row[1]}" if row else "without a value"


def check_same_values(comm: Collectives, model: Link) -> None:
    """Raises WeightsMismatchError on all ranks, naming the first parameter that differs, unless values are the same."""
    check_same_model(comm, model)
    params = {path: param.array for path, param in model.namedparams() if param.is_initialized}
    digests = np.array([zlib.crc32(to_numpy(array).tobytes()) for array in params.values()], np.int64)
    if comm.size > 1 and len(digests):
        low, high = comm.allreduce(digests.copy(), "min"), comm.allreduce(digests.copy(), "max")
        for path, is_different in zip(params, low != high):
            if is_different:
                raise WeightsMismatchError(
                    f"the weights of the ranks differ, first those of {path}", hint="comm.bcast_data(model) first"
                )


def broadcast(comm: Collectives, model: Link) -> None:
    """Gives all ranks the values of the lowest rank that has them."""
    if comm.size == 1:
        return
    check_same_model(comm, model)
    held = {path: row != () for path, row in describe(model).items()}
    mine = comm.allgather_obj(list(held.values()))
    roots = {path: next((k for k, flags in enumerate(mine) if flags[i]), None) for i, path in enumerate(held)}
    for path, param in model.namedparams():
        root = roots[path]
        if root is not None:
            value = comm.bcast(None if param._array is None else np.ascontiguousarray(to_numpy(param.array)), root)
            if param._array is None:
                param.initialize(value.shape)
            _write(param.array, value)
    places = {path: place for (path, _), place in zip(model.namedpersistents(), model.persistent_places())}
    for path, (attributes, name) in places.items():
        root, value = roots[path], attributes[name]
        if root is None:
            continue
        if is_array(value):
            _write(value, comm.bcast(np.ascontiguousarray(to_numpy(value)), root))
        else:
            attributes[name] = comm.bcast_obj(value, root)


def _write(array: Array, value: np.ndarray) -> None:
    array[...] = device_of(array).asarray(value.reshape(array.shape))


def average_gradients(comm: Collectives, model: Link) -> None:
    """Replaces gradients by their means over all ranks."""
    if comm.size == 1:
        return
    check_same_model(comm, model)
    params = [param for _, param in model.namedparams()]
    has = comm.allreduce(np.array([param.grad is not None for param in params], np.uint8), "max")
    for param, is_used in zip(params, has):
        if is_used:
            with device_of(param.array):
                given = np.zeros_like(param.array) if param.grad is None else param.grad
                param.grad = comm.allreduce(given.astype(given.dtype, order="C"), "mean")


def average_persistents(comm: Collectives, model: Link) -> None:
    """Replaces persistent floating arrays by their means over all ranks."""
    if comm.size == 1:
        return
    check_same_model(comm, model)
    for _, value in model.namedpersistents():
        if is_array(value) and is_float(value.dtype):
            with device_of(value):
                value[...] = comm.allreduce(value.astype(value.dtype, order="C"), "mean")
