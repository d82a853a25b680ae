"""Sums over ranks whose messages have 16 bits per element and whose additions are made in float32."""

from collections.abc import Callable
from typing import Any

import numpy as np

from cvzoo.backends.nccl import NCCL
from cvzoo.errors.exceptions import ValueRangeError
from cvzoo.typing.aliases import Array

Wait = Callable[[Any], None]
DTYPES = ("float16", "bfloat16")


def check_wire_dtype(wire_dtype: str | None) -> None:
    """Raises ValueRangeError for an unknown dtype."""
    if wire_dtype not in (None, *DTYPES):
        raise ValueRangeError(f"unknown wire_dtype {wire_dtype!r}", expected="None, " + ", ".join(DTYPES))


def allreduce_in_16_bits(comm: Any, array: np.ndarray, wire_dtype: str, wait: Wait) -> None:
    """Replaces `array`, (N,) float32 or float64, by its sum over the ranks.

    Each rank sums one part of the array in float32, then sends the sum to all, both as 16 bits. Every rank has the same
    result, since each part is rounded once.

    comm: mpi4py's communicator; wait: waits for a request of it
    """
    mine = _in_parts(array, comm.Get_size(), wire_dtype)
    parts = np.empty_like(mine)
    wait(comm.Ialltoall(mine, parts))
    sums = np.empty_like(mine)
    wait(comm.Iallgather(_sum_of(parts, wire_dtype), sums))
    array[...] = from_16_bits(sums.reshape(-1)[: array.size], wire_dtype)


def allreduce_in_16_bits_on_gpus(nccl: NCCL, array: Array, wire_dtype: str) -> None:
    """As `allreduce_in_16_bits`, of an array on a GPU."""
    mine = _in_parts(array, nccl.size, wire_dtype)
    parts = nccl.empty(mine.shape, mine.dtype)
    others = [rank for rank in range(nccl.size) if rank != nccl.rank]
    nccl.transfer([(mine[rank], rank) for rank in others], [(parts[rank], rank) for rank in others])
    parts[nccl.rank] = mine[nccl.rank]
    sums = nccl.allgather(_sum_of(parts, wire_dtype))
    array[...] = from_16_bits(sums.reshape(-1)[: array.size], wire_dtype)


def _in_parts(array: Array, size: int, wire_dtype: str) -> Array:
    """(size, M) uint16: the array in parts of the same length, the last of which ends in zeros."""
    length = -(-array.size // size)
    narrow = np.zeros_like(array, np.uint16, shape=(length * size,))
    narrow[: array.size] = to_16_bits(array, wire_dtype)
    return narrow.reshape(size, length)


def _sum_of(parts: Array, wire_dtype: str) -> Array:
    """(M,) uint16: the sum of (K, M) parts, made in float32."""
    total = from_16_bits(parts[0], wire_dtype)
    for part in parts[1:]:
        total += from_16_bits(part, wire_dtype)
    return to_16_bits(total, wire_dtype)


def to_16_bits(array: Array, wire_dtype: str) -> Array:
    """(N,) uint16: the bits of the values rounded to nearest, ties to even."""
    if wire_dtype == "float16":
        with np.errstate(over="ignore"):  # beyond 65504 to infinity, which loss scaling detects
            return array.astype(np.float16).view(np.uint16)
    bits = array.astype(np.float32, order="C", copy=False).view(np.uint32)
    rounded = ((bits + (0x7FFF + ((bits >> 16) & 1))) >> 16).astype(np.uint16)
    return np.where(np.isnan(array), np.uint16(0x7FC0), rounded)


def from_16_bits(bits: Array, wire_dtype: str) -> Array:
    """(N,) float32: the values of the bits."""
    if wire_dtype == "float16":
        return bits.view(np.float16).astype(np.float32)
    return (bits.astype(np.uint32) << 16).view(np.float32)
