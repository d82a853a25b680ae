"""Parts of data sets and of batches, one for each rank."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from cvzoo.config.randomness import random_generator
from cvzoo.datasets.sliceable.sub_dataset import SubDataset
from cvzoo.distributed.communicator import AbstractCommunicator
from cvzoo.distributed.scattered_dataset import ScatteredDataset
from cvzoo.distributed.structures import from_plain, to_plain
from cvzoo.errors.exceptions import ShapeError
from cvzoo.iterators.abstract import AbstractIterator
from cvzoo.typing.aliases import Array
from cvzoo.typing.protocols import IndexableDataset

Iterator = TypeVar("Iterator", bound=AbstractIterator)


def scatter_dataset(
    dataset: IndexableDataset[Any] | None,
    comm: AbstractCommunicator,
    shuffle: bool = False,
    seed: int | None = None,
    *,
    force_equal_length: bool = True,
) -> ScatteredDataset:
    """This rank's part of the data set: consecutive examples, whose lengths differ by one at most.

    dataset: the same on all ranks, which read their examples themselves; nothing but lengths and a seed is sent. Or
        None on some ranks, as with ChainerMN: then the lowest rank that has it reads and sends all examples
    shuffle: parts of a permutation that is the same on all ranks
    seed: of the permutation; None: drawn on rank 0
    force_equal_length: shorter parts are padded with one of their examples, which `create_multi_node_evaluator` leaves
        out; False: they stay shorter

    For training, `scatter_batches` is better: every example once per epoch in a new order, and a run may be resumed
    with another number of ranks.
    Raises ShapeError on all ranks if the lengths differ, or no rank has a data set. Source: ChainerMN's function. Where
    we differ: the data set need not be sent, padding is marked.
    """
    lengths = comm.allgather_obj(None if dataset is None else len(dataset))
    n = _common_length(lengths)
    order = None
    if shuffle:
        drawn = int(random_generator().integers(1 << 32)) if seed is None else seed
        order = np.random.default_rng(comm.bcast_obj(drawn)).permutation(n)
    if dataset is not None and None not in lengths:
        begin, end = _range_of(n, comm.rank, comm.size)
        own = SubDataset(dataset, begin, end, order)
    else:
        root = next(rank for rank, length in enumerate(lengths) if length is not None)
        sent = None if dataset is None or comm.rank != root else _examples_by_rank(dataset, n, order, comm.size)
        examples = from_plain(comm.scatter_obj(sent, root))
        own = SubDataset(examples, 0, len(examples))
    return ScatteredDataset(own, -(-n // comm.size) if force_equal_length else len(own))


def _common_length(lengths: list[int | None]) -> int:
    given = [(rank, length) for rank, length in enumerate(lengths) if length is not None]
    if not given:
        raise ShapeError("scatter_dataset: no rank has a data set")
    first, n = given[0]
    for rank, length in given:
        if length != n:
            raise ShapeError(
                f"the data sets of the ranks differ: {n} examples on rank {first}, {length} on rank {rank}"
            )
    return n


def _range_of(n: int, rank: int, size: int) -> tuple[int, int]:
    return n * rank // size, n * (rank + 1) // size


def _examples_by_rank(
    dataset: IndexableDataset[Any], n: int, order: Sequence[int] | Array | None, size: int
) -> list[Any]:
    rows = range(n) if order is None else order
    return [
        to_plain([dataset[int(row)] for row in rows[slice(*_range_of(n, rank, size))]])  # a rank's list
        for rank in range(size)
    ]


def scatter_batches(iterator: Iterator, comm: AbstractCommunicator) -> Iterator:
    """The same iterator, returning this rank's part of every batch, all ranks in the order of rank 0.

    iterator: over the whole data set, endless, with the batch size of all ranks together

    Epochs, positions and states are those of the whole batches: every example comes once per epoch, and a state resumes
    on another number of ranks without repeating or skipping one. Raises ShapeError on all ranks if the lengths of data
    sets or batches differ.
    """
    sizes = comm.allgather_obj([len(iterator.dataset), iterator.batch_size])
    for rank, size in enumerate(sizes):
        if size != sizes[0]:
            raise ShapeError(
                f"data sets or batch sizes of the ranks differ: {sizes[0][0]} examples in batches of {sizes[0][1]} on "
                f"rank 0, {size[0]} in batches of {size[1]} on rank {rank}"
            )
    iterator.load_state(comm.bcast_obj(dict(iterator.state())))
    return iterator.take_part(comm.rank, comm.size)


def create_synchronized_iterator(iterator: Iterator, comm: AbstractCommunicator) -> Iterator:
    """The same iterator, with the order and the position of rank 0's, for ranks that need the same batches.

    Source: ChainerMN's function.
    """
    iterator.load_state(comm.bcast_obj(dict(iterator.state())))
    return iterator
